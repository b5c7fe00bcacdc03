/*
 * sweep.c - maintenance: make due jobs ready, end leases that ran out, apply
 * retention (delete old jobs), and fire schedules.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 *
 * A sweep first finds out, without a lock, what there is to do. Then it works
 * in slices (short transactions, see slice.c); a slice may include many queues.
 * A worker must also settle and claim, and a server must also find jobs for the
 * requests that wait. So their sweeps stop after STRETCH_US and continue after
 * MOMENT_MS.
 */
#include "schedule.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define STRETCH_US 200000
#define MOMENT_MS 50

/* A worker probes once a second, and then sweeps all queues if no worker has
 * swept them for SWEEP_MS. So two sweeps are at most 1.7 s apart. Two sweeps
 * must be less than 2 s apart, because a job must be ready again within 2 s
 * after its lease ran out. */
#define SWEEP_MS 700
#define REST_MS 60000
#define FIRES_DUE 2 /* `sweep_start` returns this if a schedule is due */
/* A client that has swept for all workers within this time (ms) is expected to
 * make the next such sweep, too. */
#define LATELY_MS 1500

struct sweep {
	rp_conn *conn;
	rp_swept swept;
	struct swept_queue {
		int64_t id;
		int dropped;
	} * queues; /* queues with something to sweep */
	size_t queues_count;
	/* A sweep consists of slices (short transactions). FIRST: no slice has
	 * run yet. IN_TURN: the same, but the sweep does nothing if another
	 * worker is sweeping or has swept within SWEEP_MS. MORE: a slice has
	 * already run. */
	enum { MORE, FIRST, IN_TURN } which;
	int64_t stop_at; /* when to stop (monotonic us); 0: never */
	int rest;        /* 1: also apply retention, delete dropped queues, and
			  * run the verb `sweep_rest` */
	int has_rest;    /* 1: there are rows that `sweep_rest` deletes */
	int has_fires;   /* 1: a schedule is due */
	struct rp_slice slice;
};

/* ---- what there is to do ---- */

static int
collect(void *ctx, size_t row, const struct rp_value *c)
{
	struct sweep *s = ctx;
	const struct rp_value *queue = &c[TO_SWEEP_OUT_QUEUE_ID];
	struct swept_queue *more;

	(void)row;
	if (queue->type == RP_NULL) {
		if (c[TO_SWEEP_OUT_DROPPED].i)
			s->has_fires = 1;
		else
			s->has_rest = 1;
		return RP_ROW_TAKE;
	}
	more = realloc(s->queues, (s->queues_count + 1) * sizeof(*more));
	if (!more)
		return RP_ENOMEM;
	s->queues = more;
	more[s->queues_count++] = (struct swept_queue){
		.id = queue->i,
		.dropped = c[TO_SWEEP_OUT_DROPPED].i != 0,
	};
	return RP_ROW_TAKE;
}

/* Find out what there is to do. If the caller has a transaction open, take the
 * write lock before anything is read. Otherwise another client could commit
 * between our first read and our first write. Then SQLite would refuse our
 * writes. */
static int
look_for_work(struct sweep *s)
{
	const struct rp_value p[TO_SWEEP_PARAMS] = {
		[TO_SWEEP_REST] = rp__int(s->rest),
	};
	int joins = s->conn->backend->joins(s->conn->db);
	int r = rp__begin(s->conn, joins ? RP_BEGIN_WRITE : RP_BEGIN_ONCE);

	if (r < 0)
		return r;
	r = rp__run(s->conn, RP_V_TO_SWEEP, p, 1, collect, s);
	return rp__end(s->conn, r);
}

/* ---- a slice ---- */

static int
count_expired(void *ctx, size_t row, const struct rp_value *c)
{
	struct sweep *s = ctx;
	int what = rp__slice_take(s->conn, &s->slice);

	(void)row;
	if (what == RP_ROW_TAKE && c[SWEEP_EXPIRED_OUT_DEAD].i)
		s->swept.dead++;
	else if (what == RP_ROW_TAKE)
		s->swept.recovered++;
	return what;
}

