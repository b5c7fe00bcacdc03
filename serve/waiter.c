/*
 * waiter.c - the waiter: the thread that waits for jobs of all queues for which
 * any request waits. Like a worker, it also sweeps all queues, and so fires
 * schedules.
 *
 * On a database with notifications, the waiter registers for them like a worker
 * that waits. Its session is registered for a queue only while a request waits
 * for this queue, because each enqueue notifies only one of those that are
 * registered. If the last request has just ended when the notification arrives,
 * the waiter notifies others. Nothing about the server itself is written to the
 * table of workers.
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
/* The pause of the waiter if there may be more old answers to delete. */
#define MORE_MS 100
#define SWEEP_MS 1000 /* how often the waiter sweeps */
/* On a busy server, requests begin and end to wait all the time. So after a
 * change of their queues, and after a notification, the waiter pauses. Most
 * clients that got a job soon send another request for the same queue, and then
 * nothing has changed after the pause. */
#define PAUSE_MS 5
/* After the waiter has found ready jobs that no request could claim, it pauses
 * for REST_MS to MOST_REST_MS. */
#define REST_MS 20
#define MOST_REST_MS 1000

struct waiter {
	struct server *server;
	char **names; /* the queues to wait for, with NULL at the end */
	struct rp_waiter registration;
	int64_t rest_ms; /* how long to rest after ready jobs are found */
	int pause_ms;    /* until the next sweep */
	int what;        /* RP_WAIT_PROBE: probe before the next wait */
};

void
names_free(char **names)
{
	for (size_t i = 0; names && names[i]; i++)
		free(names[i]);
	free(names);
}

static size_t
count(char **names)
{
	size_t n = 0;

	while (names && names[n])
		n++;
	return n;
}

/* Returns those of the names that are not in the other list, with NULL at the
 * end; NULL: out of memory. The caller frees the list, but not the names. The
 * lists have nearly the same order, so each search begins where the last one
 * ended. */
static char **
missing(char **names, char **in)
{
	size_t m = count(in), at = 0, found = 0;
	char **ret = calloc(count(names) + 1, sizeof(*ret));

	for (char **name = names; ret && name && *name; name++) {
		size_t k = 0;

		while (k < m && strcmp(in[(at + k) % m], *name) != 0)
			k++;
		if (k == m)
			ret[found++] = *name;
		else
			at = (at + k + 1) % m;
	}
	return ret;
}

/* Returns whether there is a queue for which no request waits. The caller has
 * the lock. */
static int
is_unwanted(const struct polls *p, char **ready)
{
	char **names = polls_names(p);
	char **unwanted = names ? missing(ready, names) : NULL;
	int is = unwanted && *unwanted;

	free(unwanted);
	names_free(names);
	return is;
}

/* Read which of the queues have ready jobs, and report them to the loop.
 * Returns how many queues have ready jobs, or an error. *ret_unwanted is set
 * to 1 if there is one among these queues for which no request waits any more.
 */
static int
report(struct waiter *w, int *ret_unwanted)
{
	struct polls *p = &w->server->polls;
	size_t n = count(w->names);
	char **ready = calloc(n + 1, sizeof(*ready));
	int found = 0, r = 0;

	for (size_t i = 0; i < n && ready && r >= 0; i++) {
		const char *one[] = { w->names[i], NULL };
		struct rp_probe probe = { 0 };

		r = rp__probe(p->conn, one, &probe);
		if (r >= 0 && probe.ready &&
		    (ready[found] = strdup(w->names[i])))
			found++;
	}
	pthread_mutex_lock(&p->lock);
	*ret_unwanted = found && is_unwanted(p, ready);
	names_free(p->ready);
	p->ready = ready;
	pthread_mutex_unlock(&p->lock);
	server_wake(w->server);
	return r < 0 ? r : found;
}

/* End the registration for these queues. If there was a notification, the next
 * wait registers for the other queues again, and probes. Errors are ignored,
 * because the next call reports them. */
static void
unregister(struct waiter *w, char **names, int pass_on)
{
	if (names && *names &&
	    rp__wait_end(w->server->polls.conn, (const char **)names, pass_on))
		w->registration.version++;
}

/* Wait for these queues from now on. The next wait registers for those that are
 * new. */
static void
set_names(struct waiter *w, char **names)
{
	char **removed = missing(w->names, names);

	unregister(w, removed, 0);
	if (!removed || count(names) + count(removed) > count(w->names))
		w->registration.version++;
	free(removed);
	names_free(w->names);
	w->names = names;
	w->registration.queues = (const char *const *)names;
}

