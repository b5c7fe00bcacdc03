/*
 * worker.c - the worker: one connection for many handlers.
 *
 * The thread that calls rp_worker_run() is the coordinator. It alone talks to
 * the database, and it clocks itself: whatever has finished while its last
 * turn was under way is settled in the next one, which also claims what the
 * handlers will start within the next 50 ms, going by how fast they have been.
 * So a slow queue is fetched one by one and a fast one in large commits, and
 * there is no timer that anybody waits for.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "worker.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define STUCK_MS 500
#define MOST_TRIES_AT_THE_END 50 /* for some ten seconds */

/* ---- making one ---- */

static int
copy_options(rp_worker *w, const rp_worker_options *given, rp_error *reterr)
{
	rp_worker_options o = RP_WORKER_INIT;

	if (given)
		memcpy(&o, given,
		       given->size < sizeof(o) ? given->size : sizeof(o));
	if (o.threads == 0)
		o.threads = 1;
	if (o.threads < 0 || o.threads > RP_MOST_THREADS)
		return rp__fail(reterr, RP_EINVAL,
				"threads: %d is not within 1..%d", o.threads,
				RP_MOST_THREADS);
	if (o.lease_ms < 0 || o.lease_ms > RP_MOST_MS)
		return rp__fail(reterr, RP_EINVAL,
				"the lease is not within 1 ms..%d days",
				RP_MOST_DAYS);
	if (o.max_jobs < 0)
		return rp__fail(reterr, RP_EINVAL, "max_jobs is negative");
	if (o.name && rp__check_name(reterr, "the worker's name", o.name,
				     RP_MOST_WORKER) < 0)
		return RP_EINVAL;
	gethostname(w->host, sizeof(w->host) - 1);
	if (o.name)
		snprintf(w->name, sizeof(w->name), "%s", o.name);
	else
		snprintf(w->name, sizeof(w->name), "%s:%ld", w->host,
			 (long)getpid());
	w->options = o;
	return 0;
}

int
rp_worker_new(const char *url, const rp_worker_options *options,
	      rp_worker **ret, rp_error *reterr)
{
	rp_worker *w;
	int r;

	if (!url || !ret)
		return rp__fail(reterr, RP_EINVAL, "url or ret is NULL");
	w = calloc(1, sizeof(*w));
	if (!w)
		return rp__fail(reterr, RP_ENOMEM, "out of memory");
	pthread_mutex_init(&w->lock, NULL);
	pthread_mutex_init(&w->observing, NULL);
	pthread_cond_init(&w->work, NULL);
	w->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	w->url = strdup(url);
	w->queues = calloc(1, sizeof(*w->queues));
	r = copy_options(w, options, reterr);
	if (r == 0 && (w->wake_fd < 0 || !w->url || !w->queues))
		r = rp__fail(reterr, RP_ENOMEM, "out of memory");
	if (r < 0)
		rp_worker_free(w);
	else
		*ret = w;
	return r;
}

void
rp_worker_free(rp_worker *w)
{
	if (!w)
		return;
	for (size_t i = 0; i < w->routes_count; i++) {
		free(w->routes[i].queue);
		free(w->routes[i].kind);
	}
	free(w->routes);
	free(w->queues);
	free(w->url);
	if (w->wake_fd >= 0)
		close(w->wake_fd);
	pthread_cond_destroy(&w->work);
	pthread_mutex_destroy(&w->observing);
	pthread_mutex_destroy(&w->lock);
	free(w);
}

/* The queue, if it is a new one, to the end of the list. */
static int
add_queue(rp_worker *w, const char *queue)
{
	const char **queues;

	for (size_t i = 0; i < w->queues_count; i++)
		if (strcmp(w->queues[i], queue) == 0)
			return 0;
	queues = realloc(w->queues, (w->queues_count + 2) * sizeof(*queues));
	if (!queues)
		return RP_ENOMEM;
	w->queues = queues;
	queues[w->queues_count++] = queue;
	queues[w->queues_count] = NULL;
	return 0;
}

