/*
 * steady.c - measure one producer and two workers with batches of 100 jobs,
 * with readpast, with the queue written by hand, and with other queue systems.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "pg.h"

#include <stdio.h>
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

/* Measure another queue system. The script peers/run prints how many jobs per
 * second it does. If the script fails, it prints only a message, and the row
 * stays empty. */
static void
peer(const struct bench *b, const char *name)
{
	char *command = text("PGHOST='%s' PGUSER=postgres PGDATABASE=postgres"
			     " '%s/run' '%s' %s %g",
			     b->dir, PEERS, PEERS_BUILD, name, b->peers);
	char *theirs = text("%s.steady", name), *ours = text("vs.%s", name);
	double rate = 0;
	FILE *answer;

	progress(name, -1, 0);
	answer = popen(command, "r");
	if (answer && fscanf(answer, "%lf", &rate) == 1 && rate > 0) {
		row_add(b, theirs, "jobs/s", NULL, NULL, 0);
		report_sample(b->report, theirs, rate);
		row_add(b, ours, "jobs/s", theirs, ">=", 2);
		report_sample(b->report, ours, report_median(b->report, OURS));
	}
	if (answer)
		pclose(answer);
	free(command);
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
