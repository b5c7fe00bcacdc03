/*
 * memory.c - make one allocation of the library or of SQLite fail; see
 * memory.h.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "memory.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TURNS 60

static const char *const kinds[MEMORY_KINDS] = { "library", "SQLite" };

struct memory memory;

static int
strikes(enum memory_kind kind)
{
	if (!memory.on || ++memory.made[kind] != memory.fail_at ||
	    kind != memory.kind)
		return 0;
	memory.fired = 1;
	return 1;
}

void
memory_arm(int on)
{
	memory.on = on;
}

/* ---- the library's allocations, which the linker redirects here ---- */

void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t size);
char *__real_strdup(const char *text);
char *__real_strndup(const char *text, size_t n);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t size);
char *__wrap_strdup(const char *text);
char *__wrap_strndup(const char *text, size_t n);

void *
__wrap_malloc(size_t size)
{
	return strikes(MEMORY_LIBRARY) ? NULL : __real_malloc(size);
}

void *
__wrap_calloc(size_t n, size_t size)
{
	return strikes(MEMORY_LIBRARY) ? NULL : __real_calloc(n, size);
}

void *
__wrap_realloc(void *p, size_t size)
{
	return strikes(MEMORY_LIBRARY) ? NULL : __real_realloc(p, size);
}

char *
__wrap_strdup(const char *text)
{
	return strikes(MEMORY_LIBRARY) ? NULL : __real_strdup(text);
}

char *
__wrap_strndup(const char *text, size_t n)
{
	return strikes(MEMORY_LIBRARY) ? NULL : __real_strndup(text, n);
}

/* ---- SQLite's allocations, redirected by sqlite3_mem_methods ---- */

static sqlite3_mem_methods real;

static void *
sqlite_malloc(int size)
{
	return strikes(MEMORY_SQLITE) ? NULL : real.xMalloc(size);
}

static void *
sqlite_realloc(void *p, int size)
{
	return strikes(MEMORY_SQLITE) ? NULL : real.xRealloc(p, size);
}

/* Make SQLite's allocations fail on demand. Switch off SQLite's lookaside
 * memory, because allocations from that memory do not call the functions of
 * this file. */
int
memory_use(void)
{
	sqlite3_mem_methods shaken;

	if (sqlite3_config(SQLITE_CONFIG_GETMALLOC, &real) != SQLITE_OK)
		return -1;
	shaken = real;
	shaken.xMalloc = sqlite_malloc;
	shaken.xRealloc = sqlite_realloc;
	return sqlite3_config(SQLITE_CONFIG_MALLOC, &shaken) == SQLITE_OK &&
			       sqlite3_config(SQLITE_CONFIG_LOOKASIDE, 0, 0) ==
				       SQLITE_OK
		       ? 0
		       : -1;
}

/* ---- which allocation fails ---- */

void
memory_fail_at(const char *what, enum memory_kind kind, size_t at)
{
	memset(&memory, 0, sizeof(memory));
	memory.kind = kind;
	memory.fail_at = at;
	if (getenv("FAULT_VERBOSE"))
		printf("# %s: %s, allocation %zu\n", what, kinds[kind], at);
}

/* Return n, if every nth allocation is made to fail. */
size_t
memory_step(enum memory_kind kind, size_t made)
{
	return kind == MEMORY_LIBRARY || getenv("FAULT_ALL") ? 1
							     : 1 + made / TURNS;
}
