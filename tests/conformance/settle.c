/*
 * settle.c - test verdicts: their effect on the job, and which of them are
 * refused.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "check.h"

static struct claim
claimed(rp_conn *conn, const char *payload)
{
	struct claim c = { 0, 0, 0 };

	put(conn, "q", payload);
	assert_int_equal(take_one(conn, "q", 60000, &c), 1);
	return c;
}

/* Settle one verdict. Returns the job's new state. */
static int
settled(rp_conn *conn, rp_verdict v)
{
	assert_int_equal(ok(conn, rp_settle(conn, &v, 1)), 1);
	assert_int_equal(v.result, 0);
	return v.state;
}

static void
no_backoff(rp_conn *conn, int64_t max_attempts)
{
	rp_queue q = RP_QUEUE_INIT;

	q.name = "q";
	q.backoff_ms = 0;
	q.max_attempts = max_attempts;
	settings(conn, q);
}

static void
a_failed_attempt_waits_or_is_ready_or_ends_as_dead(void **state)
{
	struct db *db = *state;
	struct claim c = claimed(db->conn, "x");
	rp_verdict v = verdict_on(c, RP_FAIL);
	int64_t now;
	rp_batch *batch;

	v.delay_ms = 0;
	assert_int_equal(settled(db->conn, v), RP_STATE_READY);
	assert_int_equal(take_one(db->conn, "q", 60000, &c), 1);
	assert_int_equal(c.attempt, 2);
	v = verdict_on(c, RP_FAIL);
	v.delay_ms = 3600000;
	ok(db->conn, rp_now(db->conn, &now));
	assert_int_equal(settled(db->conn, v), RP_STATE_SCHEDULED);
	batch = get(db->conn, c.id);
	assert_in_range(rp_batch_at(batch, 0)->run_at, now + 3600000,
			now + 3605000);
	assert_int_equal(rp_batch_at(batch, 0)->lease_until, 0);
	rp_batch_free(batch);
	assert_int_equal(take_one(db->conn, "q", 60000, &c), 0);
}

static void
the_last_attempt_that_fails_is_the_jobs_death(void **state)
{
	struct db *db = *state;
	struct claim c;
	rp_batch *batch;

	no_backoff(db->conn, 2);
	c = claimed(db->conn, "x");
	ok(db->conn, rp_fail(db->conn, c.id, c.no, "first"));
	ok(db->conn, rp_sweep(db->conn, NULL));
	assert_int_equal(take_one(db->conn, "q", 60000, &c), 1);
	assert_int_equal(settled(db->conn, verdict_on(c, RP_FAIL)),
			 RP_STATE_DEAD);
	batch = get(db->conn, c.id);
	assert_int_equal(rp_batch_at(batch, 0)->attempt, 2);
	assert_true(rp_batch_at(batch, 0)->finished_at > 0);
	assert_string_equal(rp_batch_at(batch, 0)->last_error, "failed");
	rp_batch_free(batch);
}

static void
failed_for_good_is_dead_at_the_first_attempt(void **state)
{
	struct db *db = *state;
	struct claim c = claimed(db->conn, "x");

	assert_int_equal(settled(db->conn, verdict_on(c, RP_DEAD)),
			 RP_STATE_DEAD);
	ok(db->conn, rp_job_retry(db->conn, c.id, NULL));
	assert_int_equal(take_one(db->conn, "q", 60000, &c), 1);
	assert_int_equal(c.attempt, 1);
}

static void
a_release_does_not_count_the_attempt(void **state)
{
	struct db *db = *state;
	struct claim c = claimed(db->conn, "x");
	rp_verdict v;

	for (int i = 0; i < 5; i++) {
		assert_int_equal(settled(db->conn, verdict_on(c, RP_RELEASE)),
				 RP_STATE_READY);
		assert_int_equal(take_one(db->conn, "q", 60000, &c), 1);
		assert_int_equal(c.attempt, 1);
	}
	v = verdict_on(c, RP_RELEASE);
	v.delay_ms = 3600000;
	assert_int_equal(settled(db->conn, v), RP_STATE_SCHEDULED);
	assert_int_equal(take_one(db->conn, "q", 60000, &c), 0);
}

