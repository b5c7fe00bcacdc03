/*
 * events.c - streams of server-sent events. While there are listeners, the
 * statistics of all queues (how many jobs are in each state) are read once a
 * second, for all listeners together.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "handlers.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#define EVERY_MS 1000
/* A listener may read slowly. If this many bytes wait for it, it does not get
 * the next event. */
#define MOST_UNSENT 1048576

struct stream {
	char *queues; /* the queues' names with commas between them; NULL: all
		       * queues */
	char *unsent;
	size_t at, size, room;
	int ends;
	int64_t read_at; /* while bytes wait for the listener: when it last took
			  * bytes, or when the first of them came; otherwise
			  * 0 */
};

void
stream_free(struct stream *stream)
{
	if (!stream)
		return;
	free(stream->queues);
	free(stream->unsent);
	free(stream);
}

/* ---- sending ---- */

/* Add an event to the bytes that wait to be sent. */
static void
put(struct stream *stream, const char *text)
{
	static const char format[] = "event: stats\ndata: %s\n\n";
	size_t size = sizeof(format) + strlen(text);

	/* A listener that reads slowly may never have read all bytes. So move
	 * the unsent bytes to the beginning, and do so rarely. */
	if (stream->at > stream->size / 2) {
		stream->size -= stream->at;
		memmove(stream->unsent, stream->unsent + stream->at,
			stream->size);
		stream->at = 0;
	}
	if (stream->size - stream->at > MOST_UNSENT)
		return;
	if (stream->size + size > stream->room) {
		size_t room = (stream->size + size) * 2;
		char *unsent = realloc(stream->unsent, room);

		if (!unsent)
			return;
		stream->unsent = unsent;
		stream->room = room;
	}
	stream->size += (size_t)snprintf(stream->unsent + stream->size, size,
					 format, text);
}

/* Copy the next bytes of a stream to `to`. libmicrohttpd calls this function
 * when it can send more. */
static ssize_t
read_more(void *ctx, uint64_t at, char *to, size_t most)
{
	struct request *request = ctx;
	struct stream *stream = request->stream;
	size_t n = stream->size - stream->at;

	(void)at;
	if (n == 0 && (stream->ends || request->is_closed))
		return MHD_CONTENT_READER_END_OF_STREAM;
	if (n == 0) {
		stream->read_at = 0;
		server_suspend(request);
		return 0;
	}
	n = n < most ? n : most;
	memcpy(to, stream->unsent + stream->at, n);
	stream->at += n;
	stream->read_at = now_ms();
	return (ssize_t)n;
}

/* ---- the numbers ---- */

/* Returns whether a name is in a list with commas between the names. */
static int
is_listed(const char *list, const char *name)
{
	size_t n = strlen(name);

	while (list) {
		const char *end = strchr(list, ',');
		size_t m = end ? (size_t)(end - list) : strlen(list);

		if (m == n && memcmp(list, name, n) == 0)
			return 1;
		list = end ? end + 1 : NULL;
	}
	return 0;
}

/* Returns the statistics of the queues that the listener has asked for and may
 * see. all: the statistics of all queues. */
static json_t *
numbers_for(const struct request *request, const json_t *all)
{
	const char *queues = request->stream->queues;
	json_t *list = json_array(), *one;
	size_t i;

	json_array_foreach (json_object_get(all, "queues"), i, one) {
		const char *name =
			json_string_value(json_object_get(one, "queue"));

		if (name && (!queues || is_listed(queues, name)) &&
		    may(request, MAY_READ, name))
			json_array_append(list, one);
	}
	return json_pack("{s:o, s:O}", "queues", list, "at",
			 json_object_get(all, "at"));
}

/* Returns whether bytes wait for this listener, and it has read nothing for too
 * long. */
static int
is_stuck(const struct request *request)
{
	int64_t read_at = request->stream->read_at;

	return read_at &&
	       now_ms() - read_at > request->server->options->time_ms;
}

static void
tell(struct request *request, const json_t *all)
{
	json_t *mine = numbers_for(request, all);
	char *text = json_dumps(mine, JSON_COMPACT | JSON_REAL_PRECISION(6));

	if (is_stuck(request))
		shutdown(request->fd, SHUT_RDWR);
	if (!request->stream->read_at)
		request->stream->read_at = now_ms();
	if (text)
		put(request->stream, text);
	free(text);
	json_decref(mine);
	server_resume(request);
}

