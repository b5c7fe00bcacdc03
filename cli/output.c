/*
 * output.c - find out whether handlers can still write to standard output,
 * which they share with the worker.
 *
 * A handler that cannot write fails. Without this check, all jobs of a queue
 * would use up their attempts if the reader of a pipe ended or the disk became
 * full.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "work.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/sysmacros.h>
#include <unistd.h>

/* We rely on a file only if it can grow by this many bytes (one page). Free
 * bytes in its last block are not enough, because a write that also needs a new
 * block may fail as a whole. */
#define ROOM 4096
/* The number of free blocks that are needed to write ROOM bytes, if a block has
 * 1 KiB: 4 for the data, and up to 3 for the file system's lists of the file's
 * blocks. The sum is rounded up. */
#define ROOM_BLOCKS 8

/*
 * Check that the file can grow, by allocating its next block. This is the only
 * reliable test, because the number of free blocks includes reserved blocks and
 * blocks beyond our quota, which we may not use. The file's size and its
 * content do not change. Returns 0 or an errno.
 */
static int
file_error(off_t size, int flags)
{
	off_t end = flags & O_APPEND ? size : lseek(STDOUT_FILENO, 0, SEEK_CUR);
	struct statvfs fs;

	if (fallocate(STDOUT_FILENO, FALLOC_FL_KEEP_SIZE, end, ROOM) == 0)
		return 0;
	if (errno == ENOSPC || errno == EDQUOT)
		return errno;
	/* This file system cannot preallocate blocks, so look at the number of
	 * free blocks. A file system with 0 blocks in total (ramfs) does not
	 * count its blocks. */
	if (errno != EOPNOTSUPP || fstatvfs(STDOUT_FILENO, &fs) < 0 ||
	    fs.f_blocks == 0)
		return 0;
	return (geteuid() == 0 ? fs.f_bfree : fs.f_bavail) < ROOM_BLOCKS
		       ? ENOSPC
		       : 0;
}

/* Check whether standard output can be written, without writing to it. Returns
 * 0 if it can be written, else an errno that names the reason. Thread-safe. */
int
output_error(void)
{
	const dev_t dev_full = makedev(1, 7);
	struct pollfd out = { .fd = STDOUT_FILENO, .events = POLLOUT };
	int flags = fcntl(STDOUT_FILENO, F_GETFL);
	struct stat file;

	if (flags < 0 || (flags & O_ACCMODE) == O_RDONLY)
		return EBADF;
	if (fstat(STDOUT_FILENO, &file) < 0)
		return errno;
	if (S_ISREG(file.st_mode))
		return file_error(file.st_size, flags);
	if (S_ISCHR(file.st_mode) && file.st_rdev == dev_full)
		return ENOSPC;
	if (poll(&out, 1, 0) > 0 && (out.revents & (POLLERR | POLLHUP)))
		return EPIPE;
	return 0;
}

int
complain_of_output(int errnum, const char *consequence)
{
	const char *why = errnum == EBADF   ? "it is not open for writing"
			  : errnum == EPIPE ? "it has no reader any more"
					    : strerror(errnum);

	return complain(FAILED,
			"cannot write to standard output: %s; %s (redirect it "
			"to a reader, a file with room, or /dev/null)",
			why, consequence);
}
