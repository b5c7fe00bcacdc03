/*
 * pool.h - the lists of tasks that the coordinator shares with the threads that
 * run handlers, or with a program that pulls tasks.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#ifndef RP_POOL_H
#define RP_POOL_H

#include <pthread.h>

#include "task.h"

struct tasks {
	rp_task *first, *last;
	size_t count;
};
#define NO_TASKS                                                               \
	(struct tasks)                                                         \
	{                                                                      \
		NULL, NULL, 0                                                  \
	}

struct pool {
	/* Protects the fields from `todo` to `error`, except the elements of
	 * `conns`, each of which is used only by the task of its slot. No
	 * thread holds the lock during a call to the database or to the
	 * observer. */
	pthread_mutex_t lock;
	pthread_cond_t
		/* Signalled when `todo` or `ended` changes, so that a waiting
		 * thread starts a task or returns. */
		changed;
	pthread_cond_t renewed; /* signalled when the database has answered
				 * renewals of leases */
	struct tasks todo, finished;
	rp_task **running; /* the task of each slot; NULL: the slot is free */
	rp_conn **conns;   /* the connection of each slot, for the handler;
			    * opened when a task first needs it */
	size_t slots, running_count;
	struct rp_tallies tallies; /* counts of jobs that handlers have settled
				    * on the connections of their slots. The
				    * coordinator moves them to its
				    * connection, which writes them */
	int coordinator_waits;     /* 1: the coordinator waits until wake_fd is
				    * readable */
	int64_t mean_us; /* moving average of how long tasks run; 0: unknown */
	int64_t started_us; /* when the last task was started (monotonic us) */
	int ended;          /* 1: no more tasks are started, and the threads
			     * return */

	/* The following members are for a program that pulls tasks instead of
	 * having handlers. */
	int pulled;     /* 1: a program pulls tasks, and the coordinator has a
			 * thread of its own */
	int absent;     /* 1: tasks waited, but the program did not call
			 * rp_worker_next(). Until it does, the worker claims
			 * nothing */
	int fd_is_set;  /* 1: `fd` is readable */
	int result;     /* 0, or the error that ended the coordinator */
	rp_error error; /* the message of that error */

	/* The following members do not change after rp__pool_init(). */
	int wake_fd; /* eventfd; readable when a task is finished, or when the
		      * worker must stop */
	int fd;      /* eventfd, see rp_worker_fd() */

	/* Only the coordinator uses the following members. */
	pthread_t *threads;
	size_t threads_count;
};

void rp__tasks_add(struct tasks *tasks, rp_task *task);
void rp__tasks_append(struct tasks *tasks, const struct tasks *more);
void rp__tasks_free(struct tasks *tasks); /* empties the list, and frees each
					   * task */

int rp__pool_init(struct pool *pool);
void rp__pool_destroy(struct pool *pool);
int rp__pool_open(struct pool *pool, size_t slots);
void rp__pool_close(struct pool *pool);
int rp__pool_start_threads(rp_worker *worker);
void rp__pool_join_threads(rp_worker *worker);
void rp__pool_add(struct pool *pool, struct fetch *fetch, size_t n);
/* The caller of the following functions holds pool->lock. */
rp_task *rp__pool_start_task(rp_worker *worker);
void rp__pool_end_task(struct pool *pool, rp_task *task);
void rp__pool_wake_coordinator(struct pool *pool);
void rp__pool_set_fd(struct pool *pool);

#endif
