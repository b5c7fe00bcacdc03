/*
 * look_file.c - what SQL cannot see of a file: where it lies, and who reads.
 *
 * Nothing here opens or closes the database's files in this process: that would
 * drop SQLite's locks on them.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "doctor.h"

#define STARVED_BYTES (16 << 20)

/* ---- the file system ---- */

#define ELSEWHERE                                                              \
	"over the network: its locks do not hold as SQLite needs them, and "   \
	"no "                                                                  \
	"memory is shared with other hosts, so that two of them hand out the " \
	"same job or damage the file"
#define MEMORY "which is memory: all jobs are gone when the host restarts"

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
	  "whose locks may not hold as SQLite needs them (sshfs and others)" },
	{ TMPFS_MAGIC, "tmpfs", MEMORY },
	{ RAMFS_MAGIC, "ramfs", MEMORY },
};

int
look_file_system(struct doctor *d)
{
	const char *path = d->path;
	struct statfs fs;

	if (!d->is_file)
		return DOCTOR_NOT_HERE;
	if (!path || statfs(path, &fs) < 0)
		return doctor_undone(d, "statfs of the file failed");
	for (size_t i = 0; i < sizeof(file_systems) / sizeof(*file_systems);
	     i++)
		if ((unsigned)file_systems[i].magic == (unsigned)fs.f_type)
			return doctor_found(
				d, json_pack("{ss ss ss}", "path", path, "name",
					     file_systems[i].name, "reason",
					     file_systems[i].reason));
	return 0;
}

/* ---- two names of one file ---- */

/* Is a file system, or a part of one, mounted exactly there? */
static int
is_mount_point(const char *path)
{
	struct statx x;

	return statx(AT_FDCWD, path, 0, STATX_BASIC_STATS, &x) == 0 &&
	       x.stx_attributes & STATX_ATTR_MOUNT_ROOT;
}

/* SQLite names -wal and -shm after the name that it was given, and follows
 * symbolic links, but sees neither hard links nor mounts. */
int
look_names(struct doctor *d)
{
	const char *path = d->path;
	struct stat file;
	char how[64];

	if (!d->is_file)
		return DOCTOR_NOT_HERE;
	if (!path || stat(path, &file) < 0)
		return doctor_undone(d, "the file cannot be looked at");
	if (is_mount_point(path))
		return doctor_found(
			d, json_pack("{ss ss ss}", "file", path, "how",
				     "is mounted there by itself, without its "
				     "directory",
				     "fix",
				     "end all that use it, and mount its "
				     "directory instead (-v /data:/data, not "
				     "-v /data/x.db:/x.db)"));
	if (file.st_nlink < 2)
		return 0;
	snprintf(how, sizeof(how), "has %lu names (hard links)",
		 (unsigned long)file.st_nlink);
	return doctor_found(
		d, json_pack("{ss ss ss}", "file", path, "how", how, "fix",
			     "end all that use it, and remove the other names "
			     "(find DIRECTORY -samefile FILE shows them); a "
			     "symbolic link does no harm"));
}

/* ---- -wal and -shm of other users ---- */

/* Are there users who may write the database, but not the file beside it? */
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
look_owner(struct doctor *d)
{
	static const char *const endings[] = { "-wal", "-shm" };
	const char *path = d->path;
	char file[PATH_MAX + 8];
	struct stat main, beside;
	int may_write, r = 0;

	if (!d->is_file)
		return DOCTOR_NOT_HERE;
	if (!path || stat(path, &main) < 0)
		return doctor_undone(d, "the file cannot be looked at");
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

/* ---- a checkpoint that readers keep waiting ---- */

/* The file -shm, as https://www.sqlite.org/walformat.html has it: two headers
 * of 48 bytes, and then what checkpoints know; locks lie on bytes of it. */
#define READERS 5
#define FIRST_READER 123 /* the byte that the first one locks */
struct shared {
	uint32_t version, unused, change;
	uint8_t is_init, big_endian;
	uint16_t page_size; /* 1: 65536 */
	uint32_t frames;    /* in the -wal */
	uint32_t rest[7], copy[12];
	uint32_t in_file; /* so many of them are in the database file */
	uint32_t marks[READERS];
};

struct seen {
	int64_t waiting_bytes;
	pid_t reader; /* 0: none that matters */
};

/* In a process of its own. */
static struct seen
see(const char *path)
{
	struct seen seen = { 0, 0 };
	struct shared s;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || pread(fd, &s, sizeof(s), 0) != sizeof(s) ||
	    s.frames <= s.in_file)
		return seen;
	seen.waiting_bytes = (int64_t)(s.frames - s.in_file) *
			     (s.page_size == 1 ? 65536 : s.page_size);
	for (int i = 0; i < READERS && !seen.reader; i++) {
		struct flock lock = { .l_type = F_WRLCK,
				      .l_whence = SEEK_SET,
				      .l_start = FIRST_READER + i,
				      .l_len = 1 };

		if (s.marks[i] < s.frames && fcntl(fd, F_GETLK, &lock) == 0 &&
		    lock.l_type != F_UNLCK)
			seen.reader = lock.l_pid;
	}
	return seen;
}

static struct seen
see_apart(const char *path)
{
	struct seen seen = { 0, 0 };
	int pipes[2];
	pid_t child;

	if (pipe(pipes) < 0)
		return seen;
	child = fork();
	if (child == 0) {
		seen = see(path);
		_exit(write(pipes[1], &seen, sizeof(seen)) != sizeof(seen));
	}
	close(pipes[1]);
	if (child < 0 || read(pipes[0], &seen, sizeof(seen)) != sizeof(seen))
		seen = (struct seen){ -1, 0 };
	close(pipes[0]);
	if (child > 0)
		waitpid(child, NULL, 0);
	return seen;
}

static json_t *
name_process(pid_t pid)
{
	char path[48], name[64] = "";
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%ld/comm", (long)pid);
	file = fopen(path, "re");
	if (file) {
		if (!fgets(name, sizeof(name), file))
			*name = '\0';
		fclose(file);
	}
	name[strcspn(name, "\n")] = '\0';
	return json_sprintf("process %ld%s%s%s", (long)pid, *name ? " (" : "",
			    name, *name ? ")" : "");
}

int
look_checkpoint(struct doctor *d)
{
	char path[PATH_MAX + 8];
	struct seen seen;

	if (!d->is_file)
		return DOCTOR_NOT_HERE;
	if (!d->path)
		return doctor_undone(d, "the file cannot be looked at");
	snprintf(path, sizeof(path), "%s-shm", d->path);
	seen = see_apart(path);
	if (seen.waiting_bytes < 0)
		return doctor_undone(d, "no process could be made for it");
	if (seen.waiting_bytes < STARVED_BYTES || !seen.reader)
		return 0;
	return doctor_found(d, json_pack("{sI sI so}", "waiting_bytes",
					 (json_int_t)seen.waiting_bytes, "pid",
					 (json_int_t)seen.reader, "holder",
					 name_process(seen.reader)));
}
