/*
 * worker.h - the struct of a worker, and the functions that the files of this
 * folder share.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 *
 * The coordinator is the thread that claims, settles and renews. Usually it is
 * the thread that calls rp_worker_run(). If a program pulls the tasks, the
 * coordinator is a thread that the worker starts. Only the coordinator uses the
 * worker's connection, and only the coordinator frees tasks.
 */
#ifndef RP_WORKER_H
#define RP_WORKER_H

#include "pool.h"

/* If another transaction has locked a job, the worker sends the job's verdict
 * or the renewal of its lease again after this time, in ms. */
#define LOCKED_MS 200

/* A worker that has no handler for a job's kind releases the job with this
 * delay, in ms. Another worker may have a handler. */
#define NO_HANDLER_MS 10000

/* A worker prefetches jobs, that is, claims them before a handler is free:
 * those that its handlers will start within this time, in ms. */
#define AHEAD_MS 50

struct route {
	char *queue, *kind;  /* `kind` is NULL if the route is for all kinds
			      * that have no route of their own */
	int is_pattern;      /* 1: `queue` is a pattern */
	size_t first, count; /* if `queue` is a pattern: the matching queues are
			      * `count` elements of the worker's list of queues,
			      * from the index `first` on; used by the
			      * coordinator only */
	rp_handler *handler; /* NULL: tasks are pulled */
	void *ctx;
};

/* A queue that matches a pattern. */
struct found {
	char *name;
	int is_listed; /* 1: the queue is in the worker's list of queues */
};

/* The state that decides whether the worker claims suspects or other jobs now;
 * see alone.c. A suspect is a job that may have killed its worker. The worker
 * takes turns: it runs one suspect and nothing else, then it serves other jobs
 * for as long as they had to wait. Times are monotonic us. */
struct alone {
	const rp_task *task;  /* the suspect that the worker holds, or NULL */
	int64_t wanted_since; /* when the worker began to make room for a
			       * suspect, because a claim had skipped the
			       * suspect; 0: no suspect is known to wait */
	int64_t began_us;     /* when other jobs began to wait because of
			       * `task` */
	int64_t taken_us;     /* when the worker claimed `task` */
	int64_t others_until; /* the worker serves other jobs until this time */
	int64_t room_us;      /* the longest time for which the worker makes
			       * room for a suspect: it claims nothing until its
			       * other jobs have ended; 0: ROOM_US */
};

/* The numbers that rp_worker_counts_get() returns. Any thread may read them. */
struct counts {
	_Atomic int64_t claimed, done, failed, dead, released, lost, cancelled;
};

struct rp_worker {
	/* The following members do not change while the worker runs. */
	pid_t pid; /* the process that called rp_worker_new() */
	char *url;
	rp_worker_options options;
	char name[RP_MOST_WORKER + 1], host[128];
	struct route *routes;
	size_t routes_count;
	int has_patterns;

	/* All threads use the following members. */
	struct pool pool;
	pthread_mutex_t observing; /* locked during each call of the observer */
	atomic_int stopping;
	atomic_int runs;      /* 1: rp_worker_run() is running */
	struct counts counts; /* written by the coordinator only */

	pthread_t coordinator; /* the thread of the coordinator, if a program
				* pulls tasks; rp_worker_free() joins it */

	/* Only the coordinator uses the following members. */
	rp_conn *conn;
	struct alone alone;
	struct rp_waiter waiter;
	int waited, what;   /* `waited`: 1 if the loop has just waited for work.
			     * `what`: flags RP_WAIT_* that were returned by
			     * waits and are not handled yet */
	int maybe_ready;    /* 1: the last claim or probe has shown that there
			     * may be ready jobs */
	int64_t given_back; /* how many claimed jobs were released without being
			     * started */
	struct tasks locked;  /* finished tasks that cannot be settled, because
			       * other transactions have locked their jobs */
	int64_t locked_until; /* when to settle `locked` again (monotonic ms) */
	int locked_tries;     /* how many tries in a row to settle `locked` have
			       * settled none of its tasks */
	int troubles;         /* how many calls have failed since the last round
			       * of the loop without a failure. A single success
			       * does not set this to 0, because calls of one
			       * kind may fail each time while others succeed */
	void *unsettled;      /* a tree of jobs, sorted by id: those that this
			       * worker has run and that are not finished yet; see
			       * unsettled.c */
	/* The names of the queues that the worker serves, in order of
	 * preference, with a NULL at the end; see queues.c. */
	const char **queues;
	struct found *found; /* queues that match a pattern */
	size_t found_count;
	int is_list_old; /* 1: `queues` must be replaced by a new list, made
			  * from the routes and `found` */
	int64_t registered_version; /* version of the list of queues that is
				     * stored in the worker's row in the
				     * database. If it is not waiter.version,
				     * the row must be updated */
	int64_t look_at;     /* when to look for new queues (monotonic ms) */
	int64_t look_at_all; /* when to read the names of all queues, to notice
			      * dropped queues too (monotonic ms) */
	/* For finding new queues, see queues.c. The worker reads the queues
	 * whose ids are larger than old_queue_id. last_queue_id: the largest id
	 * of a queue that was read. At the time young_until, about every
	 * YOUNG_MS, old_queue_id is set to last_queue_id. */
	int64_t last_queue_id, old_queue_id, young_until;
	int64_t heartbeat_at, heartbeat_total;
	int64_t tell_at; /* when the observer gets its next heartbeat
			  * (monotonic ms) */
};