int
rp_worker_handle(rp_worker *w, const char *queue, const char *kind,
		 rp_handler *handler, void *ctx)
{
	struct route route = { NULL, NULL, handler, ctx };
	struct route *routes;

	if (!w || !handler ||
	    rp__check_name(NULL, "the queue's name", queue, RP_MOST_NAME) < 0 ||
	    (kind && rp__check_name(NULL, "the kind", kind, RP_MOST_NAME) < 0))
		return RP_EINVAL;
	routes = realloc(w->routes, (w->routes_count + 1) * sizeof(*routes));
	if (!routes)
		return RP_ENOMEM;
	w->routes = routes;
	route.queue = strdup(queue);
	route.kind = kind ? strdup(kind) : NULL;
	if (!route.queue || (kind && !route.kind) ||
	    add_queue(w, route.queue) < 0) {
		free(route.queue);
		free(route.kind);
		return RP_ENOMEM;
	}
	routes[w->routes_count++] = route;
	return 0;
}

void
rp_worker_stop(rp_worker *w)
{
	const uint64_t one = 1;
	ssize_t written;

	if (!w)
		return;
	atomic_store(&w->stopping, 1);
	written = write(w->wake_fd, &one, sizeof(one));
	(void)written; /* full means: it is awake already */
}

rp_worker_counts
rp_worker_counts_get(const rp_worker *w)
{
	return w->counts;
}

/* ---- sleeping ---- */

