/*
 * access_log.c - the access log: a line of JSON for each request.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "serve.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "internal.h"

/* A log line has at most this many bytes of the target. */
#define LINE_PATH 500

static int
open_log(const char *path)
{
	const int flags = O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK;
	int fd;

	if (strcmp(path, "-") == 0)
		return fcntl(1, F_DUPFD_CLOEXEC, 0);
	fd = open(path, O_WRONLY | flags, 0666);
	/* A named pipe that nobody reads yet cannot be opened only for writing
	 * without waiting for a reader. */
	return fd < 0 && errno == ENXIO ? open(path, O_RDWR | flags, 0666) : fd;
}

int
access_log_open(struct server *server)
{
	const char *path = server->options->log;

	if (!path)
		return 0;
	server->log_fd = open_log(path);
	return server->log_fd >= 0 ? 0
				   : complain(FAILED, "cannot write to %s: %s",
					      path, strerror(errno));
}

/* Write a line of the log, which begins with a line break. The line break is
 * written only if the line before was cut because the disk was full.
 *
 * If the log is a pipe that is full, because nobody reads it, the line is lost.
 * Otherwise the write would stop the server. If poll() reports that a pipe is
 * not full, a line of up to PIPE_BUF bytes fits. No line is longer, because the
 * target and the names in it are short. */
static void
write_line(struct server *server, const char *line)
{
	struct pollfd to = { .fd = server->log_fd, .events = POLLOUT };
	const char *from = line + !server->log_is_cut;
	size_t size = strlen(from);
	ssize_t n = -1;

	if (poll(&to, 1, 0) == 1 && to.revents & POLLOUT)
		n = write(server->log_fd, from, size);
	if (n > 0)
		server->log_is_cut = from[n - 1] != '\n';
	if (n != (ssize_t)size)
		atomic_fetch_add(&server->metrics.lines_lost, 1);
}

void
access_log(struct server *server, const struct request *request, int is_sent)
{
	struct timespec now;
	/* copies in which bytes that are not UTF-8 are replaced, because
	 * jansson refuses such bytes */
	char target[LINE_PATH + 1], method[32];
	json_t *line;
	char *text, *ended = NULL;

	if (server->log_fd < 0)
		return;
	rp__clean(target, sizeof(target), request->target);
	rp__clean(method, sizeof(method),
		  request->method ? request->method : "");
	clock_gettime(CLOCK_REALTIME, &now);
	line = json_pack(
		"{s:o, s:I, s:s, s:s, s:i, s:b, s:f, s:I}", "time",
		json_time((int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000),
		"request", (json_int_t)request->number, "method", method,
		"target", target, "status", request->answer.status, "sent",
		is_sent, "ms",
		(double)(monotonic_us() - request->began_us) / 1000, "body",
		(json_int_t)request->body_size);
	if (line && request->token)
		json_object_set_new(line, "token",
				    json_string(request->token->name));
	if (line && request->worker)
		json_object_set_new(line, "worker",
				    json_string(request->worker));
	if (!line)
		return;
	text = json_dumps(line, JSON_COMPACT | JSON_REAL_PRECISION(6));
	if (text && asprintf(&ended, "\n%s\n", text) >= 0)
		write_line(server, ended);
	free(text);
	free(ended);
	json_decref(line);
}
