/*
 * ext_connect.c - choose the connection for a call of the extension.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 *
 * Usually the call uses the host's own connection, with the settings, busy
 * handler and functions of that connection. If the host has a transaction open,
 * the call is part of that transaction. Otherwise the call is a transaction of
 * its own.
 *
 * There is one exception: no transaction is open, but a `select` of the host is
 * reading the database. If another connection has written since the `select`
 * began, SQLite refuses the write lock without waiting. So the call runs on a
 * second connection to the same file. This connection gets the host's
 * `synchronous` and busy timeout. If it cannot be opened, the host's connection
 * is used.
 *
 * The extension's virtual tables are temporary tables, so a `select` from them
 * does not count as reading the database.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ext.h"
#include "db/sqlite/sqlite.h"

/* ---- the state of the host's connection ---- */

/* Returns 1 if the host may change jobs. To find out, prepare statements that
 * would change jobs. SQLite then calls the host's authorizer (a callback of the
 * host, if it has one), which may refuse them. */
static int
may_write(sqlite3 *db)
{
	static const char *const changes[] = {
		"insert into main.readpast_job default values",
		"update main.readpast_job set run_at = run_at",
		"delete from main.readpast_job",
	};
	int may = sqlite3_db_readonly(db, "main") == 0 &&
		  rp__sqlite_pragma_int(db, "pragma query_only") == 0;

	for (size_t i = 0; i < sizeof(changes) / sizeof(*changes) && may; i++) {
		sqlite3_stmt *stmt = NULL;

		may = sqlite3_prepare_v2(db, changes[i], -1, &stmt, NULL) !=
		      SQLITE_AUTH;
		sqlite3_finalize(stmt);
	}
	return may;
}

/* ---- the scratch database and temporary tables ---- */

sqlite3 *
ext_scratch(struct ext *ext)
{
	if (!ext->scratch &&
	    sqlite3_open(":memory:", &ext->scratch) != SQLITE_OK) {
		sqlite3_close(ext->scratch);
		ext->scratch = NULL;
	}
	return ext->scratch;
}

void
ext_make_temporary(sqlite3 *db, const char *module)
{
	char *sql = sqlite3_mprintf("create virtual table if not exists "
				    "temp.\"%w\" using \"%w\"",
				    module, module);

	if (sql)
		sqlite3_exec(db, sql, NULL, NULL, NULL);
	sqlite3_free(sql);
}

/* ---- WAL mode ---- */

/* Switch the file to WAL mode. In other modes the extension works, too, but
 * readers and writers block each other. The first call waits for as long as the
 * host's busy timeout; later calls try only once. The mode cannot be changed
 * while a `select` reads tables, even if it only reads readpast_claim. */
static void
prefer_wal(struct ext *ext)
{
	int64_t wait_ms =
		ext->mode_waited
			? 0
			: rp__sqlite_pragma_int(ext->db, "pragma busy_timeout");
	int rc;

	if (rp__sqlite_pragma_is(ext->db, "pragma main.locking_mode",
				 "exclusive", 0))
		return;
	rc = rp__sqlite_try_wal(ext->db, wait_ms);
	ext->mode_settled = rc == SQLITE_OK;
	ext->mode_waited |= (rc & 0xff) == SQLITE_BUSY;
}

/* ---- the second connection ---- */

/* Returns a sqlite: URL for the path, with %, ? and # escaped. */
static char *
url_of(const char *path, int64_t busy_ms)
{
	char *url = malloc(strlen(path) * 3 + 40);

	if (!url)
		return NULL;
	sprintf(rp__url_escape(stpcpy(url, "sqlite:"), path), "?busy=%lldms",
		(long long)busy_ms);
	return url;
}

/* Returns 1 if a second connection, opened by path, would reach the same
 * database and could write to it. Without WAL mode it could not write, because
 * the host's statement that is reading blocks all writers. */
static int
is_shared(sqlite3 *db)
{
	const char *path = sqlite3_db_filename(db, "main");
	sqlite3_vfs *vfs = NULL;
	int moved = 0;

	sqlite3_file_control(db, "main", SQLITE_FCNTL_VFS_POINTER, &vfs);
	sqlite3_file_control(db, "main", SQLITE_FCNTL_HAS_MOVED, &moved);
	return path && *path && !moved && vfs == sqlite3_vfs_find(NULL) &&
	       rp__sqlite_pragma_is(db, "pragma main.journal_mode", "wal", 0) &&
	       rp__sqlite_pragma_is(db, "pragma main.locking_mode", "normal",
				    0);
}

static void
open_own(struct ext *ext)
{
	static const rp_options there = { sizeof(there), RP_SCHEMA_REQUIRE,
					  NULL };
	char *url =
		url_of(sqlite3_db_filename(ext->db, "main"),
		       rp__sqlite_pragma_int(ext->db, "pragma busy_timeout"));

	if (url)
		rp_open(url, &there, &ext->own, NULL);
	free(url);
	ext->own_synchronous = -1;
}

