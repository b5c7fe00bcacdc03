/*
 * holds.c - test holds: no claim gets a job of a held queue or group until the
 * hold ends.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "check.h"

#define MINUTE 60000

/* Claim the next job. Returns 0 if no job may start. A claim that has taken
 * blocked jobs out of the line for 10 ms may return no job, although there is
 * one. So this function claims several times. */
static int64_t
next_id(rp_conn *conn)
{
	struct claim c = { 0 };

	for (int i = 0; i < 10; i++)
		if (take_one(conn, "q", MINUTE, &c))
			return c.id;
	return 0;
}

/* ---- holds of a queue ---- */

static void
a_held_queue_starts_no_job_until_its_time(void **state)
{
	static const char *const queues[] = { "q", NULL };
	rp_conn *conn = ((struct db *)*state)->conn;
	struct claim running;
	int64_t ids[2];

	put_n(conn, "g", ids, 2);
	running = claim_one(conn, MINUTE);
	ok(conn, rp_queue_hold(conn, "q", NULL, 2000));
	assert_int_not_equal(held_until(conn), 0);
	expect_states(conn, ids, "Rb");
	assert_int_equal(next_id(conn), 0);
	settle_one(conn, running, RP_RELEASE, 0);
	expect_states(conn, ids, "bb");
	assert_int_equal(ok(conn, rp_wait(conn, queues, 10000, -1)), 1);
	expect_states(conn, ids, "rr");
	assert_int_equal(next_id(conn), ids[0]);
}

static void
a_hold_of_a_queue_can_be_ended_and_replaced(void **state)
{
	rp_conn *conn = ((struct db *)*state)->conn;
	int64_t id = put(conn, "q", "x");

	ok(conn, rp_queue_hold(conn, "q", NULL, MINUTE));
	assert_int_equal(next_id(conn), 0);
	ok(conn, rp_queue_hold(conn, "q", NULL, 0));
	assert_int_equal(held_until(conn), 0);
	ok(conn, rp_queue_hold(conn, "q", NULL, MINUTE));
	ok(conn, rp_queue_hold(conn, "q", NULL, 50));
	sleep_ms(100);
	assert_int_equal(next_id(conn), id);
	assert_int_equal(rp_queue_hold(conn, "nosuch", NULL, 1), RP_ENOENT);
	assert_int_equal(rp_queue_hold(conn, "q", NULL, -1), RP_EINVAL);
}

static void
a_released_job_comes_back_when_the_hold_of_its_queue_ends(void **state)
{
	static const char *const queues[] = { "q", NULL };
	rp_conn *conn = ((struct db *)*state)->conn;
	int64_t id = put(conn, "q", "x");
	rp_verdict v = verdict_on(claim_one(conn, MINUTE), RP_RELEASE);

	v.delay_ms = 0;
	v.hold = RP_HOLD_QUEUE;
	v.hold_ms = 2000;
	assert_int_equal(ok(conn, rp_settle(conn, &v, 1)), 1);
	assert_int_equal(v.state, RP_STATE_BLOCKED);
	assert_int_equal(state_of(conn, id), RP_STATE_BLOCKED);
	assert_int_equal(next_id(conn), 0);
	assert_int_equal(ok(conn, rp_wait(conn, queues, 10000, -1)), 1);
	assert_int_equal(next_id(conn), id);
}

static void
groups_of_a_held_queue_have_no_ready_job(void **state)
{
	rp_conn *conn = ((struct db *)*state)->conn;
	const rp_group *g;
	rp_groups *groups;
	int64_t ids[3];

	limit_groups(conn, 2);
	put_n(conn, "g", ids, 3);
	ok(conn, rp_queue_hold(conn, "q", NULL, MINUTE));
	ok(conn, rp_group_list(conn, "q", 0, NULL, 10, &groups));
	assert_int_equal(rp_groups_count(groups), 1);
	g = rp_groups_at(groups, 0);
	assert_int_equal(g->waiting, 3);
	assert_int_equal(g->ready, 0);
	rp_groups_free(groups);
}

/* ---- holds of a group ---- */

