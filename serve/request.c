/*
 * request.c - the steps of a request: read its headers and its body, give it to
 * a thread, and send its answer.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "serve.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "writes.h"

/* ---- lists ---- */

void
list_add(struct list *list, struct request *request)
{
	request->next = NULL;
	if (list->last)
		list->last->next = request;
	else
		list->first = request;
	list->last = request;
	list->count++;
}

struct request *
list_take(struct list *list)
{
	struct request *request = list->first;

	if (!request)
		return NULL;
	list->first = request->next;
	if (!list->first)
		list->last = NULL;
	list->count--;
	request->next = NULL;
	return request;
}

int
list_remove(struct list *list, struct request *request)
{
	struct request *before = NULL, *at = list->first;

	for (; at && at != request; at = at->next)
		before = at;
	if (!at)
		return 0;
	if (before)
		before->next = at->next;
	else
		list->first = at->next;
	if (list->last == at)
		list->last = before;
	list->count--;
	at->next = NULL;
	return 1;
}

/* ---- memory ---- */

struct request *
request_new(struct server *server)
{
	struct request *request = calloc(1, sizeof(*request));

	if (!request)
		return NULL;
	request->server = server;
	request->fd = -1;
	request->began_us = monotonic_us();
	request->number = ++server->requests;
	return request;
}

void
request_free(struct request *request)
{
	if (!request)
		return;
	token_unref(request->token);
	writes_free(request->writes);
	stream_free(request->stream);
	answer_clear(&request->answer);
	json_decref(request->json);
	free(request->claims);
	free(request->body);
	free(request->decoded);
	free(request->target);
	free(request);
}

/* ---- the connection ---- */

/* Returns 1 if the client has closed its side of the connection, or is gone.
 * Such a client gets no job. The result may be 0 although the client is gone,
 * if bytes that it sent before are not read yet. */
int
request_is_gone(struct request *request)
{
	char byte;
	ssize_t n = recv(request->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT);

	return n == 0 || (n < 0 && errno != EAGAIN && errno != EWOULDBLOCK &&
			  errno != EINTR);
}

/* ---- sending ---- */

static void
add_header(struct MHD_Response *response, const char *name, const char *value)
{
	if (value)
		mhd.add_response_header(response, name, value);
}

static void
add_headers(struct MHD_Response *response, const struct request *request)
{
	const struct answer *a = &request->answer;
	char text[ID_TEXT];

	add_header(response, "Content-Type", a->type);
	add_header(response, "X-Content-Type-Options", "nosniff");
	add_header(response, "Location", a->location);
	add_header(response, "ETag", a->etag);
	add_header(response, "Vary", a->etag ? "Accept-Encoding" : NULL);
	add_header(response, "Set-Cookie", a->cookie);
	add_header(response, "Allow", *a->allow ? a->allow : NULL);
	add_header(response, "Content-Security-Policy", a->policy);
	add_header(response, "Content-Encoding", a->is_gzip ? "gzip" : NULL);
	add_header(response, "Cache-Control",
		   a->is_static ? "no-cache" : "no-store");
	add_header(response, "WWW-Authenticate",
		   a->status == 401 ? "Bearer" : NULL);
	snprintf(text, sizeof(text), "%lld", (long long)request->number);
	add_header(response, "Readpast-Request", text);
	snprintf(text, sizeof(text), "%d", a->retry_after_s);
	add_header(response, "Retry-After", a->retry_after_s ? text : NULL);
	if (request->server->drains)
		add_header(response, "Connection", "close");
}

static enum MHD_Result
send_answer(struct request *request)
{
	struct answer *a = &request->answer;
	struct MHD_Response *response;
	enum MHD_Result r;

	/* libmicrohttpd would send the last, empty chunk of the stream. */
	if (request->stage == STAGE_EVENTS &&
	    strcmp(request->method, "HEAD") == 0)
		answer_bytes(request, 200, "text/event-stream", strdup(""), 0);
	connection_is(request->client, PHASE_SEND);
	if (request->stage == STAGE_EVENTS) {
		connection_is(request->client, PHASE_BUSY);
		response = events_response(request);
	} else {
		response = mhd.create_response_from_buffer(
			a->size, a->bytes,
			a->is_static ? MHD_RESPMEM_PERSISTENT
				     : MHD_RESPMEM_MUST_FREE);
		if (response)
			a->bytes = NULL;
	}
	if (!response)
		return MHD_NO;
	add_headers(response, request);
	r = mhd.queue_response(request->connection, (unsigned)a->status,
			       response);
	mhd.destroy_response(response);
	return r;
}

