/*
 * drain.c - measure how fast four clients finish a large number of ready jobs,
 * once with readpast and once with the simple SQL queue of hand.c.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "pg.h"

#include <stdlib.h>

#define CLIENTS 4
#define SCHEMA "readpast"
/* The round trips per job are an average over this many calls of step(). Some
 * round trips are made only once a second, and would distort the average of
 * fewer calls. */
#define STEPS 100

static const size_t batches[] = { 1, 100 };
static const struct side *const sides[] = { &hand_side, &library_side };

/* Return a number of jobs that suffices for a sample. */
static size_t
enough(const struct bench *b, size_t batch, size_t last)
{
	double rate = batch == 1 ? 8000 : 70000;

	if (last)
		return last * 3 / 2 + 8 * batch;
	return (size_t)(rate * b->seconds) + 8 * batch;
}

/* Let workers do ready jobs. Returns the number of jobs that were done. */
static size_t
sample(const struct bench *b, const struct side *side, size_t batch,
       size_t jobs)
{
	struct load load = { .side = side,
			     .schema = SCHEMA,
			     .workers = CLIENTS,
			     .take = batch,
			     .seconds = b->seconds };
	char *name = row_name(side, "drain", batch);
	char *wal = row_name(side, "drain.wal", batch);
	rp_conn *conn = server_connect(b, SCHEMA);
	struct outcome outcome;
	char *from, *to;

	side->create(b, SCHEMA);
	side->fill(b, SCHEMA, jobs);
	from = wal_place(conn);
	clients_run(b, &load, &outcome);
	to = wal_place(conn);
	report_sample(b->report, name, outcome.finished);
	report_sample(b->report, wal,
		      wal_bytes(b, conn, from, to) / (double)outcome.jobs);
	rp_close(conn);
	free(from);
	free(to);
	free(name);
	free(wal);
	return outcome.jobs;
}

static void
count_trips(const struct bench *b, const struct side *side, size_t batch)
{
	char *name = row_name(side, "drain.round-trips", batch);
	void *handle;
	struct trips trips;

	side->create(b, SCHEMA);
	side->fill(b, SCHEMA, (STEPS + 3) * batch);
	handle = side->open(b, SCHEMA, 0, batch);
	side->step(handle);
	trips = trips_count(side, handle, 1, STEPS);
	row_add(b, name, "/job", NULL, NULL, 0);
	report_sample(b->report, name, trips.round_trips / (double)batch);
	side->close(handle);
	free(name);
}

static void
rows(const struct bench *b, size_t batch)
{
	char *hand = row_name(&hand_side, "drain", batch);
	char *ours = row_name(&library_side, "drain", batch);
	char *hand_wal = row_name(&hand_side, "drain.wal", batch);
	char *our_wal = row_name(&library_side, "drain.wal", batch);

	row_add(b, hand, "jobs/s", NULL, NULL, 0);
	row_add(b, ours, "jobs/s", hand, ">=", batch > 1 ? 1.25 : 1.2);
	row_add(b, hand_wal, "bytes/job", NULL, NULL, 0);
	row_add(b, our_wal, "bytes/job", NULL, batch > 1 ? "<=" : NULL, 260);
	free(hand);
	free(ours);
	free(hand_wal);
	free(our_wal);
}

void
drain_part(const struct bench *b)
{
	for (size_t i = 0; i < 2; i++) {
		size_t last[2] = { 0 };

		rows(b, batches[i]);
		for (int round = 0; round < b->rounds; round++)
			for (size_t j = 0; j < 2; j++) {
				size_t which = j ^ (size_t)(round & 1);

				progress("drain", round, b->rounds);
				last[which] = sample(
					b, sides[which], batches[i],
					enough(b, batches[i], last[which]));
			}
		count_trips(b, &hand_side, batches[i]);
		count_trips(b, &library_side, batches[i]);
	}
}