static void
a_hold_that_has_ended_is_not_listed(void **state)
{
	rp_conn *conn = ((struct db *)*state)->conn;
	rp_groups *groups;

	limit_groups(conn, 0);
	ok(conn, rp_queue_hold(conn, "q", "g", MINUTE));
	ok(conn, rp_queue_hold(conn, "q", "h", MINUTE));
	ok(conn, rp_queue_hold(conn, "q", "g", 0));
	ok(conn, rp_group_list(conn, "q", 0, NULL, 10, &groups));
	assert_int_equal(rp_groups_count(groups), 1);
	assert_string_equal(rp_groups_at(groups, 0)->name, "h");
	rp_groups_free(groups);
}

/* Hold group g. Its running job goes on. No other job of the group starts,
 * neither a ready job nor a new one. The jobs of other groups start. */
static void
check_held_group(rp_conn *conn, int64_t *ids)
{
	struct claim running;
	int64_t other;

	put_n(conn, "g", ids, 3);
	running = claim_one(conn, MINUTE);
	assert_int_equal(running.id, ids[0]);
	ok(conn, rp_queue_hold(conn, "q", "g", MINUTE));
	put_n(conn, "g", ids + 3, 1);
	expect_states(conn, ids, "Rbbb");
	other = put_in_group(conn, "h", "x");
	assert_int_equal(next_id(conn), other);
	assert_int_equal(next_id(conn), 0);
	expect_states(conn, ids, "Rbbb");
	settle_one(conn, running, RP_RELEASE, 0);
	expect_states(conn, ids, "bbbb");
	ok(conn, rp_sweep(conn, NULL));
	assert_int_equal(next_id(conn), 0);
	ok(conn, rp_queue_hold(conn, "q", "g", 0));
	ok(conn, rp_sweep(conn, NULL));
}

static void
a_held_group_with_a_limit_starts_no_job(void **state)
{
	rp_conn *conn = ((struct db *)*state)->conn;
	int64_t ids[4];

	limit_groups(conn, 2);
	check_held_group(conn, ids);
	expect_states(conn, ids, "rrbb");
	for (int i = 0; i < 2; i++)
		assert_int_equal(next_id(conn), ids[i]);
	assert_int_equal(next_id(conn), 0);
}

static void
a_held_group_without_a_limit_starts_no_job(void **state)
{
	rp_conn *conn = ((struct db *)*state)->conn;
	int64_t ids[4];

	check_held_group(conn, ids);
	expect_states(conn, ids, "rrrr");
	for (int i = 0; i < 4; i++)
		assert_int_not_equal(next_id(conn), 0);
	assert_int_equal(next_id(conn), 0);
}

/* The call that begins a hold examines only the first thousand ready jobs. */
static void
a_held_group_far_behind_in_the_line_starts_no_job(void **state)
{
	static rp_job_spec ahead[1000];
	rp_conn *conn = ((struct db *)*state)->conn;
	int64_t ids[3], other;
	rp_batch *batch;

	for (int i = 0; i < 1000; i++)
		ahead[i] = job_of("x");
	ok(conn, rp_enqueue_many(conn, "q", ahead, 1000, NULL));
	put_n(conn, "g", ids, 3);
	other = put_in_group(conn, "h", "x");
	ok(conn, rp_queue_hold(conn, "q", "g", MINUTE));
	batch = take(conn, "q", 1000, MINUTE);
	assert_int_equal(rp_batch_count(batch), 1000);
	rp_batch_free(batch);
	assert_int_equal(next_id(conn), other);
	assert_int_equal(next_id(conn), 0);
	expect_states(conn, ids, "bbb");
}

static void
a_hold_of_a_group_ends_by_itself(void **state)
{
	static const char *const queues[] = { "q", NULL };
	rp_conn *conn = ((struct db *)*state)->conn;
	int64_t ids[3];

	for (int limit = 0; limit < 2; limit++) {
		limit_groups(conn, limit);
		put_n(conn, "g", ids, 3);
		ok(conn, rp_queue_hold(conn, "q", "g", 2000));
		assert_int_equal(next_id(conn), 0);
		expect_states(conn, ids, "bbb");
		assert_int_equal(ok(conn, rp_wait(conn, queues, 10000, -1)), 1);
		for (int i = 0; i < 3; i++) {
			struct claim c = claim_one(conn, MINUTE);

			assert_int_equal(c.id, ids[i]);
			settle_one(conn, c, RP_DONE, 0);
		}
	}
}

