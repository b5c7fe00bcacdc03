/*
 * hold_calls.c - test the calls of the C API for groups and holds:
 * rp_task_hold() in a handler, holds in verdicts, the list of groups, the list
 * of blocked jobs, and workers that drain.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "check.h"

#include <stdatomic.h>
#include <stddef.h>

#define MINUTE 60000

/* Return the first group whose name comes after `after`. Its name must be
 * `name`. If `name` is NULL, there must be no such group. */
static rp_group
group_after(rp_conn *conn, const char *after, const char *name)
{
	rp_group group = { 0 };
	rp_groups *groups;

	ok(conn, rp_group_list(conn, "q", 0, after, 1, &groups));
	assert_int_equal(rp_groups_count(groups), name != NULL);
	if (name) {
		group = *rp_groups_at(groups, 0);
		assert_string_equal(group.name, name);
	}
	assert_null(rp_groups_at(groups, 1));
	rp_groups_free(groups);
	group.name = NULL;
	return group;
}

static void
a_hold_is_shown_until_it_ends(void **state)
{
	struct db *db = *state;
	int64_t until, now;

	put(db->conn, "q", "x");
	assert_int_equal(stats_of(db->conn, "q").held_until, 0);
	ok(db->conn, rp_queue_hold(db->conn, "q", NULL, MINUTE));
	until = held_until(db->conn);
	assert_int_not_equal(until, 0);
	assert_int_equal(stats_of(db->conn, "q").held_until, until);
	ok(db->conn, rp_queue_hold(db->conn, "q", NULL, 1));
	ok(db->conn, rp_now(db->conn, &now));
	wait_until(db->conn, now + 2);
	assert_int_equal(held_until(db->conn), 0);
	assert_int_equal(stats_of(db->conn, "q").held_until, 0);
}

/* ---- in a handler ---- */

static void
work(const struct db *db, rp_handler *handler, void *ctx)
{
	rp_worker_options options = RP_WORKER_INIT;
	rp_worker *worker;
	rp_error error = { 0 };

	options.drain = RP_DRAIN_READY;
	assert_int_equal(rp_worker_new(db->url, &options, &worker, NULL), 0);
	assert_int_equal(rp_worker_handle(worker, "q", NULL, handler, ctx), 0);
	if (rp_worker_run(worker, &error) < 0)
		fail_msg("%s", error.message);
	rp_worker_free(worker);
}

static int
hold_the_group(rp_task *task, const rp_job *job, void *ctx)
{
	atomic_int *calls = ctx;

	atomic_fetch_add(calls, 1);
	assert_int_equal(rp_task_hold(task, 3, 1), RP_EINVAL);
	assert_int_equal(rp_task_hold(task, RP_HOLD_GROUP, 0), RP_EINVAL);
	assert_int_equal(rp_task_hold(task, RP_HOLD_GROUP, RP_MOST_MS + 1),
			 RP_EINVAL);
	assert_int_equal(rp_task_hold(NULL, RP_HOLD_GROUP, 1), RP_EINVAL);
	if (!job->group_key)
		return RP_DONE;
	assert_int_equal(rp_task_hold(task, RP_HOLD_GROUP, MINUTE), 0);
	return RP_RELEASE;
}

static void
a_handler_holds_its_group_and_other_jobs_run(void **state)
{
	struct db *db = *state;
	atomic_int calls = 0;
	int64_t ids[3];

	limit_groups(db->conn, 1);
	ids[0] = put_in_group(db->conn, "g", "x");
	ids[1] = put_in_group(db->conn, "g", "y");
	ids[2] = put(db->conn, "q", "z");
	work(db, hold_the_group, &calls);
	assert_int_equal(atomic_load(&calls), 2);
	expect_states(db->conn, ids, "bb-");
	assert_int_not_equal(group_after(db->conn, NULL, "g").held_until, 0);
	assert_int_equal(held_until(db->conn), 0);
}

