/*
 * raw.c - insert rows into the library's own table and do nothing else. The
 * benchmarks compare an enqueue with this insert.
 *
 * The rows are passed as one array. A VALUES list with a parameter for each
 * value takes a quarter longer.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "client.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#define BYTEA 17 /* the OID of type bytea */

struct raw {
	PGconn *conn;
	char *jobs; /* the jobs that one put() inserts, as a binary array */
	size_t size;
};

static void
create(const struct bench *b, const char *schema)
{
	library_side.create(b, schema);
}

static char *
add_number(char *end, size_t value)
{
	uint32_t n = htonl((uint32_t)value);

	memcpy(end, &n, sizeof(n));
	return end + sizeof(n);
}

/* Make an array in the server's binary form, with one dimension, no nulls,
 * elements of type bytea and the lower bound 1. */
static void
make_jobs(struct raw *r, size_t put)
{
	const size_t head[] = { 1, 0, BYTEA, put, 1 };
	char *end;

	r->size = sizeof(uint32_t) * 5 + put * (sizeof(uint32_t) + PAYLOAD);
	r->jobs = end = allocate(r->size);
	for (size_t i = 0; i < 5; i++)
		end = add_number(end, head[i]);
	for (size_t i = 0; i < put; i++)
		end = add_number(end, PAYLOAD) + PAYLOAD;
}

/* Prepare the statement that inserts the jobs. All rows have the same queue and
 * lane (the ready line of one priority), so these values are literals. A single
 * row is inserted without an array, because that is faster. */
static void
prepare(const struct bench *b, const char *schema, struct raw *r, size_t put)
{
	rp_conn *conn = server_connect(b, schema);
	int queue = (int)server_number(conn, "select id from queue");
	int lane = (int)server_number(conn, "select lane_id from queue");
	char *sql = text("insert into job (lane_id, run_at, created_at,"
			 "                 queue_id, max_attempts, payload)"
			 " select %d, now(), now(), %d, 3, %s",
			 lane, queue,
			 put == 1 ? "$1::bytea" : "unnest($1::bytea[])");

	client_check(r->conn, PQprepare(r->conn, "put", sql, 0, NULL));
	rp_close(conn);
	free(sql);
}

static void *
open_raw(const struct bench *b, const char *schema, size_t put, size_t take)
{
	struct raw *r = allocate(sizeof(*r));

	(void)take;
	r->conn = client_connect(b, schema);
	make_jobs(r, put);
	if (put == 1) {
		memset(r->jobs, 0, r->size);
		r->size = PAYLOAD;
	}
	prepare(b, schema, r, put);
	return r;
}

static void
close_raw(void *handle)
{
	struct raw *r = handle;

	PQfinish(r->conn);
	free(r->jobs);
	free(r);
}

static void *
native(void *handle)
{
	return ((struct raw *)handle)->conn;
}

static void
put(void *handle)
{
	struct raw *r = handle;
	const char *params[] = { r->jobs };
	const int size = (int)r->size, binary = 1;

	client_check(r->conn, PQexecPrepared(r->conn, "put", 1, params, &size,
					     &binary, 1));
}

const struct side raw_side = {
	.prefix = "raw.",
	.create = create,
	.open = open_raw,
	.close = close_raw,
	.native = native,
	.put = put,
};
