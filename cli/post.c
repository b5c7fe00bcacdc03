/*
 * post.c - run one job by an HTTP request: send the payload to a URL, and make
 * a verdict from the answer's status.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "curl.h"
#include "internal.h"
#include "work.h"

/* Longest time to make a connection, in ms. If the server cannot be reached,
 * the attempt should fail soon, even if the job has no timeout. */
#define CONNECT_MS 10000L
/* The longest delay that an answer can ask for. */
#define MOST_RETRY_AFTER_S 86400
/* A connection that was idle for longer is not used again. Many servers close a
 * connection that was idle for 2 seconds or more. A request that is sent just
 * then gets no answer, so its attempt fails. */
#define MOST_IDLE_S 1L
#define ANSWER_TEXT 1000 /* bytes of the answer that the error may quote */
/* A header of the job whose value is longer, in bytes, is not sent. A trace may
 * have a tracestate of more than 512 bytes. */
#define HEADER 4096

/* A handle of libcurl that no job uses now. Its connection stays open for the
 * next job. */
struct idle {
	struct idle *next;
	CURL *easy;
};

struct posts {
	struct libcurl curl;
	pthread_mutex_t lock;
	struct idle *idle;
};

/* A request that runs. */
struct post {
	struct work *work;
	rp_task *task;
	const struct libcurl *curl;
	struct idle *idle;
	struct curl_slist *headers;
	int is_out_of_memory;
	int is_sent;     /* 1: libcurl has begun to send the request */
	int is_repeated; /* 1: libcurl wanted to send the request again */
	int has_headers; /* 1: all headers of the answer have arrived */
	char error[CURL_ERROR_SIZE];
	char text[ANSWER_TEXT + 1]; /* the beginning of the answer */
	size_t size;
};

/* ---- connections ---- */

/* Check the URL before a job is claimed, because each request to a malformed
 * URL would use up an attempt. */
static int
check_url(const struct libcurl *curl, const char *url)
{
	CURLU *parsed = curl->url();
	CURLUcode code;

	if (!parsed)
		return complain(FAILED, "out of memory");
	code = curl->url_set(parsed, CURLUPART_URL, url, 0);
	curl->url_cleanup(parsed);
	return code == CURLUE_OK ? 0
				 : complain(USAGE, "work: --post %.80s: %s",
					    url, curl->url_strerror(code));
}

int
posts_new(const char *url, struct posts **ret)
{
	struct posts *posts = calloc(1, sizeof(*posts));
	int status;

	if (!posts)
		return complain(FAILED, "out of memory");
	pthread_mutex_init(&posts->lock, NULL);
	status = libcurl_load(&posts->curl) < 0 ? FAILED
						: check_url(&posts->curl, url);
	if (status)
		posts_free(posts);
	else
		*ret = posts;
	return status;
}

void
posts_free(struct posts *posts)
{
	if (!posts)
		return;
	while (posts->idle) {
		struct idle *idle = posts->idle;

		posts->idle = idle->next;
		posts->curl.easy_cleanup(idle->easy);
		free(idle);
	}
	pthread_mutex_destroy(&posts->lock);
	free(posts);
}

static struct idle *
take_handle(struct posts *posts)
{
	struct idle *idle;

	pthread_mutex_lock(&posts->lock);
	idle = posts->idle;
	if (idle)
		posts->idle = idle->next;
	pthread_mutex_unlock(&posts->lock);
	if (idle)
		return idle;
	idle = calloc(1, sizeof(*idle));
	if (idle)
		idle->easy = posts->curl.easy_init();
	if (idle && idle->easy)
		return idle;
	free(idle);
	return NULL;
}

static void
put_handle(struct posts *posts, struct idle *idle)
{
	posts->curl.easy_reset(idle->easy);
	pthread_mutex_lock(&posts->lock);
	idle->next = posts->idle;
	posts->idle = idle;
	pthread_mutex_unlock(&posts->lock);
}

/* ---- the request ---- */

static void
add_header(struct post *p, const char *name, const char *value)
{
	char line[HEADER + 64];
	struct curl_slist *list;

	snprintf(line, sizeof(line), "%s: %s", name, value);
	/* A header with a line break would be another header. */
	for (char *s = line; *s; s++)
		if ((unsigned char)*s < ' ' || *s == 0x7f)
			*s = '?';
	list = p->curl->slist_append(p->headers, line);
	if (list)
		p->headers = list;
	else
		p->is_out_of_memory = 1;
}

static void
add_number(struct post *p, const char *name, int64_t n)
{
	char text[24];

	snprintf(text, sizeof(text), "%lld", (long long)n);
	add_header(p, name, text);
}

/* Returns the value of a header of the job, or NULL. The case of the letters in
 * the name does not matter, as in HTTP. */
static const char *
job_header(json_t *headers, const char *name)
{
	const char *own;
	json_t *value;

	json_object_foreach (headers, own, value)
		if (strcasecmp(own, name) == 0)
			return json_string_value(value);
	return NULL;
}

