/*
 * heartbeat.c - send the worker's heartbeats to the database and to its
 * observer.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "worker.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A worker that has not been seen for 30 s counts as dead. In this time it
 * sends six heartbeats, or three while it settles nothing and so has no new
 * counts to report. */
#define BUSY_HEARTBEAT_MS 5000
#define IDLE_HEARTBEAT_MS 10000

/* Append "queue/kind" to `kinds`, or "queue/" for all kinds. Returns 0 or
 * RP_ENOMEM. */
static int
add_kind(const char *queue, const char *kind, char **kinds, size_t *n)
{
	size_t room = strlen(queue) + strlen(kind ? kind : "") + 2;
	char *text = malloc(room);

	if (!text)
		return RP_ENOMEM;
	snprintf(text, room, "%s/%s", queue, kind ? kind : "");
	kinds[(*n)++] = text;
	return 0;
}

/* Append to `kinds` a text for each queue and kind that a route serves. A route
 * is a queue or a pattern, together with its handler. Returns 0 or
 * RP_ENOMEM. */
static int
add_kinds(const rp_worker *w, const struct route *route, char **kinds,
	  size_t *n)
{
	int r = 0;

	if (!route->is_pattern)
		return add_kind(route->queue, route->kind, kinds, n);
	for (size_t i = 0; i < w->found_count && r == 0; i++)
		if (rp__pattern_matches(route->queue, w->found[i].name))
			r = add_kind(w->found[i].name, route->kind, kinds, n);
	return r;
}

/* Returns the queues and kinds that the worker serves, as a JSON array. The
 * caller frees it. NULL: out of memory. */
static char *
list_kinds(const rp_worker *w)
{
	char **kinds = calloc(w->routes_count * (w->found_count + 1) + 1,
			      sizeof(*kinds));
	char *list = NULL;
	size_t n = 0;
	int r = kinds ? 0 : RP_ENOMEM;

	for (size_t i = 0; i < w->routes_count && r == 0; i++)
		r = add_kinds(w, &w->routes[i], kinds, &n);
	if (r == 0)
		list = rp__list((const char *const *)kinds, '[', ']');
	while (n-- > 0)
		free(kinds[n]);
	free(kinds);
	return list;
}

int
rp__worker_register_queues(rp_worker *w)
{
	char *kinds = list_kinds(w);
	int r = rp__worker_row_queues(w->conn, w->conn->worker_id, w->queues,
				      kinds);

	if (r == 0)
		w->registered_version = w->waiter.version;
	free(kinds);
	return r;
}

int
rp__worker_register(rp_worker *w)
{
	char *kinds = list_kinds(w);
	int r = rp__worker_row_add(w->conn, w->name, w->host, w->queues, kinds,
				   &w->conn->worker_id);

	if (r == 0)
		w->registered_version = w->waiter.version;
	snprintf(w->conn->worker, sizeof(w->conn->worker), "%s", w->name);
	free(kinds);
	return r;
}

/* If the worker's row is gone, register the worker again, with a new id. But
 * if the answer to a claim was lost, keep the old id for now, because the jobs
 * of that claim are found by it. */
int
rp__worker_heartbeat(rp_worker *w, enum rp_verb verb)
{
	rp_worker_counts counts = RP_WORKER_COUNTS_INIT;
	int64_t known = verb == RP_V_WORKER_STOP;
	int r = rp_worker_counts_get(w, &counts);

	if (r == 0)
		r = rp__tally_write(w->conn);
	if (r == 0)
		r = rp__worker_row_update(w->conn, verb, w->conn->worker_id,
					  &counts, &known);
	if (r == 0 && !known && !w->conn->lost_answer)
		r = rp__worker_register(w);
	return r;
}

static int64_t
settled_total(const rp_worker *w)
{
	return w->counts.done + w->counts.failed + w->counts.dead +
	       w->counts.released;
}

/* Call the observer with a heartbeat if one is due. The coordinator's loop
 * calls this function, so no heartbeat comes from a worker that hangs. */
static void
tell_if_due(rp_worker *w, int64_t now)
{
	int64_t ms = w->options.heartbeat_ms;

	if (now < w->tell_at)
		return;
	w->tell_at = ms ? now + ms : INT64_MAX;
	rp__observe(w, (rp_event){ .what = RP_EVENT_HEARTBEAT });
}

/* Send the database a heartbeat if one is due. The interval is longer if the
 * worker has settled nothing since the last heartbeat. */
int
rp__worker_heartbeat_if_due(rp_worker *w, int64_t now)
{
	int64_t total = settled_total(w);
	int64_t ms = total == w->heartbeat_total ? IDLE_HEARTBEAT_MS
						 : BUSY_HEARTBEAT_MS;
	int r;

	tell_if_due(w, now);
	if (now - w->heartbeat_at < ms)
		return 0;
	r = rp__worker_heartbeat(w, RP_V_WORKER_BEAT);
	w->heartbeat_at = now;
	w->heartbeat_total = total;
	return r < 0 ? rp__worker_trouble(w, r) : 0;
}
