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

/* The jobs of one claim. Freed when the last one is settled. */
struct fetch {
	rp_batch *batch;
	size_t left;
	rp_task *tasks;
};

struct rp_task {
	/* Set when it is claimed; constant. */
	rp_worker *worker;
	struct fetch *fetch;
	const rp_job *job;
	int64_t fetched_at; /* monotonic ms, when the claim was answered */

	/* Used by the handler until it returns, then by the coordinator. */
	const char *thread; /* the one that runs the handler, see rp__thread();
			     * NULL: pulled, any thread may use it */
	rp_conn **conn;     /* connection of its slot, for rp_task_begin() */
	int begun;          /* its transaction is open */
	int completes;      /* ... and completes the job */
	int verdict;
	int64_t delay_ms;
	char *error;

	/* Protected by the pool's lock. */
	rp_task *next; /* in the list that it is in */
	int64_t lease_ms;
	int64_t leased_at;     /* monotonic ms, just before the request */
	int64_t blocked_until; /* no renewal before then, monotonic ms; or 0 */
	int renewing;          /* the coordinator is renewing the lease */
	int extending;         /* the handler is extending the lease */
	int64_t started_us;    /* monotonic us, 0: not started */
	int64_t took_us;

	int blocked; /* used by the coordinator: the verdict was given, and the
		      * job was locked */

	/* Used by any thread. */
	atomic_int done; /* its transaction has completed it, or is about to */
	atomic_int fate; /* RP_TASK_RUNNING, _LOST or _CANCELLED */
};

/* The fate of a task whose verdict or renewal got this result: RP_EGONE or
 * RP_ECANCELLED. */
int rp__task_fate(int result);
int64_t rp__task_renew_at(const rp_task *task); /* monotonic ms */
void rp__task_free(rp_task *task);

#endif
