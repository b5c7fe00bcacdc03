/*
 * limits.c - test a queue's run_limit: how many of its jobs may run at once.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "check.h"

#include <pthread.h>
#include <stdatomic.h>

static void
limit(struct db *db, int64_t n)
{
	rp_queue q = RP_QUEUE_INIT;

	q.name = "q";
	q.run_limit = n;
	settings(db->conn, q);
}

static void
put_many(struct db *db, int n)
{
	for (int i = 0; i < n; i++)
		put(db->conn, "q", "x");
}

/* Claim up to ten jobs of queue q. Returns how many the claim got. */
static size_t
claims(rp_conn *conn, int64_t lease_ms)
{
	rp_batch *batch = take(conn, "q", 10, lease_ms);
	size_t n = rp_batch_count(batch);

	rp_batch_free(batch);
	return n;
}

/* ---- P10 ---- */

enum { CLIENTS = 6, JOBS = 300, LIMIT = 3 };

struct fleet {
	const struct db *db;
	atomic_int running, most, done;
};

/* Claim up to two jobs, and complete them a millisecond later. The test begins
 * to count a job as running after its claim, and stops before its verdict. So
 * this count is never larger than the number of jobs that run. */
static void
run_two(struct fleet *fleet, rp_conn *conn)
{
	rp_batch *batch = take(conn, "q", 2, 60000);
	int n = (int)rp_batch_count(batch);
	int now = atomic_fetch_add(&fleet->running, n) + n;
	int most = atomic_load(&fleet->most);

	while (now > most &&
	       !atomic_compare_exchange_weak(&fleet->most, &most, now))
		;
	sleep_ms(1);
	atomic_fetch_sub(&fleet->running, n);
	for (size_t i = 0; i < rp_batch_count(batch); i++) {
		const rp_job *job = rp_batch_at(batch, i);
		rp_verdict v = RP_VERDICT_INIT;

		v.id = job->id;
		v.claim_no = job->claim_no;
		assert_int_equal(ok(conn, rp_settle(conn, &v, 1)), 1);
		atomic_fetch_add(&fleet->done, 1);
	}
	rp_batch_free(batch);
}

static void *
run_all(void *ctx)
{
	struct fleet *fleet = ctx;
	rp_conn *conn = connect_to(fleet->db);

	while (atomic_load(&fleet->done) < JOBS)
		run_two(fleet, conn);
	rp_close(conn);
	return NULL;
}

static void
P10_no_more_jobs_than_the_limit_run_at_once(void **state)
{
	struct fleet fleet = { .db = *state };
	pthread_t threads[CLIENTS];

	limit(*state, LIMIT);
	put_many(*state, JOBS);
	for (int i = 0; i < CLIENTS; i++)
		assert_int_equal(
			pthread_create(&threads[i], NULL, run_all, &fleet), 0);
	for (int i = 0; i < CLIENTS; i++)
		pthread_join(threads[i], NULL);
	/* One claim gets two jobs, so two run at once on any machine. */
	assert_in_range(atomic_load(&fleet.most), 2, LIMIT);
	assert_int_equal(atomic_load(&fleet.done), JOBS);
}

/* ---- what counts as running ---- */

static void
each_end_of_a_run_makes_room_for_one_job(void **state)
{
	static const int verdicts[] = { RP_DONE, RP_FAIL, RP_DEAD, RP_RELEASE };
	struct db *db = *state;
	struct claim c;

	limit(db, 1);
	put_many(db, 10);
	for (size_t i = 0; i < sizeof(verdicts) / sizeof(*verdicts); i++) {
		rp_verdict v;

		c = claim_one(db->conn, 60000);
		assert_int_equal(claims(db->conn, 60000), 0);
		v = verdict_on(c, verdicts[i]);
		assert_int_equal(ok(db->conn, rp_settle(db->conn, &v, 1)), 1);
	}
	c = claim_one(db->conn, 60000);
	assert_int_equal(claims(db->conn, 60000), 0);
	ok(db->conn, rp_job_cancel(db->conn, c.id, NULL));
	assert_int_equal(claims(db->conn, 60000), 1);
}

static void
a_lost_lease_makes_room_after_the_next_sweep(void **state)
{
	struct db *db = *state;
	struct claim c;

	limit(db, 1);
	put_many(db, 2);
	c = claim_one(db->conn, 1);
	sleep_ms(20);
	ok(db->conn, rp_sweep(db->conn, NULL));
	assert_int_equal(state_of(db->conn, c.id), RP_STATE_READY);
	assert_int_equal(claims(db->conn, 60000), 1);
	assert_int_equal(claims(db->conn, 60000), 0);
}

