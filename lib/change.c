/*
 * change.c - what people do to jobs: cancel, retry, purge.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "internal.h"

/* So many jobs in one transaction: see sweep.c. */
#define SLICE 500

static int
check_id_and_kind(rp_conn *conn, int64_t id, const char *kind)
{
	int r = rp__enter(conn);

	if (r < 0)
		return r;
	if (id < 1)
		return rp__fail(&conn->error, RP_EINVAL,
				"no job has the id %lld", (long long)id);
	return kind ? rp__check_name(&conn->error, "the kind", kind, 128) : 0;
}

/* A job was not there for a verb: is it in another state, or nowhere? */
static int
not_found(rp_conn *conn, int64_t id, const char *kind)
{
	rp_batch *batch;
	const rp_job *job;
	int r = rp_get(conn, id, &batch);

	if (r < 0)
		return r;
	job = rp_batch_at(batch, 0);
	if (kind)
		r = rp__fail(&conn->error, RP_ENOENT,
			     "job %lld is %s, of kind %.64s", (long long)id,
			     rp_state_text(job->state),
			     job->kind ? job->kind : "(none)");
	else
		r = rp__fail(&conn->error, RP_EGONE, "job %lld is %s",
			     (long long)id, rp_state_text(job->state));
	rp_batch_free(batch);
	return r;
}

int
rp_cancel(rp_conn *conn, int64_t id, const char *kind)
{
	struct rp_value params[] = { rp__int(id), rp__text(kind) };
	int64_t found = 0;
	int r = check_id_and_kind(conn, id, kind);

	if (r == 0)
		r = rp__run_once(conn, RP_V_CANCEL, params, rp__first_int,
				 &found);
	if (r == 0 && !found)
		return not_found(conn, id, kind);
	return r;
}

struct retried {
	int64_t found, taken;
};

static int
retried_row(void *ctx, size_t row, const struct rp_value *c)
{
	struct retried *retried = ctx;

	(void)row;
	retried->found++;
	retried->taken += c[RETRY_OUT_TAKEN].i != 0;
	return RP_ROW_TAKE;
}

int
rp_retry(rp_conn *conn, int64_t id, const char *kind)
{
	struct rp_value params[] = { rp__int(id), rp__text(kind) };
	struct retried retried = { 0, 0 };
	int r = check_id_and_kind(conn, id, kind);

	if (r == 0)
		r = rp__run_once(conn, RP_V_RETRY, params, retried_row,
				 &retried);
	if (r < 0)
		return r;
	if (!retried.found)
		return not_found(conn, id, kind);
	if (retried.taken)
		return rp__fail(&conn->error, RP_ETAKEN,
				"job %lld stays: a live job has its unique key",
				(long long)id);
	return 0;
}

struct slice {
	int64_t ids[SLICE];
	size_t count;
};

static int
collect(void *ctx, size_t row, const struct rp_value *c)
{
	struct slice *slice = ctx;

	(void)row;
	slice->ids[slice->count++] = c[DEAD_OUT_ID].i;
	return RP_ROW_TAKE;
}

static int
retry_slice(rp_conn *conn, const char *queue, const char *kind, int64_t after,
	    struct slice *slice, struct retried *retried)
{
	struct rp_value p[DEAD_PARAMS];
	int r = rp__begin(conn, RP_BEGIN_WRITE);

	if (r < 0)
		return r;
	p[DEAD_QUEUE] = rp__text(queue);
	p[DEAD_KIND] = rp__text(kind);
	p[DEAD_AFTER] = rp__int(after);
	p[DEAD_MAX] = rp__int(SLICE);
	slice->count = 0;
	r = rp__run(conn, RP_V_DEAD, p, 1, collect, slice);
	for (size_t i = 0; i < slice->count && r == 0; i++) {
		struct rp_value one[] = { rp__int(slice->ids[i]),
					  rp__text(kind) };

		r = rp__run(conn, RP_V_RETRY, one, 1, retried_row, retried);
	}
	return rp__end(conn, r);
}

