/*
 * cmd_metrics.c - the command `metrics`: print what the database holds, in the
 * text format of Prometheus.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "metrics.h"

#include <stdlib.h>
#include <string.h>

#include "doctor.h"

/* Only this many queues have metrics of their own, because each queue adds
 * several time series to the collector. */
#define MOST_QUEUES 1000

void
metrics_head(FILE *to, const char *name, const char *type, const char *help)
{
	fprintf(to, "# HELP readpast_%s %s\n# TYPE readpast_%s %s\n", name,
		help, name, type);
}

/* Write the label that names a queue. */
static void
put_queue(FILE *to, const char *queue)
{
	fputs("queue=\"", to);
	for (; *queue; queue++) {
		if (*queue == '"' || *queue == '\\')
			putc('\\', to);
		putc(*queue, to);
	}
	putc('"', to);
}

/* ---- queues ---- */

static size_t
count_queues(const rp_stats *stats)
{
	size_t n = rp_stats_count(stats);

	return n < MOST_QUEUES ? n : MOST_QUEUES;
}

static void
put_jobs(FILE *to, const rp_stats *stats)
{
	static const struct {
		const char *state;
		size_t offset;
	} states[] = {
		{ "scheduled", offsetof(rp_queue_stats, scheduled) },
		{ "ready", offsetof(rp_queue_stats, ready) },
		{ "blocked", offsetof(rp_queue_stats, blocked) },
		{ "running", offsetof(rp_queue_stats, running) },
		{ "done", offsetof(rp_queue_stats, done) },
		{ "dead", offsetof(rp_queue_stats, dead) },
		{ "cancelled", offsetof(rp_queue_stats, cancelled) },
	};

	metrics_head(to, "queue_jobs", "gauge",
		     "Jobs by queue and state; at most 10000 scheduled, ready, "
		     "blocked or running jobs are counted.");
	for (size_t i = 0; i < count_queues(stats); i++)
		for (size_t s = 0; s < sizeof(states) / sizeof(*states); s++) {
			const rp_queue_stats *q = rp_stats_at(stats, i);
			int64_t n;

			memcpy(&n, (const char *)q + states[s].offset,
			       sizeof(n));
			fputs("readpast_queue_jobs{", to);
			put_queue(to, q->queue);
			fprintf(to, ",state=\"%s\"} %lld\n", states[s].state,
				(long long)n);
		}
}

/* A metric that has one value for each queue. The value is the member of
 * rp_queue_stats at `offset`, divided by `scale`. */
struct metric {
	const char *name, *type, *help;
	size_t offset;
	double scale;
};

static void
put_metric(FILE *to, const rp_stats *stats, const struct metric *metric)
{
	metrics_head(to, metric->name, metric->type, metric->help);
	for (size_t i = 0; i < count_queues(stats); i++) {
		const rp_queue_stats *q = rp_stats_at(stats, i);
		int64_t n;

		memcpy(&n, (const char *)q + metric->offset, sizeof(n));
		fprintf(to, "readpast_%s{", metric->name);
		put_queue(to, q->queue);
		fprintf(to, "} %.15g\n", n < 0 ? 0 : (double)n / metric->scale);
	}
}

static void
put_queues(FILE *to, const rp_stats *stats)
{
	static const struct metric metrics[] = {
		{ "queue_oldest_ready_seconds", "gauge",
		  "How long the oldest due job has waited. Jobs that wait for "
		  "their queue (its hold, its rate) count; those that wait for "
		  "their group do not.",
		  offsetof(rp_queue_stats, oldest_ready_ms), 1000 },
		{ "queue_longest_running_seconds", "gauge",
		  "How long the longest running job has been running.",
		  offsetof(rp_queue_stats, longest_running_ms), 1000 },
		{ "queue_workers", "gauge",
		  "Workers with a heartbeat in the last 30 s.",
		  offsetof(rp_queue_stats, workers), 1 },
		{ "queue_done_per_second", "gauge",
		  "Jobs that were done, over the last 10 s.",
		  offsetof(rp_queue_stats, done_10s), 10 },
		{ "queue_failed_per_second", "gauge",
		  "Attempts that failed, over the last 10 s.",
		  offsetof(rp_queue_stats, failed_10s), 10 },
		{ "queue_done_total", "counter",
		  "Jobs that were done since the queue was made.",
		  offsetof(rp_queue_stats, done_total), 1 },
		{ "queue_failed_total", "counter",
		  "Attempts that failed since the queue was made.",
		  offsetof(rp_queue_stats, failed_total), 1 },
		{ "queue_dead_total", "counter",
		  "Jobs that died since the queue was made.",
		  offsetof(rp_queue_stats, dead_total), 1 },
	};

	put_jobs(to, stats);
	for (size_t i = 0; i < sizeof(metrics) / sizeof(*metrics); i++)
		put_metric(to, stats, &metrics[i]);
	metrics_head(to, "queue_paused", "gauge", "1 if the queue is paused.");
	for (size_t i = 0; i < count_queues(stats); i++) {
		const rp_queue_stats *q = rp_stats_at(stats, i);

		fputs("readpast_queue_paused{", to);
		put_queue(to, q->queue);
		fprintf(to, "} %d\n", q->paused);
	}
	metrics_head(to, "queues", "gauge",
		     "Queues; only the first 1000 have metrics of their own.");
	fprintf(to, "readpast_queues %zu\n", rp_stats_count(stats));
}

