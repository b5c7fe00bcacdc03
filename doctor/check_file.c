/*
 * check_file.c - checks of `readpast doctor` on a database file that need more
 * than SQL: its file system, its owner, and whether this user can write to it.
 *
 * While a connection is open, no function here may open or close the database's
 * files. If a process closes any descriptor of a file, it loses all its locks
 * on that file, including SQLite's.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "doctor.h"

/* ---- is the database on a local file system? ---- */

#define ELSEWHERE                                                              \
	"over the network: SQLite's locks do not work "                        \
	"reliably there, and hosts share no memory, so two "                   \
	"hosts can hand out the same job or damage the file"
#define MEMORY "which is memory: all jobs are lost when the host restarts"

static const struct {
	long magic;
	const char *name, *reason;
} file_systems[] = {
	{ NFS_SUPER_MAGIC, "NFS", ELSEWHERE },
	{ SMB_SUPER_MAGIC, "SMB", ELSEWHERE },
	{ 0xff534d42, "CIFS", ELSEWHERE },
	{ 0xfe534d42, "SMB2", ELSEWHERE },
	{ AFS_SUPER_MAGIC, "AFS", ELSEWHERE },
	{ CODA_SUPER_MAGIC, "Coda", ELSEWHERE },
	{ NCP_SUPER_MAGIC, "NCP", ELSEWHERE },
	{ 0x01021997, "9P", ELSEWHERE },
	{ 0x00c36400, "Ceph", ELSEWHERE },
	{ 0x0bd00bd0, "Lustre", ELSEWHERE },
	{ 0x65735546, "FUSE",
	  "whose locks are perhaps not reliable enough for SQLite (sshfs and "
	  "others)" },
	{ TMPFS_MAGIC, "tmpfs", MEMORY },
	{ RAMFS_MAGIC, "ramfs", MEMORY },
};

int
check_file_system(struct doctor *d)
{
	const char *path = d->path;
	struct statfs fs;

	if (!d->is_file)
		return DOCTOR_NOT_HERE;
	if (!path || statfs(path, &fs) < 0)
		return doctor_undone(d, "statfs of the database file failed");
	for (size_t i = 0; i < sizeof(file_systems) / sizeof(*file_systems);
	     i++)
		if ((unsigned)file_systems[i].magic == (unsigned)fs.f_type)
			return doctor_found(
				d, json_pack("{ss ss ss}", "path", path, "name",
					     file_systems[i].name, "reason",
					     file_systems[i].reason));
	return 0;
}

/* ---- does the file have two names? ---- */

/* Return whether a file system, or a part of a file system, is mounted at
 * exactly this path. */
static int
is_mount_point(const char *path)
{
	struct statx x;

	return statx(AT_FDCWD, path, 0, STATX_BASIC_STATS, &x) == 0 &&
	       x.stx_attributes & STATX_ATTR_MOUNT_ROOT;
}

/* Check whether the database file has two names. SQLite derives the names of
 * -wal and -shm from the name by which it opens the file. So two processes that
 * use different names would use different -wal files. SQLite resolves symbolic
 * links, but cannot detect hard links and mounts. */
int
check_names(struct doctor *d)
{
	const char *path = d->path;
	struct stat file;
	char how[64];

	if (!d->is_file)
		return DOCTOR_NOT_HERE;
	if (!path || stat(path, &file) < 0)
		return doctor_no_file(d);
	if (is_mount_point(path))
		return doctor_found(
			d, json_pack("{ss ss ss}", "file", path, "how",
				     "is mounted as a single file, without its "
				     "directory",
				     "fix",
				     "end all processes that use the file, and "
				     "mount its directory instead (-v "
				     "/data:/data, not -v /data/x.db:/x.db)"));
	if (file.st_nlink < 2)
		return 0;
	snprintf(how, sizeof(how), "has %lu names (hard links)",
		 (unsigned long)file.st_nlink);
	return doctor_found(
		d, json_pack("{ss ss ss}", "file", path, "how", how, "fix",
			     "end all processes that use the file, and remove "
			     "its other names (find DIRECTORY -samefile FILE "
			     "prints them); symbolic links do no harm"));
}

