/*
 * listen.c - the addresses that the server listens on.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "serve.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define UNIX "unix:"
#define BACKLOG 1024
#define OWN_FILES 64 /* open files besides the connections */

static const char listen_option[] = "serve: --listen";

static int
is_unix(const char *address)
{
	return strncmp(address, UNIX, strlen(UNIX)) == 0;
}

struct addrinfo *
listen_resolve(const char *option, const char *text)
{
	const struct addrinfo hints = { .ai_flags = AI_PASSIVE | AI_NUMERICSERV,
					.ai_socktype = SOCK_STREAM };
	const char *colon = strrchr(text, ':'), *name = text;
	struct addrinfo *found = NULL;
	char host[256];
	size_t n = colon ? (size_t)(colon - text) : 0;
	int64_t port;
	int r;

	if (n >= 2 && *text == '[' && text[n - 1] == ']') {
		name++;
		n -= 2;
	}
	if (n == 0 || n >= sizeof(host) || parse_whole(colon + 1, &port) < 0 ||
	    port > 65535) {
		complain(USAGE,
			 "%s %.80s: expected ADDRESS:PORT, such as "
			 "127.0.0.1:8080%s",
			 option, text,
			 option == listen_option ? ", or unix:PATH" : "");
		return NULL;
	}
	memcpy(host, name, n);
	host[n] = '\0';
	r = getaddrinfo(host, colon + 1, &hints, &found);
	if (r == 0)
		return found;
	complain(USAGE, "%s %.80s: %s", option, text, gai_strerror(r));
	return NULL;
}

int
listen_check(const struct options *options)
{
	for (size_t i = 0; i < options->listen.count; i++) {
		const char *text = options->listen.items[i];
		struct addrinfo *found;
		int is_open;

		if (strcmp(text, UNIX) == 0)
			return complain(USAGE,
					"serve: --listen %s: expected "
					"unix:PATH",
					text);
		if (is_unix(text))
			continue;
		found = listen_resolve(listen_option, text);
		if (!found)
			return USAGE;
		is_open = !is_loopback(found->ai_addr);
		freeaddrinfo(found);
		if (is_open && !options->tokens && !options->insecure)
			return complain(
				USAGE,
				"serve: --listen %.80s: other machines can "
				"connect to this address; give --tokens, so "
				"that only holders of a token see and change "
				"jobs (readpast token add makes one), or "
				"--insecure",
				text);
	}
	return 0;
}

/* Remove a socket that a server left behind when it was killed. A file that is
 * no socket stays, although connect() fails in the same way. */
static void
remove_left(int fd, const struct sockaddr_un *address)
{
	struct stat file;

	if (connect(fd, (const struct sockaddr *)address, sizeof(*address)) <
		    0 &&
	    errno == ECONNREFUSED && lstat(address->sun_path, &file) == 0 &&
	    S_ISSOCK(file.st_mode))
		unlink(address->sun_path);
}

/* Open a socket in the file system, to which only this user may connect. */
static int
open_unix(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	mode_t mask;
	int fd, r;

	if (strlen(path) >= sizeof(address.sun_path) || !*path) {
		errno = ENAMETOOLONG;
		return -1;
	}
	strcpy(address.sun_path, path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -1;
	remove_left(fd, &address);
	mask = umask(0077);
	r = bind(fd, (struct sockaddr *)&address, sizeof(address));
	umask(mask);
	if (r < 0) {
		close(fd);
		return -1;
	}
	return fd;
}

/* Store which file the socket is, so that remove_file() can recognize it. */
static void
note_file(struct listener *l)
{
	struct stat file;

	if (l->fd >= 0 && lstat(l->path, &file) == 0) {
		l->device = file.st_dev;
		l->inode = file.st_ino;
	}
}

/* Remove the socket's file, unless another server now has a socket of its own
 * at this path. */
static void
remove_file(const struct listener *l)
{
	struct stat file;

	if (lstat(l->path, &file) == 0 && file.st_dev == l->device &&
	    file.st_ino == l->inode)
		unlink(l->path);
}

static int
open_tcp(const struct addrinfo *found)
{
	const int on = 1;
	int fd = socket(found->ai_family,
			SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return -1;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (bind(fd, found->ai_addr, found->ai_addrlen) < 0) {
		close(fd);
		return -1;
	}
	return fd;
}

/* Write the address of a socket in the form that the header Host has. */
static void
name_address(struct listener *listener)
{
	struct sockaddr_storage address = { 0 };
	socklen_t size = sizeof(address);
	char host[INET6_ADDRSTRLEN] = "", port[8] = "";

	getsockname(listener->fd, (struct sockaddr *)&address, &size);
	getnameinfo((struct sockaddr *)&address, size, host, sizeof(host), port,
		    sizeof(port), NI_NUMERICHOST | NI_NUMERICSERV);
	snprintf(listener->name, sizeof(listener->name),
		 strchr(host, ':') ? "[%s]:%s" : "%s:%s", host, port);
}

static int
open_one(struct server *server, const char *text)
{
	struct listener *l = &server->listeners[server->listeners_count];

	if (is_unix(text)) {
		l->path = text + strlen(UNIX);
		l->fd = open_unix(l->path);
		note_file(l);
	} else {
		struct addrinfo *found = listen_resolve(listen_option, text);

		if (!found)
			return USAGE;
		l->fd = open_tcp(found);
		freeaddrinfo(found);
	}
	if (l->fd < 0 || listen(l->fd, BACKLOG) < 0)
		return complain(FAILED, "cannot listen on %.80s: %s", text,
				strerror(errno));
	server->listeners_count++;
	if (!l->path)
		name_address(l);
	return 0;
}

/* Raise this process's limit of open files, because each connection needs a
 * descriptor. Returns 0, or an exit status after printing an error. */
static int
raise_limit(const struct options *options)
{
	rlim_t need = (rlim_t)options->most_connections + OWN_FILES;
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_cur >= need)
		return 0;
	limit.rlim_cur = need < limit.rlim_max ? need : limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
	if (limit.rlim_cur >= need)
		return 0;
	return complain(FAILED,
			"--connections %lld needs %lld open files, and the "
			"limit is %lld (see ulimit -n)",
			(long long)options->most_connections, (long long)need,
			(long long)limit.rlim_max);
}

int
listen_all(struct server *server)
{
	const struct texts *texts = &server->options->listen;
	int status = raise_limit(server->options);

	for (size_t i = 0; i < texts->count && !status; i++)
		status = open_one(server, texts->items[i]);
	return status;
}

void
listen_say(const struct server *server)
{
	const struct options *o = server->options;

	for (size_t i = 0; i < server->listeners_count; i++) {
		const struct listener *l = &server->listeners[i];

		if (l->path)
			printf("listening on unix:%s\n", l->path);
		else
			printf("listening on %s://%s%s/\n",
			       o->cert ? "https" : "http", l->name, o->prefix);
	}
	fflush(stdout);
}

void
listen_close(struct server *server)
{
	for (size_t i = 0; i < server->listeners_count; i++) {
		close(server->listeners[i].fd);
		if (server->listeners[i].path)
			remove_file(&server->listeners[i]);
	}
	server->listeners_count = 0;
}
