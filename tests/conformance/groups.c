/*
 * groups.c - test a queue's group_limit: how many jobs of one group may run at
 * once, in which order they run, and how groups take turns.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "check.h"

#include <pthread.h>
#include <stdatomic.h>

#define MINUTE 60000

static void
group_pass(rp_conn *conn, int64_t pass)
{
	rp_queue q = RP_QUEUE_INIT;

	q.name = "q";
	q.group_pass = pass;
	settings(conn, q);
}

/* Claim one job. Returns its id, or 0 if no job can be claimed. */
static int64_t
next_id(rp_conn *conn)
{
	struct claim c = { 0 };

	return take_one(conn, "q", MINUTE, &c) ? c.id : 0;
}

static void
put_three(rp_conn *conn, int64_t *ids)
{
	for (int i = 0; i < 3; i++)
		ids[i] = put_in_group(conn, "g", "x");
}

/* ---- P10 and P11 with many clients ---- */

enum { CLIENTS = 6, GROUPS = 7, JOBS = 30 };

/* The test counts a job as running only after its claim and before its verdict.
 * So the counts are never larger than the real numbers of running jobs. The
 * payload of a job is its number in its group. Each fifth job fails once. */
struct fleet {
	const struct db *db;
	int ordered; /* 1: each group runs one job at a time, in order */
	atomic_int running[GROUPS], most, done, misplaced;
	atomic_int next[GROUPS];
};

static void
note_start(struct fleet *fleet, const rp_job *job)
{
	int g = *job->group_key - 'a';
	int now = atomic_fetch_add(&fleet->running[g], 1) + 1;
	int most = atomic_load(&fleet->most);

	while (now > most &&
	       !atomic_compare_exchange_weak(&fleet->most, &most, now))
		;
	if (atoi(job->payload) != atomic_load(&fleet->next[g]))
		atomic_fetch_add(&fleet->misplaced, 1);
}

static void
settle_batch(struct fleet *fleet, rp_conn *conn, const rp_batch *batch)
{
	for (size_t i = 0; i < rp_batch_count(batch); i++) {
		const rp_job *job = rp_batch_at(batch, i);
		int g = *job->group_key - 'a';
		struct claim c = { job->id, job->claim_no, 0 };
		int fails = job->attempt == 1 && atoi(job->payload) % 5 == 0;

		atomic_fetch_sub(&fleet->running[g], 1);
		if (!fails) {
			atomic_fetch_add(&fleet->next[g], 1);
			atomic_fetch_add(&fleet->done, 1);
		}
		settle_one(conn, c, fails ? RP_FAIL : RP_DONE, fails ? 5 : 1);
	}
}

static void *
run_all(void *ctx)
{
	struct fleet *fleet = ctx;
	rp_conn *conn = connect_to(fleet->db);

	while (atomic_load(&fleet->done) < GROUPS * JOBS) {
		rp_batch *batch = take(conn, "q", 3, MINUTE);

		for (size_t i = 0; i < rp_batch_count(batch); i++)
			note_start(fleet, rp_batch_at(batch, i));
		if (rp_batch_count(batch) == 0)
			ok(conn, rp_sweep(conn, NULL));
		sleep_ms(1);
		settle_batch(fleet, conn, batch);
		rp_batch_free(batch);
	}
	rp_close(conn);
	return NULL;
}

