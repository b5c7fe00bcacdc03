/*
 * loop.c - the loop: the thread that accepts connections, reads requests and
 * sends answers.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "serve.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "writes.h"

/* How often the loop checks whether a wait or a time limit is over. So a wait
 * may be this much longer than the client asked for. */
#define TICK_MS 100
/* When the server ends, it waits for up to DRAIN_MS until its last answers are
 * sent, and longer while a thread works on a request. Its answer then has
 * SEND_MS to be sent. After END_MS the process exits, even if a thread still
 * waits for the database. */
#define DRAIN_MS 8000
#define SEND_MS 500
#define END_MS 10000
#define MOST_PEM 1048576 /* bytes of a certificate or a key */

/* Values of epoll_data for descriptors that are not connections. The listener
 * with the index i has the value OF_LISTENER + i. For a connection, the value
 * is the address of its struct. */
enum { OF_MHD = 1, OF_WAKE, OF_SIGNAL, OF_LISTENER };

int64_t
now_ms(void)
{
	return monotonic_us() / 1000;
}

static int
watch(struct server *server, int fd, uint64_t of, uint32_t events)
{
	struct epoll_event event = { .events = events, .data.u64 = of };

	return epoll_ctl(server->epoll_fd, EPOLL_CTL_ADD, fd, &event);
}

static void
watch_listeners(const struct server *server, uint32_t events)
{
	for (size_t i = 0; i < server->listeners_count; i++) {
		struct epoll_event event = { .events = events,
					     .data.u64 = OF_LISTENER + i };

		epoll_ctl(server->epoll_fd, EPOLL_CTL_MOD,
			  server->listeners[i].fd, &event);
	}
}

void
server_pause_accept(struct server *server)
{
	server->accept_is_paused = 1;
	watch_listeners(server, 0);
}

/* ---- requests that come back from other threads ---- */

void
server_wake(struct server *server)
{
	const uint64_t one = 1;

	/* The write fails only if the counter of the eventfd is full, and then
	 * the loop wakes anyway. */
	if (write(server->wake_fd, &one, sizeof(one)) < 0)
		return;
}

void
server_done(struct server *server, struct request **requests, size_t n)
{
	pthread_mutex_lock(&server->lock);
	for (size_t i = 0; i < n; i++)
		list_add(&server->done, requests[i]);
	pthread_mutex_unlock(&server->lock);
	server_wake(server);
}

void
server_suspend(struct request *request)
{
	if (request->is_suspended)
		return;
	request->is_suspended = 1;
	mhd.suspend_connection(request->connection);
}

void
server_suspend_soon(struct request *request)
{
	struct server *server = request->server;

	request->is_suspended = 1;
	request->next_to_suspend = server->to_suspend;
	server->to_suspend = request;
}

static void
suspend_all(struct server *server)
{
	struct request *request = server->to_suspend;

	for (; request; request = request->next_to_suspend)
		mhd.suspend_connection(request->connection);
	server->to_suspend = NULL;
}

void
server_resume(struct request *request)
{
	if (!request->is_suspended)
		return;
	request->is_suspended = 0;
	mhd.resume_connection(request->connection);
}

/* If the request enqueued jobs, try the claims that wait for them. */
static void
wake_others(struct server *server, const struct request *request)
{
	const struct writes *writes = request->writes;

	if (writes && writes->specs_count && request->answer.status == 201)
		polls_wake(server, writes->queue, writes->specs_count);
}

/* Continue a request that another thread has given back. */
static void
take_back(struct server *server, struct request *request)
{
	if (!request->connection) {
		if (request->back)
			request->back(request);
		request_free(request);
		return;
	}
	wake_others(server, request);
	if (request->stage == STAGE_OUTCOME)
		outcomes_add(server, request);
	else if (request->stage != STAGE_POLL)
		server_resume(request);
	if (request->writes && request->writes->queues)
		polls_back(server, request);
}

static void
take_all_back(struct server *server)
{
	struct list done;
	struct request *request;
	uint64_t n;

	if (read(server->wake_fd, &n, sizeof(n)) < 0 && errno != EAGAIN)
		return;
	pthread_mutex_lock(&server->lock);
	done = server->done;
	server->done = (struct list){ 0 };
	pthread_mutex_unlock(&server->lock);
	server->pool.given -= done.count;
	while ((request = list_take(&done)))
		take_back(server, request);
	polls_take_ready(server);
	outcomes_take_ended(server);
}

