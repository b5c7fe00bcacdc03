/*
 * work_metrics.c - the metrics of one worker, over HTTP, in the text format of
 * Prometheus.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include <errno.h>
#include <netdb.h>
#include <stdlib.h>
#include <string.h>

#include "metrics.h"
#include "mhd.h"
#include "serve.h"
#include "work.h"

#define BUCKETS_OF_TIME 16
#define CONNECTIONS 100u /* largest number of open connections */
#define TIME_S 10u /* a connection that sends nothing is closed after this */

/* The upper limits of the buckets in milliseconds. Handlers run from
 * milliseconds to an hour. */
static const int64_t limits_ms[BUCKETS_OF_TIME] = {
	1,    5,    10,   25,    50,    100,   250,    500,
	1000, 2500, 5000, 10000, 30000, 60000, 300000, 3600000,
};

static const char option[] = "work: --metrics";

struct times {
	_Atomic int64_t buckets[BUCKETS_OF_TIME + 1];
	_Atomic int64_t ms;
};

struct work_metrics {
	struct work *work;
	struct MHD_Daemon *http;
	struct times run, delay;
};

static void
count_time(struct times *times, int64_t ms)
{
	size_t i = 0;

	if (ms < 0)
		ms = 0;
	while (i < BUCKETS_OF_TIME && ms > limits_ms[i])
		i++;
	atomic_fetch_add(&times->buckets[i], 1);
	atomic_fetch_add(&times->ms, ms);
}

void
work_metrics_count(struct work_metrics *metrics, const rp_event *e)
{
	if (!metrics || !e->job)
		return;
	if (e->what == RP_EVENT_START)
		count_time(&metrics->delay,
			   e->job->claimed_at - e->job->run_at);
	else if (e->what == RP_EVENT_SETTLED && e->verdict != RP_EXTEND)
		count_time(&metrics->run, e->duration_ms);
}

/* ---- the text ---- */

static void
put_times(FILE *to, const char *name, const char *help,
	  const struct times *times)
{
	int64_t sum = 0;

	metrics_head(to, name, "histogram", help);
	for (size_t i = 0; i < BUCKETS_OF_TIME; i++) {
		sum += atomic_load(&times->buckets[i]);
		fprintf(to, "readpast_%s_bucket{le=\"%g\"} %lld\n", name,
			(double)limits_ms[i] / 1000, (long long)sum);
	}
	sum += atomic_load(&times->buckets[BUCKETS_OF_TIME]);
	fprintf(to,
		"readpast_%s_bucket{le=\"+Inf\"} %lld\n"
		"readpast_%s_sum %.3f\nreadpast_%s_count %lld\n",
		name, (long long)sum, name,
		(double)atomic_load(&times->ms) / 1000, name, (long long)sum);
}

static void
put_worker(FILE *to, const struct work_metrics *m)
{
	rp_worker_counts n = RP_WORKER_COUNTS_INIT;

	rp_worker_counts_get(m->work->worker, &n);
	metrics_head(to, "worker_info", "gauge", "The version of readpast.");
	fprintf(to, "readpast_worker_info{version=\"%s\"} 1\n", rp_version());
	metrics_head(to, "worker_claimed_total", "counter",
		     "Jobs that this worker has claimed.");
	fprintf(to, "readpast_worker_claimed_total %lld\n",
		(long long)n.claimed);
	metrics_head(to, "worker_jobs_total", "counter",
		     "Attempts of this worker, by how they ended.");
	fprintf(to,
		"readpast_worker_jobs_total{end=\"done\"} %lld\n"
		"readpast_worker_jobs_total{end=\"failed\"} %lld\n"
		"readpast_worker_jobs_total{end=\"dead\"} %lld\n"
		"readpast_worker_jobs_total{end=\"released\"} %lld\n"
		"readpast_worker_jobs_total{end=\"lost\"} %lld\n"
		"readpast_worker_jobs_total{end=\"cancelled\"} %lld\n",
		(long long)n.done, (long long)n.failed, (long long)n.dead,
		(long long)n.released, (long long)n.lost,
		(long long)n.cancelled);
	metrics_head(to, "worker_running", "gauge", "Handlers that run now.");
	fprintf(to, "readpast_worker_running %lld\n",
		(long long)atomic_load(&m->work->running));
	metrics_head(to, "worker_threads", "gauge",
		     "How many handlers may run at a time.");
	fprintf(to, "readpast_worker_threads %lld\n",
		(long long)m->work->threads);
	put_times(to, "worker_run_seconds", "How long handlers ran.", &m->run);
	put_times(to, "worker_start_delay_seconds",
		  "Time from when a job became ready to its claim.", &m->delay);
}

