/*
 * txn.c - test that calls between begin and commit take effect together
 * (promise P7 of docs/design.md).
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "check.h"

static void
transactions_do_not_nest_and_need_a_beginning(void **state)
{
	struct db *db = *state;

	assert_int_equal(rp_commit(db->conn), RP_EINVAL);
	assert_int_equal(rp_rollback(db->conn), RP_EINVAL);
	ok(db->conn, rp_begin(db->conn));
	assert_int_equal(rp_begin(db->conn), RP_EINVAL);
	put(db->conn, "q", "x");
	ok(db->conn, rp_commit(db->conn));
	assert_int_equal(rp_commit(db->conn), RP_EINVAL);
	assert_int_equal(stats_of(db->conn, "q").ready, 1);
	assert_int_equal(rp_begin(NULL), RP_EINVAL);
	assert_int_equal(rp_commit(NULL), RP_EINVAL);
	assert_int_equal(rp_rollback(NULL), RP_EINVAL);
}

static void
P7_changes_are_invisible_until_they_are_committed(void **state)
{
	struct db *db = *state;
	rp_conn *other = connect_to(db);
	int64_t id;

	ok(db->conn, rp_begin(db->conn));
	id = put(db->conn, "q", "x");
	assert_int_equal(state_of(db->conn, id), RP_STATE_READY);
	assert_int_equal(state_of(other, id), 0);
	ok(db->conn, rp_commit(db->conn));
	assert_int_equal(state_of(other, id), RP_STATE_READY);
	rp_close(other);
}

static void
P7_closing_the_handle_rolls_back(void **state)
{
	struct db *db = *state;
	rp_conn *other = connect_to(db);
	struct claim c;

	put(other, "q", "x");
	ok(other, rp_begin(other));
	assert_int_equal(take_one(other, "q", 60000, &c), 1);
	put(other, "q", "y");
	rp_close(other);
	assert_int_equal(stats_of(db->conn, "q").ready, 1);
	assert_int_equal(take_one(db->conn, "q", 60000, &c), 1);
	assert_int_equal(c.attempt, 1);
}

static void
P7_every_change_vanishes_with_its_transaction(void **state)
{
	struct db *db = *state;
	rp_queue q = RP_QUEUE_INIT;
	rp_job_spec later = job_of("later");
	struct claim c, dead;
	rp_queue_stats s;

	put(db->conn, "q", "dead");
	take_one(db->conn, "q", 60000, &dead);
	ok(db->conn, rp_job_cancel(db->conn, dead.id, NULL));
	put(db->conn, "q", "expired");
	take_one(db->conn, "q", 1, &c);
	later.delay_ms = 1;
	ok(db->conn, rp_enqueue(db->conn, "q", &later, NULL));
	sleep_ms(4);
	q.name = "q";
	q.max_attempts = 77;

	ok(db->conn, rp_begin(db->conn));
	assert_int_equal(ok(db->conn, rp_sweep(db->conn, NULL)), 2);
	ok(db->conn, rp_job_retry(db->conn, dead.id, NULL));
	ok(db->conn, rp_queue_pause(db->conn, "q", NULL));
	settings(db->conn, q);
	assert_int_equal(rp_queue_purge(db->conn, "q", RP_STATE_READY, NULL),
			 3);
	ok(db->conn, rp_queue_drop(db->conn, "q"));
	ok(db->conn, rp_rollback(db->conn));

	s = stats_of(db->conn, "q");
	assert_int_equal(s.paused, 0);
	assert_int_equal(s.running, 1);
	/* a job that is due counts as ready even before a sweep */
	assert_int_equal(s.ready, 1);
	assert_int_equal(s.cancelled, 1);
	ok(db->conn, rp_complete(db->conn, c.id, c.no));
}

