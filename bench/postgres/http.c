/*
 * http.c - measure `readpast serve` on PostgreSQL; see ../http.c.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include <stdlib.h>

#include "../http.h"
#include "pg.h"

#define SCHEMA "http"

static void
fill(const struct http_bench *http, size_t jobs)
{
	library_side.create(http->ctx, SCHEMA);
	library_side.fill(http->ctx, SCHEMA, jobs);
}

static double
own(const struct http_bench *http, enum http_kind kind)
{
	size_t n = (size_t)http->clients;
	const struct load load = {
		.side = &library_side,
		.schema = SCHEMA,
		.producers = kind == SEND_JOB ? n : 0,
		.workers = kind == SEND_JOB ? 0 : n,
		.put = 1,
		.take = 1,
		.seconds = http->seconds,
	};
	struct outcome outcome;

	clients_run(http->ctx, &load, &outcome);
	return kind == SEND_JOB ? outcome.put : outcome.finished;
}

void
http_part(const struct bench *b)
{
	char *url = server_library_url(b, SCHEMA);
	const struct http_bench http = {
		.report = b->report,
		.url = url,
		.clients = b->producers < HTTP_CLIENTS ? (int)b->producers
						       : HTTP_CLIENTS,
		.seconds = b->seconds,
		.fill = fill,
		.own = own,
		.ctx = b,
	};

	http_add_rows(b->report, 0, 0);
	for (int round = 0; round < b->rounds; round++) {
		progress("HTTP", round, b->rounds);
		http_measure(&http);
	}
	free(url);
}
