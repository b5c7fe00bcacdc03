/*
 * groups_look.c - test the results of calls that only read, about blocked jobs
 * and about groups.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "check.h"

#define MINUTE 60000

static void
jobs_of_a_full_queue_are_blocked(void **state)
{
	rp_conn *conn = ((struct db *)*state)->conn;
	rp_queue q = RP_QUEUE_INIT;
	int64_t ids[3];
	rp_batch *batch;

	q.name = "q";
	q.run_limit = 1;
	settings(conn, q);
	for (int i = 0; i < 3; i++)
		ids[i] = put(conn, "q", "x");
	expect_states(conn, ids, "rrr");
	claim_one(conn, MINUTE);
	expect_states(conn, ids, "Rbb");
	assert_int_equal(stats_of(conn, "q").ready, 0);
	assert_int_equal(stats_of(conn, "q").blocked, 2);
	ok(conn, rp_job_list(conn, "q", RP_STATE_BLOCKED, 10, &batch));
	assert_int_equal(rp_batch_count(batch), 2);
	rp_batch_free(batch);
	ok(conn, rp_job_list(conn, "q", RP_STATE_READY, 10, &batch));
	assert_int_equal(rp_batch_count(batch), 0);
	rp_batch_free(batch);
}

static void
stats_and_lists_show_blocked_jobs(void **state)
{
	rp_conn *conn = ((struct db *)*state)->conn;
	int64_t ids[4];
	rp_batch *batch;

	limit_groups(conn, 1);
	put_n(conn, "g", ids, 4);
	assert_int_equal(stats_of(conn, "q").ready, 1);
	assert_int_equal(stats_of(conn, "q").blocked, 3);
	assert_int_equal(stats_of(conn, "q").scheduled, 0);
	ok(conn, rp_job_list(conn, "q", RP_STATE_BLOCKED, 10, &batch));
	assert_int_equal(rp_batch_count(batch), 3);
	for (int i = 0; i < 3; i++) {
		const rp_job *job = rp_batch_at(batch, (size_t)i);

		assert_int_equal(job->id, ids[i + 1]);
		assert_int_equal(job->run_at, job->created_at);
		assert_string_equal(job->group_key, "g");
	}
	rp_batch_free(batch);
	ok(conn, rp_job_list(conn, "q", RP_STATE_SCHEDULED, 10, &batch));
	assert_int_equal(rp_batch_count(batch), 0);
	rp_batch_free(batch);
	ok(conn, rp_job_list(conn, "q", 0, 10, &batch));
	assert_int_equal(rp_batch_count(batch), 4);
	rp_batch_free(batch);
}

static void
why_names_the_jobs_that_a_job_waits_for(void **state)
{
	rp_conn *conn = ((struct db *)*state)->conn;
	int64_t ids[4];
	char running[40];
	rp_why *why;

	limit_groups(conn, 1);
	put_n(conn, "g", ids, 4);
	snprintf(running, sizeof(running), "\"id\":%lld", (long long)ids[0]);
	claim_one(conn, MINUTE);
	ok(conn, rp_why_get(conn, ids[2], &why));
	assert_int_equal(why->group_limit, 1);
	assert_int_equal(why->group_busy, 1);
	assert_int_equal(why->group_ahead, 1);
	assert_int_equal(why->group_waiting, 3);
	assert_non_null(why->group_next);
	rp_why_free(why);
	ok(conn, rp_queue_hold(conn, "q", "g", MINUTE));
	ok(conn, rp_queue_hold(conn, "q", NULL, MINUTE));
	ok(conn, rp_why_get(conn, ids[2], &why));
	assert_true(why->group_held_until > why->now);
	assert_true(why->held_until > why->now);
	rp_why_free(why);
	ok(conn, rp_why_get(conn, put(conn, "q", "x"), &why));
	assert_int_equal(why->group_limit, 0);
	assert_int_equal(why->group_held_until, 0);
	assert_null(why->group_next);
	rp_why_free(why);
}

/* ---- the list of groups ---- */

/* List groups and compare them with a text. The text has "name
 * waiting/ready/running " for each group, and "!" after the numbers of a group
 * that is held. */
static void
expect_groups(rp_conn *conn, int blocked, const char *after, size_t max,
	      const char *expected)
{
	rp_groups *groups;
	char got[300] = "";

	ok(conn, rp_group_list(conn, "q", blocked, after, max, &groups));
	for (size_t i = 0; i < rp_groups_count(groups); i++) {
		const rp_group *g = rp_groups_at(groups, i);
		size_t n = strlen(got);

		snprintf(got + n, sizeof(got) - n, "%s %d/%d/%d%s ", g->name,
			 (int)g->waiting, (int)g->ready, (int)g->running,
			 g->held_until ? "!" : "");
	}
	rp_groups_free(groups);
	assert_string_equal(got, expected);
}

