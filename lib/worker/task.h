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

/* The result and the progress that a handler reports; see report.c. */
struct report {
	/* Used by the handler until it returns, then by the coordinator. */
	char *result; /* NULL: none */
	size_t result_size;

	/* Protected by the pool's lock. */
	char *progress;  /* not sent yet; NULL: none */
	char *sending;   /* in a renewal that is not answered yet, or NULL */
	int64_t sent_at; /* monotonic ms of the last one; 0: none */
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
	struct report report;

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
	int is_settled;        /* 1: a renewal found that the handler has
				* settled the claim itself: no more renewals */
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
int rp__task_enter(const rp_task *task);
int64_t rp__task_renew_at(const rp_task *task); /* when to renew its lease
						 * (monotonic ms) */
void rp__task_free(rp_task *task);

/* report.c */
int64_t rp__report_at(const struct report *report);
const char *rp__report_send(struct report *report);
void rp__report_answered(struct report *report, int r, int64_t asked);
void rp__report_free(struct report *report);

#endif
