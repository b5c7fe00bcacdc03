/*
 * bench.h - what the files of the benchmark share.
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
	const char *dir; /* where the databases are */
	int rounds;
	double seconds; /* of a sample */
	size_t backlog; /* the long line */
	size_t starts;  /* to measure the latency of */
	int clients;    /* that write at once, at most */
	int markdown;
	struct report *report;
};

/* A database in the directory with the queue in it, new if it is not there, and
 * so many jobs in line. */
char *database_path(const struct bench *b, const char *name);
void database_fill(const char *path, size_t jobs);

/* sides.c: the same work, done by the one or the other. */
/* The last is for a crowd: each of its three steps is a commit. */
enum operation { ENQUEUE, SERVE, TURN, OPERATIONS, ONE_JOB = OPERATIONS };
extern const char *const operation_names[OPERATIONS];

struct side {
	const char *prefix; /* of the names of its rows */
	void *(*open)(const char *path, const char *synchronous, size_t batch);
	void (*close)(void *handle);
	rp_conn *(*conn)(void *handle); /* to measure what is done */
	size_t (*enqueue)(void *handle);
	size_t (*claim)(void *handle);
	size_t (*complete)(void *handle);
	size_t (*turn)(void *handle);
};
/* attached_side: the library on a connection of the caller's, which has
 * SQLite's busy timeout. */
extern const struct side floor_side, library_side, attached_side;

/* Do it once: how many jobs. A turn needs a claim before the first, and the
 * last one's jobs completed. */
size_t operate(const struct side *side, void *handle, enum operation what);
void operate_begin(const struct side *side, void *handle, enum operation what);
void operate_end(const struct side *side, void *handle, enum operation what);

/* Do it until `seconds` are over, `most` jobs are done, or there are no more.
 * Adds to *jobs and *spent. */
void operate_for(const struct side *side, void *handle, enum operation what,
		 size_t batch, double seconds, size_t most, size_t *jobs,
		 double *spent);

/* The parts, each a file. `round` counts from 0; round -1 warms up and is not
 * recorded. */
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
void worker_rows(const struct bench *b);
void worker_round(const struct bench *b, int round);
void backlog_rows(const struct bench *b);
void backlog_round(const struct bench *b, int round);
void cost_rows(const struct bench *b);
void cost_run(const struct bench *b);

#endif
