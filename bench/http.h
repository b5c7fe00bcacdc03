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
enum http_kind { SEND_JOB, SEND_TURN };

/* A database and how to measure it. */
struct http_bench {
	struct report *report;
	const char *url;
	int clients; /* at most HTTP_CLIENTS */
	double seconds;
	/* Add this many ready jobs to the queue. */
	void (*fill)(const struct http_bench *b, size_t jobs);
	/* Measures without a server: one process for each client does the same
	 * work on the database. Returns the jobs per second of all these
	 * processes. */
	double (*own)(const struct http_bench *b, enum http_kind kind);
	const void *ctx;
};

/* Add the rows to the report. A goal is a quotient: the rate of the clients
 * must be at least `own_goal` times the rate of the processes that work without
 * a server, and at least `share_goal` times the rate of a server that leaves
 * out the database. 0: no goal. */
void http_add_rows(struct report *report, double own_goal, double share_goal);
void http_measure(const struct http_bench *b);

#endif
