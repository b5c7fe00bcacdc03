/*
 * kinds.h - operations of the tests for each kind of database, through its own
 * client library.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#ifndef KINDS_H
#define KINDS_H

#include "check.h"

struct kind {
	const char *scheme;          /* prefix of its URLs */
	void (*name)(struct db *db); /* sets the URL and the other names */
	/* Remove the parts of the database that are not in the case's
	 * directory. NULL: there are none. */
	void (*drop)(const struct db *db);
	/* Run SQL on this connection. Returns 0; *ret is the first number of
	 * the result. */
	int (*run)(void *native, const char *sql, int64_t *ret);
	/* Print all rows of all tables. */
	void (*print)(rp_conn *conn, FILE *to);
};

const struct kind *kind_of(const rp_conn *conn);

#endif
