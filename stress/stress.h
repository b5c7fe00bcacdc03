/*
 * stress.h - what the files of `readpast stress` share.
 *
 * One process for each producer and each worker, and one that watches the
 * server; the parent starts, kills and counts them, and has no connection
 * while they live. Each writes what it did into a log of its own, in memory
 * that outlives its writer: a killed worker has said all that it knew.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#ifndef STRESS_H
#define STRESS_H

#include <stdatomic.h>
#include <sys/types.h>

#include "checker.h"
#include "cmd.h"

#define WAITS 32

/* One line of the history. */
struct moment {
	int64_t at, id, claim_no;
	uint32_t asked_ago_us, lease_ms;
	uint16_t attempt, max_attempts;
	uint8_t what, verdict;
	int8_t result;
	uint8_t state;
};
enum { ENQUEUED, CLAIMED, STARTED, SETTLING, SETTLED, LOST };

/* Where one process writes them, one after the other. */
struct stress_log {
	int fd;
	_Atomic int64_t *count; /* in shared memory */
	struct moment *window;  /* the part that is written now */
	int64_t from;           /* its first */
};

/* What the server counts. */
struct server {
	int64_t transactions, buffers, wal_bytes, deadlocks, sessions;
	int64_t statements; /* -1: the server does not count them */
};

struct wait {
	char type[24], event[40];
	int64_t samples;
};

/* Between the processes. */
struct shared {
	_Atomic int64_t to_make; /* jobs that no producer has taken up */
	_Atomic int64_t enqueued, done, dead, failed;
	_Atomic int64_t kills, stalls;
	_Atomic int stop;  /* producers: enough */
	_Atomic int made;  /* the producers have ended */
	_Atomic int empty; /* the queue holds nothing to do any more */
	_Atomic int over;  /* workers have ended, too */
	_Atomic int ready; /* the watcher has begun */
	_Atomic int failing;
	char why[300]; /* whoever set failing */

	/* the watcher's */
	int has_counters; /* the database counts what it does */
	struct server before, after;
	struct wait waits[WAITS];
	int64_t samples;
};

struct child {
	pid_t pid;
	int generation;
	struct stress_log log;
	int64_t resume_at; /* stopped until then; 0: not stopped */
};

struct stress {
	struct cmd *cmd;
	char queue[129];
	int64_t producers, workers, threads, jobs, for_ms, payload, batch;
	int64_t work_ms, kill_ms, stall_ms, lease_ms, seed;
	double fail_rate;
	int fill, pin, json;
	struct shared *shared;
	_Atomic int64_t *counts; /* of the logs, in shared memory */
	struct child *children;  /* producers, workers */
	struct child watcher;
	int64_t began_at, ended_at;
	int interrupted;
};

/* Where percentiles come from. */
struct spread {
	int64_t p50, p90, p99, max;
};
enum { L_ENQUEUE, L_CLAIM, L_START, L_END_TO_END, LATENCIES };
#define BARS 40
#define FINDINGS 5

struct sums {
	int64_t enqueued, done, dead, claims, retries, duplicates, unknown;
	int64_t written; /* bytes; -1: nobody knows */
	double enqueue_rate, done_rate;
	double enqueue_bars[BARS], done_bars[BARS];
	int64_t bar_us;
	struct spread latency[LATENCIES];
	struct verdicts verdicts;
	char findings[PROMISES][FINDINGS][200];
	int found[PROMISES];
};

/* log.c */
int log_open(struct stress_log *log, _Atomic int64_t *count);
int log_note(struct stress_log *log, const struct moment *moment);
/* What all have noted, one process after the other. */
typedef void moment_fn(void *ctx, const struct moment *moment,
		       const char *client);
void log_each(const struct stress *stress, moment_fn *fn, void *ctx);

/* load.c: the processes' mains. They return an exit status. */
int produce(struct stress *stress, struct child *child);
int work(struct stress *stress, struct child *child);
int child_fails(struct stress *stress, const char *what, const char *why);
uint64_t stress_random(uint64_t seed, uint64_t a, uint64_t b);

/* watch.c */
int watch(struct stress *stress, struct child *child);

/* queue.c: 0, or an exit status (said) */
int scratch_make(struct stress *stress);
int scratch_remove(struct cmd *cmd, const char *queue);
int scratch_sweep(struct cmd *cmd);

/* sum.c: 0, or an exit status (said) */
int sum_up(struct stress *stress, struct sums *ret);

/* proof.c: likewise */
int prove(struct stress *stress, struct sums *ret);

/* report.c */
void report(const struct stress *stress, const struct sums *sums);
void report_progress(const struct stress *stress, int over);

#endif
