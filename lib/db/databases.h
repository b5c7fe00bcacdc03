/*
 * databases.h - the table of supported databases, and how to find one by the
 * scheme of a URL.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#ifndef RP_DATABASES_H
#define RP_DATABASES_H

#include "backend.h"

struct rp_database {
	const char *title; /* the database's name in prose, such as
			    * "PostgreSQL" */
	/* The schemes of the database's URLs, with a NULL at the end. The first
	 * scheme is also the name of the database's folder in sql/. */
	const char *schemes[3];
	const char *url;                  /* form of the URLs, for messages */
	const struct rp_backend *backend; /* NULL: this build does not support
					   * the database */
};

extern const struct rp_database rp__databases[]; /* a NULL title ends the
						  * table */

/* Returns the database with this scheme, or NULL. */
const struct rp_database *rp__database_find(const char *scheme, size_t size);

/* Returns 0, or RP_EDB if the database is not in this build. */
int rp__database_check(const struct rp_database *database, rp_error *reterr);

/* Write the forms of the URLs of all databases to `ret`, for a message. Returns
 * `ret`. */
#define RP_URLS 120
const char *rp__database_urls(char ret[RP_URLS]);

#endif
