/*
 * http.c - measure `readpast serve` with clients that send one job at a time.
 *
 * The clients are keep-alive connections of this process. Each client sends its
 * next request when it has the answer to the last one. Clients and server share
 * the processors. Two other rates are measured for comparison:
 * - the rate without a server. As many processes as there are clients do the
 *   same work on the database, with one transaction for each job.
 * - the rate of a server that leaves out the database (no_database.c), for the
 *   same requests.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "basics.h"
#include "http.h"

#define ANSWER 4096
#define JOBS_PER_SECOND 80000 /* more than the clients can do */

struct client {
	int fd;
	size_t size; /* bytes of the answer so far */
	char answer[ANSWER + 1];
	char claim[64]; /* the claim to settle with the next request */
};

static const struct {
	const char *row, *own, *bare;
	enum http_kind kind;
} rows[] = {
	{ "http.enqueue", "http.own.enqueue", "http.no_database.enqueue",
	  SEND_JOB },
	{ "http.turn", "http.own.turn", "http.no_database.turn", SEND_TURN },
};
#define ROWS (sizeof(rows) / sizeof(*rows))

void
http_add_rows(struct report *report, double own_goal, double share_goal)
{
	for (size_t i = 0; i < ROWS; i++) {
		char *share = text("%s/no_database", rows[i].row);

		report_row(report, rows[i].own, "jobs/s", NULL, 0);
		report_row(report, rows[i].bare, "jobs/s", NULL, 0);
		report_row(report, rows[i].row, "jobs/s", rows[i].own, 0);
		report_row(report, share, "jobs/s", rows[i].bare, 0);
		if (own_goal > 0)
			report_goal(report, rows[i].row, ">=", own_goal);
		if (share_goal > 0)
			report_goal(report, share, ">=", share_goal);
		free(share);
	}
}

/* ---- the server ---- */

/* Start a server, and return its port. */
static int
start_server(const char *program, const char *url, pid_t *ret_pid)
{
	const char *argv[] = { program,    "--db",        url, "serve",
			       "--listen", "127.0.0.1:0", NULL };
	posix_spawn_file_actions_t actions;
	char line[200];
	const char *colon;
	FILE *said;
	int ends[2], port;

	if (pipe(ends) < 0)
		die("pipe failed");
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
	posix_spawn_file_actions_addclose(&actions, ends[0]);
	if (posix_spawn(ret_pid, program, &actions, NULL, (char *const *)argv,
			environ) != 0)
		die("cannot start %s", program);
	posix_spawn_file_actions_destroy(&actions);
	close(ends[1]);
	said = fdopen(ends[0], "r");
	if (!said || !fgets(line, sizeof(line), said))
		die("the server did not start");
	colon = strrchr(line, ':');
	port = colon ? atoi(colon + 1) : 0;
	fclose(said);
	return port;
}

static void
end_server(pid_t pid)
{
	int status;

	kill(pid, SIGTERM);
	if (waitpid(pid, &status, 0) != pid || status != 0)
		die("the server ended with %d", status);
}

/* ---- the clients ---- */

static void
connect_to(struct client *c, int port)
{
	const int on = 1;
	struct sockaddr_in address = { .sin_family = AF_INET,
				       .sin_port = htons((uint16_t)port) };

	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	c->fd = socket(AF_INET, SOCK_STREAM, 0);
	if (c->fd < 0 ||
	    connect(c->fd, (struct sockaddr *)&address, sizeof(address)) < 0)
		die("cannot connect to the server");
	setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
}

