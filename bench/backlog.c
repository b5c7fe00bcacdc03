/*
 * backlog.c - measure whether a claim costs more when many jobs are ready.
 *
 * The same claims are measured on two files, one with few ready jobs and one
 * with many. Between the measurements, new jobs at the end of the ready line
 * replace the claimed ones.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>

#include "floor.h"
#include "internal.h"

#define SHORT 10000
#define BATCH 10
#define SLICE 4000 /* number of jobs in a sample */

/* Return the name of a row, with the number of jobs as "10k" or "5m". */
static char *
row_name(size_t jobs, const char *what)
{
	return jobs % 1000000 == 0
		       ? text("backlog.%zum%s", jobs / 1000000, what)
		       : text("backlog.%zuk%s", jobs / 1000, what);
}

static void
add_row(const struct bench *b, size_t jobs, const char *what, const char *unit)
{
	char *name = row_name(jobs, what);

	report_row(b->report, name, unit, NULL, 0);
	free(name);
}

void
backlog_rows(const struct bench *b)
{
	const size_t lengths[] = { SHORT, b->backlog };

	for (size_t i = 0; i < 2; i++) {
		add_row(b, lengths[i], "", "jobs/s");
		add_row(b, lengths[i], ".steps", "/claim");
		add_row(b, lengths[i], ".pages", "/claim");
		add_row(b, lengths[i], ".reads", "/claim");
	}
	report_row(b->report, "backlog.time", "x", NULL, 0);
}

static void
add(const struct bench *b, size_t jobs, const char *what, double value)
{
	char *name = row_name(jobs, what);

	report_sample(b->report, name, value);
	free(name);
}

static void
count_claims(const struct bench *b, void *handle, size_t length)
{
	const struct side *side = &library_side;
	double claims = SLICE / (double)BATCH;
	struct rp_usage cost, sum = { 0 };

	for (size_t i = 0; i < SLICE / BATCH; i++) {
		/* This first call only resets the counters. */
		rp__measure(side->conn(handle), &cost);
		side->claim(handle);
		rp__measure(side->conn(handle), &cost);
		sum.steps += cost.steps;
		sum.pages += cost.pages;
		sum.reads += cost.reads;
		side->complete(handle);
	}
	add(b, length, ".steps", (double)sum.steps / claims);
	add(b, length, ".pages", (double)sum.pages / claims);
	add(b, length, ".reads", (double)sum.reads / claims);
}

/* Measure claims. Returns the seconds per job. The first round is not recorded,
 * because it also fills the ready line. */
static double
sample(const struct bench *b, size_t length, int round)
{
	const struct side *side = &library_side;
	char *name = row_name(length, "");
	char *path = database_path(b, name);
	double spent = 0;
	size_t jobs = 0;
	void *handle;

	if (round < 0)
		database_fill(path, length);
	handle = side->open(path, "normal", BATCH);
	do {
		size_t before = jobs;

		operate_for(side, handle, SERVE, BATCH, b->seconds, SLICE,
			    &jobs, &spent);
		floor_fill(path, jobs - before, 0);
	} while (round >= 0 && spent < b->seconds);
	if (round == 0) {
		count_claims(b, handle, length);
		floor_fill(path, SLICE, 0);
	}
	side->close(handle);
	if (round >= 0)
		report_sample(b->report, name, (double)jobs / spent);
	free(name);
	free(path);
	return spent / (double)jobs;
}

void
backlog_round(const struct bench *b, int round)
{
	double few, many;

	if (round & 1) {
		few = sample(b, SHORT, round);
		many = sample(b, b->backlog, round);
	} else {
		many = sample(b, b->backlog, round);
		few = sample(b, SHORT, round);
	}
	if (round >= 0)
		report_sample(b->report, "backlog.time", many / few);
}
