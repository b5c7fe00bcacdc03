/*
 * worker.c - create, run, stop and free a worker. A worker uses one connection
 * for many handlers.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "worker.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Every public call on a worker begins with this check. Returns 0, or RP_EINVAL
 * if `w` is NULL or belongs to the parent of this forked process. A child must
 * not touch the worker of its parent: another thread of the parent may have
 * held a lock of the worker at the fork. This thread does not exist in the
 * child, so nobody would release the lock. */
int
rp__worker_enter(const rp_worker *w, rp_error *reterr)
{
	if (!w)
		return rp__fail(reterr, RP_EINVAL, "worker is NULL");
	if (w->pid != getpid())
		return rp__fail(reterr, RP_EINVAL,
				"this worker was made before fork(): make one "
				"in the child");
	return 0;
}

/* ---- creating a worker ---- */

static int
copy_options(rp_worker *w, const rp_worker_options *given, rp_error *reterr)
{
	rp_worker_options o = RP_WORKER_INIT;

	if (given)
		rp__copy_struct(&o, given, given->size, sizeof(o));
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
	if (o.drain < 0 || o.drain > RP_DRAIN_SETTLED)
		return rp__fail(reterr, RP_EINVAL,
				"unknown drain option %d: use RP_DRAIN_*",
				o.drain);
	if (o.max_jobs < 0)
		return rp__fail(reterr, RP_EINVAL, "max_jobs is negative");
	if (o.heartbeat_ms < 0 || o.heartbeat_ms > RP_MOST_MS)
		return rp__fail(reterr, RP_EINVAL,
				"heartbeat_ms is not within 0..%d days",
				RP_MOST_DAYS);
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
	w->pid = getpid();
	pthread_mutex_init(&w->observing, NULL);
	w->url = strdup(url);
	r = rp__pool_init(&w->pool);
	if (r < 0 || !w->url)
		r = rp__fail(reterr, RP_ENOMEM, "out of memory");
	else
		r = copy_options(w, options, reterr);
	if (r < 0)
		rp_worker_free(w);
	else
		*ret = w;
	return r;
}

void
rp_worker_free(rp_worker *w)
{
	if (rp__worker_enter(w, NULL) < 0)
		return;
	rp__pull_end(w);
	for (size_t i = 0; i < w->routes_count; i++) {
		free(w->routes[i].queue);
		free(w->routes[i].kind);
	}
	free(w->routes);
	rp__queues_free(w);
	rp__unsettled_free(w);
	free(w->url);
	rp__pool_destroy(&w->pool);
	pthread_mutex_destroy(&w->observing);
	free(w);
}

/* ---- the queues that it serves ---- */

static int
add_route(rp_worker *w, const char *queue, const char *kind, int is_pattern,
	  rp_handler *handler, void *ctx)
{
	struct route route = { .is_pattern = is_pattern,
			       .handler = handler,
			       .ctx = ctx };
	struct route *routes;

	if (rp__worker_enter(w, NULL) < 0 || w->pool.pulled ||
	    atomic_load(&w->runs) || rp__check_queue(NULL, queue) < 0 ||
	    (kind && rp__check_name(NULL, "the kind", kind, RP_MOST_NAME) < 0))
		return RP_EINVAL;
	routes = realloc(w->routes, (w->routes_count + 1) * sizeof(*routes));
	if (!routes)
		return RP_ENOMEM;
	w->routes = routes;
	route.queue = strdup(queue);
	route.kind = kind ? strdup(kind) : NULL;
	if (!route.queue || (kind && !route.kind)) {
		free(route.queue);
		free(route.kind);
		return RP_ENOMEM;
	}
	routes[w->routes_count++] = route;
	w->has_patterns |= is_pattern;
	w->is_list_old = 1;
	return 0;
}

int
rp_worker_handle(rp_worker *w, const char *queue, const char *kind,
		 rp_handler *handler, void *ctx)
{
	return handler ? add_route(w, queue, kind, 0, handler, ctx) : RP_EINVAL;
}

int
rp_worker_serve(rp_worker *w, const char *queue, const char *kind)
{
	return add_route(w, queue, kind, 0, NULL, NULL);
}

int
rp_worker_handle_pattern(rp_worker *w, const char *pattern, const char *kind,
			 rp_handler *handler, void *ctx)
{
	return handler ? add_route(w, pattern, kind, 1, handler, ctx)
		       : RP_EINVAL;
}

int
rp_worker_serve_pattern(rp_worker *w, const char *pattern, const char *kind)
{
	return add_route(w, pattern, kind, 1, NULL, NULL);
}

static int
route_serves(const struct route *route, const char *queue)
{
	return route->is_pattern ? rp__pattern_matches(route->queue, queue)
				 : strcmp(route->queue, queue) == 0;
}

/* Find the route for a job. is_pattern 0: search the routes that name the job's
 * queue. 1: search the routes whose pattern matches the queue. A route for the
 * job's kind is preferred to a route for all kinds. */
