/*
 * job_wait.c - wait for the end of jobs.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 *
 * A call that waits reads the states of its jobs. While some of the jobs are
 * live, the backend waits until one of them may have ended. Then the call reads
 * the states again. In this file, such a read is called a look.
 */
#include "internal.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>

/* While a server cannot be reached, try again every AGAIN_MS, for up to
 * UNREACHED_MS. A restart or a failover of a server takes seconds. */
#define AGAIN_MS 100
#define UNREACHED_MS 60000

/* Each commit of another client may cause a look (a read of the states of the
 * jobs), and commits may be frequent. So after a look at more than FEW_JOBS
 * jobs the call pauses. A look at few jobs is short and needs no pause. */
#define FEW_JOBS 16

/* The state that the verb `outcome` returns for a job whose queue was
 * dropped. */
#define DROPPED (-6)

/* The job that this thread is handling; NULL: the thread handles no job. */
static _Thread_local const struct rp_handling *handling;

struct wait {
	rp_conn *conn;
	rp_outcome *outcomes; /* the outcomes of all jobs */
	/* The jobs that were live when their states were last read: their ids,
	 * the ids of their queues, and their indices in `outcomes`. */
	struct rp_job_waiter live;
	int64_t *ids, *queue_ids;
	size_t *places;
	int has_looked;
	enum { OF_NEITHER, OF_SERVED, OF_OWN } is_refused;
	int64_t end;        /* when to give up (monotonic ms); -1: never */
	int64_t failing_at; /* since when all reads have failed (monotonic ms);
			     * 0: the last read succeeded */
	int fd;             /* a descriptor of the caller; the wait also ends
			     * when it is readable; -1: no descriptor */
};

/* ---- waiting for oneself ---- */

void
rp__set_handling(const struct rp_handling *its)
{
	handling = its;
}

/* Returns 1 if the calling thread is the only thread of a worker that serves
 * this queue. */
static int
is_served(const char *queue)
{
	return handling && handling->serves &&
	       handling->serves(handling->ctx, queue);
}

static int
is_claim(void *ctx, size_t row, const struct rp_value *c)
{
	(void)row;
	*(int *)ctx = c[OUTCOME_OUT_CLAIM_NO].type == RP_INT &&
		      c[OUTCOME_OUT_CLAIM_NO].i == handling->claim_no;
	return RP_ROW_TAKE;
}

/* Call this if the thread is about to wait for its own job, or for a queue that
 * only this thread serves. Returns an error, because such a wait would never
 * end. But if the claim of the thread's job is not valid in the database of
 * `conn`, returns 0. Then the claim has ended, or the job is in another
 * database, and the wait can end. */
static int
check_not_self(rp_conn *conn, int for_own)
{
	const struct rp_value p[OUTCOME_PARAMS] = {
		[OUTCOME_ID] = rp__int(handling->id),
	};
	int ours = 0;
	int r = rp__read_once(conn, RP_V_OUTCOME, p, 1, is_claim, &ours);

	if (r < 0 || !ours)
		return r;
	return rp__fail(&conn->error, RP_EINVAL,
			"a handler would wait for itself: %s",
			for_own ? "it runs the job that it waits for"
				: "its worker serves that queue, and runs one "
				  "job at a time: let it run more (-j 2), or "
				  "do not wait");
}

int
rp__check_wait_for_queue(rp_conn *conn, const char *queue, int until_empty)
{
	int of_own =
		handling && until_empty && strcmp(handling->queue, queue) == 0;

	return of_own || is_served(queue) ? check_not_self(conn, of_own) : 0;
}

/* ---- looking ---- */

static int
take_outcome(void *ctx, size_t row, const struct rp_value *c)
{
	struct wait *w = ctx;
	rp_outcome *outcome = &w->outcomes[w->places[row]];
	const struct rp_value *state = &c[OUTCOME_OUT_STATE];

	if (state->type == RP_NULL) {
		outcome->state = RP_STATE_DONE;
	} else if (state->i == DROPPED) {
		outcome->state = RP_STATE_CANCELLED;
	} else if (state->i != 0) {
		outcome->state = (int)state->i;
		outcome->kept = 1;
	} else {
		w->queue_ids[row] = c[OUTCOME_OUT_QUEUE_ID].i;
		w->live.is_open |= c[OUTCOME_OUT_IS_OPEN].i != 0;
		if (handling && outcome->id == handling->id)
			w->is_refused = OF_OWN;
		else if (is_served(c[OUTCOME_OUT_QUEUE].data))
			w->is_refused = OF_SERVED;
	}
	return RP_ROW_TAKE;
}

static int
run_outcome(struct wait *w)
{
	size_t n = w->live.count;
	struct rp_value *p = calloc(n, OUTCOME_PARAMS * sizeof(*p));
	int r;

	if (!p)
		return rp__fail(&w->conn->error, RP_ENOMEM, "out of memory");
	for (size_t i = 0; i < n; i++) {
		struct rp_value *row = &p[i * OUTCOME_PARAMS];

		row[OUTCOME_ID] = rp__int(w->ids[i]);
		row[OUTCOME_QUEUE_ID] =
			rp__int_or_null(w->queue_ids[i], w->queue_ids[i] == 0);
	}
	r = rp__read_once(w->conn, RP_V_OUTCOME, p, n, take_outcome, w);
	free(p);
	return r;
}

