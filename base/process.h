/*
 * process.h - child processes, memory shared with them, and a clock that is the
 * same in all of them. It is used by the lab, stress, the benchmarks and the
 * tests, and knows nothing of readpast.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#ifndef PROCESS_H
#define PROCESS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* fork(); the kernel kills the child when its parent ends. Returns 0 in the
 * child. */
pid_t spawn(void);
/* Wait for the end of a child. Returns its status as waitpid() does (0:
 * success); -1: not a child of ours. */
int spawn_wait(pid_t pid);
void spawn_kill(pid_t pid); /* SIGKILL, then spawn_wait() */

/* Zeroed memory shared with children that are started later. Free it with
 * munmap(). NULL: out of memory. */
void *shared_memory(size_t size);

int64_t monotonic_ns(void);
int64_t monotonic_us(void);
void sleep_us(int64_t us); /* signals do not end it early */

#endif