static int
count_overdue(void *ctx, size_t row, const struct rp_value *c)
{
	struct sweep *s = ctx;
	int what = rp__slice_take(s->conn, &s->slice);

	(void)row;
	(void)c;
	s->swept.expired += what == RP_ROW_TAKE;
	return what;
}

static int
count_due(void *ctx, size_t row, const struct rp_value *c)
{
	struct sweep *s = ctx;
	int what = rp__slice_take(s->conn, &s->slice);

	(void)row;
	(void)c;
	s->swept.due += what == RP_ROW_TAKE;
	return what;
}

/* Count an admitted job. A row with the id 0 is not a job: it says that more
 * jobs can be admitted. Then this slice ends, and a later slice admits them. */
static int
count_admitted(void *ctx, size_t row, const struct rp_value *c)
{
	struct sweep *s = ctx;

	(void)row;
	if (c[SWEEP_OUT_ID].i)
		return rp__slice_take(s->conn, &s->slice);
	s->slice.left = 0;
	return RP_ROW_TAKE;
}

static int
count_dropped(void *ctx, size_t row, const struct rp_value *c)
{
	struct sweep *s = ctx;
	int what = rp__slice_take(s->conn, &s->slice);

	(void)row;
	s->swept.dropped += what == RP_ROW_TAKE && c[SWEEP_OUT_ID].i;
	return what;
}

/* In the first slice of a sweep, run the verb `sweep_start`, which records that
 * this worker sweeps for all workers. If the sweep is IN_TURN and another
 * worker is sweeping or has just swept, this sweep has nothing to do. SQLite
 * needs no such record, because it has one writer at a time. */
static int
take_turn(struct sweep *s)
{
	const struct rp_value p[SWEEP_START_PARAMS] = {
		[SWEEP_START_IN_TURN] = rp__int(s->which == IN_TURN),
	};
	int64_t mine = 0;
	int r;

	if (s->which == MORE || s->conn->backend->one_writer)
		return 0;
	r = rp__run(s->conn, RP_V_SWEEP_START, p, 1, rp__first_int, &mine);
	s->has_fires = mine == FIRES_DUE;
	if (!mine)
		s->queues_count = s->has_rest = 0;
	else if (s->which == IN_TURN)
		s->conn->swept_for_all_at = rp__monotonic_ms();
	s->which = MORE;
	return r;
}

/* Delete jobs and group rows of a dropped queue. If the verb found any, end
 * this slice (short transaction); a later slice continues with this queue. If
 * the verb found none, it has also deleted the queue's row in the list of
 * dropped queues. */
static int
sweep_dropped(struct sweep *s, const struct rp_value *p)
{
	int64_t before = s->slice.left;
	int r = rp__run(s->conn, RP_V_SWEEP_DROPPED, p, 1, count_dropped, s);

	if (s->slice.left != before)
		s->slice.left = 0;
	return r;
}

static int
sweep_queue(struct sweep *s, const struct swept_queue *queue)
{
	const struct rp_value p[SWEEP_MOST_PARAMS] = {
		[SWEEP_QUEUE_ID] = rp__int(queue->id),
		[SWEEP_MAX] = rp__int(RP_SLICE),
	};
	int r;

	if (queue->dropped)
		return sweep_dropped(s, p);
	r = rp__run(s->conn, RP_V_SWEEP_EXPIRED, p, 1, count_expired, s);
	if (r == 0 && s->slice.left)
		r = rp__run(s->conn, RP_V_SWEEP_OVERDUE, p, 1, count_overdue,
			    s);
	if (r == 0 && s->slice.left)
		r = rp__run(s->conn, RP_V_SWEEP_DUE, p, 1, count_due, s);
	if (r == 0 && s->slice.left && s->conn->backend->one_writer)
		r = rp__run(s->conn, RP_V_SWEEP_GROUPS, p, 1, count_admitted,
			    s);
	if (r == 0 && s->slice.left && s->rest)
		r = rp__run(s->conn, RP_V_SWEEP_KEPT, p, 1, count_dropped, s);
	return r;
}

