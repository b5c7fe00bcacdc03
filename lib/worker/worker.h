/*
 * worker.h - the worker, and what its files share.
 *
 * The thread that calls rp_worker_run(), or one of the worker's own where tasks
 * are pulled, is the coordinator. It alone talks to the database on the
 * worker's connection, and it alone frees tasks.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#ifndef RP_WORKER_H
#define RP_WORKER_H

#include "pool.h"

/* A verdict on a job that somebody has locked is given again after so long. */
#define BLOCKED_MS 200

/* Some other worker may have a handler for it. */
#define NO_HANDLER_MS 10000

/* A worker fetches what its handlers will start within so long. */
#define AHEAD_MS 50

struct route {
	char *queue, *kind;  /* kind NULL: any that no other route is for */
	rp_handler *handler; /* NULL: its tasks are pulled */
	void *ctx;
};

/* Suspects; times are monotonic us. */
struct alone {
	const rp_task *task;  /* the one that is held, or NULL */
	int64_t wanted_since; /* some are ready, and were passed over; or 0 */
	int64_t began_us;     /* since when others stand back for `task` */
	int64_t taken_us;
	int64_t others_until; /* the turn of other jobs */
	int64_t room_us;      /* how long to make room at most; 0: ROOM_US */
};

/* The counts of rp_worker_counts_get(), which any thread may call. */
struct counts {
	_Atomic int64_t claimed, done, failed, dead, released, lost;
};

struct rp_worker {
	/* Never changed once the worker runs. */
	char *url;
	rp_worker_options options;
	char name[RP_MOST_WORKER + 1], host[128];
	struct route *routes;
	size_t routes_count;
	const char **queues; /* in order of preference, a NULL at the end */
	size_t queues_count;

	/* Any thread's. */
	struct pool pool;
	pthread_mutex_t observing; /* one call of the observer at a time */
	atomic_int stopping;
	struct counts counts; /* the coordinator writes them */

	pthread_t coordinator; /* where tasks are pulled: who frees joins it */

	/* The coordinator's own. */
	rp_conn *conn;
	struct alone alone;
	struct rp_waiter waiter;
	int waited, what; /* the last step ended with a wait, and its answer */
	int maybe_ready;  /* the last claim or probe may have left some */
	int64_t given_back; /* of the claimed ones, before they were started */
	struct tasks blocked; /* ended, and somebody has the job locked */
	int64_t unblock_at;   /* monotonic ms, when to try again */
	int unblock_tries;    /* since the last that was settled */
	int troubles;         /* in a row */
	int64_t heartbeat_at, heartbeat_total;
};

/* worker.c */
void rp__observe(rp_worker *worker, rp_event event);
const struct route *rp__worker_route(const rp_worker *worker,
				     const rp_job *job);
int rp__worker_check_routes(const rp_worker *worker, int handlers,
			    rp_error *reterr);

/* task.c */
void rp__task_begin_handling(rp_task *task, const char *thread);
int rp__task_end_handling(rp_task *task, int verdict);

/* loop.c */
int rp__worker_trouble(rp_worker *worker, int code);
int rp__worker_no_memory(rp_worker *worker);
int rp__loop_run(rp_worker *worker, rp_error *reterr);

/* verdict.c */
rp_verdict *rp__verdicts_make(rp_worker *worker, struct tasks *tasks);
void rp__verdicts_answered(rp_worker *worker, struct tasks *tasks,
			   const rp_verdict *verdicts, int64_t asked_us);
int rp__worker_settle_blocked(rp_worker *worker);
void rp__worker_take_finished(rp_worker *worker, struct tasks *finished);
void rp__worker_take_unstarted(rp_worker *worker, struct tasks *finished);
void rp__verdict_observe(rp_worker *worker, int what, const rp_job *job,
			 const rp_verdict *verdict, int64_t took_us,
			 int64_t asked_us);

/* alone.c */
int rp__alone_must_wait(const struct alone *alone, size_t holding);
size_t rp__alone_holding(const struct alone *alone, size_t holding);
void rp__alone_claimed(struct alone *alone, size_t jobs, size_t passed_over);
void rp__alone_end_making_room(struct alone *alone, size_t holding);
void rp__alone_began(struct alone *alone, const rp_task *task);
void rp__alone_ended(struct alone *alone, const rp_task *task);
int64_t rp__alone_lives_in_ms(const struct alone *alone);

/* lease.c */
int rp__lease_renew(rp_worker *worker);
int rp__lease_give_back_unknown(rp_worker *worker,
				const struct tasks *finished);

/* heartbeat.c */
int rp__worker_register(rp_worker *worker);
int rp__worker_heartbeat(rp_worker *worker, enum rp_verb verb);
int rp__worker_heartbeat_if_due(rp_worker *worker, int64_t now);

/* pull.c */
int rp__pull_end(rp_worker *worker);

#endif
