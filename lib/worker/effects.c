/*
 * effects.c - what a handler does in the database happens exactly once.
 *
 * The handler's own SQL and the job's completion are one transaction: the claim
 * number is checked inside it, under the write lock, so that of two workers
 * that both think that the job is theirs only one commits.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "worker.h"

/* A call on the task's connection failed: unless the handler has said why the
 * job failed, that is why. */
static int
failed(rp_task *task, int r, const char *words)
{
	if (!task->error)
		rp_task_error(task, words);
	return r;
}

int
rp_task_begin(rp_task *task, rp_conn **ret)
{
	rp_options options = RP_OPTIONS_INIT;
	rp_error error;
	int r = rp__task_enter(task);

	if (r < 0 || !ret || task->begun || atomic_load(&task->done))
		return RP_EINVAL;
	options.schema = RP_SCHEMA_REQUIRE;
	if (!*task->conn)
		r = rp_open(task->worker->url, &options, task->conn, &error);
	if (r < 0)
		return failed(task, r, error.message);
	r = rp_begin(*task->conn);
	if (r < 0)
		return failed(task, r, rp_last_error(*task->conn)->message);
	task->begun = 1;
	task->said = 0;
	*ret = *task->conn;
	return 0;
}

int
rp_task_complete(rp_task *task)
{
	int r = rp__task_enter(task);

	if (r < 0 || !task->begun || task->said)
		return RP_EINVAL;
	r = rp_complete(*task->conn, task->job->id, task->job->claim_no);
	if (r == RP_EGONE || r == RP_ECANCELLED)
		atomic_store(&task->fate,
			     r == RP_EGONE ? RP_TASK_LOST : RP_TASK_CANCELLED);
	if (r < 0)
		return failed(task, r, rp_last_error(*task->conn)->message);
	task->said = 1;
	return 0;
}

static void
observe(const rp_task *task, int what, int result, int64_t asked_us)
{
	rp__observe(task->worker,
		    (rp_event){ .what = what,
				.job = task->job,
				.verdict = RP_DONE,
				.result = result,
				.state = result == 0 ? RP_STATE_DONE : 0,
				.duration_ms = (rp__monotonic_us() -
						task->started_us) /
					       1000,
				.asked_us = asked_us });
}

/* The worker learns that the job is done before it is: a renewal that is
 * refused because the job is gone already must not count as a loss. */
static int
commit_completed(rp_task *task)
{
	int64_t asked = rp__monotonic_us();
	int r;

	observe(task, RP_EVENT_SETTLE, 0, 0);
	atomic_store(&task->done, 1);
	r = rp_commit(*task->conn);
	if (r < 0)
		atomic_store(&task->done, 0);
	else
		observe(task, RP_EVENT_SETTLED, 0, asked);
	return r;
}

int
rp_task_commit(rp_task *task)
{
	int fate, r = rp__task_enter(task);

	if (r < 0 || !task->begun)
		return RP_EINVAL;
	fate = atomic_load(&task->fate);
	if (!task->said && fate != RP_TASK_RUNNING) {
		rp_task_rollback(task);
		return fate == RP_TASK_LOST ? RP_EGONE : RP_ECANCELLED;
	}
	task->begun = 0;
	r = task->said ? commit_completed(task) : rp_commit(*task->conn);
	return r < 0 ? failed(task, r, rp_last_error(*task->conn)->message) : 0;
}

int
rp_task_rollback(rp_task *task)
{
	int r = rp__task_enter(task);

	if (r < 0 || !task->begun)
		return RP_EINVAL;
	task->begun = task->said = 0;
	return rp_rollback(*task->conn);
}
