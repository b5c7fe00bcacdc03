/*
 * change.c - test rp_job_change(), which changes a scheduled or ready job in
 * place.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "check.h"

static rp_change
to_priority(int priority)
{
	rp_change change = RP_CHANGE_INIT;

	change.priority = priority;
	return change;
}

static rp_change
to_queue(const char *queue)
{
	rp_change change = RP_CHANGE_INIT;

	change.queue = queue;
	return change;
}

static rp_change
to_delay(int64_t ms)
{
	rp_change change = RP_CHANGE_INIT;

	change.delay_ms = ms;
	return change;
}

static int
change(struct db *db, int64_t id, rp_change change)
{
	return rp_job_change(db->conn, id, &change);
}

/* Claim the next job of the queue. Returns its id, or 0 if no job is ready. */
static int64_t
next(struct db *db, const char *queue)
{
	struct claim c = { 0 };

	return take_one(db->conn, queue, 60000, &c) ? c.id : 0;
}

static void
a_new_priority_moves_a_ready_job_to_that_line(void **state)
{
	struct db *db = *state;
	int64_t a = put(db->conn, "q", "a"), b = put(db->conn, "q", "b"),
		c = put(db->conn, "q", "c");

	ok(db->conn, change(db, c, to_priority(5)));
	assert_int_equal(next(db, "q"), c);
	ok(db->conn, change(db, a, to_priority(200)));
	assert_int_equal(next(db, "q"), b);
	assert_int_equal(next(db, "q"), a);
}

static void
the_same_priority_leaves_a_job_in_its_place(void **state)
{
	struct db *db = *state;
	int64_t a = put(db->conn, "q", "a");
	rp_change same = to_priority(100);

	put(db->conn, "q", "b");
	same.max_attempts = 9;
	ok(db->conn, change(db, a, same));
	assert_int_equal(next(db, "q"), a);
}

static void
a_delay_takes_a_job_out_of_the_line_and_puts_it_back(void **state)
{
	struct db *db = *state;
	int64_t a = put(db->conn, "q", "a"), b = put(db->conn, "q", "b");

	ok(db->conn, change(db, a, to_delay(3600000)));
	assert_int_equal(state_of(db->conn, a), RP_STATE_SCHEDULED);
	assert_int_equal(next(db, "q"), b);
	assert_int_equal(next(db, "q"), 0);
	ok(db->conn, change(db, a, to_delay(0)));
	assert_int_equal(state_of(db->conn, a), RP_STATE_READY);
	assert_int_equal(next(db, "q"), a);
}

static void
a_time_is_kept_to_the_millisecond(void **state)
{
	struct db *db = *state;
	int64_t a = put(db->conn, "q", "a");
	rp_change at = RP_CHANGE_INIT;
	rp_batch *batch;

	at.run_at = 4102444800123;
	ok(db->conn, change(db, a, at));
	ok(db->conn, rp_job_get(db->conn, a, &batch));
	assert_int_equal(rp_batch_at(batch, 0)->run_at, at.run_at);
	rp_batch_free(batch);
	at.run_at = 1;
	ok(db->conn, change(db, a, at));
	assert_int_equal(next(db, "q"), a);
}

static void
a_job_moves_to_the_end_of_another_queue(void **state)
{
	struct db *db = *state;
	int64_t a = put(db->conn, "q", "a"), b = put(db->conn, "r", "b");

	ok(db->conn, change(db, a, to_queue("r")));
	assert_int_equal(next(db, "q"), 0);
	assert_int_equal(next(db, "r"), b);
	assert_int_equal(next(db, "r"), a);
}

static void
a_scheduled_job_keeps_its_time_when_it_moves(void **state)
{
	struct db *db = *state;
	int64_t a = put(db->conn, "q", "a");

	put(db->conn, "r", "b");
	ok(db->conn, change(db, a, to_delay(3600000)));
	ok(db->conn, change(db, a, to_queue("r")));
	assert_int_equal(state_of(db->conn, a), RP_STATE_SCHEDULED);
	assert_int_equal(stats_of(db->conn, "r").scheduled, 1);
	assert_int_equal(stats_of(db->conn, "q").scheduled, 0);
}

static void
a_change_to_a_taken_key_a_small_queue_or_no_queue_is_refused(void **state)
{
	struct db *db = *state;
	rp_job_spec job = job_of("hello");
	rp_queue small = RP_QUEUE_INIT;
	rp_added a, b;

	job.unique_key = "k";
	ok(db->conn, rp_enqueue(db->conn, "q", &job, &a));
	ok(db->conn, rp_enqueue(db->conn, "r", &job, &b));
	assert_int_equal(change(db, a.id, to_queue("r")), RP_ETAKEN);
	ok(db->conn, rp_job_cancel(db->conn, b.id, NULL));
	small.name = "r";
	small.max_payload = 4;
	ok(db->conn, rp_queue_set(db->conn, &small));
	assert_int_equal(change(db, a.id, to_queue("r")), RP_EFBIG);
	assert_int_equal(change(db, a.id, to_queue("none")), RP_ENOENT);
	assert_non_null(strstr(rp_last_error(db->conn)->message, "none"));
	assert_int_equal(next(db, "q"), a.id);
}

