/*
 * pg.h - what the files of the benchmark on PostgreSQL share.
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

#define MOST_SECONDS 120 /* of one run */

struct bench {
	const char *dir; /* the server's */
	char *url;
	int rounds;
	double seconds;    /* of a sample */
	double pinned;     /* with a pinned snapshot */
	double idle;       /* watching workers that have nothing to do */
	double peers;      /* of each other queue; 0: not at all */
	size_t dead;       /* index entries of the hour made in advance */
	size_t backlog;    /* the long line */
	size_t scheduled;  /* and a tenth of it dead */
	size_t workers;    /* that are idle */
	size_t starts;     /* to measure the latency of */
	const char *plots; /* the directory for the curves, or NULL */
	int markdown;
	struct report *report;
};

/* ---- server.c ---- */

/* Tables of ours are in a schema each, which comes first where names are looked
 * for; `schema` names it. */
void server_start(struct bench *b);
void server_stop(const char *dir);
char *server_library_url(const struct bench *b, const char *schema);
rp_conn *server_connect(const struct bench *b, const char *schema);
void server_ask(rp_conn *conn, const char *sql,
		int (*take_row)(void *ctx, const struct rp_row *row),
		void *ctx);
void server_execute(rp_conn *conn, const char *sql);
double server_number(rp_conn *conn, const char *sql); /* first of the answer */
char *server_text(rp_conn *conn, const char *sql);
/* For all sessions from now on; `default` is a value, too. */
void server_set(const struct bench *b, const char *setting, const char *value);
/* Lines of the server's log with these words. */
double server_logged(const struct bench *b, const char *words);

/* ---- cost.c ---- */

double disk_sync_us(const struct bench *b);
char *wal_place(rp_conn *conn);
/* Bytes of log between two places, without images of whole pages. */
double wal_bytes(const struct bench *b, rp_conn *conn, const char *from,
		 const char *to);
/* Processor time of the connection's server process up to now. */
double backend_seconds(rp_conn *conn);
/* Buffers that a statement looked at, by explain: it is run. */
double buffers(rp_conn *conn, const char *sql);
double buffers_per_claim(const struct bench *b, const char *schema);

/* client.c: have libpq write down what it sends; NULL: no more. */
void client_trace(void *native, FILE *to);

/* What one put or one step sends. */
struct side;
struct trips {
	double statements, round_trips;
};
struct trips trips_count(const struct side *side, void *handle, int steps,
			 int times);

/* ---- sides: library.c, hand.c, raw.c ---- */

struct side {
	const char *prefix; /* of the names of its rows */
	void (*create)(const struct bench *b, const char *schema); /* anew */
	void (*fill)(const struct bench *b, const char *schema, size_t jobs);
	void *(*open)(const struct bench *b, const char *schema, size_t put,
		      size_t take);
	void (*close)(void *handle);
	void *(*native)(void *handle); /* libpq's connection */
	/* Put one batch in. */
	void (*put)(void *handle);
	/* Finish what is held and claim the next: how many. */
	size_t (*step)(void *handle);
	void (*sweep)(void *handle); /* may be NULL */
};
extern const struct side library_side, hand_side, raw_side;

/* ---- clients.c ---- */

/* What is done: processes, each with a connection. */
struct load {
	const struct side *side;
	const char *schema;
	size_t producers, workers;
	size_t put, take; /* batches */
	double seconds;
	size_t most;  /* ends it when so many are finished; 0: does not */
	size_t ahead; /* producers wait while so many are in line; 0: never */
	int no_sweep; /* somebody else does it */
};

struct outcome {
	size_t jobs;              /* finished */
	double batch;             /* jobs a step that had any */
	double put, finished;     /* per second */
	double p50, p99, longest; /* of a worker's step, in ms */
	size_t seconds;
	double by_second[MOST_SECONDS]; /* finished */
};

struct clients;
struct clients *clients_start(const struct bench *b, const struct load *load);
void clients_finish(struct clients *clients, struct outcome *ret);
void clients_run(const struct bench *b, const struct load *load,
		 struct outcome *ret);
/* One producer and two workers, batches of 100. */
struct load steady_load(const struct side *side, const char *schema,
			double seconds);
double median_by_second(const struct outcome *outcome);
double last_seconds(const struct outcome *outcome);

/* ---- the parts, each a file ---- */

void enqueue_part(const struct bench *b);
void drain_part(const struct bench *b);
void steady_part(const struct bench *b);
void pinned_part(const struct bench *b);
void open_part(const struct bench *b);
void backlog_part(const struct bench *b);
void idle_part(const struct bench *b);
void start_part(const struct bench *b);

/* hour.c: an hour of work behind the line of a schema, under a pin. */
void hour_make(const struct bench *b, const char *schema);

/* plot.c: a curve of a figure, and the figures at the end. */
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
