/*
 * promises.c - test the promises of docs/design.md, with at least one case for
 * each.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "check.h"

static const struct claim none = { 0, 0, 0 };

/* ---- P2, P3 ---- */

static void
P2_a_claimed_job_is_not_handed_out_again(void **state)
{
	struct db *db = *state;
	rp_conn *other = connect_to(db);
	struct claim a = none;

	put(db->conn, "q", "x");
	assert_int_equal(take_one(db->conn, "q", 60000, &a), 1);
	assert_int_equal(take_one(other, "q", 60000, &a), 0);
	rp_close(other);
}

static void
P2_a_sweep_does_not_end_a_lease_that_still_runs(void **state)
{
	struct db *db = *state;
	struct claim a = none;

	put(db->conn, "q", "x");
	take_one(db->conn, "q", 60000, &a);
	assert_int_equal(ok(db->conn, rp_sweep(db->conn, NULL)), 0);
	assert_int_equal(state_of(db->conn, a.id), RP_STATE_RUNNING);
	assert_int_equal(take_one(db->conn, "q", 60000, &a), 0);
}

/* Claim a job, let its lease run out, and let another client claim it. */
static void
take_over(struct db *db, struct claim *first, struct claim *second)
{
	assert_int_equal(take_one(db->conn, "q", 1, first), 1);
	sleep_ms(3);
	ok(db->conn, rp_sweep(db->conn, NULL));
	assert_int_equal(take_one(db->conn, "q", 60000, second), 1);
	assert_int_equal(first->id, second->id);
}

static void
P3_every_late_verdict_is_refused_and_changes_nothing(void **state)
{
	struct db *db = *state;
	struct claim late = none, holder = none;
	rp_batch *before, *after;

	put(db->conn, "q", "x");
	take_over(db, &late, &holder);
	assert_true(holder.no > late.no);
	ok(db->conn, rp_job_get(db->conn, late.id, &before));
	assert_int_equal(rp_complete(db->conn, late.id, late.no), RP_EGONE);
	assert_int_equal(rp_fail(db->conn, late.id, late.no, "e"), RP_EGONE);
	assert_int_equal(rp_release(db->conn, late.id, late.no, 0), RP_EGONE);
	assert_int_equal(rp_extend(db->conn, late.id, late.no, 1), RP_EGONE);
	ok(db->conn, rp_job_get(db->conn, late.id, &after));
	assert_int_equal(rp_batch_at(before, 0)->claim_no,
			 rp_batch_at(after, 0)->claim_no);
	assert_int_equal(rp_batch_at(before, 0)->lease_until,
			 rp_batch_at(after, 0)->lease_until);
	assert_int_equal(rp_batch_at(before, 0)->attempt,
			 rp_batch_at(after, 0)->attempt);
	rp_batch_free(before);
	rp_batch_free(after);
	ok(db->conn, rp_complete(db->conn, holder.id, holder.no));
}

static void
P3_a_lease_that_is_over_but_not_taken_over_is_still_good(void **state)
{
	struct db *db = *state;
	struct claim a = none, b = none, c = none;

	put(db->conn, "q", "a");
	put(db->conn, "q", "b");
	put(db->conn, "q", "c");
	take_one(db->conn, "q", 1, &a);
	take_one(db->conn, "q", 1, &b);
	take_one(db->conn, "q", 1, &c);
	sleep_ms(3);
	ok(db->conn, rp_complete(db->conn, a.id, a.no));
	assert_int_equal(ok(db->conn, rp_sweep(db->conn, NULL)), 2);
	assert_int_equal(state_of(db->conn, b.id), RP_STATE_READY);
	ok(db->conn, rp_complete(db->conn, b.id, b.no));
	ok(db->conn, rp_extend(db->conn, c.id, c.no, 60000));
	assert_int_equal(state_of(db->conn, c.id), RP_STATE_RUNNING);
	assert_int_equal(take_one(db->conn, "q", 1, &a), 0);
	ok(db->conn, rp_complete(db->conn, c.id, c.no));
}

