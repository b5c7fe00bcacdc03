/*
 * found.c - test calls that change all jobs which a search has found. A job
 * that has changed since the search is skipped.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "check.h"

#include "internal.h"

#define JOBS 250 /* more jobs than one statement changes on a server */

/* Enqueue jobs into queue q. Every tenth job has the kind k. */
static void
put_all(struct db *db, int64_t *ids)
{
	rp_job_spec job = job_of("x");

	for (int i = 0; i < JOBS; i++) {
		rp_added added;

		job.kind = i % 10 ? NULL : "k";
		ok(db->conn, rp_enqueue(db->conn, "q", &job, &added));
		ids[i] = added.id;
	}
}

static void
a_cancel_skips_jobs_that_have_left_the_state(void **state)
{
	struct db *db = *state;
	rp_conn *conn = db->conn;
	struct rp_changed changed = { 0 };
	int64_t ids[JOBS];

	put_all(db, ids);
	rp_batch_free(take(conn, "q", 3, 60000));
	ok(conn,
	   rp__jobs_cancel(conn, ids, JOBS, RP_STATE_READY, "k", &changed));
	/* The first job of kind k is running, so it is skipped. */
	assert_int_equal(changed.done, JOBS / 10 - 1);
	ok(conn, rp__jobs_cancel(conn, ids, JOBS, RP_STATE_SCHEDULED, NULL,
				 &changed));
	assert_int_equal(changed.done, JOBS / 10 - 1);
	ok(conn,
	   rp__jobs_cancel(conn, ids, 2, RP_STATE_RUNNING, NULL, &changed));
	assert_int_equal(changed.done, JOBS / 10 + 1);
	ok(conn, rp__jobs_cancel(conn, ids, JOBS, 0, NULL, &changed));
	assert_int_equal(changed.done, JOBS);
	assert_int_equal(stats_of(conn, "q").cancelled, JOBS);
}

static void
a_retry_counts_the_jobs_whose_key_is_taken(void **state)
{
	struct db *db = *state;
	rp_conn *conn = db->conn;
	struct rp_changed changed = { 0 };
	rp_job_spec job = job_of("x");
	int64_t ids[JOBS];
	rp_added added;

	put_all(db, ids);
	job.unique_key = "key";
	ok(conn, rp_enqueue(conn, "q", &job, &added));
	ids[0] = added.id;
	ok(conn, rp__jobs_cancel(conn, ids, JOBS, 0, NULL, &changed));
	ok(conn, rp_enqueue(conn, "q", &job, NULL));
	changed = (struct rp_changed){ 0 };
	ok(conn, rp__jobs_retry(conn, ids, JOBS, 0, NULL, &changed));
	assert_int_equal(changed.done, JOBS - 1);
	assert_int_equal(changed.taken, 1);
	assert_int_equal(state_of(conn, ids[0]), RP_STATE_CANCELLED);
	assert_int_equal(state_of(conn, ids[1]), RP_STATE_READY);
}

static void
a_purge_deletes_the_jobs_in_the_state(void **state)
{
	struct db *db = *state;
	rp_conn *conn = db->conn;
	struct rp_changed changed = { 0 };
	int64_t ids[JOBS];

	put_all(db, ids);
	ok(conn, rp_job_cancel(conn, ids[1], NULL));
	ok(conn,
	   rp__jobs_purge(conn, ids, JOBS, RP_STATE_READY, NULL, &changed));
	assert_int_equal(changed.done, JOBS - 1);
	assert_int_equal(state_of(conn, ids[0]), 0);
	assert_int_equal(state_of(conn, ids[1]), RP_STATE_CANCELLED);
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		CASE(a_cancel_skips_jobs_that_have_left_the_state),
		CASE(a_retry_counts_the_jobs_whose_key_is_taken),
		CASE(a_purge_deletes_the_jobs_in_the_state),
	};

	databases_at(argc, argv);
	return cmocka_run_group_tests_name("found", tests, NULL, NULL);
}
