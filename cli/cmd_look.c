/*
 * cmd_look.c - the commands that only read: list, show, stats, workers. They
 * print tables for people and JSON for programs.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "list.h"

#include <string.h>

#define SHOWN 60

/* ---- list ---- */

/* Print a note that the list may be incomplete because of the default limit. */
static void
say_if_cut(size_t limit, size_t count)
{
	if (limit == LISTED && count >= limit)
		complain(0, "listed %d jobs; --limit N lists more", LISTED);
}

/* Print the jobs of one queue in claim order. */
static int
list_queue(struct cmd *cmd, const struct filter *f, size_t limit, int json)
{
	int number = rp_state_number(f->state) | (f->all ? RP_LIST_ALL : 0);
	rp_batch *batch;
	int status, r = rp_job_list(cmd->conn, f->queue, number, limit, &batch);

	if (r < 0)
		return cmd_failed(cmd, r);
	status = print_list(cmd, batch, json);
	if (rp_batch_is_partial(batch))
		complain(0,
			 "queue %s has many jobs: running jobs were searched "
			 "only among the first %d; --all searches all jobs",
			 f->queue, RP_MOST_COUNTED);
	if (!status)
		say_if_cut(limit, rp_batch_count(batch));
	rp_batch_free(batch);
	return status;
}

static int
list_found(struct cmd *cmd, const struct filter *f, size_t limit, int json)
{
	struct found found = { 0 };
	int status = find_jobs(cmd, f, &found);

	if (!status)
		status = print_found(cmd, &found, limit, !f->queue, json);
	if (!status && found.count < limit)
		complain_of_partial(&found);
	if (!status)
		say_if_cut(limit, found.count);
	found_free(&found);
	return status;
}

int
cmd_list(struct cmd *cmd, int argc, char **argv)
{
	struct filter f = FILTER_INIT;
	int64_t limit = LISTED;
	int json = 0;
	const struct option options[] = {
		FILTER_OPTIONS(&f),
		{ "--limit", COUNT, &limit, "N",
		  "at most this many (" DIGITS(LISTED) ")" },
		{ "--all", FLAG, &f.all, NULL,
		  "search all jobs, not only the first 10,000" },
		JSON_OPTION(&json),
		OPTIONS_END,
	};
	int status = parse_options(cmd, &argc, argv, options);

	if (status)
		return status;
	if (argc + (f.queue != NULL) > 1)
		return usage(cmd, "name one queue, or none for all queues");
	if (argc)
		f.queue = argv[0];
	status = check_states(cmd, &f, LIVE | KEPT, listed_states(&f));
	if (status)
		return status;
	if (limit < 1 || limit > INT32_MAX)
		return usage(cmd, "--limit %lld: expected 1 to %d",
			     (long long)limit, INT32_MAX);
	status = cmd_open(cmd);
	if (status)
		return status;
	if (f.queue && !f.kind && !is_narrow(&f) && f.states != (LIVE | KEPT))
		return list_queue(cmd, &f, (size_t)limit, json);
	return list_found(cmd, &f, (size_t)limit, json);
}

/* ---- show ---- */

static void
print_field(const char *name, const char *text)
{
	if (!text)
		return;
	printf("%-13s ", name);
	print_text(stdout, text, strlen(text), SIZE_MAX);
	putchar('\n');
}

static void
print_time(const char *name, int64_t ms)
{
	char text[48];

	if (ms == 0)
		return;
	format_time(text, sizeof(text), ms);
	print_field(name, text);
}

/* Print a duration unless it is 0, which means that it is not set. The last 3
 * bytes of the name, ` ms`, are not printed. */
static void
print_span(const char *name, int64_t ms)
{
	char text[48];

	if (ms == 0)
		return;
	print_duration(text, sizeof(text), ms);
	printf("%-13.*s %s\n", (int)strlen(name) - (int)strlen(" ms"), name,
	       text);
}

/* Print a list of delays in the form that `enqueue --backoff` accepts. */
static void
print_delays(const char *name, const char *list)
{
	json_t *array = list ? json_loads(list, 0, NULL) : NULL, *delay;
	size_t i;

	if (!list)
		return;
	printf("%-13s ", name);
	json_array_foreach (array, i, delay) {
		char text[48];

		print_duration(text, sizeof(text), json_integer_value(delay));
		printf("%s%s", i ? "," : "", text);
	}
	putchar('\n');
	json_decref(array);
}

