/*
 * pg.h - declarations that the files of the benchmark on PostgreSQL share.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#ifndef BENCH_PG_H
#define BENCH_PG_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "internal.h"

#include "../basics.h"
#include "../report.h"

#define MOST_SECONDS 120 /* longest run in seconds */

struct bench {
	const char *dir; /* the server's directory */
	char *url;
	int rounds;
	double seconds;   /* duration of a sample */
	double pinned;    /* seconds with a pinned snapshot */
	double idle;      /* seconds of watching idle workers */
	double peers;     /* seconds for each other queue; 0: skip them */
	size_t dead;      /* dead index entries of the simulated hour */
	size_t backlog;   /* length of the long line */
	size_t scheduled; /* scheduled jobs; a tenth of them dead */
	size_t workers;   /* idle workers */
	size_t starts;    /* how many latencies to measure */
	size_t queues;    /* many active queues */
	size_t idle_queues;
	size_t sweeps;     /* number of sweeps beside idle queues */
	int64_t lease_s;   /* longest lease of abandoned jobs */
	const char *plots; /* directory for plot data, or NULL */
	int markdown;
	struct report *report;
};

/* ---- server.c ---- */

/* Each side has its tables in a schema of its own, which `schema` names. It
 * is the first in search_path. */
void server_start(struct bench *b);
void server_stop(const char *dir);
char *server_library_url(const struct bench *b, const char *schema);
rp_conn *server_connect(const struct bench *b, const char *schema);
void server_ask(rp_conn *conn, const char *sql,
		int (*take_row)(void *ctx, const struct rp_row *row),
		void *ctx);
void server_execute(rp_conn *conn, const char *sql);
double server_number(rp_conn *conn,
		     const char *sql); /* the first value of the result */
char *server_text(rp_conn *conn, const char *sql);
/* Change a setting for all later sessions. `value` may be `default`. */
void server_set(const struct bench *b, const char *setting, const char *value);
/* Count lines of the server's log that contain these words. */
double server_logged(const struct bench *b, const char *words);

/* ---- cost.c ---- */

double disk_sync_us(const struct bench *b);
char *wal_place(rp_conn *conn);
/* The bytes of log between two positions, without full-page images. */
double wal_bytes(const struct bench *b, rp_conn *conn, const char *from,
		 const char *to);
/* The processor time that the connection's backend has used so far. */
double backend_seconds(rp_conn *conn);
/* The number of buffers that a statement accesses. EXPLAIN ANALYZE executes
 * the statement. */
double buffers(rp_conn *conn, const char *sql);
double buffers_per_claim(const struct bench *b, const char *schema);

/* client.c: write a trace of what libpq sends; `to` NULL ends it. */
void client_trace(void *native, FILE *to);

/* messages and round trips of one put() or one step() */
struct side;
struct trips {
	double statements, round_trips;
};
struct trips trips_count(const struct side *side, void *handle, int steps,
			 int times);

/* ---- sides: library.c, hand.c, raw.c ---- */

struct side {
	const char *prefix; /* prefix of its rows' names */
	void (*create)(const struct bench *b,
		       const char *schema); /* drops the tables and creates
					     * them again */
	void (*fill)(const struct bench *b, const char *schema, size_t jobs);
	void *(*open)(const struct bench *b, const char *schema, size_t put,
		      size_t take);
	void (*close)(void *handle);
	void *(*native)(void *handle); /* the libpq connection */
	/* Enqueue one batch. */
	void (*put)(void *handle);
	/* Finishes the held jobs and claims the next ones. Returns the
	 * number claimed. */
	size_t (*step)(void *handle);
	void (*sweep)(void *handle); /* may be NULL */
};
extern const struct side library_side, hand_side, raw_side;

/* ---- clients.c ---- */

/* a load: processes with a connection each */
struct load {
	const struct side *side;
	const char *schema;
	size_t producers, workers;
	size_t put, take; /* batch sizes */
	double seconds;
	size_t most;  /* stop after this many finished jobs; 0: no limit */
	size_t ahead; /* producers wait while this many jobs are ready; 0:
		       * never */
	int no_sweep; /* another process sweeps */
};

struct outcome {
	size_t jobs;              /* finished jobs */
	double batch;             /* average number of jobs in a step that
				   * found any */
	double put, finished;     /* per second */
	double p50, p99, longest; /* latency of a worker's step in ms */
	size_t seconds;
	double by_second[MOST_SECONDS]; /* finished jobs */
};

struct clients;
struct clients *clients_start(const struct bench *b, const struct load *load);
void clients_finish(struct clients *clients, struct outcome *ret);
void clients_run(const struct bench *b, const struct load *load,
		 struct outcome *ret);
/* A load of one producer and two workers, in batches of 100. */
struct load steady_load(const struct side *side, const char *schema,
			double seconds);
double median_by_second(const struct outcome *outcome);
double last_seconds(const struct outcome *outcome);

/* ---- the parts, a file each ---- */

void enqueue_part(const struct bench *b);
void drain_part(const struct bench *b);
void steady_part(const struct bench *b);
void pinned_part(const struct bench *b);
void open_part(const struct bench *b);
void backlog_part(const struct bench *b);
void idle_part(const struct bench *b);
void start_part(const struct bench *b);
void queues_part(const struct bench *b);

/* hour.c: simulate an hour of work in a schema, under a pinned snapshot. */
void hour_make(const struct bench *b, const char *schema);

/* plot.c: add a curve to a figure; write the figures at the end. */
void plot_begin(const struct bench *b);
void plot_curve(const struct bench *b, const char *figure, const char *series,
		const struct outcome *outcome);
void plot_draw(const struct bench *b);

/* ---- rows ---- */

/* "hand.drain.100" */
char *row_name(const struct side *side, const char *what, size_t batch);
void row_add(const struct bench *b, const char *name, const char *unit,
	     const char *over, const char *relation, double goal);

#endif
