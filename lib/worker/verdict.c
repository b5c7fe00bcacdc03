/*
 * verdict.c - send the verdicts of finished tasks, and handle the database's
 * answers to them.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "worker.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- tasks to settle ---- */

/* Move the finished tasks to `finished`, and the counts of the jobs that their
 * handlers settled to the connection of the coordinator. */
void
rp__worker_take_finished(rp_worker *w, struct tasks *finished)
{
	struct tasks more;

	pthread_mutex_lock(&w->pool.lock);
	more = w->pool.finished;
	w->pool.finished = NO_TASKS;
	rp__tally_move(&w->pool.tallies, &w->conn->tallies);
	pthread_mutex_unlock(&w->pool.lock);
	for (const rp_task *task = more.first; task; task = task->next)
		rp__alone_note_end(&w->alone, task);
	rp__tasks_append(finished, &more);
}

/* Move the tasks that were not started to `finished`, with verdicts that
 * release their jobs. */
void
rp__worker_take_unstarted(rp_worker *w, struct tasks *finished)
{
	struct tasks more;

	pthread_mutex_lock(&w->pool.lock);
	more = w->pool.todo;
	w->pool.todo = NO_TASKS;
	rp__pool_set_fd(&w->pool);
	pthread_mutex_unlock(&w->pool.lock);
	for (rp_task *task = more.first; task; task = task->next) {
		task->verdict = RP_RELEASE;
		task->delay_ms = -1;
		rp__alone_note_end(&w->alone, task);
	}
	rp__tasks_append(finished, &more);
}

/* ---- settling ---- */

static void
forget(rp_worker *w, rp_task *task)
{
	w->given_back += task->started_us == 0;
	rp__task_free(task);
}

/* Count a settled job: as dead if its new state is dead, otherwise by its
 * verdict. */
static void
count_verdict(rp_worker *w, const rp_task *task, int verdict, int state)
{
	if (state == RP_STATE_DEAD)
		w->counts.dead++;
	else if (verdict == RP_FAIL)
		w->counts.failed++;
	else if (verdict == RP_RELEASE)
		w->counts.released += task->started_us != 0;
	else
		w->counts.done++;
}

static void
count_loss(rp_worker *w, int is_cancelled)
{
	if (is_cancelled)
		w->counts.cancelled++;
	else
		w->counts.lost++;
}

/* Call this if the handler has settled its claim itself. Returns the verdict
 * that the handler gave. now: the job as it is in the database.
 *
 * If the claim number is unchanged, the verdict was DONE or DEAD. FAIL adds 1
 * to the claim number and does not change the attempt number. RELEASE adds 1 to
 * the claim number and subtracts 1 from the attempt number. A later claim
 * increases the claim number further, and adds 1 to the attempt number. */
static int
own_verdict(const rp_task *task, const rp_job *now)
{
	const rp_job *then = task->job;
	int failed = now->attempt > then->attempt ||
		     (now->attempt == then->attempt &&
		      now->claim_no == then->claim_no + 1);

	if (now->claim_no == then->claim_no)
		return now->state == RP_STATE_DEAD ? RP_DEAD : RP_DONE;
	return failed ? RP_FAIL : RP_RELEASE;
}

int
rp__verdict_find_own(rp_worker *w, const rp_task *task, struct own *ret)
{
	rp_batch *batch;
	const rp_job *now;
	int r = rp_job_get(w->conn, task->job->id, &batch);

	*ret = (struct own){ RP_DONE, RP_STATE_DONE, "" };
	if (r < 0)
		return r == RP_ENOENT ? 0 : r;
	now = rp_batch_at(batch, 0);
	ret->verdict = own_verdict(task, now);
	ret->state = now->state;
	if ((ret->verdict == RP_FAIL || ret->verdict == RP_DEAD) &&
	    now->last_error)
		snprintf(ret->error, sizeof(ret->error), "%s", now->last_error);
	rp_batch_free(batch);
	return 0;
}

/* Count a verdict, and report it to the observer. */
static void
end_verdict(rp_worker *w, rp_task *task, const rp_verdict *v, int64_t asked_us)
{
	int is_own = v->result == RP_EGONE &&
		     (task->is_settled ||
		      asked_us / 1000 < task->leased_at + task->lease_ms);
	rp_verdict told = *v;
	struct own own;

	if (is_own && rp__verdict_find_own(w, task, &own) == 0) {
		count_verdict(w, task, own.verdict,
			      own.verdict == RP_DEAD ? RP_STATE_DEAD : 0);
		told.state = own.state;
		told.error = *own.error ? own.error : NULL;
	} else if (v->result == 0) {
		count_verdict(w, task, v->verdict, v->state);
	} else {
		count_loss(w, v->result == RP_ECANCELLED);
	}
	if (rp__is_finished(told.state))
		rp__unsettled_remove(w, task->job->id);
	rp__verdict_observe(w, RP_EVENT_SETTLED, task->job, &told,
			    task->took_us, asked_us);
}

