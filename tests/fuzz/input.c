/*
 * input.c - fuzz the code of the HTTP server that parses a request before the
 * server uses the database. This code parses the headers Host and Origin, new
 * jobs in JSON and in headers, verdicts and claims.
 *
 * The first byte of an input selects the path of the request. The lines of the
 * headers follow, then an empty line, then the body.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "fuzz.h"

#include <arpa/inet.h>
#include <strings.h>
#include <sys/socket.h>

#include "handlers.h"
#include "internal.h"
#include "request.h"
#include "writes.h"

#define MOST_HEADERS 32
#define PORT 8080
#define GIVEN "queue.example.com" /* the argument of --host */

/* ---- what the parsers call ---- */

struct MHD_Connection {
	struct {
		const char *name, *value;
	} headers[MOST_HEADERS];
	size_t count;
};

static const char *
lookup(struct MHD_Connection *connection, enum MHD_ValueKind kind,
       const char *name)
{
	for (size_t i = 0; i < connection->count && kind == MHD_HEADER_KIND;
	     i++)
		if (strcasecmp(connection->headers[i].name, name) == 0)
			return connection->headers[i].value;
	return NULL;
}

static int
get_values(struct MHD_Connection *connection, enum MHD_ValueKind kind,
	   MHD_KeyValueIterator each, void *ctx)
{
	size_t i = 0;

	while (i < connection->count &&
	       each(ctx, kind, connection->headers[i].name,
		    connection->headers[i].value) == MHD_YES)
		i++;
	return (int)i;
}

struct libmicrohttpd mhd = {
	.lookup_connection_value = lookup,
	.get_connection_values = get_values,
};

/* The linker calls this in place of getsockname(). */
int __wrap_getsockname(int fd, struct sockaddr *address, socklen_t *size);

int
__wrap_getsockname(int fd, struct sockaddr *address, socklen_t *size)
{
	struct sockaddr_in own = { .sin_family = AF_INET,
				   .sin_port = htons(PORT) };

	(void)fd;
	own.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	memcpy(address, &own, sizeof(own));
	*size = sizeof(own);
	return 0;
}

int
complain(int status, const char *format, ...)
{
	(void)format;
	must(0);
	return status;
}

int64_t
now_ms(void)
{
	return 0;
}

/* ---- Host and Origin ---- */

static int
is_port(const char *text)
{
	return *text && strspn(text, "0123456789") == strlen(text) &&
	       strtoull(text, NULL, 10) <= 65535;
}

/* Whether a text HOST:PORT names this server. */
static int
is_own(const char *text)
{
	size_t n = strcspn(text, ":");
	const char *port = text[n] ? text + n + 1 : NULL;

	if (port && !is_port(port))
		return 0;
	if (n == strlen(GIVEN) && strncasecmp(text, GIVEN, n) == 0)
		return 1;
	return port && atoi(port) == PORT && n == 9 &&
	       (strncmp(text, "127.0.0.1", n) == 0 ||
		strncasecmp(text, "localhost", n) == 0);
}

static void
check_guard(struct request *request)
{
	const char *host = mhd.lookup_connection_value(request->connection,
						       MHD_HEADER_KIND, "Host");
	const char *origin = mhd.lookup_connection_value(
		request->connection, MHD_HEADER_KIND, "Origin");
	int r = guard_check(request);

	if (!host || !is_own(host)) {
		must(r < 0);
		must_be_refused(request,
				request->answer.status == 421 ? 421 : 400);
	} else if (origin && (!strstr(origin, "://") ||
			      !is_own(strstr(origin, "://") + 3))) {
		must(r < 0);
		must_be_refused(request, 403);
	}
	answer_clear(&request->answer);
}

/* ---- jobs, verdicts and claims ---- */

/* Abort unless the text is NULL, or UTF-8 of `least` to `most` bytes. */
static void
check_text(const char *text, size_t least, size_t most)
{
	size_t n = text ? strlen(text) : least;

	must(n >= least && n <= most);
	must(!text || rp__utf8(text, n));
}

static void
check_json(const char *text, int is_object)
{
	json_t *value = text ? json_loads(text, JSON_ALLOW_NUL, NULL) : NULL;

	must(!text ||
	     (is_object ? json_is_object(value) : json_is_array(value)));
	json_decref(value);
}