static int64_t
sooner(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* For how long nothing has to be done, if nothing happens. */
static int64_t
nap_ms(rp_worker *w)
{
	int64_t now = rp__monotonic_ms();
	int64_t at = w->looked_at + w->next_look_ms;
	int64_t lives = rp__alone_lives_in_ms(&w->alone);

	if (lives >= 0)
		at = sooner(at, now + lives);
	if (w->blocked.count)
		at = sooner(at, w->unblock_at);
	pthread_mutex_lock(&w->lock);
	for (size_t i = 0; i < w->threads_count; i++)
		if (w->running[i])
			at = sooner(at, rp__task_renew_at(w->running[i]));
	for (const rp_task *task = w->todo.first; task; task = task->next)
		at = sooner(at, rp__task_renew_at(task));
	pthread_mutex_unlock(&w->lock);
	return at > now ? at - now : 0;
}

/* Sleep until a task is finished, somebody commits (if we are hungry), or it is
 * time for the housekeeping. */
static int
sleep_until_news(rp_worker *w)
{
	struct pollfd wake = { .fd = w->wake_fd, .events = POLLIN };
	int64_t nap = nap_ms(w), rest;
	size_t holding, ahead, want = rp__worker_appetite(w, &holding, &ahead);
	uint64_t ignored;
	int r = 0;

	pthread_mutex_lock(&w->lock);
	w->asleep = !w->finished.first;
	if (!w->asleep)
		nap = 0;
	pthread_mutex_unlock(&w->lock);
	if (nap > 0 && want > 0)
		r = w->conn->backend->wait(
			w->conn->db,
			&(struct rp_sleeper){ w->conn->worker_id, w->queues },
			nap, w->wake_fd, &w->conn->error);
	else if (nap > 0)
		poll(&wake, 1, (int)nap);
	rest = w->rest_until - rp__monotonic_us();
	if (r > 0 && rest > 0)
		poll(&wake, 1, (int)(rest / 1000));
	pthread_mutex_lock(&w->lock);
	w->asleep = 0;
	pthread_mutex_unlock(&w->lock);
	if (read(w->wake_fd, &ignored, sizeof(ignored)) < 0)
		ignored = 0; /* nobody woke us */
	if (r > 0)
		w->next_look_ms = 0;
	return r < 0 ? rp__worker_trouble(w, r) : 0;
}

/* ---- the loop ---- */

/* Nothing is held and nothing is to be settled: is it the end? The draining
 * worker takes one look, in one transaction. */
static int
at_the_end(rp_worker *w, int *ret_r)
{
	struct rp_look there;

	if (w->blocked.count)
		return atomic_load(&w->stopping) &&
		       w->unblock_tries >= MOST_TRIES_AT_THE_END;
	if (rp__worker_ending(w))
		return 1;
	if (!w->options.drain || w->maybe_ready)
		return 0;
	*ret_r = rp__worker_look(w, &there);
	return *ret_r == 0 && w->troubles == 0 && !there.ready &&
	       !there.running && there.due_in_ms != 0;
}

/* Nothing was started for so long that what waits behind it is better given
 * back: some other worker may be free. */
static int
stuck(rp_worker *w)
{
	int answer;

	pthread_mutex_lock(&w->lock);
	answer = w->todo.count > 0 &&
		 rp__monotonic_us() - w->started_us > STUCK_MS * 1000;
	pthread_mutex_unlock(&w->lock);
	return answer;
}

static int
step(rp_worker *w, struct tasks *finished)
{
	struct rp_look there;
	int64_t now = rp__monotonic_ms();
	int r;

	if (atomic_load(&w->stopping) || stuck(w))
		rp__worker_take_unstarted(w, finished);
	r = rp__worker_give_back_lost(w, finished);
	if (r == 0)
		r = rp__worker_renew(w);
	rp__worker_take_finished(w, finished);
	if (r == 0)
		r = rp__worker_settle_blocked(w);
	if (r == 0)
		r = rp__worker_turn(w, finished);
	if (r == 0 && now - w->looked_at >= w->next_look_ms)
		r = rp__worker_look(w, &there);
	return r < 0 ? r : rp__worker_beat_if_due(w, now);
}

static int
work(rp_worker *w, struct tasks *finished)
{
	size_t want, holding, ahead;
	int r;

	for (;;) {
		r = step(w, finished);
		if (r < 0)
			return r;
		want = rp__worker_appetite(w, &holding, &ahead);
		rp__worker_take_finished(w, finished);
		if (finished->count || (want && w->maybe_ready))
			continue;
		if (!holding && (at_the_end(w, &r) || r < 0))
			return r;
		r = sleep_until_news(w);
		if (r < 0)
			return r;
	}
}

static int
open_conn(rp_worker *w, rp_error *reterr)
{
	int r = rp_open(w->url, NULL, &w->conn, reterr);

	if (r < 0)
		return r;
	for (size_t i = 0; i < w->queues_count && r == 0; i++)
		if (rp__queue_known(w->conn, w->queues[i]) < 0)
			r = rp__queue_create(w->conn, w->queues[i]);
	if (r == 0)
		r = rp__worker_sign_on(w);
	if (r == 0 && w->conn->backend->limit_waits)
		r = w->conn->backend->limit_waits(w->conn->db, &w->conn->error);
	if (r < 0) {
		*reterr = *rp_last_error(w->conn);
		rp_close(w->conn);
		w->conn = NULL;
	}
	return r;
}

static void
free_tasks(struct tasks *tasks)
{
	for (rp_task *task = tasks->first, *next; task; task = next) {
		next = task->next;
		rp__task_free(task);
	}
	*tasks = (struct tasks){ NULL, NULL, 0 };
}

/* After a failure: what is still held is left to its lease. */
static void
forget_all(rp_worker *w, struct tasks *finished)
{
	rp__worker_take_unstarted(w, finished);
	rp__worker_take_finished(w, finished);
	free_tasks(finished);
	free_tasks(&w->blocked);
}

int
rp_worker_run(rp_worker *w, rp_error *reterr)
{
	struct tasks finished = { NULL, NULL, 0 };
	rp_error error;
	int r;

	if (!w || w->queues_count == 0)
		return rp__fail(reterr, RP_EINVAL,
				"a worker needs a handler for some queue");
	r = open_conn(w, &error);
	if (r == 0) {
		w->maybe_ready = 1;
		w->beat_at = rp__monotonic_ms();
		r = rp__threads_start(w);
		if (r < 0)
			rp__fail(&w->conn->error, r, "no more threads");
		else
			r = work(w, &finished);
		error = *rp_last_error(w->conn);
		rp__threads_join(w);
		forget_all(w, &finished);
		if (r == 0)
			rp__worker_beat(w, RP_V_WORKER_STOP);
		rp_close(w->conn);
		w->conn = NULL;
	}
	if (r < 0 && reterr)
		*reterr = error;
	return r;
}
