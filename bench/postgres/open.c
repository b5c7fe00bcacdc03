/*
 * open.c - measure a steady load while another transaction stays open. This
 * transaction has either claimed or enqueued jobs.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "pg.h"

#include <stdlib.h>

#define SCHEMA "readpast"
#define LIMIT "50ms" /* the server logs lock waits that last longer */

/* Let the server log each wait for a lock that takes longer than LIMIT. */
static void
log_waits(const struct bench *b, int on)
{
	server_set(b, "deadlock_timeout", on ? "'" LIMIT "'" : "default");
	server_set(b, "log_lock_waits", on ? "on" : "default");
}

static void
claimed(const struct bench *b)
{
	struct load load = steady_load(&library_side, SCHEMA, b->pinned / 2);
	struct clients *clients;
	struct outcome without, with;
	rp_conn *conn;

	progress("an open claim", -1, 0);
	library_side.create(b, SCHEMA);
	log_waits(b, 1);
	clients_run(b, &load, &without);
	library_side.fill(b, SCHEMA, 1000);
	conn = server_connect(b, SCHEMA);
	server_execute(conn, "begin");
	server_execute(conn, "select count(*) from claim('" QUEUE "', 100)");
	clients = clients_start(b, &load);
	clients_finish(clients, &with);
	server_execute(conn, "rollback");
	rp_close(conn);
	report_sample(b->report, "no-open-claim", without.finished);
	report_sample(b->report, "no-open-claim.p99", without.p99);
	report_sample(b->report, "open-claim", with.finished);
	report_sample(b->report, "open-claim.p99", with.p99);
	report_sample(b->report, "open-claim.waits",
		      server_logged(b, "still waiting for"));
	log_waits(b, 0);
}

/* Wait until this job is claimed, but at most 30 s. Return the seconds. The
 * jobs that were enqueued after this job have been claimed already. */
static double
wait_for_start(rp_conn *conn, const char *id)
{
	char *ready = text("select count(*) from job"
			   " where id = %s and claim_no = 0",
			   id);
	double from = seconds_now();

	while (server_number(conn, ready) > 0 && seconds_now() < from + 30)
		sleep_us(5000);
	free(ready);
	return seconds_now() - from;
}

static void
enqueued(const struct bench *b, int round)
{
	double seconds = b->pinned / 4 + 2;
	struct load load = steady_load(&library_side, SCHEMA, seconds + 4);
	rp_conn *conn = server_connect(b, SCHEMA);
	struct clients *clients;
	struct outcome outcome;
	char *id;

	progress("an open enqueue", round, b->rounds);
	clients = clients_start(b, &load);
	sleep_us(500000);
	server_execute(conn, "begin");
	id = server_text(conn, "select enqueue('" QUEUE "', 'late'::text)");
	sleep_us((int64_t)(seconds * 1e6));
	server_execute(conn, "commit");
	report_sample(b->report, "open-enqueue.start",
		      wait_for_start(conn, id));
	clients_finish(clients, &outcome);
	rp_close(conn);
	free(id);
}

void
open_part(const struct bench *b)
{
	row_add(b, "no-open-claim", "jobs/s", NULL, NULL, 0);
	row_add(b, "open-claim", "jobs/s", "no-open-claim", NULL, 0);
	row_add(b, "no-open-claim.p99", "ms", NULL, NULL, 0);
	row_add(b, "open-claim.p99", "ms", "no-open-claim.p99", NULL, 0);
	row_add(b, "open-claim.waits", "waits", NULL, "<=", 0);
	row_add(b, "open-enqueue.start", "s", NULL, "<=", 2);
	claimed(b);
	library_side.create(b, SCHEMA);
	for (int round = 0; round < b->rounds; round++)
		enqueued(b, round);
}
