/*
 * processes.c - compare four processes on one file with one process.
 *
 * All these processes claim and settle for a given time. There are always
 * enough ready jobs.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include <stdlib.h>

#include "crowd.h"

#define LEVEL "full"

static const size_t batches[] = { 1, 10, 100 };
#define BATCHES (sizeof(batches) / sizeof(*batches))

static char *
row_name(const char *what, size_t batch)
{
	return text("%s." LEVEL ".%zu", what, batch);
}

static void
add_row(const struct bench *b, const char *what, size_t batch, const char *unit)
{
	char *name = row_name(what, batch);

	report_row(b->report, name, unit, NULL, 0);
	free(name);
}

void
processes_rows(const struct bench *b)
{
	for (size_t i = 0; i < BATCHES; i++) {
		add_row(b, "processes.1", batches[i], "jobs/s");
		add_row(b, "processes.4", batches[i], "jobs/s");
		add_row(b, "speedup", batches[i], "x");
		add_row(b, "fairness", batches[i], "least/most");
	}
}

/* Measure `n` processes. First enqueue more jobs than they can claim, because
 * the queue must not become empty during the measurement. In an empty queue
 * some processes would stop earlier than others, and would seem to be slower.
 * If the queue becomes empty anyway, measure again with twice as many jobs. */
static double
sample(const char *path, int n, size_t batch, double rate, double seconds,
       double *fairness)
{
	const struct crowd crowd = { &library_side, path,  LEVEL,  n,
				     TURN,          batch, seconds };
	size_t jobs = (size_t)(rate * seconds * 1.5) + 100 * batch;
	double r;

	do {
		database_fill(path, jobs);
		r = crowd_run(&crowd, fairness);
		jobs *= 2;
	} while (r <= 0);
	return r;
}

static void
add(const struct bench *b, const char *what, size_t batch, double value)
{
	char *name = row_name(what, batch);

	report_sample(b->report, name, value);
	free(name);
}

void
processes_round(const struct bench *b, int round)
{
	char *path = database_path(b, "library");

	for (size_t i = 0; i < BATCHES && round >= 0; i++) {
		char *name = row_name("turn", batches[i]);
		double rate = report_median(b->report, name);
		double one, four, fairness;

		one = sample(path, 1, batches[i], rate, b->seconds, &fairness);
		four = sample(path, 4, batches[i], rate, 2 * b->seconds,
			      &fairness);
		add(b, "processes.1", batches[i], one);
		add(b, "processes.4", batches[i], four);
		add(b, "speedup", batches[i], four / one);
		add(b, "fairness", batches[i], fairness);
		free(name);
	}
	free(path);
}