static void
P7_a_lost_lease_rolls_back_its_effects(void **state)
{
	struct db *db = *state;
	struct claim late, holder;

	put(db->conn, "in", "x");
	take_one(db->conn, "in", 1, &late);
	sleep_ms(3);
	ok(db->conn, rp_sweep(db->conn, NULL));
	assert_int_equal(take_one(db->conn, "in", 60000, &holder), 1);
	ok(db->conn, rp_begin(db->conn));
	put(db->conn, "out", "effect");
	assert_int_equal(rp_complete(db->conn, late.id, late.no), RP_EGONE);
	ok(db->conn, rp_rollback(db->conn));
	assert_int_equal(rp_stats_get(db->conn, "out", &(rp_stats *){ 0 }),
			 RP_ENOENT);
	assert_int_equal(state_of(db->conn, holder.id), RP_STATE_RUNNING);
}

static void
P7_a_failed_call_does_not_undo_the_rest_of_the_transaction(void **state)
{
	struct db *db = *state;
	rp_job_spec bad = job_of("bad");
	rp_job_spec pair[2] = { job_of("good"), job_of("bad") };
	rp_batch *batch;
	struct claim c;

	put(db->conn, "q", "1");
	take_one(db->conn, "q", 60000, &c);
	ok(db->conn, rp_begin(db->conn));
	put(db->conn, "q", "2");
	/* only the database detects that these headers are not JSON */
	bad.headers = "{";
	assert_int_equal(rp_enqueue(db->conn, "new", &bad, NULL), RP_EINVAL);
	pair[1].headers = "[]";
	assert_int_equal(rp_enqueue_many(db->conn, "q", pair, 2, NULL),
			 RP_EINVAL);
	assert_int_equal(rp_complete(db->conn, c.id, c.no + 5), RP_EGONE);
	assert_int_equal(rp_queue_drop(db->conn, "q"), RP_ETAKEN);
	assert_int_equal(rp_claim(db->conn, "q", 0, NULL, &batch), RP_EINVAL);
	ok(db->conn, rp_complete(db->conn, c.id, c.no));
	put(db->conn, "q", "3");
	ok(db->conn, rp_commit(db->conn));
	assert_int_equal(stats_of(db->conn, "q").ready, 2);
	assert_int_equal(stats_of(db->conn, "q").running, 0);
	assert_int_equal(rp_stats_get(db->conn, "new", &(rp_stats *){ 0 }),
			 RP_ENOENT);
}

static void
P3_ids_of_a_rolled_back_transaction_do_no_harm(void **state)
{
	struct db *db = *state;
	int64_t lost, id;

	ok(db->conn, rp_begin(db->conn));
	lost = put(db->conn, "q", "x");
	ok(db->conn, rp_rollback(db->conn));
	assert_int_equal(state_of(db->conn, lost), 0);
	id = put(db->conn, "q", "y");
	assert_int_equal(state_of(db->conn, id), RP_STATE_READY);
	assert_int_equal(stats_of(db->conn, "q").ready, 1);
}

static void
a_wait_in_a_transaction_is_refused(void **state)
{
	static const char *const queues[] = { "q", NULL };
	struct db *db = *state;

	put(db->conn, "q", "x");
	ok(db->conn, rp_begin(db->conn));
	assert_int_equal(rp_wait(db->conn, queues, 0, -1), RP_EINVAL);
	ok(db->conn, rp_rollback(db->conn));
	assert_int_equal(rp_wait(db->conn, queues, 0, -1), 1);
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		CASE(transactions_do_not_nest_and_need_a_beginning),
		CASE(P7_changes_are_invisible_until_they_are_committed),
		CASE(P7_closing_the_handle_rolls_back),
		CASE(P7_every_change_vanishes_with_its_transaction),
		CASE(P7_a_lost_lease_rolls_back_its_effects),
		CASE(P7_a_failed_call_does_not_undo_the_rest_of_the_transaction),
		CASE(P3_ids_of_a_rolled_back_transaction_do_no_harm),
		CASE(a_wait_in_a_transaction_is_refused),
	};

	databases_at(argc, argv);
	return cmocka_run_group_tests_name("txn", tests, NULL, NULL);
}
