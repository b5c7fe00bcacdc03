/*
 * parent.c - run a measurement in a child process, in a temporary directory.
 *
 * The parent only waits and cleans up, so that databases are removed even if
 * the measurement crashes.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "parent.h"

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "basics.h"

char *
directory_make(void)
{
	const char *dir = getenv("BENCH_DIR"), *tmp = getenv("TMPDIR");
	char *path;

	if (!dir || !*dir)
		dir = tmp && *tmp ? tmp : "/tmp";
	path = text("%s/readpast-bench.XXXXXX", dir);
	if (!mkdtemp(path)) {
		perror(path);
		free(path);
		return NULL;
	}
	return path;
}

void
directory_remove(const char *path)
{
	DIR *dir = opendir(path);
	struct dirent *entry;

	while (dir && (entry = readdir(dir)))
		if (strcmp(entry->d_name, ".") && strcmp(entry->d_name, ".."))
			unlinkat(dirfd(dir), entry->d_name, 0);
	if (dir)
		closedir(dir);
	if (rmdir(path) < 0)
		perror(path);
}

/* Wait for the end of the child. If a signal arrives during the wait, kill the
 * child and its children. Returns the exit status. */
static int
watch(pid_t child, const sigset_t *signals)
{
	int status, ended = 0;

	for (;;) {
		int number = sigwaitinfo(signals, NULL);

		if (number > 0 && number != SIGCHLD) {
			ended = 128 + number;
			kill(child, SIGKILL);
		}
		if (waitpid(child, &status, WNOHANG) == child)
			break;
	}
	if (ended)
		return ended;
	if (WIFEXITED(status))
		return WEXITSTATUS(status);
	fprintf(stderr, "bench: ended by signal %d\n", WTERMSIG(status));
	return 1;
}

int
measure_in_child(void (*measure)(void *ctx), void *ctx)
{
	sigset_t signals, before;
	pid_t child;

	sigemptyset(&signals);
	sigaddset(&signals, SIGCHLD);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGHUP);
	sigprocmask(SIG_BLOCK, &signals, &before);
	child = spawn();
	if (child < 0) {
		perror("fork");
		return 1;
	}
	if (child == 0) {
		sigprocmask(SIG_SETMASK, &before, NULL);
		measure(ctx);
		exit(fflush(stdout) == 0 ? 0 : 1);
	}
	return watch(child, &signals);
}
