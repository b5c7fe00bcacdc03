/*
 * lease.c - renew the leases of the jobs that a worker holds. Also release the
 * jobs of a claim whose answer was lost, because the worker never received
 * these jobs.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "worker.h"

#include <stdlib.h>

/* ---- renewing ---- */

/* A lease that is due for renewal, because a third of it is over or the handler
 * has reported progress. */
struct renewal {
	rp_task *task;
	int was_locked; /* 1: the last try to renew the lease failed, because
			 * another transaction had locked the job */
	int is_own;     /* 1: the renewal was refused, because the handler has
			 * settled its claim itself */
	int lost;
};

/* The leases to renew: element i of both arrays is for the same task. */
struct due {
	struct renewal *renewals;
	rp_verdict *verdicts;
	size_t count;
};

static int64_t
earlier(int64_t at, const rp_task *task)
{
	int64_t renew_at = task ? rp__task_renew_at(task) : INT64_MAX;

	return renew_at < at ? renew_at : at;
}

/* Returns when to renew the next lease (monotonic ms); INT64_MAX: never. */
int64_t
rp__lease_renew_at(rp_worker *w)
{
	struct pool *pool = &w->pool;
	int64_t at = INT64_MAX;

	pthread_mutex_lock(&pool->lock);
	for (size_t i = 0; i < pool->slots; i++)
		at = earlier(at, pool->running[i]);
	for (const rp_task *task = pool->todo.first; task; task = task->next)
		at = earlier(at, task);
	for (const rp_task *task = w->locked.first; task; task = task->next)
		if (task->is_locked)
			at = earlier(at, task);
	pthread_mutex_unlock(&pool->lock);
	return at;
}

static void
add_if_due(struct due *due, rp_task *task, int64_t now)
{
	rp_verdict *v;

	if (!task || now < rp__task_renew_at(task))
		return;
	task->renewing = 1;
	v = &due->verdicts[due->count];
	due->renewals[due->count++] = (struct renewal){
		.task = task,
		.was_locked = task->locked_until != 0,
	};
	*v = rp__verdict(task->job->id, task->job->claim_no, RP_EXTEND);
	v->delay_ms = task->lease_ms;
	v->progress = rp__report_send(&task->report);
}

/* Add each task whose lease must be renewed. The arrays of `due` have room for
 * all tasks. The caller holds the pool's lock. */
static void
add_due(rp_worker *w, struct due *due, int64_t now)
{
	struct pool *pool = &w->pool;

	for (size_t i = 0; i < pool->slots; i++)
		add_if_due(due, pool->running[i], now);
	for (rp_task *task = pool->todo.first; task; task = task->next)
		add_if_due(due, task, now);
	for (rp_task *task = w->locked.first; task; task = task->next)
		if (task->is_locked)
			add_if_due(due, task, now);
}

/* Collect the tasks whose lease must be renewed. Returns 0 or RP_ENOMEM. The
 * caller frees the arrays of *ret, also after an error. */
static int
collect_due(rp_worker *w, int64_t now, struct due *ret)
{
	struct pool *pool = &w->pool;
	size_t most;
	int r = 0;

	if (now < rp__lease_renew_at(w))
		return 0;
	pthread_mutex_lock(&pool->lock);
	most = pool->slots + pool->todo.count + w->locked.count;
	ret->renewals = malloc(most * sizeof(*ret->renewals));
	ret->verdicts = malloc(most * sizeof(*ret->verdicts));
	if (ret->renewals && ret->verdicts)
		add_due(w, ret, now);
	else
		r = RP_ENOMEM;
	pthread_mutex_unlock(&pool->lock);
	return r;
}

/* Send the renewals to the database. The pool is not locked during this call,
 * so its threads can start and finish tasks. But no task is settled before the
 * answer arrives, because only the coordinator settles, and it is the thread
 * that makes this call. */
static int
ask(rp_worker *w, const struct due *due)
{
	int was_locked = 0, r = 0;

	for (size_t i = 0; i < due->count; i++) {
		was_locked |= due->renewals[i].was_locked;
		rp__verdict_observe(w, RP_EVENT_SETTLE,
				    due->renewals[i].task->job,
				    &due->verdicts[i], 0, 0);
	}
	if (!was_locked)
		r = rp_settle(w->conn, due->verdicts, due->count);
	if (was_locked || (r == RP_EBUSY && w->conn->backend->limit_waits))
		r = rp__settle_unlocked(w->conn, due->verdicts, due->count);
	return r;
}

/* Apply the answer to a renewal. Returns 1 if the answer shows that the task is
 * lost. `is_own`: 1 if the database refused the renewal because the handler has
 * settled the job itself. Such a task is not lost. */
static int
apply(rp_task *task, int result, int is_own, int64_t asked)
{
	task->is_settled |= is_own;
	if (result == 0) {
		task->leased_at = asked;
		task->locked_until = 0;
		return 0;
	}
	if (result == RP_EBUSY) {
		task->locked_until = rp__monotonic_ms() + LOCKED_MS;
		return 0;
	}
	if (is_own || atomic_load(&task->done))
		return 0;
	atomic_store(&task->fate, rp__task_fate(result));
	return 1;
}

/* Mark the refused renewals of handlers that have settled their claim
 * themselves. Such a handler is not told to stop, because its claim was not
 * lost. To recognize this case: the lease had not run out when the renewal was
 * sent, and no worker runs the job now. */
