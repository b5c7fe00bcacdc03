/*
 * bench.h - what the files of the benchmark share.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#ifndef BENCH_H
#define BENCH_H

#include <readpast.h>
#include <sqlite3.h>
#include <stddef.h>
#include <stdint.h>

#define PAYLOAD 200 /* bytes of each job */
#define QUEUE "bench"

/* report.c: rows by name, their samples of each round, their medians. */
struct report;
struct report *report_new(void);
void report_free(struct report *report);

/* A row, if it is not there yet. `over`: the row that it is divided by, or
 * NULL. `pair`: what is divided is the library by the floor, at the same work,
 * more being better: such rows make the mean at the end. */
void report_row(struct report *report, const char *name, const char *unit,
		const char *over, int pair);
void report_sample(struct report *report, const char *name, double value);
double report_median(const struct report *report, const char *name);
void report_print(const struct report *report, int markdown);

/* bench.c */
struct bench {
	const char *dir; /* where the databases are */
	int rounds;
	double seconds; /* of a sample */
	size_t backlog; /* the long line */
	size_t starts;  /* to measure the latency of */
	int markdown;
	int progress; /* is somebody watching? */
	struct report *report;
};

void die(const char *format, ...)
	__attribute__((noreturn, format(printf, 1, 2)));
void *allocate(size_t size); /* zeros */
double seconds_now(void);    /* CLOCK_MONOTONIC */
void sleep_us(int64_t us);
void progress(const struct bench *b, const char *what, int round);
char *text(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* A database in the directory with the queue in it, new if it is not there, and
 * so many jobs in line. */
char *database_path(const struct bench *b, const char *name);
void database_fill(const char *path, size_t jobs);

/* sides.c: the same work, done by the one or the other. */
enum operation { ENQUEUE, SERVE, TURN, OPERATIONS };
extern const char *const operation_names[OPERATIONS];

struct side {
	const char *prefix; /* of the names of its rows */
	void *(*open)(const char *path, const char *synchronous, size_t batch);
	void (*close)(void *handle);
	sqlite3 *(*native)(void *handle);
	size_t (*enqueue)(void *handle);
	size_t (*claim)(void *handle);
	size_t (*complete)(void *handle);
	size_t (*turn)(void *handle);
};
extern const struct side floor_side, library_side;

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
void processes_rows(const struct bench *b);
void processes_round(const struct bench *b, int round);
void worker_rows(const struct bench *b);
void worker_round(const struct bench *b, int round);
void starts_rows(const struct bench *b);
void starts_run(const struct bench *b);
void backlog_rows(const struct bench *b);
void backlog_round(const struct bench *b, int round);
void cost_rows(const struct bench *b);
void cost_run(const struct bench *b);

#endif
