/*
 * waiting.h - wait for jobs to end, and print how they ended, for the command
 * `wait` and the option --wait of `enqueue`.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#ifndef WAITING_H
#define WAITING_H

#include "cmd.h"

struct waiting {
	struct cmd *cmd;
	int any, json, quiet;
	int result;         /* 1: print results instead of states */
	int64_t timeout_ms; /* -1: no limit */
	int existed;        /* 1: at least one of the jobs was enqueued before,
			     * by another client */
	int goes_on;        /* 1: after a signal, print that the job
			     * continues */
};

/* Wait, and print how the jobs ended. Returns the exit status. A signal ends
 * the process. */
int wait_for_jobs(const struct waiting *w, const int64_t *ids, size_t n);

/* End the process if a signal has arrived. */
void end_if_told(struct cmd *cmd);

/* ---- await.c: enqueue --wait ---- */

struct await {
	int wanted; /* 1: --wait was given */
	struct waiting how;
	int64_t *ids; /* ids of the jobs; the caller frees them */
	size_t count, room;
	int keeps_longer; /* 1: until the results are read, the jobs are kept
			   * for longer than the user or the queue wants */
	int64_t keep_ms;  /* how long the user or the queue wants the jobs to
			   * be kept; 0: not kept */
};

/* Call this before the enqueue. It refuses a wait of a handler for itself, and
 * makes the jobs keep their results. Returns an exit status. */
int await_prepare(struct await *await, struct cmd *cmd, const char *queue,
		  rp_job_spec *model);
/* Add the jobs to those that are waited for. Returns 0, or -1 if memory ran
 * out. */
int await_add(struct await *await, const rp_added *added, size_t n);
/* Wait for the jobs that were added. Returns an exit status. */
int await_all(struct await *await);

#endif
