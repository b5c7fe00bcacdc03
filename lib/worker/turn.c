/*
 * turn.c - the worker's turn: settle what is finished, claim what will
 * be started.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "worker.h"

#include <poll.h>
#include <stdlib.h>

#define MOST_AHEAD 2000
#define MOST_TROUBLES_AT_THE_END 5

/* ---- trouble ---- */

/* A call failed. 0: make it again; else it is the end. */
int
rp__worker_trouble(rp_worker *w, int code)
{
	const char *text = rp_last_error(w->conn)->message;
	int lasting = code == RP_EINVAL || code == RP_ESCHEMA ||
		      code == RP_EREADONLY || code == RP_ENOENT ||
		      code == RP_ENODB || code == RP_EDAMAGED;

	if (lasting || (atomic_load(&w->stopping) &&
			w->troubles >= MOST_TROUBLES_AT_THE_END))
		return code;
	rp__observe(w, (rp_event){ .what = RP_EVENT_TROUBLE,
				   .result = code,
				   .text = text });
	w->troubles++;
	poll(NULL, 0, w->troubles < 10 ? 100 * w->troubles : 1000);
	return 0;
}

/* ---- settling ---- */

static void
forget(rp_worker *w, rp_task *task)
{
	w->given_back += task->started_us == 0;
	rp__task_free(task);
}

static void
count_verdict(rp_worker *w, const rp_task *task, const rp_verdict *v,
	      int64_t asked)
{
	int handlers_own = v->result == RP_EGONE &&
			   asked < task->leased_at + task->lease_ms;

	if (v->result == 0 && v->state == RP_STATE_DEAD)
		w->counts.dead++;
	else if (v->result == 0 && v->verdict == RP_FAIL)
		w->counts.failed++;
	else if (v->result == 0 && v->verdict == RP_RELEASE)
		w->counts.released += task->started_us != 0;
	else if (v->result == 0 || (handlers_own && v->verdict == RP_DONE))
		w->counts.done++;
	else if (!handlers_own)
		w->counts.lost++;
}

void
rp__worker_observe_verdict(rp_worker *w, int what, const rp_task *task,
			   const rp_verdict *v, int64_t asked)
{
	rp__observe(w, (rp_event){ .what = what,
				   .job = task->job,
				   .verdict = v->verdict,
				   .result = v->result,
				   .state = v->state,
				   .duration_ms = task->took_us / 1000,
				   .asked_us = asked,
				   .text = v->error });
}

/* The verdicts of tasks that may still have one. Those that were lost or
 * cancelled, or completed by a transaction of theirs, are dropped from the
 * list. Free it. */
static rp_verdict *
make_verdicts(rp_worker *w, struct tasks *tasks)
{
	rp_verdict *verdicts = calloc(tasks->count + 1, sizeof(*verdicts));
	struct tasks kept = { NULL, NULL, 0 };

	if (!verdicts)
		return NULL;
	for (rp_task *task = tasks->first, *next; task; task = next) {
		rp_verdict *v = &verdicts[kept.count];

		next = task->next;
		if (atomic_load(&task->done)) {
			w->counts.done++;
			forget(w, task);
			continue;
		}
		if (atomic_load(&task->fate) != RP_TASK_RUNNING) {
			w->counts.lost++;
			forget(w, task);
			continue;
		}
		*v = (rp_verdict)RP_VERDICT_INIT;
		v->id = task->job->id;
		v->claim_no = task->job->claim_no;
		v->verdict = task->verdict;
		v->delay_ms = task->delay_ms;
		v->error = task->error;
		rp__tasks_add(&kept, task);
		if (!task->blocked)
			rp__worker_observe_verdict(w, RP_EVENT_SETTLE, task, v,
						   0);
	}
	*tasks = kept;
	return verdicts;
}

static void
settled(rp_worker *w, struct tasks *tasks, const rp_verdict *verdicts,
	int64_t asked)
{
	size_t i = 0;

	for (rp_task *task = tasks->first, *next; task; task = next) {
		const rp_verdict *v = &verdicts[i++];

		next = task->next;
		if (v->result == RP_EBUSY) {
			task->blocked = 1;
			rp__tasks_add(&w->blocked, task);
			w->unblock_at = rp__monotonic_ms() + BLOCKED_MS;
			continue;
		}
		count_verdict(w, task, v, asked / 1000);
		rp__worker_observe_verdict(w, RP_EVENT_SETTLED, task, v, asked);
		forget(w, task);
	}
	*tasks = (struct tasks){ NULL, NULL, 0 };
}