/* Fail if one of the ids was never given to a job. */
static int
check_given(struct wait *w)
{
	int64_t last = 0;
	int r = 0;

	for (size_t i = 0; i < w->live.count && r == 0; i++) {
		const rp_outcome *outcome = &w->outcomes[w->places[i]];

		if (outcome->state != RP_STATE_DONE || outcome->kept)
			continue;
		if (last == 0)
			r = rp__last_id(w->conn, &last);
		if (r == 0 && outcome->id > last) {
			r = rp__fail(&w->conn->error, RP_ENOENT,
				     "no job has the id %lld: this id was "
				     "never given to a job",
				     (long long)outcome->id);
			w->conn->error.item = (int64_t)w->places[i];
		}
	}
	return r;
}

/* At the first call, read the states of all jobs. At a later call, read the
 * states of the jobs that were live at the previous call. Keep only the jobs
 * that are still live. */
static int
look(struct wait *w)
{
	size_t kept = 0;
	int r;

	w->live.is_open = 0;
	r = run_outcome(w);
	if (r == 0 && !w->has_looked)
		r = check_given(w);
	if (r == 0 && w->is_refused)
		r = check_not_self(w->conn, w->is_refused == OF_OWN);
	if (r < 0)
		return r;
	w->has_looked = 1;
	w->is_refused = OF_NEITHER;
	for (size_t i = 0; i < w->live.count; i++) {
		if (w->outcomes[w->places[i]].state)
			continue;
		w->ids[kept] = w->ids[i];
		w->queue_ids[kept] = w->queue_ids[i];
		w->places[kept++] = w->places[i];
	}
	w->live.count = kept;
	return 0;
}

/* ---- waiting ---- */

static int64_t
left_ms(const struct wait *w)
{
	int64_t left = w->end < 0 ? -1 : w->end - rp__monotonic_ms();

	return w->end >= 0 && left < 0 ? 0 : left;
}

/* Sleep for `ms` milliseconds, or until `fd` is readable. Returns 1 if `fd` is
 * readable. */
static int
nap(const struct wait *w, int64_t ms)
{
	struct pollfd p = { .fd = w->fd, .events = POLLIN };

	return poll(&p, 1, (int)ms) > 0;
}

/* Handle an error that happened when the states were read, or during a wait.
 * Returns 1 if the caller should try again, 0 if `fd` is readable, or the
 * error. */
static int
wait_out_error(struct wait *w, int r)
{
	int64_t now = rp__monotonic_ms();

	if (w->failing_at == 0)
		w->failing_at = now;
	if ((r != RP_EBUSY && r != RP_ELOST) ||
	    now - w->failing_at > UNREACHED_MS || left_ms(w) == 0)
		return r;
	return !nap(w, AGAIN_MS);
}

static int
is_over(const struct wait *w, size_t n, int how)
{
	return w->live.count == 0 || (how == RP_WAIT_ANY && w->live.count < n);
}

/* Wait in the backend. Returns 1 if the caller must look again, 0 if the time
 * is over or `fd` is readable, or an error. */
static int
wait_once(struct wait *w)
{
	int r = rp__own(w->conn);

	if (r < 0)
		return r;
	do {
		r = w->conn->backend->wait_for_jobs(w->conn->db, &w->live,
						    left_ms(w), w->fd,
						    &w->conn->error);
	} while (r == 0 && left_ms(w) != 0 && !nap(w, 0));
	rp__disown(w->conn);
	return r;
}

/* Pause after a look at many jobs, so that other clients can use the database.
 * began_us and looked_us: when the look began and ended. Returns 0 if `fd`
 * became readable during the pause, else 1. */
static int
stay_quiet(const struct wait *w, int64_t began_us, int64_t looked_us)
{
	int64_t us = rp__quiet_us(looked_us - began_us) + looked_us -
		     rp__monotonic_us();

	if (w->live.count <= FEW_JOBS || us < 1000)
		return 1;
	return !nap(w, us / 1000);
}

static int
wait_for_them(struct wait *w, size_t n, int how)
{
	int r;

	do {
		int64_t began = rp__monotonic_us(), looked;

		r = look(w);
		looked = rp__monotonic_us();
		if (r == 0) {
			w->failing_at = 0;
			if (is_over(w, n, how) || left_ms(w) == 0)
				return is_over(w, n, how);
			r = wait_once(w);
		}
		if (r > 0)
			r = stay_quiet(w, began, looked);
		else if (r < 0)
			r = wait_out_error(w, r);
	} while (r > 0);
	return r;
}

