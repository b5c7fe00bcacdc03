/*
 * cmd_look.c - list, show, stats, workers: tables for people, JSON for
 * programs.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "cmd.h"

#include <string.h>

#define SHOWN 60

/* ---- list ---- */

/* A list has but the beginning of a long payload: such a job is read alone. One
 * that has gone since is left out. */
static int
print_listed_json(struct cmd *cmd, const rp_job *job)
{
	rp_batch *whole;
	int r, status;

	if (job->payload_size == job->payload_total)
		return print_json(json_job(job));
	r = rp_job_get(cmd->conn, job->id, &whole);
	if (r == RP_ENOENT)
		return 0;
	if (r < 0)
		return cmd_failed(cmd, r);
	status = print_json(json_job(rp_batch_at(whole, 0)));
	rp_batch_free(whole);
	return status;
}

static int
print_list(struct cmd *cmd, const rp_batch *batch, int json)
{
	int status = 0;

	if (!json && rp_batch_count(batch))
		printf("%10s %-9s %4s %8s  %s\n", "ID", "STATE", "PRIO",
		       "ATTEMPT", "PAYLOAD");
	for (size_t i = 0; i < rp_batch_count(batch) && !status; i++) {
		const rp_job *job = rp_batch_at(batch, i);
		char attempt[48];

		if (json) {
			status = print_listed_json(cmd, job);
			continue;
		}
		snprintf(attempt, sizeof(attempt), "%lld/%lld",
			 (long long)job->attempt, (long long)job->max_attempts);
		printf("%10lld %-9s %4d %8s  ", (long long)job->id,
		       rp_state_text(job->state), job->priority, attempt);
		print_text(stdout, job->payload, job->payload_size, SHOWN);
		putchar('\n');
	}
	return status;
}

int
cmd_list(struct cmd *cmd, int argc, char **argv)
{
	const char *state = NULL;
	int64_t limit = 50;
	int json = 0;
	const struct option options[] = {
		{ "--state", TEXT, &state, "S",
		  "only those in a state; also dead, done, cancelled" },
		{ "--limit", COUNT, &limit, "N", "so many (50)" },
		{ "--json", FLAG, &json, NULL, "JSON lines" },
		OPTIONS_END,
	};
	int status = parse_options(cmd, &argc, argv, options), r;
	rp_batch *batch;

	if (status)
		return status;
	if (argc != 1)
		return usage(cmd,
			     argc ? "one queue at a time" : "which queue?");
	if (state && !rp_state_number(state))
		return usage(cmd,
			     "--state %.40s: expected scheduled, ready, "
			     "running, done, dead or cancelled",
			     state);
	if (limit < 1 || limit > INT32_MAX)
		return usage(cmd, "--limit: expected 1 to %d", INT32_MAX);
	status = cmd_open(cmd);
	if (status)
		return status;
	r = rp_job_list(cmd->conn, argv[0], rp_state_number(state),
			(size_t)limit, &batch);
	if (r < 0)
		return cmd_failed(cmd, r);
	status = print_list(cmd, batch, json);
	rp_batch_free(batch);
	return status;
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

static void
print_payload(const rp_job *job)
{
	printf("%-13s ", "payload");
	print_text(stdout, job->payload, job->payload_size, SHOWN);
	printf(" (%zu bytes)\n", job->payload_size);
}

/* `max_attempts` is shown with the attempt. */
static void
print_number(const char *name, const rp_job *job, const int64_t *at)
{
	if (at == &job->attempt)
		printf("%-13s %lld of %lld\n", name, (long long)*at,
		       (long long)job->max_attempts);
	else if (at != &job->max_attempts)
		printf("%-13s %lld\n", name, (long long)*at);
}

/* A line for a field that the job has: `run_at` is `run at`. */
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
	case FIELD_claim:
		if (job->state == RP_STATE_RUNNING)
			printf("%-13s %lld:%lld\n", "claim", (long long)job->id,
			       (long long)job->claim_no);
		break;
	case FIELD_payload:
		print_payload(job);
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

/* As the others show a job, and with its failed attempts. */
static int
print_job_json(const rp_job *job)
{
	json_t *object = json_job(job);

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

static int
print_stats(const rp_stats *stats, int json)
{
	int status = 0;

	if (!json)
		printf("%-20s %9s %9s %7s %9s %7s %9s %7s %7s %7s\n", "QUEUE",
		       "SCHEDULED", "READY", "RUNNING", "DONE", "DEAD",
		       "CANCELLED", "OLDEST", "WORKERS", "DONE/s");
	for (size_t i = 0; i < rp_stats_count(stats) && !status; i++) {
		const rp_queue_stats *s = rp_stats_at(stats, i);
		char oldest[32];

		if (json) {
			status = print_json(json_stats(s));
			continue;
		}
		print_duration_short(oldest, sizeof(oldest),
				     s->oldest_ready_ms);
		printf("%-20s %9lld %9lld %7lld %9lld %7lld %9lld %7s %7lld "
		       "%7.1f%s\n",
		       s->queue, (long long)s->scheduled, (long long)s->ready,
		       (long long)s->running, (long long)s->done,
		       (long long)s->dead, (long long)s->cancelled, oldest,
		       (long long)s->workers, (double)s->done_10s / 10,
		       s->paused ? "  paused" : "");
	}
	return status;
}

int
cmd_stats(struct cmd *cmd, int argc, char **argv)
{
	int json = 0;
	const struct option options[] = {
		{ "--json", FLAG, &json, NULL, "JSON lines" },
		OPTIONS_END,
	};
	int status = parse_options(cmd, &argc, argv, options), r;
	rp_stats *stats;

	if (status)
		return status;
	if (argc > 1)
		return usage(cmd, "one queue, or none for all");
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
		char silent[32];

		if (json) {
			status = print_json(json_worker(w));
			continue;
		}
		print_duration_short(silent, sizeof(silent), w->silent_ms);
		printf("%-28s %7s %9lld %7lld %7lld %8lld  ", w->name, silent,
		       (long long)w->done, (long long)(w->failed + w->dead),
		       (long long)w->running, (long long)w->released);
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
		{ "--json", FLAG, &json, NULL, "JSON lines" },
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
