/*
 * kinds.h - operations on test databases that do not use the library, such as
 * running SQL. Each kind of database has a struct of functions, which use the
 * client library of that kind.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#ifndef KINDS_H
#define KINDS_H

#include "check.h"

struct kind {
	const char *scheme; /* the scheme of the URLs, such as "sqlite" */
	/* writes the database's URL and other names into `db` */
	void (*name)(struct db *db);
	/* Removes everything of the database that is not in the case's
	 * directory. NULL: everything is in the directory. */
	void (*drop)(const struct db *db);
	/* Runs SQL on this connection. Returns 0 on success. *ret becomes the
	 * first number of the result. */
	int (*run)(void *native, const char *sql, int64_t *ret);
	/* Prints all rows of all tables. */
	void (*print)(rp_conn *conn, FILE *to);
};

const struct kind *kind_of(const rp_conn *conn);

#endif
