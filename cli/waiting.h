/*
 * waiting.h - see waiting.c.
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
	int result;         /* print results, and no states */
	int64_t timeout_ms; /* -1: none */
	int goes_on;        /* tell the user of a job that goes on after a
			     * signal */
};

/* Wait, and tell how the jobs ended. Returns the exit status. A signal ends the
 * process. */
int wait_for_jobs(const struct waiting *w, const int64_t *ids, size_t n);

/* A signal that has come ends the process. */
void end_if_told(struct cmd *cmd);

/* ---- await.c: enqueue --wait ---- */

struct await {
	int wanted; /* --wait was given */
	struct waiting how;
	int64_t *ids; /* of the jobs; the caller frees it */
	size_t count, room;
	int keeps_longer; /* the jobs are kept for longer than they shall be,
			   * until their results were read */
	int64_t keep_ms;  /* how long they shall be kept; 0: not */
};

/* Before the enqueue: refuse a wait for ourselves, and have results kept. An
 * exit status. */
int await_prepare(struct await *await, struct cmd *cmd, const char *queue,
		  rp_job_spec *model);
int await_add(struct await *await, const rp_added *added, size_t n); /* or -1 */
/* Wait for the jobs that were added. An exit status. */
int await_all(struct await *await);

#endif
