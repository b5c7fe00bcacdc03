/*
 * rates.c - test a queue's rate: how many of its jobs may start within any
 * interval of rate_ms.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "check.h"

#include <pthread.h>
#include <stdatomic.h>

#define MINUTE 60000

static void
rate(rp_conn *conn, int64_t count, int64_t ms)
{
	rp_queue q = RP_QUEUE_INIT;

	q.name = "q";
	q.rate_count = count;
	q.rate_ms = ms;
	settings(conn, q);
}

static void
put_many(rp_conn *conn, int n)
{
	rp_job_spec *jobs = malloc((size_t)n * sizeof(*jobs));

	for (int i = 0; i < n; i++)
		jobs[i] = job_of("x");
	ok(conn, rp_enqueue_many(conn, "q", jobs, (size_t)n, NULL));
	free(jobs);
}

/* Claim up to n jobs. Returns how many the claim got. */
static size_t
claims(rp_conn *conn, size_t n)
{
	rp_batch *batch = take(conn, "q", n, MINUTE);

	n = rp_batch_count(batch);
	rp_batch_free(batch);
	return n;
}

/* ---- P12 ---- */

enum { CLIENTS = 4, MOST = 10000 };

/* The claim numbers of all claimed jobs. A claim number is the time of the
 * claim, and a job counts as started from then on. */
struct starts {
	const struct db *db;
	size_t at_once, enough;
	int64_t until, end; /* ms; `enough` jobs have started before `end` */
	atomic_size_t count;
	int64_t at_us[MOST];
};

static void *
start_jobs(void *ctx)
{
	struct starts *starts = ctx;
	rp_conn *conn = connect_to(starts->db);

	while (now_ms() < starts->until ||
	       (atomic_load(&starts->count) < starts->enough &&
		now_ms() < starts->end)) {
		rp_batch *batch = take(conn, "q", starts->at_once, MINUTE);

		for (size_t i = 0; i < rp_batch_count(batch); i++) {
			size_t at = atomic_fetch_add(&starts->count, 1);

			assert_true(at < MOST);
			starts->at_us[at] = rp_batch_at(batch, i)->claim_no;
		}
		rp_batch_free(batch);
	}
	rp_close(conn);
	return NULL;
}