/* Read the statistics of all queues. A thread of the server's pool runs this
 * function. */
static void
read_numbers(struct request *request, rp_conn *conn)
{
	json_t *list = json_array();
	rp_stats *stats = NULL;
	int64_t now;
	int r = rp_now(conn, &now);

	if (r == 0)
		r = rp_stats_get(conn, NULL, &stats);
	if (r < 0) {
		json_decref(list);
		return;
	}
	for (size_t i = 0; i < rp_stats_count(stats); i++)
		json_array_append_new(list, json_stats(rp_stats_at(stats, i)));
	rp_stats_free(stats);
	request->json =
		json_pack("{s:o, s:o}", "queues", list, "at", json_time(now));
}

static void
end_stream(struct request *request)
{
	request->stream->ends = 1;
	server_resume(request);
}

/* Send the statistics that a thread of the pool has read to all listeners, but
 * end the streams whose token was removed. The main loop of the server runs
 * this function. */
static void
take_numbers(struct request *request)
{
	struct events *events = &request->server->events;
	struct request *listener = events->listeners.first;

	events->is_asked = 0;
	json_decref(events->last);
	events->last = json_incref(request->json);
	for (; listener && request->json; listener = listener->next) {
		if (listener->token &&
		    !tokens_have(&request->server->tokens, listener->token))
			end_stream(listener);
		else
			tell(listener, request->json);
	}
}

void
events_tick(struct server *server, int64_t now)
{
	struct events *events = &server->events;
	struct request *request;

	if (!events->listeners.first || events->is_asked ||
	    now < events->next_at)
		return;
	request = request_new(server);
	if (!request)
		return;
	events->next_at = now + EVERY_MS;
	events->is_asked = 1;
	request->run = read_numbers;
	request->back = take_numbers;
	pool_give(server, request, THREAD_READER);
}

/* ---- listeners ---- */

/* Returns whether the last numbers are still those that the other listeners
 * have. A new listener gets them at once. */
static int
has_fresh_numbers(const struct events *events)
{
	return events->last && !events->is_asked && now_ms() < events->next_at;
}

struct MHD_Response *
events_response(struct request *request)
{
	struct server *server = request->server;

	list_add(&server->events.listeners, request);
	connection_watch(request);
	/* The server may have begun to end while the request was read. */
	if (server->drains)
		request->stream->ends = 1;
	if (has_fresh_numbers(&server->events))
		tell(request, server->events.last);
	request->answer.status = 200;
	request->answer.type = "text/event-stream";
	return mhd.create_response_from_callback(MHD_SIZE_UNKNOWN, 4096,
						 read_more, request, NULL);
}

void
events_remove(struct server *server, struct request *request)
{
	list_remove(&server->events.listeners, request);
	connection_unwatch(request);
}

void
events_end(struct server *server)
{
	struct request *request = server->events.listeners.first;

	for (; request; request = request->next)
		end_stream(request);
	json_decref(server->events.last);
	server->events.last = NULL;
}

/* ---- the route ---- */

/* Check that the token may read each queue of a list. NULL: there is no list.
 */
static int
check_queues(struct request *request, const char *list)
{
	char name[RP_MOST_NAME + 2];

	while (list) {
		int n = (int)strcspn(list, ",");

		snprintf(name, sizeof(name), "%.*s", n, list);
		if (guard_named_queue(request, "queues", name) < 0)
			return -1;
		list = list[n] ? list + n + 1 : NULL;
	}
	return 0;
}

int
events_prepare(struct request *request)
{
	static const char *const names[] = { "queues", NULL };

	if (check_parameters(request, names) < 0)
		return -1;
	return check_queues(request, parameter(request, "queues"));
}

void
events_run(struct request *request, rp_conn *conn)
{
	const char *queues = parameter(request, "queues");

	(void)conn;
	request->stream = calloc(1, sizeof(*request->stream));
	if (request->stream && queues)
		request->stream->queues = strdup(queues);
	if (!request->stream || (queues && !request->stream->queues)) {
		refuse_memory(request);
		return;
	}
	request->stage = STAGE_EVENTS;
}
