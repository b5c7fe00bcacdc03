/*
 * commands.c - measure the processor time of two runs of readpast: a command
 * that only reads, and a command that enqueues a job. For comparison, `true` is
 * run, too: its processor time is the cost of any process.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "bench.h"

#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define RUNS 20 /* how many times a program is started in a round */

static const struct {
	const char *row, *program, *arguments[4];
} commands[] = {
	{ "command.true", "/bin/true", { NULL } },
	{ "command.stats", COMMAND, { "stats", NULL } },
	{ "command.enqueue", COMMAND, { "enqueue", QUEUE, "x", NULL } },
};
#define COMMANDS (sizeof(commands) / sizeof(*commands))

void
commands_rows(const struct bench *b)
{
	for (size_t i = 0; i < COMMANDS; i++)
		report_row(b->report, commands[i].row, "ms", NULL, 0);
}

static double
ms_of(const struct timeval *t)
{
	return (double)t->tv_sec * 1e3 + (double)t->tv_usec / 1e3;
}

/* Run a program. Returns the processor time that it took, in ms. */
static double
run(const char *program, const char *const *arguments)
{
	const char *argv[6] = { program };
	posix_spawn_file_actions_t quiet;
	struct rusage used;
	int status;
	pid_t pid;

	for (int i = 0; arguments[i]; i++)
		argv[i + 1] = arguments[i];
	posix_spawn_file_actions_init(&quiet);
	posix_spawn_file_actions_addopen(&quiet, STDOUT_FILENO, "/dev/null",
					 O_WRONLY, 0);
	if (posix_spawn(&pid, program, &quiet, NULL, (char *const *)argv,
			environ) != 0 ||
	    wait4(pid, &status, 0, &used) != pid || status != 0)
		die("%s failed", program);
	posix_spawn_file_actions_destroy(&quiet);
	return ms_of(&used.ru_utime) + ms_of(&used.ru_stime);
}

void
commands_round(const struct bench *b, int round)
{
	char *path = database_path(b, "library");
	char *url = text("sqlite:%s", path);
	double ms[COMMANDS] = { 0 };

	database_fill(path, 1);
	setenv("READPAST_DB", url, 1);
	for (int n = 0; n < RUNS; n++)
		for (size_t i = 0; i < COMMANDS; i++)
			ms[i] +=
				run(commands[i].program, commands[i].arguments);
	for (size_t i = 0; i < COMMANDS && round >= 0; i++)
		report_sample(b->report, commands[i].row, ms[i] / RUNS);
	free(url);
	free(path);
}
