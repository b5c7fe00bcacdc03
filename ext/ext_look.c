/*
 * ext_look.c - the tables in SQL that show jobs, queues, workers and functions.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ext.h"

/* ---- jobs ---- */

/* Returns bytes as a text if they are UTF-8 without a NUL, otherwise as a blob.
 * The view readpast_jobs does the same. */
struct rp_value
ext_bytes(const void *bytes, size_t size)
{
	int text;

	if (!bytes)
		return (struct rp_value){ .type = RP_NULL };
	text = !memchr(bytes, '\0', size) && rp__utf8(bytes, size);
	return (struct rp_value){ .type = text ? RP_TEXT : RP_BLOB,
				  .data = bytes,
				  .size = size };
}

int
ext_state(struct ext_call *call, int *ret)
{
	*ret = rp_state_number(call->arguments[P_STATE].text);
	if (*ret)
		return 0;
	return rp__fail(&call->error, RP_EINVAL, "unknown state \"%.60s\"",
			(const char *)call->arguments[P_STATE].text);
}

static void
read_job(const void *batch, size_t row, struct rp_value *columns)
{
	const rp_job *job = rp_batch_at(batch, row);

#define READ(field, FIELD, type) *columns++ = EXT_VALUE_##type(job, field);
	RP_JOB_FIELDS(READ)
#undef READ
}

void
ext_free_batch(void *batch)
{
	rp_batch_free(batch);
}

/* Return a list of jobs as rows. If the job or the queue does not exist, the
 * table has no rows, and the call does not fail. */
static int
answer_jobs(int r, rp_batch *batch, struct ext_rows *ret)
{
	if (r >= 0)
		*ret = (struct ext_rows){ rp_batch_count(batch), batch,
					  ext_free_batch, read_job };
	return r == RP_ENOENT ? 0 : r;
}

int
ext_get_rows(struct ext_call *call, struct ext_rows *ret)
{
	rp_batch *batch = NULL;
	int r = rp_job_get(call->conn, call->arguments[P_JOB_ID].number,
			   &batch);

	return answer_jobs(r, batch, ret);
}

int
ext_list_rows(struct ext_call *call, struct ext_rows *ret)
{
	const struct ext_argument *a = call->arguments;
	rp_batch *batch = NULL;
	int state = 0;
	int r = a[P_STATE].given ? ext_state(call, &state) : 0;

	if (r == 0)
		r = rp__list_jobs(call->conn, a[P_QUEUE].text, state,
				  a[P_N].given ? (size_t)a[P_N].number : 50,
				  RP_WHOLE_PAYLOAD, &batch);
	return answer_jobs(r, batch, ret);
}

static void
read_why(const void *data, size_t row, struct rp_value *columns)
{
	const rp_why *why = data;
	int held = why->job->state == RP_STATE_RUNNING;

	(void)row;
	*columns++ = rp__int(why->now);
	*columns++ = ext_time(why->paused_at);
	*columns++ = rp__text(why->pause_reason);
	*columns++ = rp__int(why->ahead);
	*columns++ = rp__int(why->suspect);
	*columns++ = rp__int(why->workers);
	*columns++ = rp__int(why->queue_workers);
	*columns++ = rp__int_or_null(why->worker_id, !held || !why->worker_id);
	*columns++ = rp__text(why->host);
	*columns++ = rp__int_or_null(why->pid, !why->host);
	*columns++ = rp__int_or_null(why->silent_ms, !why->host);
	*columns++ = rp__int(why->renewed);
	*columns++ = rp__int(why->run_limit);
	*columns++ = rp__int(why->running);
	*columns++ = ext_time(why->held_until);
	*columns++ = ext_time(why->group_held_until);
	*columns++ = rp__int(why->group_limit);
	*columns++ = rp__int(why->group_busy);
	*columns++ = rp__int(why->group_ahead);
	*columns++ = rp__int(why->group_waiting);
	*columns++ = rp__text(why->group_next);
	*columns++ = rp__int(why->rate_count);
	*columns++ = rp__int(why->rate_ms);
	*columns = rp__int_or_null(why->rate_in_ms, !why->rate_count);
}

