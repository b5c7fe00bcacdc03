/*
 * metrics.c - the metrics of this process, followed by those of the database
 * if it can be read, in the text format of Prometheus.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "handlers.h"

#include <stdlib.h>
#include <string.h>

#include "metrics.h"

/* The upper limits of the buckets in microseconds. */
static const int64_t limits_us[BUCKETS] = {
	500,   1000,   2500,   5000,    10000,   25000,
	50000, 100000, 250000, 1000000, 5000000, 60000000,
};

void
metrics_answered(struct server *server, int status, int64_t us)
{
	struct metrics *m = &server->metrics;
	size_t i = 0, kind = (size_t)(status / 100) % 6;

	/* The client ended the connection before the request was complete. */
	if (!status)
		return;
	while (i < BUCKETS && us > limits_us[i])
		i++;
	atomic_fetch_add(&m->requests[kind], 1);
	atomic_fetch_add(&m->buckets[i], 1);
	atomic_fetch_add(&m->us, us);
}

/* ---- the text ---- */

static void
put_counts(FILE *to, const char *name, const char *help, const char *label,
	   const char *const *words, const _Atomic int64_t *counts, size_t n)
{
	metrics_head(to, name, "counter", help);
	for (size_t i = 0; i < n; i++)
		if (words[i])
			fprintf(to, "readpast_%s{%s=\"%s\"} %lld\n", name,
				label, words[i],
				(long long)atomic_load(&counts[i]));
}

static void
put_durations(FILE *to, const struct metrics *m)
{
	static const char name[] = "http_request_duration_seconds";
	int64_t sum = 0;

	metrics_head(to, name, "histogram",
		     "Time from a request's first line to the end of its "
		     "answer, including waits.");
	for (size_t i = 0; i <= BUCKETS; i++) {
		sum += atomic_load(&m->buckets[i]);
		if (i < BUCKETS)
			fprintf(to, "readpast_%s_bucket{le=\"%g\"} %lld\n",
				name, (double)limits_us[i] / 1e6,
				(long long)sum);
		else
			fprintf(to, "readpast_%s_bucket{le=\"+Inf\"} %lld\n",
				name, (long long)sum);
	}
	fprintf(to, "readpast_%s_sum %.6f\nreadpast_%s_count %lld\n", name,
		(double)atomic_load(&m->us) / 1e6, name, (long long)sum);
}

static void
put_process(const struct server *server, FILE *to)
{
	static const char *const codes[6] = { NULL,  NULL,  "2xx",
					      "3xx", "4xx", "5xx" };
	static const char *const kinds[MET_KINDS] = {
		[MET_ENQUEUED] = "enqueued", [MET_CLAIMED] = "claimed",
		[MET_SETTLED] = "settled",   [MET_REFUSED] = "refused",
		[MET_RELEASED] = "released",
	};
	const struct metrics *m = &server->metrics;

	put_counts(to, "http_requests_total", "Requests by status.", "code",
		   codes, m->requests, 6);
	put_durations(to, m);
	put_counts(to, "http_jobs_total",
		   "Jobs, by what this server did with them.", "what", kinds,
		   m->jobs, MET_KINDS);
	put_counts(
		to, "http_verdicts_total",
		"Accepted verdicts. A job that fails and is dead then counts "
		"as dead.",
		"verdict", verdict_words, m->verdicts, RP_EXTEND + 1);
	metrics_head(
		to, "http_commits_total", "counter",
		"Commits of the writer, which joins the writes of requests.");
	fprintf(to, "readpast_http_commits_total %lld\n",
		(long long)atomic_load(&m->commits));
	metrics_head(to, "http_commit_requests_total", "counter",
		     "Requests whose writes the writer has committed.");
	fprintf(to, "readpast_http_commit_requests_total %lld\n",
		(long long)atomic_load(&m->commit_requests));
	metrics_head(to, "http_access_log_lines_lost_total", "counter",
		     "Lines that could not be written to the access log.");
	fprintf(to, "readpast_http_access_log_lines_lost_total %lld\n",
		(long long)atomic_load(&m->lines_lost));
	metrics_head(to, "http_connections", "gauge", "Open connections.");
	fprintf(to, "readpast_http_connections %lld\n",
		(long long)server->connections_count);
	metrics_head(to, "http_waiting", "gauge",
		     "Open requests that wait, and open streams of events.");
	fprintf(to,
		"readpast_http_waiting{for=\"claim\"} %zu\n"
		"readpast_http_waiting{for=\"outcome\"} %zu\n"
		"readpast_http_waiting{for=\"events\"} %zu\n",
		server->polls.waiting.count, server->outcomes.waiting.count,
		server->events.listeners.count);
}

/* Write the metrics of this process to request->body. The loop does this,
 * because some of these numbers belong to the loop. */
int
metrics_prepare(struct request *request)
{
	FILE *to;

	if (nothing_prepare(request) < 0 ||
	    guard_queue(request, MAY_READ, NULL) < 0)
		return -1;
	free(request->body);
	request->body = NULL;
	to = open_memstream(&request->body, &request->body_size);
	if (!to)
		return refuse_memory(request);
	put_process(request->server, to);
	if (fclose(to) == EOF)
		return refuse_memory(request);
	request->body_size = 0;
	return 0;
}

/* While the database is away, the metrics of this process are still answered,
 * because they are needed most then. */
void
metrics_run(struct request *request, rp_conn *conn)
{
	char *database = NULL, *text = NULL;
	size_t size;
	int r = metrics_text(conn, request->server->options->url, &database);
	FILE *to = r == RP_ENOMEM ? NULL : open_memstream(&text, &size);

	if (!to) {
		free(database);
		refuse_memory(request);
		return;
	}
	fputs(request->body, to);
	metrics_head(to, "database_up", "gauge",
		     "1 if the metrics of the database could be read, or 0.");
	fprintf(to, "readpast_database_up %d\n", r == 0);
	if (r == 0)
		fputs(database, to);
	if (fclose(to) == EOF) {
		free(text);
		text = NULL;
	}
	free(database);
	answer_bytes(request, 200, METRICS_TYPE, text, size);
}
