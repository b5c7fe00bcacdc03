/*
 * processes.c - four processes on one file, against one.
 *
 * Each opens the database after the fork. They start together, take turns for a
 * given time on a line that lasts, and tell how many jobs they were served.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "bench.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define MOST 4
#define LEVEL "full"

static const size_t batches[] = { 1, 10, 100 };
#define BATCHES (sizeof(batches) / sizeof(*batches))

/* Shared with the children. */
struct board {
	_Atomic int ready, go, dry;
	_Atomic size_t served[MOST];
};

static char *
row_name(const char *what, size_t batch)
{
	return text("%s." LEVEL ".%zu", what, batch);
}

static void
add_row(const struct bench *b, const char *what, size_t batch, const char *unit)
{
	char *name = row_name(what, batch);

	report_row(b->report, name, unit, NULL, 0);
	free(name);
}

void
processes_rows(const struct bench *b)
{
	for (size_t i = 0; i < BATCHES; i++) {
		add_row(b, "processes.1", batches[i], "jobs/s");
		add_row(b, "processes.4", batches[i], "jobs/s");
		add_row(b, "speedup", batches[i], "x");
		add_row(b, "fairness", batches[i], "least/most");
	}
}

static void
work(struct board *board, int me, const char *path, size_t batch,
     double seconds)
{
	const struct side *side = &library_side;
	void *handle = side->open(path, LEVEL, batch);
	double until;
	size_t n;

	side->claim(handle);
	atomic_fetch_add(&board->ready, 1);
	while (!atomic_load(&board->go))
		sleep_us(100);
	until = seconds_now() + seconds;
	while (seconds_now() < until) {
		n = side->turn(handle);
		atomic_fetch_add(&board->served[me], n);
		if (n < batch) {
			atomic_store(&board->dry, 1);
			break;
		}
	}
	side->close(handle);
}

static pid_t
start(struct board *board, int me, const char *path, size_t batch,
      double seconds)
{
	pid_t pid = fork();

	if (pid < 0)
		die("fork failed");
	if (pid > 0)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	work(board, me, path, batch, seconds);
	_exit(0);
}

/* Have `n` processes work; jobs per second, and how fair it was. 0: there were
 * too few jobs. */
static double
run(const char *path, int n, size_t batch, double seconds, double *fairness)
{
	struct board *board = allocate_shared(sizeof(*board));
	size_t total = 0, least = SIZE_MAX, most = 0;
	pid_t pids[MOST];
	int status, bad = 0, dry;

	for (int i = 0; i < n; i++)
		pids[i] = start(board, i, path, batch, seconds);
	while (atomic_load(&board->ready) < n && !bad) {
		sleep_us(100);
		/* One that died here would be waited for until the end. */
		bad = waitpid(-1, &status, WNOHANG) > 0;
	}
	atomic_store(&board->go, 1);
	for (int i = 0; i < n && !bad; i++)
		bad = waitpid(pids[i], &status, 0) < 0 || status != 0;
	if (bad)
		die("a process of %d failed", n);
	for (int i = 0; i < n; i++) {
		size_t served = board->served[i];

		total += served;
		least = served < least ? served : least;
		most = served > most ? served : most;
	}
	dry = board->dry;
	munmap(board, sizeof(*board));
	*fairness = most ? (double)least / (double)most : 0;
	return dry ? 0 : (double)total / seconds;
}

/* The line must outlast the sample, or the last to run dry looks favoured. */
static double
sample(const char *path, int n, size_t batch, double rate, double seconds,
       double *fairness)
{
	size_t jobs = (size_t)(rate * seconds * 1.5) + 100 * batch;
	double r;

	do {
		database_fill(path, jobs);
		r = run(path, n, batch, seconds, fairness);
		jobs *= 2;
	} while (r <= 0);
	return r;
}

static void
add(const struct bench *b, const char *what, size_t batch, double value)
{
	char *name = row_name(what, batch);

	report_sample(b->report, name, value);
	free(name);
}

void
processes_round(const struct bench *b, int round)
{
	char *path = database_path(b, "library");

	for (size_t i = 0; i < BATCHES && round >= 0; i++) {
		char *name = row_name("turn", batches[i]);
		double rate = report_median(b->report, name);
		double one, four, fairness;

		one = sample(path, 1, batches[i], rate, b->seconds, &fairness);
		four = sample(path, 4, batches[i], rate, 2 * b->seconds,
			      &fairness);
		add(b, "processes.1", batches[i], one);
		add(b, "processes.4", batches[i], four);
		add(b, "speedup", batches[i], four / one);
		add(b, "fairness", batches[i], fairness);
		free(name);
	}
	free(path);
}
