/*
 * process.c - start processes and share memory with them, see process.h.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "process.h"

#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

pid_t
spawn(void)
{
	pid_t parent = getpid(), pid = fork();

	if (pid != 0)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	/* The parent may have ended before prctl() was called. In that case the
	 * kernel sends no signal when the parent ends. */
	if (getppid() != parent)
		_exit(1);
	return 0;
}

int
spawn_wait(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -1;
	return status;
}

void
spawn_kill(pid_t pid)
{
	kill(pid, SIGKILL);
	spawn_wait(pid);
}

void *
shared_memory(size_t size)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

int64_t
monotonic_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

int64_t
monotonic_us(void)
{
	return monotonic_ns() / 1000;
}

void
sleep_us(int64_t us)
{
	struct timespec t = { us / 1000000, us % 1000000 * 1000 };

	while (nanosleep(&t, &t) < 0 && errno == EINTR)
		;
}