static void
running_and_finished_jobs_are_refused(void **state)
{
	struct db *db = *state;
	struct claim c;
	int64_t a = put(db->conn, "q", "a");

	take_one(db->conn, "q", 60000, &c);
	assert_int_equal(change(db, a, to_priority(1)), RP_EGONE);
	assert_string_equal(rp_last_error(db->conn)->message,
			    "job 1 is running");
	ok(db->conn, rp_job_cancel(db->conn, a, NULL));
	assert_int_equal(change(db, a, to_priority(1)), RP_EGONE);
	assert_int_equal(change(db, 999, to_priority(1)), RP_ENOENT);
}

static void
bad_values_are_refused_before_anything_is_done(void **state)
{
	struct db *db = *state;
	int64_t a = put(db->conn, "q", "a");
	rp_change both = to_delay(1), kind = to_priority(1), none = to_delay(0);

	both.run_at = 1;
	kind.kind = "other";
	none.max_attempts = 0;
	assert_int_equal(change(db, a, to_priority(-1)), RP_EINVAL);
	assert_int_equal(change(db, a, to_priority(256)), RP_EINVAL);
	assert_int_equal(change(db, a, to_delay(INT64_MAX)), RP_EINVAL);
	assert_int_equal(change(db, a, to_queue("")), RP_EINVAL);
	assert_int_equal(change(db, a, both), RP_EINVAL);
	assert_int_equal(change(db, a, none), RP_EINVAL);
	assert_int_equal(change(db, a, kind), RP_ENOENT);
	assert_int_equal(rp_job_change(db->conn, a, NULL), RP_EINVAL);
}

static void
a_holder_whose_lease_ran_out_may_still_complete_a_changed_job(void **state)
{
	struct db *db = *state;
	struct claim c;

	put(db->conn, "q", "a");
	take_one(db->conn, "q", 1, &c);
	sleep_ms(3);
	ok(db->conn, rp_sweep(db->conn, NULL));
	ok(db->conn, change(db, c.id, to_priority(7)));
	ok(db->conn, rp_complete(db->conn, c.id, c.no));
}

static void
a_change_is_undone_with_its_transaction(void **state)
{
	struct db *db = *state;
	int64_t a = put(db->conn, "q", "a"), b = put(db->conn, "q", "b");

	ok(db->conn, rp_begin(db->conn));
	ok(db->conn, change(db, b, to_priority(1)));
	ok(db->conn, rp_rollback(db->conn));
	assert_int_equal(next(db, "q"), a);
}

/* A transaction changes a job's priority and commits late. Before the commit,
 * other jobs of the new priority are claimed. So claims start past the position
 * that the job gets. */
static void
a_job_that_was_changed_late_is_found(void **state)
{
	struct db *db = *state;
	rp_conn *other = *db->path ? NULL : connect_to(db);
	int64_t a = put(db->conn, "q", "a"), found = 0;

	if (!other)
		return;
	ok(db->conn, rp_begin(db->conn));
	ok(db->conn, change(db, a, to_priority(9)));
	for (int i = 0; i < 20; i++) {
		rp_job_spec job = job_of("x");
		struct claim c;

		job.priority = 9;
		ok(other, rp_enqueue(other, "q", &job, NULL));
		assert_int_equal(take_one(other, "q", 60000, &c), 1);
		ok(other, rp_complete(other, c.id, c.no));
	}
	ok(other, rp_sweep(other, NULL));
	ok(db->conn, rp_commit(db->conn));
	for (int i = 0; i < 50 && !found; i++) {
		ok(other, rp_sweep(other, NULL));
		found = next(db, "q");
		if (!found)
			sleep_ms(100);
	}
	assert_int_equal(found, a);
	rp_close(other);
}

/* Release a job. This puts the job at the front of the line. Change its
 * priority, and let it fail. The failure puts the job at the end of the line of
 * its new priority, a line that has had no job before. */
static void
a_job_that_was_changed_at_the_front_is_found_after_a_failure(void **state)
{
	struct db *db = *state;
	int64_t a = put(db->conn, "q", "a");

	settle_one(db->conn, claim_one(db->conn, 60000), RP_RELEASE, -1);
	ok(db->conn, change(db, a, to_priority(7)));
	settle_one(db->conn, claim_one(db->conn, 60000), RP_FAIL, 0);
	assert_int_equal(next(db, "q"), a);
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		CASE(a_new_priority_moves_a_ready_job_to_that_line),
		CASE(the_same_priority_leaves_a_job_in_its_place),
		CASE(a_delay_takes_a_job_out_of_the_line_and_puts_it_back),
		CASE(a_time_is_kept_to_the_millisecond),
		CASE(a_job_moves_to_the_end_of_another_queue),
		CASE(a_scheduled_job_keeps_its_time_when_it_moves),
		CASE(a_change_to_a_taken_key_a_small_queue_or_no_queue_is_refused),
		CASE(running_and_finished_jobs_are_refused),
		CASE(bad_values_are_refused_before_anything_is_done),
		CASE(a_holder_whose_lease_ran_out_may_still_complete_a_changed_job),
		CASE(a_change_is_undone_with_its_transaction),
		CASE(a_job_that_was_changed_late_is_found),
		CASE(a_job_that_was_changed_at_the_front_is_found_after_a_failure),
	};

	databases_at(argc, argv);
	return cmocka_run_group_tests_name("change", tests, NULL, NULL);
}