static void
run_fleet(struct fleet *fleet, int limit)
{
	rp_conn *conn = fleet->db->conn;
	pthread_t threads[CLIENTS];
	char group[] = "a", number[12];

	limit_groups(conn, limit);
	for (int i = 0; i < JOBS; i++)
		for (*group = 'a'; *group < 'a' + GROUPS; ++*group) {
			snprintf(number, sizeof(number), "%d", i);
			put_in_group(conn, group, number);
		}
	for (int i = 0; i < CLIENTS; i++)
		assert_int_equal(
			pthread_create(&threads[i], NULL, run_all, fleet), 0);
	for (int i = 0; i < CLIENTS; i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(atomic_load(&fleet->done), GROUPS * JOBS);
	assert_int_equal(atomic_load(&fleet->most), limit);
}

static void
P10_no_more_jobs_of_a_group_than_its_limit_run_at_once(void **state)
{
	struct fleet fleet = { .db = *state };

	run_fleet(&fleet, 2);
}

static void
P11_jobs_of_a_group_with_limit_1_run_in_order(void **state)
{
	struct fleet fleet = { .db = *state };

	run_fleet(&fleet, 1);
	assert_int_equal(atomic_load(&fleet.misplaced), 0);
}

/* ---- order and turns ---- */

static void
P11_the_order_of_a_group_is_priority_and_then_time(void **state)
{
	rp_conn *conn = ((struct db *)*state)->conn;
	rp_job_spec job = job_of("x");
	int64_t ids[4];

	limit_groups(conn, 1);
	put_three(conn, ids);
	job.group_key = "g";
	job.priority = 5;
	ids[3] = put_spec(conn, "q", &job);
	expect_states(conn, ids, "rbbb");
	for (int i = 0; i < 4; i++) {
		static const int order[] = { 0, 3, 1, 2 };
		struct claim c = claim_one(conn, MINUTE);

		assert_int_equal(c.id, ids[order[i]]);
		settle_one(conn, c, RP_DONE, 1);
	}
}

static void
a_quiet_group_has_its_turn_beside_a_big_backlog(void **state)
{
	rp_conn *conn = ((struct db *)*state)->conn;
	rp_job_spec jobs[1000];
	int64_t quiet;

	limit_groups(conn, 3);
	for (int i = 0; i < 1000; i++) {
		jobs[i] = job_of("x");
		jobs[i].group_key = "loud";
	}
	for (int i = 0; i < 5; i++)
		ok(conn, rp_enqueue_many(conn, "q", jobs, 1000, NULL));
	assert_int_equal(stats_of(conn, "q").ready, 3);
	assert_int_equal(stats_of(conn, "q").blocked, 4997);
	quiet = put_in_group(conn, "quiet", "x");
	for (int i = 0; i < 10; i++) {
		struct claim c = claim_one(conn, MINUTE);

		settle_one(conn, c, RP_DONE, 1);
		if (c.id == quiet)
			return;
	}
	fail_msg("the job of the quiet group was not among the first ten");
}

static void
jobs_without_a_group_do_not_wait(void **state)
{
	rp_conn *conn = ((struct db *)*state)->conn;
	int64_t ids[3];

	limit_groups(conn, 1);
	for (int i = 0; i < 3; i++)
		ids[i] = put(conn, "q", "x");
	expect_states(conn, ids, "rrr");
	for (int i = 0; i < 3; i++)
		assert_int_equal(next_id(conn), ids[i]);
}

static void
groups_of_a_queue_without_a_limit_have_no_effect(void **state)
{
	rp_conn *conn = ((struct db *)*state)->conn;
	int64_t ids[3];

	put_three(conn, ids);
	expect_states(conn, ids, "rrr");
	for (int i = 0; i < 3; i++)
		assert_int_equal(next_id(conn), ids[i]);
}

static void
the_same_group_in_two_queues_is_two_groups(void **state)
{
	rp_conn *conn = ((struct db *)*state)->conn;
	rp_queue q = RP_QUEUE_INIT;
	rp_job_spec job = job_of("x");
	int64_t ids[2];

	limit_groups(conn, 1);
	q.name = "other";
	q.group_limit = 1;
	settings(conn, q);
	ids[0] = put_in_group(conn, "g", "x");
	job.group_key = "g";
	ids[1] = put_spec(conn, "other", &job);
	expect_states(conn, ids, "rr");
}

/* ---- which call admits the next job ---- */

static void
each_end_of_a_job_admits_the_next_one(void **state)
{
	static const int verdicts[] = { RP_DONE, RP_DEAD };
	rp_conn *conn = ((struct db *)*state)->conn;
	int64_t ids[4];

	limit_groups(conn, 1);
	for (int i = 0; i < 4; i++)
		ids[i] = put_in_group(conn, "g", "x");
	expect_states(conn, ids, "rbbb");
	for (int i = 0; i < 2; i++) {
		struct claim c = claim_one(conn, MINUTE);

		assert_int_equal(c.id, ids[i]);
		assert_int_equal(next_id(conn), 0);
		settle_one(conn, c, verdicts[i], -1);
	}
	expect_states(conn, ids, "-Drb");
	assert_int_equal(next_id(conn), ids[2]);
	ok(conn, rp_job_cancel(conn, ids[2], NULL));
	expect_states(conn, ids, "-Dcr");
}

static void
a_batch_of_verdicts_admits_as_many_jobs_as_it_ends(void **state)
{
	rp_conn *conn = ((struct db *)*state)->conn;
	rp_verdict v[3];
	int64_t ids[6];
	rp_batch *batch;

	limit_groups(conn, 3);
	for (int i = 0; i < 6; i++)
		ids[i] = put_in_group(conn, "g", "x");
	expect_states(conn, ids, "rrrbbb");
	for (int i = 0; i < 3; i++)
		v[i] = verdict_on(claim_one(conn, MINUTE), RP_DONE);
	assert_int_equal(ok(conn, rp_settle(conn, v, 3)), 3);
	expect_states(conn, ids, "---rrr");
	batch = take(conn, "q", 10, MINUTE);
	assert_int_equal(rp_batch_count(batch), 3);
	for (int i = 0; i < 3; i++)
		assert_int_equal(rp_batch_at(batch, (size_t)i)->id, ids[3 + i]);
	assert_string_equal(rp_batch_at(batch, 0)->group_key, "g");
	rp_batch_free(batch);
}

static void
a_group_waits_for_the_retry_of_its_job(void **state)
{
	rp_conn *conn = ((struct db *)*state)->conn;
	int64_t ids[3];
	struct claim c;

	limit_groups(conn, 1);
	put_three(conn, ids);
	c = claim_one(conn, MINUTE);
	settle_one(conn, c, RP_FAIL, 2000);
	expect_states(conn, ids, "sbb");
	ok(conn, rp_sweep(conn, NULL));
	assert_int_equal(next_id(conn), 0);
	sleep_ms(2050);
	ok(conn, rp_sweep(conn, NULL));
	c = claim_one(conn, MINUTE);
	assert_int_equal(c.id, ids[0]);
	assert_int_equal(c.attempt, 2);
	settle_one(conn, c, RP_RELEASE, 0);
	expect_states(conn, ids, "rbb");
	c = claim_one(conn, MINUTE);
	assert_int_equal(c.id, ids[0]);
	settle_one(conn, c, RP_DONE, 0);
	expect_states(conn, ids, "-rb");
}

static void
a_group_that_passes_goes_on_beside_the_retry(void **state)
{
	rp_conn *conn = ((struct db *)*state)->conn;
	int64_t ids[3];
	struct claim c;

	limit_groups(conn, 1);
	group_pass(conn, 1);
	put_three(conn, ids);
	settle_one(conn, claim_one(conn, MINUTE), RP_FAIL, 500);
	expect_states(conn, ids, "srb");
	sleep_ms(550);
	ok(conn, rp_sweep(conn, NULL));
	expect_states(conn, ids, "brb");
	c = claim_one(conn, MINUTE);
	assert_int_equal(c.id, ids[1]);
	settle_one(conn, c, RP_RELEASE, 60000);
	expect_states(conn, ids, "bsr");
	settle_one(conn, claim_one(conn, MINUTE), RP_DONE, 0);
	expect_states(conn, ids, "rs-");
}

static void
a_job_that_lost_its_lease_keeps_its_slot(void **state)
{
	rp_conn *conn = ((struct db *)*state)->conn;
	rp_queue q = RP_QUEUE_INIT;
	int64_t ids[3];
	struct claim c;

	q.name = "q";
	q.max_attempts = 2;
	settings(conn, q);
	limit_groups(conn, 1);
	put_three(conn, ids);
	for (int i = 0; i < 2; i++) {
		c = claim_one(conn, 1);
		assert_int_equal(c.id, ids[0]);
		sleep_ms(20);
		expect_states(conn, ids, "Rbb");
		ok(conn, rp_sweep(conn, NULL));
	}
	expect_states(conn, ids, "Drb");
	c = claim_one(conn, 1);
	sleep_ms(20);
	ok(conn, rp_sweep(conn, NULL));
	expect_states(conn, ids, "Drb");
	ok(conn, rp_complete(conn, c.id, c.no));
	expect_states(conn, ids, "D-r");
}

static void
jobs_of_a_batch_run_before_jobs_that_came_later(void **state)
{
	rp_conn *conn = ((struct db *)*state)->conn;
	rp_job_spec jobs[4];
	rp_added added[4];
	int64_t ids[6];

	limit_groups(conn, 1);
	/* After a claim and a sweep there is no request to look at the group.
	 */
	put_in_group(conn, "other", "x");
	claim_one(conn, MINUTE);
	ok(conn, rp_sweep(conn, NULL));
	for (int i = 0; i < 4; i++) {
		jobs[i] = job_of("x");
		jobs[i].group_key = "g";
	}
	ok(conn, rp_enqueue_many(conn, "q", jobs, 4, added));
	for (int i = 0; i < 4; i++)
		ids[i] = added[i].id;
	for (int i = 4; i < 6; i++)
		ids[i] = put_in_group(conn, "g", "x");
	for (int i = 0; i < 6; i++) {
		struct claim c = claim_one(conn, MINUTE);

		assert_int_equal(c.id, ids[i]);
		settle_one(conn, c, RP_DONE, 0);
	}
}

static void
one_call_takes_jobs_of_several_groups(void **state)
{
	static const char *const groups[] = { "a", "b", NULL, "a", "b",
					      "a", "c", "a",  NULL };
	enum { N = sizeof(groups) / sizeof(*groups) };
	rp_conn *conn = ((struct db *)*state)->conn;
	rp_job_spec jobs[N];
	rp_added added[N];
	int64_t ids[N];
	struct claim c;

	limit_groups(conn, 2);
	put_in_group(conn, "b", "x");
	for (int i = 0; i < N; i++) {
		jobs[i] = job_of("x");
		jobs[i].group_key = groups[i];
		jobs[i].keep_ms = MINUTE;
	}
	ok(conn, rp_enqueue_many(conn, "q", jobs, N, added));
	for (int i = 0; i < N; i++)
		ids[i] = added[i].id;
	expect_states(conn, ids, "rrrrbbrbr");
	settle_one(conn, claim_one(conn, MINUTE), RP_DONE, 0);
	expect_states(conn, ids, "rrrrrbrbr");
	for (int i = 0; i < 2; i++) {
		c = claim_one(conn, MINUTE);
		assert_int_equal(c.id, ids[i]);
		settle_one(conn, c, RP_DONE, 0);
	}
	expect_states(conn, ids, "ddrrrrrbr");
}

static void
an_expired_job_gives_up_its_slot(void **state)
{
	rp_conn *conn = ((struct db *)*state)->conn;
	rp_job_spec job = job_of("x");
	int64_t ids[3];

	limit_groups(conn, 1);
	job.group_key = "g";
	job.expire_ms = 50;
	for (int i = 0; i < 2; i++) {
		ids[i] = put_spec(conn, "q", &job);
	}
	ids[2] = put_in_group(conn, "g", "x");
	expect_states(conn, ids, "rbb");
	sleep_ms(100);
	ok(conn, rp_sweep(conn, NULL));
	expect_states(conn, ids, "ccr");
}

static void
scheduled_jobs_enter_their_group_when_they_are_due(void **state)
{
	rp_conn *conn = ((struct db *)*state)->conn;
	rp_job_spec job = job_of("x");
	int64_t ids[3];

	limit_groups(conn, 1);
	job.group_key = "g";
	job.delay_ms = 500;
	for (int i = 0; i < 2; i++) {
		ids[i] = put_spec(conn, "q", &job);
	}
	ids[2] = put_in_group(conn, "g", "x");
	expect_states(conn, ids, "ssr");
	sleep_ms(550);
	ok(conn, rp_sweep(conn, NULL));
	expect_states(conn, ids, "bbr");
	settle_one(conn, claim_one(conn, MINUTE), RP_DONE, 0);
	expect_states(conn, ids, "rb-");
}

static void
a_worker_does_not_fetch_ahead_in_a_queue_with_groups(void **state)
{
	struct db *db = *state;
	rp_claim_options o = RP_CLAIM_INIT;
	rp_batch *batch;

	limit_groups(db->conn, 5);
	for (int i = 0; i < 5; i++)
		put(db->conn, "q", "x");
	o.ahead = 3;
	ok(db->conn, rp_claim(db->conn, "q", 4, &o, &batch));
	assert_int_equal(rp_batch_count(batch), 1);
	rp_batch_free(batch);
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		CASE(P10_no_more_jobs_of_a_group_than_its_limit_run_at_once),
		CASE(P11_jobs_of_a_group_with_limit_1_run_in_order),
		CASE(P11_the_order_of_a_group_is_priority_and_then_time),
		CASE(a_quiet_group_has_its_turn_beside_a_big_backlog),
		CASE(jobs_without_a_group_do_not_wait),
		CASE(groups_of_a_queue_without_a_limit_have_no_effect),
		CASE(the_same_group_in_two_queues_is_two_groups),
		CASE(each_end_of_a_job_admits_the_next_one),
		CASE(a_batch_of_verdicts_admits_as_many_jobs_as_it_ends),
		CASE(a_group_waits_for_the_retry_of_its_job),
		CASE(a_group_that_passes_goes_on_beside_the_retry),
		CASE(a_job_that_lost_its_lease_keeps_its_slot),
		CASE(jobs_of_a_batch_run_before_jobs_that_came_later),
		CASE(one_call_takes_jobs_of_several_groups),
		CASE(an_expired_job_gives_up_its_slot),
		CASE(scheduled_jobs_enter_their_group_when_they_are_due),
		CASE(a_worker_does_not_fetch_ahead_in_a_queue_with_groups),
	};

	databases_at(argc, argv);
	return cmocka_run_group_tests_name("groups", tests, NULL, NULL);
}
