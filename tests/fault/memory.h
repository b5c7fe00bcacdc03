/*
 * memory.h - one allocation fails, the library's or SQLite's.
 *
 * SQLite allocates so often that only some of its turns are taken, spread over
 * the call; with FAULT_ALL in the environment all are. A program that has
 * memory.c is linked with --wrap for each function that is there.
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
	enum memory_kind kind; /* of the allocation that fails */
	size_t fail_at;        /* it is this one, from 1; 0: none */
	size_t made[MEMORY_KINDS];
	int fired;
} memory;

int memory_use(void); /* main() calls it first: 0, or -1 */
void memory_fail_at(const char *what, enum memory_kind kind, size_t at);
void memory_arm(int on); /* the next allocations count, or no more */
/* The distance of those that fail, where `made` are made in all. */
size_t memory_step(enum memory_kind kind, size_t made);

#endif