/* Sweep queues until the slice is over, beginning with the queue at the index
 * *at. Move the queues that are not finished to the start of the list. *more is
 * the number of these queues. */
static int
slice(struct sweep *s, size_t *at, size_t *more)
{
	int r = rp__slice_begin(s->conn, &s->slice, 0);

	if (r < 0)
		return r;
	r = take_turn(s);
	while (r == 0 && *at < s->queues_count &&
	       !rp__slice_is_over(&s->slice)) {
		r = sweep_queue(s, &s->queues[*at]);
		if (s->slice.left == 0)
			s->queues[(*more)++] = s->queues[*at];
		++*at;
	}
	return rp__slice_end(s->conn, &s->slice, r);
}

/* Sweep all queues. Sweep a queue again if it was not finished. */
static int
sweep_queues(struct sweep *s)
{
	int r = 0;

	while (s->queues_count) {
		size_t at = 0, more = 0;

		while (at < s->queues_count) {
			if (s->stop_at && rp__monotonic_us() >= s->stop_at)
				return 0;
			r = slice(s, &at, &more);
			if (r < 0)
				return r;
		}
		s->queues_count = s->queues_count ? more : 0;
	}
	return 0;
}

struct forgetting {
	rp_conn *conn;
	struct rp_slice *slice;
};

static int
forgot_row(void *ctx, size_t row, const struct rp_value *c)
{
	const struct forgetting *f = ctx;

	(void)row;
	(void)c;
	return rp__slice_take(f->conn, f->slice);
}

int
rp__sweep_rest(rp_conn *conn, struct rp_slice *slice, int payloads_only)
{
	struct forgetting f = { conn, slice };
	const struct rp_value p[SWEEP_REST_PARAMS] = {
		[SWEEP_REST_MAX] = rp__int(RP_SLICE),
		[SWEEP_REST_PAYLOADS_ONLY] = rp__int(payloads_only),
	};
	int r = rp__slice_begin(conn, slice, RP_BEGIN_ONCE);

	if (r < 0)
		return r;
	r = rp__run(conn, RP_V_SWEEP_REST, p, 1, forgot_row, &f);
	return rp__slice_end(conn, slice, r);
}

static int
sweep_rest(struct sweep *s)
{
	int r;

	do
		r = rp__sweep_rest(s->conn, &s->slice, 0);
	while (r == 0 && s->slice.left == 0);
	return r;
}

static int
sweep(struct sweep *s)
{
	int more = 0, r = look_for_work(s);

	if (r == 0)
		r = sweep_queues(s);
	if (r == 0 && s->has_fires)
		r = more = rp__schedules_fire(s->conn, s->stop_at,
					      &s->swept.fired);
	if (r >= 0 && s->has_rest)
		r = sweep_rest(s);
	r = r > 0 ? 0 : r;
	if (r == 0 && s->conn->backend->trim)
		s->conn->backend->trim(s->conn->db);
	s->conn->has_unswept = r == 0 && (s->queues_count > 0 || more);
	/* If some queues are not finished, the next sweep continues retention.
	 * Otherwise, retention is applied again after REST_MS. */
	if (s->rest && r == 0 && !s->conn->has_unswept)
		s->conn->rested_at = rp__monotonic_ms();
	free(s->queues);
	return r;
}

int
rp__sweep_dropped(rp_conn *conn)
{
	struct sweep s = { .conn = conn, .which = MORE, .rest = 1 };
	size_t n = 0;
	int r = look_for_work(&s);

	for (size_t i = 0; i < s.queues_count; i++)
		if (s.queues[i].dropped)
			s.queues[n++] = s.queues[i];
	s.queues_count = n;
	if (r == 0)
		r = sweep_queues(&s);
	free(s.queues);
	return r;
}

