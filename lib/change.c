/*
 * change.c - cancel, retry, change and purge jobs.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "internal.h"

#include <stdlib.h>
#include <string.h>

/* The largest number of ids that one statement reads. The statement takes no
 * write lock, so it may run for long. The number is large, because each read of
 * a purge of one kind begins at the first job of the queue, and has to skip the
 * jobs of other kinds again. */
#define IDS 65536

static int
check_id_and_kind(rp_conn *conn, int64_t id, const char *kind)
{
	int r = rp__enter(conn);

	if (r < 0)
		return r;
	if (id < 1)
		return rp__fail(&conn->error, RP_EINVAL,
				"no job has the id %lld", (long long)id);
	return kind ? rp__check_name(&conn->error, "the kind", kind,
				     RP_MOST_NAME)
		    : 0;
}

/* Fail with the reason why a verb did not find the job: the job is in another
 * state, of another kind, or does not exist. */
static int
not_found(rp_conn *conn, int64_t id, const char *kind)
{
	rp_batch *batch;
	const rp_job *job;
	int r = rp_job_get(conn, id, &batch);

	if (r < 0)
		return r;
	job = rp_batch_at(batch, 0);
	if (kind)
		r = rp__fail(&conn->error, RP_ENOENT,
			     "job %lld is %s, and %s%.64s", (long long)id,
			     rp_state_text(job->state),
			     job->kind ? "of kind " : "has no kind",
			     job->kind ? job->kind : "");
	else
		r = rp__fail(&conn->error, RP_EGONE, "job %lld is %s",
			     (long long)id, rp_state_text(job->state));
	rp_batch_free(batch);
	return r;
}

int
rp_job_cancel(rp_conn *conn, int64_t id, const char *kind)
{
	const struct rp_value params[CANCEL_PARAMS] = {
		[CANCEL_ID] = rp__int(id),
		[CANCEL_KIND] = rp__text(kind),
		[CANCEL_STATE] = rp__int_or_null(0, 1),
	};
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
rp_job_retry(rp_conn *conn, int64_t id, const char *kind)
{
	const struct rp_value params[RETRY_PARAMS] = {
		[RETRY_ID] = rp__int(id),
		[RETRY_KIND] = rp__text(kind),
	};
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
				"job %lld is not retried: a live job has its "
				"unique key",
				(long long)id);
	return 0;
}

/* Check that the values are in range and at least one is set. */
static int
check_change(rp_conn *conn, const rp_change *c)
{
	rp_error *error = &conn->error;

	if (c->priority < 0 && c->delay_ms < 0 && c->run_at < 0 && !c->queue &&
	    c->max_attempts < 0)
		return rp__fail(error, RP_EINVAL,
				"nothing to change: give a priority, a delay, "
				"a time, a queue or max attempts");
	if (c->priority > RP_MOST_PRIORITY)
		return rp__fail(error, RP_EINVAL,
				"priority %d is not within 0..%d", c->priority,
				RP_MOST_PRIORITY);
	if (c->delay_ms > RP_MOST_MS)
		return rp__fail(error, RP_EINVAL,
				"the delay is not within 0..%d days",
				RP_MOST_DAYS);
	if (c->run_at > RP_MOST_TIME)
		return rp__fail(error, RP_EINVAL,
				"the time is not within the years 1970..9999");
	if (c->delay_ms >= 0 && c->run_at >= 0)
		return rp__fail(error, RP_EINVAL,
				"set either a delay or a time, not both");
	if (c->max_attempts == 0 || c->max_attempts > RP_MOST_ATTEMPTS)
		return rp__fail(error, RP_EINVAL,
				"max attempts is not within 1..%d",
				RP_MOST_ATTEMPTS);
	return c->queue ? rp__check_queue(error, c->queue) : 0;
}

