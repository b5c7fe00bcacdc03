/*
 * enqueue.c - compare four clients that enqueue with four clients that only
 * insert rows into the same table.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "pg.h"

#include <stdlib.h>

#define CLIENTS 4
#define SCHEMA "readpast"
/* A sample of one side is measured in this many parts. Between two parts the
 * other side runs. */
#define SLICES 8

static const size_t batches[] = { 1, 1000 };
static const struct side *const sides[] = { &raw_side, &library_side };
#define SIDES (sizeof(sides) / sizeof(*sides))

static double
run_side(const struct bench *b, const struct side *side, size_t batch)
{
	struct load load = { .side = side,
			     .schema = SCHEMA,
			     .producers = CLIENTS,
			     .put = batch,
			     .seconds = b->seconds / SLICES };
	struct outcome outcome;

	side->create(b, SCHEMA);
	clients_run(b, &load, &outcome);
	return outcome.put;
}

/* Measure one sample of each side. A sample has SLICES parts. After each part
 * the other side runs, because the speed of the disk may change within seconds,
 * and by more than the difference between the sides. */
static void
sample(const struct bench *b, size_t batch)
{
	double put[SIDES] = { 0 };
	char *name;

	for (size_t slice = 0; slice < SLICES; slice++)
		for (size_t k = 0; k < SIDES; k++) {
			size_t i = (slice + k) % SIDES;

			put[i] += run_side(b, sides[i], batch) / SLICES;
		}
	for (size_t i = 0; i < SIDES; i++) {
		name = row_name(sides[i], "enqueue", batch);
		report_sample(b->report, name, put[i]);
		free(name);
	}
}

static void
count_trips(const struct bench *b, size_t batch)
{
	const struct side *side = &library_side;
	void *handle = side->open(b, SCHEMA, batch, 0);
	char *name = text("enqueue.round-trips.%zu", batch);
	struct trips trips;

	side->put(handle);
	trips = trips_count(side, handle, 0, 10);
	row_add(b, name, "/job", NULL, NULL, 0);
	report_sample(b->report, name, trips.round_trips / (double)batch);
	side->close(handle);
	free(name);
}

void
enqueue_part(const struct bench *b)
{
	for (size_t i = 0; i < 2; i++) {
		char *raw = row_name(&raw_side, "enqueue", batches[i]);
		char *ours = row_name(&library_side, "enqueue", batches[i]);

		row_add(b, raw, "jobs/s", NULL, NULL, 0);
		row_add(b, ours, "jobs/s", raw, ">=", 0.8);
		for (int round = 0; round < b->rounds; round++) {
			progress("enqueue", round, b->rounds);
			sample(b, batches[i]);
		}
		count_trips(b, batches[i]);
		free(raw);
		free(ours);
	}
}
