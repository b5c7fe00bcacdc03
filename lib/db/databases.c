/*
 * databases.c - which databases there are.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "databases.h"

#include "internal.h"

#include <string.h>

#ifndef RP_HAVE_POSTGRES

#define WITHOUT "this readpast was built without PostgreSQL"

static int
read_url(struct rp_url *url, const char *text, rp_error *reterr)
{
	(void)url;
	(void)text;
	return rp__fail(reterr, RP_EDB, WITHOUT);
}

static int
attach(void *native, const rp_options *options, void **ret, rp_error *reterr)
{
	(void)native;
	(void)options;
	(void)ret;
	return rp__fail(reterr, RP_EDB, WITHOUT);
}

static const char *const schemes[] = { "postgres", "postgresql", NULL };
const struct rp_backend rp__backend_postgres = {
	.schemes = schemes,
	.url = "postgres://HOST/DATABASE",
	.read_url = read_url,
	.attach = attach,
};

#endif

/* The first one is what the messages name first. */
const struct rp_backend *const rp__databases[] = { &rp__backend_sqlite,
						   &rp__backend_postgres,
						   NULL };

const struct rp_backend *
rp__database_find(const char *scheme, size_t size)
{
	for (size_t i = 0; rp__databases[i]; i++)
		for (const char *const *s = rp__databases[i]->schemes; *s; s++)
			if (strlen(*s) == size && memcmp(*s, scheme, size) == 0)
				return rp__databases[i];
	return NULL;
}

/* "sqlite:PATH or postgres://HOST/DATABASE" */
const char *
rp__database_urls(char ret[RP_URLS])
{
	char *to = ret;

	for (size_t i = 0; rp__databases[i]; i++) {
		if (i > 0)
			to = stpcpy(to, rp__databases[i + 1] ? ", " : " or ");
		to = stpcpy(to, rp__databases[i]->url);
	}
	return ret;
}
