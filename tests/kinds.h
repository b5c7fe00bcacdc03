/*
 * kinds.h - what the tests do with a database without the library, such as
 * create it and run SQL. There is a version for each kind of database, through
 * its own client library.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#ifndef KINDS_H
#define KINDS_H

#include "check.h"

struct kind {
	const char *scheme; /* the scheme of its URLs */
	/* sets the URL and the other names of `db` */
	void (*name)(struct db *db);
	/* Removes the parts of the database that are not in the case's
	 * directory. NULL: there are no such parts. */
	void (*drop)(const struct db *db);
	/* Runs SQL on this connection. Returns 0. *ret becomes the first number
	 * of the result. */
	int (*run)(void *native, const char *sql, int64_t *ret);
	/* Prints all rows of all tables. */
	void (*print)(rp_conn *conn, FILE *to);
};

const struct kind *kind_of(const rp_conn *conn);

#endif
