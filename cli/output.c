/*
 * output.c - can handlers still write to their standard output, which is ours?
 *
 * A handler that cannot write fails, and so does each one after it: a reader
 * that has gone or a disk that is full would use up the attempts of a whole
 * queue.
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

/* The room that a handler needs at least. A page: a write that needs a new
 * block may fail as a whole, with bytes left in the last one. */
#define ROOM 4096
/* The same as free blocks: 4 of 1 KiB, up to 3 that point to them. */
#define ROOM_BLOCKS 8

/*
 * Allocate the file's next block: the only sure test. The number of free blocks
 * does not say what a quota leaves us, nor a reserve of which root may use a
 * part. The file's size and content stay.
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
	/* It cannot allocate ahead. A file system of no blocks does not count
	 * them, as ramfs. */
	if (errno != EOPNOTSUPP || fstatvfs(STDOUT_FILENO, &fs) < 0 ||
	    fs.f_blocks == 0)
		return 0;
	return (geteuid() == 0 ? fs.f_bfree : fs.f_bavail) < ROOM_BLOCKS
		       ? ENOSPC
		       : 0;
}

/* Why standard output takes nothing more, as an errno; 0: it does, as far as
 * one can know without writing. Any thread may ask. */
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
			"cannot write to standard output: %s; %s (send it to a "
			"reader, a file with room, or /dev/null)",
			why, consequence);
}