static void
an_extended_lease_runs_from_now(void **state)
{
	struct db *db = *state;
	struct claim c = claimed(db->conn, "x");
	rp_verdict v = verdict_on(c, RP_EXTEND);
	rp_batch *batch;
	int64_t now;

	v.delay_ms = 5000;
	ok(db->conn, rp_now(db->conn, &now));
	assert_int_equal(settled(db->conn, v), RP_STATE_RUNNING);
	batch = get(db->conn, c.id);
	assert_in_range(rp_batch_at(batch, 0)->lease_until, now + 5000,
			now + 9000);
	assert_int_equal(rp_batch_at(batch, 0)->claim_no, c.no);
	rp_batch_free(batch);
	v.delay_ms = -1; /* -1 means the queue's lease, which is 60 s */
	settled(db->conn, v);
	batch = get(db->conn, c.id);
	assert_in_range(rp_batch_at(batch, 0)->lease_until, now + 60000,
			now + 64000);
	rp_batch_free(batch);
	ok(db->conn, rp_complete(db->conn, c.id, c.no));
}

static void
any_connection_may_settle_also_while_the_queue_is_paused(void **state)
{
	struct db *db = *state;
	struct claim c = claimed(db->conn, "x");
	rp_conn *other = connect_to(db);

	ok(db->conn, rp_queue_pause(db->conn, "q", NULL));
	ok(other, rp_extend(other, c.id, c.no, 1000));
	ok(other, rp_complete(other, c.id, c.no));
	assert_int_equal(state_of(db->conn, c.id), 0);
	rp_close(other);
}

static void
P3_a_claim_number_that_was_never_given_settles_nothing(void **state)
{
	struct db *db = *state;
	int64_t id = put(db->conn, "q", "x");
	struct claim c;

	for (int64_t no = 1; no < 4; no++)
		assert_int_equal(rp_complete(db->conn, id, no), RP_EGONE);
	assert_int_equal(state_of(db->conn, id), RP_STATE_READY);
	take_one(db->conn, "q", 60000, &c);
	assert_int_equal(rp_complete(db->conn, id, c.no + 1), RP_EGONE);
	assert_int_equal(rp_complete(db->conn, id, c.no - 1), RP_EGONE);
	assert_int_equal(state_of(db->conn, id), RP_STATE_RUNNING);
	ok(db->conn, rp_complete(db->conn, id, c.no));
	assert_int_equal(rp_complete(db->conn, id, c.no), RP_EGONE);
	assert_int_equal(rp_complete(db->conn, id + 1, c.no), RP_ENOENT);
}

/* Expect that the job has a new claim number, and that a verdict with the old
 * number is refused. A verdict with the new number is refused, too, because no
 * claim has this number. */
static void
expect_moved_on(rp_conn *conn, struct claim c)
{
	rp_batch *batch = get(conn, c.id);
	int64_t no = rp_batch_at(batch, 0)->claim_no;

	rp_batch_free(batch);
	assert_true(no > c.no);
	assert_int_equal(rp_complete(conn, c.id, no), RP_EGONE);
	assert_int_equal(rp_complete(conn, c.id, c.no), RP_EGONE);
	assert_int_equal(state_of(conn, c.id), RP_STATE_READY);
}

static void
P3_each_end_of_a_claim_that_is_not_the_jobs_increases_the_number(void **state)
{
	struct db *db = *state;
	struct claim c = claimed(db->conn, "x");
	rp_verdict v = verdict_on(c, RP_FAIL);

	v.delay_ms = 0;
	settled(db->conn, v);
	expect_moved_on(db->conn, c);
	take_one(db->conn, "q", 60000, &c);
	settled(db->conn, verdict_on(c, RP_RELEASE));
	expect_moved_on(db->conn, c);
	take_one(db->conn, "q", 60000, &c);
	settled(db->conn, verdict_on(c, RP_DEAD));
	ok(db->conn, rp_job_retry(db->conn, c.id, NULL));
	expect_moved_on(db->conn, c);
	take_one(db->conn, "q", 60000, &c);
	ok(db->conn, rp_job_cancel(db->conn, c.id, NULL));
	ok(db->conn, rp_job_retry(db->conn, c.id, NULL));
	expect_moved_on(db->conn, c);
}