static int
hold_the_queue_at_last(rp_task *task, const rp_job *job, void *ctx)
{
	(void)job;
	(void)ctx;
	assert_int_equal(rp_task_hold(task, RP_HOLD_GROUP, 1), 0);
	assert_int_equal(rp_task_hold(task, RP_HOLD_QUEUE, MINUTE), 0);
	rp_task_error(task, "come back later");
	rp_task_delay(task, 0);
	return RP_FAIL;
}

static void
the_last_hold_of_a_handler_counts(void **state)
{
	struct db *db = *state;
	rp_batch *job;
	int64_t id = put_in_group(db->conn, "g", "x");

	work(db, hold_the_queue_at_last, NULL);
	assert_int_not_equal(held_until(db->conn), 0);
	job = get(db->conn, id);
	assert_int_equal(rp_batch_at(job, 0)->state, RP_STATE_BLOCKED);
	assert_int_equal(rp_batch_at(job, 0)->attempt, 1);
	rp_batch_free(job);
}

static int
hold_and_complete(rp_task *task, const rp_job *job, void *ctx)
{
	(void)job;
	(void)ctx;
	assert_int_equal(rp_task_hold(task, RP_HOLD_QUEUE, MINUTE), 0);
	return RP_DONE;
}

static void
a_handler_whose_job_is_done_holds_nothing(void **state)
{
	struct db *db = *state;

	put_in_group(db->conn, "g", "x");
	work(db, hold_and_complete, NULL);
	assert_int_equal(held_until(db->conn), 0);
	group_after(db->conn, NULL, NULL);
}

/* ---- in a verdict ---- */

static void
a_hold_that_makes_no_sense_is_refused_with_all_verdicts(void **state)
{
	static const struct {
		int verdict, hold;
		int64_t ms;
	} bad[] = {
		{ RP_DONE, RP_HOLD_GROUP, 1 },
		{ RP_EXTEND, RP_HOLD_QUEUE, 1 },
		{ RP_RELEASE, 3, 1 },
		{ RP_RELEASE, -1, 1 },
		{ RP_FAIL, RP_HOLD_GROUP, 0 },
		{ RP_DEAD, RP_HOLD_QUEUE, -1 },
		{ RP_DEAD, RP_HOLD_QUEUE, RP_MOST_MS + 1 },
	};
	rp_conn *conn = ((struct db *)*state)->conn;
	int64_t id = put_in_group(conn, "g", "x");
	rp_verdict v = verdict_on(claim_one(conn, MINUTE), RP_RELEASE);

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		v.verdict = bad[i].verdict;
		v.hold = bad[i].hold;
		v.hold_ms = bad[i].ms;
		assert_int_equal(rp_settle(conn, &v, 1), RP_EINVAL);
		assert_int_equal(state_of(conn, id), RP_STATE_RUNNING);
	}
	assert_int_equal(held_until(conn), 0);
}

static void
an_older_verdict_has_no_hold(void **state)
{
	rp_conn *conn = ((struct db *)*state)->conn;
	rp_verdict v;

	put_in_group(conn, "g", "x");
	v = verdict_on(claim_one(conn, MINUTE), RP_RELEASE);
	v.size = offsetof(rp_verdict, hold);
	v.hold = RP_HOLD_QUEUE;
	v.hold_ms = MINUTE;
	assert_int_equal(ok(conn, rp_settle(conn, &v, 1)), 1);
	assert_int_equal(held_until(conn), 0);
}

static void
a_hold_in_a_transaction_is_rolled_back_with_it(void **state)
{
	rp_conn *conn = ((struct db *)*state)->conn;
	int64_t id = put_in_group(conn, "g", "x");
	rp_verdict v = verdict_on(claim_one(conn, MINUTE), RP_RELEASE);

	v.hold = RP_HOLD_QUEUE;
	v.hold_ms = MINUTE;
	ok(conn, rp_begin(conn));
	assert_int_equal(ok(conn, rp_settle(conn, &v, 1)), 1);
	ok(conn, rp_rollback(conn));
	assert_int_equal(held_until(conn), 0);
	assert_int_equal(state_of(conn, id), RP_STATE_RUNNING);
}

/* ---- lists ---- */