/* ---- workers and findings ---- */

static int
put_workers(FILE *to, rp_conn *conn)
{
	int64_t done = 0, failed = 0, dead = 0, released = 0, running = 0;
	rp_workers *workers;
	int r = rp_worker_list(conn, &workers);

	if (r < 0)
		return r;
	metrics_head(to, "workers", "gauge", "Workers that are registered.");
	fprintf(to, "readpast_workers %zu\n", rp_workers_count(workers));
	for (size_t i = 0; i < rp_workers_count(workers); i++) {
		const rp_worker_info *w = rp_workers_at(workers, i);

		done += w->done;
		failed += w->failed;
		dead += w->dead;
		released += w->released;
		running += w->running;
	}
	rp_workers_free(workers);
	metrics_head(to, "workers_running", "gauge",
		     "Jobs that the workers hold.");
	fprintf(to, "readpast_workers_running %lld\n", (long long)running);
	metrics_head(to, "workers_settled", "gauge",
		     "Verdicts of the registered workers, counted from the "
		     "start of each worker.");
	fprintf(to,
		"readpast_workers_settled{verdict=\"done\"} %lld\n"
		"readpast_workers_settled{verdict=\"fail\"} %lld\n"
		"readpast_workers_settled{verdict=\"dead\"} %lld\n"
		"readpast_workers_settled{verdict=\"release\"} %lld\n",
		(long long)done, (long long)failed, (long long)dead,
		(long long)released);
	return 0;
}

static int
put_findings(FILE *to, rp_conn *conn, const char *url)
{
	struct doctor d = { .conn = conn, .url = url, .long_ms = LONG_MS };
	int r = rp_now(conn, &d.now_ms);

	if (r == 0 && doctor_run(&d) < 0)
		r = RP_ENOMEM;
	if (r == 0)
		metrics_head(to, "findings", "gauge",
			     "Findings of readpast doctor.");
	for (int level = 0; level < LEVELS && r == 0; level++)
		fprintf(to, "readpast_findings{level=\"%s\"} %zu\n",
			level_words[level], json_array_size(d.findings[level]));
	doctor_free(&d);
	return r;
}

static int
put_database(FILE *to, rp_conn *conn, const char *url)
{
	rp_stats *stats;
	int r = rp_stats_get(conn, NULL, &stats);

	if (r < 0)
		return r;
	metrics_head(to, "info", "gauge", "The version of readpast.");
	fprintf(to, "readpast_info{version=\"%s\"} 1\n", rp_version());
	put_queues(to, stats);
	rp_stats_free(stats);
	r = put_workers(to, conn);
	return r < 0 ? r : put_findings(to, conn, url);
}

int
metrics_text(rp_conn *conn, const char *url, char **ret)
{
	char *text = NULL;
	size_t size;
	FILE *to = open_memstream(&text, &size);
	int r = to ? put_database(to, conn, url) : RP_ENOMEM;

	if (to && fclose(to) == EOF && r == 0)
		r = RP_ENOMEM;
	if (r == 0)
		*ret = text;
	else
		free(text);
	return r;
}

int
cmd_metrics(struct cmd *cmd, int argc, char **argv)
{
	const struct option options[] = { OPTIONS_END };
	int status = parse_options(cmd, &argc, argv, options), r;
	char *text = NULL;

	if (!status && argc)
		status = usage(cmd, "takes no arguments");
	if (!status)
		status = cmd_open(cmd);
	if (status)
		return status;
	r = metrics_text(cmd->conn, cmd->url, &text);
	if (r < 0)
		return cmd_failed(cmd, r);
	if (fputs(text, stdout) == EOF)
		status = FAILED;
	free(text);
	return status;
}