static void
P3_of_two_verdicts_on_one_claim_in_a_batch_one_is_accepted(void **state)
{
	struct db *db = *state;
	struct claim c = claimed(db->conn, "x");

	for (int verdict = RP_DONE; verdict <= RP_RELEASE; verdict++) {
		rp_verdict v[2] = { verdict_on(c, verdict),
				    verdict_on(c, verdict) };

		v[0].delay_ms = v[1].delay_ms = 0;
		assert_int_equal(ok(db->conn, rp_settle(db->conn, v, 2)), 1);
		assert_true((v[0].result == 0) != (v[1].result == 0));
		assert_int_equal(v[0].result + v[1].result, RP_EGONE);
		if (verdict < RP_RELEASE)
			c = claimed(db->conn, "y");
		/* complete y, and then claim the failed job again */
		if (verdict == RP_FAIL)
			ok(db->conn, rp_complete(db->conn, c.id, c.no));
		if (verdict == RP_FAIL)
			assert_int_equal(take_one(db->conn, "q", 60000, &c), 1);
	}
}

static void
P3_a_refused_verdict_does_not_affect_the_others_of_its_batch(void **state)
{
	enum { N = 50 };
	struct db *db = *state;
	rp_verdict v[N];
	rp_batch *batch;
	int accepted = 0;

	for (int i = 0; i < N; i++)
		put(db->conn, "q", "x");
	batch = take(db->conn, "q", N, 60000);
	for (int i = 0; i < N; i++) {
		const rp_job *job = rp_batch_at(batch, (size_t)i);
		struct claim c = { job->id, job->claim_no - (i % 3 == 1), 1 };

		c.id += i % 7 == 6 ? 1000 : 0; /* no job has this id */
		v[i] = verdict_on(c, i % 5);
		v[i].delay_ms = 3600000;
		accepted += i % 3 != 1 && i % 7 != 6;
	}
	assert_int_equal(ok(db->conn, rp_settle(db->conn, v, N)), accepted);
	for (int i = 0; i < N; i++) {
		static const int states[] = { RP_STATE_DONE, RP_STATE_SCHEDULED,
					      RP_STATE_DEAD, RP_STATE_SCHEDULED,
					      RP_STATE_RUNNING };
		int64_t id = rp_batch_at(batch, (size_t)i)->id;
		int good = i % 3 != 1 && i % 7 != 6;

		assert_int_equal(v[i].result, i % 7 == 6   ? RP_ENOENT
					      : i % 3 == 1 ? RP_EGONE
							   : 0);
		if (good)
			assert_int_equal(v[i].state, states[i % 5]);
		assert_int_equal(state_of(db->conn, id),
				 !good        ? RP_STATE_RUNNING
				 : i % 5 == 0 ? 0
					      : states[i % 5]);
	}
	rp_batch_free(batch);
}

static void
an_invalid_verdict_refuses_its_whole_batch(void **state)
{
	struct db *db = *state;
	struct claim a = claimed(db->conn, "a"), b = claimed(db->conn, "b");
	rp_verdict v[2] = { verdict_on(a, RP_DONE), verdict_on(b, 9) };

	assert_int_equal(rp_settle(db->conn, v, 2), RP_EINVAL);
	v[1] = verdict_on(b, RP_EXTEND);
	v[1].delay_ms = 0;
	assert_int_equal(rp_settle(db->conn, v, 2), RP_EINVAL);
	v[1] = verdict_on(b, RP_FAIL);
	v[1].delay_ms = -2;
	assert_int_equal(rp_settle(db->conn, v, 2), RP_EINVAL);
	assert_int_equal(state_of(db->conn, a.id), RP_STATE_RUNNING);
	ok(db->conn, rp_complete(db->conn, a.id, a.no));
}

static void
of_two_verdicts_on_one_claim_the_first_counts(void **state)
{
	struct db *db = *state;
	rp_verdict v[4];
	struct claim a, b;

	put(db->conn, "q", "x");
	put(db->conn, "q", "y");
	a = claim_one(db->conn, 60000);
	b = claim_one(db->conn, 60000);
	v[0] = verdict_on(b, RP_DEAD);
	v[1] = verdict_on(a, RP_RELEASE);
	v[2] = verdict_on(b, RP_DONE);
	v[3] = verdict_on(a, RP_DONE);
	assert_int_equal(rp_settle(db->conn, v, 4), 2);
	assert_int_equal(v[0].result, 0);
	assert_int_equal(v[0].state, RP_STATE_DEAD);
	assert_int_equal(v[1].result, 0);
	assert_int_equal(v[1].state, RP_STATE_READY);
	assert_int_equal(v[2].result, RP_EGONE);
	assert_int_equal(v[3].result, RP_EGONE);
	assert_int_equal(stats_of(db->conn, "q").ready, 1);
	assert_int_equal(stats_of(db->conn, "q").dead, 1);
}

