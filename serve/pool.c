/*
 * pool.c - the threads that use the database, each with a handle of its own.
 *
 * Several readers take one request at a time. One writer takes all requests
 * that came during its last commit, and joins their writes into the next
 * commit. So many clients that each send one job at a time get the speed of
 * batches.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "serve.h"

#include <string.h>
#include <time.h>

#include "internal.h"
#include "writes.h"

/* Wake the first of these threads that waits. So the last readers wait most of
 * the time, and the first ones find what they need in the caches of their
 * connections. */
static void
wake_one(struct member_of_pool *members, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (!members[i].waits)
			continue;
		members[i].waits = 0;
		pthread_cond_signal(&members[i].given);
		return;
	}
}

void
pool_give(struct server *server, struct request *request, enum thread thread)
{
	struct list one = { 0 };

	list_add(&one, request);
	pool_give_all(server, &one, thread);
}

void
pool_give_all(struct server *server, struct list *requests, enum thread thread)
{
	struct pool *pool = &server->pool;
	int writes = thread == THREAD_WRITER;
	struct request *request;

	pool->given += requests->count;
	pthread_mutex_lock(&pool->lock);
	while ((request = list_take(requests))) {
		list_add(writes ? &pool->writes : &pool->reads, request);
		if (writes)
			wake_one(pool->members, 1);
		else
			wake_one(&pool->members[1], READERS);
	}
	pthread_mutex_unlock(&pool->lock);
}

/* The most bytes in the bodies of the requests of one commit, except if one
 * request alone has more. All jobs of a commit are in memory several times, and
 * all its requests wait until it is on the disk. */
#define MOST_BYTES ((size_t)8 << 20)

/* Wait for a request. The counts of the finished jobs (see lib/tally.c) are
 * written when they are due, even if no request comes. */
static void
wait_for_request(struct member_of_pool *me)
{
	pthread_mutex_t *lock = &me->server->pool.lock;
	int64_t ms = rp__tally_due_in(me->conn);
	int64_t end = rp__monotonic_ms() + ms;
	struct timespec until = { end / 1000, end % 1000 * 1000000 };

	if (ms < 0) {
		pthread_cond_wait(&me->given, lock);
		return;
	}
	if (pthread_cond_timedwait(&me->given, lock, &until) == 0)
		return;
	pthread_mutex_unlock(lock);
	rp__tally_write(me->conn);
	pthread_mutex_lock(lock);
}

/* Take up to `most` requests, with MOST_BYTES at most. Returns 0 if the thread
 * has to end. */
static size_t
take(struct member_of_pool *me, struct list *list, struct request **ret,
     size_t most)
{
	struct pool *pool = &me->server->pool;
	size_t n = 0, bytes = 0;

	pthread_mutex_lock(&pool->lock);
	while (!list->first && !pool->stops) {
		me->waits = 1;
		wait_for_request(me);
	}
	me->waits = 0;
	while (n < most && list->first) {
		bytes += list->first->body_size;
		if (n && bytes > MOST_BYTES)
			break;
		ret[n++] = list_take(list);
	}
	pthread_mutex_unlock(&pool->lock);
	return n;
}

int
pool_renew(const struct server *server, rp_conn **conn)
{
	rp_conn *renewed;
	rp_error ignored;

	if (!rp__is_replaced(*conn) ||
	    open_database(server->options->url, RP_SCHEMA_REQUIRE, &renewed,
			  &ignored) < 0)
		return 0;
	rp_close(*conn);
	*conn = renewed;
	return 1;
}

static void *
read_all(void *ctx)
{
	struct member_of_pool *me = ctx;
	struct server *server = me->server;
	struct request *request;

	while (take(me, &server->pool.reads, &request, 1)) {
		pool_renew(server, &me->conn);
		request->run(request, me->conn);
		server_done(server, &request, 1);
	}
	return NULL;
}

/* How long each of several requests waits for a locked row, in milliseconds.
 * They have waited RP_LOCK_WAIT_MS together before, and now one after the
 * other, while all later requests wait for them. */
#define WAIT_AGAIN_MS 10

static void
write_each(struct member_of_pool *me, struct request **asked, size_t n)
{
	rp_error ignored;

	rp__limit_waits(me->conn, WAIT_AGAIN_MS, &ignored);
	for (size_t i = 0; i < n; i++) {
		writes_run(me->server, me->conn, &asked[i], 1);
		server_done(me->server, &asked[i], 1);
	}
	rp__limit_waits(me->conn, RP_LOCK_WAIT_MS, &ignored);
}

static void
write_some(struct member_of_pool *me, struct request **asked, size_t n)
{
	if (writes_run(me->server, me->conn, asked, n) == 0)
		server_done(me->server, asked, n);
	else
		write_each(me, asked, n);
}

static void *
write_all(void *ctx)
{
	struct member_of_pool *me = ctx;
	struct request *asked[MOST_IN_COMMIT];
	size_t n;

	while ((n = take(me, &me->server->pool.writes, asked,
			 MOST_IN_COMMIT))) {
		if (pool_renew(me->server, &me->conn))
			clients_clear(&me->server->clients);
		write_some(me, asked, n);
	}
	return NULL;
}

int
pool_start(struct server *server)
{
	struct pool *pool = &server->pool;
	pthread_condattr_t monotonic;

	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	for (size_t i = 0; i < THREADS; i++)
		pthread_cond_init(&pool->members[i].given, &monotonic);
	pthread_condattr_destroy(&monotonic);
	pthread_mutex_init(&pool->lock, NULL);
	pool->is_made = 1;
	for (size_t i = 0; i < THREADS; i++) {
		struct member_of_pool *me = &pool->members[i];
		rp_error error;
		int r = open_database(server->options->url,
				      server->options->read_only
					      ? RP_SCHEMA_REQUIRE
					      : RP_SCHEMA_CREATE,
				      &me->conn, &error);

		if (r == 0)
			r = rp__limit_waits(me->conn, RP_LOCK_WAIT_MS, &error);
		if (r < 0)
			return not_opened(server->options->url, r, &error);
		me->server = server;
		if (pthread_create(&me->thread, NULL,
				   i == 0 ? write_all : read_all, me) != 0)
			return complain(FAILED, "cannot start a thread");
		me->runs = 1;
	}
	return 0;
}

void
pool_stop(struct server *server)
{
	struct pool *pool = &server->pool;

	if (!pool->is_made)
		return;
	pthread_mutex_lock(&pool->lock);
	pool->stops = 1;
	for (size_t i = 0; i < THREADS; i++)
		if (pool->members[i].runs)
			pthread_cond_signal(&pool->members[i].given);
	pthread_mutex_unlock(&pool->lock);
	for (size_t i = 0; i < THREADS; i++)
		if (pool->members[i].runs)
			pthread_join(pool->members[i].thread, NULL);
}

void
pool_close(struct server *server)
{
	struct pool *pool = &server->pool;
	struct request *request;

	/* Release the claimed jobs of answers that could not be sent before the
	 * server ended. */
	while ((request = list_take(&pool->writes))) {
		writes_run(server, pool->members[0].conn, &request, 1);
		request_free(request);
	}
	clients_end(&server->clients, pool->members[0].conn);
	for (size_t i = 0; i < THREADS; i++)
		rp_close(pool->members[i].conn);
}
