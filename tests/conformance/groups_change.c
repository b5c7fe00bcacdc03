/*
 * groups_change.c - test that group limits can be set, raised, lowered and
 * removed, and that blocked jobs can be changed, replaced, cancelled, retried
 * and purged.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "check.h"

#define MINUTE 60000

static void
done_one(rp_conn *conn)
{
	settle_one(conn, claim_one(conn, MINUTE), RP_DONE, 0);
}

/* Complete up to 1,000 jobs. Returns how many. */
static size_t
complete_some(rp_conn *conn)
{
	static rp_verdict verdicts[1000];
	rp_batch *batch = take(conn, "q", 1000, MINUTE);
	size_t n = rp_batch_count(batch);

	for (size_t i = 0; i < n; i++) {
		verdicts[i] = (rp_verdict)RP_VERDICT_INIT;
		verdicts[i].verdict = RP_DONE;
		verdicts[i].id = rp_batch_at(batch, i)->id;
		verdicts[i].claim_no = rp_batch_at(batch, i)->claim_no;
	}
	rp_batch_free(batch);
	ok(conn, rp_settle(conn, verdicts, n));
	return n;
}

/* Enqueue a thousand jobs that are claimed before all others. A call that sets
 * a limit examines only these, so claims have to examine the others. */
static void
put_ahead(rp_conn *conn)
{
	static rp_job_spec jobs[1000];

	for (int i = 0; i < 1000; i++) {
		jobs[i] = job_of("x");
		jobs[i].priority = 1;
	}
	ok(conn, rp_enqueue_many(conn, "q", jobs, 1000, NULL));
}

static void
change(rp_conn *conn, int64_t id, int priority, int64_t delay_ms,
       const char *queue)
{
	rp_change c = RP_CHANGE_INIT;

	c.priority = priority;
	c.delay_ms = delay_ms;
	c.queue = queue;
	ok(conn, rp_job_change(conn, id, &c));
}

/* ---- the limit changes ---- */

static void
a_limit_that_is_set_holds_for_jobs_in_the_line(void **state)
{
	rp_conn *conn = ((struct db *)*state)->conn;
	int64_t ids[5];

	put_n(conn, "g", ids, 4);
	limit_groups(conn, 1);
	ids[4] = put_in_group(conn, "g", "x");
	expect_states(conn, ids, "rbbbb");
	run_one_by_one(conn, ids, 5);
}

static void
a_limit_that_is_set_holds_for_jobs_far_behind_in_the_line(void **state)
{
	rp_conn *conn = ((struct db *)*state)->conn;
	int64_t ids[5];

	put_ahead(conn);
	put_n(conn, "g", ids, 4);
	limit_groups(conn, 1);
	ids[4] = put_in_group(conn, "g", "x");
	assert_int_equal(complete_some(conn), 1000);
	run_one_by_one(conn, ids, 5);
}

static void
a_new_limit_counts_the_jobs_of_a_group_that_run_already(void **state)
{
	rp_conn *conn = ((struct db *)*state)->conn;
	struct claim held[3];
	int64_t ids[6];

	put_n(conn, "g", ids, 6);
	for (int i = 0; i < 3; i++)
		held[i] = claim_one(conn, MINUTE);
	limit_groups(conn, 2);
	assert_true(is_empty(conn));
	settle_one(conn, held[0], RP_DONE, 0);
	assert_true(is_empty(conn));
	settle_one(conn, held[1], RP_DONE, 0);
	assert_int_equal(next_claim(conn).id, ids[3]);
	assert_true(is_empty(conn));
}

static void
a_limit_that_is_raised_admits_more_jobs(void **state)
{
	rp_conn *conn = ((struct db *)*state)->conn;
	int64_t ids[5];

	limit_groups(conn, 1);
	put_n(conn, "g", ids, 5);
	expect_states(conn, ids, "rbbbb");
	limit_groups(conn, 3);
	ok(conn, rp_sweep(conn, NULL));
	expect_states(conn, ids, "rrrbb");
	for (int i = 0; i < 3; i++)
		assert_int_equal(claim_one(conn, MINUTE).id, ids[i]);
	assert_true(is_empty(conn));
}

