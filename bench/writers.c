/*
 * writers.c - measure many clients that write to one file all the time.
 *
 * Each client enqueues, claims and completes a job, with a commit for each
 * call. This is measured once with the library's queue for the write lock, and
 * once with attached connections, which use SQLite's busy timeout.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include <stdlib.h>

#include "crowd.h"

static const int clients[] = { 4, 50, 200 };
#define CLIENTS (sizeof(clients) / sizeof(*clients))

static const struct {
	const char *row;
	const struct side *side;
} sides[] = {
	{ "writers.timeout", &attached_side },
	{ "writers", &library_side },
};

void
writers_rows(const struct bench *b)
{
	for (size_t i = 0; i < CLIENTS && clients[i] <= b->clients; i++) {
		char *timeout = text("%s.%d", sides[0].row, clients[i]);
		char *ours = text("%s.%d", sides[1].row, clients[i]);
		char *fair = text("writers.fairness.%d", clients[i]);

		report_row(b->report, timeout, "jobs/s", NULL, 0);
		report_row(b->report, ours, "jobs/s", timeout, 0);
		report_row(b->report, fair, "least/most", NULL, 0);
		free(timeout);
		free(ours);
		free(fair);
	}
}

static void
sample(const struct bench *b, size_t side, int n)
{
	char *path = database_path(b, "library");
	char *row = text("%s.%d", sides[side].row, n);
	char *fair = text("writers.fairness.%d", n);
	const struct crowd crowd = { sides[side].side, path, "full",         n,
				     ONE_JOB,          1,    10 * b->seconds };
	double fairness;

	/* Fill the queue first, so that a claim always finds a job. */
	database_fill(path, CROWD_MOST);
	report_sample(b->report, row, crowd_run(&crowd, &fairness));
	if (sides[side].side == &library_side)
		report_sample(b->report, fair, fairness);
	free(path);
	free(row);
	free(fair);
}

void
writers_round(const struct bench *b, int round)
{
	for (size_t i = 0; i < CLIENTS && round >= 0; i++)
		for (size_t side = 0; side < 2; side++)
			if (clients[i] <= b->clients)
				sample(b, side, clients[i]);
}
