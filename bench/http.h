/*
 * http.h - measure `readpast serve` with clients that send one job at a time.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#ifndef BENCH_HTTP_H
#define BENCH_HTTP_H

#include <stddef.h>

#include "report.h"

#define HTTP_CLIENTS 32

/* The requests that the clients send. */
enum http_kind { SEND_JOB, SEND_TURN, SEND_WRONG };

/* A database and how to measure it. */
struct http_bench {
	struct report *report;
	const char *url;
	int clients; /* at most HTTP_CLIENTS */
	double seconds;
	size_t jobs; /* ready jobs for a sample; no client may find none */
	/* Make the queue have this many more ready jobs. */
	void (*fill)(const struct http_bench *b, size_t jobs);
	/* Returns the jobs per second of as many processes as there are
	 * clients, which do the same without a server. */
	double (*own)(const struct http_bench *b, enum http_kind kind);
	const void *ctx;
};

/* Add the rows to the report. If `own_goal` and `bare_goal` are not 0, they are
 * how many times as fast as the processes and as the server without a database
 * the clients must be. */
void http_add_rows(struct report *report, double own_goal, double bare_goal);
void http_measure(const struct http_bench *b);

#endif
