/*
 * groups_order.c - test that jobs of a group keep their order (P11), and that
 * no group is forgotten (P13), after verdicts that come late and after changes
 * of the group limit.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "check.h"

#define MINUTE 60000

/* ---- verdicts that come late ---- */

/* Enqueue two jobs, claim the first, let its lease end, and block it by a
 * hold. If `ready_before` is 1, the job becomes ready before the hold. */
static struct claim
claim_and_block(rp_conn *conn, int64_t *ids, int ready_before)
{
	struct claim c;

	put_n(conn, "g", ids, 2);
	c = claim_one(conn, 1);
	sleep_ms(20);
	if (ready_before)
		ok(conn, rp_sweep(conn, NULL));
	ok(conn, rp_queue_hold(conn, "q", "g", MINUTE));
	ok(conn, rp_sweep(conn, NULL));
	expect_states(conn, ids, "bb");
	return c;
}

static void
P11_a_late_verdict_without_a_delay_keeps_the_place(void **state)
{
	static const int verdicts[] = { RP_FAIL, RP_RELEASE };
	rp_conn *conn = ((struct db *)*state)->conn;
	int64_t ids[2];

	limit_groups(conn, 1);
	for (int i = 0; i < 4; i++) {
		rp_verdict v = verdict_on(claim_and_block(conn, ids, i / 2),
					  verdicts[i % 2]);

		v.delay_ms = 0;
		assert_int_equal(ok(conn, rp_settle(conn, &v, 1)), 1);
		assert_int_equal(v.state, RP_STATE_BLOCKED);
		assert_int_equal(rp_settle(conn, &v, 1), 0);
		expect_states(conn, ids, "bb");
		ok(conn, rp_queue_hold(conn, "q", "g", 0));
		run_one_by_one(conn, ids, 2);
	}
}

static void
P11_a_late_verdict_with_a_delay_keeps_the_place(void **state)
{
	static const int verdicts[] = { RP_FAIL, RP_RELEASE };
	rp_conn *conn = ((struct db *)*state)->conn;
	int64_t ids[2];

	limit_groups(conn, 1);
	for (int i = 0; i < 4; i++) {
		settle_one(conn, claim_and_block(conn, ids, i / 2),
			   verdicts[i % 2], 500);
		ok(conn, rp_queue_hold(conn, "q", "g", 0));
		expect_states(conn, ids, "sb");
		assert_true(is_empty(conn));
		sleep_ms(600);
		ok(conn, rp_sweep(conn, NULL));
		run_one_by_one(conn, ids, 2);
	}
}

/* The change of the delay takes the slot from the first job. */
static void
P10_a_late_release_of_a_job_without_a_slot_starts_no_second_job(void **state)
{
	rp_conn *conn = ((struct db *)*state)->conn;
	rp_change change = RP_CHANGE_INIT;
	struct claim late, other;
	int64_t ids[2];

	limit_groups(conn, 1);
	put_n(conn, "g", ids, 2);
	late = claim_one(conn, 1);
	sleep_ms(20);
	ok(conn, rp_sweep(conn, NULL));
	change.delay_ms = MINUTE;
	ok(conn, rp_job_change(conn, ids[0], &change));
	other = claim_one(conn, MINUTE);
	assert_int_equal(other.id, ids[1]);
	settle_one(conn, late, RP_RELEASE, 0);
	expect_states(conn, ids, "bR");
	settle_one(conn, other, RP_DONE, 0);
	run_one_by_one(conn, ids, 1);
}

/* ---- the limit was lowered ---- */

/* The claim finds the first four jobs in another order than that of the group,
 * because two of them were released. */
static void
P13_a_claim_takes_no_slot_from_a_job_that_may_run(void **state)
{
	rp_conn *conn = ((struct db *)*state)->conn;
	rp_job_spec job = job_of("x");
	struct claim held[2];
	rp_batch *batch;
	int64_t ids[2];

	limit_groups(conn, 3);
	limit_groups(conn, 2);
	ok(conn, rp_sweep(conn, NULL));
	put_n(conn, "g", ids, 2);
	for (int i = 0; i < 2; i++)
		held[i] = claim_one(conn, MINUTE);
	for (int i = 1; i >= 0; i--)
		settle_one(conn, held[i], RP_RELEASE, 0);
	for (int i = 0; i < 4; i++)
		put_in_group(conn, "g", "x");
	job.group_key = "g";
	job.priority = 50;
	put_spec(conn, "q", &job);
	batch = take(conn, "q", 10, MINUTE);
	assert_int_equal(rp_batch_count(batch), 2);
	rp_batch_free(batch);
	assert_true(is_empty(conn));
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		CASE(P11_a_late_verdict_without_a_delay_keeps_the_place),
		CASE(P11_a_late_verdict_with_a_delay_keeps_the_place),
		CASE(P10_a_late_release_of_a_job_without_a_slot_starts_no_second_job),
		CASE(P13_a_claim_takes_no_slot_from_a_job_that_may_run),
	};

	databases_at(argc, argv);
	return cmocka_run_group_tests_name("groups_order", tests, NULL, NULL);
}
