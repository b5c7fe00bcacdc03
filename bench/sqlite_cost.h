/*
 * sqlite_cost.h - what SQLite counts of the work of a connection.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#ifndef BENCH_SQLITE_COST_H
#define BENCH_SQLITE_COST_H

#include <sqlite3.h>
#include <stdint.h>

struct cost {
	int64_t steps;     /* of the prepared statements that still are */
	int64_t pages;     /* looked at */
	int64_t reads;     /* of them, not in this connection's cache */
	int64_t log_bytes; /* written to the -wal file */
};

/* Count from now on; what was counted since. */
void cost_start(sqlite3 *db);
void cost_stop(sqlite3 *db, struct cost *ret);

#endif
