/*
 * errors.c - map SQLite's errors to RP_E*, with one line of explanation each.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "sqlite.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int
code_of(int rc, int system_errno)
{
	switch (rc & 0xff) {
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
		return RP_EBUSY;
	case SQLITE_NOMEM:
		return RP_ENOMEM;
	case SQLITE_READONLY:
	case SQLITE_AUTH: /* an authorizer of the caller refused a statement */
		return RP_EREADONLY;
	case SQLITE_FULL:
		return RP_EFULL;
	case SQLITE_CORRUPT:
	case SQLITE_NOTADB:
		return RP_EDAMAGED;
	default:
		return system_errno == ENOSPC || system_errno == EDQUOT ||
				       system_errno == EFBIG
			       ? RP_EFULL
		       : system_errno == EROFS ? RP_EREADONLY
					       : RP_EDB;
	}
}

/* Returns 1 if the file can still be written. If its file system has become
 * read-only, SQLite reports that only when it opens a file. If the file is open
 * already, SQLite reports just an I/O error. */
static int
is_writable(const struct sqlite *s)
{
	int yes = 1;

	if (s->vfs)
		s->vfs->xAccess(s->vfs, s->path, SQLITE_ACCESS_READWRITE, &yes);
	return yes;
}

/* Returns 0 if the folder of the path can be written, else the errno that says
 * why it cannot. */
static int
folder_error(const char *path)
{
	const char *slash = strrchr(path, '/');
	char *folder =
		slash ? strndup(path, (size_t)(slash + 1 - path)) : strdup(".");
	int errnum = folder && access(folder, W_OK) < 0 ? errno : 0;

	free(folder);
	return errnum;
}

/* Returns why the file cannot be opened, or NULL if that is not known. SQLite's
 * own message does not say why. */
static const char *
cannot_open_because(const struct sqlite *s)
{
	int errnum = sqlite3_system_errno(s->db);
	struct stat file;

	if (stat(s->path, &file) == 0 && S_ISDIR(file.st_mode))
		return "it is a folder";
	/* If SQLite cannot create the file, it tries to open the file for
	 * reading instead. The second try fails with ENOENT, which hides why
	 * the file could not be created. So after ENOENT, folder_error() finds
	 * the reason. */
	switch (errnum == ENOENT ? folder_error(s->path) : errnum) {
	case EACCES:
	case EPERM:
		return "permission denied";
	case ENOENT:
	case ENOTDIR:
		return "there is no such folder";
	case EROFS:
		return "its file system is read-only";
	default:
		return NULL;
	}
}

/* Returns the errno of a failed write. sqlite3_system_errno() does not return
 * it if the failed statement is COMMIT. */
static int
write_errno(struct sqlite *s)
{
	sqlite3_file *journal = NULL;
	int errnum = 0;

	sqlite3_file_control(s->db, "main", SQLITE_FCNTL_JOURNAL_POINTER,
			     &journal);
	if (journal && journal->pMethods && journal->pMethods->xFileControl)
		journal->pMethods->xFileControl(
			journal, SQLITE_FCNTL_LAST_ERRNO, &errnum);
	if (!errnum)
		sqlite3_file_control(s->db, "main", SQLITE_FCNTL_LAST_ERRNO,
				     &errnum);
	return errnum;
}

static int
errno_of(struct sqlite *s, int rc)
{
	if (!s->db || (rc & 0xff) == SQLITE_BUSY)
		return 0;
	return rc == SQLITE_IOERR_WRITE ? write_errno(s)
					: sqlite3_system_errno(s->db);
}

static void
fail_locked(struct sqlite *s, rp_error *error)
{
	if (rp__sqlite_was_forked(s))
		rp__fail(error, RP_EBUSY,
			 "%.120s was open when this process was "
			 "forked, so the lock never becomes free here: open "
			 "the database after fork()",
			 s->path);
	else if (s->attached)
		rp__fail(error, RP_EBUSY,
			 "%.120s is locked by another connection", s->path);
	else
		rp__fail(error, RP_EBUSY,
			 "%.120s stayed locked by another process for %lld ms",
			 s->path, (long long)s->busy_ms);
}

/* Fill in `error`: SQLite's error number, and a message about what the error
 * means for the queue. */
int
rp__sqlite_failed(struct sqlite *s, int rc, rp_error *error)
{
	int code, full = s->db ? sqlite3_extended_errcode(s->db) : rc;
	int known = s->db && (full & 0xff) == (rc & 0xff);
	const char *ending, *why;

	if (!known)
		full = rc;
	code = code_of(full, errno_of(s, full));
	if ((rc & 0xff) == SQLITE_IOERR && !is_writable(s))
		code = rp__fail(error, RP_EREADONLY,
				"%.150s cannot be written any more: check the "
				"file's permissions and its file system",
				s->path);
	else if (known && strstr(sqlite3_errmsg(s->db), "unsafe use of"))
		code = rp__fail(error, RP_EDB,
				"%.120s: this SQLite refuses readpast's schema:"
				" run pragma trusted_schema = on",
				s->path);
	else if (code == RP_EBUSY)
		fail_locked(s, error);
	else if ((code == RP_EREADONLY || (rc & 0xff) == SQLITE_CANTOPEN) &&
		 known && (ending = rp__sqlite_find_foreign(s)))
		code = rp__fail(error, RP_EREADONLY,
				"%.120s%s belongs to another user, and you may "
				"not write it: run readpast doctor to see what "
				"helps",
				s->path, ending);
	else if ((rc & 0xff) == SQLITE_CANTOPEN && known &&
		 sqlite3_db_readonly(s->db, "main") > 0)
		code = rp__sqlite_cannot_make(s, error);
	else if ((rc & 0xff) == SQLITE_CANTOPEN && known &&
		 (why = cannot_open_because(s)))
		rp__fail(error, code, "cannot open database %.150s: %s",
			 s->path, why);
	else if (code == RP_EFULL && (rc & 0xff) != SQLITE_FULL)
		rp__fail(error, code,
			 "%.150s: the disk is full, or a file has the largest "
			 "size that this process may write (ulimit -f)",
			 s->path);
	else if ((rc & 0xff) == SQLITE_NOTADB)
		rp__fail(error, code, "%.150s is not a SQLite database",
			 s->path);
	else
		rp__fail(error, code, "%.100s: %.100s%s", s->path,
			 known ? sqlite3_errmsg(s->db) : sqlite3_errstr(rc),
			 (rc & 0xff) == SQLITE_READONLY
				 ? ": check the file's permissions and its "
				   "file system"
				 : "");
	if (error)
		error->native = full;
	return code;
}
