/*
 * task.h - a claimed job on its way from the claim to its verdict.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#ifndef RP_TASK_H
#define RP_TASK_H

#include <stdatomic.h>

#include "internal.h"

/* The jobs of one claim. Freed when the last of them is settled. */
struct fetch {
	rp_batch *batch;
	size_t left;
	rp_task *tasks;
};

struct rp_task {
	/* Set at the claim. */
	rp_worker *worker;
	struct fetch *fetch;
	const rp_job *job;
	int64_t fetched_at; /* monotonic ms, when the answer was here */

	/* The handler's until it is over, and then the coordinator's. */
	const char *thread; /* that runs it, see rp__thread(); NULL: it was
			       pulled, and any thread may have it */
	rp_conn **conn;     /* its slot's, for rp_task_begin() */
	int begun;          /* its transaction is open */
	int completes;      /* ... and completes the job */
	int verdict;
	int64_t delay_ms;
	char *error;

	/* Under the pool's lock. */
	rp_task *next; /* in whichever list has it */
	int64_t lease_ms;
	int64_t leased_at;     /* monotonic ms, before it was asked for */
	int64_t blocked_until; /* do not try to renew before; or 0 */
	int renewing;          /* the coordinator asks for that just now */
	int extending;         /* the handler does */
	int64_t started_us;    /* monotonic, 0: not started */
	int64_t took_us;

	int blocked; /* the coordinator's: the verdict was given, and had to
			wait */

	/* Any thread's. */
	atomic_int done; /* its transaction completed it, or is about to */
	atomic_int fate; /* RP_TASK_RUNNING, _LOST or _CANCELLED */
};

/* The state of a task that somebody else took (RP_EGONE, RP_ECANCELLED). */
int rp__task_fate(int result);
int64_t rp__task_renew_at(const rp_task *task); /* monotonic ms */
void rp__task_free(rp_task *task);

#endif
