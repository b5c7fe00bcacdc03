/*
 * task.h - a claimed job, from the claim to its verdict.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#ifndef RP_TASK_H
#define RP_TASK_H

#include <stdatomic.h>

#include "internal.h"

/* The jobs of one claim. They are freed when the last one is settled. */
struct fetch {
	rp_batch *batch;
	size_t left;
	rp_task *tasks;
};

struct rp_task {
	/* Set when the job is claimed, and not changed after that. */
	rp_worker *worker;
	struct fetch *fetch;
	const rp_job *job;
	int64_t fetched_at; /* when the claim was answered (monotonic ms) */

	/* Used by the handler until it returns, then by the coordinator. */
	const char *thread; /* the thread that runs the handler, see
			     * rp__thread(); NULL: the task was pulled, and
			     * any thread may use it */
	rp_conn **conn;     /* the connection of its slot, for
			     * rp_task_begin() */
	int begun;          /* 1: its transaction is open */
	int completes;      /* 1: that transaction completes the job */
	int verdict;
	int64_t delay_ms;
	char *error;

	/* Protected by the pool's lock. */
	rp_task *next; /* the next task in the same list */
	int64_t lease_ms;
	int64_t leased_at;     /* when its present lease was requested
				* (monotonic ms) */
	int64_t blocked_until; /* when a renewal of the locked job may be
				* tried again (monotonic ms); 0: it was not
				* locked */
	int renewing;          /* 1: the coordinator is renewing the lease */
	int extending;         /* 1: the handler is extending the lease */
	int64_t started_us;    /* when it was started (monotonic us); 0: it
				* was not */
	int64_t took_us;

	int blocked; /* used by the coordinator; 1: a verdict was given, but
		      * the job was locked */

	/* Used by any thread. */
	atomic_int done; /* 1: its transaction has completed the job, or is
			  * about to */
	atomic_int fate; /* RP_TASK_RUNNING, _LOST or _CANCELLED */
};

/* Returns the fate of a task whose verdict or renewal was refused with this
 * result, which is RP_EGONE or RP_ECANCELLED. */
int rp__task_fate(int result);
int64_t rp__task_renew_at(const rp_task *task); /* when to renew its lease
						 * (monotonic ms) */
void rp__task_free(rp_task *task);

#endif
