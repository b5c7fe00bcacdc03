/*
 * rows.h - see rows.c.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#ifndef RP_ROWS_SQLITE_H
#define RP_ROWS_SQLITE_H

#include "db/backend.h"
#include "sqlite_api.h"

/* The rows of parameters that a verb runs with. */
struct rows {
	const struct rp_value *params;
	size_t count, width;
};

/* Bytes of a payload that a job's row takes; a larger one is stored apart. Each
 * claim and each verdict writes the row anew: 16 KiB are four pages more. A
 * payload that is stored apart is a row more to put in, to read and to delete.
 */
#define MOST_IN_ROW ((size_t)16 << 10)

/* The job's row has a small payload, or the size of a large one. With `apart`:
 * readpast_payload has a large one, and nothing of a small one. */
struct rp_value rp__rows_payload(const struct rp_value *payload, int apart);

/* Make the table-valued functions readpast_<verb>_rows(:rows), for each verb
 * that takes its rows at once, with a column `apart` if there is a `payload`;
 * and readpast_taken(:taken), of one column, `id`.
 * `is_new`: this connection was just opened. A SQLite result code. */
int rp__rows_tables(sqlite3 *db, int is_new);
int rp__rows_bind(sqlite3_stmt *stmt, int i, const struct rows *rows);

#endif