static void
free_why(void *why)
{
	rp_why_free(why);
}

int
ext_why_rows(struct ext_call *call, struct ext_rows *ret)
{
	rp_why *why = NULL;
	int r = rp_why_get(call->conn, call->arguments[P_JOB_ID].number, &why);

	if (r == 0)
		*ret = (struct ext_rows){ 1, why, free_why, read_why };
	return r == RP_ENOENT ? 0 : r;
}

/* ---- queues ---- */

static int
found_probe(void *ctx, size_t row, const struct rp_value *c)
{
	struct rp_value *to = ctx;

	(void)row;
	to[0] = c[PROBE_OUT_READY];
	to[1] = c[PROBE_OUT_RUNNING];
	to[2] = c[PROBE_OUT_DUE_IN_MS];
	to[3] = c[PROBE_OUT_EXPIRES_IN_MS];
	to[4] = c[PROBE_OUT_PAUSED];
	to[5] = c[PROBE_OUT_SUSPECTS];
	to[6] = c[PROBE_OUT_BEHIND];
	to[7] = c[PROBE_OUT_BLOCKED];
	to[8] = rp__int(1);
	return RP_ROW_TAKE;
}

static void
read_probe(const void *data, size_t row, struct rp_value *columns)
{
	(void)row;
	memcpy(columns, data, 8 * sizeof(*columns));
}

int
ext_probe_rows(struct ext_call *call, struct ext_rows *ret)
{
	const char *name = call->arguments[P_QUEUE].text;
	const struct rp_value p[PROBE_PARAMS] = {
		[PROBE_QUEUE] = rp__text(name),
	};
	struct rp_value *found = calloc(9, sizeof(*found));
	int r = found ? rp__begin(call->conn, RP_BEGIN_ONCE)
		      : ext_no_memory(call);

	if (r == 0)
		r = rp__end(call->conn, rp__run(call->conn, RP_V_PROBE, p, 1,
						found_probe, found));
	if (r == 0)
		*ret = (struct ext_rows){ found[8].i != 0, found, free,
					  read_probe };
	else
		free(found);
	return r;
}

static struct rp_value
or_null(int64_t ms)
{
	return rp__int_or_null(ms, ms < 0);
}

static void
read_stats(const void *data, size_t row, struct rp_value *columns)
{
	const rp_queue_stats *s = rp_stats_at(data, row);

	*columns++ = rp__text(s->queue);
	*columns++ = rp__int(s->paused);
	*columns++ = rp__text(s->pause_reason);
	*columns++ = rp__int(s->scheduled);
	*columns++ = rp__int(s->ready);
	*columns++ = rp__int(s->running);
	*columns++ = rp__int(s->done);
	*columns++ = rp__int(s->dead);
	*columns++ = rp__int(s->cancelled);
	*columns++ = or_null(s->oldest_ready_ms);
	*columns++ = or_null(s->longest_running_ms);
	*columns++ = rp__int(s->workers);
	*columns++ = rp__int(s->done_10s);
	*columns++ = rp__int(s->failed_10s);
	*columns++ = rp__int(s->scheduled_at_least);
	*columns++ = rp__int(s->ready_at_least);
	*columns++ = rp__int(s->running_at_least);
	*columns++ = rp__int(s->blocked);
	*columns++ = rp__int(s->blocked_at_least);
	*columns++ = rp__int_or_null(s->held_until, !s->held_until);
	*columns++ = rp__int(s->done_total);
	*columns++ = rp__int(s->failed_total);
	*columns = rp__int(s->dead_total);
}

static void
free_stats(void *stats)
{
	rp_stats_free(stats);
}

int
ext_stats_rows(struct ext_call *call, struct ext_rows *ret)
{
	rp_stats *stats = NULL;
	int r = rp_stats_get(call->conn, call->arguments[P_QUEUE].text, &stats);

	if (r == 0)
		*ret = (struct ext_rows){ rp_stats_count(stats), stats,
					  free_stats, read_stats };
	return r == RP_ENOENT ? 0 : r;
}

