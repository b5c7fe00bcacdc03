/*
 * claim.c - test which jobs a claim returns, and which ones it skips.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "check.h"

/* Claim up to n jobs, and expect jobs with these payloads in this order. */
static void
expect_claim(rp_conn *conn, size_t n, const rp_claim_options *o,
	     const char *expected)
{
	char got[64] = "";
	rp_batch *batch;

	ok(conn, rp_claim(conn, "q", n, o, &batch));
	for (size_t i = 0; i < rp_batch_count(batch); i++)
		strncat(got, rp_batch_at(batch, i)->payload, 1);
	rp_batch_free(batch);
	assert_string_equal(got, expected);
}

static void
put_at(rp_conn *conn, const char *payload, int priority)
{
	rp_job_spec job = job_of(payload);

	job.priority = priority;
	ok(conn, rp_enqueue(conn, "q", &job, NULL));
}

/* Enqueue a job, and let its lease run out several times in a row. */
static void
put_lost(rp_conn *conn, const char *payload, int times)
{
	rp_job_spec job = job_of(payload);
	struct claim c;

	job.max_attempts = 9;
	ok(conn, rp_enqueue(conn, "q", &job, NULL));
	while (times-- > 0) {
		assert_int_equal(take_one(conn, "q", 1, &c), 1);
		sleep_ms(3);
		assert_int_equal(ok(conn, rp_sweep(conn, NULL)), 1);
	}
}

static void
put_suspect(rp_conn *conn, const char *payload)
{
	put_lost(conn, payload, 2);
}

static void
a_claim_that_finds_no_job_returns_an_empty_batch(void **state)
{
	struct db *db = *state;
	rp_batch *batch = take(db->conn, "nobody created it", 5, 0);

	assert_non_null(batch);
	assert_int_equal(rp_batch_count(batch), 0);
	assert_null(rp_batch_at(batch, 0));
	rp_batch_free(batch);
}

static void
a_claim_never_returns_more_than_its_limit(void **state)
{
	enum { JOBS = 1234 };
	struct db *db = *state;
	static rp_job_spec jobs[JOBS];
	size_t left = JOBS;

	for (int i = 0; i < JOBS; i++)
		jobs[i] = job_of("x");
	ok(db->conn, rp_enqueue_many(db->conn, "q", jobs, JOBS, NULL));
	for (size_t n = 1; left > 0; n = n * 3 + 1) {
		rp_batch *batch = take(db->conn, "q", n, 60000);

		assert_int_equal(rp_batch_count(batch), n < left ? n : left);
		left -= rp_batch_count(batch);
		rp_batch_free(batch);
	}
	expect_claim(db->conn, 100000, NULL, "");
}

static void
the_lease_is_the_callers_or_the_queues(void **state)
{
	struct db *db = *state;
	rp_queue q = RP_QUEUE_INIT;
	rp_batch *batch;

	q.name = "q";
	q.lease_ms = 7000;
	settings(db->conn, q);
	put(db->conn, "q", "a");
	put(db->conn, "q", "b");
	batch = take(db->conn, "q", 1, 0);
	assert_int_equal(rp_batch_at(batch, 0)->lease_until -
				 rp_batch_at(batch, 0)->claimed_at,
			 7000);
	rp_batch_free(batch);
	batch = take(db->conn, "q", 1, 9000);
	assert_int_equal(rp_batch_at(batch, 0)->lease_until -
				 rp_batch_at(batch, 0)->claimed_at,
			 9000);
	rp_batch_free(batch);
}

static void
P6_the_attempt_is_counted_at_the_claim(void **state)
{
	struct db *db = *state;
	int64_t id = put(db->conn, "q", "x");
	rp_batch *batch = take(db->conn, "q", 1, 60000), *seen;

	seen = get(db->conn, id);
	assert_int_equal(rp_batch_at(batch, 0)->attempt, 1);
	assert_int_equal(rp_batch_at(seen, 0)->attempt, 1);
	assert_int_equal(rp_batch_at(seen, 0)->state, RP_STATE_RUNNING);
	assert_int_equal(rp_batch_at(seen, 0)->claim_no,
			 rp_batch_at(batch, 0)->claim_no);
	assert_int_equal(rp_batch_at(seen, 0)->lease_until,
			 rp_batch_at(batch, 0)->lease_until);
	rp_batch_free(batch);
	rp_batch_free(seen);
}

