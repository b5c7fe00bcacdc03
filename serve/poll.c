/*
 * poll.c - the requests that wait for jobs to claim.
 *
 * A waiting request makes no calls to the database. One thread, the waiter (see
 * waiter.c), waits for jobs of all queues for which any request waits. When a
 * queue may have jobs, the requests that have waited longest for this queue are
 * given to the writer, which claims again. These requests are called a wave. A
 * request that comes back without a job waits again.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "serve.h"

#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>

#include "writes.h"

/* The most requests in a wave (requests that claim again at the same time) if
 * the number of ready jobs is not known. */
#define WAVE 16

/* A queue that requests wait for. */
struct awaited {
	struct awaited *next;
	size_t waiting; /* how many requests wait for this queue, including
			 * those in a wave */
	size_t in_wave; /* how many requests of this queue's wave the writer
			 * has not given back yet */
	int again;      /* 1: begin another wave when this wave is over */
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
	const char **queues = request->writes->queues;

	while (*queues && strcmp(*queues, queue) != 0)
		queues++;
	return *queues != NULL;
}

/* ---- the names that the waiter waits for ---- */

char **
polls_names(const struct polls *polls)
{
	size_t n = 0, i = 0;
	char **names;

	for (const struct awaited *a = polls->queues; a; a = a->next)
		n++;
	names = calloc(n + 1, sizeof(*names));
	for (const struct awaited *a = polls->queues; a && names; a = a->next)
		if (a->waiting && (names[i] = strdup(a->name)))
			i++;
	return names;
}

static struct awaited *
add_queue(struct server *server, const char *name)
{
	struct awaited *a = calloc(1, sizeof(*a));

	if (!a)
		return NULL;
	snprintf(a->name, sizeof(a->name), "%s", name);
	a->next = server->polls.queues;
	server->polls.queues = a;
	return a;
}

/* Change the counts of waiting requests, for all queues of this request. by: 1
 * if the request begins to wait, -1 if its wait has ended. Tell the waiter if
 * this is the first request that waits for a queue, or was the last one. */
static void
count_request(struct server *server, const struct request *request, int by)
{
	struct polls *p = &server->polls;
	int is_changed = 0;

	pthread_mutex_lock(&p->lock);
	for (const char **q = request->writes->queues; *q; q++) {
		struct awaited *a = find_queue_of(server, *q);

		if (!a && by > 0)
			a = add_queue(server, *q);
		if (!a || (by < 0 && !a->waiting))
			continue;
		is_changed |= a->waiting == (by > 0 ? 0 : 1);
		a->waiting += (size_t)by;
	}
	/* The lock makes sure that the waiter, which reads the eventfd when
	 * is_changed is 1, finds both or neither. */
	if (is_changed) {
		p->is_changed = 1;
		eventfd_write(p->fd, 1);
	}
	pthread_mutex_unlock(&p->lock);
}

/* Remove the queues for which no request waits. */
static void
forget_queues(struct server *server)
{
	struct awaited **at = &server->polls.queues;

	pthread_mutex_lock(&server->polls.lock);
	while (*at) {
		struct awaited *a = *at;

		if (a->waiting) {
			at = &a->next;
			continue;
		}
		*at = a->next;
		free(a);
	}
	pthread_mutex_unlock(&server->polls.lock);
}

/* ---- requests ---- */

/* Insert a request into the list, which is in the order in which the requests
 * came. */
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

/* Returns when to try the claim again, so that the server hears from its client
 * (see clients.c). Monotonic ms. */
static int64_t
heartbeat_at(const struct request *request)
{
	return request->worker ? request->heard_at + CLIENT_WAITS_MS
			       : INT64_MAX;
}

/* Let polls_tick() check the waiting requests when something about this one is
 * due. */
static void
check_by(struct server *server, const struct request *request)
{
	int64_t heartbeat = heartbeat_at(request);
	int64_t at =
		heartbeat < request->until_ms ? heartbeat : request->until_ms;

	if (at < server->polls.check_at)
		server->polls.check_at = at;
}

static void
add_request(struct server *server, struct request *request)
{
	if (!request->is_counted) {
		request->is_counted = 1;
		count_request(server, request, 1);
		connection_watch(request);
	}
	request->heard_at = now_ms();
	insert(&server->polls.waiting, request);
	check_by(server, request);
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
	connection_unwatch(request);
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
	writes_end_wait(request);
	server_resume(request);
}

void
polls_answer_gone(struct request *request)
{
	struct answered_claim *claims = request->claims;
	size_t n = request->claims_count;

	request->is_closed = 1;
	if (!request->writes->has_results) {
		refuse_gone(request);
		return;
	}
	request->claims = NULL;
	writes_end_wait(request);
	free(request->claims);
	request->claims = claims;
	request->claims_count = n;
}

