/*
 * pinned.c - measure a steady load while another session keeps an old snapshot,
 * so that vacuum can remove nothing.
 *
 * For comparison, three more loads are measured: one without the old snapshot,
 * one with the queue written by hand, and one after a simulated hour of work
 * (hour.c). This process sweeps once a second, and measures what sweeps cost.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "pg.h"

#include <stdlib.h>

#define SCHEMA "readpast"
/* number of jobs that stay ready while claims are measured */
#define SPARE 5000

struct run {
	const char *name;
	const struct side *side;
	int pin, hour;
};

static const struct run runs[] = {
	{ "unpinned", &library_side, 0, 0 },
	{ "pinned", &library_side, 1, 0 },
	{ "hour", &library_side, 1, 1 },
	{ "hand.pinned", &hand_side, 1, 0 },
};
#define RUNS (sizeof(runs) / sizeof(*runs))

static void
add(const struct bench *b, const char *run, const char *what, double value)
{
	char *name = text("%s%s", run, what);

	report_sample(b->report, name, value);
	free(name);
}

static void
add_row(const struct bench *b, const struct run *run, const char *what,
	const char *unit, const char *relation, double goal)
{
	char *name = text("%s%s", run->name, what);
	char *over = text("unpinned%s", what);
	int is_compared = run->side == &library_side && run->pin;

	row_add(b, name, unit, is_compared ? over : NULL,
		is_compared ? relation : NULL, goal);
	free(name);
	free(over);
}

static void
sweep_row(const struct bench *b, const struct run *run)
{
	char *name = text("%s.sweep", run->name);

	row_add(b, name, "% core", NULL, run->pin ? "<=" : NULL, 5);
	free(name);
}

static void
rows(const struct bench *b)
{
	for (size_t i = 0; i < RUNS; i++) {
		const struct run *run = &runs[i];

		add_row(b, run, "", "jobs/s", ">=", 0.8);
		add_row(b, run, ".p99", "ms", "<=", 3);
		if (run->side != &library_side)
			continue;
		add_row(b, run, ".claim", "buffers", "<=", 2);
		sweep_row(b, run);
	}
	row_add(b, "hand.pinned.last", "jobs/s", NULL, NULL, 0);
	row_add(b, "pinned.last", "jobs/s", "hand.pinned.last", ">=", 5);
	row_add(b, "hour.last", "jobs/s", "hand.pinned.last", ">=", 5);
}

static rp_conn *
pin(const struct bench *b)
{
	rp_conn *conn = server_connect(b, SCHEMA);

	server_execute(conn, "begin isolation level repeatable read");
	server_execute(conn, "select count(*) from pg_class");
	return conn;
}

/* Sweep once a second until the time `until`. Returns the server's processor
 * time for the sweeps, in percent of one processor. */
static double
sweep_until(rp_conn *conn, double until)
{
	double from = seconds_now(), spent = backend_seconds(conn);

	do {
		sleep_us(1000000);
		server_execute(conn, "select * from sweep()");
	} while (seconds_now() < until);
	return 100 * (backend_seconds(conn) - spent) / (seconds_now() - from);
}

static void
measure(const struct bench *b, const struct run *run)
{
	struct load load = steady_load(run->side, SCHEMA, b->pinned);
	struct clients *clients;
	struct outcome outcome;
	rp_conn *pinned = NULL, *conn = NULL;

	progress(run->name, -1, 0);
	run->side->create(b, SCHEMA);
	if (run->pin)
		pinned = pin(b);
	if (run->hour)
		hour_make(b, SCHEMA);
	load.no_sweep = 1;
	clients = clients_start(b, &load);
	if (run->side == &library_side) {
		conn = server_connect(b, SCHEMA);
		add(b, run->name, ".sweep",
		    sweep_until(conn, seconds_now() + b->pinned - 1.2));
	}
	clients_finish(clients, &outcome);
	if (conn) {
		run->side->fill(b, SCHEMA, SPARE);
		add(b, run->name, ".claim", buffers_per_claim(b, SCHEMA));
		rp_close(conn);
	}
	add(b, run->name, "", median_by_second(&outcome));
	add(b, run->name, ".p99", outcome.p99);
	if (run->pin)
		add(b, run->name, ".last", last_seconds(&outcome));
	plot_curve(b, "pinned", run->name, &outcome);
	rp_close(pinned);
}

void
pinned_part(const struct bench *b)
{
	rows(b);
	for (size_t i = 0; i < RUNS; i++)
		measure(b, &runs[i]);
}
