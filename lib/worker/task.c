/*
 * task.c - the worker's threads, and what a handler may ask and say.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "worker.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void
rp__tasks_add(struct tasks *tasks, rp_task *task)
{
	task->next = NULL;
	if (tasks->last)
		tasks->last->next = task;
	else
		tasks->first = task;
	tasks->last = task;
	tasks->count++;
}

static rp_task *
take_first(struct tasks *tasks)
{
	rp_task *task = tasks->first;

	tasks->first = task->next;
	if (!tasks->first)
		tasks->last = NULL;
	tasks->count--;
	return task;
}

/* One task of its claim less; the last one frees the claim's memory. */
void
rp__task_free(rp_task *task)
{
	struct fetch *fetch = task->fetch;

	free(task->error);
	if (--fetch->left > 0)
		return;
	rp_batch_free(fetch->batch);
	free(fetch->tasks);
	free(fetch);
}

void
rp__observe(rp_worker *worker, rp_event event)
{
	if (!worker->options.observer)
		return;
	event.size = sizeof(event);
	pthread_mutex_lock(&worker->observing);
	worker->options.observer(&event, worker->options.observer_ctx);
	pthread_mutex_unlock(&worker->observing);
}

/* The route of the job's kind, or the one for any. */
static const struct route *
route_of(const rp_worker *worker, const rp_job *job)
{
	const struct route *any = NULL;

	for (size_t i = 0; i < worker->routes_count; i++) {
		const struct route *route = &worker->routes[i];

		if (strcmp(route->queue, job->queue) != 0)
			continue;
		if (!route->kind)
			any = any ? any : route;
		else if (job->kind && strcmp(route->kind, job->kind) == 0)
			return route;
	}
	return any;
}

static void
handle(rp_task *task, rp_conn **conn)
{
	const struct route *route = route_of(task->worker, task->job);

	task->thread = rp__thread();
	task->conn = conn;
	rp__observe(task->worker,
		    (rp_event){ .what = RP_EVENT_START, .job = task->job });
	if (route) {
		task->verdict = route->handler(task, task->job, route->ctx);
	} else {
		task->verdict = RP_RELEASE;
		task->delay_ms = 10000;
	}
	if (task->begun)
		rp_task_rollback(task);
	if (task->verdict < RP_DONE || task->verdict > RP_RELEASE)
		task->verdict = RP_FAIL;
	rp__batch_drop_payload(task->fetch->batch, task->job);
}

static void
wake_coordinator(rp_worker *worker)
{
	const uint64_t one = 1;

	if (worker->asleep &&
	    write(worker->wake_fd, &one, sizeof(one)) == sizeof(one))
		worker->asleep = 0;
}

/* When a third of the lease is over; never, if the job is not ours any more. */
int64_t
rp__task_renew_at(const rp_task *task)
{
	int64_t third = task->leased_at + task->lease_ms / 3;

	if (atomic_load(&task->fate) != RP_TASK_RUNNING ||
	    atomic_load(&task->done))
		return INT64_MAX;
	return third > task->blocked_until ? third : task->blocked_until;
}

/* Was the task fetched ahead, and its lease ran out before anybody was free to
 * start it? The process may have been stopped for long. */
static int
is_over(const rp_task *task)
{
	int64_t now = rp__monotonic_ms();

	return now - task->fetched_at >= AHEAD_MS &&
	       now >= task->leased_at + task->lease_ms;
}

/* The next task to start. One that is over is given back, and refused if
 * somebody else has it. */
static rp_task *
next_task(rp_worker *worker)
{
	while (worker->todo.first) {
		rp_task *task = take_first(&worker->todo);

		if (!is_over(task))
			return task;
		task->verdict = RP_RELEASE;
		rp__tasks_add(&worker->finished, task);
		wake_coordinator(worker);
	}
	return NULL;
}

/* A thread's life. Its place in `running` shows the coordinator what it does,
 * so that the lease is renewed. */
