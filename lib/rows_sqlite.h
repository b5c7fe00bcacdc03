/*
 * rows_sqlite.h - see rows_sqlite.c.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#ifndef RP_ROWS_SQLITE_H
#define RP_ROWS_SQLITE_H

#include "backend.h"
#include "sqlite_api.h"

/* The rows of parameters that a verb runs with. */
struct rows {
	const struct rp_value *params;
	size_t count, width;
};

/* Make the table-valued functions readpast_<verb>_rows(:rows), for each verb
 * that takes its rows at once, and readpast_taken(:taken), of one column, `id`.
 * `is_new`: this connection was just opened. A SQLite result code. */
int rp__rows_tables(sqlite3 *db, int is_new);
int rp__rows_bind(sqlite3_stmt *stmt, int i, const struct rows *rows);

#endif
