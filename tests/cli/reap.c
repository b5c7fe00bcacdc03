/*
 * reap.c - let the first waitpid() for a single process return late: only after
 * the file `begun` exists. It creates the file `reaped` before it waits. This
 * is an LD_PRELOAD library.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

pid_t
waitpid(pid_t pid, int *status, int flags)
{
	pid_t (*original)(pid_t, int *, int), r;

	*(void **)&original = dlsym(RTLD_NEXT, "waitpid");
	r = original(pid, status, flags);
	if (pid <= 0 || r != pid)
		return r;
	close(open("reaped", O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
	while (access("begun", F_OK) < 0)
		usleep(1000);
	return r;
}