/* Copy the host's `synchronous` and busy timeout to the second connection. If
 * the host has a busy handler of its own, the second connection cannot call it,
 * and gets the timeout 0. */
static int
take_over_settings(struct ext *ext)
{
	static const char *const levels[] = {
		"pragma synchronous = off",
		"pragma synchronous = normal",
		"pragma synchronous = full",
		"pragma synchronous = extra",
	};
	int64_t level =
		rp__sqlite_pragma_int(ext->db, "pragma main.synchronous");
	struct sqlite *own = ext->own->db;

	own->busy_ms = rp__sqlite_pragma_int(ext->db, "pragma busy_timeout");
	if (level == ext->own_synchronous)
		return 0;
	if (level < 0 || level > 3 ||
	    rp__sqlite_execute(own, levels[level], NULL) < 0)
		return -1;
	ext->own_synchronous = level;
	return 0;
}

static int
has_own(struct ext *ext)
{
	if (!may_write(ext->db))
		return 0;
	if (!ext->own && is_shared(ext->db))
		open_own(ext);
	return ext->own && take_over_settings(ext) == 0;
}

/* ---- calls ---- */

static void
detach(struct ext *ext)
{
	rp_close(ext->attached);
	ext->attached = NULL;
}

/* Connect one of our virtual tables, by preparing a statement that uses the
 * table. When SQLite disconnects the table, our handle is closed (see
 * ext_table.c). */
static void
anchor(sqlite3 *db)
{
	sqlite3_stmt *stmt = NULL;

	sqlite3_prepare_v2(db, "select 1 from readpast_claim('', 0)", -1, &stmt,
			   NULL);
	sqlite3_finalize(stmt);
}

static rp_conn *
attach(struct ext *ext, rp_error *error)
{
	static const rp_options anywhere = { sizeof(anywhere),
					     RP_SCHEMA_INSTALL, NULL };

	if (!ext->anchored)
		anchor(ext->db);
	/* Detach if the queue's tables are gone. The tables may have been
	 * created in a transaction that was rolled back. */
	if (sqlite3_table_column_metadata(ext->db, "main", "readpast_meta",
					  NULL, NULL, NULL, NULL, NULL,
					  NULL) != SQLITE_OK)
		detach(ext);
	if (!ext->attached)
		rp_attach("sqlite", ext->db, &anywhere, &ext->attached, error);
	return ext->attached;
}

int
ext_is_outside(const struct ext *ext)
{
	return sqlite3_get_autocommit(ext->db) && !rp__sqlite_writing(ext->db);
}

rp_conn *
ext_own(struct ext *ext)
{
	return ext_is_outside(ext) && has_own(ext) ? ext->own : NULL;
}

rp_conn *
ext_enter(struct ext *ext, rp_error *error)
{
	int reads = sqlite3_txn_state(ext->db, "main") == SQLITE_TXN_READ;
	rp_conn *conn;

	if (ext->pid != getpid()) {
		rp__fail(error, RP_EINVAL,
			 "this connection was opened before fork(): open one "
			 "in the child");
		return NULL;
	}
	conn = reads ? ext_own(ext) : NULL;
	if (!conn)
		conn = attach(ext, error);
	ext->called = conn != NULL;
	return conn;
}

/* End a call. Close our handle on the host's connection, because our prepared
 * statements would keep the host from closing that connection. If one of our
 * virtual tables is connected, keep the handle until SQLite disconnects the
 * table, which it does when the host closes its connection. */
void
ext_leave(struct ext *ext)
{
	ext->called = 0;
	if (!ext->anchored)
		detach(ext);
	if (!ext->mode_settled && ext_is_outside(ext) &&
	    sqlite3_txn_state(ext->db, "main") == SQLITE_TXN_NONE &&
	    may_write(ext->db))
		prefer_wal(ext);
}

/* Record that a virtual table was connected. The table holds a reference to
 * `ext`, because SQLite may free the module before the table. This happens if
 * the extension is loaded again and replaces the module. */
void
ext_add_anchor(struct ext *ext)
{
	ext->anchored++;
	ext->uses++;
}

/* Record that a virtual table was disconnected. SQLite disconnects our tables
 * when the connection is closed, and when a schema change is rolled back. The
 * rollback may come during a call, which still needs the handle. In this case
 * ext_leave() closes the handle. */
void
ext_lose_anchor(struct ext *ext)
{
	ext->anchored--;
	if (!ext->anchored && !ext->called)
		detach(ext);
	ext_release(ext);
}

void
ext_release(void *p)
{
	struct ext *ext = p;

	if (--ext->uses > 0)
		return;
	rp_close(ext->own);
	sqlite3_close(ext->scratch);
	ext_free_names(ext->worker.queues);
	sqlite3_free(ext);
}
