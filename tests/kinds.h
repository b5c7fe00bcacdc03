/*
 * kinds.h - what a test does itself on each kind of database, by its
 * own client library.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#ifndef KINDS_H
#define KINDS_H

#include "check.h"

struct kind {
	const char *scheme;          /* that its URLs begin with */
	void (*name)(struct db *db); /* its URL, and what else it is called */
	/* What is not in the database's folder. NULL: nothing */
	void (*drop)(const struct db *db);
	/* SQL on this connection: 0, and the first number it answers. */
	int (*run)(void *native, const char *sql, int64_t *ret);
	/* All rows of all tables. */
	void (*print)(rp_conn *conn, FILE *to);
};

const struct kind *kind_of(const rp_conn *conn);

#endif