static void
a_limit_that_is_lowered_ends_no_job_and_admits_none(void **state)
{
	rp_conn *conn = ((struct db *)*state)->conn;
	struct claim held[3];
	int64_t ids[5];

	limit_groups(conn, 3);
	put_n(conn, "g", ids, 5);
	for (int i = 0; i < 3; i++)
		held[i] = claim_one(conn, MINUTE);
	limit_groups(conn, 1);
	ok(conn, rp_sweep(conn, NULL));
	for (int i = 0; i < 2; i++) {
		settle_one(conn, held[i], RP_DONE, 0);
		assert_true(is_empty(conn));
	}
	expect_states(conn, ids, "--Rbb");
	settle_one(conn, held[2], RP_DONE, 0);
	expect_states(conn, ids, "---rb");
	assert_int_equal(claim_one(conn, MINUTE).id, ids[3]);
	assert_true(is_empty(conn));
}

static void
jobs_that_are_ready_wait_if_the_limit_is_lowered(void **state)
{
	rp_conn *conn = ((struct db *)*state)->conn;
	struct claim c;
	int64_t ids[4];

	limit_groups(conn, 3);
	put_n(conn, "g", ids, 4);
	c = claim_one(conn, MINUTE);
	assert_int_equal(c.id, ids[0]);
	limit_groups(conn, 1);
	expect_states(conn, ids, "Rbbb");
	assert_true(is_empty(conn));
	settle_one(conn, c, RP_DONE, 0);
	run_one_by_one(conn, ids + 1, 3);
}

static void
P11_a_first_limit_keeps_the_order_of_the_line(void **state)
{
	rp_conn *conn = ((struct db *)*state)->conn;
	int64_t ids[5];

	put_n(conn, "g", ids, 4);
	change(conn, ids[0], 5, -1, NULL);
	change(conn, ids[0], 100, -1, NULL); /* to the end of the line */
	ids[4] = ids[0];
	limit_groups(conn, 1);
	run_one_by_one(conn, ids + 1, 4);
}

/* A job without a slot takes the slot of another ready job, which is examined
 * later. */
static void
P11_a_job_of_better_priority_gets_the_slot_when_a_limit_is_set(void **state)
{
	rp_conn *conn = ((struct db *)*state)->conn;
	rp_job_spec job = job_of("x");
	int64_t ids[3];

	limit_groups(conn, 2);
	put_n(conn, "g", ids + 1, 2);
	limit_groups(conn, 0);
	job.group_key = "g";
	job.priority = 5;
	ids[0] = put_spec(conn, "q", &job);
	limit_groups(conn, 1);
	run_one_by_one(conn, ids, 3);
}

static void
P11_jobs_of_one_sweep_keep_their_order_if_the_limit_was_lowered(void **state)
{
	rp_conn *conn = ((struct db *)*state)->conn;
	rp_job_spec job = job_of("x");
	rp_batch *batch;
	int64_t ids[2], due;

	limit_groups(conn, 2);
	limit_groups(conn, 1);
	job.group_key = "g";
	job.delay_ms = 1000;
	ids[1] = put_spec(conn, "q", &job);
	ok(conn, rp_job_get(conn, ids[1], &batch));
	due = rp_batch_at(batch, 0)->run_at;
	rp_batch_free(batch);
	job.delay_ms = 0;
	job.run_at = due - 1;
	ids[0] = put_spec(conn, "q", &job);
	wait_until(conn, due);
	ok(conn, rp_sweep(conn, NULL));
	run_one_by_one(conn, ids, 2);
}

static void
P11_a_first_limit_keeps_the_order_beside_a_job_of_better_priority(void **state)
{
	rp_conn *conn = ((struct db *)*state)->conn;
	rp_job_spec job = job_of("x");
	int64_t ids[3];

	put_ahead(conn);
	ids[1] = put_in_group(conn, "g", "x");
	limit_groups(conn, 1);
	ids[2] = put_in_group(conn, "g", "x");
	job.group_key = "g";
	job.priority = 5;
	ids[0] = put_spec(conn, "q", &job);
	assert_int_equal(complete_some(conn), 1000);
	run_one_by_one(conn, ids, 3);
}

