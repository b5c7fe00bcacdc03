/*
 * wal.c - run checkpoints, and truncate the -wal file.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 *
 * A checkpoint copies the frames (changed pages) in -wal into the database, and
 * calls fdatasync twice. A commit restarts -wal, that is, overwrites it from
 * the beginning, if all of -wal is in the database and no connection is reading
 * -wal. While workers read and write all the time, this is rarely true, so -wal
 * grows. Once it has a thousand frames, SQLite by default does a checkpoint at
 * every commit until -wal is restarted. This makes every commit slow. So we do
 * a checkpoint only after each CHECKPOINT_FRAMES new frames. If -wal still
 * grows, we copy the few remaining frames under the write lock.
 *
 * While a reader holds an old snapshot, every commit appends to -wal. When that
 * reader has ended, a checkpoint copies all of -wal into the database, and the
 * next commit restarts -wal. But the file keeps its size. In that commit SQLite
 * can truncate the file to its `journal_size_limit`, under the write lock.
 * Truncating 600 MB in one commit takes a quarter of a second. So each such
 * commit truncates the file by at most STEP bytes, and other writers get the
 * lock between two of these commits.
 */
#include <stdio.h>

#include "sqlite.h"

#define CHECKPOINT_FRAMES 1000
#define MANY_FRAMES 3000
/* The longest time for which restart() waits for the write lock, and for
 * readers that still use -wal. */
#define RESTART_MS 10

/* A -wal up to this size is not truncated. The -wal of a busy queue has 4 to 13
 * MB, so a truncated -wal would soon grow again, and extending a file takes one
 * fdatasync more than overwriting it. */
#define SMALL ((int64_t)16 << 20)
/* One commit truncates -wal by at most STEP bytes, which takes about 7 ms. One
 * sweep truncates for at most STRETCH_US, and pauses before each commit, so
 * that other writers can take the lock. */
#define STEP ((int64_t)16 << 20)
#define STRETCH_US 50000
#define PAUSE_US 2000

static int64_t
size_of_wal(const struct sqlite *s)
{
	sqlite3_file *file = NULL;
	sqlite3_int64 size = 0;

	sqlite3_file_control(s->db, "main", SQLITE_FCNTL_JOURNAL_POINTER,
			     &file);
	if (file && file->pMethods)
		file->pMethods->xFileSize(file, &size);
	return size;
}

/* Set journal_size_limit. 0: no limit. */
static void
set_limit(struct sqlite *s, int64_t bytes)
{
	char text[64];

	if (s->wal_limit == bytes)
		return;
	s->wal_limit = bytes;
	snprintf(text, sizeof(text), "pragma journal_size_limit = %lld",
		 bytes ? (long long)bytes : -1);
	rp__sqlite_execute(s, text, NULL);
}

/* Copy the rest of -wal into the database while no other connection can write.
 * Then all of -wal is copied, so the next commit can overwrite it from the
 * beginning. */
static void
restart(struct sqlite *s, int *frames, int *done)
{
	rp__writers_ask(s, RESTART_MS);
	sqlite3_wal_checkpoint_v2(s->db, "main", SQLITE_CHECKPOINT_RESTART,
				  frames, done);
	rp__writers_answered(s);
}

/* Copy -wal into the database, as far as the oldest snapshot of a reader
 * permits. This blocks writers only if -wal has MANY_FRAMES. If all of -wal is
 * copied and the file is larger than SMALL, the next commit makes it shorter by
 * up to STEP bytes. */
static void
checkpoint(struct sqlite *s)
{
	int frames = -1, done = -2;
	int64_t size;

	sqlite3_wal_checkpoint_v2(s->db, "main", SQLITE_CHECKPOINT_PASSIVE,
				  &frames, &done);
	if (frames >= MANY_FRAMES && frames - done < CHECKPOINT_FRAMES)
		restart(s, &frames, &done);
	s->checkpointed = frames;
	size = frames == done ? size_of_wal(s) : 0;
	set_limit(s, size <= SMALL         ? 0
		     : size - STEP > SMALL ? size - STEP
					   : SMALL);
}

/* Do a checkpoint if enough frames were added to -wal, or if -wal is being
 * truncated. SQLite calls this function after each commit, when the write lock
 * is free again. */
static int
checkpoint_if_due(void *ctx, sqlite3 *db, const char *name, int frames)
{
	struct sqlite *s = ctx;

	(void)db;
	(void)name;
	if (frames < s->checkpointed)
		s->checkpointed = 0; /* a commit has restarted -wal */
	if (frames - s->checkpointed >= CHECKPOINT_FRAMES || s->wal_limit)
		checkpoint(s);
	return SQLITE_OK;
}

void
rp__sqlite_watch_wal(struct sqlite *s)
{
	sqlite3_wal_hook(s->db, checkpoint_if_due, s);
}

/* Make a commit that changes no data, but that SQLite writes to -wal. It
 * inserts a row and deletes the row again. An update that sets a row to its old
 * values would not do, because SQLite writes nothing for such an update. */
static int
commit_nothing(struct sqlite *s)
{
	const struct rp_value notes[2][META_SET_PARAMS] = {
		{ [META_SET_NAME] = rp__text("trim"),
		  [META_SET_VALUE] = rp__int(0) }, /* insert */
		{ [META_SET_NAME] = rp__text("trim"),
		  [META_SET_VALUE] = rp__text(NULL) }, /* delete */
	};
	rp_error error;
	int r = rp__sqlite_begin(s, RP_BEGIN_WRITE, &error);

	if (r < 0)
		return r;
	r = rp__sqlite_run(s, RP_V_META_SET, notes[0], 2, NULL, NULL, &error);
	if (r < 0)
		rp__sqlite_rollback(s);
	return r < 0 ? r : rp__sqlite_commit(s, &error);
}

/* Truncate -wal, step by step. Only a commit can truncate -wal, and perhaps no
 * other connection commits at this time. So this function makes commits that
 * change nothing. Failures are not reported, because the next sweep tries
 * again. */
void
rp__sqlite_trim_wal(void *db)
{
	struct sqlite *s = db;
	int64_t until = rp__monotonic_us() + STRETCH_US;
	int r = 0;

	if (s->attached || s->depth || size_of_wal(s) <= SMALL)
		return;
	checkpoint(s);
	while (r == 0 && s->wal_limit && rp__monotonic_us() < until) {
		rp__nap_us(PAUSE_US);
		r = commit_nothing(s);
	}
}
