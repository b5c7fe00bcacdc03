/*
 * process.h - start child processes, share memory with them, and read a clock
 * that is the same in all of them. These functions do not depend on readpast.
 * The lab, stress, the benchmarks and the tests use them.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#ifndef PROCESS_H
#define PROCESS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Call fork(). The kernel kills the child when its parent ends. Returns 0 in
 * the child. */
pid_t spawn(void);
/* Wait for the end of a child. Returns its status as waitpid() does, so 0 means
 * success. Returns -1 if `pid` is not a child of this process. */
int spawn_wait(pid_t pid);
/* Kill a child with SIGKILL, and wait for its end. */
void spawn_kill(pid_t pid);

/* Allocate zeroed memory that is shared with children that are started later.
 * Returns NULL if memory is exhausted. Free it with munmap(). */
void *shared_memory(size_t size);

int64_t monotonic_ns(void);
int64_t monotonic_us(void);
void sleep_us(int64_t us); /* Sleep for this time, even if signals arrive. */

#endif