static int
compare(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

/* Let several clients claim as fast as they can, for at least a second, until
 * three times as many jobs have started as the rate allows at once. Check that
 * at most `count` jobs have started within any `ms` milliseconds. */
static void
check_rate(const struct db *db, size_t count, int64_t ms, size_t at_once)
{
	struct starts *starts = calloc(1, sizeof(*starts));
	pthread_t threads[CLIENTS];
	size_t n;

	rate(db->conn, (int64_t)count, ms);
	put_many(db->conn, 9000);
	starts->db = db;
	starts->at_once = at_once;
	starts->enough = 3 * count;
	starts->until = now_ms() + 1000;
	starts->end = now_ms() + MINUTE;
	for (int i = 0; i < CLIENTS; i++)
		assert_int_equal(
			pthread_create(&threads[i], NULL, start_jobs, starts),
			0);
	for (int i = 0; i < CLIENTS; i++)
		pthread_join(threads[i], NULL);
	n = atomic_load(&starts->count);
	assert_true(n >= starts->enough);
	qsort(starts->at_us, n, sizeof(*starts->at_us), compare);
	for (size_t i = count; i < n; i++)
		if (starts->at_us[i] - starts->at_us[i - count] < ms * 1000)
			fail_msg("%zu jobs started within %lld us", count + 1,
				 (long long)(starts->at_us[i] -
					     starts->at_us[i - count]));
	free(starts);
}

static void
P12_no_interval_has_more_starts_than_the_rate(void **state)
{
	check_rate(*state, 30, 200, 7);
}

static void
P12_holds_for_rates_that_are_counted_in_steps(void **state)
{
	check_rate(*state, 1500, 250, 400);
}

/* ---- what counts as a start ---- */

static void
a_retry_is_a_start(void **state)
{
	rp_conn *conn = ((struct db *)*state)->conn;

	rate(conn, 3, MINUTE);
	put(conn, "q", "x");
	for (int i = 0; i < 3; i++)
		settle_one(conn, claim_one(conn, MINUTE), RP_RELEASE, 0);
	assert_int_equal(claims(conn, 1), 0);
}

static void
a_claim_takes_as_many_jobs_as_are_left(void **state)
{
	rp_conn *conn = ((struct db *)*state)->conn;

	rate(conn, 5, 400);
	put_many(conn, 20);
	assert_int_equal(claims(conn, 2), 2);
	sleep_ms(200);
	assert_int_equal(claims(conn, 10), 3);
	assert_int_equal(claims(conn, 10), 0);
	sleep_ms(250);
	assert_int_equal(claims(conn, 10), 2);
	assert_int_equal(claims(conn, 10), 0);
}

static void
a_rate_and_a_limit_hold_together(void **state)
{
	rp_conn *conn = ((struct db *)*state)->conn;
	rp_queue q = RP_QUEUE_INIT;

	rate(conn, 5, MINUTE);
	q.name = "q";
	q.run_limit = 3;
	settings(conn, q);
	put_many(conn, 10);
	assert_int_equal(claims(conn, 10), 3);
	q.run_limit = 9;
	settings(conn, q);
	assert_int_equal(claims(conn, 10), 2);
	assert_int_equal(claims(conn, 10), 0);
}

static void
a_queue_without_a_rate_starts_all_jobs_again(void **state)
{
	rp_conn *conn = ((struct db *)*state)->conn;

	rate(conn, 1, MINUTE);
	put_many(conn, 10);
	assert_int_equal(claims(conn, 10), 1);
	rate(conn, 0, 0);
	assert_int_equal(claims(conn, 5), 5);
	/* Starts before the new rate do not count. */
	rate(conn, 2, MINUTE);
	assert_int_equal(claims(conn, 10), 2);
}

static void
a_worker_does_not_fetch_ahead_in_a_queue_with_a_rate(void **state)
{
	struct db *db = *state;
	rp_claim_options o = RP_CLAIM_INIT;
	rp_batch *batch;

	rate(db->conn, 100, MINUTE);
	put_many(db->conn, 5);
	o.ahead = 3;
	ok(db->conn, rp_claim(db->conn, "q", 4, &o, &batch));
	assert_int_equal(rp_batch_count(batch), 1);
	rp_batch_free(batch);
}

/* ---- what waits, lists and other calls see ---- */

static void
a_wait_ends_when_the_rate_allows_the_next_start(void **state)
{
	static const char *const queues[] = { "q", NULL };
	rp_conn *conn = ((struct db *)*state)->conn;
	int64_t from;

	rate(conn, 2, 400);
	put_many(conn, 5);
	assert_int_equal(claims(conn, 10), 2);
	from = now_ms();
	assert_int_equal(ok(conn, rp_wait(conn, queues, 100, -1)), 0);
	assert_int_equal(ok(conn, rp_wait(conn, queues, 5000, -1)), 1);
	assert_in_range(now_ms() - from, 200, 1500);
	assert_int_equal(claims(conn, 10), 2);
}

static void
jobs_are_blocked_while_the_rate_is_used_up(void **state)
{
	rp_conn *conn = ((struct db *)*state)->conn;
	rp_why *why;
	int64_t id;

	rate(conn, 1, MINUTE);
	put(conn, "q", "x");
	id = put(conn, "q", "x");
	assert_int_equal(state_of(conn, id), RP_STATE_READY);
	assert_int_equal(claims(conn, 1), 1);
	assert_int_equal(state_of(conn, id), RP_STATE_BLOCKED);
	assert_int_equal(stats_of(conn, "q").ready, 0);
	assert_int_equal(stats_of(conn, "q").blocked, 1);
	ok(conn, rp_why_get(conn, id, &why));
	assert_int_equal(why->rate_count, 1);
	assert_int_equal(why->rate_ms, MINUTE);
	assert_in_range(why->rate_in_ms, 1, MINUTE);
	rp_why_free(why);
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		CASE(P12_no_interval_has_more_starts_than_the_rate),
		CASE(P12_holds_for_rates_that_are_counted_in_steps),
		CASE(a_retry_is_a_start),
		CASE(a_claim_takes_as_many_jobs_as_are_left),
		CASE(a_rate_and_a_limit_hold_together),
		CASE(a_queue_without_a_rate_starts_all_jobs_again),
		CASE(a_worker_does_not_fetch_ahead_in_a_queue_with_a_rate),
		CASE(a_wait_ends_when_the_rate_allows_the_next_start),
		CASE(jobs_are_blocked_while_the_rate_is_used_up),
	};

	databases_at(argc, argv);
	return cmocka_run_group_tests_name("rates", tests, NULL, NULL);
}