static void
fill_change(struct rp_value *p, const rp_change *c, int state)
{
	p[CHANGE_KIND] = rp__text(c->kind);
	p[CHANGE_STATE] = rp__int_or_null(state, state == 0);
	p[CHANGE_QUEUE] = rp__text(c->queue);
	p[CHANGE_PRIORITY] = rp__int_or_null(c->priority, c->priority < 0);
	p[CHANGE_DELAY_MS] = rp__int_or_null(c->delay_ms, c->delay_ms < 0);
	p[CHANGE_RUN_AT] = rp__int_or_null(c->run_at, c->run_at < 0);
	p[CHANGE_MAX_ATTEMPTS] =
		rp__int_or_null(c->max_attempts, c->max_attempts < 0);
}

/* The answer of the verb `change`. */
enum { CHANGED, KEY_TAKEN, NO_QUEUE, TOO_LARGE, TOO_LATE, OUTCOMES };

static int
add_outcome(void *ctx, size_t row, const struct rp_value *c)
{
	int64_t *outcomes = ctx;

	(void)row;
	outcomes[c[CHANGE_OUT_OUTCOME].i]++;
	return RP_ROW_TAKE;
}

int
rp_job_change(rp_conn *conn, int64_t id, const rp_change *change)
{
	rp_change c = RP_CHANGE_INIT;
	struct rp_value params[CHANGE_PARAMS];
	int64_t outcomes[OUTCOMES] = { 0 };
	int r = rp__enter(conn);

	if (r < 0)
		return r;
	if (!change)
		return rp__fail(&conn->error, RP_EINVAL, "change is NULL");
	rp__copy_struct(&c, change, change->size, sizeof(c));
	r = check_id_and_kind(conn, id, c.kind);
	if (r == 0)
		r = check_change(conn, &c);
	if (r < 0)
		return r;
	fill_change(params, &c, 0);
	params[CHANGE_ID] = rp__int(id);
	r = rp__run_once(conn, RP_V_CHANGE, params, add_outcome, outcomes);
	if (r < 0 || outcomes[CHANGED])
		return r;
	if (outcomes[KEY_TAKEN])
		return rp__fail(&conn->error, RP_ETAKEN,
				"job %lld is not changed: a live job of queue "
				"%s has its unique key",
				(long long)id, c.queue);
	if (outcomes[NO_QUEUE])
		return rp__no_such_queue(conn, c.queue);
	if (outcomes[TOO_LARGE])
		return rp__fail(
			&conn->error, RP_EFBIG,
			"job %lld is not changed: its payload is larger "
			"than queue %s takes (max_payload)",
			(long long)id, c.queue);
	if (outcomes[TOO_LATE])
		return rp__fail(&conn->error, RP_EINVAL,
				"job %lld is not changed: it would expire "
				"before it is due",
				(long long)id);
	return not_found(conn, id, c.kind);
}

struct ids {
	int64_t *ids;
	size_t count;
};

static int
collect(void *ctx, size_t row, const struct rp_value *c)
{
	struct ids *ids = ctx;

	(void)row;
	ids->ids[ids->count++] = c[FOUND_OUT_ID].i;
	return RP_ROW_TAKE;
}

/* Run a verb that only reads, and collect up to IDS ids from its rows. */
static int
find(rp_conn *conn, enum rp_verb verb, const struct rp_value *params,
     struct ids *ids)
{
	ids->count = 0;
	return rp__run(conn, verb, params, 1, collect, ids);
}

static int
check_queue_and_kind(rp_conn *conn, const char *queue, const char *kind)
{
	int r = rp__check_queue(&conn->error, queue);

	if (r == 0 && kind)
		r = rp__check_name(&conn->error, "the kind", kind,
				   RP_MOST_NAME);
	return r < 0 ? r : rp__queue_known(conn, queue);
}

/* Check the arguments and allocate `ids`. If a transaction of the caller is
 * open, set *joined to 1, and take the write lock before anything is read.
 * Without the lock, another client could commit after the first read, and
 * SQLite would then refuse all writes in the caller's transaction. */
