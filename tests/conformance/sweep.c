/*
 * sweep.c - test jobs that become due, leases that run out, and kept jobs whose
 * retention ends.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "check.h"

static void
a_sweep_returns_what_it_has_done(void **state)
{
	struct db *db = *state;
	rp_queue q = RP_QUEUE_INIT;
	rp_job_spec later = job_of("l"), once = job_of("o");
	rp_swept swept = RP_SWEPT_INIT;
	struct claim c;

	q.name = "q";
	q.keep_dead_ms = 1;
	settings(db->conn, q);
	once.max_attempts = 1;
	later.delay_ms = 1;
	c.id = put(db->conn, "q", "cancelled");
	ok(db->conn, rp_job_cancel(db->conn, c.id, NULL));
	put(db->conn, "other", "recovered");
	ok(db->conn, rp_enqueue(db->conn, "other", &once, NULL));
	rp_batch_free(take(db->conn, "other", 2, 1));
	for (int i = 0; i < 3; i++)
		ok(db->conn, rp_enqueue(db->conn, "q", &later, NULL));
	sleep_ms(4);
	assert_int_equal(ok(db->conn, rp_sweep(db->conn, &swept)), 6);
	assert_int_equal(swept.due, 3);
	assert_int_equal(swept.recovered, 1);
	assert_int_equal(swept.dead, 1);
	assert_int_equal(swept.dropped, 1);
	assert_int_equal(ok(db->conn, rp_sweep(db->conn, &swept)), 0);
	assert_int_equal(swept.due + swept.recovered + swept.dead, 0);
}

/* The caller may have been compiled with an older header, in which the struct
 * is shorter. */
static void
a_sweep_writes_only_the_fields_that_the_struct_has(void **state)
{
	struct db *db = *state;
	rp_swept old = RP_SWEPT_INIT, none = { 0 };

	old.size = offsetof(rp_swept, expired);
	old.expired = old.fired = 7;
	ok(db->conn, rp_sweep(db->conn, &old));
	assert_int_equal(old.size, offsetof(rp_swept, expired));
	assert_int_equal(old.expired, 7);
	assert_int_equal(old.fired, 7);
	assert_int_equal(rp_sweep(db->conn, &none), RP_EINVAL);
}

static void
one_sweep_handles_any_number_of_jobs(void **state)
{
	enum { JOBS = 1700 };
	static rp_job_spec jobs[JOBS];
	struct db *db = *state;
	rp_swept swept = RP_SWEPT_INIT;

	for (int i = 0; i < JOBS; i++) {
		jobs[i] = job_of("x");
		jobs[i].delay_ms = 1;
	}
	ok(db->conn, rp_enqueue_many(db->conn, "q", jobs, JOBS, NULL));
	sleep_ms(3);
	ok(db->conn, rp_sweep(db->conn, &swept));
	assert_int_equal(swept.due, JOBS);
	rp_batch_free(take(db->conn, "q", JOBS, 1));
	sleep_ms(3);
	ok(db->conn, rp_sweep(db->conn, &swept));
	assert_int_equal(swept.recovered, JOBS);
}

static void
P5_due_jobs_come_into_line_in_the_order_of_their_times(void **state)
{
	static const char *const payloads[] = { "c", "a", "b" };
	static const int64_t after[] = { 3, 1, 2 };
	struct db *db = *state;
	char got[8] = "";
	rp_batch *batch;
	int64_t at;

	ok(db->conn, rp_now(db->conn, &at));
	at += 300; /* this time is later than all three enqueues */
	for (int i = 0; i < 3; i++) {
		rp_job_spec job = job_of(payloads[i]);

		job.run_at = at + after[i];
		ok(db->conn, rp_enqueue(db->conn, "q", &job, NULL));
	}
	assert_int_equal(stats_of(db->conn, "q").scheduled, 3);
	wait_until(db->conn, at + 3);
	assert_int_equal(ok(db->conn, rp_sweep(db->conn, NULL)), 3);
	batch = take(db->conn, "q", 3, 60000);
	for (size_t i = 0; i < rp_batch_count(batch); i++)
		strncat(got, rp_batch_at(batch, i)->payload, 1);
	rp_batch_free(batch);
	assert_string_equal(got, "abc");
}

static void
P2_a_lease_that_was_extended_outlives_its_first_end(void **state)
{
	struct db *db = *state;
	struct claim c;
	int64_t claimed;

	put(db->conn, "q", "x");
	take_one(db->conn, "q", 30, &c);
	ok(db->conn, rp_now(db->conn, &claimed));
	ok(db->conn, rp_extend(db->conn, c.id, c.no, 60000));
	wait_until(db->conn, claimed + 31);
	assert_int_equal(ok(db->conn, rp_sweep(db->conn, NULL)), 0);
	assert_int_equal(state_of(db->conn, c.id), RP_STATE_RUNNING);
}