static void
P5_a_job_whose_lease_ran_out_comes_first_and_with_others(void **state)
{
	struct db *db = *state;
	rp_claim_options o = RP_CLAIM_INIT;

	put_lost(db->conn, "l", 1);
	put_at(db->conn, "c", 100);
	put_at(db->conn, "a", 50);
	put_at(db->conn, "d", 200);
	o.holding = 1;
	expect_claim(db->conn, 9, &o, "alcd");
}

static void
P5_jobs_whose_leases_ran_out_keep_their_order(void **state)
{
	struct db *db = *state;

	for (const char *s = "a\0b\0c\0d\0e\0"; *s; s += 2)
		put(db->conn, "q", s);
	rp_batch_free(take(db->conn, "q", 5, 1));
	sleep_ms(3);
	assert_int_equal(ok(db->conn, rp_sweep(db->conn, NULL)), 5);
	put(db->conn, "q", "f");
	expect_claim(db->conn, 9, NULL, "abcdef");
}

static void
P5_a_suspect_comes_before_its_priority_and_behind_lower_ones(void **state)
{
	struct db *db = *state;

	put_suspect(db->conn, "s");
	put_at(db->conn, "c", 100);
	put_at(db->conn, "a", 50);
	put_at(db->conn, "b", 50);
	put_at(db->conn, "d", 200);
	expect_claim(db->conn, 9, NULL, "ab");
	expect_claim(db->conn, 9, NULL, "s");
	expect_claim(db->conn, 9, NULL, "cd");
}

static void
P5_a_suspect_does_not_stop_workers_that_may_not_claim_it(void **state)
{
	struct db *db = *state;
	rp_claim_options o = RP_CLAIM_INIT;

	put_suspect(db->conn, "s");
	put_at(db->conn, "b", 100);
	put_at(db->conn, "a", 50);
	put_at(db->conn, "c", 200);
	o.holding = 1;
	expect_claim(db->conn, 9, &o, "abc");
	expect_claim(db->conn, 9, NULL, "s");
}

static void
P6_suspects_are_claimed_one_by_one_and_only_by_idle_workers(void **state)
{
	struct db *db = *state;
	rp_claim_options o = RP_CLAIM_INIT;
	rp_batch *batch;

	put(db->conn, "q", "x");
	put(db->conn, "q", "y");
	for (int i = 0; i < 2; i++) {
		rp_batch_free(take(db->conn, "q", 2, 1));
		sleep_ms(3);
		assert_int_equal(ok(db->conn, rp_sweep(db->conn, NULL)), 2);
	}
	put(db->conn, "q", "n");
	o.holding = 1;
	ok(db->conn, rp_claim(db->conn, "q", 9, &o, &batch));
	assert_int_equal(rp_batch_count(batch), 1);
	assert_int_equal(rp_batch_suspects(batch), 2);
	assert_false(rp_batch_at(batch, 0)->suspect);
	rp_batch_free(batch);
	for (int i = 0; i < 2; i++) {
		batch = take(db->conn, "q", 9, 60000);
		assert_int_equal(rp_batch_count(batch), 1);
		assert_true(rp_batch_at(batch, 0)->suspect);
		rp_batch_free(batch);
	}
	expect_claim(db->conn, 9, NULL, "");
}

static void
P6_a_suspect_that_is_released_stays_a_suspect(void **state)
{
	struct db *db = *state;
	struct claim c;

	put_suspect(db->conn, "s");
	put(db->conn, "q", "n");
	take_one(db->conn, "q", 60000, &c);
	ok(db->conn, rp_release(db->conn, c.id, c.no, 0));
	expect_claim(db->conn, 9, NULL, "s");
}

static void
P6_a_suspect_that_failed_is_no_longer_a_suspect(void **state)
{
	struct db *db = *state;
	struct claim c;
	rp_verdict v;

	put_suspect(db->conn, "s");
	take_one(db->conn, "q", 60000, &c);
	v = verdict_on(c, RP_FAIL);
	v.delay_ms = 0;
	ok(db->conn, rp_settle(db->conn, &v, 1));
	put(db->conn, "q", "n");
	expect_claim(db->conn, 9, NULL, "sn");
}

static void
P6_a_lost_lease_before_the_last_attempt_makes_a_suspect(void **state)
{
	struct db *db = *state;
	rp_job_spec twice = job_of("t");
	struct claim c;

	twice.max_attempts = 2;
	ok(db->conn, rp_enqueue(db->conn, "q", &twice, NULL));
	take_one(db->conn, "q", 1, &c);
	put(db->conn, "q", "n");
	sleep_ms(3);
	ok(db->conn, rp_sweep(db->conn, NULL));
	expect_claim(db->conn, 9, NULL, "t");
	expect_claim(db->conn, 9, NULL, "n");
}