/* A claim takes at most about 1,000 jobs out of the line. */
static void
many_jobs_keep_their_order_if_the_limit_is_lowered(void **state)
{
	enum { JOBS = 1300 };
	static rp_job_spec jobs[JOBS];
	static rp_added added[JOBS];
	rp_conn *conn = ((struct db *)*state)->conn;
	int64_t ids[4];
	struct claim c;

	limit_groups(conn, JOBS);
	for (int i = 0; i < JOBS; i++) {
		jobs[i] = job_of("x");
		jobs[i].group_key = "g";
	}
	ok(conn, rp_enqueue_many(conn, "q", jobs, JOBS, added));
	for (int i = 0; i < 4; i++)
		ids[i] = added[i].id;
	c = claim_one(conn, MINUTE);
	assert_int_equal(c.id, ids[0]);
	limit_groups(conn, 1);
	assert_true(is_empty(conn));
	settle_one(conn, c, RP_DONE, 0);
	run_one_by_one(conn, ids + 1, 3);
}

static void
a_first_limit_keeps_the_order_of_many_jobs_in_the_line(void **state)
{
	enum { JOBS = 250 };
	rp_conn *conn = ((struct db *)*state)->conn;
	int64_t ids[JOBS];

	put_ahead(conn);
	put_n(conn, "g", ids, JOBS);
	limit_groups(conn, 1);
	assert_int_equal(complete_some(conn), 1000);
	run_one_by_one(conn, ids, JOBS);
}

/* Complete all jobs. Those in `ids` must be claimed in this order. */
static void
expect_order(rp_conn *conn, const int64_t *ids, size_t n)
{
	rp_verdict verdicts[100];
	size_t count, next = 0;

	do {
		rp_batch *batch = take(conn, "q", 100, MINUTE);

		count = rp_batch_count(batch);
		for (size_t i = 0; i < count; i++) {
			const rp_job *job = rp_batch_at(batch, i);

			verdicts[i] = (rp_verdict)RP_VERDICT_INIT;
			verdicts[i].verdict = RP_DONE;
			verdicts[i].id = job->id;
			verdicts[i].claim_no = job->claim_no;
			if (!job->group_key)
				continue;
			assert_true(next < n);
			assert_int_equal(job->id, ids[next++]);
		}
		rp_batch_free(batch);
		ok(conn, rp_settle(conn, verdicts, count));
	} while (count);
	assert_int_equal(next, n);
}

/* The released job is at the front of the line, although it became ready last.
 * The last two jobs are so far behind that a claim examines them, and not the
 * call that sets the limit. */
static void
P11_a_first_limit_keeps_the_order_behind_a_released_job(void **state)
{
	static rp_job_spec jobs[1000];
	rp_conn *conn = ((struct db *)*state)->conn;
	struct claim c;
	int64_t ids[5], now;

	ids[0] = put_in_group(conn, "g", "x");
	c = claim_one(conn, MINUTE);
	put_n(conn, "g", ids + 1, 2);
	for (int i = 0; i < 1000; i++)
		jobs[i] = job_of("x");
	ok(conn, rp_enqueue_many(conn, "q", jobs, 1000, NULL));
	put_n(conn, "g", ids + 3, 2);
	ok(conn, rp_now(conn, &now));
	wait_until(conn, now + 2);
	settle_one(conn, c, RP_RELEASE, 0);
	limit_groups(conn, 1);
	expect_order(conn, ids, 5);
}

