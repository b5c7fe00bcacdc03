/*
 * crowd.h - run processes that do the same work on one file at the same time.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#ifndef BENCH_CROWD_H
#define BENCH_CROWD_H

#include "bench.h"

#define CROWD_MOST 200

struct crowd {
	const struct side *side;
	const char *path, *synchronous;
	int n; /* number of processes */
	enum operation what;
	size_t batch;
	double seconds;
};

/* Run the processes. Returns the jobs per second of all processes together, or
 * 0 if a process found too few jobs. *ret_fairness becomes the jobs of the
 * slowest process divided by the jobs of the fastest process, or 0 if no job
 * was done. */
double crowd_run(const struct crowd *crowd, double *ret_fairness);

#endif
