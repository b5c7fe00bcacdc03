/*
 * basics.h - what every file of the benchmarks may need.
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

#define PAYLOAD 200 /* bytes of each job */
#define QUEUE "bench"

void die(const char *format, ...)
	__attribute__((noreturn, format(printf, 1, 2)));
void *allocate(size_t size);        /* zeros */
void *allocate_shared(size_t size); /* with children, too */
char *text(const char *format, ...) __attribute__((format(printf, 1, 2)));

pid_t fork_child(void); /* spawn() */

double seconds_now(void); /* CLOCK_MONOTONIC */

/* Keep what the verdicts on a batch need, and free it: how many there are. */
size_t verdicts_on(rp_batch *batch, rp_verdict *to);

/* Tell whoever watches what is measured now. Round -1: in no round. "" at the
 * end. */
void progress(const char *what, int round, int rounds);

#endif
