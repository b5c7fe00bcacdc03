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
	int existed;        /* 1: at least one of the jobs existed already, from
			     * an earlier enqueue */
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
	int keeps_longer; /* 1: done jobs are kept until their results are
			   * printed, which may be longer than keep_ms */
	int64_t keep_ms;  /* how long done jobs are kept: the value of --keep
			   * or, without --keep, the queue's setting; 0: they
			   * are not kept */
};

/* Call this before the enqueue. The call fails if this process is a handler and
 * the jobs can start only after the handler has ended, because the handler
 * would then wait forever. If results are wanted, the call changes `model` so
 * that the jobs are kept long enough to read their results. Returns an exit
 * status. */
int await_prepare(struct await *await, struct cmd *cmd, const char *queue,
		  rp_job_spec *model);
/* Record these jobs, so that await_all() waits for them. Returns 0, or -1 if
 * memory ran out. */
int await_add(struct await *await, const rp_added *added, size_t n);
/* Wait for the jobs that await_add() has recorded. Returns an exit status. */
int await_all(struct await *await);

#endif