static void
send_request(struct client *c, int port, enum http_kind kind)
{
	static const char job[] = "{\"payload\":\"%0*d\"}";
	static const char turn[] = "{\"queues\":[\"" QUEUE "\"],\"verdicts\":["
				   "{\"claim\":\"%s\",\"verdict\":\"done\"}]}";
	char body[PAYLOAD + 100], request[PAYLOAD + 400];
	int size;

	if (kind == SEND_JOB)
		snprintf(body, sizeof(body), job, PAYLOAD, 0);
	else if (*c->claim)
		snprintf(body, sizeof(body), turn, c->claim);
	else
		strcpy(body, "{\"queues\":[\"" QUEUE "\"],\"verdicts\":[]}");
	size = snprintf(request, sizeof(request),
			"POST /v1/%s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n"
			"Content-Type: application/json\r\n"
			"Content-Length: %zu\r\n\r\n%s",
			kind == SEND_TURN ? "settle-and-claim"
					  : "queues/" QUEUE "/jobs",
			port, strlen(body), body);
	c->size = 0;
	if (send(c->fd, request, (size_t)size, MSG_NOSIGNAL) != size)
		die("the server has closed a connection");
}

/* Returns whether the answer is complete. */
static int
is_complete(const struct client *c)
{
	const char *length = strcasestr(c->answer, "\r\nContent-Length:");
	const char *body = strstr(c->answer, "\r\n\r\n");

	return length && body &&
	       c->size >= (size_t)(body + 4 - c->answer) +
				  strtoul(length + 17, NULL, 10);
}

static void
take_answer(struct client *c, enum http_kind kind)
{
	const char *claim = strstr(c->answer, "\"claim\":\"");
	int status = atoi(c->answer + strlen("HTTP/1.1 "));

	if (status != (kind == SEND_JOB ? 201 : 200))
		die("the server answered: %s", c->answer);
	if (kind == SEND_JOB)
		return;
	if (!claim)
		die("the queue is empty: %s", c->answer);
	snprintf(c->claim, sizeof(c->claim), "%.*s",
		 (int)strcspn(claim + 9, "\""), claim + 9);
}

/* Let the clients send requests for `seconds`. Returns the answers per
 * second. */
static double
ask(struct client *clients, int n, int port, enum http_kind kind,
    double seconds)
{
	double began = seconds_now(), now = began;
	struct pollfd polls[HTTP_CLIENTS];
	int64_t answers = 0;
	int open = n;

	for (int i = 0; i < n; i++) {
		polls[i] = (struct pollfd){ .fd = clients[i].fd,
					    .events = POLLIN };
		send_request(&clients[i], port, kind);
	}
	while (open > 0 && poll(polls, (nfds_t)n, 10000) > 0) {
		now = seconds_now();
		for (int i = 0; i < n; i++) {
			struct client *c = &clients[i];
			ssize_t got;

			if (!polls[i].revents)
				continue;
			got = recv(c->fd, c->answer + c->size, ANSWER - c->size,
				   0);
			if (got <= 0)
				die("the server has closed a connection");
			c->size += (size_t)got;
			c->answer[c->size] = '\0';
			if (!is_complete(c))
				continue;
			take_answer(c, kind);
			answers++;
			if (now - began < seconds)
				send_request(c, port, kind);
			else
				open--;
		}
	}
	if (open > 0)
		die("the server does not answer");
	return (double)answers / (now - began);
}

static double
measure(const struct http_bench *b, const char *program, enum http_kind kind)
{
	size_t n = (size_t)b->clients;
	struct client *clients = allocate(n * sizeof(*clients));
	pid_t pid;
	int port = start_server(program, b->url, &pid);
	double rate;

	for (size_t i = 0; i < n; i++)
		connect_to(&clients[i], port);
	rate = ask(clients, b->clients, port, kind, b->seconds);
	for (size_t i = 0; i < n; i++)
		close(clients[i].fd);
	end_server(pid);
	free(clients);
	return rate;
}

void
http_measure(const struct http_bench *b)
{
	size_t jobs = (size_t)(JOBS_PER_SECOND * b->seconds);
	double rate;

	for (size_t i = 0; i < ROWS; i++) {
		char *share = text("%s/no_database", rows[i].row);

		b->fill(b, jobs);
		report_sample(b->report, rows[i].own, b->own(b, rows[i].kind));
		report_sample(b->report, rows[i].bare,
			      measure(b, NO_DATABASE, rows[i].kind));
		b->fill(b, jobs);
		rate = measure(b, COMMAND, rows[i].kind);
		report_sample(b->report, rows[i].row, rate);
		report_sample(b->report, share, rate);
		free(share);
	}
}
