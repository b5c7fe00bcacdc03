/*
 * stress.h - declarations that the files of `readpast stress` share.
 *
 * Each producer and each worker is a process. One more process, the watcher,
 * reads the counters of the server. The parent starts, kills and counts these
 * processes, and has no connection while they run. Each process writes what it
 * does to a log of its own, in memory that outlives the process. So the log of
 * a killed worker is complete up to its last entry.
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

/* An entry of a log. It becomes a line of the history. */
struct moment {
	int64_t at, id, claim_no;
	uint32_t asked_ago_us, lease_ms;
	uint16_t attempt, max_attempts;
	uint8_t what, verdict;
	int8_t result;
	uint8_t state;
	uint32_t group; /* number of the job's group, from 1; 0: the job has no
			 * group */
};
enum { ENQUEUED, CLAIMED, STARTED, SETTLING, SETTLED, LOST };

/* The log of one process, which is a sequence of entries. */
struct stress_log {
	int fd;
	_Atomic int64_t *count; /* number of entries, in shared memory */
	/* the part of the log that is mapped into memory for writing */
	struct moment *window;
	int64_t from; /* index of the window's first entry */
};

/* Counters of the server. */
struct server {
	int64_t transactions, buffers, wal_bytes, deadlocks, sessions;
	/* number of SQL statements, or -1 if this server does not count them */
	int64_t statements;
};

struct wait {
	char type[24], event[40];
	int64_t samples;
};

/* The memory that all processes share. */
struct shared {
	/* number of jobs that no producer has taken yet */
	_Atomic int64_t to_make;
	_Atomic int64_t enqueued, done, dead, failed;
	_Atomic int64_t kills, stalls;
	_Atomic int stop;  /* not 0: producers must stop */
	_Atomic int made;  /* not 0: all producers have ended */
	_Atomic int empty; /* not 0: no job is left to do */
	_Atomic int over;  /* not 0: all workers have ended */
	_Atomic int ready; /* not 0: the watcher has started */
	_Atomic int failing;
	char why[300]; /* text of the first failure */

	/* The watcher writes the following members. */
	int has_counters; /* not 0: the database counts its own work. `before`
			   * and `after` are its counters before and after the
			   * run. */
	struct server before, after;
	struct wait waits[WAITS];
	int64_t samples;
};

struct child {
	pid_t pid;
	int generation;
	struct stress_log log;
	/* when to send SIGCONT to the process; 0 if it is not stopped */
	int64_t resume_at;
};

struct stress {
	struct cmd *cmd;
	char queue[129];
	int64_t producers, workers, threads, jobs, for_ms, payload, batch;
	int64_t work_ms, kill_ms, stall_ms, lease_ms, seed;
	double fail_rate;
	/* the number of groups, and the limits of the queue; 0: none */
	int64_t groups, group_limit, limit, rate, rate_ms;
	int group_pass; /* not 0: a failed job does not stop its group */
	int fill, pin, json;
	struct shared *shared;
	/* the number of entries of each log; the array is in shared memory */
	_Atomic int64_t *counts;
	struct child *children; /* first the producers, then the workers */
	struct child watcher;
	int64_t began_at, ended_at;
	int interrupted;
};

/* Percentiles of a latency, in microseconds. */
struct spread {
	int64_t p50, p90, p99, max;
};
enum { L_ENQUEUE, L_CLAIM, L_START, L_END_TO_END, LATENCIES };
#define BARS 40
#define FINDINGS 5

struct sums {
	int64_t enqueued, done, dead, claims, retries, duplicates, unknown;
	int64_t written; /* bytes that the run wrote to files; -1: not known */
	double enqueue_rate, done_rate;
	double enqueue_bars[BARS], done_bars[BARS];
	int64_t bar_us;
	struct spread latency[LATENCIES];
	struct verdicts verdicts;
	char findings[PROMISES][FINDINGS][200];
	int found[PROMISES];
};

/* Parse the options (options.c). Returns 0, or prints an error and returns an
 * exit status. */
int stress_parse(struct stress *stress, int argc, char **argv);

/* log.c */
int log_open(struct stress_log *log, _Atomic int64_t *count);
int log_note(struct stress_log *log, const struct moment *moment);
/* Call `fn` for each entry of all logs, one process after the other. */
typedef void moment_fn(void *ctx, const struct moment *moment,
		       const char *client);
void log_each(const struct stress *stress, moment_fn *fn, void *ctx);

/* The main functions of the child processes, in load.c. They return an exit
 * status. */
int produce(struct stress *stress, struct child *child);
int work(struct stress *stress, struct child *child);
int child_fails(struct stress *stress, const char *what, const char *why);
uint64_t stress_random(uint64_t seed, uint64_t a, uint64_t b);

/* The groups of the jobs, in load.c. The name of a group is "g" and the number
 * of the group, such as "g12". */
#define GROUP_ROOM 16
void group_name(char to[GROUP_ROOM], uint32_t group);

/* watch.c */
int watch(struct stress *stress, struct child *child);

/* The functions of queue.c. Each returns 0, or prints an error and returns an
 * exit status. */
int scratch_make(struct stress *stress);
int scratch_remove(struct cmd *cmd, const char *queue);
int scratch_sweep(struct cmd *cmd);

/* Compute all figures of the report (sum.c). Returns 0, or prints an error and
 * returns an exit status. */
int sum_up(struct stress *stress, struct sums *ret);

/* Check the history (proof.c). Returns 0, or prints an error and returns an
 * exit status. */
int prove(struct stress *stress, struct sums *ret);

/* report.c */
void report(const struct stress *stress, const struct sums *sums);
void report_progress(const struct stress *stress, int over);

#endif