static void
P6_a_lease_that_ran_out_is_recorded_as_a_failure(void **state)
{
	struct db *db = *state;
	int64_t id = put(db->conn, "q", "x");
	const rp_job *job;
	rp_batch *batch;

	rp_batch_free(take(db->conn, "q", 1, 1));
	sleep_ms(3);
	ok(db->conn, rp_sweep(db->conn, NULL));
	batch = get(db->conn, id);
	job = rp_batch_at(batch, 0);
	assert_int_equal(job->state, RP_STATE_READY);
	assert_int_equal(job->lease_until, 0);
	assert_string_equal(job->last_error, "lease ran out, attempt 1 of 3");
	assert_non_null(strstr(job->failures, "lease ran out, attempt 1 of 3"));
	rp_batch_free(batch);
}

static void
P6_a_paused_queues_leases_run_out_too(void **state)
{
	struct db *db = *state;
	struct claim c;

	put(db->conn, "q", "x");
	take_one(db->conn, "q", 1, &c);
	ok(db->conn, rp_queue_pause(db->conn, "q", NULL));
	sleep_ms(3);
	assert_int_equal(ok(db->conn, rp_sweep(db->conn, NULL)), 1);
	assert_int_equal(state_of(db->conn, c.id), RP_STATE_READY);
	assert_int_equal(take_one(db->conn, "q", 1, &c), 0);
}

static void
P3_a_late_verdict_on_the_last_attempt_finds_the_job_dead(void **state)
{
	struct db *db = *state;
	rp_job_spec once = job_of("x");
	struct claim c;

	once.max_attempts = 1;
	ok(db->conn, rp_enqueue(db->conn, "q", &once, NULL));
	take_one(db->conn, "q", 1, &c);
	sleep_ms(3);
	ok(db->conn, rp_sweep(db->conn, NULL));
	assert_int_equal(state_of(db->conn, c.id), RP_STATE_DEAD);
	assert_int_equal(rp_complete(db->conn, c.id, c.no), RP_EGONE);
	ok(db->conn, rp_job_retry(db->conn, c.id, NULL));
	assert_int_equal(rp_complete(db->conn, c.id, c.no), RP_EGONE);
	assert_int_equal(state_of(db->conn, c.id), RP_STATE_READY);
}

static void
done_jobs_are_kept_only_where_the_queue_says_so(void **state)
{
	struct db *db = *state;
	rp_queue q = RP_QUEUE_INIT;
	struct claim a, b;

	q.name = "keeps";
	q.keep_done_ms = 3600000;
	settings(db->conn, q);
	put(db->conn, "keeps", "x");
	put(db->conn, "q", "x");
	take_one(db->conn, "keeps", 60000, &a);
	take_one(db->conn, "q", 60000, &b);
	ok(db->conn, rp_complete(db->conn, a.id, a.no));
	ok(db->conn, rp_complete(db->conn, b.id, b.no));
	assert_int_equal(state_of(db->conn, a.id), RP_STATE_DONE);
	assert_int_equal(state_of(db->conn, b.id), 0);
	assert_int_equal(rp_job_retry(db->conn, a.id, NULL), RP_EGONE);
	assert_int_equal(rp_job_cancel(db->conn, a.id, NULL), RP_EGONE);
}

static void
dead_and_cancelled_jobs_are_kept_as_long_as_the_queue_says(void **state)
{
	struct db *db = *state;
	rp_queue q = RP_QUEUE_INIT;
	int64_t dead = put(db->conn, "q", "x"), cancelled;
	struct claim c;
	rp_verdict v;

	take_one(db->conn, "q", 60000, &c);
	v = verdict_on(c, RP_DEAD);
	ok(db->conn, rp_settle(db->conn, &v, 1));
	cancelled = put(db->conn, "q", "y");
	ok(db->conn, rp_job_cancel(db->conn, cancelled, NULL));
	sleep_ms(3);
	assert_int_equal(ok(db->conn, rp_sweep(db->conn, NULL)), 0);
	q.name = "q";
	q.keep_dead_ms = 1;
	settings(db->conn, q);
	assert_int_equal(ok(db->conn, rp_sweep(db->conn, NULL)), 2);
	assert_int_equal(state_of(db->conn, dead), 0);
	assert_int_equal(state_of(db->conn, cancelled), 0);
	assert_int_equal(rp_job_retry(db->conn, dead, NULL), RP_ENOENT);
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		CASE(a_sweep_returns_what_it_has_done),
		CASE(a_sweep_writes_only_the_fields_that_the_struct_has),
		CASE(one_sweep_handles_any_number_of_jobs),
		CASE(P5_due_jobs_come_into_line_in_the_order_of_their_times),
		CASE(P2_a_lease_that_was_extended_outlives_its_first_end),
		CASE(P6_a_lease_that_ran_out_is_recorded_as_a_failure),
		CASE(P6_a_paused_queues_leases_run_out_too),
		CASE(P3_a_late_verdict_on_the_last_attempt_finds_the_job_dead),
		CASE(done_jobs_are_kept_only_where_the_queue_says_so),
		CASE(dead_and_cancelled_jobs_are_kept_as_long_as_the_queue_says),
	};

	databases_at(argc, argv);
	return cmocka_run_group_tests_name("sweep", tests, NULL, NULL);
}