static void *
serve(void *arg)
{
	rp_worker *worker = arg;
	rp_conn *conn = NULL;
	size_t me = 0;

	pthread_mutex_lock(&worker->lock);
	while (!pthread_equal(worker->threads[me], pthread_self()))
		me++;
	for (;;) {
		rp_task *task = NULL;

		while (!worker->closing && !(task = next_task(worker)))
			pthread_cond_wait(&worker->work, &worker->lock);
		if (worker->closing)
			break;
		task->started_us = worker->started_us = rp__monotonic_us();
		worker->running[me] = task;
		worker->running_count++;
		pthread_mutex_unlock(&worker->lock);
		handle(task, &conn);
		pthread_mutex_lock(&worker->lock);
		task->took_us = rp__monotonic_us() - task->started_us;
		worker->mean_us += (task->took_us - worker->mean_us) / 8;
		if (worker->mean_us == 0) /* which would be: unknown */
			worker->mean_us = 1;
		worker->running[me] = NULL;
		worker->running_count--;
		rp__tasks_add(&worker->finished, task);
		wake_coordinator(worker);
	}
	pthread_mutex_unlock(&worker->lock);
	rp_close(conn);
	return NULL;
}

int
rp__threads_start(rp_worker *worker)
{
	size_t n = (size_t)worker->options.threads;
	int r = 0;

	worker->threads = calloc(n, sizeof(*worker->threads));
	worker->running = calloc(n, sizeof(*worker->running));
	if (!worker->threads || !worker->running)
		return RP_ENOMEM;
	pthread_mutex_lock(&worker->lock);
	while (worker->threads_count < n && r == 0) {
		r = pthread_create(&worker->threads[worker->threads_count],
				   NULL, serve, worker);
		worker->threads_count += r == 0;
	}
	pthread_mutex_unlock(&worker->lock);
	return r == 0 ? 0 : RP_ENOMEM;
}

void
rp__threads_join(rp_worker *worker)
{
	pthread_mutex_lock(&worker->lock);
	worker->closing = 1;
	pthread_cond_broadcast(&worker->work);
	pthread_mutex_unlock(&worker->lock);
	for (size_t i = 0; i < worker->threads_count; i++)
		pthread_join(worker->threads[i], NULL);
	worker->threads_count = 0;
	worker->closing = 0;
	free(worker->threads);
	free(worker->running);
	worker->threads = NULL;
	worker->running = NULL;
}

/* Is this the thread that runs the task's handler? */
int
rp__task_enter(const rp_task *task)
{
	return task && task->thread == rp__thread() ? 0 : RP_EINVAL;
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

/* Under the worker's lock, as its own renewals: the lease that was asked for
 * last is the one that holds. */
static int
extend(rp_task *task, int64_t lease_ms)
{
	int64_t asked = rp__monotonic_ms();
	rp_verdict v = RP_VERDICT_INIT;
	int r;

	v.id = task->job->id;
	v.claim_no = task->job->claim_no;
	v.verdict = RP_EXTEND;
	v.delay_ms = lease_ms;
	pthread_mutex_lock(&task->worker->lock);
	r = rp__settle_unblocked(*task->conn, &v, 1);
	if (r >= 0)
		r = v.result;
	if (r == 0) {
		task->lease_ms = lease_ms;
		task->leased_at = asked;
	}
	pthread_mutex_unlock(&task->worker->lock);
	if (r == RP_EGONE || r == RP_ECANCELLED)
		atomic_store(&task->fate,
			     r == RP_EGONE ? RP_TASK_LOST : RP_TASK_CANCELLED);
	return r;
}

int
rp_task_extend(rp_task *task, int64_t lease_ms)
{
	if (rp__task_enter(task) < 0 || task->begun ||
	    atomic_load(&task->done) || lease_ms < 1 || lease_ms > RP_MOST_MS)
		return RP_EINVAL;
	if (!*task->conn) {
		int r = rp_open(task->worker->url, NULL, task->conn, NULL);

		if (r < 0)
			return r;
	}
	return extend(task, lease_ms);
}

int
rp_task_state(const rp_task *task)
{
	int fate;

	if (!task)
		return RP_EINVAL;
	fate = atomic_load(&task->fate);
	if (fate != RP_TASK_RUNNING)
		return fate;
	return atomic_load(&task->worker->stopping) ? RP_TASK_STOPPING
						    : RP_TASK_RUNNING;
}
