/*
 * http_sqlite.c - measure `readpast serve` on a SQLite file; see http.c.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include <stdlib.h>

#include "crowd.h"
#include "http.h"

#define LEVEL "full"
#define SAMPLES 3 /* a sample lasts this many times b->seconds */

static void
fill(const struct http_bench *b, size_t jobs)
{
	database_fill(b->ctx, jobs);
}

static double
own(const struct http_bench *b, enum http_kind kind)
{
	const enum operation what = kind == SEND_JOB ? ENQUEUE : TURN;
	const struct crowd crowd = { &library_side, b->ctx, LEVEL,
				     b->clients,    what,   1,
				     b->seconds };
	double fairness;

	return crowd_run(&crowd, &fairness);
}

void
http_rows(const struct bench *b)
{
	http_add_rows(b->report, 3, 0.6);
}

void
http_round(const struct bench *b, int round)
{
	char *path = database_path(b, "http");
	char *url = text("sqlite:%s?synchronous=" LEVEL, path);
	const struct http_bench http = {
		.report = b->report,
		.url = url,
		.clients =
			b->clients < HTTP_CLIENTS ? b->clients : HTTP_CLIENTS,
		.seconds = SAMPLES * b->seconds,
		.fill = fill,
		.own = own,
		.ctx = path,
	};

	if (round >= 0)
		http_measure(&http);
	free(url);
	free(path);
}
