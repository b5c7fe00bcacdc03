/*
 * checkpoint_sqlite.c - when the -wal file is copied into the database.
 *
 * SQLite does it at each commit from the thousandth page of -wal on, until -wal
 * can be begun anew; and that it can only by a commit before which all of it is
 * copied, and beside which nobody reads. Where workers look and write all the
 * time few commits are such, and each of the others waits for two fdatasync.
 *
 * So here it is done for every STEP pages that were added. If -wal grows all
 * the same, what others wrote in the meantime is copied under the write lock:
 * it is little, for most was copied just before.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "sqlite.h"

#define STEP 1000 /* pages */
#define LARGE 4000
#define CHECKPOINT_MS 10 /* to wait for writers, and for readers to end */

/* After each commit: what cannot be copied now can be after one of the next, so
 * nobody is told if it fails. While somebody reads an old snapshot there is
 * much that cannot. */
static int
committed(void *ctx, sqlite3 *db, const char *name, int pages)
{
	struct sqlite *s = ctx;
	int copied = 0;

	if (pages < s->checkpointed)
		s->checkpointed = 0; /* it was begun anew */
	if (pages - s->checkpointed < STEP)
		return SQLITE_OK;
	s->checkpointed = pages;
	sqlite3_wal_checkpoint_v2(db, name, SQLITE_CHECKPOINT_PASSIVE, &pages,
				  &copied);
	if (pages < LARGE || pages - copied >= STEP)
		return SQLITE_OK;
	rp__writers_ask(s, CHECKPOINT_MS);
	sqlite3_wal_checkpoint_v2(db, name, SQLITE_CHECKPOINT_RESTART, NULL,
				  NULL);
	rp__writers_answered(s);
	return SQLITE_OK;
}

void
rp__sqlite_checkpoint_rarely(struct sqlite *s)
{
	sqlite3_wal_hook(s->db, committed, s);
}