/* All jobs become ready in the same millisecond. */
static void
P11_a_first_limit_keeps_the_order_of_jobs_that_came_together(void **state)
{
	enum { JOBS = 1003 };
	static rp_job_spec jobs[JOBS];
	static rp_added added[JOBS];
	static int64_t ids[JOBS];
	rp_conn *conn = ((struct db *)*state)->conn;

	for (int i = 0; i < JOBS; i++) {
		jobs[i] = job_of("x");
		jobs[i].group_key = "g";
	}
	ok(conn, rp_enqueue_many(conn, "q", jobs, JOBS, added));
	for (int i = 0; i < JOBS; i++)
		ids[i] = added[i].id;
	limit_groups(conn, 1);
	expect_order(conn, ids, JOBS);
}

static void
a_job_that_runs_when_the_limit_is_set_keeps_its_place(void **state)
{
	rp_conn *conn = ((struct db *)*state)->conn;
	struct claim c;
	int64_t ids[3];

	put_n(conn, "g", ids, 3);
	c = claim_one(conn, MINUTE);
	limit_groups(conn, 1);
	settle_one(conn, c, RP_RELEASE, 0);
	ok(conn, rp_sweep(conn, NULL));
	assert_int_equal(claim_one(conn, MINUTE).id, ids[0]);
}

static void
a_limit_that_is_removed_lets_all_jobs_run(void **state)
{
	rp_conn *conn = ((struct db *)*state)->conn;
	int64_t ids[5], more;

	limit_groups(conn, 1);
	put_n(conn, "g", ids, 5);
	claim_one(conn, MINUTE);
	limit_groups(conn, 0);
	more = put_in_group(conn, "g", "x");
	ok(conn, rp_sweep(conn, NULL));
	expect_states(conn, ids, "Rrrrr");
	assert_int_equal(state_of(conn, more), RP_STATE_READY);
	for (int i = 0; i < 5; i++)
		claim_one(conn, MINUTE);
}

static void
a_limit_may_be_set_again_before_all_jobs_are_admitted(void **state)
{
	rp_conn *conn = ((struct db *)*state)->conn;
	int64_t ids[3];

	limit_groups(conn, 1);
	put_n(conn, "g", ids, 3);
	limit_groups(conn, 0);
	done_one(conn);
	limit_groups(conn, 2);
	ok(conn, rp_sweep(conn, NULL));
	assert_false(is_empty(conn));
	assert_false(is_empty(conn));
}

/* Sweep until this many jobs are blocked. One sweep may not be enough, because
 * its time is limited. 50 sweeps must be enough. */
static void
sweep_until_blocked(rp_conn *conn, int64_t blocked)
{
	for (int i = 0; i < 50 && stats_of(conn, "q").blocked != blocked; i++)
		ok(conn, rp_sweep(conn, NULL));
}

static void
many_groups_are_admitted_by_a_few_sweeps(void **state)
{
	enum { GROUPS = 2500 };
	rp_conn *conn = ((struct db *)*state)->conn;
	rp_job_spec jobs[2 * GROUPS];
	char names[GROUPS][12];
	rp_queue_stats s;
	rp_groups *left;

	limit_groups(conn, 1);
	for (int i = 0; i < 2 * GROUPS; i++) {
		snprintf(names[i / 2], sizeof(names[0]), "g%d", i / 2);
		jobs[i] = job_of("x");
		jobs[i].group_key = names[i / 2];
	}
	ok(conn, rp_begin(conn));
	for (int i = 0; i < 2 * GROUPS; i++)
		ok(conn, rp_enqueue(conn, "q", &jobs[i], NULL));
	ok(conn, rp_commit(conn));
	sweep_until_blocked(conn, GROUPS);
	s = stats_of(conn, "q");
	assert_int_equal(s.ready, GROUPS);
	assert_int_equal(s.blocked, GROUPS);
	limit_groups(conn, 2);
	sweep_until_blocked(conn, 0);
	s = stats_of(conn, "q");
	assert_int_equal(s.ready, 2 * GROUPS);
	assert_int_equal(s.blocked, 0);
	/* No slot is left when all jobs are done. */
	while (complete_some(conn) > 0)
		;
	ok(conn, rp_group_list(conn, "q", 0, NULL, 10, &left));
	assert_int_equal(rp_groups_count(left), 0);
	rp_groups_free(left);
}