/* ---- the loop ---- */

static void
tick(struct server *server)
{
	int64_t now = now_ms();

	if (now - server->ticked_at < TICK_MS)
		return;
	server->ticked_at = now;
	if (server->pool.given && server->drain_until < now + SEND_MS)
		server->drain_until = now + SEND_MS;
	if (server->accept_is_paused)
		watch_listeners(server, EPOLLIN);
	server->accept_is_paused = 0;
	polls_tick(server, now);
	outcomes_tick(server, now);
	events_tick(server, now);
	connections_tick(server, now);
}

static void *
exit_late(void *ctx)
{
	(void)ctx;
	sleep_us(END_MS * 1000);
	complain(FAILED, "the database has not answered for too long, so the "
			 "server exits without its answer");
	_exit(FAILED);
}

static void
limit_drain(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, exit_late, NULL) == 0)
		pthread_detach(thread);
}

/* Accept no more connections. The loop ends when the requests that have begun
 * are answered, or after DRAIN_MS if no thread works on a request by then. */
static void
begin_drain(struct server *server)
{
	if (server->drains)
		return;
	server->drains = 1;
	server->drain_until = now_ms() + DRAIN_MS;
	limit_drain();
	epoll_ctl(server->epoll_fd, EPOLL_CTL_DEL, server->signal_fd, NULL);
	listen_close(server);
	polls_end(server);
	outcomes_end(server);
	events_end(server);
}

static void
handle(struct server *server, const struct epoll_event *event)
{
	uint64_t of = event->data.u64;

	if (of == OF_WAKE)
		take_all_back(server);
	else if (of == OF_SIGNAL)
		begin_drain(server);
	else if (of >= OF_LISTENER && of < OF_LISTENER + MOST_LISTENERS)
		connections_accept(server,
				   server->listeners[of - OF_LISTENER].fd);
	else if (of >= OF_LISTENER + MOST_LISTENERS)
		connection_event(server, event->data.ptr, event->events);
}

static int
wait_ms(struct server *server)
{
	MHD_UNSIGNED_LONG_LONG ms;
	int ticks = server->connections_count || server->drains ||
		    server->accept_is_paused;
	int most = ticks ? TICK_MS : 1000;

	if (mhd.get_timeout(server->mhd, &ms) == MHD_YES &&
	    ms < (MHD_UNSIGNED_LONG_LONG)most)
		return (int)ms;
	return most;
}

static void
loop(struct server *server)
{
	struct epoll_event events[64];

	while (!server->drains ||
	       (server->connections_count && now_ms() < server->drain_until)) {
		int n = epoll_wait(server->epoll_fd, events, 64,
				   wait_ms(server));

		for (int i = 0; i < n; i++)
			handle(server, &events[i]);
		tick(server); /* it may give MHD answers to send */
		mhd.run(server->mhd);
		suspend_all(server);
	}
}

/* ---- beginning and end ---- */

static void
no_log(void *ctx, const char *format, va_list args)
{
	(void)ctx;
	(void)format;
	(void)args;
}

static size_t
keep_escaped(void *ctx, struct MHD_Connection *connection, char *text)
{
	(void)ctx;
	(void)connection;
	return strlen(text);
}

static int
start_http(struct server *server)
{
	const struct options *o = server->options;
	const struct MHD_OptionItem tls[] = {
		{ o->cert ? MHD_OPTION_HTTPS_MEM_CERT : MHD_OPTION_END, 0,
		  server->cert },
		{ o->cert ? MHD_OPTION_HTTPS_MEM_KEY : MHD_OPTION_END, 0,
		  server->key },
		{ MHD_OPTION_END, 0, NULL },
	};
	unsigned flags = MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME |
			 MHD_USE_NO_LISTEN_SOCKET | MHD_USE_ERROR_LOG |
			 (o->cert ? MHD_USE_TLS : 0);

	server->mhd = mhd.start_daemon(
		flags, 0, NULL, NULL, request_handle, server,
		MHD_OPTION_EXTERNAL_LOGGER, no_log, NULL,
		MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_BYTES,
		MHD_OPTION_CONNECTION_LIMIT, (unsigned)o->most_connections + 8,
		MHD_OPTION_UNESCAPE_CALLBACK, keep_escaped, NULL,
		MHD_OPTION_URI_LOG_CALLBACK, request_begin, server,
		MHD_OPTION_NOTIFY_COMPLETED, request_end, server,
		MHD_OPTION_NOTIFY_CONNECTION, connection_changed, server,
		MHD_OPTION_ARRAY, tls, MHD_OPTION_END);
	return server->mhd ? 0
			   : complain(FAILED, "cannot start the HTTP server%s",
				      o->cert ? ": check that the certificate "
						"and the key are valid and "
						"belong together"
					      : "");
}

