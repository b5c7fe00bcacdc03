/*
 * cost.c - measure the cost of a job in numbers that do not depend on the
 * machine's load. These numbers are bytes that are written to the write-ahead
 * log, and steps of SQLite's virtual machine.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "bench.h"

#include <stdlib.h>

#include "internal.h"

#define JOBS 2000
#define IN_LINE 10000

static const size_t batches[] = { 1, 10, 100 };

static void
each(const struct bench *b,
     void (*fn)(const struct bench *b, enum operation what, size_t batch))
{
	for (enum operation what = 0; what < OPERATIONS; what++)
		for (size_t i = 0; i < sizeof(batches) / sizeof(*batches); i++)
			fn(b, what, batches[i]);
}

static char *
row_name(const char *kind, const struct side *side, enum operation what,
	 size_t batch)
{
	return text("%s%s.%s.%zu", side->prefix, kind, operation_names[what],
		    batch);
}

static void
kind_rows(const struct bench *b, const char *kind, const char *unit,
	  enum operation what, size_t batch)
{
	char *floor = row_name(kind, &floor_side, what, batch);
	char *library = row_name(kind, &library_side, what, batch);

	report_row(b->report, floor, unit, NULL, 0);
	report_row(b->report, library, unit, floor, 0);
	free(floor);
	free(library);
}

static void
wal_rows(const struct bench *b, enum operation what, size_t batch)
{
	kind_rows(b, "wal", "bytes/job", what, batch);
}

static void
step_rows(const struct bench *b, enum operation what, size_t batch)
{
	kind_rows(b, "steps", "steps/job", what, batch);
}

void
cost_rows(const struct bench *b)
{
	each(b, wal_rows);
	each(b, step_rows);
}

static void
add(const struct bench *b, const char *kind, const struct side *side,
    enum operation what, size_t batch, double value)
{
	char *name = row_name(kind, side, what, batch);

	report_sample(b->report, name, value);
	free(name);
}

static void
count(const struct bench *b, const struct side *side, enum operation what,
      size_t batch)
{
	char *path = database_path(b, *side->prefix ? "floor" : "library");
	void *handle = side->open(path, "normal", batch);
	struct rp_usage cost;
	size_t jobs = 0;

	database_fill(path, IN_LINE);
	operate_begin(side, handle, what);
	operate(side, handle, what);
	/* This first call only resets the counters. */
	rp__measure(side->conn(handle), &cost);
	while (jobs < JOBS)
		jobs += operate(side, handle, what);
	rp__measure(side->conn(handle), &cost);
	operate_end(side, handle, what);
	side->close(handle);
	free(path);
	add(b, "wal", side, what, batch, (double)cost.log_bytes / (double)jobs);
	add(b, "steps", side, what, batch, (double)cost.steps / (double)jobs);
}

static void
count_both(const struct bench *b, enum operation what, size_t batch)
{
	count(b, &floor_side, what, batch);
	count(b, &library_side, what, batch);
}

void
cost_run(const struct bench *b)
{
	progress("costs", -1, 0);
	each(b, count_both);
}