/* Add the headers of the job that have the same meaning in HTTP. Other headers
 * of the job are not sent, because they could change the request in ways that
 * the server does not expect. */
static void
add_job_headers(struct post *p, const rp_job *job)
{
	static const char *const names[] = { "content-type", "traceparent",
					     "tracestate" };
	json_t *headers = job->headers
				  ? json_loads(job->headers, JSON_ALLOW_NUL, 0)
				  : NULL;
	int has_type = 0;

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		const char *value = job_header(headers, names[i]);

		/* libcurl removes a header whose value is blank. */
		if (!value || !value[strspn(value, " ")] ||
		    strlen(value) > HEADER)
			continue;
		add_header(p, names[i], value);
		has_type |= i == 0;
	}
	json_decref(headers);
	if (!has_type)
		add_header(p, "content-type",
			   rp__utf8(job->payload, job->payload_size)
				   ? "text/plain; charset=utf-8"
				   : "application/octet-stream");
}

static void
add_headers(struct post *p, const rp_job *job)
{
	add_job_headers(p, job);
	add_header(p, "Readpast-Queue", job->queue);
	add_number(p, "Readpast-Job-Id", job->id);
	add_number(p, "Readpast-Attempt", job->attempt);
	add_number(p, "Readpast-Max-Attempts", job->max_attempts);
	if (job->kind)
		add_header(p, "Readpast-Kind", job->kind);
	/* All attempts of a job have the same key, so a server that stores the
	 * keys can avoid doing a job twice. */
	add_number(p, "Idempotency-Key", job->id);
	/* An empty value keeps libcurl from sending the header Expect with a
	 * large body. After that header, libcurl would wait for up to a second
	 * if the server does not answer it. */
	add_header(p, "Expect", "");
}

static size_t
receive_body(char *bytes, size_t one, size_t n, void *ctx)
{
	struct post *p = ctx;
	size_t room = ANSWER_TEXT - p->size;
	size_t taken = n < room ? n : room;

	(void)one;
	memcpy(p->text + p->size, bytes, taken);
	p->size += taken;
	return n;
}

/* libcurl calls this for each line of the answer's headers. An answer may have
 * several blocks of headers: the last one follows those with a status of 1xx.
 * An empty line ends a block. */
static size_t
receive_header(char *line, size_t one, size_t n, void *ctx)
{
	struct post *p = ctx;

	(void)one;
	if (n > 5 && strncasecmp(line, "HTTP/", 5) == 0)
		p->has_headers = 0;
	else if (n > 0 && (*line == '\r' || *line == '\n'))
		p->has_headers = 1;
	return n;
}

/* libcurl calls this about once a second, and more often while data arrive. A
 * return value other than 0 ends the request. */
static int
check_stop(void *ctx, curl_off_t down, curl_off_t have, curl_off_t up,
	   curl_off_t sent)
{
	const struct post *p = ctx;

	(void)down;
	(void)have;
	(void)up;
	(void)sent;
	return must_stop(p->work, p->task);
}

/* libcurl calls this before each request that it sends. If a connection that is
 * used again closes without an answer, libcurl would send the request again on
 * a new connection. But the server may have done the job, and the new request
 * would be an attempt that nobody counts. So refuse it: the attempt fails. */
static int
refuse_repeat(void *ctx, char *ip, char *local_ip, int port, int local_port)
{
	struct post *p = ctx;

	(void)ip;
	(void)local_ip;
	(void)port;
	(void)local_port;
	p->is_repeated = p->is_sent;
	p->is_sent = 1;
	return p->is_repeated ? CURL_PREREQFUNC_ABORT : CURL_PREREQFUNC_OK;
}

static void
set_options(struct post *p, const rp_job *job)
{
	CURL *easy = p->idle->easy;
	int64_t ms = timeout_of(p->work, job);

#define SET(option, value) p->curl->easy_setopt(easy, CURLOPT_##option, value)
	SET(URL, p->work->post);
	SET(PROTOCOLS_STR, "http,https");
	SET(NOSIGNAL, 1L);
	SET(POST, 1L);
	SET(POSTFIELDSIZE_LARGE, (curl_off_t)job->payload_size);
	SET(POSTFIELDS, job->payload_size ? job->payload : "");
	SET(HTTPHEADER, p->headers);
	SET(USERAGENT, "readpast/" RP_VERSION);
	SET(CONNECTTIMEOUT_MS, CONNECT_MS);
	SET(TIMEOUT_MS, ms < INT32_MAX ? (long)ms : (long)INT32_MAX);
	SET(MAXAGE_CONN, MOST_IDLE_S);
	SET(PREREQFUNCTION, refuse_repeat);
	SET(PREREQDATA, p);
	SET(ERRORBUFFER, p->error);
	SET(HEADERFUNCTION, receive_header);
	SET(HEADERDATA, p);
	SET(WRITEFUNCTION, receive_body);
	SET(WRITEDATA, p);
	SET(NOPROGRESS, 0L);
	SET(XFERINFOFUNCTION, check_stop);
	SET(XFERINFODATA, p);
#undef SET
}

