/*
 * memory.h - make one allocation fail, of the library or of SQLite.
 *
 * SQLite makes so many allocations that only some of them are tested, spread
 * over the call; with FAULT_ALL in the environment all are. A program with
 * memory.c is linked with --wrap for each function in it.
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
	enum memory_kind kind; /* whose allocation fails */
	size_t fail_at;        /* number of the failing allocation, from 1;
				* 0: none */
	size_t made[MEMORY_KINDS];
	int fired;
} memory;

int memory_use(void); /* call this first in main(); returns 0 or -1 */
void memory_fail_at(const char *what, enum memory_kind kind, size_t at);
void memory_arm(int on); /* start or stop counting */
/* Distance between the allocations that are made to fail; `made`: how many a
 * run makes. */
size_t memory_step(enum memory_kind kind, size_t made);

#endif
