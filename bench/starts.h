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

/* Measure the time, in ms, from the return of enqueue in this process to the
 * start of the handler in another process. Enqueues `n` jobs into an empty
 * queue. The pause before each is between `gap_us` and 1.5 times `gap_us`. */
void starts_measure(const char *url, size_t n, int64_t gap_us, double *p50,
		    double *p99);

#endif
