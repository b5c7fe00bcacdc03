/*
 * crowd.h - processes that do the same thing on one file at the same time.
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
	int n; /* processes */
	enum operation what;
	size_t batch;
	double seconds;
};

/* Jobs per second of all of them, and least / most served. 0: there were too
 * few jobs. */
double crowd_run(const struct crowd *crowd, double *ret_fairness);

#endif
