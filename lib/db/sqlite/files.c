/*
 * files.c - check that the database file, -wal and -shm are still the files
 * that this connection has open, and that this user may write them.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 *
 * A connection in WAL mode holds a shared lock on the database file as long as
 * it is open. When the last connection closes, it removes -wal and -shm, and
 * needs an exclusive lock for that. So SQLite does not remove these files while
 * our connection is open. If -wal or -shm is missing or was replaced, something
 * other than SQLite did that. Other processes then write to new files, and a
 * commit or a checkpoint by us would overwrite their changes.
 */
#include "sqlite.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const char *const endings[BESIDE] = { "-wal", "-shm" };

/* ---- deleted or replaced files ---- */

static int
fail_deleted(const struct sqlite *s, const char *ending, rp_error *error)
{
	return rp__fail(error, RP_ENODB,
			"%.125s%s was deleted or replaced while it was open, "
			"so writes would be lost: open the database again",
			s->path, ending);
}

static int
is_in_wal_mode(const struct sqlite *s, int else_ret)
{
	return rp__sqlite_pragma_is(s->db, "pragma journal_mode", "wal",
				    else_ret);
}

static int
is_in_place(const struct beside *file)
{
	struct stat now;

	return stat(file->path, &now) == 0 && now.st_ino == file->ino &&
	       now.st_dev == file->dev;
}

/* Returns "-wal" or "-shm" if that file was deleted or replaced, else NULL. */
static const char *
find_deleted(const struct sqlite *s)
{
	for (int i = 0; i < BESIDE && s->files.known; i++)
		if (!is_in_place(&s->files.beside[i]))
			return endings[i];
	return NULL;
}

static int
has_moved(const struct sqlite *s)
{
	int moved = 0;

	sqlite3_file_control(s->db, "main", SQLITE_FCNTL_HAS_MOVED, &moved);
	return moved;
}

/* If one of the old -wal and -shm is still there, a connection to the new file
 * would use it, and damage the new database. */
int
rp__sqlite_is_replaced(void *db)
{
	const struct sqlite *s = db;
	int is = has_moved(s);

	for (int i = 0; i < BESIDE && is && s->files.known; i++)
		is = !is_in_place(&s->files.beside[i]);
	return is;
}

/* Record which files SQLite has opened. SQLite has no call for that, so we look
 * them up by their names. If a name leads to no file, the file that SQLite
 * opened was deleted, and this function fails. */
static int
note_files(struct sqlite *s, rp_error *error)
{
	const char *path = sqlite3_db_filename(s->db, "main");
	struct stat now;

	/* With another VFS (file interface), without WAL mode, or in exclusive
	 * locking mode there is no -shm to check. */
	if (strcmp(s->vfs->zName, "unix") != 0 || !is_in_wal_mode(s, 0) ||
	    !rp__sqlite_pragma_is(s->db, "pragma locking_mode", "normal", 0))
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
			return fail_deleted(s, endings[i], error);
		file->dev = now.st_dev;
		file->ino = now.st_ino;
	}
	s->files.known = 1;
	return 0;
}

static int
check_files(struct sqlite *s, rp_error *error)
{
	const char *which;

	if (has_moved(s))
		return fail_deleted(s, "", error);
	if (!s->files.known)
		return note_files(s, error);
	which = find_deleted(s);
	if (!which)
		return 0;
	/* A missing -wal or -shm is no error if the program has changed this
	 * connection to another journal mode, because only WAL mode uses these
	 * files. */
	s->files.known = is_in_wal_mode(s, 1);
	return s->files.known ? fail_deleted(s, which, error) : 0;
}

/* Returns 1 if the folder did not change between the two calls of stat() that
 * returned `a` and `b`. In that case no file in it was deleted or replaced,
 * because that changes the folder. */
static int
is_same_folder(const struct stat *a, const struct stat *b)
{
	return a->st_ino == b->st_ino && a->st_dev == b->st_dev &&
	       a->st_ctim.tv_sec == b->st_ctim.tv_sec &&
	       a->st_ctim.tv_nsec == b->st_ctim.tv_nsec;
}

/* Returns 1 if the folder's last change is so long ago that the next change
 * will get a later time. If two changes have the same time, is_same_folder()
 * does not notice the second change. This can happen, because the kernel's
 * clock advances in ticks of up to 10 ms, and some file systems store whole
 * seconds. */
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
	r = check_files(s, error);
	if (r == 0 && is_there && has_settled(&folder))
		s->files.folder_seen = folder;
	return r;
}

void
rp__sqlite_close_files(struct sqlite *s)
{
	/* If the database, -wal or -shm was deleted, close without a
	 * checkpoint, because the checkpoint could overwrite changes of other
	 * processes. SQLite itself notices only if the database file was
	 * deleted. */
	if (!s->attached && find_deleted(s))
		sqlite3_db_config(s->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1,
				  NULL);
	if (!s->attached)
		sqlite3_close(s->db);
	for (int i = 0; i < BESIDE; i++)
		free(s->files.beside[i].path);
	free(s->files.folder);
}

/* ---- a fork under an open connection ---- */

