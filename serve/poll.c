/*
 * poll.c - claims that wait for jobs.
 *
 * Waiting costs nothing: one thread, the waiter, waits for jobs of all queues
 * that any request waits for. When a queue may have jobs, the requests that
 * wait for it are given to the writer again, a wave at a time, the longest
 * waiting first. What comes back without a job waits again.
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
#include "turn.h"

/* Requests that are tried at once, if it is not known how many jobs there
 * are. */
#define WAVE 16
#define SWEEP_MS 1000   /* how often the waiter sweeps */
#define FORGET_MS 60000 /* how often it deletes old answers */
/* How long the waiter rests after it found jobs that nobody could claim, such
 * as those of a queue whose limit is reached. */
#define REST_MS 20
#define MOST_REST_MS 1000

/* A queue that requests wait for. */
struct awaited {
	struct awaited *next;
	size_t waiting; /* requests, also those of a wave */
	size_t in_wave;
	int again; /* 1: another wave comes after this one */
	char name[RP_MOST_NAME + 1];
};

static struct awaited *
find_queue_of(const struct server *server, const char *name)
{
	struct awaited *a = server->polls.queues;

	while (a && strcmp(a->name, name) != 0)
		a = a->next;
	return a;
}

static int
waits_for(const struct request *request, const char *queue)
{
	const char **queues = request->turn->queues;

	while (*queues && strcmp(*queues, queue) != 0)
		queues++;
	return *queues != NULL;
}

/* ---- the names that the waiter waits for ---- */

static void
free_names(char **names)
{
	for (size_t i = 0; names && names[i]; i++)
		free(names[i]);
	free(names);
}

/* Give the waiter a new list of names. */
static void
tell_waiter(struct server *server)
{
	struct polls *p = &server->polls;
	size_t n = 0, i = 0;
	char **names;

	for (const struct awaited *a = p->queues; a; a = a->next)
		n++;
	names = calloc(n + 1, sizeof(*names));
	for (const struct awaited *a = p->queues; a && names; a = a->next)
		if ((names[i] = strdup(a->name)))
			i++;
	pthread_mutex_lock(&p->lock);
	free_names(p->names);
	p->names = names;
	p->is_changed = 1;
	pthread_mutex_unlock(&p->lock);
	eventfd_write(p->fd, 1);
}

/* Count a request that begins to wait, or one that has ended its wait. */
static void
count_request(struct server *server, const struct request *request, int by)
{
	int is_changed = 0;

	for (const char **q = request->turn->queues; *q; q++) {
		struct awaited *a = find_queue_of(server, *q);

		if (!a && by > 0) {
			a = calloc(1, sizeof(*a));
			if (!a)
				continue;
			snprintf(a->name, sizeof(a->name), "%s", *q);
			a->next = server->polls.queues;
			server->polls.queues = a;
			is_changed = 1;
		}
		if (a && (by > 0 || a->waiting))
			a->waiting += (size_t)by;
	}
	if (is_changed)
		tell_waiter(server);
}

/* Forget queues that nobody waits for. Returns how many. */
static int
forget_queues(struct server *server)
{
	struct awaited **at = &server->polls.queues;
	int forgotten = 0;

	while (*at) {
		struct awaited *a = *at;

		if (a->waiting) {
			at = &a->next;
			continue;
		}
		*at = a->next;
		free(a);
		forgotten++;
	}
	return forgotten;
}

/* ---- requests ---- */

/* The list is in the order in which the requests came. */
static void
insert(struct list *list, struct request *request)
{
	struct request **at = &list->first;

	if (!list->last || list->last->number < request->number) {
		list_add(list, request);
		return;
	}
	while (*at && (*at)->number < request->number)
		at = &(*at)->next;
	request->next = *at;
	*at = request;
	list->count++;
}

void
polls_add(struct server *server, struct request *request)
{
	if (!request->is_counted) {
		request->is_counted = 1;
		count_request(server, request, 1);
		server_watch(server, request);
	}
	insert(&server->polls.waiting, request);
	if (request->until_ms < server->polls.check_at)
		server->polls.check_at = request->until_ms;
	if (server->drains)
		polls_end(server);
}

static void
leave(struct server *server, struct request *request)
{
	if (!request->is_counted)
		return;
	request->is_counted = 0;
	count_request(server, request, -1);
	server_unwatch(server, request);
}

void
polls_remove(struct server *server, struct request *request)
{
	if (list_remove(&server->polls.waiting, request))
		leave(server, request);
}

/* Answer a request whose wait is over. */
static void
end_wait(struct server *server, struct request *request)
{
	leave(server, request);
	request->until_ms = 0;
	request->turn->jobs_count = 0;
	request->turn->finish(request);
	server_resume(request);
}

