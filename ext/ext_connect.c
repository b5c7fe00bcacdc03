/*
 * ext_connect.c - the connection that a call of the extension is made on.
 *
 * Inside a transaction of the host's, a call joins it. Outside of one it is a
 * commit of its own, made on a second connection to the same file: for a
 * `select` has begun to read by the time that its functions run, and SQLite
 * refuses the write lock at once to a reader that somebody has overtaken.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ext.h"
#include "sqlite.h"

static const rp_options anywhere = { sizeof(anywhere), RP_SCHEMA_INSTALL,
				     NULL };

static int
is_wal(sqlite3 *db)
{
	sqlite3_stmt *stmt = NULL;
	int wal = 0;

	if (sqlite3_prepare_v2(db, "pragma journal_mode", -1, &stmt, NULL) ==
		    SQLITE_OK &&
	    sqlite3_step(stmt) == SQLITE_ROW)
		wal = strcmp((const char *)sqlite3_column_text(stmt, 0),
			     "wal") == 0;
	sqlite3_finalize(stmt);
	return wal;
}

/* %, ? and # mean something in a URL. */
static char *
url_of(const char *path)
{
	char *url = malloc(strlen(path) * 3 + 8), *to = url;

	if (!url)
		return NULL;
	to += sprintf(to, "sqlite:");
	for (; *path; path++)
		to += sprintf(to, strchr("%?#", *path) ? "%%%02X" : "%c",
			      (unsigned char)*path);
	return url;
}

/* A second connection to the host's file. Not without WAL, nor to begin WAL
 * while the host reads: its reading would keep us from writing. */
static void
open_own(struct ext *ext)
{
	const char *path = sqlite3_db_filename(ext->db, "main");
	char *url;

	if (sqlite3_txn_state(ext->db, "main") != SQLITE_TXN_NONE &&
	    !is_wal(ext->db))
		return;
	url = path && *path ? url_of(path) : NULL;
	/* What failed may do at the next call: others may just be opening. */
	ext->own_tried = !url || rp_open(url, &anywhere, &ext->own, NULL) == 0;
	if (ext->own && !is_wal(rp_native(ext->own))) {
		rp_close(ext->own);
		ext->own = NULL;
	}
	free(url);
}

rp_conn *
ext_enter(struct ext *ext, rp_error *error)
{
	if (sqlite3_get_autocommit(ext->db) && !rp__sqlite_writing(ext->db)) {
		if (!ext->own_tried)
			open_own(ext);
		if (ext->own)
			return ext->own;
	}
	if (!ext->anchored)
		sqlite3_exec(ext->db,
			     "select 1 from readpast_claim('', 0) "
			     "where false",
			     NULL, NULL, NULL);
	/* It may have been made in a transaction that was rolled back. */
	if (sqlite3_table_column_metadata(ext->db, "main", "readpast_meta",
					  NULL, NULL, NULL, NULL, NULL,
					  NULL) != SQLITE_OK)
		ext_detach(ext);
	if (!ext->attached)
		rp_attach("sqlite", ext->db, &anywhere, &ext->attached, error);
	return ext->attached;
}

void
ext_detach(struct ext *ext)
{
	rp_close(ext->attached);
	ext->attached = NULL;
}

/* Prepared statements that nobody finalizes would keep the host from closing
 * its connection. */
void
ext_leave(struct ext *ext)
{
	if (!ext->anchored)
		ext_detach(ext);
}

void
ext_release(void *p)
{
	struct ext *ext = p;

	if (--ext->uses > 0)
		return;
	rp_close(ext->own);
	sqlite3_free(ext);
}
