/*
 * library.c - the operations to measure, such as enqueue and claim, as readpast
 * does them.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include <readpast.h>

#include <stdlib.h>

#include "pg.h"

static const char payload[PAYLOAD];

struct library {
	rp_conn *conn;
	size_t put, take, held;
	rp_job_spec *jobs;
	rp_added *added;
	rp_verdict *verdicts;
};

static void
check(const struct library *l, int r)
{
	if (r < 0)
		die("library: %s", rp_last_error(l->conn)->message);
}

static rp_conn *
open_schema(const struct bench *b, const char *schema)
{
	char *url = server_library_url(b, schema);
	rp_options options = RP_OPTIONS_INIT;
	rp_conn *conn;
	rp_error error;

	options.schema = RP_SCHEMA_INSTALL;
	if (rp_open(url, &options, &conn, &error) < 0)
		die("rp_open: %s", error.message);
	free(url);
	return conn;
}

static void
create(const struct bench *b, const char *schema)
{
	rp_conn *plain = server_connect(b, schema);
	char *drop = text("drop schema if exists %s cascade", schema);
	rp_queue queue = RP_QUEUE_INIT;
	rp_conn *conn;

	server_execute(plain, drop);
	rp_close(plain);
	free(drop);
	conn = open_schema(b, schema);
	queue.name = QUEUE;
	if (rp_queue_set(conn, &queue) < 0)
		die("library: %s", rp_last_error(conn)->message);
	rp_close(conn);
}

static void
fill(const struct bench *b, const char *schema, size_t jobs)
{
	rp_conn *conn = server_connect(b, schema);
	char *insert = text(
		"insert into job (lane_id, seq, run_at, created_at, queue_id,"
		"                 max_attempts, payload)"
		" select q.lane_id, nextval('line'), now(),"
		"        now(), q.id, q.max_attempts,"
		"        decode(repeat('30', %d), 'hex')"
		"   from queue q, generate_series(1, %zu)",
		PAYLOAD, jobs);

	server_execute(conn, insert);
	server_execute(conn, "select open_lane(q.lane_id)"
			     " from queue q");
	rp_close(conn);
	free(insert);
}

static void *
open_library(const struct bench *b, const char *schema, size_t put, size_t take)
{
	struct library *l = allocate(sizeof(*l));

	l->conn = open_schema(b, schema);
	l->put = put;
	l->take = take;
	l->jobs = allocate((put + 1) * sizeof(*l->jobs));
	l->added = allocate((put + 1) * sizeof(*l->added));
	l->verdicts = allocate((take + 1) * sizeof(*l->verdicts));
	for (size_t i = 0; i < put; i++) {
		l->jobs[i] = (rp_job_spec)RP_JOB_SPEC_INIT;
		l->jobs[i].payload = payload;
		l->jobs[i].payload_size = sizeof(payload);
	}
	return l;
}

static void
close_library(void *handle)
{
	struct library *l = handle;

	if (l->held)
		check(l, rp_settle(l->conn, l->verdicts, l->held));
	rp_close(l->conn);
	free(l->jobs);
	free(l->added);
	free(l->verdicts);
	free(l);
}

static void *
native(void *handle)
{
	return rp_conn_native(((struct library *)handle)->conn);
}

static void
put(void *handle)
{
	struct library *l = handle;

	check(l, l->put == 1 ? rp_enqueue(l->conn, QUEUE, l->jobs, l->added)
			     : rp_enqueue_many(l->conn, QUEUE, l->jobs, l->put,
					       l->added));
}

static size_t
step(void *handle)
{
	struct library *l = handle;
	rp_batch *batch;

	check(l, rp_settle_and_claim(l->conn, l->verdicts, l->held, QUEUE,
				     l->take, NULL, &batch));
	for (size_t i = 0; i < l->held; i++)
		if (l->verdicts[i].result < 0)
			die("library: a verdict was refused");
	l->held = verdicts_on(batch, l->verdicts);
	return l->held;
}

static void
sweep(void *handle)
{
	struct library *l = handle;

	check(l, rp_sweep(l->conn, NULL));
}

const struct side library_side = {
	.prefix = "",
	.create = create,
	.fill = fill,
	.open = open_library,
	.close = close_library,
	.native = native,
	.put = put,
	.step = step,
	.sweep = sweep,
};
