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
	/* Protects all fields but the coordinator's own. It is never held while
	 * the database is asked or while the observer is called. */
	pthread_mutex_t lock;
	pthread_cond_t
		/* Signalled when `todo` or `ended` changes: there may be a task
		 * to start. */
		changed;
	pthread_cond_t renewed; /* a renewal was answered */
	struct tasks todo, finished;
	rp_task **running; /* by slot; NULL: free */
	rp_conn **conns;   /* by slot; opened when a task first needs one */
	size_t slots, running_count;
	int asleep;      /* the coordinator waits on wake_fd */
	int64_t mean_us; /* moving average of how long tasks run; 0: unknown */
	int64_t started_us; /* when the last task was started, monotonic us */
	int ended;          /* start no more tasks, and let the threads end */

	/* For a program that pulls tasks instead of having handlers. */
	int pulled;     /* it pulls; the coordinator has a thread of its own */
	int absent;     /* it did not take waiting tasks: claim nothing */
	int fd_is_set;  /* `fd` is readable */
	int result;     /* 0, or the error that ended the coordinator */
	rp_error error; /* ... and its message */

	/* Not changed after rp__pool_init(). */
	int wake_fd;       /* eventfd: a task is finished, or the worker is to
			    * stop */
	int fd;            /* eventfd, see rp_worker_fd() */
	_Atomic pid_t pid; /* of the process that pulls; 0: none. Set once */

	/* The coordinator's own. */
	pthread_t *threads;
	size_t threads_count;
};

void rp__tasks_add(struct tasks *tasks, rp_task *task);
void rp__tasks_append(struct tasks *tasks, const struct tasks *more);
void rp__tasks_free(struct tasks *tasks); /* frees the tasks, too */

int rp__pool_init(struct pool *pool);
void rp__pool_destroy(struct pool *pool);
int rp__pool_open(struct pool *pool, size_t slots);
void rp__pool_close(struct pool *pool);
int rp__pool_start_threads(rp_worker *worker);
void rp__pool_join_threads(rp_worker *worker);
void rp__pool_add(struct pool *pool, struct fetch *fetch, size_t n);
/* The following need the lock. */
rp_task *rp__pool_start_task(rp_worker *worker);
void rp__pool_end_task(struct pool *pool, rp_task *task);
void rp__pool_wake_coordinator(struct pool *pool);
void rp__pool_set_fd(struct pool *pool);

#endif
