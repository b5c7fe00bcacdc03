/*
 * pool.c - the tasks that wait, run or are finished, and the threads that run
 * handlers.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "worker.h"

#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

/* ---- lists ---- */

void
rp__tasks_append(struct tasks *tasks, const struct tasks *more)
{
	if (!more->first)
		return;
	if (tasks->last)
		tasks->last->next = more->first;
	else
		tasks->first = more->first;
	tasks->last = more->last;
	tasks->count += more->count;
}

void
rp__tasks_add(struct tasks *tasks, rp_task *task)
{
	task->next = NULL;
	rp__tasks_append(tasks, &(struct tasks){ task, task, 1 });
}

void
rp__tasks_free(struct tasks *tasks)
{
	for (rp_task *task = tasks->first, *next; task; task = next) {
		next = task->next;
		rp__task_free(task);
	}
	*tasks = NO_TASKS;
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

/* ---- the pool ---- */

int
rp__pool_init(struct pool *pool)
{
	pthread_condattr_t monotonic;

	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_mutex_init(&pool->lock, NULL);
	pthread_cond_init(&pool->changed, &monotonic);
	pthread_cond_init(&pool->renewed, NULL);
	pthread_condattr_destroy(&monotonic);
	pool->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	/* The descriptor is readable from the start, so that the program makes
	 * its first call of rp_worker_next(). */
	pool->fd = eventfd(1, EFD_CLOEXEC | EFD_NONBLOCK);
	pool->fd_is_set = 1;
	return pool->wake_fd < 0 || pool->fd < 0 ? RP_ENOMEM : 0;
}

void
rp__pool_destroy(struct pool *pool)
{
	rp__pool_close(pool);
	free(pool->tallies.items);
	if (pool->wake_fd >= 0)
		close(pool->wake_fd);
	if (pool->fd >= 0)
		close(pool->fd);
	pthread_cond_destroy(&pool->renewed);
	pthread_cond_destroy(&pool->changed);
	pthread_mutex_destroy(&pool->lock);
}

/* Allocate `slots` slots. A slot holds one running task and its connection. */
int
rp__pool_open(struct pool *pool, size_t slots)
{
	pool->running = calloc(slots, sizeof(*pool->running));
	pool->conns = calloc(slots, sizeof(*pool->conns));
	if (!pool->running || !pool->conns) {
		rp__pool_close(pool);
		return RP_ENOMEM;
	}
	pool->slots = slots;
	return 0;
}

void
rp__pool_close(struct pool *pool)
{
	for (size_t i = 0; i < pool->slots; i++)
		rp_close(pool->conns[i]);
	free(pool->running);
	free(pool->conns);
	pool->running = NULL;
	pool->conns = NULL;
	pool->slots = 0;
}

/* Make pool->fd readable if rp_worker_next() has something to return, otherwise
 * not readable. A program may poll this descriptor. The caller holds the pool's
 * lock. */
void
rp__pool_set_fd(struct pool *pool)
{
	int is_due = pool->ended || pool->absent ||
		     (pool->todo.first && pool->running_count < pool->slots);
	uint64_t n = 1;
	ssize_t size = 0;

	if (!pool->pulled || is_due == pool->fd_is_set)
		return;
	size = is_due ? write(pool->fd, &n, sizeof(n))
		      : read(pool->fd, &n, sizeof(n));
	if (size == sizeof(n))
		pool->fd_is_set = is_due;
}

void
rp__pool_wake_coordinator(struct pool *pool)
{
	const uint64_t one = 1;

	if (pool->coordinator_waits &&
	    write(pool->wake_fd, &one, sizeof(one)) == sizeof(one))
		pool->coordinator_waits = 0;
}

/* Append the tasks of a claim to `todo`, the list of tasks that wait for a
 * thread. */
void
rp__pool_add(struct pool *pool, struct fetch *fetch, size_t n)
{
	pthread_mutex_lock(&pool->lock);
	for (size_t i = 0; i < n; i++)
		rp__tasks_add(&pool->todo, &fetch->tasks[i]);
	if (n == 1)
		pthread_cond_signal(&pool->changed);
	else
		pthread_cond_broadcast(&pool->changed);
	rp__pool_set_fd(pool);
	pthread_mutex_unlock(&pool->lock);
}

/* ---- starting and finishing a task ---- */

/* Returns 1 if the task's lease ran out before a thread could start it. That
 * happens if the process was stopped for a while, or if the claim was answered
 * late. Returns 0 for a task that a thread starts as soon as the claim is
 * answered: if each answer takes longer than the lease, the worker would
 * otherwise start no task at all. */
static int
is_over(const rp_task *task)
{
	int64_t now = rp__monotonic_ms();

	return now >= task->leased_at + task->lease_ms &&
	       (task->prefetched || now - task->fetched_at >= AHEAD_MS);
}

/* Take the next task whose lease is still valid. Release a task whose lease is
 * over. If another worker has claimed its job by then, the database refuses the
 * release. */
static rp_task *
next_task(struct pool *pool)
{
	while (pool->todo.first) {
		rp_task *task = take_first(&pool->todo);

		if (!is_over(task))
			return task;
		task->verdict = RP_RELEASE;
		rp__tasks_add(&pool->finished, task);
		rp__pool_wake_coordinator(pool);
	}
	return NULL;
}

/* Start the next task: put it into a free slot. A worker has as many slots as
 * tasks may run at the same time. Returns NULL if no task waits or no slot is
 * free. The caller holds the pool's lock. */
rp_task *
rp__pool_start_task(rp_worker *worker)
{
	struct pool *pool = &worker->pool;
	rp_task *task;
	size_t slot = 0;

	while (slot < pool->slots && pool->running[slot])
		slot++;
	task = slot < pool->slots ? next_task(pool) : NULL;
	if (!task)
		return NULL;
	task->started_us = pool->started_us = rp__monotonic_us();
	task->conn = &pool->conns[slot];
	pool->running[slot] = task;
	pool->running_count++;
	return task;
}

/* Move the counts of the slot's connection to the pool, because nothing writes
 * them before the slot settles another job. After the coordinator has ended,
 * the connection keeps them, and writes them when it is closed. So does a
 * connection on which the handler has left a transaction open. */
static void
move_tallies(struct pool *pool, rp_conn *conn)
{
	if (conn && conn->depth == 0 && !pool->ended)
		rp__tally_move(&conn->tallies, &pool->tallies);
}

/* Remove a task from its slot and add it to the list of finished tasks. Its
 * verdict is already set. The caller holds the pool's lock. */
void
rp__pool_end_task(struct pool *pool, rp_task *task)
{
	size_t slot = 0;

	while (pool->running[slot] != task)
		slot++;
	task->took_us = rp__monotonic_us() - task->started_us;
	if (pool->mean_us == 0) /* 0 means unknown */
		pool->mean_us = task->took_us;
	else
		pool->mean_us += (task->took_us - pool->mean_us) / 8;
	if (pool->mean_us == 0)
		pool->mean_us = 1;
	move_tallies(pool, pool->conns[slot]);
	pool->running[slot] = NULL;
	pool->running_count--;
	rp__tasks_add(&pool->finished, task);
	rp__pool_wake_coordinator(pool);
}

/* ---- the threads ---- */

static void
handle(rp_task *task)
{
	const struct route *route = rp__worker_route(task->worker, task->job);
	const struct rp_handling handling = {
		.id = task->job->id,
		.claim_no = task->job->claim_no,
		.queue = task->job->queue,
		.serves = task->worker->options.threads == 1 ? rp__worker_serves
							     : NULL,
		.ctx = task->worker,
	};
	int verdict = RP_RELEASE;

	rp__task_begin_handling(task, rp__thread());
	rp__set_handling(&handling);
	if (route)
		verdict = route->handler(task, task->job, route->ctx);
	else
		task->delay_ms = NO_HANDLER_MS;
	rp__set_handling(NULL);
	if (verdict < RP_DONE || verdict > RP_RELEASE)
		verdict = RP_FAIL;
	rp__task_end_handling(task, verdict);
}

/* The main function of a thread that runs handlers. */
static void *
serve(void *arg)
{
	rp_worker *worker = arg;
	struct pool *pool = &worker->pool;
	rp_task *task;

	pthread_mutex_lock(&pool->lock);
	for (;;) {
		task = NULL;
		while (!pool->ended && !(task = rp__pool_start_task(worker)))
			pthread_cond_wait(&pool->changed, &pool->lock);
		if (!task)
			break;
		pthread_mutex_unlock(&pool->lock);
		handle(task);
		pthread_mutex_lock(&pool->lock);
		rp__pool_end_task(pool, task);
	}
	pthread_mutex_unlock(&pool->lock);
	return NULL;
}

int
rp__pool_start_threads(rp_worker *worker)
{
	struct pool *pool = &worker->pool;
	size_t n = (size_t)worker->options.threads;
	int r = rp__pool_open(pool, n);

	if (r < 0)
		return r;
	pool->threads = calloc(n, sizeof(*pool->threads));
	if (!pool->threads)
		return RP_ENOMEM;
	while (pool->threads_count < n && r == 0) {
		r = pthread_create(&pool->threads[pool->threads_count], NULL,
				   serve, worker);
		pool->threads_count += r == 0;
	}
	return r == 0 ? 0 : RP_ENOMEM;
}

void
rp__pool_join_threads(rp_worker *worker)
{
	struct pool *pool = &worker->pool;

	pthread_mutex_lock(&pool->lock);
	pool->ended = 1;
	pthread_cond_broadcast(&pool->changed);
	pthread_mutex_unlock(&pool->lock);
	for (size_t i = 0; i < pool->threads_count; i++)
		pthread_join(pool->threads[i], NULL);
	pool->threads_count = 0;
	pool->ended = 0;
	free(pool->threads);
	pool->threads = NULL;
	rp__pool_close(pool);
}