static void
a_new_limit_counts_the_jobs_that_run_already(void **state)
{
	struct db *db = *state;

	put_many(db, 20);
	assert_int_equal(claims(db->conn, 60000), 10);
	limit(db, 12);
	assert_int_equal(claims(db->conn, 60000), 2);
	assert_int_equal(claims(db->conn, 60000), 0);
}

static void
a_lower_limit_ends_no_job_and_starts_none(void **state)
{
	struct db *db = *state;
	struct claim held[3];

	limit(db, 3);
	put_many(db, 10);
	for (int i = 0; i < 3; i++)
		held[i] = claim_one(db->conn, 60000);
	limit(db, 2);
	assert_int_equal(claims(db->conn, 60000), 0);
	settle_one(db->conn, held[0], RP_DONE, 1);
	assert_int_equal(claims(db->conn, 60000), 0);
	settle_one(db->conn, held[1], RP_DONE, 1);
	assert_int_equal(claims(db->conn, 60000), 1);
	limit(db, 0);
	assert_int_equal(claims(db->conn, 60000), 6);
}

static void
a_full_queue_does_not_hold_back_another(void **state)
{
	static const char *const queues[] = { "q", "other", NULL };
	struct db *db = *state;
	rp_claim_options o = RP_CLAIM_INIT;
	rp_batch *batch;

	limit(db, 2);
	put_many(db, 5);
	for (int i = 0; i < 5; i++)
		put(db->conn, "other", "x");
	o.queues = queues;
	ok(db->conn, rp_claim(db->conn, NULL, 6, &o, &batch));
	assert_int_equal(rp_batch_count(batch), 6);
	assert_string_equal(rp_batch_at(batch, 1)->queue, "q");
	assert_string_equal(rp_batch_at(batch, 2)->queue, "other");
	rp_batch_free(batch);
}

static void
no_job_of_a_limited_queue_is_prefetched(void **state)
{
	struct db *db = *state;
	rp_claim_options o = RP_CLAIM_INIT;
	rp_batch *batch;

	limit(db, 5);
	put_many(db, 5);
	o.ahead = 3;
	ok(db->conn, rp_claim(db->conn, "q", 4, &o, &batch));
	assert_int_equal(rp_batch_count(batch), 1);
	rp_batch_free(batch);
}

static void
a_wait_does_not_end_while_the_queue_is_full(void **state)
{
	static const char *const queues[] = { "q", NULL };
	struct db *db = *state;
	struct claim c;

	limit(db, 1);
	put_many(db, 2);
	assert_int_equal(ok(db->conn, rp_wait(db->conn, queues, 0, -1)), 1);
	c = claim_one(db->conn, 60000);
	assert_int_equal(ok(db->conn, rp_wait(db->conn, queues, 300, -1)), 0);
	settle_one(db->conn, c, RP_DONE, 1);
	assert_int_equal(ok(db->conn, rp_wait(db->conn, queues, 0, -1)), 1);
}

/* ---- the setting ---- */

static void
a_limit_is_read_and_kept_and_ended(void **state)
{
	struct db *db = *state;
	rp_queue q = RP_QUEUE_INIT;
	rp_queues *queues;
	rp_why *why;

	limit(db, 1);
	q.name = "q";
	q.priority = 3;
	ok(db->conn, rp_queue_set(db->conn, &q));
	ok(db->conn, rp_queue_list(db->conn, "q", &queues));
	assert_int_equal(rp_queues_at(queues, 0)->run_limit, 1);
	rp_queues_free(queues);
	put_many(db, 2);
	ok(db->conn, rp_why_get(db->conn, claim_one(db->conn, 60000).id, &why));
	assert_int_equal(why->run_limit, 1);
	assert_int_equal(why->running, 1);
	rp_why_free(why);
	limit(db, 0);
	ok(db->conn, rp_queue_list(db->conn, "q", &queues));
	assert_int_equal(rp_queues_at(queues, 0)->run_limit, 0);
	rp_queues_free(queues);
	q.run_limit = RP_MOST_LIMIT + 1;
	assert_int_equal(rp_queue_set(db->conn, &q), RP_EINVAL);
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		CASE(P10_no_more_jobs_than_the_limit_run_at_once),
		CASE(each_end_of_a_run_makes_room_for_one_job),
		CASE(a_lost_lease_makes_room_after_the_next_sweep),
		CASE(a_new_limit_counts_the_jobs_that_run_already),
		CASE(a_lower_limit_ends_no_job_and_starts_none),
		CASE(a_full_queue_does_not_hold_back_another),
		CASE(no_job_of_a_limited_queue_is_prefetched),
		CASE(a_wait_does_not_end_while_the_queue_is_full),
		CASE(a_limit_is_read_and_kept_and_ended),
	};

	databases_at(argc, argv);
	return cmocka_run_group_tests_name("limits", tests, NULL, NULL);
}
