/*
 * databases.c - the table of supported databases, and how to find one by the
 * scheme of a URL.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "databases.h"

#include <string.h>

#include "internal.h"

extern const struct rp_backend rp__backend_sqlite;
#ifdef RP_HAVE_POSTGRES
extern const struct rp_backend rp__backend_postgres;
#define POSTGRES &rp__backend_postgres
#else
#define POSTGRES NULL
#endif

/* Messages list the databases in this order. */
const struct rp_database rp__databases[] = {
	{ "SQLite", { "sqlite" }, "sqlite:PATH", &rp__backend_sqlite },
	{ "PostgreSQL",
	  { "postgres", "postgresql" },
	  "postgres://HOST/DATABASE",
	  POSTGRES },
	{ NULL, { NULL }, NULL, NULL },
};

const struct rp_database *
rp__database_find(const char *scheme, size_t size)
{
	const struct rp_database *d = rp__databases;

	for (; d->title; d++)
		for (const char *const *s = d->schemes; *s; s++)
			if (strlen(*s) == size && memcmp(*s, scheme, size) == 0)
				return d;
	return NULL;
}

int
rp__database_check(const struct rp_database *database, rp_error *reterr)
{
	return database->backend
		       ? 0
		       : rp__fail(reterr, RP_EDB,
				  "this readpast was built without %s",
				  database->title);
}

/* Makes a text such as "sqlite:PATH or postgres://HOST/DATABASE". */
const char *
rp__database_urls(char ret[RP_URLS])
{
	char *to = ret;

	for (const struct rp_database *d = rp__databases; d->title; d++) {
		if (d > rp__databases)
			to = stpcpy(to, d[1].title ? ", " : " or ");
		to = stpcpy(to, d->url);
	}
	return ret;
}
