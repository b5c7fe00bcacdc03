/*
 * keep.c - test how long a finished job is kept if the job itself has a setting
 * for this time.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "check.h"

#define HOUR_MS INT64_C(3600000)

static struct claim
put_and_claimed(rp_conn *conn, int64_t keep_ms)
{
	rp_job_spec job = job_of("x");
	struct claim c = { 0, 0, 0 };

	job.keep_ms = keep_ms;
	ok(conn, rp_enqueue(conn, "q", &job, NULL));
	assert_int_equal(take_one(conn, "q", 60000, &c), 1);
	return c;
}

static struct claim
done(rp_conn *conn, int64_t keep_ms)
{
	struct claim c = put_and_claimed(conn, keep_ms);

	ok(conn, rp_complete_with(conn, c.id, c.no, "r", 1));
	return c;
}

/* Wait until keep_ms have passed since the job ended, and sweep. */
static void
sweep_after(rp_conn *conn, int64_t id, int64_t keep_ms)
{
	rp_batch *batch = get(conn, id);

	wait_until(conn, rp_batch_at(batch, 0)->finished_at + keep_ms);
	rp_batch_free(batch);
	ok(conn, rp_sweep(conn, NULL));
}

static void
a_done_job_is_kept_as_long_as_it_says(void **state)
{
	struct db *db = *state;
	struct claim other = done(db->conn, 0), c = done(db->conn, HOUR_MS);
	struct claim brief = done(db->conn, 50);
	rp_batch *batch;

	assert_int_equal(state_of(db->conn, other.id), 0);
	batch = get(db->conn, c.id);
	assert_int_equal(rp_batch_at(batch, 0)->state, RP_STATE_DONE);
	assert_int_equal(rp_batch_at(batch, 0)->result_size, 1);
	rp_batch_free(batch);
	assert_int_equal(stats_of(db->conn, "q").done, 2);
	sweep_after(db->conn, brief.id, 50);
	assert_int_equal(state_of(db->conn, brief.id), 0);
	assert_int_equal(state_of(db->conn, c.id), RP_STATE_DONE);
	assert_int_equal(stats_of(db->conn, "q").done, 1);
	assert_int_equal(rp_queue_purge(db->conn, "q", RP_STATE_DONE, NULL), 1);
	assert_int_equal(stats_of(db->conn, "q").done, 0);
}

static void
the_time_of_the_job_has_precedence_over_that_of_its_queue(void **state)
{
	struct db *db = *state;
	struct claim brief, longer, other;

	put(db->conn, "q", "x");
	keep_for(db->conn, HOUR_MS, HOUR_MS);
	ok(db->conn, rp_queue_purge(db->conn, "q", 0, NULL));
	brief = done(db->conn, 50);
	other = done(db->conn, 0);
	longer = done(db->conn, 2 * HOUR_MS);
	assert_int_equal(stats_of(db->conn, "q").done, 3);
	sweep_after(db->conn, brief.id, 50);
	assert_int_equal(state_of(db->conn, brief.id), 0);
	assert_int_equal(state_of(db->conn, other.id), RP_STATE_DONE);
	keep_for(db->conn, 1, HOUR_MS);
	sweep_after(db->conn, other.id, 1);
	assert_int_equal(state_of(db->conn, other.id), 0);
	assert_int_equal(state_of(db->conn, longer.id), RP_STATE_DONE);
}