static int
check(rp_conn *conn, int64_t timeout_ms)
{
	int r = rp__enter(conn);

	if (r < 0)
		return r;
	if (timeout_ms < -1 || timeout_ms > RP_MOST_MS)
		return rp__fail(&conn->error, RP_EINVAL,
				"the timeout is neither -1 nor within 0..%d "
				"days",
				RP_MOST_DAYS);
	if (rp__stays_open(conn))
		return rp__fail(
			&conn->error, RP_EINVAL,
			"a transaction is open: end it before the wait, "
			"because inside it you cannot see jobs end");
	return 0;
}

static int
wait_new(struct wait *w, const int64_t *ids, size_t n)
{
	w->outcomes = calloc(n, sizeof(*w->outcomes));
	w->ids = calloc(n, sizeof(*w->ids));
	w->queue_ids = calloc(n, sizeof(*w->queue_ids));
	w->places = calloc(n, sizeof(*w->places));
	w->live.ids = w->ids;
	w->live.count = n;
	if (!w->outcomes || !w->ids || !w->queue_ids || !w->places)
		return rp__fail(&w->conn->error, RP_ENOMEM, "out of memory");
	for (size_t i = 0; i < n; i++) {
		w->outcomes[i].id = w->ids[i] = ids[i];
		w->places[i] = i;
	}
	return 0;
}

static void
wait_free(struct wait *w)
{
	if (w->conn->backend->leave_jobs && w->ids)
		w->conn->backend->leave_jobs(w->conn->db, &w->live);
	free(w->outcomes);
	free(w->ids);
	free(w->queue_ids);
	free(w->places);
}

int
rp_job_wait(rp_conn *conn, const int64_t *ids, size_t n, int how,
	    int64_t timeout_ms, int fd, rp_outcome *ret)
{
	struct wait w = { .conn = conn, .fd = fd, .end = -1 };
	int r = check(conn, timeout_ms);

	if (r < 0)
		return r;
	if (!ids || n < 1 || n > RP_MOST_CLAIMED)
		return rp__fail(&conn->error, RP_EINVAL,
				"the number of jobs is not within 1..%d",
				RP_MOST_CLAIMED);
	if (how != RP_WAIT_ALL && how != RP_WAIT_ANY)
		return rp__fail(&conn->error, RP_EINVAL,
				"a wait is for RP_WAIT_ALL or RP_WAIT_ANY");
	if (timeout_ms >= 0)
		w.end = rp__monotonic_ms() + timeout_ms;
	r = wait_new(&w, ids, n);
	if (r == 0)
		r = wait_for_them(&w, n, how);
	if (r >= 0 && ret)
		memcpy(ret, w.outcomes, n * sizeof(*ret));
	if (w.ids) {
		w.live.count = n;
		memcpy(w.ids, ids, n * sizeof(*ids));
	}
	wait_free(&w);
	return r;
}

/* ---- a queue ---- */

struct live_job {
	int64_t queue_id, id; /* 0: there is no live job */
};

static int
take_live_job(void *ctx, size_t row, const struct rp_value *c)
{
	struct live_job *job = ctx;

	(void)row;
	job->queue_id = c[LIVE_JOB_OUT_QUEUE_ID].i;
	job->id = c[LIVE_JOB_OUT_ID].type == RP_INT ? c[LIVE_JOB_OUT_ID].i : 0;
	return RP_ROW_TAKE;
}

static int
find_live_job(rp_conn *conn, const char *queue, struct live_job *ret)
{
	const struct rp_value p[LIVE_JOB_PARAMS] = {
		[LIVE_JOB_QUEUE] = rp__text(queue),
	};

	ret->queue_id = ret->id = 0;
	return rp__read_once(conn, RP_V_LIVE_JOB, p, 1, take_live_job, ret);
}

/* Wait until the queue has no live job. Wait for one live job after another, so
 * that the database need not notify anybody when a queue becomes empty. */
static int
wait_for_queue(struct wait *w, const char *queue)
{
	struct live_job job;
	int r;

	do {
		r = find_live_job(w->conn, queue, &job);
		if (r == 0 && job.id == 0)
			return 1;
		if (r == 0) {
			w->failing_at = 0;
			r = rp_job_wait(w->conn, &job.id, 1, RP_WAIT_ALL,
					left_ms(w), w->fd, NULL);
		} else {
			r = wait_out_error(w, r);
		}
	} while (r > 0);
	return r;
}

int
rp_queue_wait(rp_conn *conn, const char *queue, int64_t timeout_ms, int fd)
{
	struct wait w = { .conn = conn, .fd = fd, .end = -1 };
	int r = check(conn, timeout_ms);

	if (r == 0)
		r = rp__check_queue(&conn->error, queue);
	if (r == 0)
		r = rp__queue_known(conn, queue);
	if (r == 0)
		r = rp__check_wait_for_queue(conn, queue, 1);
	if (r < 0)
		return r;
	if (timeout_ms >= 0)
		w.end = rp__monotonic_ms() + timeout_ms;
	return wait_for_queue(&w, queue);
}