/* ---- reading ---- */

/* Anybody can send a request with a token that is not in the list of tokens. No
 * larger body than this, in bytes, is kept until the list is read again. */
#define MOST_UNKNOWN 65536

/* Check all that can be checked before the body is read. */
static int
check_route(struct request *request)
{
	if (guard_check(request) < 0 || target_parse(request) < 0)
		return -1;
	return route_find(request) < 0 || guard_route(request) < 0 ? -1 : 0;
}

static enum MHD_Result
read_head(struct request *request, const char *method)
{
	int has_body = 0;

	request->is_checked = 1;
	request->method = method;
	if (head_check(request, &has_body) == 0 &&
	    (check_route(request) == 0 || !has_body))
		return MHD_YES;
	/* No body is read, so libmicrohttpd closes the connection after the
	 * answer. */
	return send_answer(request);
}

/* Keep no more of the body: read_body() then only counts its bytes. */
static void
drop_body(struct request *request)
{
	free(request->body);
	request->body = NULL;
	request->body_size = 0;
	request->body_room = SIZE_MAX;
}

static enum MHD_Result
read_body(struct request *request, const char *data, size_t *size)
{
	size_t most = (size_t)request->server->options->most_body;
	size_t need = request->body_size + *size + 1;

	if (request->body_size + *size > most) {
		/* The body is too large, but libmicrohttpd can send the answer
		 * only after it has read the body. If the client sends still
		 * more, close the connection. */
		if (request->body_room == SIZE_MAX)
			return MHD_NO;
		refuse(request, RP_EFBIG, NULL,
		       "the body is larger than %zu bytes", most);
		drop_body(request);
		*size = 0;
		return MHD_YES;
	}
	if (request->is_token_unknown && need > MOST_UNKNOWN &&
	    request->body_room != SIZE_MAX)
		drop_body(request);
	if (request->body_room == SIZE_MAX) {
		request->body_size += *size;
		*size = 0;
		return MHD_YES;
	}
	if (need > request->body_room) {
		size_t room = need * 2;
		char *body = realloc(request->body, room);

		if (!body)
			return MHD_NO;
		request->body = body;
		request->body_room = room;
	}
	memcpy(request->body + request->body_size, data, *size);
	request->body_size += *size;
	request->body[request->body_size] = '\0';
	*size = 0;
	return MHD_YES;
}

/* ---- the callbacks of libmicrohttpd ---- */

void *
request_begin(void *ctx, const char *target, struct MHD_Connection *connection)
{
	struct server *server = ctx;
	const union MHD_ConnectionInfo *info = mhd.get_connection_info(
		connection, MHD_CONNECTION_INFO_CONNECTION_FD);
	struct connection *c = connection_of(connection);
	struct request *request = request_new(server);

	if (!request)
		return NULL;
	request->connection = connection;
	request->fd = info ? info->connect_fd : -1;
	request->target = strdup(target);
	if (!request->target) {
		request_free(request);
		return NULL;
	}
	request->client = c;
	if (c && c->phase == PHASE_IDLE)
		connection_is(c, PHASE_READ);
	return request;
}

/* Read the list of tokens again. The old list lacks the key of the request's
 * token, perhaps because the token is new. If the list cannot be read, answer
 * with this error, because the token may be valid. */
static void
read_tokens(struct request *request, rp_conn *conn)
{
	struct tokens *tokens = &request->server->tokens;
	int r;

	/* Another request may have caused the list to be read again. If that
	 * was after this request came, the list is new enough. */
	if (atomic_load(&tokens->read_us) > request->began_us)
		return;
	r = tokens_read(tokens, conn);
	if (r < 0)
		refuse_undone(request, r, rp_last_error(conn), NULL);
}

