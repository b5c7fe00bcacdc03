/*
 * caller.c - functions for a caller's connection: find out which statements run
 * on the connection, and take the write lock.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "sqlite.h"

static int
is_running(sqlite3 *db, int only_writers)
{
	sqlite3_stmt *stmt = NULL;

	while ((stmt = sqlite3_next_stmt(db, stmt)))
		if (sqlite3_stmt_busy(stmt) &&
		    !(only_writers && sqlite3_stmt_readonly(stmt)))
			return 1;
	return 0;
}

int
rp__sqlite_running(sqlite3 *db)
{
	return is_running(db, 0);
}

int
rp__sqlite_writing(sqlite3 *db)
{
	return is_running(db, 1);
}

/* Take the write lock in an open transaction, with an update that changes no
 * row. This update locks only the queue's database. `begin immediate` would
 * also lock the databases that the caller has attached. In a new database the
 * table of this update does not exist. In that case the first statement of the
 * schema creates the table, which also takes the lock. If another connection
 * holds the lock, the call waits. But if the transaction has already read, the
 * call does not wait, because SQLite then does not call the busy handler. */
int
rp__sqlite_take_lock(struct sqlite *s, rp_error *error)
{
	int reads = sqlite3_txn_state(s->db, "main") == SQLITE_TXN_READ;
	int rc = SQLITE_OK, r;

	if (!s->control[LOCK])
		rc = sqlite3_prepare_v3(s->db,
					"update main.readpast_meta "
					"set value = value where false",
					-1, SQLITE_PREPARE_PERSISTENT,
					&s->control[LOCK], NULL);
	if (rc == SQLITE_OK) {
		rp__writers_ask(s, 0);
		sqlite3_step(s->control[LOCK]);
		rc = sqlite3_reset(s->control[LOCK]);
		rp__writers_answered(s);
	}
	if (rc == SQLITE_ERROR && (r = rp__sqlite_check_main(s->db, error)) < 0)
		return r;
	if (rc == SQLITE_ERROR)
		rc = sqlite3_exec(s->db, rp__schema_sqlite[0][0], NULL, NULL,
				  NULL);
	if (rc == SQLITE_OK)
		return 0;
	r = rp__sqlite_failed(s, rc, error);
	if (r == RP_EBUSY && reads && s->base == OWN)
		rp__fail(error, r,
			 "a select is still reading, and another connection is "
			 "writing or has written since: read it to its end "
			 "first (or, if the file is not in WAL mode, run "
			 "readpast init)");
	else if (r == RP_EBUSY && reads)
		rp__fail(error, r,
			 "this transaction has already read, and another "
			 "connection is writing or has written since: "
			 "start it with begin immediate");
	return r;
}