static void
a_held_group_admits_no_job_when_one_ends(void **state)
{
	rp_conn *conn = ((struct db *)*state)->conn;
	struct claim c;
	int64_t ids[3];

	limit_groups(conn, 1);
	put_n(conn, "g", ids, 3);
	c = claim_one(conn, MINUTE);
	ok(conn, rp_queue_hold(conn, "q", "g", MINUTE));
	settle_one(conn, c, RP_DONE, 0);
	expect_states(conn, ids, "-bb");
	ok(conn, rp_queue_hold(conn, "q", "g", 0));
	ok(conn, rp_sweep(conn, NULL));
	expect_states(conn, ids, "-rb");
}

static void
a_retry_that_is_due_waits_for_the_hold_of_its_group(void **state)
{
	rp_conn *conn = ((struct db *)*state)->conn;
	int64_t ids[2];

	limit_groups(conn, 1);
	put_n(conn, "g", ids, 2);
	settle_one(conn, claim_one(conn, MINUTE), RP_FAIL, 10);
	ok(conn, rp_queue_hold(conn, "q", "g", MINUTE));
	sleep_ms(50);
	ok(conn, rp_sweep(conn, NULL));
	expect_states(conn, ids, "bb");
	ok(conn, rp_queue_hold(conn, "q", "g", 0));
	ok(conn, rp_sweep(conn, NULL));
	expect_states(conn, ids, "rb");
	assert_int_equal(next_id(conn), ids[0]);
}

static void
a_verdict_can_hold_the_group(void **state)
{
	rp_conn *conn = ((struct db *)*state)->conn;
	int64_t ids[2], other;
	rp_verdict v;

	limit_groups(conn, 1);
	put_n(conn, "g", ids, 2);
	other = put_in_group(conn, "h", "x");
	v = verdict_on(claim_one(conn, MINUTE), RP_RELEASE);
	v.delay_ms = 0;
	v.hold = RP_HOLD_GROUP;
	v.hold_ms = MINUTE;
	assert_int_equal(ok(conn, rp_settle(conn, &v, 1)), 1);
	assert_int_equal(v.state, RP_STATE_BLOCKED);
	expect_states(conn, ids, "bb");
	assert_int_equal(next_id(conn), other);
	assert_int_equal(next_id(conn), 0);
	ok(conn, rp_queue_hold(conn, "q", "g", 0));
	ok(conn, rp_sweep(conn, NULL));
	v = verdict_on(claim_one(conn, MINUTE), RP_DEAD);
	assert_int_equal(v.id, ids[0]);
	v.hold = RP_HOLD_GROUP;
	v.hold_ms = MINUTE;
	assert_int_equal(ok(conn, rp_settle(conn, &v, 1)), 1);
	expect_states(conn, ids, "Db");
}

static void
a_late_verdict_holds_nothing(void **state)
{
	rp_conn *conn = ((struct db *)*state)->conn;
	int64_t id = put_in_group(conn, "g", "x");
	rp_verdict v = verdict_on(claim_one(conn, MINUTE), RP_RELEASE);

	ok(conn, rp_release(conn, v.id, v.claim_no, 0));
	v.delay_ms = 0;
	v.hold = RP_HOLD_QUEUE;
	v.hold_ms = MINUTE;
	assert_int_equal(rp_settle(conn, &v, 1), 0);
	assert_int_equal(v.result, RP_EGONE);
	assert_int_equal(next_id(conn), id);
}

static void
a_group_without_jobs_can_be_held(void **state)
{
	rp_conn *conn = ((struct db *)*state)->conn;
	int64_t id;

	limit_groups(conn, 0);
	ok(conn, rp_queue_hold(conn, "q", "g", MINUTE));
	ok(conn, rp_queue_hold(conn, "q", "h", 0));
	id = put_in_group(conn, "g", "x");
	assert_int_equal(next_id(conn), 0);
	assert_int_equal(state_of(conn, id), RP_STATE_BLOCKED);
}

/* Claims search for holds until the time holds_until. */
static void
claims_search_for_no_hold_after_the_last_one_was_ended(void **state)
{
	struct db *db = *state;

	if (!*db->path)
		return; /* a server has no column holds_until */
	limit_groups(db->conn, 1);
	ok(db->conn, rp_queue_hold(db->conn, "q", "g", MINUTE));
	ok(db->conn, rp_queue_hold(db->conn, "q", "h", 2 * MINUTE));
	ok(db->conn, rp_queue_hold(db->conn, "q", "h", 0));
	assert_int_equal(
		ask_sql(db->conn,
			"select holds_until = until from readpast_queue,"
			" readpast_group_hold where group_key = 'g'"),
		1);
}