static void
a_dead_or_cancelled_job_stays_for_the_longer_time(void **state)
{
	struct db *db = *state;
	struct claim dead[2], cancelled[2];
	int64_t keep[2] = { 0, HOUR_MS };

	put(db->conn, "q", "x");
	keep_for(db->conn, 0, 1);
	ok(db->conn, rp_queue_purge(db->conn, "q", 0, NULL));
	for (int i = 0; i < 2; i++) {
		dead[i] = put_and_claimed(db->conn, keep[i]);
		settle_one(db->conn, dead[i], RP_DEAD, -1);
		cancelled[i] = put_and_claimed(db->conn, keep[i]);
		ok(db->conn, rp_job_cancel(db->conn, cancelled[i].id, NULL));
	}
	sweep_after(db->conn, cancelled[1].id, 1);
	assert_int_equal(state_of(db->conn, dead[0].id), 0);
	assert_int_equal(state_of(db->conn, cancelled[0].id), 0);
	assert_int_equal(state_of(db->conn, dead[1].id), RP_STATE_DEAD);
	assert_int_equal(state_of(db->conn, cancelled[1].id),
			 RP_STATE_CANCELLED);
	keep_for(db->conn, 0, HOUR_MS);
	dead[0] = put_and_claimed(db->conn, 1);
	settle_one(db->conn, dead[0], RP_DEAD, -1);
	sweep_after(db->conn, dead[0].id, 1);
	assert_int_equal(state_of(db->conn, dead[0].id), RP_STATE_DEAD);
}

#define MANY 60

static void
each_of_many_jobs_in_one_commit_is_kept_or_deleted(void **state)
{
	struct db *db = *state;
	struct claim c[MANY];
	rp_verdict v[MANY];

	for (int mixed = 0; mixed < 2; mixed++) {
		rp_job_spec job = job_of("x");
		rp_batch *batch;

		for (int i = 0; i < MANY; i++) {
			job.keep_ms = i % 3 ? 0 : HOUR_MS;
			ok(db->conn, rp_enqueue(db->conn, "q", &job, NULL));
		}
		batch = take(db->conn, "q", MANY, 60000);
		for (int i = 0; i < MANY; i++) {
			c[i].id = rp_batch_at(batch, (size_t)i)->id;
			c[i].no = rp_batch_at(batch, (size_t)i)->claim_no;
			v[i] = verdict_on(c[i], RP_DONE);
			if (mixed && i % 4 == 1)
				v[i].verdict = RP_DEAD;
			/* refused: no worker has this claim number */
			if (i % 10 == 9)
				v[i].claim_no += 1000000000;
		}
		rp_batch_free(batch);
		assert_int_equal(ok(db->conn, rp_settle(db->conn, v, MANY)),
				 MANY - MANY / 10);
		for (int i = 0; i < MANY; i++)
			assert_int_equal(state_of(db->conn, c[i].id),
					 i % 10 == 9 ? RP_STATE_RUNNING
					 : v[i].verdict == RP_DEAD
						 ? RP_STATE_DEAD
					 : i % 3 ? 0
						 : RP_STATE_DONE);
		for (int i = 9; i < MANY; i += 10)
			ok(db->conn, rp_job_cancel(db->conn, c[i].id, NULL));
	}
}

static void
a_handler_may_settle_in_a_transaction_of_any_level(void **state)
{
	struct db *db = *state;
	struct claim c = put_and_claimed(db->conn, HOUR_MS);

	ok(db->conn, rp_begin(db->conn));
	if (strcmp(rp_conn_scheme(db->conn), "postgres") == 0)
		run_sql(db->conn,
			"set transaction isolation level repeatable read",
			NULL);
	ok(db->conn, rp_complete_with(db->conn, c.id, c.no, "r", 1));
	ok(db->conn, rp_commit(db->conn));
	assert_int_equal(state_of(db->conn, c.id), RP_STATE_DONE);
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		CASE(a_done_job_is_kept_as_long_as_it_says),
		CASE(the_time_of_the_job_has_precedence_over_that_of_its_queue),
		CASE(a_dead_or_cancelled_job_stays_for_the_longer_time),
		CASE(each_of_many_jobs_in_one_commit_is_kept_or_deleted),
		CASE(a_handler_may_settle_in_a_transaction_of_any_level),
	};

	databases_at(argc, argv);
	return cmocka_run_group_tests_name("keep", tests, NULL, NULL);
}
