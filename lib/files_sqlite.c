/*
 * files_sqlite.c - the file of a SQLite database and the two beside it, -wal
 * and -shm: still those that this connection has open.
 *
 * A connection in WAL mode holds a shared lock on the file for as long as it
 * lives. Whoever closes the database last removes -wal and -shm under an
 * exclusive lock, so while this connection is open nobody does. If they are
 * gone or others lie there, somebody has deleted them: other processes write
 * to new ones, and a commit or a checkpoint of ours would overwrite theirs.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "sqlite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char *const endings[BESIDE] = { "-wal", "-shm" };

/* ---- are they still the same? ---- */

static int
deleted(const struct sqlite *s, const char *ending, rp_error *error)
{
	return rp__fail(error, RP_ENODB,
			"%.150s%s was deleted or replaced while it was open: "
			"what is written now would be lost",
			s->path, ending);
}

static int
copy_text(void *ctx, int count, char **columns, char **names)
{
	(void)count;
	(void)names;
	snprintf(ctx, 16, "%s", columns[0] ? columns[0] : "");
	return 0;
}

/* Does the pragma answer that? `else_ret`: it does not answer at all. */
static int
is_set_to(const struct sqlite *s, const char *pragma, const char *value,
	  int else_ret)
{
	char text[16] = "";

	sqlite3_exec(s->db, pragma, copy_text, text, NULL);
	return *text ? strcmp(text, value) == 0 : else_ret;
}

static int
is_in_wal_mode(const struct sqlite *s, int else_ret)
{
	return is_set_to(s, "pragma journal_mode", "wal", else_ret);
}

/* Which of them was deleted or replaced? NULL: none. */
static const char *
find_deleted(const struct sqlite *s)
{
	struct stat now;

	for (int i = 0; i < BESIDE && s->files.known; i++)
		if (stat(s->files.beside[i].path, &now) < 0 ||
		    now.st_ino != s->files.beside[i].ino ||
		    now.st_dev != s->files.beside[i].dev)
			return endings[i];
	return NULL;
}

/* Note which files SQLite has opened. It tells nobody, but it has opened them
 * by their names, and they cannot have changed since unless by force. */
static int
note_files(struct sqlite *s, rp_error *error)
{
	const char *path = sqlite3_db_filename(s->db, "main");
	struct stat now;

	/* Other VFSs, and an exclusive locking mode, do without -shm. */
	if (strcmp(s->vfs->zName, "unix") != 0 || !is_in_wal_mode(s, 0) ||
	    !is_set_to(s, "pragma locking_mode", "normal", 0))
		return 0;
	if (!s->files.folder && !(s->files.folder = strdup(path)))
		return rp__fail(error, RP_ENOMEM, "out of memory");
	*(strrchr(s->files.folder, '/') + 1) = '\0';
	for (int i = 0; i < BESIDE; i++) {
		struct beside *file = &s->files.beside[i];
		size_t room = strlen(path) + sizeof("-wal");

		if (!file->path && !(file->path = malloc(room)))
			return rp__fail(error, RP_ENOMEM, "out of memory");
		snprintf(file->path, room, "%s%s", path, endings[i]);
		if (stat(file->path, &now) < 0)
			return deleted(s, endings[i], error);
		file->dev = now.st_dev;
		file->ino = now.st_ino;
	}
	s->files.known = 1;
	return 0;
}

static int
look_at_files(struct sqlite *s, rp_error *error)
{
	const char *which;
	int moved = 0;

	sqlite3_file_control(s->db, "main", SQLITE_FCNTL_HAS_MOVED, &moved);
	if (moved)
		return deleted(s, "", error);
	if (s->attached)
		return 0;
	if (!s->files.known)
		return note_files(s, error);
	which = find_deleted(s);
	if (!which)
		return 0;
	/* The program may have left WAL mode on this very connection. */
	s->files.known = is_in_wal_mode(s, 1);
	return s->files.known ? deleted(s, which, error) : 0;
}

/* Whoever deletes or replaces one of the files changes the folder, so where
 * that is as it was when they were last looked at, they are, too. */
static int
is_same_folder(const struct stat *a, const struct stat *b)
{
	return a->st_ino == b->st_ino && a->st_dev == b->st_dev &&
	       a->st_ctim.tv_sec == b->st_ctim.tv_sec &&
	       a->st_ctim.tv_nsec == b->st_ctim.tv_nsec;
}

/* Would a change that comes now get a later time than the last one? The kernel
 * counts in ticks of up to 10 ms, some file systems in seconds. */
#define TICK_NS 10000000
static int
has_settled(const struct stat *folder)
{
	struct timespec now;
	int64_t wait = folder->st_ctim.tv_nsec % TICK_NS ? 2 * TICK_NS
							 : INT64_C(2000000000);

	clock_gettime(CLOCK_REALTIME, &now);
	return (now.tv_sec - folder->st_ctim.tv_sec) * INT64_C(1000000000) +
		       now.tv_nsec - folder->st_ctim.tv_nsec >
	       wait;
}

int
rp__sqlite_check_files(struct sqlite *s, rp_error *error)
{
	struct stat folder;
	int r, is_there = s->files.known && stat(s->files.folder, &folder) == 0;

	if (is_there && is_same_folder(&folder, &s->files.folder_seen))
		return 0;
	r = look_at_files(s, error);
	if (r == 0 && is_there && has_settled(&folder))
		s->files.folder_seen = folder;
	return r;
}

void
rp__sqlite_close_files(struct sqlite *s)
{
	/* SQLite itself sees to the file, but not to those beside it. */
	if (find_deleted(s))
		sqlite3_db_config(s->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1,
				  NULL);
	sqlite3_close(s->db);
	for (int i = 0; i < BESIDE; i++)
		free(s->files.beside[i].path);
	free(s->files.folder);
}