static int
begin_change(rp_conn *conn, const char *queue, const char *kind,
	     struct ids *ids, int *joined)
{
	int r = rp__enter(conn);

	*joined = r == 0 && conn->backend->joins(conn->db);
	if (*joined)
		r = rp__begin(conn, RP_BEGIN_WRITE);
	*joined = *joined && r == 0;
	if (r == 0)
		r = check_queue_and_kind(conn, queue, kind);
	if (r == 0 && !(ids->ids = malloc(IDS * sizeof(*ids->ids))))
		r = rp__fail(&conn->error, RP_ENOMEM, "out of memory");
	return r;
}

static int
end_change(rp_conn *conn, struct ids *ids, int joined, int r)
{
	free(ids->ids);
	return joined ? rp__end(conn, r) : r;
}

static int
retry_dead(rp_conn *conn, const char *queue, const char *kind, struct ids ids,
	   struct retried *retried)
{
	struct rp_value p[DEAD_PARAMS], rest[RETRY_PARAMS];
	int r;

	p[DEAD_QUEUE] = rp__text(queue);
	p[DEAD_KIND] = rest[RETRY_KIND] = rp__text(kind);
	p[DEAD_AFTER] = rp__int(0);
	p[DEAD_MAX] = rp__int(IDS);
	do {
		r = find(conn, RP_V_DEAD, p, &ids);
		if (r == 0 && ids.count) {
			p[DEAD_AFTER] = rp__int(ids.ids[ids.count - 1]);
			r = rp__each_id(conn, RP_V_RETRY, ids.ids, ids.count,
					rest, RETRY_PARAMS, retried_row,
					retried, sizeof(*retried));
		}
	} while (r == 0 && ids.count == IDS);
	return r;
}

int64_t
rp_queue_retry_dead(rp_conn *conn, const char *queue, const char *kind,
		    int64_t *ret_taken)
{
	struct retried retried = { 0, 0 };
	struct ids ids = { NULL, 0 };
	int joined, r = begin_change(conn, queue, kind, &ids, &joined);

	if (r == 0)
		r = retry_dead(conn, queue, kind, ids, &retried);
	r = end_change(conn, &ids, joined, r);
	if (r < 0)
		return r;
	if (ret_taken)
		*ret_taken = retried.taken;
	return retried.found - retried.taken;
}

/* Purge the jobs in one state. Repeats until no job is left, or until the
 * remaining jobs are locked or have changed their state. */
static int
purge_state(rp_conn *conn, const char *queue, int state, const char *kind,
	    struct ids *ids, int64_t *total)
{
	struct rp_value p[TO_PURGE_PARAMS], rest[PURGE_PARAMS];
	int64_t before;
	int r;

	p[TO_PURGE_QUEUE] = rp__text(queue);
	p[TO_PURGE_STATE] = rest[PURGE_STATE] = rp__int(state);
	p[TO_PURGE_KIND] = rest[PURGE_KIND] = rp__text(kind);
	p[TO_PURGE_MAX] = rp__int(IDS);
	do {
		before = *total;
		r = find(conn, RP_V_TO_PURGE, p, ids);
		if (r == 0)
			r = rp__each_id(conn, RP_V_PURGE, ids->ids, ids->count,
					rest, PURGE_PARAMS, rp__count, total,
					sizeof(*total));
	} while (r == 0 && ids->count == IDS && *total > before);
	return r;
}

int64_t
rp_queue_purge(rp_conn *conn, const char *queue, int state, const char *kind)
{
	struct ids ids = { NULL, 0 };
	int64_t total = 0;
	int joined, r = rp__enter(conn);

	if (r < 0)
		return r;
	if (state == RP_STATE_RUNNING)
		return rp__fail(&conn->error, RP_EINVAL,
				"running jobs cannot be purged");
	if (state < 0 || state > RP_STATE_BLOCKED)
		return rp__fail(&conn->error, RP_EINVAL,
				"no state has the number %d", state);
	r = begin_change(conn, queue, kind, &ids, &joined);
	/* Blocked jobs (the last state) come first, because a ready job that is
	 * deleted makes a blocked job ready. */
	for (int s = RP_STATE_BLOCKED; r == 0 && s >= RP_STATE_SCHEDULED; s--)
		if (s != RP_STATE_RUNNING && (s == state || !state))
			r = purge_state(conn, queue, s, kind, &ids, &total);
	r = end_change(conn, &ids, joined, r);
	return r < 0 ? r : total;
}