static void
groups_are_listed_by_the_bytes_of_their_names(void **state)
{
	rp_conn *conn = ((struct db *)*state)->conn;
	int64_t ids[4];

	limit_groups(conn, 2);
	put_n(conn, "b", ids, 4);
	claim_one(conn, MINUTE);
	put_n(conn, "a", ids, 1);
	put_n(conn, "B", ids, 2);
	put_n(conn, "\xc3\xa4", ids, 3);
	ok(conn, rp_queue_hold(conn, "q", "aa", MINUTE));
	ok(conn, rp_queue_hold(conn, "q", "B", MINUTE));
	put(conn, "q", "x");
	expect_groups(conn, 0, NULL, 10,
		      "B 2/0/0! a 0/1/0 aa 0/0/0! b 2/1/1 \xc3\xa4 1/2/0 ");
	expect_groups(conn, 1, NULL, 10, "B 2/0/0! b 2/1/1 \xc3\xa4 1/2/0 ");
	expect_groups(conn, 0, "a", 2, "aa 0/0/0! b 2/1/1 ");
	expect_groups(conn, 1, "b", 10, "\xc3\xa4 1/2/0 ");
	expect_groups(conn, 0, NULL, 0, "");
}

static void
a_group_whose_jobs_wait_for_the_queue_is_blocked(void **state)
{
	rp_conn *conn = ((struct db *)*state)->conn;
	int64_t ids[2];

	limit_groups(conn, 2);
	put_n(conn, "a", ids, 1);
	put_n(conn, "b", ids, 1);
	put_n(conn, "c", ids, 2);
	claim_one(conn, MINUTE);
	ok(conn, rp_queue_hold(conn, "q", "aa", MINUTE));
	expect_groups(conn, 1, NULL, 10, "");
	ok(conn, rp_queue_hold(conn, "q", NULL, MINUTE));
	expect_groups(conn, 1, NULL, 10, "b 1/0/0 c 2/0/0 ");
	expect_groups(conn, 1, "a", 1, "b 1/0/0 ");
	expect_groups(conn, 0, NULL, 10, "a 0/0/1 aa 0/0/0! b 1/0/0 c 2/0/0 ");
}

static void
a_job_that_waits_for_its_retry_counts_as_neither(void **state)
{
	rp_conn *conn = ((struct db *)*state)->conn;
	int64_t ids[2];

	limit_groups(conn, 1);
	put_n(conn, "g", ids, 2);
	settle_one(conn, claim_one(conn, MINUTE), RP_FAIL, MINUTE);
	expect_groups(conn, 0, NULL, 10, "g 1/0/0 ");
}

static void
a_wait_for_the_end_of_a_queue_sees_blocked_jobs(void **state)
{
	rp_conn *conn = ((struct db *)*state)->conn;
	int64_t ids[2];

	limit_groups(conn, 1);
	put_n(conn, "g", ids, 2);
	settle_one(conn, claim_one(conn, MINUTE), RP_DONE, 0);
	settle_one(conn, claim_one(conn, MINUTE), RP_DONE, 0);
	put_n(conn, "g", ids, 1);
	ok(conn, rp_queue_hold(conn, "q", "g", MINUTE));
	assert_int_equal(rp_queue_wait(conn, "q", 50, -1), 0);
	ok(conn, rp_job_cancel(conn, ids[0], NULL));
	assert_int_equal(ok(conn, rp_queue_wait(conn, "q", 50, -1)), 1);
}

static void
slots_of_a_limit_that_was_removed_are_not_listed(void **state)
{
	struct db *db = *state;
	rp_conn *conn = db->conn;
	rp_groups *groups;

	if (!*db->path)
		return; /* PostgreSQL lists them until their jobs end */
	limit_groups(conn, 2);
	for (int i = 0; i < 3; i++)
		put_in_group(conn, "g", "x");
	limit_groups(conn, 0);
	ok(conn, rp_sweep(conn, NULL));
	ok(conn, rp_group_list(conn, "q", 0, NULL, 10, &groups));
	assert_int_equal(rp_groups_count(groups), 0);
	rp_groups_free(groups);
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		CASE(jobs_of_a_full_queue_are_blocked),
		CASE(stats_and_lists_show_blocked_jobs),
		CASE(why_names_the_jobs_that_a_job_waits_for),
		CASE(groups_are_listed_by_the_bytes_of_their_names),
		CASE(a_group_whose_jobs_wait_for_the_queue_is_blocked),
		CASE(a_job_that_waits_for_its_retry_counts_as_neither),
		CASE(a_wait_for_the_end_of_a_queue_sees_blocked_jobs),
		CASE(slots_of_a_limit_that_was_removed_are_not_listed),
	};

	databases_at(argc, argv);
	return cmocka_run_group_tests_name("groups_look", tests, NULL, NULL);
}
