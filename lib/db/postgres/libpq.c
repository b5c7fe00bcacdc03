/*
 * libpq.c - load libpq once per process.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 *
 * The library has no static state but the table of libpq's functions below,
 * `once`, which guards the table, and `handling` in job_wait.c. If libpq were
 * linked, the dynamic linker would keep the same table. Our table is filled
 * once, before it is first read, and never changes.
 */
#include "libpq.h"

#include <pthread.h>

#include "load.h"

static struct rp_libpq table;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static const struct rp_function functions[] = {
#define FUNCTION(name) { "PQ" #name, offsetof(struct rp_libpq, name) },
	RP_LIBPQ(FUNCTION)
#undef FUNCTION
};

static const struct rp_library libpq = {
	.file = "libpq.so.5",
	.package = "libpq5",
	.functions = functions,
	.count = sizeof(functions) / sizeof(*functions),
};

static void
load(void)
{
	rp__load(&libpq, "PostgreSQL", &table, table.why, sizeof(table.why));
}

const struct rp_libpq *
rp__libpq(void)
{
	pthread_once(&once, load);
	return &table;
}