static int
watch_all(struct server *server)
{
	const union MHD_DaemonInfo *info =
		mhd.get_daemon_info(server->mhd, MHD_DAEMON_INFO_EPOLL_FD);
	int failed;

	server->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	server->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	server->signal_fd = interrupt_fd();
	failed = !info || server->epoll_fd < 0 || server->wake_fd < 0 ||
		 watch(server, info->epoll_fd, OF_MHD, EPOLLIN) < 0 ||
		 watch(server, server->wake_fd, OF_WAKE, EPOLLIN) < 0 ||
		 watch(server, server->signal_fd, OF_SIGNAL, EPOLLIN) < 0;
	for (size_t i = 0; i < server->listeners_count && !failed; i++)
		failed = watch(server, server->listeners[i].fd, OF_LISTENER + i,
			       EPOLLIN) < 0;
	return failed ? complain(FAILED, "cannot watch sockets: %s",
				 strerror(errno))
		      : 0;
}

/* Read a certificate or a key. Returns the text of the file, which the caller
 * frees, or NULL after printing an error. */
static char *
read_pem(const char *path)
{
	FILE *file = fopen(path, "re");
	char *text = calloc(1, MOST_PEM + 1);
	size_t n = file && text ? fread(text, 1, MOST_PEM, file) : 0;

	if (n == 0 || n == MOST_PEM) {
		complain(FAILED, "cannot read %s: %s", path,
			 n == MOST_PEM ? "the file is too large"
			 : file && text && !ferror(file) ? "the file is empty"
							 : strerror(errno));
		free(text);
		text = NULL;
	}
	if (file)
		fclose(file);
	return text;
}

static int
read_certificate(struct server *server)
{
	const struct options *o = server->options;

	if (!o->cert)
		return 0;
	server->cert = read_pem(o->cert);
	server->key = server->cert ? read_pem(o->key) : NULL;
	return server->key ? 0 : FAILED;
}

static int
run(struct server *server)
{
	int status = mhd_load("serve") < 0 ? FAILED : access_log_open(server);

	if (!status)
		status = read_certificate(server);
	if (!status)
		status = listen_all(server);
	if (!status)
		status = start_http(server);
	if (!status)
		status = watch_all(server);
	if (!status)
		status = pool_start(server);
	if (!status)
		status = polls_start(server);
	if (!status)
		status = outcomes_start(server);
	if (!status) {
		catch_interrupts();
		listen_say(server);
		loop(server);
	}
	return status;
}

/* Resume every connection that is still suspended. If there is one,
 * MHD_stop_daemon() aborts the process. The threads of the pool have ended, so
 * no thread takes the reads that are left. */
static void
resume_all(struct server *server)
{
	struct request *request;

	take_all_back(server);
	events_end(server);
	while ((request = list_take(&server->pool.reads)))
		server_resume(request);
}

int
serve(const struct options *options)
{
	struct server server = {
		.options = options, .log_fd = -1, .epoll_fd = -1, .wake_fd = -1
	};
	int status;

	pthread_mutex_init(&server.lock, NULL);
	pthread_mutex_init(&server.tokens.lock, NULL);
	pthread_mutex_init(&server.polls.lock, NULL);
	pthread_mutex_init(&server.clients.lock, NULL);
	pthread_mutex_init(&server.outcomes.lock, NULL);
	status = run(&server);
	listen_close(&server);
	polls_stop(&server);
	outcomes_stop(&server);
	pool_stop(&server);
	if (server.epoll_fd >= 0)
		resume_all(&server);
	if (server.mhd)
		mhd.stop_daemon(server.mhd);
	pool_close(&server);
	tokens_free(&server.tokens);
	free(server.cert);
	free(server.key);
	if (server.log_fd >= 0)
		close(server.log_fd);
	close(server.epoll_fd);
	close(server.wake_fd);
	pthread_mutex_destroy(&server.outcomes.lock);
	pthread_mutex_destroy(&server.clients.lock);
	pthread_mutex_destroy(&server.polls.lock);
	pthread_mutex_destroy(&server.tokens.lock);
	pthread_mutex_destroy(&server.lock);
	return status;
}
