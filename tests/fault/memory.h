/*
 * memory.h - make one allocation of the library or of SQLite fail.
 *
 * SQLite makes so many allocations that the tests let only some of them fail.
 * With FAULT_ALL in the environment each allocation fails once. A program that
 * uses memory.c is linked with the option --wrap for each allocation function,
 * such as malloc().
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#ifndef MEMORY_H
#define MEMORY_H

#include <stddef.h>

enum memory_kind { MEMORY_LIBRARY, MEMORY_SQLITE, MEMORY_KINDS };

extern struct memory {
	int on;
	/* whose allocation fails: the library's or SQLite's */
	enum memory_kind kind;
	/* number of the allocation that fails, counted from 1; 0: none fails */
	size_t fail_at;
	size_t made[MEMORY_KINDS];
	int fired;
} memory;

/* prepares the program; call this first in main(); returns 0 or -1 */
int memory_use(void);
void memory_fail_at(const char *what, enum memory_kind kind, size_t at);
void memory_arm(int on); /* 1: start to count allocations; 0: stop counting */
/* Return n. A test lets allocation 1 fail in its first run, allocation 1 + n in
 * the next run, and so on. `made` is the number of allocations in a run. */
size_t memory_step(enum memory_kind kind, size_t made);

#endif
