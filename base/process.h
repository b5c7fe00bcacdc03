/*
 * process.h - processes of our own, the memory that they share, and the clock
 * that is the same in all of them. There is no readpast in it: the lab, stress,
 * the benchmarks and the tests start theirs with it.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#ifndef PROCESS_H
#define PROCESS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* fork(): 0 in the child, which the kernel kills when its parent ends. */
pid_t spawn(void);
/* Wait for its end: what waitpid() says of it, 0 if all was well; -1: it is no
 * child of ours. */
int spawn_wait(pid_t pid);
void spawn_kill(pid_t pid); /* SIGKILL, and wait for its end */

/* Zeros that children have in common with us. NULL: no memory. munmap() them.
 */
void *shared_memory(size_t size);

int64_t monotonic_ns(void);
int64_t monotonic_us(void);
void sleep_us(int64_t us); /* all of it, whatever signals come */

#endif
