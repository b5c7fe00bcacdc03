/*
 * stress.h - declarations that the files of `readpast stress` share.
 *
 * There is one process for each producer and each worker, and one that watches
 * the server. The parent starts, kills and counts them, and has no connection
 * while they live. Each process writes what it does to a log of its own, in
 * memory that outlives the process. So the log of a killed worker is complete
 * up to its last entry.
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

/* an entry of a log; it becomes a line of the history */
struct moment {
	int64_t at, id, claim_no;
	uint32_t asked_ago_us, lease_ms;
	uint16_t attempt, max_attempts;
	uint8_t what, verdict;
	int8_t result;
	uint8_t state;
};
enum { ENQUEUED, CLAIMED, STARTED, SETTLING, SETTLED, LOST };

/* a process's log: a sequence of moments */
struct stress_log {
	int fd;
	_Atomic int64_t *count; /* number of entries, in shared memory */
	struct moment *window;  /* the part of the log that is mapped for
				 * writing */
	int64_t from;           /* index of the window's first entry */
};

/* The server's counters. */
struct server {
	int64_t transactions, buffers, wal_bytes, deadlocks, sessions;
	int64_t statements; /* number of statements; -1: this server does not
			     * count them */
};

struct wait {
	char type[24], event[40];
	int64_t samples;
};

/* the shared memory of all processes */
struct shared {
	_Atomic int64_t to_make; /* jobs not yet assigned to a producer */
	_Atomic int64_t enqueued, done, dead, failed;
	_Atomic int64_t kills, stalls;
	_Atomic int stop;  /* producers must stop */
	_Atomic int made;  /* not 0: all producers have ended */
	_Atomic int empty; /* not 0: no job is left to do */
	_Atomic int over;  /* not 0: all workers have ended */
	_Atomic int ready; /* not 0: the watcher has started */
	_Atomic int failing;
	char why[300]; /* text of the first failure */

	/* the watcher writes these */
	int has_counters; /* not 0: the database has counters */
	struct server before, after;
	struct wait waits[WAITS];
	int64_t samples;
};

struct child {
	pid_t pid;
	int generation;
	struct stress_log log;
	int64_t resume_at; /* when to send SIGCONT; 0: the process is not
			    * stopped */
};

struct stress {
	struct cmd *cmd;
	char queue[129];
	int64_t producers, workers, threads, jobs, for_ms, payload, batch;
	int64_t work_ms, kill_ms, stall_ms, lease_ms, seed;
	double fail_rate;
	int fill, pin, json;
	struct shared *shared;
	_Atomic int64_t *counts; /* lengths of the logs, in shared memory */
	struct child *children;  /* first producers, then workers */
	struct child watcher;
	int64_t began_at, ended_at;
	int interrupted;
};

/* percentiles of a latency, in microseconds */
struct spread {
	int64_t p50, p90, p99, max;
};
enum { L_ENQUEUE, L_CLAIM, L_START, L_END_TO_END, LATENCIES };
#define BARS 40
#define FINDINGS 5

struct sums {
	int64_t enqueued, done, dead, claims, retries, duplicates, unknown;
	int64_t written; /* bytes written; -1: not known */
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
/* Call `fn` for each entry of all logs, one process after the other. */
typedef void moment_fn(void *ctx, const struct moment *moment,
		       const char *client);
void log_each(const struct stress *stress, moment_fn *fn, void *ctx);

/* load.c: main functions of the processes; they return an exit status */
int produce(struct stress *stress, struct child *child);
int work(struct stress *stress, struct child *child);
int child_fails(struct stress *stress, const char *what, const char *why);
uint64_t stress_random(uint64_t seed, uint64_t a, uint64_t b);

/* watch.c */
int watch(struct stress *stress, struct child *child);

/* queue.c: each returns 0, or an exit status after printing an error */
int scratch_make(struct stress *stress);
int scratch_remove(struct cmd *cmd, const char *queue);
int scratch_sweep(struct cmd *cmd);

/* sum.c: returns 0, or an exit status after printing an error */
int sum_up(struct stress *stress, struct sums *ret);

/* proof.c: returns 0, or an exit status after printing an error */
int prove(struct stress *stress, struct sums *ret);

/* report.c */
void report(const struct stress *stress, const struct sums *sums);
void report_progress(const struct stress *stress, int over);

#endif
