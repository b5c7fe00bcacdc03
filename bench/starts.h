/*
 * starts.h - how soon an idle worker starts a job.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#ifndef BENCH_STARTS_H
#define BENCH_STARTS_H

#include <stddef.h>
#include <stdint.h>

/* From the return of enqueue in this process to the first instruction of the
 * handler in another, in milliseconds, of `n` jobs in an empty queue, one every
 * `gap_us` or half of that more. */
void starts_measure(const char *url, size_t n, int64_t gap_us, double *p50,
		    double *p99);

#endif
