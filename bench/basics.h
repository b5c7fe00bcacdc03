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

/* Copy what verdicts need from a batch, and free it. Returns the number of
 * jobs. */
size_t verdicts_on(rp_batch *batch, rp_verdict *to);

/* Print what is being measured. Round -1: no rounds. "" at the end. */
void progress(const char *what, int round, int rounds);

#endif