/* ---- blocked jobs are changed ---- */

static void
a_blocked_job_that_is_cancelled_or_purged_leaves_its_group(void **state)
{
	rp_conn *conn = ((struct db *)*state)->conn;
	int64_t ids[4];
	rp_batch *batch;

	limit_groups(conn, 1);
	put_n(conn, "g", ids, 4);
	ok(conn, rp_job_cancel(conn, ids[1], NULL));
	expect_states(conn, ids, "rcbb");
	batch = get(conn, ids[1]);
	assert_int_equal(rp_batch_at(batch, 0)->run_at,
			 rp_batch_at(batch, 0)->created_at);
	rp_batch_free(batch);
	ok(conn, rp_job_cancel(conn, ids[0], NULL));
	expect_states(conn, ids, "ccrb");
	assert_int_equal(
		ok(conn, rp_queue_purge(conn, "q", RP_STATE_BLOCKED, NULL)), 1);
	expect_states(conn, ids, "ccr-");
	ok(conn, rp_job_cancel(conn, ids[2], NULL));
	put_n(conn, "g", ids, 2);
	expect_states(conn, ids, "rb");
}

static void
a_purge_of_all_states_leaves_no_job(void **state)
{
	rp_conn *conn = ((struct db *)*state)->conn;
	int64_t ids[4];

	limit_groups(conn, 1);
	put_n(conn, "g", ids, 4);
	assert_int_equal(ok(conn, rp_queue_purge(conn, "q", 0, NULL)), 4);
	expect_states(conn, ids, "----");
}

static void
a_failed_job_that_is_changed_keeps_its_place(void **state)
{
	rp_conn *conn = ((struct db *)*state)->conn;
	rp_change c = RP_CHANGE_INIT;
	int64_t ids[2];

	limit_groups(conn, 1);
	put_n(conn, "g", ids, 2);
	settle_one(conn, claim_one(conn, MINUTE), RP_FAIL, MINUTE);
	c.max_attempts = 9;
	ok(conn, rp_job_change(conn, ids[0], &c));
	expect_states(conn, ids, "sb");
	change(conn, ids[0], -1, 0, NULL);
	expect_states(conn, ids, "rb");
	assert_int_equal(claim_one(conn, MINUTE).id, ids[0]);
}

static void
jobs_with_large_payloads_enter_their_group(void **state)
{
	static const char large[20000] = { 'x' };
	rp_conn *conn = ((struct db *)*state)->conn;
	rp_job_spec jobs[3];
	rp_added added[3];
	struct claim c;

	limit_groups(conn, 1);
	for (int i = 0; i < 3; i++) {
		jobs[i] = job_of("x");
		jobs[i].group_key = "g";
	}
	jobs[0].payload = large;
	jobs[0].payload_size = sizeof(large);
	ok(conn, rp_enqueue_many(conn, "q", jobs, 3, added));
	for (int i = 0; i < 3; i++) {
		c = claim_one(conn, MINUTE);
		assert_int_equal(c.id, added[i].id);
		assert_true(is_empty(conn));
		settle_one(conn, c, RP_DONE, 0);
	}
}

static void
a_replaced_job_goes_to_the_end_of_its_new_group(void **state)
{
	rp_conn *conn = ((struct db *)*state)->conn;
	rp_job_spec job = job_of("x");
	int64_t ids[3];

	limit_groups(conn, 1);
	ids[0] = put_in_group(conn, "g", "x");
	job.unique_key = "k";
	job.replace = 1;
	ok(conn, rp_enqueue(conn, "q", &job, NULL));
	ids[1] = put_in_group(conn, "g", "x");
	job.group_key = "g";
	ids[2] = put_spec(conn, "q", &job);
	expect_states(conn, ids, "rbb");
	done_one(conn);
	expect_states(conn, ids, "-rb");
}