static void
groups_are_listed_by_the_bytes_of_their_names(void **state)
{
	static const char *const names[] = { "B", "a", "b", "\xc3\xa9" };
	rp_conn *conn = ((struct db *)*state)->conn;
	const char *after = NULL;
	rp_groups *groups;
	rp_group g;

	limit_groups(conn, 1);
	for (int i = 3; i >= 0; i--) {
		put_in_group(conn, names[i], "x");
		if (i != 2)
			put_in_group(conn, names[i], "y");
	}
	for (int i = 0; i < 4; i++) {
		g = group_after(conn, after, names[i]);
		assert_int_equal(g.waiting, i != 2);
		assert_int_equal(g.ready, 1);
		assert_int_equal(g.running, 0);
		assert_int_equal(g.limit, 1);
		after = names[i];
	}
	group_after(conn, after, NULL);
	ok(conn, rp_group_list(conn, "q", 1, "a", 9, &groups));
	assert_int_equal(rp_groups_count(groups), 1);
	assert_string_equal(rp_groups_at(groups, 0)->name, "\xc3\xa9");
	rp_groups_free(groups);
	assert_int_equal(rp_group_list(conn, "no", 0, NULL, 9, &groups),
			 RP_ENOENT);
	assert_int_equal(rp_group_list(conn, "q", 0, "a\n", 9, &groups),
			 RP_EINVAL);
	assert_int_equal(rp_group_list(conn, "q", 0, NULL, 9, NULL), RP_EINVAL);
	rp_groups_free(NULL);
}

static size_t
listed(rp_conn *conn, int state)
{
	rp_batch *batch;
	int n = (int)ok(conn, rp_job_list(conn, "q", state, 50, &batch));

	for (int i = 0; i < n && state; i++)
		assert_int_equal(rp_batch_at(batch, (size_t)i)->state, state);
	rp_batch_free(batch);
	return (size_t)n;
}

static void
each_live_job_is_listed_in_one_state(void **state)
{
	rp_conn *conn = ((struct db *)*state)->conn;
	rp_queue q = RP_QUEUE_INIT;
	struct claim running;

	limit_groups(conn, 1);
	for (int i = 0; i < 3; i++)
		put_in_group(conn, "g", "x");
	put(conn, "q", "y");
	assert_int_equal(listed(conn, 0), 4);
	assert_int_equal(listed(conn, RP_STATE_READY), 2);
	assert_int_equal(listed(conn, RP_STATE_BLOCKED), 2);
	q.name = "q";
	q.run_limit = 1;
	settings(conn, q);
	running = claim_one(conn, MINUTE);
	assert_int_equal(listed(conn, 0), 4);
	assert_int_equal(listed(conn, RP_STATE_READY), 0);
	assert_int_equal(listed(conn, RP_STATE_BLOCKED), 3);
	assert_int_equal(listed(conn, RP_STATE_SCHEDULED), 0);
	assert_int_equal(rp_queue_purge(conn, "q", RP_STATE_READY, NULL), 0);
	assert_int_equal(rp_queue_purge(conn, "q", RP_STATE_SCHEDULED, NULL),
			 0);
	assert_int_equal(rp_queue_purge(conn, "q", RP_STATE_BLOCKED, NULL), 3);
	settle_one(conn, running, RP_DONE, 0);
	assert_int_equal(listed(conn, 0), 0);
}

/* ---- workers that drain ---- */

static int
count(rp_task *task, const rp_job *job, void *ctx)
{
	atomic_int *calls = ctx;

	(void)task;
	(void)job;
	atomic_fetch_add(calls, 1);
	return RP_DONE;
}

static void
P12_a_worker_that_drains_waits_for_the_rate(void **state)
{
	struct db *db = *state;
	rp_queue q = RP_QUEUE_INIT;
	int64_t began = now_ms();
	atomic_int calls = 0;

	q.name = "q";
	q.rate_count = 2;
	q.rate_ms = 400;
	settings(db->conn, q);
	for (int i = 0; i < 5; i++)
		put(db->conn, "q", "x");
	work(db, count, &calls);
	assert_int_equal(atomic_load(&calls), 5);
	assert_true(now_ms() - began >= 800);
}