static void
errors_are_kept_up_to_4_kib_of_whole_characters(void **state)
{
	struct db *db = *state;
	struct claim c = claimed(db->conn, "x");
	char *error = malloc(10001);
	const char *kept;
	rp_batch *batch;

	/* The text is one byte and then characters of two bytes. So a cut after
	 * 4,096 bytes would split a character. */
	error[0] = 'a';
	for (int i = 1; i < 10000; i++)
		error[i] = (char)(i % 2 ? 0xc3 : 0xbc);
	error[10000] = '\0';
	ok(db->conn, rp_fail(db->conn, c.id, c.no, error));
	batch = get(db->conn, c.id);
	kept = rp_batch_at(batch, 0)->last_error;
	assert_int_equal(strlen(kept), 4095);
	assert_memory_equal(kept, error, 4095);
	rp_batch_free(batch);
	free(error);
}

/* A program that was compiled with a later header passes larger structs. The
 * field `size` is the size of each struct of the array. */
static void
structs_of_a_later_header_are_understood(void **state)
{
	struct db *db = *state;
	struct {
		rp_verdict now;
		int64_t later[3];
	} v[2];
	struct {
		rp_job_spec now;
		int64_t later[3];
	} jobs[2];

	memset(v, 0x55, sizeof(v));
	memset(jobs, 0x55, sizeof(jobs));
	for (int i = 0; i < 2; i++) {
		jobs[i].now = job_of(i ? "b" : "a");
		jobs[i].now.size = sizeof(jobs[0]);
	}
	ok(db->conn, rp_enqueue_many(db->conn, "q", &jobs[0].now, 2, NULL));
	for (int i = 0; i < 2; i++) {
		struct claim c;

		assert_int_equal(take_one(db->conn, "q", 60000, &c), 1);
		v[i].now = verdict_on(c, RP_DONE);
		v[i].now.size = sizeof(v[0]);
	}
	assert_int_equal(ok(db->conn, rp_settle(db->conn, &v[0].now, 2)), 2);
	assert_int_equal(v[1].now.state, RP_STATE_DONE);
}

static void
a_turn_without_a_claim_only_settles(void **state)
{
	struct db *db = *state;
	struct claim c = claimed(db->conn, "a");
	rp_verdict v = verdict_on(c, RP_DONE);
	rp_batch *batch;

	put(db->conn, "q", "b");
	assert_int_equal(ok(db->conn, rp_settle_and_claim(db->conn, &v, 1, NULL,
							  0, NULL, &batch)),
			 0);
	assert_int_equal(rp_batch_count(batch), 0);
	rp_batch_free(batch);
	assert_int_equal(v.result, 0);
	assert_int_equal(stats_of(db->conn, "q").ready, 1);
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		CASE(a_failed_attempt_waits_or_is_ready_or_ends_as_dead),
		CASE(the_last_attempt_that_fails_is_the_jobs_death),
		CASE(failed_for_good_is_dead_at_the_first_attempt),
		CASE(a_release_does_not_count_the_attempt),
		CASE(an_extended_lease_runs_from_now),
		CASE(any_connection_may_settle_also_while_the_queue_is_paused),
		CASE(P3_a_claim_number_that_was_never_given_settles_nothing),
		CASE(P3_each_end_of_a_claim_that_is_not_the_jobs_increases_the_number),
		CASE(P3_of_two_verdicts_on_one_claim_in_a_batch_one_is_accepted),
		CASE(P3_a_refused_verdict_does_not_affect_the_others_of_its_batch),
		CASE(an_invalid_verdict_refuses_its_whole_batch),
		CASE(of_two_verdicts_on_one_claim_the_first_counts),
		CASE(errors_are_kept_up_to_4_kib_of_whole_characters),
		CASE(structs_of_a_later_header_are_understood),
		CASE(a_turn_without_a_claim_only_settles),
	};

	databases_at(argc, argv);
	return cmocka_run_group_tests_name("settle", tests, NULL, NULL);
}
