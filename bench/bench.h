/*
 * bench.h - declarations that the files of the benchmark on SQLite share.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#ifndef BENCH_H
#define BENCH_H

#include <readpast.h>
#include <stddef.h>
#include <stdint.h>

#include "basics.h"
#include "report.h"
#include "starts.h"

/* bench.c */
struct bench {
	const char *dir; /* directory for the databases */
	int rounds;
	double seconds; /* duration of a sample, in seconds */
	size_t backlog; /* number of jobs in a long ready line */
	/* how often the latency of starting a job is measured */
	size_t starts;
	int clients; /* largest number of concurrent writers */
	size_t groups;
	int markdown;
	struct report *report;
};

/* database_path() returns the path of a database in the benchmark's directory.
 * database_fill() adds ready jobs to a database. If the database does not
 * exist, database_fill() creates it. */
char *database_path(const struct bench *b, const char *name);
void database_fill(const char *path, size_t jobs);

/* sides.c: a side is one of the queues that are compared. The floor is a queue
 * written by hand. The other sides use the library. */
/* The operations that are measured. SERVE claims and completes a batch. TURN
 * settles a batch and claims the next one in one commit. ONE_JOB is for
 * concurrent clients: it enqueues, claims and completes one job, with a commit
 * for each step. */
enum operation { ENQUEUE, SERVE, TURN, OPERATIONS, ONE_JOB = OPERATIONS };
extern const char *const operation_names[OPERATIONS];

struct side {
	/* prefix of the names of this side's rows in the report */
	const char *prefix;
	void *(*open)(const char *path, const char *synchronous, size_t batch);
	void (*close)(void *handle);
	/* the connection whose cost rp__measure() returns */
	rp_conn *(*conn)(void *handle);
	size_t (*enqueue)(void *handle);
	size_t (*claim)(void *handle);
	size_t (*complete)(void *handle);
	size_t (*turn)(void *handle);
};
/* library_side uses a connection of the library's own. attached_side uses the
 * library on a connection of the caller, with SQLite's busy timeout. */
extern const struct side floor_side, library_side, attached_side;

/* operate() does the operation once, and returns the number of jobs. A TURN
 * settles the batch that the previous TURN claimed. So operate_begin() claims
 * the first batch before a series of TURNs, and operate_end() completes the
 * last batch after it. */
size_t operate(const struct side *side, void *handle, enum operation what);
void operate_begin(const struct side *side, void *handle, enum operation what);
void operate_end(const struct side *side, void *handle, enum operation what);

/* Repeat the operation until `seconds` have passed, `most` jobs are done, or no
 * job is left. Adds the number of done jobs to *jobs, and the time of the
 * operations, in seconds, to *spent. */
void operate_for(const struct side *side, void *handle, enum operation what,
		 size_t batch, double seconds, size_t most, size_t *jobs,
		 double *spent);

/* The parts of the benchmark, each in a file of its own. A function ..._rows()
 * adds the part's rows to the report, and ..._round() measures these rows once.
 * Rounds are numbered from 0. Round -1 is a warm-up that is not recorded. */
void pairs_rows(const struct bench *b);
void pairs_round(const struct bench *b, int round);
void extension_rows(const struct bench *b);
void extension_round(const struct bench *b, int round);
void commands_rows(const struct bench *b);
void commands_round(const struct bench *b, int round);
void processes_rows(const struct bench *b);
void processes_round(const struct bench *b, int round);
void writers_rows(const struct bench *b);
void writers_round(const struct bench *b, int round);
void steady_rows(const struct bench *b);
void steady_round(const struct bench *b, int round);
void http_rows(const struct bench *b);
void http_round(const struct bench *b, int round);
void worker_rows(const struct bench *b);
void worker_round(const struct bench *b, int round);
void backlog_rows(const struct bench *b);
void backlog_round(const struct bench *b, int round);
void limits_rows(const struct bench *b);
void limits_round(const struct bench *b, int round);
void cost_rows(const struct bench *b);
void cost_run(const struct bench *b);

#endif