static void
find_own(rp_worker *w, const struct due *due, int64_t asked)
{
	for (size_t i = 0; i < due->count; i++) {
		const rp_task *task = due->renewals[i].task;
		struct own own;

		due->renewals[i].is_own =
			due->verdicts[i].result == RP_EGONE &&
			asked < task->leased_at + task->lease_ms &&
			rp__verdict_find_own(w, task, &own) == 0 &&
			own.state != RP_STATE_RUNNING;
	}
}

static void
end_renewing(rp_worker *w, const struct due *due, int r, int64_t asked)
{
	pthread_mutex_lock(&w->pool.lock);
	for (size_t i = 0; i < due->count; i++) {
		struct renewal *renewal = &due->renewals[i];
		int result = due->verdicts[i].result;

		renewal->task->renewing = 0;
		rp__report_answered(&renewal->task->report, r < 0 ? r : result,
				    asked);
		if (r >= 0)
			renewal->lost = apply(renewal->task, result,
					      renewal->is_own, asked);
	}
	pthread_cond_broadcast(&w->pool.renewed);
	pthread_mutex_unlock(&w->pool.lock);
	for (size_t i = 0; i < due->count && r >= 0; i++) {
		const rp_job *job = due->renewals[i].task->job;
		const rp_verdict *v = &due->verdicts[i];

		rp__verdict_observe(w, RP_EVENT_SETTLED, job, v, 0,
				    asked * 1000);
		if (due->renewals[i].lost)
			rp__observe(w, (rp_event){ .what = RP_EVENT_LOST,
						   .job = job,
						   .result = v->result });
	}
}

/* Renew in one commit all leases that are due for renewal. */
int
rp__lease_renew(rp_worker *w)
{
	int64_t now = rp__monotonic_ms();
	struct due due = { 0 };
	int r = collect_due(w, now, &due), asked = 0;

	if (r == 0 && due.count) {
		asked = ask(w, &due);
		if (asked >= 0)
			find_own(w, &due, now);
		end_renewing(w, &due, asked, now);
	}
	free(due.renewals);
	free(due.verdicts);
	if (r < 0)
		return rp__worker_no_memory(w);
	return asked < 0 ? rp__worker_trouble(w, asked) : 0;
}

/* ---- jobs of a claim whose answer was lost ---- */

/* The jobs that are leased to this worker in the database, each with a verdict
 * that releases it. */
struct leased {
	rp_verdict *verdicts;
	size_t count;
};

static int
add_leased(void *ctx, size_t row, const struct rp_value *c)
{
	struct leased *leased = ctx;
	rp_verdict *more;

	(void)row;
	more = realloc(leased->verdicts, (leased->count + 1) * sizeof(*more));
	if (!more)
		return RP_ENOMEM;
	leased->verdicts = more;
	more[leased->count++] =
		rp__verdict(c[CLAIMED_BY_OUT_ID].i,
			    c[CLAIMED_BY_OUT_CLAIM_NO].i, RP_RELEASE);
	return RP_ROW_TAKE;
}

static int
is_claim(const rp_task *task, const rp_verdict *v)
{
	return task->job->id == v->id && task->job->claim_no == v->claim_no;
}

static int
is_among(const struct tasks *tasks, const rp_verdict *v)
{
	const rp_task *task = tasks->first;

	while (task && !is_claim(task, v))
		task = task->next;
	return task != NULL;
}

static int
is_known(const rp_worker *w, const struct tasks *finished, const rp_verdict *v)
{
	const struct pool *pool = &w->pool;

	for (size_t i = 0; i < pool->slots; i++)
		if (pool->running[i] && is_claim(pool->running[i], v))
			return 1;
	return is_among(&pool->todo, v) || is_among(&pool->finished, v) ||
	       is_among(&w->locked, v) || is_among(finished, v);
}

/* Remove from `leased` the claims that this worker knows, because their jobs
 * are in one of its lists. The claims that are left were never received. The
 * job of such a claim may be in a list with an older claim, if the lost call
 * has also released it. Only the coordinator takes jobs out of the lists, and
 * it is the thread that runs this function. So no known claim is missed. */
static void
drop_known(rp_worker *w, const struct tasks *finished, struct leased *leased)
{
	size_t kept = 0;

	pthread_mutex_lock(&w->pool.lock);
	for (size_t i = 0; i < leased->count; i++)
		if (!is_known(w, finished, &leased->verdicts[i]))
			leased->verdicts[kept++] = leased->verdicts[i];
	pthread_mutex_unlock(&w->pool.lock);
	leased->count = kept;
}

/* If the connection broke during a claim, the claim may have been committed
 * although its answer was lost. Release the jobs of such a claim. Otherwise no
 * worker would run them until their leases ran out. */
int
rp__lease_give_back_unknown(rp_worker *w, const struct tasks *finished)
{
	struct leased leased = { NULL, 0 };
	struct rp_value p[CLAIMED_BY_PARAMS];
	char *queues;
	int r;

	if (!w->conn->lost_answer)
		return 0;
	queues = rp__list(w->queues, '[', ']');
	if (!queues)
		return rp__worker_no_memory(w);
	w->conn->lost_answer = 0;
	p[CLAIMED_BY_WORKER_ID] = rp__int(w->conn->worker_id);
	p[CLAIMED_BY_QUEUES] = rp__text(queues);
	r = rp__run_once(w->conn, RP_V_CLAIMED_BY, p, add_leased, &leased);
	if (r == 0)
		drop_known(w, finished, &leased);
	if (r == 0 && leased.count)
		r = rp_settle(w->conn, leased.verdicts, leased.count);
	free(leased.verdicts);
	free(queues);
	if (r < 0)
		w->conn->lost_answer = 1;
	return r < 0 ? rp__worker_trouble(w, r) : 0;
}
