/*
 * raw.c - the floor of enqueue: an insert of many rows into the library's own
 * table, and nothing else.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "pg.h"

#include <stdio.h>
#include <stdlib.h>

static const char payload[PAYLOAD];

struct raw {
	PGconn *conn;
	size_t put;
	const char **params;
	int *sizes, *formats;
};

static void
create(const struct bench *b, const char *schema)
{
	library_side.create(b, schema);
}

/* Queue and lane are the same for all rows: written out. */
static char *
insert(PGconn *conn, size_t rows)
{
	int queue = (int)server_number(conn, "select id from queue");
	char *sql = NULL;
	size_t size;
	FILE *f = open_memstream(&sql, &size);

	if (!f)
		die("out of memory");
	fputs("insert into job (lane_id, seq, run_at, created_at, queue_id,"
	      " max_attempts, payload) values ",
	      f);
	for (size_t i = 1; i <= rows; i++)
		fprintf(f,
			"%s(%d, nextval('line'), now(), now(), %d, 3,"
			" $%zu::bytea)",
			i > 1 ? "," : "", queue * 1024 + 402, queue, i);
	fclose(f);
	return sql;
}

static void *
open_raw(const struct bench *b, const char *schema, size_t put, size_t take)
{
	struct raw *r = allocate(sizeof(*r));
	char *sql;

	(void)take;
	r->conn = server_connect(b, schema);
	r->put = put;
	r->params = allocate(put * sizeof(*r->params));
	r->sizes = allocate(put * sizeof(*r->sizes));
	r->formats = allocate(put * sizeof(*r->formats));
	for (size_t i = 0; i < put; i++) {
		r->params[i] = payload;
		r->sizes[i] = sizeof(payload);
		r->formats[i] = 1;
	}
	sql = insert(r->conn, put);
	server_check(r->conn, PQprepare(r->conn, "put", sql, 0, NULL));
	free(sql);
	return r;
}

static void
close_raw(void *handle)
{
	struct raw *r = handle;

	PQfinish(r->conn);
	free(r->params);
	free(r->sizes);
	free(r->formats);
	free(r);
}

static PGconn *
native(void *handle)
{
	return ((struct raw *)handle)->conn;
}

static void
put(void *handle)
{
	struct raw *r = handle;

	server_check(r->conn,
		     PQexecPrepared(r->conn, "put", (int)r->put, r->params,
				    r->sizes, r->formats, 1));
}

const struct side raw_side = {
	.prefix = "raw.",
	.create = create,
	.open = open_raw,
	.close = close_raw,
	.native = native,
	.put = put,
};