static void
a_worker_that_drains_does_not_wait_for_a_hold(void **state)
{
	struct db *db = *state;
	atomic_int calls = 0;

	put_in_group(db->conn, "g", "x");
	put(db->conn, "q", "y");
	ok(db->conn, rp_queue_hold(db->conn, "q", "g", MINUTE));
	work(db, count, &calls);
	assert_int_equal(atomic_load(&calls), 1);
	put(db->conn, "q", "z");
	ok(db->conn, rp_queue_hold(db->conn, "q", NULL, MINUTE));
	work(db, count, &calls);
	assert_int_equal(atomic_load(&calls), 1);
}

static void
a_worker_that_drains_does_not_wait_for_a_hold_of_a_queue_with_groups(
	void **state)
{
	struct db *db = *state;
	atomic_int calls = 0;

	limit_groups(db->conn, 1);
	put_in_group(db->conn, "g", "x");
	put_in_group(db->conn, "g", "y");
	ok(db->conn, rp_queue_hold(db->conn, "q", NULL, 5000));
	work(db, count, &calls);
	assert_int_equal(atomic_load(&calls), 0);
}

static void
a_worker_that_drains_waits_for_a_retry_behind_many_held_groups(void **state)
{
	struct db *db = *state;
	atomic_int calls = 0;
	char name[16];

	limit_groups(db->conn, 1);
	put_in_group(db->conn, "z", "first");
	put_in_group(db->conn, "z", "second");
	for (int i = 0; i < 1001; i++) {
		snprintf(name, sizeof(name), "g%04d", i);
		ok(db->conn, rp_queue_hold(db->conn, "q", name, MINUTE));
		put_in_group(db->conn, name, "x");
	}
	settle_one(db->conn, claim_one(db->conn, MINUTE), RP_FAIL, 300);
	work(db, count, &calls);
	assert_int_equal(atomic_load(&calls), 2);
}

static void
a_worker_that_drains_waits_for_a_retry_behind_many_other_retries(void **state)
{
	struct db *db = *state;
	atomic_int calls = 0;
	char name[16];

	limit_groups(db->conn, 1);
	for (int i = 0; i < 1001; i++) {
		snprintf(name, sizeof(name), "g%04d", i);
		put_in_group(db->conn, name, "x");
		settle_one(db->conn, claim_one(db->conn, MINUTE), RP_FAIL,
			   MINUTE);
	}
	put_in_group(db->conn, "z", "first");
	put_in_group(db->conn, "z", "second");
	settle_one(db->conn, claim_one(db->conn, MINUTE), RP_FAIL, 300);
	ok(db->conn, rp_queue_hold(db->conn, "q", "other", MINUTE));
	work(db, count, &calls);
	assert_int_equal(atomic_load(&calls), 2);
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		CASE(a_hold_is_shown_until_it_ends),
		CASE(a_handler_holds_its_group_and_other_jobs_run),
		CASE(the_last_hold_of_a_handler_counts),
		CASE(a_handler_whose_job_is_done_holds_nothing),
		CASE(a_hold_that_makes_no_sense_is_refused_with_all_verdicts),
		CASE(an_older_verdict_has_no_hold),
		CASE(a_hold_in_a_transaction_is_rolled_back_with_it),
		CASE(groups_are_listed_by_the_bytes_of_their_names),
		CASE(each_live_job_is_listed_in_one_state),
		CASE(P12_a_worker_that_drains_waits_for_the_rate),
		CASE(a_worker_that_drains_does_not_wait_for_a_hold),
		CASE(a_worker_that_drains_does_not_wait_for_a_hold_of_a_queue_with_groups),
		CASE(a_worker_that_drains_waits_for_a_retry_behind_many_held_groups),
		CASE(a_worker_that_drains_waits_for_a_retry_behind_many_other_retries),
	};

	databases_at(argc, argv);
	return cmocka_run_group_tests_name("hold_calls", tests, NULL, NULL);
}
