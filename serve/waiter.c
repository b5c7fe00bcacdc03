/*
 * waiter.c - the waiter: the thread that waits for jobs of all queues for which
 * any request waits. Like a worker, it also sweeps all queues, and so fires
 * schedules.
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

#include "internal.h"

#define FORGET_MS 60000 /* how often the waiter deletes old stored answers */
#define SWEEP_MS 1000   /* how often the waiter sweeps */
#define MORE_MS 50      /* pause after a sweep that has not finished */
/* After the waiter has found ready jobs that no request could claim, it pauses
 * for REST_MS to MOST_REST_MS. For example, no request can claim the jobs of a
 * queue that runs as many jobs as its limit allows. */
#define REST_MS 20
#define MOST_REST_MS 1000

void
names_free(char **names)
{
	for (size_t i = 0; names && names[i]; i++)
		free(names[i]);
	free(names);
}

/* Read which of the queues have ready jobs, and report them to the loop. */
static int
report(struct server *server, rp_conn *conn, char **names)
{
	struct polls *p = &server->polls;
	size_t n = 0, found = 0;
	char **ready;
	int r = 0;

	while (names[n])
		n++;
	ready = calloc(n + 1, sizeof(*ready));
	for (size_t i = 0; i < n && ready && r >= 0; i++) {
		const char *one[] = { names[i], NULL };
		struct rp_probe probe = { 0 };

		r = rp__probe(conn, one, &probe);
		if (r >= 0 && probe.ready && (ready[found] = strdup(names[i])))
			found++;
	}
	pthread_mutex_lock(&p->lock);
	names_free(p->ready);
	p->ready = ready;
	pthread_mutex_unlock(&p->lock);
	server_wake(server);
	return r < 0 ? r : 0;
}

/* Take the current list of names. Returns 0 if the waiter has to end. */
static int
take_names(struct polls *p, char ***names)
{
	uint64_t n;
	int stops;

	pthread_mutex_lock(&p->lock);
	stops = p->stops;
	if (p->is_changed) {
		eventfd_read(p->fd, &n);
		names_free(*names);
		*names = p->names;
		p->names = NULL;
		p->is_changed = 0;
	}
	pthread_mutex_unlock(&p->lock);
	return !stops;
}

static void
rest(const struct polls *p, int64_t ms)
{
	struct pollfd fd = { .fd = p->fd, .events = POLLIN };

	poll(&fd, 1, (int)ms);
}

/* Returns how long to rest, in ms, after ready jobs were found. The time
 * doubles each time that no request could claim such jobs. */
static int64_t
next_rest(const struct polls *p, int64_t reported_at, int64_t before)
{
	if (atomic_load(&p->found_at) >= reported_at)
		return 1;
	before *= 2;
	return before < REST_MS        ? REST_MS
	       : before > MOST_REST_MS ? MOST_REST_MS
				       : before;
}

/* Do the work of the waiter that is due once a second. Returns the time in ms
 * until it is due again, or RP_E*. */
static int
do_duties(struct server *server, int64_t now)
{
	struct polls *p = &server->polls;
	int r = server->options->tokens ? tokens_read(&server->tokens, p->conn)
					: 0;
	int more;

	if (r < 0 || server->options->read_only)
		return r < 0 ? r : SWEEP_MS;
	more = rp__sweep_some(p->conn);
	if (more < 0)
		return more;
	atomic_store(&server->swept_at, now);
	if (now - p->forgot_at >= FORGET_MS) {
		p->forgot_at = now;
		r = rp__answers_forget(p->conn);
	}
	return r < 0 ? r : more ? MORE_MS : SWEEP_MS;
}

static void *
wait_all(void *ctx)
{
	struct server *server = ctx;
	struct polls *p = &server->polls;
	int64_t due_at = 0, reported_at = 0, rest_ms = 1;
	int pause_ms = SWEEP_MS;
	char **names = NULL;

	while (take_names(p, &names)) {
		int64_t now = now_ms();
		int r = 0;

		if (now >= due_at) {
			r = do_duties(server, now);
			pause_ms = r > 0 ? r : SWEEP_MS;
			due_at = now + pause_ms;
		}
		if (r >= 0 && names && *names)
			r = rp_wait(p->conn, (const char *const *)names,
				    pause_ms, p->fd);
		else
			rest(p, pause_ms);
		if (r < 0) {
			rest(p, MOST_REST_MS);
		} else if (names && *names && r > 0) {
			reported_at = now_ms();
			report(server, p->conn, names);
			rest(p, rest_ms);
			rest_ms = next_rest(p, reported_at, rest_ms);
		}
	}
	names_free(names);
	return NULL;
}

int
polls_start(struct server *server)
{
	struct polls *p = &server->polls;
	rp_error error;
	int r;

	p->check_at = INT64_MAX;
	p->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	pthread_mutex_init(&p->lock, NULL);
	r = open_database(server->options->url, RP_SCHEMA_REQUIRE, &p->conn,
			  &error);
	if (r < 0)
		return not_opened(server->options->url, r, &error);
	if (p->fd < 0 ||
	    pthread_create(&p->thread, NULL, wait_all, server) != 0)
		return complain(FAILED, "cannot start a thread");
	p->runs = 1;
	return 0;
}

void
polls_stop(struct server *server)
{
	struct polls *p = &server->polls;

	if (p->runs) {
		pthread_mutex_lock(&p->lock);
		p->stops = 1;
		p->is_changed = 1;
		pthread_mutex_unlock(&p->lock);
		eventfd_write(p->fd, 1);
		pthread_join(p->thread, NULL);
		close(p->fd);
	}
	rp_close(p->conn);
	names_free(p->names);
	names_free(p->ready);
	polls_free(server);
}