static void
a_job_that_is_retried_enters_its_group(void **state)
{
	rp_conn *conn = ((struct db *)*state)->conn;
	int64_t ids[2];

	limit_groups(conn, 1);
	put_n(conn, "g", ids, 2);
	settle_one(conn, claim_one(conn, MINUTE), RP_DEAD, 0);
	expect_states(conn, ids, "Dr");
	ok(conn, rp_job_retry(conn, ids[0], NULL));
	expect_states(conn, ids, "br");
	done_one(conn);
	expect_states(conn, ids, "r-");
	ok(conn, rp_job_cancel(conn, ids[0], NULL));
	ok(conn, rp_job_retry(conn, ids[0], NULL));
	ok(conn, rp_sweep(conn, NULL));
	expect_states(conn, ids, "r-");
}

static void
a_changed_job_keeps_its_place_in_its_group(void **state)
{
	rp_conn *conn = ((struct db *)*state)->conn;
	int64_t ids[3];

	limit_groups(conn, 1);
	put_n(conn, "g", ids, 3);
	change(conn, ids[0], -1, 0, NULL);
	expect_states(conn, ids, "rbb");
	change(conn, ids[0], 10, -1, NULL);
	change(conn, ids[0], 150, -1, NULL);
	expect_states(conn, ids, "rbb");
	settle_one(conn, claim_one(conn, MINUTE), RP_FAIL, 0);
	change(conn, ids[0], -1, 0, NULL);
	expect_states(conn, ids, "rbb");
	change(conn, ids[1], -1, 0, NULL);
	done_one(conn);
	expect_states(conn, ids, "-rb");
}

static void
a_blocked_job_can_be_changed(void **state)
{
	rp_conn *conn = ((struct db *)*state)->conn;
	int64_t ids[4];

	limit_groups(conn, 1);
	put_n(conn, "g", ids, 4);
	change(conn, ids[3], 1, -1, NULL);
	expect_states(conn, ids, "rbbb");
	done_one(conn);
	expect_states(conn, ids, "-bbr");
	change(conn, ids[3], -1, MINUTE, NULL);
	expect_states(conn, ids, "-rbs");
	change(conn, ids[2], -1, MINUTE, NULL);
	expect_states(conn, ids, "-rss");
	change(conn, ids[3], -1, 0, NULL);
	expect_states(conn, ids, "-rsb");
	put(conn, "other", "x");
	change(conn, ids[3], -1, -1, "other");
	expect_states(conn, ids, "-rsr");
	change(conn, ids[3], -1, -1, "q");
	expect_states(conn, ids, "-rsb");
	change(conn, ids[1], -1, -1, "other");
	expect_states(conn, ids, "-rsr");
	assert_int_equal(claim_one(conn, MINUTE).id, ids[3]);
}

static rp_added
put_unique(rp_conn *conn, const char *group, int replace, int64_t delay_ms)
{
	rp_job_spec job = job_of("y");
	rp_added added;

	job.group_key = group;
	job.unique_key = "k";
	job.replace = replace;
	job.delay_ms = delay_ms;
	ok(conn, rp_enqueue(conn, "q", &job, &added));
	return added;
}

static void
a_blocked_job_keeps_its_unique_key_and_can_be_replaced(void **state)
{
	rp_conn *conn = ((struct db *)*state)->conn;
	int64_t ids[3];
	rp_batch *batch;

	limit_groups(conn, 1);
	ids[0] = put_in_group(conn, "g", "x");
	ids[1] = put_unique(conn, "g", 0, 0).id;
	ids[2] = put_in_group(conn, "g", "x");
	expect_states(conn, ids, "rbb");
	assert_int_equal(put_unique(conn, "g", 0, 0).outcome, RP_EXISTED);
	assert_int_equal(put_unique(conn, "g", 1, 0).outcome, RP_REPLACED);
	expect_states(conn, ids, "rbb");
	done_one(conn);
	expect_states(conn, ids, "-rb");
	put_unique(conn, "g", 1, 0);
	expect_states(conn, ids, "-rb");
	put_unique(conn, "h", 1, 0);
	ok(conn, rp_sweep(conn, NULL));
	expect_states(conn, ids, "-rr");
	batch = get(conn, ids[1]);
	assert_string_equal(rp_batch_at(batch, 0)->group_key, "h");
	rp_batch_free(batch);
	put_unique(conn, "g", 1, 0);
	expect_states(conn, ids, "-br");
	put_unique(conn, "g", 1, MINUTE);
	expect_states(conn, ids, "-sr");
	put_unique(conn, NULL, 1, 0);
	expect_states(conn, ids, "-rr");
}