static void
P3_a_claim_has_one_verdict(void **state)
{
	struct db *db = *state;
	rp_queue q = RP_QUEUE_INIT;
	struct claim a = none;

	q.name = "q";
	q.backoff_ms = 0;
	settings(db->conn, q);
	put(db->conn, "q", "x");
	take_one(db->conn, "q", 60000, &a);
	ok(db->conn, rp_fail(db->conn, a.id, a.no, "e"));
	assert_int_equal(rp_complete(db->conn, a.id, a.no), RP_EGONE);
	assert_int_equal(rp_complete(db->conn, a.id, a.no + 1), RP_EGONE);
	ok(db->conn, rp_sweep(db->conn, NULL));
	assert_int_equal(take_one(db->conn, "q", 60000, &a), 1);
	ok(db->conn, rp_release(db->conn, a.id, a.no, 0));
	assert_int_equal(rp_release(db->conn, a.id, a.no, 0), RP_EGONE);
	assert_int_equal(rp_complete(db->conn, a.id, a.no + 1), RP_EGONE);
	take_one(db->conn, "q", 60000, &a);
	ok(db->conn, rp_complete(db->conn, a.id, a.no));
	assert_int_equal(rp_complete(db->conn, a.id, a.no), RP_EGONE);
	assert_int_equal(rp_complete(db->conn, a.id + 9, 1), RP_ENOENT);
}

static void
P3_claim_numbers_only_grow_through_every_path(void **state)
{
	struct db *db = *state;
	rp_queue q = RP_QUEUE_INIT;
	struct claim a = none;
	int64_t last = 0;

	q.name = "q";
	q.backoff_ms = 0;
	q.max_attempts = 100;
	settings(db->conn, q);
	put(db->conn, "q", "x");
	for (int round = 0; round < 60; round++) {
		ok(db->conn, rp_sweep(db->conn, NULL));
		assert_int_equal(
			take_one(db->conn, "q", round % 5 == 4 ? 1 : 60000, &a),
			1);
		assert_true(a.no > last);
		last = a.no;
		if (round % 5 == 0)
			ok(db->conn, rp_fail(db->conn, a.id, a.no, "e"));
		else if (round % 5 == 1)
			ok(db->conn, rp_release(db->conn, a.id, a.no, 0));
		else if (round % 5 == 2)
			ok(db->conn, rp_job_cancel(db->conn, a.id, NULL));
		else if (round % 5 == 4)
			sleep_ms(3);
		else {
			rp_verdict v = RP_VERDICT_INIT;

			v.id = a.id;
			v.claim_no = a.no;
			v.verdict = RP_DEAD;
			assert_int_equal(
				ok(db->conn, rp_settle(db->conn, &v, 1)), 1);
			assert_int_equal(v.state, RP_STATE_DEAD);
		}
		if (round % 5 == 2 || round % 5 == 3)
			ok(db->conn, rp_job_retry(db->conn, a.id, NULL));
	}
}

static void
P3_ids_are_never_used_again(void **state)
{
	struct db *db = *state;
	struct claim a = none;
	int64_t last = 0;

	for (int round = 0; round < 10; round++) {
		int64_t id = put(db->conn, "q", "x");

		assert_true(id > last);
		last = id;
		if (round % 2) {
			ok(db->conn, rp_queue_purge(db->conn, "q", 0, NULL));
		} else {
			take_one(db->conn, "q", 60000, &a);
			ok(db->conn, rp_complete(db->conn, a.id, a.no));
		}
		assert_int_equal(state_of(db->conn, id), 0);
	}
}

/* ---- P4 ---- */

static void
P4_running_jobs_hold_up_nobody(void **state)
{
	struct db *db = *state;
	rp_conn *other = connect_to(db);
	struct claim a = none, b = none;

	put(db->conn, "q", "a");
	put(db->conn, "q", "b");
	take_one(db->conn, "q", 60000, &a);
	assert_int_equal(take_one(other, "q", 60000, &b), 1);
	put(other, "q", "c");
	assert_true(a.id != b.id);
	rp_close(other);
}

/* ---- P5 ---- */

static void
expect_order(rp_conn *conn, const char *expected)
{
	char got[64] = "";
	rp_batch *batch = take(conn, "q", 60, 60000);

	for (size_t i = 0; i < rp_batch_count(batch); i++)
		strncat(got, rp_batch_at(batch, i)->payload, 1);
	rp_batch_free(batch);
	assert_string_equal(got, expected);
}

static void
put_at(rp_conn *conn, const char *payload, int priority, int64_t delay_ms)
{
	rp_job_spec job = job_of(payload);

	job.priority = priority;
	job.delay_ms = delay_ms;
	ok(conn, rp_enqueue(conn, "q", &job, NULL));
}

static void
P5_lower_priority_first_then_first_in_line(void **state)
{
	struct db *db = *state;

	put_at(db->conn, "d", 255, 0);
	put_at(db->conn, "b", 100, 0);
	put_at(db->conn, "a", 0, 0);
	put_at(db->conn, "c", -1, 0);
	expect_order(db->conn, "abcd");
}

static void
P5_a_job_that_became_due_goes_to_the_end_of_its_lane(void **state)
{
	struct db *db = *state;

	put_at(db->conn, "b", -1, 1);
	put_at(db->conn, "a", -1, 0);
	sleep_ms(3);
	assert_int_equal(ok(db->conn, rp_sweep(db->conn, NULL)), 1);
	put_at(db->conn, "c", -1, 0);
	expect_order(db->conn, "abc");
}