/* ---- may all users of the database write -wal and -shm? ---- */

/* Return whether some user may write to the database `main`, but not to
 * `beside`, which is its -wal or -shm file. */
static int
shuts_out(const struct stat *beside, const struct stat *main)
{
	int same_group = beside->st_gid == main->st_gid;
	int others = beside->st_mode & S_IWOTH;
	int group = same_group && beside->st_mode & S_IWGRP;

	if (beside->st_uid != main->st_uid && !group && !others)
		return 1;
	return main->st_mode & S_IWGRP && !same_group && !others;
}

static json_t *
name_user(uid_t uid)
{
	const struct passwd *user = getpwuid(uid);

	return user ? json_string(user->pw_name)
		    : json_sprintf("%ld", (long)uid);
}

int
check_owner(struct doctor *d)
{
	static const char *const endings[] = { "-wal", "-shm" };
	const char *path = d->path;
	char file[PATH_MAX + 8];
	struct stat main, beside;
	int may_write, r = 0;

	if (!d->is_file)
		return DOCTOR_NOT_HERE;
	if (!path || stat(path, &main) < 0)
		return doctor_no_file(d);
	may_write = access(path, W_OK) == 0;
	for (size_t i = 0; i < 2 && r == 0; i++) {
		snprintf(file, sizeof(file), "%s%s", path, endings[i]);
		if (stat(file, &beside) == 0 &&
		    (shuts_out(&beside, &main) ||
		     (may_write && access(file, W_OK) < 0)))
			r = doctor_found(d,
					 json_pack("{ss ss so}", "file", file,
						   "database", path, "owner",
						   name_user(beside.st_uid)));
	}
	return r;
}

/* ---- is the file a database? ---- */

/* Check that the file is a SQLite database. An empty file is a database without
 * tables. If a connection is open, SQLite itself has checked the format. */
int
check_format(struct doctor *d)
{
	static const char begins[16] = "SQLite format 3";
	char first[sizeof(begins)];
	FILE *file;
	size_t size;

	if (!d->is_file || d->conn)
		return DOCTOR_NOT_HERE;
	file = d->path ? fopen(d->path, "rbe") : NULL;
	if (!file)
		return doctor_undone(d, "the file cannot be read");
	size = fread(first, 1, sizeof(first), file);
	fclose(file);
	if (size == 0 || memcmp(first, begins, sizeof(begins)) == 0)
		return 0;
	return doctor_found(d, json_pack("{ss}", "file", d->path));
}

/* ---- is there free space? ---- */

/* If less space than this is free, in bytes, commits fail now or soon, because
 * they make two files grow: -wal to some MiB before a checkpoint, and -shm by
 * 32 KiB at a time. */
#define LEAST_BYTES (1 << 20)

/* Check that the file system is mounted for writing and has free space. If the
 * only problem is that this user has no right to write to the file, nothing is
 * reported, because the workers may run as another user. */
int
check_disk(struct doctor *d)
{
	struct statvfs fs;

	if (!d->is_file)
		return DOCTOR_NOT_HERE;
	if (!d->path || statvfs(d->path, &fs) < 0)
		return doctor_undone(d, "statvfs of the database file failed");
	if (fs.f_flag & ST_RDONLY ||
	    (access(d->path, W_OK) < 0 && errno == EROFS)) {
		d->blocked = 1;
		return doctor_found(
			d,
			json_pack("{ss ss ss}", "file", d->path, "why",
				  "its file system is read-only here", "fix",
				  "mount the file system for writing; if the "
				  "kernel made it read-only, dmesg says why"));
	}
	/* Some file systems in memory report a size of 0, and have no limit. */
	if (!fs.f_blocks || (uint64_t)fs.f_bavail * fs.f_frsize >= LEAST_BYTES)
		return 0;
	d->blocked = 1;
	return doctor_found(d,
			    json_pack("{ss ss so ss}", "file", d->path, "why",
				      "its file system is full", "free_bytes",
				      json_integer((json_int_t)fs.f_bavail *
						   (json_int_t)fs.f_frsize),
				      "fix",
				      "free some space on that file system (df "
				      "FILE shows which one it is); after "
				      "that, workers continue by themselves"));
}
