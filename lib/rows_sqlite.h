/*
 * rows_sqlite.h - see rows_sqlite.c.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#ifndef RP_ROWS_SQLITE_H
#define RP_ROWS_SQLITE_H

#include <sqlite3.h>

#include "backend.h"

/* The rows of parameters that a verb runs with. */
struct rows {
	const struct rp_value *params;
	size_t count, width;
};

/* Show *rows, as it is when a statement runs, as the table <verb>_rows, for
 * each verb that takes its rows at once. A SQLite result code. */
int rp__rows_tables(sqlite3 *db, const struct rows *rows);

#endif
