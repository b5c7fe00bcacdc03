/*
 * producers.c - measure many producers that enqueue into one group with the
 * limit 1, and count how often one of them waits for another.
 *
 * While the file of a table grows, all sessions that insert rows into this
 * table wait for each other. This is so for every table, so these waits (for
 * locks of the type `extend`) are not counted.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "grouped.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define SCHEMA "readpast"
#define LIMIT "5ms" /* the server logs lock waits that last longer */
#define SAMPLE_US 10000

struct board {
	_Atomic size_t ready, jobs;
	_Atomic int over;
};

static void
log_waits(const struct bench *b, int on)
{
	server_set(b, "deadlock_timeout", on ? "'" LIMIT "'" : "default");
	server_set(b, "log_lock_waits", on ? "on" : "default");
}

/* Return the number of waits that the server has logged so far. */
static double
logged(const struct bench *b)
{
	return server_logged(b, "still waiting for") -
	       server_logged(b, "still waiting for ExclusiveLock on extension");
}

static double
waiting(rp_conn *conn)
{
	return server_number(conn, "select count(*) from pg_locks"
				   " where not granted"
				   "   and locktype <> 'extend'");
}

/* Enqueue one job after the other, from the moment when the parent closes
 * `gate`, a pipe. Producers that looked again and again would take the
 * processors from those that still connect. */
static void
produce(const struct bench *b, struct board *board, const int gate[2])
{
	void *handle = hot_side.open(b, SCHEMA, 1, 0);
	char none;

	close(gate[1]);
	atomic_fetch_add(&board->ready, 1);
	if (read(gate[0], &none, 1) != 0)
		die("the gate of the producers is broken");
	while (!atomic_load(&board->over)) {
		hot_side.put(handle);
		atomic_fetch_add(&board->jobs, 1);
	}
	hot_side.close(handle);
	_exit(0);
}

/* Let many producers enqueue for a while. Meanwhile, count every SAMPLE_US the
 * sessions that wait for a lock. Returns the sum of these counts. */
static double
crowd(const struct bench *b, rp_conn *conn)
{
	struct board *board = allocate_shared(sizeof(*board));
	pid_t *pids = allocate(b->producers * sizeof(*pids));
	double seconds = 2 * b->seconds, from, waits = 0;
	int gate[2];

	if (pipe(gate) != 0)
		die("no pipe");
	for (size_t i = 0; i < b->producers; i++) {
		pids[i] = fork_child();
		if (pids[i] == 0)
			produce(b, board, gate);
	}
	while (atomic_load(&board->ready) < b->producers)
		sleep_us(1000);
	close(gate[0]);
	close(gate[1]);
	for (from = seconds_now(); seconds_now() < from + seconds;) {
		waits += waiting(conn);
		sleep_us(SAMPLE_US);
	}
	report_sample(b->report, "producers.rate",
		      (double)atomic_load(&board->jobs) / seconds);
	atomic_store(&board->over, 1);
	for (size_t i = 0; i < b->producers; i++)
		if (spawn_wait(pids[i]) != 0)
			die("a producer failed");
	munmap(board, sizeof(*board));
	free(pids);
	return waits;
}

/* Measure producers and workers of the group. If `open` is not 0, another
 * transaction has enqueued into the group and stays open during the
 * measurement. */
static void
beside(const struct bench *b, rp_conn *conn, int open)
{
	struct load load = { .side = &hot_side,
			     .schema = SCHEMA,
			     .producers = 4,
			     .workers = 2,
			     .put = 1,
			     .take = 1,
			     .seconds = 2 * b->seconds };
	struct outcome outcome;

	hot_side.create(b, SCHEMA);
	if (open) {
		server_execute(conn, "begin");
		server_execute(conn, "select enqueue('" QUEUE "', 'x'::text,"
				     "               group_key => 'g0')");
	}
	clients_run(b, &load, &outcome);
	if (open)
		server_execute(conn, "commit");
	report_sample(b->report, open ? "open-group" : "no-open-group",
		      outcome.put);
	report_sample(b->report,
		      open ? "open-group.done" : "no-open-group.done",
		      outcome.finished);
}

static void
rows(const struct bench *b)
{
	row_add(b, "producers", "-", NULL, NULL, 0);
	report_sample(b->report, "producers", (double)b->producers);
	row_add(b, "producers.rate", "jobs/s", NULL, NULL, 0);
	row_add(b, "producers.waits", "waits", NULL, "<=", 0);
	row_add(b, "producers.logged", "waits", NULL, "<=", 0);
	row_add(b, "no-open-group", "jobs/s", NULL, NULL, 0);
	row_add(b, "open-group", "jobs/s", "no-open-group", NULL, 0);
	row_add(b, "no-open-group.done", "jobs/s", NULL, NULL, 0);
	row_add(b, "open-group.done", "jobs/s", "no-open-group.done", NULL, 0);
	row_add(b, "open-group.logged", "waits", NULL, "<=", 0);
}

void
producers_measure(const struct bench *b)
{
	rp_conn *conn;

	rows(b);
	log_waits(b, 1);
	for (int round = 0; round < b->rounds; round++) {
		double before = logged(b);

		progress("many producers", round, b->rounds);
		hot_side.create(b, SCHEMA);
		conn = server_connect(b, SCHEMA);
		report_sample(b->report, "producers.waits", crowd(b, conn));
		report_sample(b->report, "producers.logged",
			      logged(b) - before);
		beside(b, conn, 0);
		before = logged(b);
		beside(b, conn, 1);
		report_sample(b->report, "open-group.logged",
			      logged(b) - before);
		rp_close(conn);
	}
	log_waits(b, 0);
}