/* The verdicts on jobs that somebody had locked, once more. */
int
rp__worker_settle_blocked(rp_worker *w)
{
	struct tasks tasks = w->blocked;
	int64_t asked = rp__monotonic_us();
	rp_verdict *verdicts;
	int r;

	if (!tasks.count || asked / 1000 < w->unblock_at)
		return 0;
	verdicts = make_verdicts(w, &tasks);
	if (!verdicts)
		return rp__worker_trouble(
			w,
			rp__fail(&w->conn->error, RP_ENOMEM, "out of memory"));
	w->blocked = (struct tasks){ NULL, NULL, 0 };
	r = rp__settle_unblocked(w->conn, verdicts, tasks.count);
	if (r < 0) {
		w->blocked = tasks;
		free(verdicts);
		return rp__worker_trouble(w, r);
	}
	w->unblock_tries = r > 0 ? 0 : w->unblock_tries + 1;
	settled(w, &tasks, verdicts, asked);
	free(verdicts);
	return 0;
}

/* ---- claiming ---- */

/* How many more jobs are to be claimed. One that was given back before it was
 * started does not count as one of the worker's. */
static int64_t
jobs_left(const rp_worker *w)
{
	return w->options.max_jobs ? w->options.max_jobs -
					     (w->counts.claimed - w->given_back)
				   : INT64_MAX;
}

/* Claim nothing more: told so, or enough. */
int
rp__worker_ending(rp_worker *w)
{
	return atomic_load(&w->stopping) || jobs_left(w) <= 0;
}

/* How many jobs are held, started or not, and how many the handlers will start
 * within AHEAD_MS if they go on as they did. One that takes longer than the
 * others did counts as soon as it does. */
static size_t
held(rp_worker *w, size_t *ret_ahead)
{
	int64_t now = rp__monotonic_us();
	int64_t mean, ahead;
	size_t n;

	pthread_mutex_lock(&w->lock);
	mean = w->mean_us;
	for (size_t i = 0; i < w->threads_count && w->running_count; i++)
		if (w->running[i] && now - w->running[i]->started_us > mean)
			mean = now - w->running[i]->started_us;
	n = w->todo.count + w->running_count;
	ahead = w->mean_us
			? w->options.threads * AHEAD_MS * INT64_C(1000) / mean
			: 0;
	pthread_mutex_unlock(&w->lock);
	*ret_ahead = (size_t)(ahead < MOST_AHEAD ? ahead : MOST_AHEAD);
	return n;
}

/* How many jobs to claim, and how many of them will not start at once. */
size_t
rp__worker_appetite(rp_worker *w, size_t *ret_holding, size_t *ret_ahead)
{
	size_t threads = (size_t)w->options.threads;
	size_t ahead, holding = held(w, &ahead);
	size_t want = threads + ahead - holding;
	int64_t left = jobs_left(w);

	*ret_holding = holding;
	rp__alone_end_making_room(&w->alone, holding);
	if (rp__worker_ending(w) || rp__alone_must_wait(&w->alone, holding) ||
	    holding >= threads + ahead)
		return 0;
	if ((int64_t)want > left)
		want = (size_t)left;
	if (holding + want > threads)
		*ret_ahead =
			holding < threads ? holding + want - threads : want;
	return want;
}

static void
start_task(rp_worker *w, rp_task *task, struct fetch *fetch, const rp_job *job,
	   int64_t asked)
{
	task->worker = w;
	task->fetch = fetch;
	task->job = job;
	task->delay_ms = -1;
	task->lease_ms = job->lease_until - job->claimed_at;
	task->leased_at = asked / 1000;
	task->fetched_at = rp__monotonic_ms();
	atomic_init(&task->fate, RP_TASK_RUNNING);
	if (job->suspect)
		rp__alone_began(&w->alone, task);
	rp__observe(w, (rp_event){ .what = RP_EVENT_CLAIM,
				   .job = job,
				   .asked_us = asked });
}