/* The call that begins a hold leaves the jobs after the first thousand in the
 * ready line. On SQLite they count as ready, on PostgreSQL as blocked. */
static void
a_purge_of_ready_jobs_deletes_no_blocked_job(void **state)
{
	enum { JOBS = 1500 };
	rp_conn *conn = ((struct db *)*state)->conn;
	rp_job_spec jobs[JOBS];
	rp_added added[JOBS];
	int64_t other;
	int last;

	for (int i = 0; i < JOBS; i++) {
		jobs[i] = job_of("x");
		jobs[i].group_key = "g";
	}
	ok(conn, rp_enqueue_many(conn, "q", jobs, JOBS, added));
	other = put(conn, "q", "x");
	ok(conn, rp_queue_hold(conn, "q", "g", MINUTE));
	last = state_of(conn, added[JOBS - 1].id);
	assert_int_equal(
		ok(conn, rp_queue_purge(conn, "q", RP_STATE_READY, NULL)),
		last == RP_STATE_BLOCKED ? 1 : JOBS + 1 - 1000);
	assert_int_equal(state_of(conn, other), 0);
	assert_int_equal(state_of(conn, added[0].id), RP_STATE_BLOCKED);
	assert_int_equal(state_of(conn, added[JOBS - 1].id),
			 last == RP_STATE_BLOCKED ? RP_STATE_BLOCKED : 0);
}

static void
many_jobs_of_a_held_group_leave_the_line_and_come_back(void **state)
{
	enum { JOBS = 3000 };
	rp_conn *conn = ((struct db *)*state)->conn;
	rp_job_spec jobs[JOBS];
	int64_t other, first;

	for (int i = 0; i < JOBS; i++) {
		jobs[i] = job_of("x");
		jobs[i].group_key = "g";
	}
	first = put_in_group(conn, "g", "x");
	ok(conn, rp_enqueue_many(conn, "q", jobs, JOBS, NULL));
	other = put(conn, "q", "x");
	ok(conn, rp_queue_hold(conn, "q", "g", MINUTE));
	for (int i = 0; i < 500; i++) {
		int64_t id = next_id(conn);

		if (id) {
			assert_int_equal(id, other);
			break;
		}
		ok(conn, rp_sweep(conn, NULL));
	}
	assert_int_equal(state_of(conn, other), RP_STATE_RUNNING);
	assert_int_equal(next_id(conn), 0);
	assert_int_equal(stats_of(conn, "q").blocked, JOBS + 1);
	ok(conn, rp_queue_hold(conn, "q", "g", 0));
	for (int i = 0; i < 5000 && stats_of(conn, "q").blocked; i++)
		ok(conn, rp_sweep(conn, NULL));
	assert_int_equal(stats_of(conn, "q").ready, JOBS + 1);
	assert_int_equal(next_id(conn), first);
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		CASE(a_held_queue_starts_no_job_until_its_time),
		CASE(a_hold_of_a_queue_can_be_ended_and_replaced),
		CASE(a_released_job_comes_back_when_the_hold_of_its_queue_ends),
		CASE(groups_of_a_held_queue_have_no_ready_job),
		CASE(a_hold_that_has_ended_is_not_listed),
		CASE(a_held_group_with_a_limit_starts_no_job),
		CASE(a_held_group_without_a_limit_starts_no_job),
		CASE(a_held_group_far_behind_in_the_line_starts_no_job),
		CASE(a_hold_of_a_group_ends_by_itself),
		CASE(a_held_group_admits_no_job_when_one_ends),
		CASE(a_retry_that_is_due_waits_for_the_hold_of_its_group),
		CASE(a_verdict_can_hold_the_group),
		CASE(a_late_verdict_holds_nothing),
		CASE(a_group_without_jobs_can_be_held),
		CASE(claims_search_for_no_hold_after_the_last_one_was_ended),
		CASE(a_purge_of_ready_jobs_deletes_no_blocked_job),
		CASE(many_jobs_of_a_held_group_leave_the_line_and_come_back),
	};

	databases_at(argc, argv);
	return cmocka_run_group_tests_name("holds", tests, NULL, NULL);
}
