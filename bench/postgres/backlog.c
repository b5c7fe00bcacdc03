/*
 * backlog.c - measure whether a claim costs more when many jobs are ready, or
 * when the table has many scheduled jobs.
 *
 * Each case has its own schema, and the schemas are measured one after the
 * other. No table is vacuumed or analyzed, except in the schema `analyzed`.
 * There the tables were analyzed while they were empty, so the planner has the
 * worst possible statistics.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "pg.h"

#include <stdlib.h>

#define SHORT 10000
/* A sample has several slices. In a slice, workers claim this many jobs. After
 * each slice, new jobs replace the claimed jobs. */
#define SLICE 7000
#define SLICES 8 /* number of slices in a sample */
#define CLIENTS 4

enum { FEW, MANY, ANALYZED, TO_COME, LINES };
static const char *const schemas[LINES] = { "few", "many", "analyzed",
					    "to_come" };

static char *
line_name(const struct bench *b, int line, const char *what)
{
	size_t length = line == FEW || line == TO_COME ? SHORT : b->backlog;
	const char *more = line == ANALYZED  ? ".analyzed-empty"
			   : line == TO_COME ? ".to-come"
					     : "";

	return length % 1000000 == 0
		       ? text("backlog.%zum%s%s", length / 1000000, more, what)
		       : text("backlog.%zuk%s%s", length / 1000, more, what);
}

static void
rows(const struct bench *b)
{
	char *few = line_name(b, FEW, ""), *few_b = line_name(b, FEW, ".claim");

	for (int line = 0; line < LINES; line++) {
		char *name = line_name(b, line, "");
		char *claim = line_name(b, line, ".claim");

		row_add(b, name, "jobs/s", line == FEW ? NULL : few,
			line == FEW ? NULL : ">=", 0.85);
		row_add(b, claim, "buffers", line == FEW ? NULL : few_b,
			line == FEW ? NULL : "<=", 1.1);
		free(name);
		free(claim);
	}
	free(few);
	free(few_b);
}

static void
add_to_come(const struct bench *b, rp_conn *conn)
{
	char *scheduled = text(
		"insert into job (lane_id, seq, run_at, created_at, queue_id,"
		"                 max_attempts, payload)"
		" select q.lane_id, null,"
		"        now() + n * interval '1 second' + interval '1 day',"
		"        now(), q.id, 3, decode(repeat('00', %d), 'hex')"
		"   from queue q, generate_series(1, %zu) n",
		PAYLOAD, b->scheduled);
	char *dead = text(
		"insert into archive (id, queue_id, state, finished_at,"
		"                     priority, run_at, claim_no, attempt,"
		"                     max_attempts, created_at, payload)"
		" select nextval('job_id_seq'), q.id, 5, now(), q.priority,"
		"        now(), 1, 3, 3, now(),"
		"        decode(repeat('00', %d), 'hex')"
		"   from queue q, generate_series(1, %zu) n",
		PAYLOAD, b->scheduled / 10);

	server_execute(conn, scheduled);
	server_execute(conn, dead);
	free(scheduled);
	free(dead);
}

static void
make(const struct bench *b, int line)
{
	rp_conn *conn;

	library_side.create(b, schemas[line]);
	conn = server_connect(b, schemas[line]);
	server_execute(conn, "alter table job set (autovacuum_enabled = off)");
	if (line == ANALYZED)
		server_execute(conn, "analyze");
	if (line == TO_COME)
		add_to_come(b, conn);
	library_side.fill(b, schemas[line],
			  line == FEW || line == TO_COME ? SHORT : b->backlog);
	rp_close(conn);
}

/* Measure how many buffers a claim accesses. Then replace the claimed jobs, so
 * that the number of ready jobs stays the same. */
static void
count_claims(const struct bench *b, int line)
{
	char *name = line_name(b, line, ".claim");

	report_sample(b->report, name, buffers_per_claim(b, schemas[line]));
	library_side.fill(b, schemas[line], 1400);
	free(name);
}

static void
drain_slices(const struct bench *b, int line)
{
	struct load load = { .side = &library_side,
			     .schema = schemas[line],
			     .workers = CLIENTS,
			     .take = 100,
			     .seconds = 60,
			     .most = SLICE };
	char *name = line_name(b, line, "");
	double spent = 0, done = 0;

	for (int i = 0; i < SLICES && (i == 0 || b->rounds > 1); i++) {
		struct outcome outcome;

		clients_run(b, &load, &outcome);
		spent += 1 / outcome.finished;
		done += 1;
		library_side.fill(b, schemas[line], SLICE + 4 * load.take);
	}
	report_sample(b->report, name, done / spent);
	free(name);
}

/* Do all ready jobs once, for a curve of the plot. */
static void
drain_all(const struct bench *b, const struct side *side, const char *series)
{
	struct load load = { .side = side,
			     .schema = "whole",
			     .workers = CLIENTS,
			     .take = 100,
			     .seconds = MOST_SECONDS };
	struct outcome outcome;

	progress(series, -1, 0);
	side->create(b, load.schema);
	side->fill(b, load.schema, b->backlog);
	clients_run(b, &load, &outcome);
	plot_curve(b, "backlog", series, &outcome);
}

void
backlog_part(const struct bench *b)
{
	rows(b);
	for (int line = 0; line < LINES; line++) {
		progress("filling", -1, 0);
		make(b, line);
		count_claims(b, line);
	}
	for (int round = 0; round < b->rounds; round++)
		for (int i = 0; i < LINES; i++) {
			progress("the backlog", round, b->rounds);
			drain_slices(b, round & 1 ? LINES - 1 - i : i);
		}
	for (int line = 0; line < LINES; line++) {
		rp_conn *conn = server_connect(b, schemas[line]);
		char *drop = text("drop schema %s cascade", schemas[line]);

		server_execute(conn, drop);
		rp_close(conn);
		free(drop);
	}
	if (b->plots) {
		drain_all(b, &library_side, "readpast");
		drain_all(b, &hand_side, "by hand");
	}
}
