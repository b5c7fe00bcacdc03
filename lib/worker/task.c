/*
 * task.c - the calls that a handler may make on its task.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 *
 * A handler's changes in the database happen exactly once if its own SQL and
 * the job's completion are one transaction. That transaction checks the claim
 * number under the write lock. So if two workers both believe that they hold
 * the job, only one of them can commit.
 */
#include "worker.h"

#include <stdlib.h>
#include <string.h>

/* ---- for the worker ---- */

/* Free a task. The last task of a claim frees the memory of the claim. */
void
rp__task_free(rp_task *task)
{
	struct fetch *fetch = task->fetch;

	free(task->error);
	rp__report_free(&task->report);
	if (--fetch->left > 0)
		return;
	rp_batch_free(fetch->batch);
	free(fetch->tasks);
	free(fetch);
}

int
rp__task_fate(int result)
{
	return result == RP_ECANCELLED ? RP_TASK_CANCELLED : RP_TASK_LOST;
}

int
rp__task_loss(const rp_task *task)
{
	int fate = atomic_load(&task->fate);

	return fate == RP_TASK_RUNNING ? 0
	       : fate == RP_TASK_LOST  ? RP_EGONE
				       : RP_ECANCELLED;
}

/* Returns when to renew the lease (monotonic ms): when a third of it is over,
 * or earlier if there is progress to send. Returns INT64_MAX if the lease must
 * not be renewed, because the claim has ended or the handler is extending the
 * lease. */
int64_t
rp__task_renew_at(const rp_task *task)
{
	int64_t at = task->leased_at + task->lease_ms / 3;
	int64_t report_at = rp__report_at(&task->report);

	if (atomic_load(&task->fate) != RP_TASK_RUNNING ||
	    atomic_load(&task->done) || task->extending || task->is_settled)
		return INT64_MAX;
	if (report_at < at)
		at = report_at;
	return at > task->locked_until ? at : task->locked_until;
}

void
rp__task_begin_handling(rp_task *task, const char *thread)
{
	task->thread = thread;
	rp__observe(task->worker,
		    (rp_event){ .what = RP_EVENT_START, .job = task->job });
}

/* End a task whose handler has returned. If the task has a transaction open in
 * another thread, this fails and changes nothing. A large payload is freed
 * here. The lock `observing` makes sure that the observer is not reading the
 * payload, which could happen during a renewal of the lease. */
int
rp__task_end_handling(rp_task *task, int verdict)
{
	rp_worker *worker = task->worker;
	int r = task->begun ? rp_task_rollback(task) : 0;

	if (r < 0)
		return r;
	task->verdict = verdict;
	pthread_mutex_lock(&worker->observing);
	rp__batch_drop_payload(task->fetch->batch, task->job);
	pthread_mutex_unlock(&worker->observing);
	return 0;
}

/* ---- for handlers ---- */

/* Returns 0 if the calling thread may use the task, else RP_EINVAL. Only the
 * thread that runs the handler may use the handler's task. Any thread may use a
 * task from rp_worker_next(). But while this task has a transaction open, only
 * the thread that opened the transaction may use it. */
int
rp__task_enter(const rp_task *task)
{
	if (!task || rp__worker_enter(task->worker, NULL) < 0)
		return RP_EINVAL;
	if (task->thread)
		return task->thread == rp__thread() ? 0 : RP_EINVAL;
	return task->begun ? rp__enter(*task->conn) : 0;
}

const rp_job *
rp_task_job(const rp_task *task)
{
	return task ? task->job : NULL;
}

int
rp_task_error(rp_task *task, const char *text)
{
	char *copy;

	if (rp__task_enter(task) < 0 || !text)
		return RP_EINVAL;
	copy = strdup(text);
	if (!copy)
		return RP_ENOMEM;
	free(task->error);
	task->error = copy;
	return 0;
}

int
rp_task_delay(rp_task *task, int64_t delay_ms)
{
	if (rp__task_enter(task) < 0 || delay_ms < 0 || delay_ms > RP_MOST_MS)
		return RP_EINVAL;
	task->delay_ms = delay_ms;
	return 0;
}

int
rp_task_hold(rp_task *task, int hold, int64_t for_ms)
{
	if (rp__task_enter(task) < 0 ||
	    (hold != RP_HOLD_GROUP && hold != RP_HOLD_QUEUE) || for_ms < 1 ||
	    for_ms > RP_MOST_MS)
		return RP_EINVAL;
	task->hold = hold;
	task->hold_ms = for_ms;
	return 0;
}

int
rp_task_state(const rp_task *task)
{
	int fate;

	if (!task || rp__worker_enter(task->worker, NULL) < 0)
		return RP_EINVAL;
	fate = atomic_load(&task->fate);
	if (fate != RP_TASK_RUNNING)
		return fate;
	return atomic_load(&task->worker->stopping) ? RP_TASK_STOPPING
						    : RP_TASK_RUNNING;
}

/* ---- the connection ---- */

/* Open the connection of the task's slot, unless it is open. The worker has
 * found or made the schema already, so this makes no database. */
static int
open_conn(rp_task *task, rp_error *reterr)
{
	rp_options options = RP_OPTIONS_INIT;

	options.schema = RP_SCHEMA_REQUIRE;
	return *task->conn ? 0
			   : rp_open(task->worker->url, &options, task->conn,
				     reterr);
}

/* ---- extending ---- */