void
polls_tick(struct server *server, int64_t now)
{
	struct polls *p = &server->polls;
	struct list waiting = p->waiting;
	struct request *request;

	if (now >= p->forget_at) {
		/* Most workers ask again soon, so names are kept for a while.
		 */
		p->forget_at = now + MOST_WAIT_MS;
		if (forget_queues(server))
			tell_waiter(server);
	}
	if (now < p->check_at)
		return;
	p->check_at = INT64_MAX;
	p->waiting = (struct list){ 0 };
	while ((request = list_take(&waiting))) {
		if (request->until_ms <= now) {
			end_wait(server, request);
			continue;
		}
		list_add(&p->waiting, request);
		if (request->until_ms < p->check_at)
			p->check_at = request->until_ms;
	}
}

void
polls_end(struct server *server)
{
	struct request *request;

	while ((request = list_take(&server->polls.waiting)))
		end_wait(server, request);
}

/* ---- waves ---- */

/* Remove the requests of a wave from the list, the longest waiting first. A
 * client that has gone gets no job. */
static void
take_wave(struct server *server, const char *queue, size_t most,
	  struct list *wave)
{
	struct request **at = &server->polls.waiting.first, *last = NULL;

	while (*at && wave->count < most) {
		struct request *request = *at;

		if (!waits_for(request, queue)) {
			last = request;
			at = &request->next;
			continue;
		}
		*at = request->next;
		server->polls.waiting.count--;
		if (request_is_gone(request)) {
			leave(server, request);
			request->is_closed = 1;
			refuse_status(request, 408, "client-gone",
				      "the client has closed the connection");
			server_resume(request);
		} else {
			list_add(wave, request);
		}
	}
	if (!*at)
		server->polls.waiting.last = last;
}

void
polls_wake(struct server *server, const char *queue, size_t jobs)
{
	struct awaited *a = find_queue_of(server, queue);
	struct list wave = { 0 };

	if (!a || !server->polls.waiting.first)
		return;
	if (a->in_wave) {
		a->again = 1;
		return;
	}
	a->again = 0;
	take_wave(server, queue, jobs ? jobs : WAVE, &wave);
	a->in_wave = wave.count;
	for (struct request *r = wave.first; r; r = r->next) {
		r->wave = a;
		r->stage = STAGE_ASKED;
	}
	if (wave.first)
		pool_give_all(server, &wave, LANE_BATCH);
}

/* A request with a claim has come back from the writer. If it has no job, it
 * waits again, before the next wave is taken, so that it keeps its place. */
void
polls_back(struct server *server, struct request *request)
{
	struct awaited *a = request->wave;

	if (request->held_count && request_is_gone(request))
		request->is_closed = 1;
	if (request->stage == STAGE_POLL)
		polls_add(server, request);
	else
		leave(server, request);
	if (!a)
		return;
	request->wave = NULL;
	a->in_wave--;
	if (request->held_count) {
		a->again = 1;
		server->polls.found_at = now_ms();
	}
	if (a->in_wave == 0 && a->again)
		polls_wake(server, a->name, 0);
}

/* The waiter has found queues that may have jobs. */
void
polls_look(struct server *server)
{
	struct polls *p = &server->polls;
	char **ready;

	pthread_mutex_lock(&p->lock);
	ready = p->ready;
	p->ready = NULL;
	pthread_mutex_unlock(&p->lock);
	for (size_t i = 0; ready && ready[i]; i++)
		polls_wake(server, ready[i], 0);
	free_names(ready);
}

/* ---- the waiter ---- */

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
	free_names(p->ready);
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
		free_names(*names);
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

/* How long to rest after jobs were found: longer each time that nobody could
 * claim them. */
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

/* What the waiter does once a second. */
static int
do_duties(struct server *server, int64_t now)
{
	struct polls *p = &server->polls;
	int r = server->options->tokens ? tokens_read(&server->tokens, p->conn)
					: 0;

	if (r < 0 || server->options->read_only)
		return r;
	r = rp_sweep(p->conn, NULL);
	if (r < 0)
		return r;
	atomic_store(&server->swept_at, now);
	if (now - p->forgot_at < FORGET_MS)
		return 0;
	p->forgot_at = now;
	return rp__answers_forget(p->conn);
}

static void *
wait_all(void *ctx)
{
	struct server *server = ctx;
	struct polls *p = &server->polls;
	int64_t swept_at = 0, reported_at = 0, rest_ms = 1;
	char **names = NULL;

	while (take_names(p, &names)) {
		int64_t now = now_ms();
		int r = 0;

		if (now - swept_at >= SWEEP_MS) {
			r = do_duties(server, now);
			swept_at = now;
		}
		if (r >= 0 && names && *names)
			r = rp_wait(p->conn, (const char *const *)names,
				    SWEEP_MS, p->fd);
		else
			rest(p, SWEEP_MS);
		if (r < 0) {
			rest(p, MOST_REST_MS);
		} else if (names && *names && r > 0) {
			reported_at = now_ms();
			report(server, p->conn, names);
			rest(p, rest_ms);
			rest_ms = next_rest(p, reported_at, rest_ms);
		}
	}
	free_names(names);
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
	free_names(p->names);
	free_names(p->ready);
	forget_queues(server);
}