/* ---- the verdict ---- */

static int
give_up(const struct post *p, int verdict, const char *text)
{
	rp_task_error(p->task, text);
	return verdict;
}

static long
http_status(const struct post *p)
{
	long status = 0;

	p->curl->easy_getinfo(p->idle->easy, CURLINFO_RESPONSE_CODE, &status);
	return status;
}

static int
has_busy_status(const struct post *p)
{
	long status = http_status(p);

	return status == 429 || status == 503;
}

/* Returns the seconds of the answer's header Retry-After, or 0. */
static curl_off_t
retry_after_s(const struct post *p)
{
	CURL *easy = p->idle->easy;
	curl_off_t seconds = 0;
	struct curl_header *header;

	p->curl->easy_getinfo(easy, CURLINFO_RETRY_AFTER, &seconds);
	/* For a number that does not fit, libcurl returns 0. */
	if (seconds <= 0 &&
	    p->curl->easy_header(easy, "Retry-After", 0, CURLH_HEADER, -1,
				 &header) == CURLHE_OK &&
	    strspn(header->value, "0") < strspn(header->value, "0123456789"))
		return MOST_RETRY_AFTER_S;
	return seconds < MOST_RETRY_AFTER_S ? seconds : MOST_RETRY_AFTER_S;
}

/* Release the job for as long as the server asks (the answer's header
 * Retry-After) or, if the server names no time, for --release-delay. */
static int
release(const struct post *p)
{
	const curl_off_t seconds = retry_after_s(p);

	rp_task_delay(p->task, seconds > 0 ? (int64_t)seconds * 1000
					   : p->work->release_delay_ms);
	return RP_RELEASE;
}

static int
verdict_of_status(struct post *p)
{
	char text[ANSWER_TEXT + 100];
	long status = http_status(p);

	if (status >= 200 && status < 300)
		return RP_DONE;
	while (p->size > 0 && p->text[p->size - 1] == '\n')
		p->size--;
	for (size_t i = 0; i < p->size; i++)
		if (!p->text[i])
			p->text[i] = '?';
	p->text[p->size] = '\0';
	snprintf(text, sizeof(text), "HTTP status %ld%s%s", status,
		 p->size ? ": " : "", p->text);
	return give_up(p, status >= 400 && status < 500 ? RP_DEAD : RP_FAIL,
		       text);
}

static int
verdict_of_post(struct post *p, CURLcode code, const rp_job *job)
{
	char text[CURL_ERROR_SIZE + 100];

	if (p->is_repeated)
		return give_up(p, RP_FAIL,
			       "no answer: the connection was closed");
	if (code == CURLE_ABORTED_BY_CALLBACK)
		return RP_RELEASE;
	/* Servers that have too much to do often send no complete body. */
	if (has_busy_status(p))
		return release(p);
	if (code == CURLE_OK && p->has_headers)
		return verdict_of_status(p);
	if (code == CURLE_OPERATION_TIMEDOUT && timeout_of(p->work, job))
		snprintf(text, sizeof(text), "timed out after %lld ms: %s",
			 (long long)timeout_of(p->work, job), p->error);
	else if (code == CURLE_OK)
		snprintf(text, sizeof(text),
			 "no answer: its headers are not complete");
	else if (code == CURLE_OUT_OF_MEMORY && p->is_sent && !p->has_headers)
		/* libcurl reports a header of more than 100 kB as this. */
		snprintf(text, sizeof(text),
			 "no answer: its headers are too large");
	else
		snprintf(text, sizeof(text), "no answer: %s",
			 *p->error ? p->error : p->curl->easy_strerror(code));
	return give_up(p, RP_FAIL, text);
}

int
post_job(struct work *work, rp_task *task, const rp_job *job)
{
	struct post p = { .work = work,
			  .task = task,
			  .curl = &work->posts->curl,
			  .idle = take_handle(work->posts) };
	int verdict;

	if (!p.idle)
		return give_up(&p, RP_FAIL, "out of memory");
	add_headers(&p, job);
	set_options(&p, job);
	if (p.is_out_of_memory)
		verdict = give_up(&p, RP_FAIL, "out of memory");
	else
		verdict = verdict_of_post(
			&p, p.curl->easy_perform(p.idle->easy), job);
	put_handle(work->posts, p.idle);
	p.curl->slist_free_all(p.headers);
	return verdict;
}

int
post_check(const char *url)
{
	/* libcurl would skip a third slash. */
	return (strncasecmp(url, "http://", 7) == 0 && url[7] &&
		url[7] != '/') ||
	       (strncasecmp(url, "https://", 8) == 0 && url[8] &&
		url[8] != '/');
}