/* ---- jobs that a command has found by a filter ---- */

int
rp__jobs_cancel(rp_conn *conn, const int64_t *ids, size_t n, int state,
		const char *kind, struct rp_changed *changed)
{
	const struct rp_value rest[CANCEL_PARAMS] = {
		[CANCEL_KIND] = rp__text(kind),
		[CANCEL_STATE] = rp__int_or_null(state, state == 0),
	};
	int r = rp__enter(conn);

	return r < 0 ? r
		     : rp__each_id(conn, RP_V_CANCEL, ids, n, rest,
				   CANCEL_PARAMS, rp__count, &changed->done,
				   sizeof(changed->done));
}

int
rp__jobs_retry(rp_conn *conn, const int64_t *ids, size_t n, int state,
	       const char *kind, struct rp_changed *changed)
{
	const struct rp_value rest[RETRY_PARAMS] = {
		[RETRY_KIND] = rp__text(kind),
	};
	struct retried retried = { 0, 0 };
	int r = rp__enter(conn);

	(void)state; /* the check of the state is not needed: only dead and
		      * cancelled jobs are retried, and their state does not
		      * change by itself */
	if (r == 0)
		r = rp__each_id(conn, RP_V_RETRY, ids, n, rest, RETRY_PARAMS,
				retried_row, &retried, sizeof(retried));
	changed->done += retried.found - retried.taken;
	changed->taken += retried.taken;
	return r;
}

int
rp__jobs_purge(rp_conn *conn, const int64_t *ids, size_t n, int state,
	       const char *kind, struct rp_changed *changed)
{
	const struct rp_value rest[PURGE_PARAMS] = {
		[PURGE_STATE] = rp__int(state),
		[PURGE_KIND] = rp__text(kind),
	};
	int r = rp__enter(conn);

	return r < 0 ? r
		     : rp__each_id(conn, RP_V_PURGE, ids, n, rest, PURGE_PARAMS,
				   rp__count, &changed->done,
				   sizeof(changed->done));
}

int
rp__jobs_keep(rp_conn *conn, const int64_t *ids, size_t n, int64_t keep_ms)
{
	const struct rp_value rest[KEEP_PARAMS] = {
		[KEEP_KEEP_MS] = rp__int(keep_ms),
	};
	int r = rp__enter(conn);

	return r < 0 ? r
		     : rp__each_id(conn, RP_V_KEEP, ids, n, rest, KEEP_PARAMS,
				   NULL, NULL, 0);
}

int
rp__jobs_change(rp_conn *conn, const int64_t *ids, size_t n, int state,
		const rp_change *change, struct rp_changed *changed)
{
	struct rp_value rest[CHANGE_PARAMS];
	int64_t outcomes[OUTCOMES] = { 0 };
	int r = rp__enter(conn);

	if (r == 0 && change->queue)
		r = rp__queue_known(conn, change->queue);
	if (r < 0)
		return r;
	rest[CHANGE_ID] = rp__int(0);
	fill_change(rest, change, state);
	r = rp__each_id(conn, RP_V_CHANGE, ids, n, rest, CHANGE_PARAMS,
			add_outcome, outcomes, sizeof(outcomes));
	changed->done += outcomes[CHANGED];
	changed->taken += outcomes[KEY_TAKEN];
	changed->large += outcomes[TOO_LARGE];
	changed->late += outcomes[TOO_LATE];
	return r;
}
