/*
 * basics.h - helpers for all benchmarks.
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

#define PAYLOAD 200 /* bytes per job */
#define QUEUE "bench"

void die(const char *format, ...)
	__attribute__((noreturn, format(printf, 1, 2)));
void *allocate(size_t size);        /* zero-filled */
void *allocate_shared(size_t size); /* zero-filled, and shared with children */
char *text(const char *format, ...) __attribute__((format(printf, 1, 2)));

pid_t fork_child(void); /* uses spawn() */

double seconds_now(void); /* CLOCK_MONOTONIC */

/* Make verdicts from the jobs of a batch, and free the batch. Returns the
 * number of jobs. */
size_t verdicts_on(rp_batch *batch, rp_verdict *to);

/* Print on the terminal what is being measured. `round`: -1 if it has no
 * rounds. `what`: "" ends the progress line. */
void progress(const char *what, int round, int rounds);

#endif
