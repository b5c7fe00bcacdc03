/*
 * databases.h - which databases there are.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#ifndef RP_DATABASES_H
#define RP_DATABASES_H

#include "backend.h"

struct rp_database {
	const char *title; /* for people */
	/* The schemes of its URLs, ended by a NULL. The first is also the name
	 * of its folder in sql/. */
	const char *schemes[3];
	const char *url;                  /* how its URLs look */
	const struct rp_backend *backend; /* NULL: not in this build */
};

extern const struct rp_database rp__databases[]; /* ended by a NULL title */

/* The one that a scheme names; NULL: none does. */
const struct rp_database *rp__database_find(const char *scheme, size_t size);

/* Is it in this build? 0 or RP_EDB. */
int rp__database_check(const struct rp_database *database, rp_error *reterr);

/* How URLs look, for a message. Returns `ret`. */
#define RP_URLS 120
const char *rp__database_urls(char ret[RP_URLS]);

#endif
