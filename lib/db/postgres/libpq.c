/*
 * libpq.c - load libpq once per process.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 *
 * The table of libpq's functions below is the only static state of the library.
 * If libpq were linked, the dynamic linker would keep the same table. Our table
 * is filled once, before it is first read, and never changes. libpq is never
 * unloaded, because it uses OpenSSL, which does not support unloading.
 */
#include "libpq.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define LIBPQ "libpq.so.5"

static struct rp_libpq table;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static const struct {
	const char *name;
	size_t at; /* offset in the table */
} functions[] = {
#define FUNCTION(name) { "PQ" #name, offsetof(struct rp_libpq, name) },
	RP_LIBPQ(FUNCTION)
#undef FUNCTION
};

/* Load libpq and fill the table. If the program has already loaded a library of
 * this name, dlopen() returns that library. */
static void
load(void)
{
	void *libpq = dlopen(LIBPQ, RTLD_LAZY | RTLD_LOCAL);
	void *function;

	if (!libpq) {
		snprintf(table.why, sizeof(table.why),
			 "PostgreSQL needs " LIBPQ
			 " (Debian: apt install libpq5): %s",
			 dlerror());
		return;
	}
	for (size_t i = 0; i < sizeof(functions) / sizeof(*functions); i++) {
		function = dlsym(libpq, functions[i].name);
		if (!function) {
			snprintf(table.why, sizeof(table.why),
				 LIBPQ " is too old: it has no %s",
				 functions[i].name);
			return;
		}
		memcpy((char *)&table + functions[i].at, &function,
		       sizeof(function));
	}
}

const struct rp_libpq *
rp__libpq(void)
{
	pthread_once(&once, load);
	return &table;
}