/* Called when the list of tokens was read again. Returns 0, or -1 after
 * answering. */
static int
check_token(struct request *request)
{
	if (guard_route(request) < 0)
		return -1;
	return request->body_room == SIZE_MAX
		       ? refuse(request, RP_EBUSY, NULL,
				"the token is new; send the request again")
		       : 0;
}

/* A larger body than this, in bytes, is parsed by a thread of the pool, because
 * the loop would make the other connections wait. */
#define MOST_ON_LOOP 65536

static void
prepare_large(struct request *request, rp_conn *conn)
{
	(void)conn;
	if (request->route->prepare(request) == 0)
		request->stage = STAGE_PREPARED;
}

/* Let a thread of the pool call run(). */
static enum MHD_Result
ask_pool(struct request *request, enum stage stage,
	 void (*run)(struct request *, rp_conn *), enum thread thread)
{
	request->stage = stage;
	request->run = run;
	server_suspend_soon(request);
	pool_give(request->server, request, thread);
	return MHD_YES;
}

/* Called when the whole request was read. Answer it, or give it to another
 * thread. */
static enum MHD_Result
dispatch(struct request *request)
{
	const struct route *route = request->route;
	int is_prepared = !route->prepare || request->stage == STAGE_PREPARED;

	connection_is(request->client, PHASE_BUSY);
	if (request->is_token_unknown && request->stage == STAGE_READ)
		return ask_pool(request, STAGE_TOKEN, read_tokens,
				THREAD_READER);
	if (request->stage == STAGE_TOKEN && check_token(request) < 0)
		return send_answer(request);
	/* metrics_prepare() reads numbers of the loop, whatever the body. */
	if (!is_prepared && request->body_size > MOST_ON_LOOP &&
	    strcmp(route->method, "GET") != 0)
		return ask_pool(request, STAGE_ASKED, prepare_large,
				THREAD_READER);
	if (!is_prepared && route->prepare(request) < 0)
		return send_answer(request);
	if (route->thread != THREAD_LOOP)
		return ask_pool(request, STAGE_ASKED, route->run,
				route->thread);
	route->run(request, NULL);
	return send_answer(request);
}

enum MHD_Result
request_handle(void *ctx, struct MHD_Connection *connection, const char *url,
	       const char *method, const char *version, const char *data,
	       size_t *size, void **state)
{
	struct request *request = *state;

	(void)ctx;
	(void)connection;
	(void)url;
	(void)version;
	if (!request)
		return MHD_NO;
	if (request->is_suspended)
		return MHD_YES;
	if (!request->is_checked)
		return read_head(request, method);
	if (*size)
		return read_body(request, data, size);
	if (request->stage == STAGE_READ || request->stage == STAGE_TOKEN ||
	    request->stage == STAGE_PREPARED)
		return dispatch(request);
	return send_answer(request);
}

/* Release the claimed jobs of an answer that could not be sent. */
static void
release_claims(struct request *request)
{
	struct server *server = request->server;
	struct request *own = request_new(server);

	if (!own)
		return; /* the jobs become ready again when their leases end */
	own->writes = writes_release(request->claims, request->claims_count);
	if (!own->writes) {
		request_free(own);
		return;
	}
	atomic_fetch_add(&server->metrics.jobs[MET_RELEASED],
			 (int64_t)request->claims_count);
	pool_give(server, own, THREAD_WRITER);
}

void
request_end(void *ctx, struct MHD_Connection *connection, void **state,
	    enum MHD_RequestTerminationCode how)
{
	struct request *request = *state;
	int is_sent = how == MHD_REQUEST_TERMINATED_COMPLETED_OK;

	(void)ctx;
	*state = NULL;
	connection_is(connection_of(connection), PHASE_IDLE);
	if (!request)
		return;
	if (request->stream)
		events_remove(request->server, request);
	/* If memory ran out for the answer with the jobs, its status is 503. */
	if (request->claims_count &&
	    (!is_sent || request->is_closed || request->answer.status != 200))
		release_claims(request);
	metrics_answered(request->server, request->answer.status,
			 monotonic_us() - request->began_us);
	access_log(request->server, request, is_sent);
	request_free(request);
}