/* Hand a claim's jobs to the threads. */
static int
start_batch(rp_worker *w, rp_batch *batch, int64_t asked)
{
	size_t n = rp_batch_count(batch);
	struct fetch *fetch = malloc(sizeof(*fetch));
	rp_task *tasks = calloc(n, sizeof(*tasks));

	if (!fetch || !tasks) {
		/* The leases will run out: nothing is lost. */
		free(fetch);
		free(tasks);
		rp_batch_free(batch);
		return rp__fail(&w->conn->error, RP_ENOMEM, "out of memory");
	}
	*fetch = (struct fetch){ batch, n, tasks };
	for (size_t i = 0; i < n; i++)
		start_task(w, &tasks[i], fetch, rp_batch_at(batch, i), asked);
	w->counts.claimed += (int64_t)n;
	pthread_mutex_lock(&w->lock);
	for (size_t i = 0; i < n; i++)
		rp__tasks_add(&w->todo, &tasks[i]);
	if (n == 1)
		pthread_cond_signal(&w->work);
	else
		pthread_cond_broadcast(&w->work);
	pthread_mutex_unlock(&w->lock);
	return 0;
}

/* ---- a turn ---- */

void
rp__worker_take_finished(rp_worker *w, struct tasks *finished)
{
	pthread_mutex_lock(&w->lock);
	if (w->finished.first) {
		if (finished->last)
			finished->last->next = w->finished.first;
		else
			finished->first = w->finished.first;
		finished->last = w->finished.last;
		finished->count += w->finished.count;
		for (rp_task *t = w->finished.first; t; t = t->next)
			rp__alone_ended(&w->alone, t);
		w->finished = (struct tasks){ NULL, NULL, 0 };
	}
	pthread_mutex_unlock(&w->lock);
}

/* What was not started is to be given back. */
void
rp__worker_take_unstarted(rp_worker *w, struct tasks *finished)
{
	pthread_mutex_lock(&w->lock);
	for (rp_task *task = w->todo.first, *next; task; task = next) {
		next = task->next;
		task->verdict = RP_RELEASE;
		task->delay_ms = -1;
		rp__alone_ended(&w->alone, task);
		rp__tasks_add(finished, task);
	}
	w->todo = (struct tasks){ NULL, NULL, 0 };
	pthread_mutex_unlock(&w->lock);
}

/* May there be more for this worker than it was handed? */
static void
look_at_claim(rp_worker *w, const rp_batch *batch, size_t want)
{
	size_t n = rp_batch_count(batch);
	size_t passed_over = rp_batch_suspects(batch);
	int suspect = n == 1 && rp_batch_at(batch, 0)->suspect;

	if (!suspect)
		rp__alone_claimed(&w->alone, n, passed_over);
	w->maybe_ready =
		n == want || suspect || (passed_over && !w->alone.task);
}

/*
 * Settle what is finished and claim what will be started. Left alone when there
 * is neither: then nothing is asked of the database. 0, or the end.
 */
int
rp__worker_turn(rp_worker *w, struct tasks *finished)
{
	rp_claim_options o = RP_CLAIM_INIT;
	size_t want = rp__worker_appetite(w, &o.holding, &o.ahead);
	int64_t asked = rp__monotonic_us();
	rp_verdict *verdicts;
	rp_batch *batch = NULL;
	int r;

	if (!finished->count && (!want || !w->maybe_ready))
		return 0;
	verdicts = make_verdicts(w, finished);
	if (!verdicts)
		return rp__worker_trouble(
			w,
			rp__fail(&w->conn->error, RP_ENOMEM, "out of memory"));
	o.holding = rp__alone_holding(&w->alone, o.holding);
	o.lease_ms = w->options.lease_ms;
	o.queues = w->queues;
	r = rp_settle_and_claim(w->conn, verdicts, finished->count, NULL, want,
				&o, &batch);
	if (r == RP_EBUSY && finished->count && w->conn->backend->limit_waits) {
		want = 0;
		r = rp__settle_unblocked(w->conn, verdicts, finished->count);
	}
	if (r < 0) {
		free(verdicts);
		return rp__worker_trouble(w, r);
	}
	w->troubles = 0;
	settled(w, finished, verdicts, asked);
	free(verdicts);
	if (want)
		look_at_claim(w, batch, want);
	if (rp_batch_count(batch) > 0)
		return start_batch(w, batch, asked);
	rp_batch_free(batch);
	return 0;
}