/* ---- the server ---- */

static enum MHD_Result
answer(struct MHD_Connection *connection, unsigned status, const char *type,
       char *text, size_t size, enum MHD_ResponseMemoryMode mode)
{
	struct MHD_Response *response =
		mhd.create_response_from_buffer(size, text, mode);
	enum MHD_Result r = MHD_NO;

	if (!response)
		return MHD_NO;
	if (mhd.add_response_header(response, "Content-Type", type) == MHD_YES)
		r = mhd.queue_response(connection, status, response);
	mhd.destroy_response(response);
	return r;
}

static enum MHD_Result
handle(void *ctx, struct MHD_Connection *connection, const char *path,
       const char *method, const char *version, const char *data, size_t *size,
       void **state)
{
	static char none[] = "the metrics are at /metrics\n";
	const char *authority = after_scheme(path);
	char *text = NULL;
	size_t n;
	FILE *to;

	(void)version;
	(void)data;
	(void)state;
	/* A request with another method may have a body. The body is not read,
	 * so libmicrohttpd closes the connection after the answer. */
	if (*size ||
	    (strcmp(method, "GET") != 0 && strcmp(method, "HEAD") != 0))
		return answer(connection, MHD_HTTP_METHOD_NOT_ALLOWED,
			      "text/plain", none, strlen(none),
			      MHD_RESPMEM_PERSISTENT);
	/* The target may be a whole URL (RFC 9112, 3.2.2). */
	if (authority)
		path = authority + strcspn(authority, "/");
	if (strcmp(path, "/metrics") != 0)
		return answer(connection, MHD_HTTP_NOT_FOUND, "text/plain",
			      none, strlen(none), MHD_RESPMEM_PERSISTENT);
	to = open_memstream(&text, &n);
	if (!to)
		return MHD_NO;
	put_worker(to, ctx);
	if (fclose(to) == EOF) {
		free(text);
		return MHD_NO;
	}
	return answer(connection, MHD_HTTP_OK, METRICS_TYPE, text, n,
		      MHD_RESPMEM_MUST_FREE);
}

static void
no_log(void *ctx, const char *format, va_list args)
{
	(void)ctx;
	(void)format;
	(void)args;
}

int
work_metrics_check(const char *address)
{
	struct addrinfo *found = listen_resolve(option, address);

	if (!found)
		return USAGE;
	freeaddrinfo(found);
	return 0;
}

struct work_metrics *
work_metrics_start(struct work *work, const char *address)
{
	struct work_metrics *m;
	struct addrinfo *found;

	if (mhd_load(option) < 0)
		return NULL;
	m = calloc(1, sizeof(*m));
	found = listen_resolve(option, address);
	if (m && found) {
		m->work = work;
		m->http = mhd.start_daemon(
			MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_ERROR_LOG |
				(found->ai_family == AF_INET6 ? MHD_USE_IPv6
							      : 0),
			0, NULL, NULL, handle, m, MHD_OPTION_EXTERNAL_LOGGER,
			no_log, NULL, MHD_OPTION_SOCK_ADDR, found->ai_addr,
			MHD_OPTION_CONNECTION_MEMORY_LIMIT,
			(size_t)CONNECTION_BYTES, MHD_OPTION_CONNECTION_LIMIT,
			CONNECTIONS, MHD_OPTION_CONNECTION_TIMEOUT, TIME_S,
			MHD_OPTION_END);
		if (!m->http)
			complain(FAILED, "cannot listen on %.80s: %s", address,
				 strerror(errno));
	}
	if (found)
		freeaddrinfo(found);
	if (!m || !m->http) {
		free(m);
		return NULL;
	}
	return m;
}

void
work_metrics_say(const struct work_metrics *metrics)
{
	const union MHD_DaemonInfo *info;
	const char *address;

	if (!metrics || metrics->work->quiet)
		return;
	info = mhd.get_daemon_info(metrics->http, MHD_DAEMON_INFO_BIND_PORT);
	address = metrics->work->metrics_at;
	complain(0, "metrics at http://%.*s:%d/metrics",
		 (int)(strrchr(address, ':') - address), address,
		 info ? info->port : 0);
}

void
work_metrics_stop(struct work_metrics *metrics)
{
	if (metrics && metrics->http)
		mhd.stop_daemon(metrics->http);
	free(metrics);
}