/* Answer a request whose client is gone. */
static void
end_gone(struct server *server, struct request *request)
{
	leave(server, request);
	polls_answer_gone(request);
	server_resume(request);
}

/* Send the answer of a request whose token was removed. If verdicts came with
 * the request, they were handled before its wait, while the token was valid.
 * Then the answer has their results. */
static void
end_refused(struct server *server, struct request *request)
{
	if (request->writes->is_settled) {
		end_wait(server, request);
		return;
	}
	leave(server, request);
	server_resume(request);
}

/* Add a request, which is in no list, to those that claim now for the queue
 * `a`. If its client is gone or its token was removed, answer it instead. */
static void
ask(struct server *server, struct request *request, struct awaited *a,
    struct list *wave)
{
	if (request_is_gone(request)) {
		end_gone(server, request);
	} else if (guard_again(request) < 0) {
		end_refused(server, request);
	} else {
		request->wave = a;
		request->stage = STAGE_ASKED;
		a->in_wave++;
		list_add(wave, request);
	}
}

void
polls_tick(struct server *server, int64_t now)
{
	struct polls *p = &server->polls;
	struct list waiting = p->waiting, heartbeats = { 0 };
	struct request *request;

	if (now >= p->forget_at) {
		/* Remove unused queues only now and then, because most clients
		 * soon send another request for the same queue. */
		p->forget_at = now + MOST_WAIT_MS;
		forget_queues(server);
	}
	if (now < p->check_at)
		return;
	p->check_at = INT64_MAX;
	p->waiting = (struct list){ 0 };
	while ((request = list_take(&waiting))) {
		struct awaited *a;

		if (request->until_ms > now && heartbeat_at(request) > now) {
			list_add(&p->waiting, request);
			check_by(server, request);
			continue;
		}
		/* The queue is missing if memory ran out for it. */
		a = find_queue_of(server, request->writes->queues[0]);
		if (request->until_ms <= now || !a)
			end_wait(server, request);
		else
			ask(server, request, a, &heartbeats);
	}
	if (heartbeats.first)
		pool_give_all(server, &heartbeats, THREAD_WRITER);
}

void
polls_end(struct server *server)
{
	struct request *request;

	while ((request = list_take(&server->polls.waiting)))
		end_wait(server, request);
}

/* ---- waves ---- */

/* Move up to `most` requests that wait for the queue from the list of waiting
 * requests to the wave. The requests that have waited longest go first. A
 * request whose client is gone or whose token was removed is answered and joins
 * no wave. */
static void
take_wave(struct server *server, struct awaited *a, size_t most,
	  struct list *wave)
{
	struct request **at = &server->polls.waiting.first, *last = NULL;

	while (*at && wave->count < most) {
		struct request *request = *at;

		if (!waits_for(request, a->name)) {
			last = request;
			at = &request->next;
			continue;
		}
		*at = request->next;
		server->polls.waiting.count--;
		ask(server, request, a, wave);
	}
	if (!*at)
		server->polls.waiting.last = last;
}

void
polls_wake(struct server *server, const char *queue, size_t jobs)
{
	struct awaited *a = find_queue_of(server, queue);
	struct list wave = { 0 };

	if (!a)
		return;
	if (a->in_wave) {
		a->again = 1;
		return;
	}
	a->again = 0;
	take_wave(server, a, jobs ? jobs : WAVE, &wave);
	if (wave.first)
		pool_give_all(server, &wave, THREAD_WRITER);
}

/* Called when the writer thread has run the claim of a request. If the request
 * got no job and still waits, it goes back into the list of waiting requests.
 * This happens before the next wave is taken from the list, so the request
 * keeps its place. */
void
polls_back(struct server *server, struct request *request)
{
	struct awaited *a = request->wave;

	if (a && request->claims_count)
		server->polls.found_at = now_ms();
	if (request->claims_count &&
	    (request->is_closed || request_is_gone(request)))
		polls_answer_gone(request);
	request->wave = NULL;
	if (request->stage != STAGE_POLL)
		leave(server, request);
	else if (request->is_closed)
		end_gone(server, request);
	else
		add_request(server, request);
	if (!a)
		return;
	a->in_wave--;
	if (request->claims_count)
		a->again = 1;
	if (a->in_wave == 0 && a->again)
		polls_wake(server, a->name, 0);
}

/* Let requests claim from each queue in which the waiter has found ready jobs.
 */
void
polls_take_ready(struct server *server)
{
	struct polls *p = &server->polls;
	char **ready;

	pthread_mutex_lock(&p->lock);
	ready = p->ready;
	p->ready = NULL;
	pthread_mutex_unlock(&p->lock);
	for (size_t i = 0; ready && ready[i]; i++)
		polls_wake(server, ready[i], 0);
	names_free(ready);
}

void
polls_free(struct server *server)
{
	forget_queues(server);
}
