/*
 * outcome.c - requests that wait for the end of a job. One thread waits for all
 * of these jobs.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "serve.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define WAIT_MS 10000 /* longest wait in one call of rp_job_wait(), in ms */
/* After wait_all() has reported ids of jobs to the loop, it pauses for up to
 * this time, in ms. */
#define REST_MS 1000

/* Give the thread of wait_all(), if it runs, the ids of all jobs whose end a
 * request waits for. The thread then waits for these jobs, and no longer for
 * earlier ones. */
static void
tell_waiter(struct server *server)
{
	struct outcomes *o = &server->outcomes;
	int64_t *ids;
	size_t n = 0;

	if (!o->runs)
		return;
	ids = calloc(o->waiting.count + 1, sizeof(*ids));
	for (const struct request *r = o->waiting.first; r && ids; r = r->next)
		ids[n++] = r->id;
	pthread_mutex_lock(&o->lock);
	free(o->ids);
	o->ids = ids;
	o->count = n;
	o->is_changed = 1;
	eventfd_write(o->fd, 1);
	pthread_mutex_unlock(&o->lock);
}

void
outcomes_add(struct server *server, struct request *request)
{
	list_add(&server->outcomes.waiting, request);
	connection_watch(request);
	tell_waiter(server);
	if (server->drains)
		outcomes_end(server);
}

void
outcomes_remove(struct server *server, struct request *request)
{
	if (!list_remove(&server->outcomes.waiting, request))
		return;
	connection_unwatch(request);
	tell_waiter(server);
}

/* Called when the request's wait is over. A thread of the pool then reads the
 * job and answers. If the token was removed meanwhile, the answer is an error.
 */
static void
ask_again(struct server *server, struct request *request)
{
	outcomes_remove(server, request);
	if (guard_again(request) < 0) {
		server_resume(request);
		return;
	}
	request->stage = STAGE_ASKED;
	pool_give(server, request, THREAD_READER);
}

void
outcomes_take_ended(struct server *server)
{
	struct outcomes *o = &server->outcomes;
	rp_outcome *ended;
	size_t n;

	pthread_mutex_lock(&o->lock);
	ended = o->ended;
	n = o->ended_count;
	o->ended = NULL;
	o->ended_count = 0;
	pthread_mutex_unlock(&o->lock);
	for (size_t i = 0; i < n; i++) {
		struct request *request = o->waiting.first;

		while (request) {
			struct request *next = request->next;

			if (request->id == ended[i].id) {
				request->ended_state = ended[i].state;
				ask_again(server, request);
			}
			request = next;
		}
	}
	free(ended);
}

void
outcomes_tick(struct server *server, int64_t now)
{
	struct request *request = server->outcomes.waiting.first;

	while (request) {
		struct request *next = request->next;

		if (request->until_ms <= now) {
			request->until_ms = 0;
			ask_again(server, request);
		}
		request = next;
	}
}

void
outcomes_end(struct server *server)
{
	outcomes_tick(server, INT64_MAX);
}

/* ---- the thread ---- */

/* Report to the loop which jobs have ended. If rp_job_wait() failed because of
 * one id, report that id. If it failed for another reason, report all ids. The
 * requests for the reported jobs then read these jobs, and answer with their
 * outcomes or with the error. */
static void
report(struct server *server, int r, const int64_t *ids, size_t n,
       const rp_outcome *found)
{
	struct outcomes *o = &server->outcomes;
	int64_t item = rp_last_error(o->conn)->item;
	rp_outcome *ended = calloc(n, sizeof(*ended));
	size_t count = 0;

	for (size_t i = 0; i < n && ended; i++)
		if (r > 0 ? found[i].state != 0
			  : item < 0 || item == (int64_t)i)
			ended[count++] =
				(rp_outcome){ .id = ids[i],
					      .state = r > 0 ? found[i].state
							     : 0 };
	pthread_mutex_lock(&o->lock);
	free(o->ended);
	o->ended = ended;
	o->ended_count = count;
	pthread_mutex_unlock(&o->lock);
	server_wake(server);
}

static int
take_ids(struct outcomes *o, int64_t **ids, size_t *n)
{
	uint64_t value;
	int stops;

	pthread_mutex_lock(&o->lock);
	stops = o->stops;
	if (o->is_changed) {
		eventfd_read(o->fd, &value);
		free(*ids);
		*ids = o->ids;
		*n = o->count;
		o->ids = NULL;
		o->is_changed = 0;
	}
	pthread_mutex_unlock(&o->lock);
	return !stops;
}

/* Wait until the list of ids changes, or for at most `ms` (-1: no limit). */
static void
rest(const struct outcomes *o, int ms)
{
	struct pollfd fd = { .fd = o->fd, .events = POLLIN };

	poll(&fd, 1, ms);
}

static void *
wait_all(void *ctx)
{
	struct server *server = ctx;
	struct outcomes *o = &server->outcomes;
	int64_t *ids = NULL;
	size_t n = 0;

	while (take_ids(o, &ids, &n)) {
		rp_outcome *found = n ? calloc(n, sizeof(*found)) : NULL;
		int r;

		if (!found) {
			rest(o, n ? REST_MS : -1);
			continue;
		}
		pool_renew(server, &o->conn);
		r = rp_job_wait(o->conn, ids, n, RP_WAIT_ANY, WAIT_MS, o->fd,
				found);
		if (r != 0) {
			report(server, r, ids, n, found);
			/* Pause until the server's loop has removed the
			 * reported ids from the list. The loop then wakes this
			 * thread. */
			rest(o, REST_MS);
		}
		free(found);
	}
	free(ids);
	return NULL;
}

int
outcomes_start(struct server *server)
{
	struct outcomes *o = &server->outcomes;
	rp_error error;
	int r;

	o->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	r = open_database(server->options->url, RP_SCHEMA_REQUIRE, &o->conn,
			  &error);
	if (r < 0)
		return not_opened(server->options->url, r, &error);
	if (o->fd < 0 ||
	    pthread_create(&o->thread, NULL, wait_all, server) != 0)
		return complain(FAILED, "cannot start a thread");
	o->runs = 1;
	return 0;
}

void
outcomes_stop(struct server *server)
{
	struct outcomes *o = &server->outcomes;

	if (o->runs) {
		pthread_mutex_lock(&o->lock);
		o->stops = 1;
		o->is_changed = 1;
		pthread_mutex_unlock(&o->lock);
		eventfd_write(o->fd, 1);
		pthread_join(o->thread, NULL);
		o->runs = 0;
		close(o->fd);
	}
	rp_close(o->conn);
	free(o->ids);
	free(o->ended);
	/* The loop reads this once more, for requests that others give back. */
	o->ended = NULL;
	o->ended_count = 0;
}