static void
check_jobs(const struct writes *writes)
{
	must(writes->specs_count >= 1 && writes->specs_count <= MOST_JOBS);
	must(strcmp(writes->queue, "mail") == 0 && writes->added);
	for (size_t i = 0; i < writes->specs_count; i++) {
		const rp_job_spec *job = &writes->specs[i];

		must(job->payload || job->payload_size == 0);
		must(job->priority >= -1 && job->priority <= RP_MOST_PRIORITY);
		must(job->delay_ms >= 0 && job->delay_ms <= RP_MOST_MS);
		must(job->run_at >= 0 && job->run_at <= RP_MOST_TIME);
		must(job->delay_ms == 0 || job->run_at == 0);
		must(job->max_attempts >= 0);
		must(job->max_attempts <= RP_MOST_ATTEMPTS);
		must(!job->replace || job->unique_key);
		must(!job->unique_for_ms || job->unique_key);
		check_text(job->kind, 1, RP_MOST_NAME);
		check_text(job->unique_key, 1, RP_MOST_KEY);
		check_text(job->group_key, 1, RP_MOST_KEY);
		check_json(job->headers, 1);
		check_json(job->backoff, 0);
	}
}

static void
check_verdicts(const struct writes *writes)
{
	must(writes->verdicts_count <= MOST_JOBS);
	for (size_t i = 0; i < writes->verdicts_count; i++) {
		const rp_verdict *v = &writes->verdicts[i];
		int kind = v->verdict;

		must(kind >= RP_DONE && kind <= RP_EXTEND);
		must(v->id > 0 && v->claim_no > 0);
		must(v->delay_ms >= -1 && v->delay_ms <= RP_MOST_MS);
		must(v->delay_ms < 0 || (kind != RP_DONE && kind != RP_DEAD));
		must(kind != RP_EXTEND || v->delay_ms != 0);
		must(!v->error || kind == RP_FAIL || kind == RP_DEAD);
		must(!v->result_bytes || kind == RP_DONE);
		must(v->result_size <= RP_MOST_RESULT);
		must(!v->progress || kind != RP_DONE);
		check_text(v->error, 0, SIZE_MAX);
		check_text(v->progress, 0, RP_MOST_PROGRESS);
	}
}

static void
check_claim(const struct request *request)
{
	const struct writes *writes = request->writes;
	size_t n = 0;

	for (; writes->queues[n]; n++)
		check_text(writes->queues[n], 1, RP_MOST_NAME);
	must(n >= 1 && n <= MOST_QUEUES);
	must(writes->max >= 1 && writes->max <= MOST_JOBS && writes->jobs);
	must(writes->lease_ms >= 0 && writes->lease_ms <= RP_MOST_MS);
	must(request->wait_ms >= 0 && request->wait_ms <= MOST_WAIT_MS);
}

static void
check_input(struct request *request, char path)
{
	prepare_fn *prepare = path == 'e'   ? enqueue_prepare
			      : path == 'v' ? verdicts_prepare
			      : path == 'c' ? claim_prepare
					    : settle_and_claim_prepare;

	if (prepare(request) < 0) {
		must_be_refused(request,
				request->answer.status == 413 ? 413 : 400);
		return;
	}
	must(request->answer.status == 0 && request->writes->finish);
	if (path == 'e')
		check_jobs(request->writes);
	else
		check_verdicts(request->writes);
	if (path != 'e' && path != 'v')
		check_claim(request);
}

/* ---- the input ---- */

/* Split the headers from the body. Returns the body. */
static char *
split(char *text, struct MHD_Connection *to)
{
	char *line;

	while ((line = strsep(&text, "\n")) && *line) {
		char *value = strchr(line, ':');

		if (!value || to->count == MOST_HEADERS)
			continue;
		*value++ = '\0';
		to->headers[to->count].name = line;
		to->headers[to->count++].value = value + strspn(value, " \t");
	}
	return text;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = text_of(data, size);
	const char *hosts[] = { GIVEN };
	const struct options options = { .hosts = { hosts, 1 } };
	struct server server = { .options = &options };
	struct MHD_Connection connection = { .count = 0 };
	char target[] = "/v1/queues/mail/jobs";
	struct request request = { .server = &server,
				   .connection = &connection,
				   .target = target,
				   .segments = { "v1", "queues", "mail",
						 "jobs" },
				   .depth = 4 };

	request.body = size ? split(text + 1, &connection) : NULL;
	if (request.body)
		request.body_size = (size_t)(text + size - request.body);
	check_guard(&request);
	check_input(&request, *text);
	writes_free(request.writes);
	forget_request(&request);
	free(text);
	return 0;
}
