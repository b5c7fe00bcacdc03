/*
 * crowd.c - run processes that do the same work on one file at the same time.
 *
 * Each process opens the database after the fork. The processes begin to work
 * at the same time. They report how many jobs they did.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "crowd.h"

#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

/* memory that the parent shares with its children */
struct board {
	_Atomic int ready, go, dry;
	_Atomic size_t served[CROWD_MOST];
};

static void
work(const struct crowd *c, struct board *board, int me)
{
	void *handle = c->side->open(c->path, c->synchronous, c->batch);
	double until;
	size_t n;

	operate_begin(c->side, handle, c->what);
	atomic_fetch_add(&board->ready, 1);
	while (!atomic_load(&board->go))
		sleep_us(2000);
	until = seconds_now() + c->seconds;
	while (seconds_now() < until) {
		n = operate(c->side, handle, c->what);
		atomic_fetch_add(&board->served[me], n);
		if (n < c->batch) {
			atomic_store(&board->dry, 1);
			break;
		}
	}
	c->side->close(handle);
}

static pid_t
start(const struct crowd *c, struct board *board, int me)
{
	pid_t pid = fork_child();

	if (pid > 0)
		return pid;
	work(c, board, me);
	_exit(0);
}

double
crowd_run(const struct crowd *c, double *ret_fairness)
{
	struct board *board = allocate_shared(sizeof(*board));
	size_t total = 0, least = SIZE_MAX, most = 0;
	pid_t pids[CROWD_MOST];
	int status, bad = 0, dry;

	for (int i = 0; i < c->n; i++)
		pids[i] = start(c, board, i);
	while (atomic_load(&board->ready) < c->n && !bad) {
		sleep_us(1000);
		/* Stop waiting if a child has died, because a dead child never
		 * becomes ready. */
		bad = waitpid(-1, &status, WNOHANG) > 0;
	}
	atomic_store(&board->go, 1);
	for (int i = 0; i < c->n && !bad; i++)
		bad = spawn_wait(pids[i]) != 0;
	if (bad)
		die("a process of %d failed", c->n);
	for (int i = 0; i < c->n; i++) {
		size_t served = board->served[i];

		total += served;
		least = served < least ? served : least;
		most = served > most ? served : most;
	}
	dry = board->dry;
	munmap(board, sizeof(*board));
	*ret_fairness = most ? (double)least / (double)most : 0;
	return dry ? 0 : (double)total / c->seconds;
}
