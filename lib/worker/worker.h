/*
 * worker.h - what the files of the worker share: worker.c (its life),
 * turn.c and keep.c (who talk to the database), alone.c
 * (when it takes suspects), task.c (who run
 * the handlers), effects.c (what a handler does in one transaction).
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#ifndef RP_WORKER_H
#define RP_WORKER_H

#include <pthread.h>
#include <stdatomic.h>

#include "internal.h"

/* A verdict on a job that somebody has locked is given again after so long. */
#define BLOCKED_MS 200

/* A worker fetches what its handlers will start within so long. */
#define AHEAD_MS 50

struct route {
	char *queue, *kind; /* kind NULL: any that no other route is for */
	rp_handler *handler;
	void *ctx;
};

/* The jobs of one claim. Freed when the last of them is settled. */
struct fetch {
	rp_batch *batch;
	size_t left;
	rp_task *tasks;
};

/* A claimed job on its way from the line to its verdict. */
struct rp_task {
	rp_worker *worker;
	struct fetch *fetch;
	const rp_job *job;
	rp_task *next;
	const char *thread; /* that runs it, see rp__thread() */
	rp_conn **conn;     /* that thread's own, for rp_task_begin() */
	int begun, said;    /* its transaction is open; completes the job */
	atomic_int done;    /* ... and is committed, or about to be */
	int verdict;
	int blocked; /* the verdict was given, and had to wait */
	int64_t delay_ms;
	char *error;
	int64_t lease_ms;
	int64_t leased_at; /* monotonic ms, before the lease was asked for */
	int64_t blocked_until; /* do not try to renew before; or 0 */
	int64_t fetched_at;    /* monotonic ms, when the answer was here */
	int64_t started_us;    /* monotonic, 0: not started */
	int64_t took_us;
	atomic_int fate; /* RP_TASK_RUNNING, _LOST or _CANCELLED */
};

struct tasks {
	rp_task *first, *last;
	size_t count;
};

/* Suspects; times are monotonic us. */
struct alone {
	const rp_task *task;  /* the one that is held, or NULL */
	int64_t wanted_since; /* some are in line, and were passed over; or 0 */
	int64_t began_us;     /* since when others stand back for `task` */
	int64_t taken_us;
	int64_t others_until; /* the turn of other jobs */
	int64_t room_us;      /* how long to make room at most; 0: ROOM_US */
};

struct rp_worker {
	char *url;
	rp_worker_options options;
	char name[RP_MOST_WORKER + 1], host[128];
	struct route *routes;
	size_t routes_count;
	const char **queues; /* in order of preference, a NULL at the end */
	size_t queues_count;

	pthread_mutex_t lock; /* for what follows */
	pthread_cond_t work;  /* something to do, or nothing ever more */
	struct tasks todo, finished;
	rp_task **running; /* by thread; NULL: idle */
	size_t running_count;
	int closing;        /* threads: start nothing more, go */
	int asleep;         /* the coordinator sleeps on wake_fd */
	int64_t mean_us;    /* how long handlers take, lately; 0: unknown */
	int64_t started_us; /* when the last one was started */

	pthread_t *threads;
	size_t threads_count;
	pthread_mutex_t observing;
	int wake_fd; /* eventfd: a task is finished, or stop */
	atomic_int stopping;

	/* The coordinator's own. */
	rp_conn *conn;
	rp_worker_counts counts;
	int maybe_ready; /* the last look did not find the line empty */
	struct alone alone;
	int64_t looked_at, next_look_ms, beat_at;
	int64_t rest_until; /* monotonic us: no look at others' commits before
			     */
	int64_t beat_total;
	int64_t given_back; /* of the claimed ones, before they were started */
	struct tasks blocked; /* ended, and somebody has the job locked */
	int64_t unblock_at;   /* monotonic ms, when to try again */
	int unblock_tries;    /* since the last that was settled */
	int troubles;         /* in a row */
	int lost; /* the connection was: we may hold more than we know */
};

/* task.c */
int rp__threads_start(rp_worker *worker);
void rp__threads_join(rp_worker *worker);
void rp__tasks_add(struct tasks *tasks, rp_task *task);
void rp__observe(rp_worker *worker, rp_event event);
void rp__task_free(rp_task *task);
int rp__task_enter(const rp_task *task);
int64_t rp__task_renew_at(const rp_task *task); /* monotonic ms */

/* turn.c */
int rp__worker_trouble(rp_worker *worker, int code);
int rp__worker_ending(rp_worker *worker);
size_t rp__worker_appetite(rp_worker *worker, size_t *ret_holding,
			   size_t *ret_ahead);
int rp__worker_turn(rp_worker *worker, struct tasks *finished);
int rp__worker_settle_blocked(rp_worker *worker);
void rp__worker_take_finished(rp_worker *worker, struct tasks *finished);
void rp__worker_take_unstarted(rp_worker *worker, struct tasks *finished);
void rp__worker_observe_verdict(rp_worker *worker, int what,
				const rp_task *task, const rp_verdict *v,
				int64_t asked_us);

/* alone.c */
int rp__alone_must_wait(const struct alone *alone, size_t holding);
size_t rp__alone_holding(const struct alone *alone, size_t holding);
void rp__alone_claimed(struct alone *alone, size_t jobs, size_t passed_over);
void rp__alone_end_making_room(struct alone *alone, size_t holding);
void rp__alone_began(struct alone *alone, const rp_task *task);
void rp__alone_ended(struct alone *alone, const rp_task *task);
int64_t rp__alone_lives_in_ms(const struct alone *alone);

/* keep.c */
int rp__worker_renew(rp_worker *worker);
int rp__worker_give_back_lost(rp_worker *worker, const struct tasks *finished);
int rp__worker_sign_on(rp_worker *worker);
int rp__worker_beat(rp_worker *worker, enum rp_verb verb);
int rp__worker_beat_if_due(rp_worker *worker, int64_t now);
int rp__worker_look(rp_worker *worker, struct rp_look *ret);

#endif