static void
P5_a_released_job_is_at_the_front(void **state)
{
	struct db *db = *state;
	struct claim a = none;

	put(db->conn, "q", "a");
	put(db->conn, "q", "b");
	take_one(db->conn, "q", 60000, &a);
	ok(db->conn, rp_release(db->conn, a.id, a.no, 0));
	expect_order(db->conn, "ab");
}

static void
P5_queues_are_preferred_in_the_order_listed(void **state)
{
	struct db *db = *state;
	const char *const queues[] = { "second", "first", NULL };
	rp_claim_options o = RP_CLAIM_INIT;
	rp_batch *batch;

	put(db->conn, "first", "b");
	put(db->conn, "second", "a");
	o.queues = queues;
	assert_int_equal(ok(db->conn, rp_claim(db->conn, NULL, 5, &o, &batch)),
			 2);
	assert_string_equal(rp_batch_at(batch, 0)->queue, "second");
	assert_string_equal(rp_batch_at(batch, 1)->queue, "first");
	rp_batch_free(batch);
}

/* ---- P6 ---- */

static void
P6_a_job_that_never_comes_back_ends_as_dead(void **state)
{
	struct db *db = *state;
	struct claim a = none;
	int64_t id = put(db->conn, "q", "x");
	rp_batch *batch;

	for (int attempt = 1; attempt <= 3; attempt++) {
		assert_int_equal(take_one(db->conn, "q", 1, &a), 1);
		assert_int_equal(a.attempt, attempt);
		sleep_ms(3);
		ok(db->conn, rp_sweep(db->conn, NULL));
	}
	assert_int_equal(take_one(db->conn, "q", 1, &a), 0);
	ok(db->conn, rp_job_get(db->conn, id, &batch));
	assert_int_equal(rp_batch_at(batch, 0)->state, RP_STATE_DEAD);
	assert_string_equal(rp_batch_at(batch, 0)->last_error,
			    "lease ran out, attempt 3 of 3");
	rp_batch_free(batch);
}

static void
P6_a_suspect_is_claimed_alone_and_first(void **state)
{
	struct db *db = *state;
	rp_claim_options o = RP_CLAIM_INIT;
	struct claim a = none;
	rp_batch *batch;

	put(db->conn, "q", "a");
	for (int i = 0; i < 2; i++) {
		take_one(db->conn, "q", 1, &a);
		sleep_ms(3);
		ok(db->conn, rp_sweep(db->conn, NULL));
	}
	put(db->conn, "q", "b");
	put(db->conn, "q", "c");

	o.holding = 1;
	ok(db->conn, rp_claim(db->conn, "q", 1, &o, &batch));
	assert_string_equal(rp_batch_at(batch, 0)->payload, "b");
	assert_int_equal(rp_batch_suspects(batch), 1);
	rp_batch_free(batch);

	batch = take(db->conn, "q", 10, 60000);
	assert_int_equal(rp_batch_count(batch), 1);
	assert_int_equal(rp_batch_at(batch, 0)->id, a.id);
	assert_true(rp_batch_at(batch, 0)->suspect);
	rp_batch_free(batch);
	expect_order(db->conn, "c");
}

static void
P6_one_killer_does_not_use_up_the_attempts_of_others(void **state)
{
	struct db *db = *state;
	struct claim a = none;

	for (int i = 0; i < 20; i++)
		put(db->conn, "q", i ? "good" : "killer");
	/* The first worker claims all jobs and dies. Each of the following
	 * workers completes its jobs one by one until it dies at the job
	 * "killer". */
	rp_batch_free(take(db->conn, "q", 20, 1));
	for (int round = 0; round < 100; round++) {
		rp_batch *batch;

		sleep_ms(2);
		ok(db->conn, rp_sweep(db->conn, NULL));
		batch = take(db->conn, "q", 20, 1);
		for (size_t i = 0; i < rp_batch_count(batch); i++) {
			const rp_job *job = rp_batch_at(batch, i);

			if (strcmp(job->payload, "killer") == 0)
				break;
			ok(db->conn,
			   rp_complete(db->conn, job->id, job->claim_no));
		}
		rp_batch_free(batch);
	}
	assert_int_equal(stats_of(db->conn, "q").dead, 1);
	assert_int_equal(stats_of(db->conn, "q").ready, 0);
	assert_int_equal(take_one(db->conn, "q", 1, &a), 0);
}