/* ---- when to sweep ---- */

/* Returns 1 if this client has swept for all workers within LATELY_MS, and so
 * is expected to make the next such sweep, too. */
int
rp__has_swept_lately(const rp_conn *conn)
{
	return conn->swept_for_all_at &&
	       rp__monotonic_ms() - conn->swept_for_all_at < LATELY_MS;
}

/* Sweep all queues if a job is due or a lease ran out in the caller's queues,
 * or if the last sweep was not finished. Otherwise sweep only if the last sweep
 * was about a second ago. (On a server one worker makes these sweeps for all
 * workers.) Apply retention once a minute. Returns 1 if the caller swept, 0 if
 * not, or an error. */
static int
sweep_if_due(rp_conn *conn, int what, const struct rp_probe *found)
{
	int64_t now = rp__monotonic_ms();
	int at_once = found->due_in_ms == 0 || found->expires_in_ms == 0 ||
		      conn->has_unswept;
	int for_all = what & RP_WAIT_SWEEP && found->behind &&
		      now - conn->swept_at >= SWEEP_MS;
	struct sweep s = { .conn = conn,
			   .which = at_once ? FIRST : IN_TURN,
			   .stop_at = rp__monotonic_us() + STRETCH_US,
			   .rest = now - conn->rested_at >= REST_MS };
	int r;

	if (!at_once && !for_all)
		return 0;
	conn->swept_at = now;
	r = sweep(&s);
	return r < 0 ? r : 1;
}

/* Returns the time in ms until the next probe. ms: what a probe after a sweep
 * has found: the time until a job is due or a lease ends; -1: never. It is 0 if
 * the sweep could not handle a job that is due, because another transaction has
 * locked the job or the sweep ran out of time. Then the next probe follows
 * after MOMENT_MS and not immediately. */
static int64_t
in_a_moment(const rp_conn *conn, int64_t ms)
{
	return ms == 0 || (ms < 0 && conn->has_unswept) ? MOMENT_MS : ms;
}

int
rp__probe_and_sweep(rp_conn *conn, const char *const *queues, int what,
		    int unless_ready, struct rp_probe *ret)
{
	int r = rp__probe(conn, queues, ret);

	if (r == 0 && !(unless_ready && ret->ready))
		r = sweep_if_due(conn, what, ret);
	if (r > 0) {
		r = rp__probe(conn, queues, ret);
		ret->due_in_ms = in_a_moment(conn, ret->due_in_ms);
		ret->expires_in_ms = in_a_moment(conn, ret->expires_in_ms);
	}
	return r;
}

int
rp__sweep_some(rp_conn *conn)
{
	struct sweep s = { .conn = conn,
			   .which = FIRST,
			   .stop_at = rp__monotonic_us() + STRETCH_US,
			   .rest = 1 };
	int r = rp__enter(conn);

	if (r < 0)
		return r;
	conn->swept_at = rp__monotonic_ms();
	r = sweep(&s);
	return r < 0 ? r : conn->has_unswept ? MOMENT_MS : 0;
}

int
rp_sweep(rp_conn *conn, rp_swept *ret)
{
	struct sweep s = { .conn = conn, .which = FIRST, .rest = 1 };
	int64_t total;
	int r = rp__enter(conn);

	if (r < 0)
		return r;
	if (ret && ret->size < offsetof(rp_swept, due))
		return rp__fail(&conn->error, RP_EINVAL,
				"ret has no size: RP_SWEPT_INIT sets it");
	conn->swept_at = rp__monotonic_ms();
	r = sweep(&s);
	if (r < 0)
		return r;
	if (ret) {
		s.swept.size = ret->size;
		rp__copy_struct(ret, &s.swept, ret->size, sizeof(*ret));
	}
	total = s.swept.due + s.swept.recovered + s.swept.dead +
		s.swept.dropped + s.swept.expired + s.swept.fired;
	return total > INT32_MAX ? INT32_MAX : (int)total;
}
