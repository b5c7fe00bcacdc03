/*
 * rows.h - table-valued functions that read arrays in C; see rows.c.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#ifndef RP_ROWS_SQLITE_H
#define RP_ROWS_SQLITE_H

#include "db/backend.h"
#include "sqlite_api.h"

/* The rows of parameters with which a verb runs: `count` rows of `width`
 * values. */
struct rows {
	const struct rp_value *params;
	size_t count, width;
};

/* The largest payload, in bytes, that is stored in the job's row. A larger one
 * is stored in the table readpast_payload. The limit is a compromise. Each
 * claim and each verdict writes the job's row again, and a payload of 16 KiB
 * adds four pages to each such write. But a payload in readpast_payload is one
 * more row to insert, read and delete. */
#define MOST_IN_ROW ((size_t)16 << 10)

/* Returns what a table stores for a payload.
 * apart 0: for readpast_job: the payload or, if it is larger than MOST_IN_ROW,
 *   only its size.
 * apart 1: for readpast_payload: the payload if it is larger than MOST_IN_ROW,
 *   otherwise null. */
struct rp_value rp__rows_payload(const struct rp_value *payload, int apart);

/* Create the table-valued functions. readpast_<verb>_rows(:rows) is for a verb
 * that runs once for all rows of parameters. If one parameter is `payload`, the
 * function's column `apart` has the large payloads (see rp__rows_payload()).
 * readpast_taken(:taken) has one column, `id`, with the ids that the callback
 * accepted. is_new: 1 if the connection was just opened. Returns a SQLite
 * result code. */
int rp__rows_tables(sqlite3 *db, int is_new);
int rp__rows_bind(sqlite3_stmt *stmt, int i, const struct rows *rows);

#endif
