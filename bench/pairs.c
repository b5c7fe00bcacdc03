/*
 * pairs.c - compare the library with the floor, the queue written by hand, in
 * one process.
 *
 * Both do the same work. Each has its own file, and both files have the same
 * content. Before each sample, jobs are added until there are enough ready jobs
 * for the faster side. The time for this is not measured.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "bench.h"

#include <stdlib.h>

static const char *const levels[] = { "normal", "full" };
static const size_t batches[] = { 1, 10, 100, 1000 };
static const struct side *const sides[] = { &floor_side, &library_side };

#define LEVELS (sizeof(levels) / sizeof(*levels))
#define BATCHES (sizeof(batches) / sizeof(*batches))

static char *
row_name(const struct side *side, enum operation what, size_t level,
	 size_t batch)
{
	return text("%s%s.%s.%zu", side->prefix, operation_names[what],
		    levels[level], batches[batch]);
}

static void
pair_rows(const struct bench *b, enum operation what, size_t level,
	  size_t batch)
{
	char *floor = row_name(&floor_side, what, level, batch);
	char *library = row_name(&library_side, what, level, batch);

	report_row(b->report, floor, "jobs/s", NULL, 0);
	report_row(b->report, library, "jobs/s", floor, 1);
	free(floor);
	free(library);
}

void
pairs_rows(const struct bench *b)
{
	for (size_t level = 0; level < LEVELS; level++)
		for (enum operation what = 0; what < OPERATIONS; what++)
			for (size_t batch = 0; batch < BATCHES; batch++)
				pair_rows(b, what, level, batch);
}

/* Return a number of jobs that suffices for a sample. */
static size_t
enough(const struct bench *b, enum operation what, size_t level, size_t batch)
{
	static const double guess[] = { 40e3, 150e3, 250e3, 300e3 };
	double most = 0;

	if (what == ENQUEUE)
		return 1000;
	for (size_t i = 0; i < 2; i++) {
		char *name = row_name(sides[i], what, level, batch);
		double rate = report_median(b->report, name);

		if (rate > most)
			most = rate;
		free(name);
	}
	if (most <= 0)
		most = guess[batch];
	return (size_t)(most * b->seconds * 1.5) + 5 * batches[batch];
}

static void
sample(const struct bench *b, const struct side *side, enum operation what,
       size_t level, size_t batch, size_t jobs, int round)
{
	char *path = database_path(b, *side->prefix ? "floor" : "library");
	char *name = row_name(side, what, level, batch);
	size_t done = 0;
	double spent = 0;
	void *handle;

	handle = side->open(path, levels[level], batches[batch]);
	database_fill(path, jobs);
	operate_for(side, handle, what, batches[batch],
		    round < 0 ? b->seconds / 4 : b->seconds, SIZE_MAX, &done,
		    &spent);
	side->close(handle);
	if (round >= 0)
		report_sample(b->report, name, (double)done / spent);
	free(name);
	free(path);
}

void
pairs_round(const struct bench *b, int round)
{
	for (size_t level = 0; level < LEVELS; level++)
		for (enum operation what = 0; what < OPERATIONS; what++)
			for (size_t batch = 0; batch < BATCHES; batch++) {
				size_t jobs = enough(b, what, level, batch);
				size_t first = (size_t)(round & 1);

				sample(b, sides[first], what, level, batch,
				       jobs, round);
				sample(b, sides[!first], what, level, batch,
				       jobs, round);
			}
}
