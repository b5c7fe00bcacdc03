/*
 * no_pidfd.c - let pidfd_open() fail, as it does when a process has no free
 * file descriptor. This is an LD_PRELOAD library.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include <errno.h>
#include <sys/pidfd.h>

int
pidfd_open(pid_t pid, unsigned int flags)
{
	(void)pid;
	(void)flags;
	errno = EMFILE;
	return -1;
}
