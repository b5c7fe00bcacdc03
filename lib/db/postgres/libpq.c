/*
 * libpq.c - load libpq once in the life of the process.
 *
 * The table below is the one static state of the library. The dynamic linker
 * would keep the same table if libpq were linked: it is filled once, before
 * anybody sees it, and never changes. libpq stays loaded, because OpenSSL
 * behind it does not bear being unloaded.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
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
	size_t at; /* its place in the table */
} functions[] = {
#define FUNCTION(name) { "PQ" #name, offsetof(struct rp_libpq, name) },
	RP_LIBPQ(FUNCTION)
#undef FUNCTION
};

/* A program that has libpq loaded gets the same one: the name decides. */
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