/* Returns the current list of names; NULL: it has not changed. */
static char **
read_names(struct polls *p)
{
	char **names = NULL;
	uint64_t n;

	pthread_mutex_lock(&p->lock);
	if (p->is_changed) {
		eventfd_read(p->fd, &n);
		names = polls_names(p);
		p->is_changed = !names;
	}
	pthread_mutex_unlock(&p->lock);
	return names;
}

/* Take the current list of names. Returns 0 if the waiter has to end. */
static int
take_names(struct waiter *w)
{
	struct polls *p = &w->server->polls;
	int stops, is_changed;
	char **names;

	pthread_mutex_lock(&p->lock);
	stops = p->stops;
	is_changed = p->is_changed;
	pthread_mutex_unlock(&p->lock);
	if (stops || !is_changed)
		return !stops;
	poll(NULL, 0, PAUSE_MS);
	names = read_names(p);
	if (names)
		set_names(w, names);
	return 1;
}

/* Wait for this time, or until the names change. Returns 1 if the time is over.
 */
static int
rest(const struct polls *p, int64_t ms)
{
	struct pollfd fd = { .fd = p->fd, .events = POLLIN };

	return poll(&fd, 1, (int)ms) == 0;
}

/* Returns how long to rest, in ms, after ready jobs were found. The time
 * doubles each time that no request could claim such jobs. */
static int64_t
next_rest(const struct polls *p, int64_t reported_at, int64_t before)
{
	if (atomic_load(&p->found_at) >= reported_at)
		return PAUSE_MS;
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
	int more_ms;

	if (r < 0 || server->options->read_only)
		return r < 0 ? r : SWEEP_MS;
	clients_forget(&server->clients, p->conn);
	more_ms = rp__sweep_some(p->conn);
	if (more_ms < 0)
		return more_ms;
	atomic_store(&server->swept_at, now);
	if (now >= p->answers_at) {
		p->answers_at = now + FORGET_MS;
		r = rp__answers_forget(p->conn);
	}
	if (r > 0) {
		p->answers_at = now;
		more_ms = more_ms ? more_ms : MORE_MS;
	}
	return r < 0 ? r : more_ms ? more_ms : SWEEP_MS;
}

/* Report ready jobs, and rest. The next wait registers again, and probes. If
 * there were jobs before that no request could claim, the waiter is not
 * registered while it rests, so that enqueues notify others. */
static int
probe(struct waiter *w)
{
	struct polls *p = &w->server->polls;
	int64_t reported_at = now_ms();
	int is_unwanted, found = report(w, &is_unwanted);

	w->registration.version++;
	if (found <= 0) { /* another client has claimed the jobs already */
		rest(p, PAUSE_MS);
		return found;
	}
	if (is_unwanted || w->rest_ms > PAUSE_MS)
		unregister(w, w->names, is_unwanted);
	if (rest(p, w->rest_ms))
		w->rest_ms = next_rest(p, reported_at, w->rest_ms);
	return 0;
}

static int
wait_once(struct waiter *w)
{
	struct polls *p = &w->server->polls;
	int what = w->what, r;

	if (!w->names || !*w->names) {
		rest(p, w->pause_ms);
		return 0;
	}
	w->what = 0;
	r = rp__wait(p->conn, &w->registration, what, w->pause_ms, p->fd);
	return r > 0 ? probe(w) : r;
}

static void *
wait_all(void *ctx)
{
	struct server *server = ctx;
	struct polls *p = &server->polls;
	struct waiter w = {
		.server = server,
		.registration = { .is_session = 1, .polls = 1 },
		.rest_ms = PAUSE_MS,
		.pause_ms = SWEEP_MS,
	};
	int64_t due_at = 0;

	while (take_names(&w)) {
		int64_t now = now_ms();
		int r = 0;

		if (pool_renew(server, &p->conn))
			clients_clear(&server->clients);
		if (now >= due_at) {
			r = do_duties(server, now);
			w.pause_ms = r > 0 ? r : SWEEP_MS;
			w.what = RP_WAIT_PROBE; /* the sweep may find jobs */
			due_at = now + w.pause_ms;
		}
		if (r >= 0)
			r = wait_once(&w);
		if (r < 0) {
			w.registration.version++;
			rest(p, MOST_REST_MS);
		}
	}
	unregister(&w, w.names, 0);
	names_free(w.names);
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
	r = open_database(server->options->url, RP_SCHEMA_REQUIRE, &p->conn,
			  &error);
	if (r == 0)
		r = rp__limit_waits(p->conn, RP_LOCK_WAIT_MS, &error);
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
		p->fd = -1;
	}
	rp_close(p->conn);
	names_free(p->ready);
	/* The loop reads this once more, for requests that others give back. */
	p->ready = NULL;
	polls_free(server);
}
