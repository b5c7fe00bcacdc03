/*
 * metrics.c - counts of what this process did, and of what the database holds,
 * in the text format of Prometheus.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "serve.h"

/* The upper limits of the buckets in microseconds. */
static const int64_t limits_us[BUCKETS] = {
	500,   1000,   2500,   5000,    10000,   25000,
	50000, 100000, 250000, 1000000, 5000000, 60000000,
};

void
metrics_answered(struct server *server, int status, int64_t us)
{
	struct metrics *m = &server->metrics;
	size_t i = 0, kind = (size_t)(status / 100) % 6;

	while (i < BUCKETS && us > limits_us[i])
		i++;
	atomic_fetch_add(&m->requests[kind], 1);
	atomic_fetch_add(&m->buckets[i], 1);
	atomic_fetch_add(&m->us, us);
}