static int
check_queue_and_kind(rp_conn *conn, const char *queue, const char *kind)
{
	int r = rp__enter(conn);

	if (r == 0)
		r = rp__check_name(&conn->error, "the queue's name", queue,
				   128);
	if (r == 0 && kind)
		r = rp__check_name(&conn->error, "the kind", kind, 128);
	return r < 0 ? r : rp__queue_known(conn, queue);
}

int64_t
rp_retry_dead(rp_conn *conn, const char *queue, const char *kind,
	      int64_t *ret_taken)
{
	struct retried retried = { 0, 0 };
	struct slice slice;
	int64_t after = 0;
	int r = check_queue_and_kind(conn, queue, kind);

	if (r < 0)
		return r;
	do {
		r = retry_slice(conn, queue, kind, after, &slice, &retried);
		if (r < 0)
			return r;
		if (slice.count)
			after = slice.ids[slice.count - 1];
	} while (slice.count == SLICE);
	if (ret_taken)
		*ret_taken = retried.taken;
	return retried.found - retried.taken;
}

/* Run a purging verb until it finds less than a slice. */
static int
purge(rp_conn *conn, enum rp_verb verb, const struct rp_value *params,
      int64_t *total)
{
	int64_t before;
	int r;

	do {
		before = *total;
		r = rp__run_once(conn, verb, params, rp__count, total);
	} while (r == 0 && *total - before == SLICE);
	return r;
}

static int
purge_live(rp_conn *conn, const char *queue, int state, const char *kind,
	   int64_t *total)
{
	struct rp_value line[PURGE_LINE_PARAMS];
	struct rp_value to_come[PURGE_TO_COME_PARAMS];
	int r = 0;

	line[PURGE_LINE_QUEUE] = rp__text(queue);
	line[PURGE_LINE_KIND] = rp__text(kind);
	line[PURGE_LINE_MAX] = rp__int(SLICE);
	to_come[PURGE_TO_COME_QUEUE] = rp__text(queue);
	to_come[PURGE_TO_COME_DUE] = rp__int(state == RP_STATE_READY);
	to_come[PURGE_TO_COME_KIND] = rp__text(kind);
	to_come[PURGE_TO_COME_MAX] = rp__int(SLICE);
	if (state == RP_STATE_READY)
		r = purge(conn, RP_V_PURGE_LINE, line, total);
	if (r == 0)
		r = purge(conn, RP_V_PURGE_TO_COME, to_come, total);
	return r;
}

static int
purge_state(rp_conn *conn, const char *queue, int state, const char *kind,
	    int64_t *total)
{
	struct rp_value p[PURGE_KEPT_PARAMS];

	if (state < RP_STATE_RUNNING)
		return purge_live(conn, queue, state, kind, total);
	p[PURGE_KEPT_QUEUE] = rp__text(queue);
	p[PURGE_KEPT_STATE] = rp__int(state);
	p[PURGE_KEPT_KIND] = rp__text(kind);
	p[PURGE_KEPT_MAX] = rp__int(SLICE);
	return purge(conn, RP_V_PURGE_KEPT, p, total);
}

int64_t
rp_purge(rp_conn *conn, const char *queue, int state, const char *kind)
{
	int64_t total = 0;
	int r = check_queue_and_kind(conn, queue, kind);

	if (r < 0)
		return r;
	if (state < 0 || state > RP_STATE_CANCELLED ||
	    state == RP_STATE_RUNNING)
		return rp__fail(&conn->error, RP_EINVAL,
				"jobs in state %d cannot be purged", state);
	if (state)
		r = purge_state(conn, queue, state, kind, &total);
	for (int s = RP_STATE_SCHEDULED;
	     !state && r == 0 && s <= RP_STATE_CANCELLED; s++)
		if (s != RP_STATE_RUNNING)
			r = purge_state(conn, queue, s, kind, &total);
	return r < 0 ? r : total;
}
