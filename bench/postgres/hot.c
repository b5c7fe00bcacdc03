/*
 * hot.c - measure several workers that all claim jobs of one group with the
 * limit 1.
 *
 * Only one job of the group runs at a time. So several workers cannot be faster
 * than a single worker that runs such jobs one after the other.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "grouped.h"

#define SCHEMA "readpast"
#define WORKERS 4
#define PER_SECOND 8000 /* more jobs than are done in a second */

/* Finish the jobs of the schema one at a time. Returns the jobs per second. */
static double
run(const struct bench *b, const struct side *side, size_t workers, int pin)
{
	double seconds = b->pinned / 4;
	struct load load = { .side = side,
			     .schema = SCHEMA,
			     .workers = workers,
			     .take = 1,
			     .seconds = seconds };
	struct outcome outcome;
	rp_conn *pinned = NULL;

	side->create(b, SCHEMA);
	if (pin) {
		pinned = server_connect(b, SCHEMA);
		server_execute(pinned, "begin isolation level repeatable read");
		server_execute(pinned, "select count(*) from pg_class");
	}
	side->fill(b, SCHEMA, (size_t)(PER_SECOND * seconds));
	clients_run(b, &load, &outcome);
	rp_close(pinned);
	return outcome.finished;
}

void
hot_rows(const struct bench *b)
{
	row_add(b, "alone", "jobs/s", NULL, NULL, 0);
	row_add(b, "hot", "jobs/s", "alone", ">=", 0.5);
	row_add(b, "hot.pinned", "jobs/s", "hot", ">=", 0.8);
}

void
hot_round(const struct bench *b, int round)
{
	progress("one group", round, b->rounds);
	report_sample(b->report, "alone", run(b, &library_side, 1, 0));
	report_sample(b->report, "hot", run(b, &hot_side, WORKERS, 0));
	report_sample(b->report, "hot.pinned", run(b, &hot_side, WORKERS, 1));
}