void
rp__verdict_observe(rp_worker *w, int what, const rp_job *job,
		    const rp_verdict *v, int64_t took_us, int64_t asked_us)
{
	rp__observe(w, (rp_event){ .what = what,
				   .job = job,
				   .verdict = v->verdict,
				   .result = v->result,
				   .state = v->state,
				   .duration_ms = took_us / 1000,
				   .asked_us = asked_us,
				   .text = v->error });
}

static rp_verdict
verdict_of(const rp_task *task)
{
	rp_verdict v =
		rp__verdict(task->job->id, task->job->claim_no, task->verdict);

	v.delay_ms = task->delay_ms;
	v.error = task->error;
	v.result_bytes = task->report.result;
	v.result_size = task->report.result_size;
	v.progress = task->report.progress;
	if (task->verdict != RP_DONE) {
		v.hold = task->hold;
		v.hold_ms = task->hold_ms;
	}
	return v;
}

/* Make an array with the verdicts of the tasks; the caller frees the array.
 * Tasks that were lost, cancelled, or completed by a transaction of their own
 * need no verdict. They are freed and removed from the list. */
rp_verdict *
rp__verdicts_make(rp_worker *w, struct tasks *tasks)
{
	rp_verdict *verdicts = calloc(tasks->count + 1, sizeof(*verdicts));
	struct tasks kept = NO_TASKS;

	if (!verdicts || rp__unsettled_add(w, tasks) < 0) {
		free(verdicts);
		return NULL;
	}
	for (rp_task *task = tasks->first, *next; task; task = next) {
		rp_verdict *v = &verdicts[kept.count];

		next = task->next;
		if (atomic_load(&task->done)) {
			w->counts.done++;
			rp__unsettled_remove(w, task->job->id);
			forget(w, task);
			continue;
		}
		if (atomic_load(&task->fate) != RP_TASK_RUNNING) {
			count_loss(w, atomic_load(&task->fate) ==
					      RP_TASK_CANCELLED);
			forget(w, task);
			continue;
		}
		*v = verdict_of(task);
		rp__tasks_add(&kept, task);
		if (!task->is_locked)
			rp__verdict_observe(w, RP_EVENT_SETTLE, task->job, v,
					    task->took_us, 0);
	}
	*tasks = kept;
	return verdicts;
}

/* Handle the answers to verdicts. Free the tasks that are settled. A task whose
 * job is locked by another transaction is moved to the list `locked`, which
 * rp__worker_settle_locked() settles later. */
void
rp__verdicts_answered(rp_worker *w, struct tasks *tasks,
		      const rp_verdict *verdicts, int64_t asked_us)
{
	size_t i = 0;

	for (rp_task *task = tasks->first, *next; task; task = next) {
		const rp_verdict *v = &verdicts[i++];

		next = task->next;
		if (v->result == RP_EBUSY) {
			task->is_locked = 1;
			rp__tasks_add(&w->locked, task);
			w->locked_until = rp__monotonic_ms() + LOCKED_MS;
			continue;
		}
		end_verdict(w, task, v, asked_us);
		forget(w, task);
	}
	*tasks = NO_TASKS;
}

/* Send again the verdicts that were not accepted because another transaction
 * had locked the job. */
int
rp__worker_settle_locked(rp_worker *w)
{
	struct tasks tasks = w->locked;
	int64_t asked = rp__monotonic_us();
	rp_verdict *verdicts;
	int r;

	if (!tasks.count || asked / 1000 < w->locked_until)
		return 0;
	verdicts = rp__verdicts_make(w, &tasks);
	if (!verdicts)
		return rp__worker_no_memory(w);
	w->locked = NO_TASKS;
	r = rp__settle_unlocked(w->conn, verdicts, tasks.count);
	if (r < 0) {
		/* The answer may have been lost. Then a repeated verdict is
		 * refused, so the observer must learn that it is repeated. */
		for (rp_task *task = tasks.first; task; task = task->next)
			task->is_locked = 0;
		w->locked = tasks;
		free(verdicts);
		return rp__worker_trouble(w, r);
	}
	w->locked_tries = r > 0 ? 0 : w->locked_tries + 1;
	rp__verdicts_answered(w, &tasks, verdicts, asked);
	free(verdicts);
	return 0;
}
