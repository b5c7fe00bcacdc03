/*
 * hour.c - what an hour of work leaves behind the line while somebody's
 * snapshot is pinned, made in a minute.
 *
 * One job runs from the beginning on. Behind it are the dead entries of all
 * that was done since; ten marks for each second, of which the sweep has
 * deleted all but the last; and its own notes, one a second.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include <readpast.h>

#include <stdlib.h>

#include "pg.h"

#define MOST_AT_ONCE 500000
#define PER_MARK 278 /* jobs: 10 million of them in 36,000 marks */

static void
run_long_job(const struct bench *b, const char *schema)
{
	char *url = server_library_url(b, schema);
	rp_job_spec job = RP_JOB_SPEC_INIT;
	rp_batch *batch;
	rp_error error;
	rp_conn *conn;
	const rp_job *it;

	if (rp_open(url, NULL, &conn, &error) < 0)
		die("rp_open: %s", error.message);
	if (rp_enqueue(conn, QUEUE, &job, NULL) < 0 ||
	    rp_claim(conn, QUEUE, 1, NULL, &batch) != 1)
		die("library: %s", rp_last_error(conn)->message);
	it = rp_batch_at(batch, 0);
	if (rp_extend(conn, it->id, it->claim_no, 3600000) < 0)
		die("library: %s", rp_last_error(conn)->message);
	rp_batch_free(batch);
	rp_close(conn);
	free(url);
}

static void
work_some(rp_conn *conn, size_t jobs)
{
	char *insert = text(
		"insert into job (lane_id, seq, run_at, created_at, queue_id,"
		"                 max_attempts, payload)"
		" select q.lane_id, nextval('line'), now(),"
		"        now(), q.id, q.max_attempts, ''"
		"   from queue q, generate_series(1, %zu)",
		jobs);
	char *mark = text(
		"insert into mark (lane_id, head, made_at)"
		" select q.lane_id, l.last_value - n,"
		"        clock_timestamp() - n * interval '360 microseconds'"
		"   from queue q, line l, generate_series(%zu, 0, -%d) n",
		jobs - 1, PER_MARK);
	char *walk =
		text("insert into walked (lane_id, low)"
		     " select q.lane_id, l.last_value - n"
		     "   from queue q, line l, generate_series(%zu, 0, -%d) n",
		     jobs - 1, 10 * PER_MARK);

	server_execute(conn, insert);
	server_execute(conn, "delete from job where seq is not null");
	server_execute(conn, mark);
	server_execute(conn, "delete from mark m where m.head <"
			     " (select max(n.head) from mark n"
			     "   where n.lane_id = m.lane_id)");
	server_execute(conn, walk);
	server_execute(conn, "delete from walked w where w.low <"
			     " (select max(n.low) from walked n"
			     "   where n.lane_id = w.lane_id)");
	free(insert);
	free(mark);
	free(walk);
}

void
hour_make(const struct bench *b, const char *schema)
{
	rp_conn *conn = server_connect(b, schema);

	run_long_job(b, schema);
	for (size_t left = b->dead; left;) {
		size_t some = left < MOST_AT_ONCE ? left : MOST_AT_ONCE;

		work_some(conn, some);
		left -= some;
	}
	/* An hour's pages would have been written in the course of it. */
	server_execute(conn, "checkpoint");
	rp_close(conn);
}