/* Prepare an extension of the lease by the handler. Wait until the database has
 * answered a renewal by the worker, and prevent further renewals: if both
 * overlapped, the shorter lease might win. The pool's lock cannot prevent this,
 * because a thread releases it before it waits for the database. Returns the
 * progress to send, or NULL. */
static const char *
begin_extending(rp_task *task)
{
	struct pool *pool = &task->worker->pool;
	const char *progress;

	pthread_mutex_lock(&pool->lock);
	while (task->renewing)
		pthread_cond_wait(&pool->renewed, &pool->lock);
	task->extending = 1;
	progress = rp__report_send(&task->report);
	pthread_mutex_unlock(&pool->lock);
	return progress;
}

static void
end_extending(rp_task *task, int r, int64_t lease_ms, int64_t asked)
{
	struct pool *pool = &task->worker->pool;

	pthread_mutex_lock(&pool->lock);
	task->extending = 0;
	rp__report_answered(&task->report, r, asked);
	if (r == 0) {
		task->lease_ms = lease_ms;
		task->leased_at = asked;
	}
	/* The next renewal may now be due earlier. */
	rp__pool_wake_coordinator(pool);
	pthread_mutex_unlock(&pool->lock);
}

static int
extend(rp_task *task, int64_t lease_ms)
{
	rp_verdict v =
		rp__verdict(task->job->id, task->job->claim_no, RP_EXTEND);
	int64_t asked;
	int r;

	v.delay_ms = lease_ms;
	v.progress = begin_extending(task);
	asked = rp__monotonic_ms();
	r = rp__settle_unlocked(*task->conn, &v, 1);
	if (r >= 0)
		r = v.result;
	if (r == RP_EGONE || r == RP_ECANCELLED)
		atomic_store(&task->fate, rp__task_fate(r));
	end_extending(task, r, lease_ms, asked);
	return r;
}

int
rp_task_extend(rp_task *task, int64_t lease_ms)
{
	int r;

	if (rp__task_enter(task) < 0 || task->begun ||
	    atomic_load(&task->done) || lease_ms < 1 || lease_ms > RP_MOST_MS)
		return RP_EINVAL;
	r = open_conn(task, NULL);
	return r < 0 ? r : extend(task, lease_ms);
}

/* ---- transactions ---- */

/* Make the message `words` of a failed call the error of the job, unless the
 * handler has set an error. Returns `r`. */
static int
note_failure(rp_task *task, int r, const char *words)
{
	if (!task->error)
		rp_task_error(task, words);
	return r;
}

int
rp_task_begin(rp_task *task, rp_conn **ret)
{
	rp_error error;
	int r = rp__task_enter(task);

	if (r < 0 || !ret || task->begun || atomic_load(&task->done))
		return RP_EINVAL;
	r = open_conn(task, &error);
	if (r < 0)
		return note_failure(task, r, error.message);
	r = rp_begin(*task->conn);
	if (r < 0)
		return note_failure(task, r,
				    rp_last_error(*task->conn)->message);
	(*task->conn)->of_task = 1;
	task->begun = 1;
	task->completes = 0;
	*ret = *task->conn;
	return 0;
}

int
rp_task_complete(rp_task *task)
{
	int r = rp__task_enter(task);

	if (r < 0 || !task->begun || task->completes)
		return RP_EINVAL;
	r = rp_complete_with(*task->conn, task->job->id, task->job->claim_no,
			     task->report.result, task->report.result_size);
	if (r == RP_EGONE || r == RP_ECANCELLED)
		atomic_store(&task->fate, rp__task_fate(r));
	if (r < 0)
		return note_failure(task, r,
				    rp_last_error(*task->conn)->message);
	task->completes = 1;
	return 0;
}

static void
observe(const rp_task *task, int what, int64_t asked_us)
{
	rp__observe(task->worker,
		    (rp_event){ .what = what,
				.job = task->job,
				.verdict = RP_DONE,
				.state = RP_STATE_DONE,
				.duration_ms = (rp__monotonic_us() -
						task->started_us) /
					       1000,
				.asked_us = asked_us });
}

/* Commit the transaction that completes the job. After the commit, the database
 * refuses to renew the lease, and the coordinator must not take this refusal
 * for a lost job. So `done` is set before the commit. */
static int
commit_completed(rp_task *task)
{
	int64_t asked = rp__monotonic_us();
	int r;

	observe(task, RP_EVENT_SETTLE, 0);
	atomic_store(&task->done, 1);
	r = rp_commit(*task->conn);
	if (r < 0)
		atomic_store(&task->done, 0);
	else
		observe(task, RP_EVENT_SETTLED, asked);
	return r;
}

int
rp_task_commit(rp_task *task)
{
	int r = rp__task_enter(task);

	if (r < 0 || !task->begun)
		return RP_EINVAL;
	r = task->completes ? 0 : rp__task_loss(task);
	if (r < 0) {
		rp_task_rollback(task);
		return r;
	}
	task->begun = (*task->conn)->of_task = 0;
	r = task->completes ? commit_completed(task) : rp_commit(*task->conn);
	return r < 0 ? note_failure(task, r,
				    rp_last_error(*task->conn)->message)
		     : 0;
}

int
rp_task_rollback(rp_task *task)
{
	int r = rp__task_enter(task);

	if (r < 0 || !task->begun)
		return RP_EINVAL;
	task->begun = task->completes = (*task->conn)->of_task = 0;
	return rp_rollback(*task->conn);
}