static void
read_queue(const void *data, size_t row, struct rp_value *columns)
{
	const rp_queue *q = rp_queues_at(data, row);

	*columns++ = rp__text(q->name);
	*columns++ = ext_time(q->paused_at);
	*columns++ = rp__text(q->pause_reason);
	*columns++ = rp__int(q->max_attempts);
	*columns++ = rp__int(q->lease_ms);
	*columns++ = rp__int(q->backoff_ms);
	*columns++ = rp__int(q->backoff_max_ms);
	*columns++ = rp__int(q->priority);
	*columns++ = rp__int(q->keep_done_ms);
	*columns++ = rp__int(q->keep_dead_ms);
	*columns++ = rp__int(q->max_payload);
	*columns++ = rp__int(q->timeout_ms);
	*columns++ = rp__text(q->dead_to);
	*columns++ = rp__int(q->run_limit);
	*columns++ = rp__int(q->group_limit);
	*columns++ = rp__text(q->group_pass ? "pass" : "block");
	*columns++ = rp__int(q->rate_count);
	*columns++ = rp__int_or_null(q->rate_ms, q->rate_count == 0);
	*columns = ext_time(q->held_until);
}

static void
free_queues(void *queues)
{
	rp_queues_free(queues);
}

int
ext_queue_list_rows(struct ext_call *call, struct ext_rows *ret)
{
	rp_queues *queues = NULL;
	int r = rp_queue_list(call->conn, call->arguments[P_QUEUE].text,
			      &queues);

	if (r == 0)
		*ret = (struct ext_rows){ rp_queues_count(queues), queues,
					  free_queues, read_queue };
	return r == RP_ENOENT ? 0 : r;
}

/* ---- workers ---- */

static void
read_worker(const void *data, size_t row, struct rp_value *columns)
{
	const rp_worker_info *w = rp_workers_at(data, row);

	*columns++ = rp__int(w->id);
	*columns++ = rp__text(w->name);
	*columns++ = rp__text(w->host);
	*columns++ = rp__int(w->pid);
	*columns++ = rp__text(w->queues);
	*columns++ = rp__int(w->started_at);
	*columns++ = rp__int(w->seen_at);
	*columns++ = rp__int(w->silent_ms);
	*columns++ = rp__int(w->running);
	*columns++ = rp__int(w->done);
	*columns++ = rp__int(w->failed);
	*columns++ = rp__int(w->dead);
	*columns++ = rp__int(w->released);
	*columns = rp__int(w->running_at_least);
}

static void
free_workers(void *workers)
{
	rp_workers_free(workers);
}

int
ext_worker_list_rows(struct ext_call *call, struct ext_rows *ret)
{
	rp_workers *workers = NULL;
	int r = rp_worker_list(call->conn, &workers);

	if (r == 0)
		*ret = (struct ext_rows){ rp_workers_count(workers), workers,
					  free_workers, read_worker };
	return r;
}

/* ---- the list of the extension's SQL functions ---- */

struct described {
	char name[32], arguments[240];
	const char *columns;
};

static void
read_function(const void *data, size_t row, struct rp_value *columns)
{
	const struct described *d = (const struct described *)data + row;

	columns[0] = rp__text(d->name);
	columns[1] = rp__text(d->arguments);
	columns[2] = rp__text(d->columns);
}

/* Return a row for each way to call a function: as an expression that has a
 * value, and as a table. */
int
ext_functions_rows(struct ext_call *call, struct ext_rows *ret)
{
	struct described *list;
	size_t n = 0;

	for (const struct ext_function *f = ext_functions; f->name; f++)
		n += (f->answer != NULL) + (f->fetch != NULL);
	list = calloc(n, sizeof(*list));
	if (!list)
		return ext_no_memory(call);
	n = 0;
	for (const struct ext_function *f = ext_functions; f->name; f++)
		for (int table = !f->answer; table <= (f->fetch != NULL);
		     table++) {
			struct described *d = &list[n++];

			snprintf(d->name, sizeof(d->name), "readpast_%s",
				 f->name);
			ext_signature(f, d->arguments, sizeof(d->arguments));
			d->columns = table ? f->columns : NULL;
		}
	*ret = (struct ext_rows){ n, list, free, read_function };
	return 0;
}
