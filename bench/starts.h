/*
 * starts.h - measure how soon an idle worker starts a job that another process
 * enqueues.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#ifndef BENCH_STARTS_H
#define BENCH_STARTS_H

#include <stddef.h>
#include <stdint.h>

/* Enqueue `n` jobs into an empty queue, one at a time, and measure the ms from
 * the end of each enqueue to the start of the job's handler in another process.
 * Before each enqueue there is a pause of `gap_us` to 1.5 times `gap_us`. */
void starts_measure(const char *url, size_t n, int64_t gap_us, double *p50,
		    double *p99);

#endif
