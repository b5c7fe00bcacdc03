/*
 * measure.c - count what a connection does on a SQLite file: its statements,
 * its waits for locks, and the pages that it reads and writes.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "sqlite.h"

#include <string.h>

#define FRAME_HEADER 24 /* bytes in front of each page in the -wal */
#define NAP_US 500

/* The busy handler of a connection that is measured. It waits for a short time
 * and counts this time. Then SQLite tries again to get the lock. */
static int
nap(void *ctx, int count)
{
	struct sqlite *s = ctx;
	int64_t began = rp__monotonic_us();

	rp__nap_us(NAP_US + count % 8 * 50);
	s->usage.waited_us += rp__monotonic_us() - began;
	return 1;
}

/* Count a statement. SQLite reports the statements of a trigger in the form of
 * SQL comments, and this function does not count them. */
static int
count_statement(unsigned what, void *ctx, void *stmt, void *sql)
{
	struct sqlite *s = ctx;

	(void)what;
	(void)stmt;
	s->usage.statements += strncmp(sql, "--", 2) != 0;
	return 0;
}

static int64_t
counted(sqlite3 *db, int what)
{
	int now = 0, highest;

	sqlite3_db_status(db, what, &now, &highest, 1);
	return now;
}

void
rp__sqlite_measure(void *db, struct rp_usage *ret)
{
	struct sqlite *s = db;
	sqlite3_stmt *stmt = NULL;

	if (!s->measured) {
		s->measured = 1;
		s->frame_bytes =
			rp__sqlite_pragma_int(s->db, "pragma page_size") +
			FRAME_HEADER;
		sqlite3_busy_handler(s->db, nap, s);
		sqlite3_trace_v2(s->db, SQLITE_TRACE_STMT, count_statement, s);
	}
	while ((stmt = sqlite3_next_stmt(s->db, stmt)))
		s->usage.steps +=
			sqlite3_stmt_status(stmt, SQLITE_STMTSTATUS_VM_STEP, 1);
	s->usage.reads = counted(s->db, SQLITE_DBSTATUS_CACHE_MISS);
	s->usage.pages =
		counted(s->db, SQLITE_DBSTATUS_CACHE_HIT) + s->usage.reads;
	s->usage.log_bytes =
		counted(s->db, SQLITE_DBSTATUS_CACHE_WRITE) * s->frame_bytes;
	*ret = s->usage;
	memset(&s->usage, 0, sizeof(s->usage));
}

void
rp__sqlite_end_measuring(struct sqlite *s)
{
	if (!s->measured)
		return;
	sqlite3_busy_handler(s->db, NULL, NULL);
	sqlite3_trace_v2(s->db, 0, NULL, NULL);
}
