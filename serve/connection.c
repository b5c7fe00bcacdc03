/*
 * connection.c - the connections: accept them, notice what their clients do,
 * and end those whose clients take too long.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "serve.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

/* An event comes once for each change, so a connection costs nothing while its
 * client does nothing. */
#define EVENTS (EPOLLIN | EPOLLRDHUP | EPOLLET)
#define END_EVENTS (EPOLLRDHUP | EPOLLHUP | EPOLLERR)

/* ---- begin and end ---- */

struct connection *
connection_of(struct MHD_Connection *connection)
{
	const union MHD_ConnectionInfo *info = mhd.get_connection_info(
		connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);

	return info ? info->socket_context : NULL;
}

static int
control(const struct server *server, int what, struct connection *c)
{
	struct epoll_event event = { .events = EVENTS, .data.ptr = c };

	return epoll_ctl(server->epoll_fd, what, c->fd, &event);
}

static struct connection *
connection_new(struct server *server, struct MHD_Connection *connection)
{
	const union MHD_ConnectionInfo *info = mhd.get_connection_info(
		connection, MHD_CONNECTION_INFO_CONNECTION_FD);
	struct connection *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->fd = info ? info->connect_fd : -1;
	connection_is(c, PHASE_IDLE);
	c->next = server->connections;
	if (c->next)
		c->next->before = c;
	server->connections = c;
	control(server, EPOLL_CTL_ADD, c);
	return c;
}

/* Stop watching the connection, before libmicrohttpd closes its socket. If a
 * child process has a copy of the socket (doctor has one for a moment), closing
 * alone would not end the events. */
static void
connection_free(struct server *server, struct connection *c)
{
	if (!c)
		return;
	control(server, EPOLL_CTL_DEL, c);
	if (c->next)
		c->next->before = c->before;
	if (c->before)
		c->before->next = c->next;
	else
		server->connections = c->next;
	free(c);
}

void
connection_changed(void *ctx, struct MHD_Connection *connection, void **context,
		   enum MHD_ConnectionNotificationCode code)
{
	struct server *server = ctx;

	if (code == MHD_CONNECTION_NOTIFY_STARTED) {
		server->connections_count++;
		*context = connection_new(server, connection);
	} else {
		server->connections_count--;
		connection_free(server, *context);
		*context = NULL;
	}
}

void
connections_accept(struct server *server, int listener)
{
	for (int i = 0; i < 64; i++) {
		struct sockaddr_storage address;
		socklen_t size = sizeof(address);
		int fd = accept4(listener, (struct sockaddr *)&address, &size,
				 SOCK_NONBLOCK | SOCK_CLOEXEC);

		if (fd < 0) {
			/* After an error such as EMFILE the connection waits
			 * on, so epoll would report it again and again. */
			if (errno != EAGAIN && errno != EINTR &&
			    errno != ECONNABORTED)
				server_pause_accept(server);
			return;
		}
		if (server->connections_count >=
		    server->options->most_connections) {
			close(fd);
			continue;
		}
		mhd.add_connection(server->mhd, fd, (struct sockaddr *)&address,
				   size);
	}
}

/* ---- what the client does ---- */

void
connection_is(struct connection *c, enum phase phase)
{
	if (!c)
		return;
	c->phase = phase;
	c->since_ms = now_ms();
}

void
connection_watch(struct request *request)
{
	struct connection *c = request->client;

	if (!c || c->waiting == request)
		return;
	c->waiting = request;
	/* The client may have closed the connection before. This call lets the
	 * event come again. */
	if (c->is_ended)
		control(request->server, EPOLL_CTL_MOD, c);
}

void
connection_unwatch(struct request *request)
{
	if (request->client && request->client->waiting == request)
		request->client->waiting = NULL;
}

/* Called when the client of a waiting request has closed the connection. Ends
 * the wait. */
static void
end_wait(struct server *server, struct request *request)
{
	connection_unwatch(request);
	request->is_closed = 1;
	if (request->wave)
		return; /* The writer has the request. See polls_back(). */
	if (request->stage == STAGE_POLL) {
		polls_remove(server, request);
		polls_answer_gone(request);
	} else if (request->stage == STAGE_OUTCOME) {
		outcomes_remove(server, request);
		refuse_gone(request);
	}
	server_resume(request);
}

void
connection_event(struct server *server, struct connection *c, uint32_t events)
{
	/* With TLS the first bytes are not a request, so request_begin() says
	 * when the request begins. */
	if (c->phase == PHASE_IDLE && (events & EPOLLIN) &&
	    !server->options->cert)
		connection_is(c, PHASE_READ);
	if (!(events & END_EVENTS))
		return;
	c->is_ended = 1;
	if (c->waiting)
		end_wait(server, c->waiting);
}

void
connections_tick(const struct server *server, int64_t now)
{
	for (struct connection *c = server->connections; c; c = c->next) {
		int is_slow = c->phase != PHASE_BUSY &&
			      now - c->since_ms > server->options->time_ms;
		int is_idle = server->drains && c->phase == PHASE_IDLE;

		if (is_slow || is_idle)
			shutdown(c->fd, SHUT_RDWR);
		else if (c->is_ended &&
			 (c->phase == PHASE_IDLE || c->phase == PHASE_READ))
			/* If the end of the client's data came together with
			 * the last bytes, libmicrohttpd does not notice the
			 * end. This call tells it to read again. It can still
			 * read what the client has sent. */
			shutdown(c->fd, SHUT_RD);
	}
}
