/*
 * steady.c - measure readpast, the queue written by hand, and other queue
 * systems under the same load: one producer and two workers, with batches of
 * 100 jobs.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "pg.h"

#include <stdlib.h>

#define SCHEMA "readpast"
#define OURS "steady"
#define HAND "hand.steady"

static const struct side *const sides[] = { &hand_side, &library_side };
static const char *const names[] = { HAND, OURS };
static const char *const batches[] = { HAND ".batch", OURS ".batch" };

static void
sample(const struct bench *b, size_t which)
{
	struct load load = steady_load(sides[which], SCHEMA, 5 * b->seconds);
	struct outcome outcome;

	sides[which]->create(b, SCHEMA);
	clients_run(b, &load, &outcome);
	report_sample(b->report, names[which], outcome.finished);
	report_sample(b->report, batches[which], outcome.batch);
}

/* Compare with another queue system. If it cannot be measured, the row is left
 * out. */
static void
peer(const struct bench *b, const char *name)
{
	char *theirs = text("%s.steady", name), *ours = text("vs.%s", name);
	double rate = peer_rate(b, name, 0, 0);

	if (rate > 0) {
		row_add(b, theirs, "jobs/s", NULL, NULL, 0);
		report_sample(b->report, theirs, rate);
		row_add(b, ours, "jobs/s", theirs, ">=", 2);
		report_sample(b->report, ours, report_median(b->report, OURS));
	}
	free(theirs);
	free(ours);
}

void
steady_part(const struct bench *b)
{
	row_add(b, HAND, "jobs/s", NULL, NULL, 0);
	row_add(b, OURS, "jobs/s", HAND, ">=", 1.15);
	for (size_t i = 0; i < 2; i++)
		row_add(b, batches[i], "jobs/claim", NULL, NULL, 0);
	for (int round = 0; round < b->rounds; round++) {
		progress("steady state", round, b->rounds);
		sample(b, (size_t)(round & 1));
		sample(b, (size_t)(~round & 1));
	}
	if (b->peers > 0) {
		peer(b, "graphile-worker");
		peer(b, "pg-boss");
	}
}
