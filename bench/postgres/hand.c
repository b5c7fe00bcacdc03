/*
 * hand.c - the queue that a user would write instead of using readpast. It has
 * a status column, a partial index, and `for update skip locked`. The
 * benchmarks compare readpast with this queue.
 *
 * Claim and finish are prepared statements, and each runs in a transaction of
 * its own. The claim is the statement that most people write, and it can claim
 * more jobs than its limit. The reason is that PostgreSQL may run the
 * sub-select several times: as the inner side of a join, or again for a row
 * that another transaction has changed during the claim. Each time the
 * sub-select skips the rows that are locked at that moment.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "client.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SCHEMA "hand" /* the schema with the tables of this queue */
#define ID_ROOM 21    /* room for the longest bigint and a separator */

struct hand {
	PGconn *conn;
	char *jobs; /* the jobs that one put() inserts, as an array literal */
	char *ids;  /* the ids of the claimed jobs, as an array literal */
	size_t room;
	char most[24];
	size_t put, take, held;
};

static void
create(const struct bench *b, const char *schema)
{
	rp_conn *conn = server_connect(b, SCHEMA);

	(void)schema;
	server_execute(
		conn,
		"create schema if not exists " SCHEMA ";"
		"drop table if exists jobs;"
		"create table jobs(id bigserial primary key,"
		" queue text not null, status text not null default 'pending',"
		" priority int not null default 0,"
		" run_at timestamptz not null default now(),"
		" attempts int not null default 0, locked_at timestamptz,"
		" locked_by text, finished_at timestamptz,"
		" payload text not null);"
		"create index on jobs(queue, priority, id)"
		" where status = 'pending'");
	rp_close(conn);
}

static void
fill(const struct bench *b, const char *schema, size_t jobs)
{
	rp_conn *conn = server_connect(b, SCHEMA);
	char *insert = text("insert into jobs (queue, payload)"
			    " select '" QUEUE "', repeat('0', %d)"
			    "   from generate_series(1, %zu)",
			    PAYLOAD, jobs);

	(void)schema;
	server_execute(conn, insert);
	/* Collect statistics, because without them the planner assumes that the
	 * table is empty. */
	server_execute(conn, "analyze jobs");
	rp_close(conn);
	free(insert);
}

static void
prepare(PGconn *conn, const char *name, const char *sql)
{
	client_check(conn, PQprepare(conn, name, sql, 0, NULL));
}

static void *
open_hand(const struct bench *b, const char *schema, size_t put, size_t take)
{
	struct hand *h = allocate(sizeof(*h));
	char *end;

	(void)schema;
	h->conn = client_connect(b, SCHEMA);
	h->put = put;
	h->take = take;
	snprintf(h->most, sizeof(h->most), "%zu", take);
	h->jobs = end = allocate(put * (PAYLOAD + 1) + 3);
	for (size_t i = 0; i < put; i++) {
		*end++ = i ? ',' : '{';
		memset(end, '0', PAYLOAD);
		end += PAYLOAD;
	}
	*end = '}';
	prepare(h->conn, "put",
		"insert into jobs (queue, payload)"
		" select '" QUEUE "', unnest($1::text[])");
	prepare(h->conn, "claim",
		"update jobs set status='running', attempts=attempts+1,"
		" locked_at=now(), locked_by=$1"
		" where id in (select id from jobs where queue=$2"
		" and status='pending' and run_at<=now()"
		" order by priority, id limit $3 for update skip locked)"
		" returning id, payload");
	prepare(h->conn, "finish", "delete from jobs where id = any($1)");
	return h;
}

static void
close_hand(void *handle)
{
	struct hand *h = handle;

	PQfinish(h->conn);
	free(h->ids);
	free(h->jobs);
	free(h);
}

static void *
native(void *handle)
{
	return ((struct hand *)handle)->conn;
}

static void
put(void *handle)
{
	struct hand *h = handle;
	const char *params[] = { h->jobs };

	client_check(h->conn,
		     PQexecPrepared(h->conn, "put", 1, params, NULL, NULL, 0));
}

static void
finish(struct hand *h)
{
	const char *params[] = { h->ids };

	client_check(h->conn, PQexecPrepared(h->conn, "finish", 1, params, NULL,
					     NULL, 0));
}

/* Store the ids of all claimed jobs, so that finish() can delete them. A claim
 * may return more jobs than its limit (see the top of this file), so the room
 * for the ids grows. A job whose id is not stored would stay in the table for
 * ever. */
static void
hold(struct hand *h, PGresult *claimed)
{
	char *end;

	h->held = (size_t)PQntuples(claimed);
	if (h->room < h->held * ID_ROOM + 2) {
		free(h->ids);
		h->room = h->held * ID_ROOM + 2;
		h->ids = allocate(h->room);
	}
	end = h->ids;
	for (size_t i = 0; i < h->held; i++)
		end += sprintf(end, "%c%s", i ? ',' : '{',
			       PQgetvalue(claimed, (int)i, 0));
	strcpy(end, "}");
}

static size_t
step(void *handle)
{
	struct hand *h = handle;
	const char *params[] = { "worker", QUEUE, h->most };
	PGresult *result;

	if (h->held)
		finish(h);
	result = PQexecPrepared(h->conn, "claim", 3, params, NULL, NULL, 0);
	hold(h, result);
	client_check(h->conn, result);
	return h->held;
}

const struct side hand_side = {
	.prefix = "hand.",
	.create = create,
	.fill = fill,
	.open = open_hand,
	.close = close_hand,
	.native = native,
	.put = put,
	.step = step,
};
