/*
 * pull.c - give tasks one by one to a program that has no handlers, such as a
 * binding for another language, or a program with an event loop of its own.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 *
 * The first rp_worker_next() starts the coordinator in a thread. This thread
 * does all that rp_worker_run() does except running handlers: it claims, renews
 * and settles.
 */
#include "worker.h"

#include <time.h>

/* ---- the coordinator ---- */

static void *
coordinate(void *arg)
{
	rp_worker *w = arg;
	rp_error error;
	int r = rp__loop_run(w, &error);

	pthread_mutex_lock(&w->pool.lock);
	w->pool.result = r;
	if (r < 0)
		w->pool.error = error;
	w->pool.ended = 1;
	rp__pool_set_fd(&w->pool);
	pthread_cond_broadcast(&w->pool.changed);
	pthread_mutex_unlock(&w->pool.lock);
	return NULL;
}

/* Start the coordinator. The caller holds the pool's lock. */
static int
start(rp_worker *w, rp_error *reterr)
{
	struct pool *pool = &w->pool;
	int r = rp__worker_check_routes(w, 0, reterr);

	if (r < 0)
		return r;
	r = rp__pool_open(pool, (size_t)w->options.threads);
	if (r < 0)
		return rp__fail(reterr, r, "out of memory");
	pool->pulled = 1;
	if (pthread_create(&w->coordinator, NULL, coordinate, w) != 0) {
		pool->pulled = 0;
		rp__pool_close(pool);
		return rp__fail(reterr, RP_ENOMEM,
				"the worker's thread cannot be started: out of "
				"memory or too many threads");
	}
	rp__pool_set_fd(pool);
	return 0;
}

/* ---- pulling ---- */

/* Start the next task whose kind the program serves. Release tasks of other
 * kinds, so that other workers can run them. The caller holds the pool's
 * lock. */
static rp_task *
start_task(rp_worker *w)
{
	rp_task *task;

	while ((task = rp__pool_start_task(w))) {
		if (rp__worker_route(w, task->job))
			return task;
		task->verdict = RP_RELEASE;
		task->delay_ms = NO_HANDLER_MS;
		rp__pool_end_task(&w->pool, task);
	}
	return NULL;
}

static void
come_back(struct pool *pool)
{
	if (!pool->absent)
		return;
	pool->absent = 0;
	rp__pool_wake_coordinator(pool);
}

/* Wait for a task and start it. The caller holds the pool's lock, which is not
 * held during the wait itself. Returns NULL if the time is over or no more
 * tasks will come. */
static rp_task *
wait_for_task(rp_worker *w, int64_t timeout_ms)
{
	struct pool *pool = &w->pool;
	int64_t end = rp__monotonic_ms() + timeout_ms;
	struct timespec until = { end / 1000, end % 1000 * 1000000 };
	rp_task *task;

	for (;;) {
		come_back(pool);
		task = start_task(w);
		if (task || pool->ended ||
		    (timeout_ms >= 0 && rp__monotonic_ms() >= end))
			break;
		if (timeout_ms < 0)
			pthread_cond_wait(&pool->changed, &pool->lock);
		else
			pthread_cond_timedwait(&pool->changed, &pool->lock,
					       &until);
	}
	rp__pool_set_fd(pool);
	return task;
}

static int
check_next(const rp_worker *w, int64_t timeout_ms, rp_error *reterr)
{
	int r = rp__worker_enter(w, reterr);

	if (r < 0)
		return r;
	if (timeout_ms < -1 || timeout_ms > RP_MOST_MS)
		return rp__fail(reterr, RP_EINVAL,
				"the timeout is neither -1 nor within 0..%d "
				"days",
				RP_MOST_DAYS);
	return 0;
}

int
rp_worker_next(rp_worker *w, int64_t timeout_ms, rp_task **ret,
	       rp_error *reterr)
{
	rp_task *task = NULL;
	int r;

	if (!ret)
		return rp__fail(reterr, RP_EINVAL, "ret is NULL");
	r = check_next(w, timeout_ms, reterr);
	if (r < 0)
		return r;
	pthread_mutex_lock(&w->pool.lock);
	if (!w->pool.pulled)
		r = start(w, reterr);
	if (r == 0)
		task = wait_for_task(w, timeout_ms);
	if (r == 0 && !task && w->pool.ended) {
		r = w->pool.result < 0 ? w->pool.result : RP_NEXT_END;
		if (r < 0 && reterr)
			*reterr = w->pool.error;
	}
	pthread_mutex_unlock(&w->pool.lock);
	if (!task)
		return r;
	rp__task_begin_handling(task, NULL);
	*ret = task;
	return RP_NEXT_TASK;
}

int
rp_task_finish(rp_task *task, int verdict)
{
	struct pool *pool;
	int r;

	if (!task || verdict < RP_DONE || verdict > RP_RELEASE ||
	    rp__worker_enter(task->worker, NULL) < 0 || task->thread)
		return RP_EINVAL;
	pool = &task->worker->pool;
	r = rp__task_end_handling(task, verdict);
	if (r < 0)
		return r;
	r = rp__task_loss(task);
	pthread_mutex_lock(&pool->lock);
	if (pool->ended && pool->result < 0)
		/* RP_EINVAL would mean that the caller still has the task. */
		r = pool->result == RP_EINVAL ? RP_EDB : pool->result;
	rp__pool_end_task(pool, task);
	rp__pool_set_fd(pool);
	if (pool->todo.first)
		pthread_cond_signal(&pool->changed);
	pthread_mutex_unlock(&pool->lock);
	return r;
}

int
rp_worker_fd(const rp_worker *w)
{
	return rp__worker_enter(w, NULL) < 0 ? RP_EINVAL : w->pool.fd;
}

/* ---- ending ---- */

/* Roll back the transactions of the tasks that the program has not finished. No
 * other thread starts or finishes tasks now, so the slots do not change. The
 * pool's lock is not held, because rp_close() calls the database. */
static void
close_begun(struct pool *pool)
{
	for (size_t i = 0; i < pool->slots; i++) {
		if (!pool->running[i] || !pool->running[i]->begun)
			continue;
		rp_close(pool->conns[i]);
		pool->conns[i] = NULL;
	}
}

/* Release the tasks that the program has not finished, stop the coordinator,
 * and wait until the tasks are settled. */
void
rp__pull_end(rp_worker *w)
{
	struct pool *pool = &w->pool;

	if (!pool->pulled)
		return;
	close_begun(pool);
	pthread_mutex_lock(&pool->lock);
	for (size_t i = 0; i < pool->slots; i++) {
		rp_task *task = pool->running[i];

		if (!task)
			continue;
		task->verdict = RP_RELEASE;
		task->delay_ms = -1;
		rp__pool_end_task(pool, task);
	}
	pthread_mutex_unlock(&pool->lock);
	rp_worker_stop(w);
	pthread_join(w->coordinator, NULL);
	rp__tasks_free(&pool->finished);
}