/* The byte of -shm that each process keeps locked while it has the database
 * open; see https://www.sqlite.org/walformat.html. */
#define OPEN_BYTE 128

/*
 * Returns 1 if this process is a forked child that has inherited an open
 * connection.
 *
 * SQLite records in memory which locks its process holds. A forked child
 * inherits that memory but not the locks. So the child waits in vain for a lock
 * that a connection held at the fork.
 *
 * Each process that has the database open holds a lock on OPEN_BYTE, and
 * /proc/locks lists it. A forked child holds no such lock. If /proc/locks lists
 * no process at all, the answer is 0, because /proc/locks may be unreadable.
 * Our process id is read from /proc/self, because /proc may belong to another
 * pid namespace.
 */
int
rp__sqlite_was_forked(const struct sqlite *s)
{
	char path[4200], line[256], self[24] = "";
	const char *name = sqlite3_db_filename(s->db, "main");
	int ours = 0, others = 0;
	struct stat shm;
	FILE *locks;

	snprintf(path, sizeof(path), "%s-shm", name ? name : "");
	if (stat(path, &shm) < 0 ||
	    readlink("/proc/self", self, sizeof(self) - 1) < 0)
		return 0;
	locks = fopen("/proc/locks", "re");
	while (locks && fgets(line, sizeof(line), locks)) {
		long holder, first;
		unsigned long long ino;

		if (sscanf(line, "%*d: POSIX %*s %*s %ld %*x:%*x:%llu %ld",
			   &holder, &ino, &first) != 3 ||
		    ino != shm.st_ino || first != OPEN_BYTE)
			continue;
		ours |= holder == atol(self);
		others |= holder != atol(self);
	}
	if (locks)
		fclose(locks);
	return others && !ours && is_in_wal_mode(s, 0);
}

/* ---- users who may not write all of the files ---- */

static int
ask_access(const struct sqlite *s, const char *ending, int mode)
{
	char path[4200];

	snprintf(path, sizeof(path), "%s%s", sqlite3_db_filename(s->db, "main"),
		 ending);
	return access(path, mode);
}

const char *
rp__sqlite_find_foreign(const struct sqlite *s)
{
	if (s->attached || sqlite3_db_readonly(s->db, "main") != 0)
		return NULL;
	for (int i = 0; i < BESIDE; i++)
		if (ask_access(s, endings[i], W_OK) < 0 && errno == EACCES)
			return endings[i];
	return NULL;
}

static int
lies_there(const struct sqlite *s, const char *ending)
{
	return ask_access(s, ending, F_OK) == 0;
}

/* Take a shared lock on the database file. While we hold it, no other
 * connection removes -wal and -shm when it closes, because removing them needs
 * an exclusive lock. We lock through SQLite's own file handle, so SQLite treats
 * the lock as one that it took itself. */
static int
lock_shared(struct sqlite *s, sqlite3_file *file)
{
	int64_t until = rp__monotonic_ms() + s->busy_ms;
	int rc;

	while ((rc = file->pMethods->xLock(file, SQLITE_LOCK_SHARED)) ==
		       SQLITE_BUSY &&
	       rp__monotonic_ms() < until)
		rp__nap_us(1000);
	return rc;
}

/* Explain why a user who may not write the file cannot even read it now. The
 * file is in WAL mode, and SQLite needs -wal and -shm for reading, too. One of
 * the two is missing, and this user cannot or must not create it. */
int
rp__sqlite_cannot_make(const struct sqlite *s, rp_error *error)
{
	if (ask_access(s, "", W_OK) < 0 && errno == EROFS)
		return rp__fail(
			error, RP_EREADONLY,
			"%.90s is on a read-only file system, and no "
			"process that can write the file has it open: run a "
			"worker where the file is writable, or read a copy",
			s->path);
	return rp__fail(error, RP_EREADONLY,
			"%.90s: you may not write this file, so you can read "
			"it only while a process has it open: try as its "
			"owner, or while a worker runs, or read a copy",
			s->path);
}

/* If -wal or -shm of a file in WAL mode is missing, refuse a user who may only
 * read the file. For such a user, SQLite would create the missing files. They
 * would belong to that user, and users who may write the database could not
 * write to them. */
int
rp__sqlite_make_nothing(struct sqlite *s, rp_error *error)
{
	const int formats_at = 18; /* offset of `formats` in the file's
				    * header */
	unsigned char formats[2] = { 0, 0 }; /* the format's versions for
					      * writing and for reading; 2 means
					      * WAL */
	sqlite3_file *file = NULL;
	int rc;

	sqlite3_file_control(s->db, "main", SQLITE_FCNTL_FILE_POINTER, &file);
	rc = lock_shared(s, file);
	if (rc == SQLITE_OK)
		rc = file->pMethods->xRead(file, formats, 2, formats_at);
	if (rc != SQLITE_OK && rc != SQLITE_IOERR_SHORT_READ)
		return rp__sqlite_failed(s, rc, error);
	if (formats[1] < 2 || (lies_there(s, "-wal") && lies_there(s, "-shm")))
		return 0;
	return rp__sqlite_cannot_make(s, error);
}
