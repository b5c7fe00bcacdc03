/*
 * task.h - a task: a job that the worker holds, from the claim to its verdict.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#ifndef RP_TASK_H
#define RP_TASK_H

#include <stdatomic.h>

#include "internal.h"

/* The jobs of one claim. The struct is freed when the last of its jobs is
 * settled. */
struct fetch {
	rp_batch *batch;
	size_t left;
	rp_task *tasks;
};

/* The result and the progress that a handler reports, until they are sent to
 * the database; see report.c. */
struct report {
	/* The handler uses the following two members until it returns. After
	 * that, the coordinator uses them. */
	char *result; /* NULL: no result */
	size_t result_size;

	/* The pool's lock protects the following members. */
	char *progress;  /* text that is not sent yet; NULL: no such text */
	char *sending;   /* text that was sent with a renewal that is not
			  * answered yet; NULL: no such text */
	int64_t sent_at; /* when a text was last sent (monotonic ms); 0:
			  * never */
};

struct rp_task {
	/* The following members are set when the job is claimed, and do not
	 * change after that. */
	rp_worker *worker;
	struct fetch *fetch;
	const rp_job *job;
	int64_t fetched_at; /* when the claim was answered (monotonic ms) */
	int prefetched; /* 1: the job was claimed before a handler was free */

	/* The handler uses the following members until it returns. After that,
	 * the coordinator uses them. */
	const char *thread; /* the thread that runs the handler, see
			     * rp__thread(); NULL: any thread may use the task,
			     * because the program got it from
			     * rp_worker_next() */
	rp_conn **conn;     /* the connection of the task's slot, for
			     * rp_task_begin() */
	int begun;          /* 1: the task's transaction is open */
	int completes;      /* 1: the task's transaction completes the job */
	int verdict;
	int64_t delay_ms;
	int hold; /* RP_HOLD_*: what to hold with the verdict, see
		   * rp_task_hold(); 0: nothing */
	int64_t hold_ms;
	char *error;
	struct report report;

	/* The pool's lock protects the following members. */
	rp_task *next; /* the next task in the same list */
	int64_t lease_ms;
	int64_t leased_at;    /* when the current lease was requested
			       * (monotonic ms) */
	int64_t locked_until; /* if another transaction had locked the job:
			       * when to try again to renew the lease
			       * (monotonic ms); 0: the job was not locked */
	int renewing;         /* 1: the coordinator is renewing the lease */
	int extending;        /* 1: the handler is extending the lease */
	int is_settled;       /* 1: a renewal found that the handler has
			       * settled the claim itself. The lease is not
			       * renewed any more */
	int64_t started_us;   /* when the task was started (monotonic us); 0:
			       * the task is not started yet */
	int64_t took_us;

	int is_locked; /* 1: the verdict was sent, but another transaction
			* had locked the job, so nothing was changed. It is 0
			* again if the answer to a repeated verdict was lost:
			* the verdict may have been accepted, so the lease is
			* not renewed. Only the coordinator uses this member */

	/* Any thread may use the following members. */
	atomic_int done; /* 1: the task's transaction has completed the job, or
			  * is about to */
	atomic_int fate; /* RP_TASK_RUNNING, _LOST or _CANCELLED */
};

/* Returns the fate of a task whose verdict or renewal was refused: RP_TASK_LOST
 * if `result` is RP_EGONE, RP_TASK_CANCELLED if it is RP_ECANCELLED. */
int rp__task_fate(int result);
/* Returns 0 if the worker still holds the task, otherwise the error that tells
 * its fate: RP_EGONE or RP_ECANCELLED. */
int rp__task_loss(const rp_task *task);
int rp__task_enter(const rp_task *task);
int64_t rp__task_renew_at(const rp_task *task); /* when to renew the task's
						 * lease (monotonic ms) */
void rp__task_free(rp_task *task);

/* report.c */
int64_t rp__report_at(const struct report *report);
const char *rp__report_send(struct report *report);
void rp__report_answered(struct report *report, int r, int64_t asked);
void rp__report_free(struct report *report);

#endif
