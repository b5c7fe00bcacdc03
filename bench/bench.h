/*
 * bench.h - declarations that the files of the benchmark share.
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
	const char *dir; /* directory of the databases */
	int rounds;
	double seconds; /* duration of a sample, in seconds */
	size_t backlog; /* number of jobs in the long ready line */
	size_t starts;  /* number of latencies to measure */
	int clients;    /* most concurrent writers */
	int markdown;
	struct report *report;
};

/* Prepare a database with `jobs` ready jobs in the directory. It is created
 * if it does not exist. */
char *database_path(const struct bench *b, const char *name);
void database_fill(const char *path, size_t jobs);

/* sides.c: the same work, done by the floor or by the library */
/* ONE_JOB is for concurrent clients: it enqueues, claims and completes one
 * job, each in a commit of its own. */
enum operation { ENQUEUE, SERVE, TURN, OPERATIONS, ONE_JOB = OPERATIONS };
extern const char *const operation_names[OPERATIONS];

struct side {
	const char *prefix; /* prefix of the names of the side's rows */
	void *(*open)(const char *path, const char *synchronous, size_t batch);
	void (*close)(void *handle);
	rp_conn *(*conn)(void *handle); /* connection for rp__measure() */
	size_t (*enqueue)(void *handle);
	size_t (*claim)(void *handle);
	size_t (*complete)(void *handle);
	size_t (*turn)(void *handle);
};
/* attached_side is the library on a connection of the caller, which uses
 * SQLite's busy timeout. */
extern const struct side floor_side, library_side, attached_side;

/* Do the operation once, and return the number of jobs. For TURN,
 * operate_begin() claims the first batch, and operate_end() completes the
 * last one. */
size_t operate(const struct side *side, void *handle, enum operation what);
void operate_begin(const struct side *side, void *handle, enum operation what);
void operate_end(const struct side *side, void *handle, enum operation what);

/* Repeat the operation until `seconds` have passed, `most` jobs are done, or
 * no job is left. Adds to *jobs and *spent. */
void operate_for(const struct side *side, void *handle, enum operation what,
		 size_t batch, double seconds, size_t most, size_t *jobs,
		 double *spent);

/* The parts of the benchmark, each in a file of its own. `round` counts from
 * 0; round -1 warms up and is not recorded. */
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
