/*
 * hour.c - create, within a minute, as many dead rows as an hour of work leaves
 * in the tables while another session keeps an old snapshot.
 *
 * One job runs during the whole hour. In the index, the entry of this job is
 * followed by the dead entries of all jobs that were done after this job began.
 * In such an hour the table `cursor`, which says where claims start, gets ten
 * rows a second, and the sweep deletes all of them except the last.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include <readpast.h>

#include <stdlib.h>

#include "pg.h"

#define MOST_AT_ONCE 500000
/* For every PER_CURSOR jobs, insert one row into the table `cursor`. This makes
 * 36,000 rows for 10 million jobs. */
#define PER_CURSOR 278

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
	char *cursors = text(
		"insert into cursor (lane_id, head, low, made_at, visit_at,"
		"                    settled)"
		" select q.lane_id, l.last_value - n, l.last_value - n, m.at,"
		"        m.at + interval '1 second', l.last_value - n"
		"   from queue q, line l, generate_series(%zu, 0, -%d) n,"
		"        lateral (select clock_timestamp()"
		"                        - n * interval '360 microseconds'"
		"                        as at) m"
		"     on conflict do nothing",
		jobs - 1, PER_CURSOR);

	server_execute(conn, insert);
	server_execute(conn, "delete from job where seq is not null");
	server_execute(conn, cursors);
	server_execute(conn, "delete from cursor c where c.lane_id > 0"
			     " and c.head < (select max(n.head) from cursor n"
			     "                where n.lane_id = c.lane_id)");
	free(insert);
	free(cursors);
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
	/* Write the changed pages to the disk. In a real hour, checkpoints
	 * would have done this. */
	server_execute(conn, "checkpoint");
	rp_close(conn);
}
