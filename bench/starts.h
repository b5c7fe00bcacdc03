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

/* Measure how long it takes from the return of enqueue in this process to the
 * first instruction of the handler in another process, in ms. `n` jobs are put
 * into an empty queue, each after a pause of `gap_us` to 1.5 times that. */
void starts_measure(const char *url, size_t n, int64_t gap_us, double *p50,
		    double *p99);

#endif