static void
P6_leases_lost_before_and_after_a_failure_are_not_in_a_row(void **state)
{
	struct db *db = *state;
	struct claim c;
	rp_verdict v;

	put_lost(db->conn, "l", 1);
	take_one(db->conn, "q", 60000, &c);
	v = verdict_on(c, RP_FAIL);
	v.delay_ms = 0;
	ok(db->conn, rp_settle(db->conn, &v, 1));
	take_one(db->conn, "q", 1, &c);
	put(db->conn, "q", "n");
	sleep_ms(3);
	ok(db->conn, rp_sweep(db->conn, NULL));
	expect_claim(db->conn, 9, NULL, "ln");
}

static void
a_job_with_one_attempt_is_never_fetched_ahead(void **state)
{
	struct db *db = *state;
	rp_claim_options o = RP_CLAIM_INIT;
	rp_job_spec once = job_of("o");

	once.max_attempts = 1;
	ok(db->conn, rp_enqueue(db->conn, "q", &once, NULL));
	put(db->conn, "q", "a");
	o.ahead = 5;
	/* `ahead` says how many of the five jobs are only prefetched, here all.
	 * The first job has only one attempt, so it must not be prefetched. So
	 * the claim returns nothing. */
	expect_claim(db->conn, 5, &o, "");
	o.ahead = 4;
	expect_claim(db->conn, 5, &o, "oa");
	o.ahead = 6;
	assert_int_equal(rp_claim(db->conn, "q", 5, &o, &(rp_batch *){ NULL }),
			 RP_EINVAL);
}

static void
a_paused_queue_among_several_is_passed_over(void **state)
{
	static const char *const queues[] = { "paused", "q", "nowhere", NULL };
	struct db *db = *state;
	rp_claim_options o = RP_CLAIM_INIT;

	put(db->conn, "paused", "p");
	put(db->conn, "q", "a");
	ok(db->conn, rp_queue_pause(db->conn, "paused", NULL));
	o.queues = queues;
	expect_claim(db->conn, 9, &o, "a");
	ok(db->conn, rp_queue_resume(db->conn, "paused"));
	expect_claim(db->conn, 9, &o, "p");
}

static void
scheduled_jobs_are_not_handed_out(void **state)
{
	struct db *db = *state;
	rp_job_spec later = job_of("l"), past = job_of("p");
	int64_t now;

	ok(db->conn, rp_now(db->conn, &now));
	later.run_at = now + 3600000;
	past.run_at = now - 3600000;
	ok(db->conn, rp_enqueue(db->conn, "q", &later, NULL));
	ok(db->conn, rp_enqueue(db->conn, "q", &past, NULL));
	ok(db->conn, rp_sweep(db->conn, NULL));
	expect_claim(db->conn, 9, NULL, "p");
	assert_int_equal(stats_of(db->conn, "q").scheduled, 1);
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		CASE(a_claim_that_finds_no_job_returns_an_empty_batch),
		CASE(a_claim_never_returns_more_than_its_limit),
		CASE(the_lease_is_the_callers_or_the_queues),
		CASE(P6_the_attempt_is_counted_at_the_claim),
		CASE(P5_a_job_whose_lease_ran_out_comes_first_and_with_others),
		CASE(P5_jobs_whose_leases_ran_out_keep_their_order),
		CASE(P5_a_suspect_comes_before_its_priority_and_behind_lower_ones),
		CASE(P5_a_suspect_does_not_stop_workers_that_may_not_claim_it),
		CASE(P6_suspects_are_claimed_one_by_one_and_only_by_idle_workers),
		CASE(P6_a_suspect_that_is_released_stays_a_suspect),
		CASE(P6_a_suspect_that_failed_is_no_longer_a_suspect),
		CASE(P6_a_lost_lease_before_the_last_attempt_makes_a_suspect),
		CASE(P6_leases_lost_before_and_after_a_failure_are_not_in_a_row),
		CASE(a_job_with_one_attempt_is_never_fetched_ahead),
		CASE(a_paused_queue_among_several_is_passed_over),
		CASE(scheduled_jobs_are_not_handed_out),
	};

	databases_at(argc, argv);
	return cmocka_run_group_tests_name("claim", tests, NULL, NULL);
}