static void
a_queue_with_blocked_jobs_can_be_dropped(void **state)
{
	rp_conn *conn = ((struct db *)*state)->conn;
	int64_t ids[3];

	limit_groups(conn, 1);
	put_n(conn, "g", ids, 3);
	ok(conn, rp_queue_hold(conn, "q", "other", MINUTE));
	ok(conn, rp_queue_drop(conn, "q"));
	expect_states(conn, ids, "---");
	limit_groups(conn, 1);
	put_n(conn, "g", ids, 3);
	expect_states(conn, ids, "rbb");
}

/* Claim a job of the group, let its lease end, and block it by a hold. */
static struct claim
claim_and_block(rp_conn *conn, int64_t *ids)
{
	struct claim c;

	put_n(conn, "g", ids, 2);
	c = claim_one(conn, 1);
	sleep_ms(20);
	ok(conn, rp_queue_hold(conn, "q", "g", MINUTE));
	ok(conn, rp_sweep(conn, NULL));
	assert_true(is_empty(conn));
	expect_states(conn, ids, "bb");
	return c;
}

static void
P13_a_verdict_after_the_lease_is_accepted_from_a_blocked_job(void **state)
{
	static const int verdicts[] = { RP_DONE, RP_FAIL, RP_DEAD, RP_RELEASE };
	static const char *const after[] = { "-b", "bb", "Db", "bb" };
	rp_conn *conn = ((struct db *)*state)->conn;
	int64_t ids[2];

	limit_groups(conn, 1);
	for (int i = 0; i < 4; i++) {
		struct claim c = claim_and_block(conn, ids);

		settle_one(conn, c, verdicts[i], 0);
		expect_states(conn, ids, after[i]);
		ok(conn, rp_queue_hold(conn, "q", "g", 0));
		if (*after[i] == 'b') /* P11: it has kept its place */
			run_one_by_one(conn, ids, 1);
		run_one_by_one(conn, &ids[1], 1);
		put_n(conn, "g", ids, 2);
		run_one_by_one(conn, ids, 2);
		assert_int_equal(stats_of(conn, "q").blocked, 0);
	}
}

static void
P10_an_extension_after_the_lease_is_refused_by_a_blocked_job(void **state)
{
	rp_conn *conn = ((struct db *)*state)->conn;
	int64_t ids[2];
	struct claim c;

	limit_groups(conn, 1);
	c = claim_and_block(conn, ids);
	assert_int_equal(rp_extend(conn, c.id, c.no, MINUTE), RP_EGONE);
	expect_states(conn, ids, "bb");
	ok(conn, rp_queue_hold(conn, "q", "g", 0));
	run_one_by_one(conn, ids, 2);
}

static void
P10_an_extension_after_the_lease_starts_no_job_beside_others(void **state)
{
	rp_conn *conn = ((struct db *)*state)->conn;
	rp_queue q = RP_QUEUE_INIT;
	struct claim late, other;

	q.name = "q";
	q.run_limit = 1;
	settings(conn, q);
	put(conn, "q", "x");
	late = claim_one(conn, 1);
	sleep_ms(20);
	/* Until a sweep, the job counts as running, so no job starts. */
	ok(conn, rp_extend(conn, late.id, late.no, 1));
	sleep_ms(20);
	ok(conn, rp_sweep(conn, NULL));
	assert_int_equal(rp_extend(conn, late.id, late.no, MINUTE), RP_EGONE);
	other = claim_one(conn, MINUTE);
	assert_int_equal(other.id, late.id);
	settle_one(conn, other, RP_DONE, 0);
}

