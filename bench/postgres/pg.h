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
	double seconds; /* duration of a sample, in seconds */
	double pinned;  /* seconds of load while a session keeps an old
			 * snapshot */
	double idle;    /* seconds for which idle workers are watched */
	/* seconds for which each queue system of other projects is measured; 0:
	 * skip them */
	double peers;
	/* number of dead index entries that the simulated hour leaves */
	size_t dead;
	size_t backlog; /* number of jobs in a long ready line */
	/* number of scheduled jobs; there are a tenth as many dead jobs */
	size_t scheduled;
	size_t workers; /* number of idle workers */
	/* how often the latency of starting a job is measured */
	size_t starts;
	size_t queues; /* number of queues in the measurement in which all
			* queues are active */
	size_t idle_queues;
	/* number of groups, and number of producers that enqueue into one
	 * group */
	size_t groups, producers;
	/* number of sweeps to measure when most queues are idle */
	size_t sweeps;
	int64_t lease_s;   /* longest lease of abandoned jobs, in seconds */
	const char *plots; /* directory for plot data, or NULL */
	int markdown;
	struct report *report;
};

/* ---- server.c ---- */

/* One server is used by all parts of the benchmark. A side is one of the queues
 * that are compared, and has its tables in a schema of its own. The connection
 * of server_connect() has `schema` first in search_path. */
void server_start(struct bench *b);
void server_stop(const char *dir);
char *server_library_url(const struct bench *b, const char *schema);
rp_conn *server_connect(const struct bench *b, const char *schema);
void server_ask(rp_conn *conn, const char *sql,
		int (*take_row)(void *ctx, const struct rp_row *row),
		void *ctx);
void server_execute(rp_conn *conn, const char *sql);
/* Return the first value of the result. */
double server_number(rp_conn *conn, const char *sql);
char *server_text(rp_conn *conn, const char *sql);
/* Change a setting of the server for all later sessions. `value` may be
 * `default`. */
void server_set(const struct bench *b, const char *setting, const char *value);
/* Count lines of the server's log that contain these words. */
double server_logged(const struct bench *b, const char *words);

/* ---- cost.c ---- */

double disk_sync_us(const struct bench *b);
char *wal_place(rp_conn *conn);
/* Return how many bytes the write-ahead log has between two positions, without
 * full-page images. */
double wal_bytes(const struct bench *b, rp_conn *conn, const char *from,
		 const char *to);
/* Return the processor time that the connection's server process has used. */
double backend_seconds(rp_conn *conn);
/* Return the number of buffers that a statement accesses. EXPLAIN ANALYZE
 * executes the statement. */
double buffers(rp_conn *conn, const char *sql);
double buffers_per_claim(const struct bench *b, const char *schema);

/* From now on, write a trace of libpq's messages to the file `to`. NULL ends
 * the trace. The function is in client.c. */
void client_trace(void *native, FILE *to);

/* How many statements and round trips a side needs, on average, for one call of
 * step(). If `steps` is 0, the calls of put() are counted instead. */
struct side;
struct trips {
	double statements, round_trips;
};
struct trips trips_count(const struct side *side, void *handle, int steps,
			 int times);

/* ---- the sides that are compared: library.c, hand.c, raw.c ---- */

struct side {
	/* prefix of the names of this side's rows in the report */
	const char *prefix;
	/* Drops the tables and creates them again. */
	void (*create)(const struct bench *b, const char *schema);
	void (*fill)(const struct bench *b, const char *schema, size_t jobs);
	void *(*open)(const struct bench *b, const char *schema, size_t put,
		      size_t take);
	void (*close)(void *handle);
	void *(*native)(void *handle); /* returns the libpq connection */
	/* Enqueues one batch. */
	void (*put)(void *handle);
	/* Finishes the held jobs and claims the next ones. Returns the number
	 * of claimed jobs. */
	size_t (*step)(void *handle);
	void (*sweep)(void *handle); /* NULL: this side needs no sweep */
};
extern const struct side library_side, hand_side, raw_side;

/* ---- clients.c ---- */

/* The processes of a test load. Each has a connection of its own. */
struct load {
	const struct side *side;
	const char *schema;
	size_t producers, workers;
	size_t put, take; /* batch sizes */
	double seconds;
	size_t most; /* stop after this many finished jobs; 0: no limit */
	/* Producers pause while this many jobs are ready. 0: they never
	 * pause. */
	size_t ahead;
	int no_sweep; /* not 0: another process sweeps */
};

struct outcome {
	size_t jobs; /* finished jobs */
	/* average number of jobs in a step that found a job */
	double batch;
	double put, finished; /* jobs enqueued and finished per second */
	/* how long a worker's calls of side->step() took, in ms */
	double p50, p99, longest;
	size_t seconds;
	double by_second[MOST_SECONDS]; /* jobs finished in each second */
};

struct clients;
struct clients *clients_start(const struct bench *b, const struct load *load);
void clients_finish(struct clients *clients, struct outcome *ret);
void clients_run(const struct bench *b, const struct load *load,
		 struct outcome *ret);
/* Return a load of one producer and two workers, in batches of 100. */
struct load steady_load(const struct side *side, const char *schema,
			double seconds);
double median_by_second(const struct outcome *outcome);
double last_seconds(const struct outcome *outcome);

/* ---- the parts of the benchmark, each in a file of its own ---- */

void enqueue_part(const struct bench *b);
void drain_part(const struct bench *b);
void steady_part(const struct bench *b);
void pinned_part(const struct bench *b);
void open_part(const struct bench *b);
void backlog_part(const struct bench *b);
void idle_part(const struct bench *b);
void start_part(const struct bench *b);
void queues_part(const struct bench *b);
void limits_part(const struct bench *b);
void http_part(const struct bench *b);

/* peers.c: measure another queue system with one producer and two workers.
 * Return the jobs per second, or 0 if this system cannot be measured. If
 * `groups` is not 0, this many groups have jobs before the measurement begins.
 * If `named` is not 0, each group is a named queue. */
double peer_rate(const struct bench *b, const char *name, size_t groups,
		 int named);

/* hour.c: fill a schema with the dead rows that an hour of work would leave.
 * Before the call, another session must open a snapshot and keep it, so that
 * vacuum cannot remove the dead rows. */
void hour_make(const struct bench *b, const char *schema);

/* plot.c draws curves in figures. plot_begin() removes old data, plot_curve()
 * adds a curve to a figure, and plot_draw() writes the figures. */
void plot_begin(const struct bench *b);
void plot_curve(const struct bench *b, const char *figure, const char *series,
		const struct outcome *outcome);
void plot_draw(const struct bench *b);

/* ---- rows ---- */

/* Return the name of a row, such as "hand.drain.100". */
char *row_name(const struct side *side, const char *what, size_t batch);
void row_add(const struct bench *b, const char *name, const char *unit,
	     const char *over, const char *relation, double goal);

#endif