static void
print_bytes(const char *name, const void *bytes, size_t size)
{
	if (!bytes)
		return;
	printf("%-13s ", name);
	print_text(stdout, bytes, size, SHOWN);
	printf(" (%zu byte%s)\n", size, plural((int64_t)size));
}

/* Print a number. For `attempt`, print max_attempts on the same line. */
static void
print_number(const char *name, const rp_job *job, const int64_t *at)
{
	if (at == &job->attempt)
		printf("%-13s %lld of %lld\n", name, (long long)*at,
		       (long long)job->max_attempts);
	else if (at != &job->max_attempts)
		printf("%-13s %lld\n", name, (long long)*at);
}

/* Print a field on a line of its own, if the field is set. Underscores in its
 * name are printed as blanks: `run at` for `run_at`. */
static void
print_job_field(const rp_job *job, const struct field *field)
{
	const void *at = (const char *)job + field->offset;
	char name[32];

	snprintf(name, sizeof(name), "%s", field->name);
	for (char *c = name; *c; c++)
		if (*c == '_')
			*c = ' ';
	switch (field->type) {
	case FIELD_small:
		printf("%-13s %d\n", name, *(const int *)at);
		break;
	case FIELD_state:
		print_field(name, rp_state_text(*(const int *)at));
		break;
	case FIELD_time:
		print_time(name, *(const int64_t *)at);
		break;
	case FIELD_span:
		print_span(name, *(const int64_t *)at);
		break;
	case FIELD_list:
		print_delays(name, *(const char *const *)at);
		break;
	case FIELD_claim:
		if (job->state == RP_STATE_RUNNING)
			printf("%-13s %lld:%lld\n", "claim", (long long)job->id,
			       (long long)job->claim_no);
		break;
	case FIELD_payload:
		print_bytes(name, job->payload, job->payload_size);
		break;
	case FIELD_result:
		print_bytes(name, job->result, job->result_size);
		break;
	case FIELD_failures:
		break;
	case FIELD_number:
		print_number(name, job, at);
		break;
	default:
		print_field(name, *(const char *const *)at);
		break;
	}
}

static int
print_job(const rp_job *job)
{
	for (const struct field *field = job_fields; field->name; field++)
		print_job_field(job, field);
	if (job->state == RP_STATE_READY &&
	    print_came_back(stdout, "note          ", job))
		putchar('\n');
	print_failures(job);
	return 0;
}

/* Print the job as JSON. The object has the members that all commands print,
 * and also the result and the failed attempts. */
static int
print_job_json(const rp_job *job)
{
	json_t *object = json_job(job);

	json_put_result(&object, job);
	json_object_set_new(object, "failures", json_failures(job));
	return print_json(object);
}

static int
show_one(struct cmd *cmd, int64_t id, int first, int json)
{
	rp_batch *batch;
	int r = rp_job_get(cmd->conn, id, &batch);

	if (r < 0)
		return cmd_failed(cmd, r);
	if (!first && !json)
		putchar('\n');
	r = json ? print_job_json(rp_batch_at(batch, 0))
		 : print_job(rp_batch_at(batch, 0));
	rp_batch_free(batch);
	return r;
}

int
cmd_show(struct cmd *cmd, int argc, char **argv)
{
	return each_job(cmd, argc, argv, show_one);
}

/* ---- stats ---- */

/* Returns the width of the column with the queues' names. Rows have at most 80
 * columns if no name is longer than 11 bytes and all numbers fit into their
 * columns. */
static int
queue_width(const rp_stats *stats)
{
	size_t width = strlen("QUEUE");

	for (size_t i = 0; i < rp_stats_count(stats); i++) {
		size_t n = strlen(rp_stats_at(stats, i)->queue);

		width = n > width ? n : width;
	}
	return (int)width;
}

/* End the line of a queue: say why none of its jobs starts, if it is so. */
static void
print_stop(const rp_queue_stats *s)
{
	char until[48];

	if (s->paused)
		printf("  paused%s%s", s->pause_reason ? ": " : "",
		       s->pause_reason ? s->pause_reason : "");
	if (s->held_until) {
		format_time(until, sizeof(until), s->held_until);
		printf("  held until %s", until);
	}
	putchar('\n');
}

