/*
 * basics.h - memory, text, time and progress messages for all benchmarks.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#ifndef BENCH_BASICS_H
#define BENCH_BASICS_H

#include <readpast.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "process.h"

#define PAYLOAD 200 /* bytes of a job's payload */
#define QUEUE "bench"

void die(const char *format, ...)
	__attribute__((noreturn, format(printf, 1, 2)));
void *allocate(size_t size); /* the memory is filled with zeros */
/* allocate zeroed memory that is shared with child processes */
void *allocate_shared(size_t size);
char *text(const char *format, ...) __attribute__((format(printf, 1, 2)));

pid_t fork_child(void); /* uses spawn() */

double seconds_now(void); /* CLOCK_MONOTONIC */

/* For each job of the batch, write to `to` a verdict that completes it. Free
 * the batch. Returns the number of jobs. */
size_t verdicts_on(rp_batch *batch, rp_verdict *to);

/* Print on the terminal what is being measured. `round` is -1 in a warm-up
 * round, and in a measurement that has no rounds. An empty `what` ends the
 * progress line. */
void progress(const char *what, int round, int rounds);

#endif
