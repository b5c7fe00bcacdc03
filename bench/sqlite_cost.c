/*
 * sqlite_cost.c - what SQLite counts of the work of a connection.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "sqlite_cost.h"

#include <string.h>

#define PAGE 4096
#define FRAME_HEADER 24

static int64_t
counted(sqlite3 *db, int what)
{
	int now = 0, highest;

	sqlite3_db_status(db, what, &now, &highest, 1);
	return now;
}

void
cost_start(sqlite3 *db)
{
	struct cost forget;

	cost_stop(db, &forget);
}

void
cost_stop(sqlite3 *db, struct cost *ret)
{
	sqlite3_stmt *stmt = NULL;

	memset(ret, 0, sizeof(*ret));
	while ((stmt = sqlite3_next_stmt(db, stmt)))
		ret->steps +=
			sqlite3_stmt_status(stmt, SQLITE_STMTSTATUS_VM_STEP, 1);
	ret->reads = counted(db, SQLITE_DBSTATUS_CACHE_MISS);
	ret->pages = counted(db, SQLITE_DBSTATUS_CACHE_HIT) + ret->reads;
	ret->log_bytes = counted(db, SQLITE_DBSTATUS_CACHE_WRITE) *
			 (PAGE + FRAME_HEADER);
}