static int
print_stats(const rp_stats *stats, int json)
{
	int status = 0, width = queue_width(stats);

	if (!json)
		printf("%-*s %5s %5s %5s %5s %8s %6s %6s %6s %7s %6s\n", width,
		       "QUEUE", "SCHED", "READY", "BLOCK", "RUN", "DONE",
		       "DEAD", "CANCEL", "OLDEST", "WORKERS", "DONE/s");
	for (size_t i = 0; i < rp_stats_count(stats) && !status; i++) {
		const rp_queue_stats *s = rp_stats_at(stats, i);
		char oldest[32], scheduled[32], ready[32], running[32];
		char blocked[32];

		if (json) {
			status = print_json(json_stats(s));
			continue;
		}
		print_duration_short(oldest, sizeof(oldest),
				     s->oldest_ready_ms);
		format_count(scheduled, sizeof(scheduled), s->scheduled,
			     s->scheduled_at_least);
		format_count(ready, sizeof(ready), s->ready, s->ready_at_least);
		format_count(blocked, sizeof(blocked), s->blocked,
			     s->blocked_at_least);
		format_count(running, sizeof(running), s->running,
			     s->running_at_least);
		printf("%-*s %5s %5s %5s %5s %8lld %6lld %6lld %6s %7lld "
		       "%6.1f",
		       width, s->queue, scheduled, ready, blocked, running,
		       (long long)s->done, (long long)s->dead,
		       (long long)s->cancelled, oldest, (long long)s->workers,
		       (double)s->done_10s / 10);
		print_stop(s);
	}
	return status;
}

int
cmd_stats(struct cmd *cmd, int argc, char **argv)
{
	int json = 0;
	const struct option options[] = {
		JSON_OPTION(&json),
		OPTIONS_END,
	};
	int status = parse_options(cmd, &argc, argv, options), r;
	rp_stats *stats;

	if (status)
		return status;
	if (argc > 1)
		return usage(cmd, "name one queue, or none for all queues");
	status = cmd_open(cmd);
	if (status)
		return status;
	r = rp_stats_get(cmd->conn, argc ? argv[0] : NULL, &stats);
	if (r < 0)
		return cmd_failed(cmd, r);
	status = print_stats(stats, json);
	rp_stats_free(stats);
	return status;
}

/* ---- workers ---- */

static int
print_workers(const rp_workers *workers, int json)
{
	int status = 0;

	if (!json && rp_workers_count(workers))
		printf("%-28s %7s %9s %7s %7s %8s  %s\n", "WORKER", "SEEN",
		       "DONE", "FAILED", "RUNNING", "RELEASED", "QUEUES");
	for (size_t i = 0; i < rp_workers_count(workers) && !status; i++) {
		const rp_worker_info *w = rp_workers_at(workers, i);
		char silent[32], running[32];

		if (json) {
			status = print_json(json_worker(w));
			continue;
		}
		print_duration_short(silent, sizeof(silent), w->silent_ms);
		format_count(running, sizeof(running), w->running,
			     w->running_at_least);
		printf("%-28s %7s %9lld %7lld %7s %8lld  ", w->name, silent,
		       (long long)w->done, (long long)(w->failed + w->dead),
		       running, (long long)w->released);
		print_text(stdout, w->queues, strlen(w->queues), SHOWN);
		putchar('\n');
	}
	return status;
}

int
cmd_workers(struct cmd *cmd, int argc, char **argv)
{
	int json = 0;
	const struct option options[] = {
		JSON_OPTION(&json),
		OPTIONS_END,
	};
	int status = parse_options(cmd, &argc, argv, options), r;
	rp_workers *workers;

	if (status)
		return status;
	if (argc)
		return usage(cmd, "takes no arguments");
	status = cmd_open(cmd);
	if (status)
		return status;
	r = rp_worker_list(cmd->conn, &workers);
	if (r < 0)
		return cmd_failed(cmd, r);
	status = print_workers(workers, json);
	rp_workers_free(workers);
	return status;
}