static void
P10_an_extension_after_the_lease_is_refused_above_a_lowered_limit(void **state)
{
	rp_conn *conn = ((struct db *)*state)->conn;
	int64_t ids[2];
	struct claim late, other;

	limit_groups(conn, 2);
	put_n(conn, "g", ids, 2);
	late = claim_one(conn, 1);
	other = claim_one(conn, MINUTE);
	limit_groups(conn, 1);
	sleep_ms(20);
	ok(conn, rp_sweep(conn, NULL));
	assert_int_equal(rp_extend(conn, late.id, late.no, MINUTE), RP_EGONE);
	settle_one(conn, other, RP_DONE, 0);
	run_one_by_one(conn, &late.id, 1);
}

static void
P13_a_job_that_is_done_while_there_is_no_limit_gives_up_its_slot(void **state)
{
	rp_conn *conn = ((struct db *)*state)->conn;
	int64_t ids[2];
	struct claim c;

	limit_groups(conn, 1);
	put_n(conn, "g", ids, 1);
	c = claim_one(conn, MINUTE);
	limit_groups(conn, 0);
	settle_one(conn, c, RP_DONE, 0);
	limit_groups(conn, 1);
	put_n(conn, "g", ids, 2);
	run_one_by_one(conn, ids, 2);
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		CASE(a_limit_that_is_set_holds_for_jobs_in_the_line),
		CASE(a_limit_that_is_set_holds_for_jobs_far_behind_in_the_line),
		CASE(a_new_limit_counts_the_jobs_of_a_group_that_run_already),
		CASE(a_limit_that_is_raised_admits_more_jobs),
		CASE(a_limit_that_is_lowered_ends_no_job_and_admits_none),
		CASE(jobs_that_are_ready_wait_if_the_limit_is_lowered),
		CASE(P11_a_first_limit_keeps_the_order_of_the_line),
		CASE(P11_a_job_of_better_priority_gets_the_slot_when_a_limit_is_set),
		CASE(P11_jobs_of_one_sweep_keep_their_order_if_the_limit_was_lowered),
		CASE(P11_a_first_limit_keeps_the_order_beside_a_job_of_better_priority),
		CASE(many_jobs_keep_their_order_if_the_limit_is_lowered),
		CASE(a_first_limit_keeps_the_order_of_many_jobs_in_the_line),
		CASE(P11_a_first_limit_keeps_the_order_behind_a_released_job),
		CASE(P11_a_first_limit_keeps_the_order_of_jobs_that_came_together),
		CASE(a_job_that_runs_when_the_limit_is_set_keeps_its_place),
		CASE(a_limit_that_is_removed_lets_all_jobs_run),
		CASE(a_limit_may_be_set_again_before_all_jobs_are_admitted),
		CASE(many_groups_are_admitted_by_a_few_sweeps),
		CASE(a_blocked_job_that_is_cancelled_or_purged_leaves_its_group),
		CASE(a_purge_of_all_states_leaves_no_job),
		CASE(a_failed_job_that_is_changed_keeps_its_place),
		CASE(jobs_with_large_payloads_enter_their_group),
		CASE(a_replaced_job_goes_to_the_end_of_its_new_group),
		CASE(a_job_that_is_retried_enters_its_group),
		CASE(a_changed_job_keeps_its_place_in_its_group),
		CASE(a_blocked_job_can_be_changed),
		CASE(a_blocked_job_keeps_its_unique_key_and_can_be_replaced),
		CASE(a_queue_with_blocked_jobs_can_be_dropped),
		CASE(P13_a_verdict_after_the_lease_is_accepted_from_a_blocked_job),
		CASE(P10_an_extension_after_the_lease_is_refused_by_a_blocked_job),
		CASE(P10_an_extension_after_the_lease_starts_no_job_beside_others),
		CASE(P10_an_extension_after_the_lease_is_refused_above_a_lowered_limit),
		CASE(P13_a_job_that_is_done_while_there_is_no_limit_gives_up_its_slot),
	};

	databases_at(argc, argv);
	return cmocka_run_group_tests_name("groups_change", tests, NULL, NULL);
}