static const struct route *
find_route(const rp_worker *w, const rp_job *job, int is_pattern)
{
	const struct route *any = NULL;

	for (size_t i = 0; i < w->routes_count; i++) {
		const struct route *route = &w->routes[i];

		if (route->is_pattern != is_pattern ||
		    !route_serves(route, job->queue))
			continue;
		if (!route->kind)
			any = any ? any : route;
		else if (job->kind && strcmp(route->kind, job->kind) == 0)
			return route;
	}
	return any;
}

const struct route *
rp__worker_route(const rp_worker *w, const rp_job *job)
{
	const struct route *route = find_route(w, job, 0);

	return route || !w->has_patterns ? route : find_route(w, job, 1);
}

int
rp__worker_serves(const void *ctx, const char *queue)
{
	const rp_worker *w = ctx;

	for (size_t i = 0; i < w->routes_count; i++)
		if (route_serves(&w->routes[i], queue))
			return 1;
	return 0;
}

/* Check that the worker serves a queue, and that its routes fit the call: all
 * have handlers (`handlers` is 1), or none has (0). */
int
rp__worker_check_routes(const rp_worker *w, int handlers, rp_error *reterr)
{
	if (w->routes_count == 0)
		return rp__fail(reterr, RP_EINVAL,
				"the worker serves no queue: call "
				"rp_worker_handle() or rp_worker_serve() "
				"first");
	for (size_t i = 0; i < w->routes_count; i++)
		if ((w->routes[i].handler != NULL) != handlers)
			return rp__fail(
				reterr, RP_EINVAL,
				"rp_worker_run() needs queues from "
				"rp_worker_handle(), but rp_worker_next() "
				"needs queues from rp_worker_serve()");
	return 0;
}

/* ---- running ---- */

int
rp__worker_open(rp_worker *w, rp_error *reterr)
{
	rp_options options = RP_OPTIONS_INIT;
	int r;

	options.schema = w->options.schema;
	r = rp_open(w->url, &options, &w->conn, reterr);
	if (r < 0)
		return r;
	/* Sweep when this worker first looks for jobs, unless another client
	 * has swept within a second. rp_open() delays the first sweep of a
	 * handle by a second, but a worker that drains may end before that. */
	w->conn->swept_at = 0;
	for (size_t i = 0; i < w->routes_count && r == 0; i++)
		if (!w->routes[i].is_pattern &&
		    rp__queue_known(w->conn, w->routes[i].queue) < 0)
			r = rp__queue_create(w->conn, w->routes[i].queue, NULL);
	if (r == 0)
		r = rp__queues_find(w);
	r = r > 0 ? 0 : r;
	if (r == 0)
		r = rp__worker_register(w);
	if (r == 0)
		r = rp__limit_waits(w->conn, RP_LOCK_WAIT_MS, &w->conn->error);
	if (r < 0) {
		*reterr = *rp_last_error(w->conn);
		rp_close(w->conn);
		w->conn = NULL;
	}
	return r;
}

int
rp_worker_run(rp_worker *w, rp_error *reterr)
{
	rp_error error;
	int r = rp__worker_enter(w, reterr);

	if (r == 0)
		r = rp__worker_check_routes(w, 1, reterr);
	if (r < 0)
		return r;
	/* Fail if the worker is running already. A handler that calls this
	 * function for its own worker would wait for itself. */
	if (atomic_exchange(&w->runs, 1))
		return rp__fail(reterr, RP_EINVAL,
				"the worker is already running");
	r = rp__loop_run(w, &error);
	atomic_store(&w->runs, 0);
	if (r < 0 && reterr)
		*reterr = error;
	return r;
}

void
rp__observe(rp_worker *w, rp_event event)
{
	if (!w->options.observer)
		return;
	event.size = sizeof(event);
	pthread_mutex_lock(&w->observing);
	w->options.observer(&event, w->options.observer_ctx);
	pthread_mutex_unlock(&w->observing);
}

void
rp_worker_stop(rp_worker *w)
{
	const uint64_t one = 1;
	ssize_t written;

	if (rp__worker_enter(w, NULL) < 0)
		return;
	atomic_store(&w->stopping, 1);
	written = write(w->pool.wake_fd, &one, sizeof(one));
	(void)written; /* this fails only if the eventfd's counter is full, and
			* in that case the coordinator has been woken already */
}

int
rp_worker_counts_get(const rp_worker *w, rp_worker_counts *ret)
{
	rp_worker_counts counts;

	if (rp__worker_enter(w, NULL) < 0 || !ret ||
	    ret->size < offsetof(rp_worker_counts, claimed))
		return RP_EINVAL;
	counts = (rp_worker_counts){ .size = ret->size,
				     .claimed = w->counts.claimed,
				     .done = w->counts.done,
				     .failed = w->counts.failed,
				     .dead = w->counts.dead,
				     .released = w->counts.released,
				     .lost = w->counts.lost,
				     .cancelled = w->counts.cancelled };
	rp__copy_struct(ret, &counts, ret->size, sizeof(counts));
	return 0;
}