static void
P6_jobs_with_one_attempt_are_never_fetched_ahead(void **state)
{
	struct db *db = *state;
	rp_claim_options o = RP_CLAIM_INIT;
	rp_job_spec once = job_of("once");
	rp_batch *batch;

	once.max_attempts = 1;
	put(db->conn, "q", "a");
	put(db->conn, "q", "b");
	ok(db->conn, rp_enqueue(db->conn, "q", &once, NULL));
	put(db->conn, "q", "c");
	o.ahead = 3;
	assert_int_equal(ok(db->conn, rp_claim(db->conn, "q", 4, &o, &batch)),
			 2);
	rp_batch_free(batch);
	o.ahead = 0;
	assert_int_equal(ok(db->conn, rp_claim(db->conn, "q", 4, &o, &batch)),
			 2);
	rp_batch_free(batch);
}

/* ---- P7 ---- */

static void
P7_a_transaction_commits_or_vanishes_as_one(void **state)
{
	struct db *db = *state;
	struct claim a = none;

	put(db->conn, "in", "x");
	take_one(db->conn, "in", 60000, &a);
	ok(db->conn, rp_begin(db->conn));
	put(db->conn, "out", "y");
	ok(db->conn, rp_complete(db->conn, a.id, a.no));
	ok(db->conn, rp_rollback(db->conn));
	assert_int_equal(state_of(db->conn, a.id), RP_STATE_RUNNING);
	ok(db->conn, rp_begin(db->conn));
	put(db->conn, "out", "y");
	ok(db->conn, rp_complete(db->conn, a.id, a.no));
	ok(db->conn, rp_commit(db->conn));
	assert_int_equal(state_of(db->conn, a.id), 0);
	assert_int_equal(stats_of(db->conn, "out").ready, 1);
}

static void
P7_a_call_that_fails_in_a_transaction_changes_nothing(void **state)
{
	struct db *db = *state;
	rp_job_spec jobs[2] = { job_of("ok"), job_of("bad") };
	rp_queue q = RP_QUEUE_INIT;

	q.name = "q";
	q.max_payload = 2;
	settings(db->conn, q);
	ok(db->conn, rp_begin(db->conn));
	put(db->conn, "q", "a");
	assert_int_equal(rp_enqueue_many(db->conn, "q", jobs, 2, NULL),
			 RP_EFBIG);
	put(db->conn, "q", "b");
	ok(db->conn, rp_commit(db->conn));
	expect_order(db->conn, "ab");
}

/* ---- P9 ---- */

static void
P9_times_are_the_databases(void **state)
{
	struct db *db = *state;
	int64_t before, after, id;
	rp_batch *batch;

	ok(db->conn, rp_now(db->conn, &before));
	id = put(db->conn, "q", "x");
	batch = take(db->conn, "q", 1, 5000);
	ok(db->conn, rp_now(db->conn, &after));
	assert_int_equal(rp_batch_at(batch, 0)->id, id);
	assert_in_range(rp_batch_at(batch, 0)->created_at, before, after);
	assert_in_range(rp_batch_at(batch, 0)->claimed_at, before, after);
	assert_in_range(rp_batch_at(batch, 0)->claim_no, before * 1000,
			after * 1000 + 999);
	assert_int_equal(rp_batch_at(batch, 0)->lease_until,
			 rp_batch_at(batch, 0)->claimed_at + 5000);
	rp_batch_free(batch);
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		CASE(P2_a_claimed_job_is_not_handed_out_again),
		CASE(P2_a_sweep_does_not_end_a_lease_that_still_runs),
		CASE(P3_every_late_verdict_is_refused_and_changes_nothing),
		CASE(P3_a_lease_that_is_over_but_not_taken_over_is_still_good),
		CASE(P3_a_claim_has_one_verdict),
		CASE(P3_claim_numbers_only_grow_through_every_path),
		CASE(P3_ids_are_never_used_again),
		CASE(P4_running_jobs_hold_up_nobody),
		CASE(P5_lower_priority_first_then_first_in_line),
		CASE(P5_a_job_that_became_due_goes_to_the_end_of_its_lane),
		CASE(P5_a_released_job_is_at_the_front),
		CASE(P5_queues_are_preferred_in_the_order_listed),
		CASE(P6_a_job_that_never_comes_back_ends_as_dead),
		CASE(P6_a_suspect_is_claimed_alone_and_first),
		CASE(P6_one_killer_does_not_use_up_the_attempts_of_others),
		CASE(P6_jobs_with_one_attempt_are_never_fetched_ahead),
		CASE(P7_a_transaction_commits_or_vanishes_as_one),
		CASE(P7_a_call_that_fails_in_a_transaction_changes_nothing),
		CASE(P9_times_are_the_databases),
	};

	databases_at(argc, argv);
	return cmocka_run_group_tests_name("promises", tests, NULL, NULL);
}
