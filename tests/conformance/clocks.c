/*
 * clocks.c - test what happens if the clock of the host stands still, or is set
 * back. SQLite only: other databases have a clock of their own.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "check.h"

#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define MINUTE 60000

/* ---- the clock ---- */

/* The library and SQLite call the two functions below instead of those of the
 * C library. shift_us is added to the time of day, and grows by step_us with
 * each call. While `stands` is not null, CLOCK_MONOTONIC has this value. */
static int64_t shift_us, step_us;
static const struct timespec *stands;

__attribute__((visibility("default"))) int
clock_gettime(clockid_t clock, struct timespec *t)
{
	int r = (int)syscall(SYS_clock_gettime, clock, t);

	if (clock == CLOCK_MONOTONIC && stands)
		*t = *stands;
	if (clock == CLOCK_REALTIME) {
		int64_t us = t->tv_sec * INT64_C(1000000) + t->tv_nsec / 1000 +
			     (shift_us += step_us);

		t->tv_sec = us / 1000000;
		t->tv_nsec = us % 1000000 * 1000;
	}
	return r;
}

__attribute__((visibility("default"))) int
gettimeofday(struct timeval *restrict t, void *restrict zone)
{
	struct timespec now;
	int r = clock_gettime(CLOCK_REALTIME, &now);

	(void)zone;
	t->tv_sec = now.tv_sec;
	t->tv_usec = now.tv_nsec / 1000;
	return r;
}

static int
teardown(void **state)
{
	shift_us = step_us = 0;
	stands = NULL;
	return teardown_db(state);
}

/* ---- the tests ---- */

/* The clock stands still, so only the number of its rows ends a slice. */
static void
P13_a_slice_of_as_many_jobs_as_possible_forgets_none(void **state)
{
	enum { JOBS = 2500 };
	static rp_job_spec jobs[JOBS];
	rp_conn *conn = ((struct db *)*state)->conn;
	struct timespec now;

	limit_groups(conn, 1);
	for (int i = 0; i < JOBS; i++) {
		jobs[i] = job_of("x");
		jobs[i].group_key = "a";
	}
	ok(conn, rp_enqueue_many(conn, "q", jobs, JOBS, NULL));
	put_in_group(conn, "b", "x");
	put_in_group(conn, "b", "x");
	limit_groups(conn, 0);
	clock_gettime(CLOCK_MONOTONIC, &now);
	stands = &now;
	ok(conn, rp_sweep(conn, NULL));
	assert_int_equal(stats_of(conn, "q").ready, JOBS + 2);
}

/* Claim all jobs that may start. Returns how many. */
static size_t
claims(rp_conn *conn)
{
	rp_batch *batch = take(conn, "q", 100, MINUTE);
	size_t n = rp_batch_count(batch);

	rp_batch_free(batch);
	return n;
}

/* The claim numbers of the jobs are times in the future. */
static void
P12_a_rate_counts_starts_after_the_clock_was_set_back(void **state)
{
	rp_conn *conn = ((struct db *)*state)->conn;
	rp_queue q = RP_QUEUE_INIT;
	rp_batch *batch;

	for (int i = 0; i < 6; i++)
		put(conn, "q", "x");
	shift_us = INT64_C(3600000000);
	batch = take(conn, "q", 6, MINUTE);
	for (size_t i = 0; i < 6; i++) {
		const rp_job *job = rp_batch_at(batch, i);

		ok(conn, rp_release(conn, job->id, job->claim_no, 0));
	}
	rp_batch_free(batch);
	shift_us = 0;
	q.name = "q";
	q.rate_count = 2;
	q.rate_ms = MINUTE;
	settings(conn, q);
	assert_int_equal(claims(conn), 2);
	assert_int_equal(claims(conn), 0);
}

static void
P11_a_group_keeps_its_order_after_the_clock_was_set_back(void **state)
{
	rp_conn *conn = ((struct db *)*state)->conn;
	int64_t ids[2];

	limit_groups(conn, 1);
	shift_us = INT64_C(10000000);
	ids[0] = put_in_group(conn, "g", "x");
	shift_us = 0;
	ids[1] = put_in_group(conn, "g", "x");
	ok(conn, rp_queue_hold(conn, "q", "g", MINUTE));
	expect_states(conn, ids, "bb");
	ok(conn, rp_queue_hold(conn, "q", "g", 0));
	assert_int_equal(claim_one(conn, MINUTE).id, ids[0]);
}

/* The clock goes on between two readings of one call. */
static void
claim_numbers_of_a_connection_grow(void **state)
{
	rp_conn *conn = ((struct db *)*state)->conn;
	int64_t last = 0;

	for (int i = 0; i < 50; i++)
		put(conn, "q", "x");
	step_us = 100;
	ok(conn, rp_begin(conn));
	for (int i = 0; i < 50; i++) {
		struct claim c = claim_one(conn, MINUTE);

		assert_true(c.no > last);
		last = c.no;
	}
	ok(conn, rp_commit(conn));
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			P13_a_slice_of_as_many_jobs_as_possible_forgets_none,
			setup_db, teardown),
		cmocka_unit_test_setup_teardown(
			P12_a_rate_counts_starts_after_the_clock_was_set_back,
			setup_db, teardown),
		cmocka_unit_test_setup_teardown(
			P11_a_group_keeps_its_order_after_the_clock_was_set_back,
			setup_db, teardown),
		cmocka_unit_test_setup_teardown(
			claim_numbers_of_a_connection_grow, setup_db, teardown),
	};

	databases_at(argc, argv);
	return cmocka_run_group_tests_name("clocks", tests, NULL, NULL);
}
