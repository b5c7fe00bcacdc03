/*
 * plain.c - measure what a job costs in a queue without limits, in numbers that
 * do not depend on the machine's load.
 *
 * If a new feature is added that this queue does not use, the numbers must stay
 * the same. To check this, compare the numbers of two builds.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "grouped.h"

#include <stdlib.h>

#define SCHEMA "readpast"
#define BATCH 100
#define TIMES 200 /* number of batches that are measured */

static const char *const steps[] = { "enqueue", "finish" };

static void
add(const struct bench *b, const char *what, const char *step, double value,
    const char *unit)
{
	char *name = text("plain.%s.%s", what, step);

	row_add(b, name, unit, NULL, NULL, 0);
	report_sample(b->report, name, value);
	free(name);
}

/* Return the number of buffers that all sessions have accessed. A session adds
 * its own number when it ends. */
static double
all_buffers(rp_conn *conn)
{
	return server_number(conn, "select (blks_hit + blks_read)::bigint"
				   "  from pg_stat_database"
				   " where datname = current_database()");
}

/* Measure calls that enqueue a batch or, if `finishes` is not 0, calls that
 * finish a batch and claim the next one. */
static void
measure(const struct bench *b, rp_conn *conn, int finishes)
{
	const struct side *side = &library_side;
	double jobs = (double)BATCH * TIMES, before;
	const char *step = steps[finishes];
	struct trips trips;
	void *handle;
	char *from, *to;

	before = all_buffers(conn);
	handle = side->open(b, SCHEMA, BATCH, BATCH);
	from = wal_place(conn);
	for (int i = 0; i < TIMES; i++)
		if (finishes)
			side->step(handle);
		else
			side->put(handle);
	to = wal_place(conn);
	trips = trips_count(side, handle, finishes, TIMES);
	side->close(handle);
	sleep_us(500000);
	add(b, "wal", step, wal_bytes(b, conn, from, to) / jobs, "bytes/job");
	add(b, "buffers", step, (all_buffers(conn) - before) / jobs / 2,
	    "/job");
	add(b, "statements", step, trips.statements / BATCH, "/job");
	free(from);
	free(to);
}

void
plain_measure(const struct bench *b)
{
	rp_conn *conn = server_connect(b, SCHEMA);

	server_set(b, "autovacuum", "off");
	for (int round = 0; round < b->rounds; round++) {
		progress("a queue without limits", round, b->rounds);
		library_side.create(b, SCHEMA);
		measure(b, conn, 0);
		measure(b, conn, 1);
	}
	server_set(b, "autovacuum", "default");
	rp_close(conn);
}