/* worker.c */
int rp__worker_enter(const rp_worker *worker, rp_error *reterr);
int rp__worker_open(rp_worker *worker, rp_error *reterr);
void rp__observe(rp_worker *worker, rp_event event);
const struct route *rp__worker_route(const rp_worker *worker,
				     const rp_job *job);
/* Returns 1 if the worker serves this queue. `ctx` is the worker. Any thread
 * may call this function. */
int rp__worker_serves(const void *ctx, const char *queue);
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
/* How a handler has settled its claim itself: the verdict that it gave, the
 * state of the job after that, and the error text if the verdict was a
 * failure. */
struct own {
	int verdict, state;
	char error[200];
};
int rp__verdict_find_own(rp_worker *worker, const rp_task *task,
			 struct own *ret);
int rp__worker_settle_locked(rp_worker *worker);
void rp__worker_take_finished(rp_worker *worker, struct tasks *finished);
void rp__worker_take_unstarted(rp_worker *worker, struct tasks *finished);
void rp__verdict_observe(rp_worker *worker, int what, const rp_job *job,
			 const rp_verdict *verdict, int64_t took_us,
			 int64_t asked_us);

/* unsettled.c */
int rp__unsettled_add(rp_worker *worker, const struct tasks *tasks);
void rp__unsettled_remove(rp_worker *worker, int64_t id);
int rp__unsettled_drop_settled(rp_worker *worker, int *ret_r);
void rp__unsettled_free(rp_worker *worker);

/* alone.c */
int rp__alone_must_wait(const struct alone *alone, size_t holding);
size_t rp__alone_holding(const struct alone *alone, size_t holding);
void rp__alone_note_claim(struct alone *alone, size_t jobs, size_t passed_over);
void rp__alone_end_making_room(struct alone *alone, size_t holding);
void rp__alone_note_begin(struct alone *alone, const rp_task *task);
void rp__alone_note_end(struct alone *alone, const rp_task *task);
int64_t rp__alone_lives_in_ms(const struct alone *alone);

/* lease.c */
int64_t rp__lease_renew_at(rp_worker *worker);
int rp__lease_renew(rp_worker *worker);
int rp__lease_give_back_unknown(rp_worker *worker,
				const struct tasks *finished);

/* queues.c */
/* Look for queues that match the worker's patterns, and update the list of
 * queues. Returns 1 if the list has changed, 0 if not, or an error. */
int rp__queues_find(rp_worker *worker);
int rp__queues_find_if_due(rp_worker *worker, int64_t now);
/* Look for new queues now, even if look_at has not come. A draining worker does
 * so before it ends, so that it misses no queue. */
int rp__queues_find_at_the_end(rp_worker *worker);
/* Several queues may match a pattern. For each pattern, move the first of these
 * queues behind the others, so that none of them is preferred. */
void rp__queues_rotate(rp_worker *worker);
void rp__queues_free(rp_worker *worker);

/* heartbeat.c */
int rp__worker_register_queues(rp_worker *worker);
int rp__worker_register(rp_worker *worker);
int rp__worker_heartbeat(rp_worker *worker, enum rp_verb verb);
int rp__worker_heartbeat_if_due(rp_worker *worker, int64_t now);

/* pull.c */
void rp__pull_end(rp_worker *worker);

#endif
