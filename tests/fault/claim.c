/*
 * claim.c - test a claim on a server while one allocation of the library fails.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "check.h"

#include "internal.h"
#include "memory.h"

static void
expect_ready(const struct db *db, int64_t id)
{
	assert_int_equal(state_of(db->conn, id), RP_STATE_READY);
	ok(db->conn, rp_job_cancel(db->conn, id, NULL));
}

/* The claim was committed. A worker learns from the connection's next call that
 * it has to read which jobs it holds. */
static void
expect_lost_answer(const struct db *db, rp_conn *conn, int64_t id)
{
	assert_non_null(
		strstr(rp_last_error(conn)->message, "outcome unknown"));
	assert_int_equal(state_of(db->conn, id), RP_STATE_RUNNING);
	put(conn, "other", "x");
	assert_true(conn->lost_answer);
}

/* Claim a job while allocation number `at` fails. Returns whether the claim
 * made that allocation. `lost` counts the lost answers. */
static int
claim_at(const struct db *db, size_t at, int *lost)
{
	rp_conn *conn = connect_to(db);
	int64_t id = put(db->conn, "q", "x");
	rp_batch *batch = NULL;
	int r;

	memory_fail_at("a claim", MEMORY_LIBRARY, at);
	memory_arm(1);
	r = rp_claim(conn, "q", 1, NULL, &batch);
	memory_arm(0);
	if (r == RP_ENOMEM) {
		expect_ready(db, id);
	} else if (r == RP_ELOST) {
		expect_lost_answer(db, conn, id);
		++*lost;
	} else {
		assert_int_equal(r, 1);
		assert_int_equal(state_of(db->conn, id), RP_STATE_RUNNING);
	}
	rp_batch_free(batch);
	rp_close(conn);
	return memory.fired;
}

static void
a_claim_without_memory_is_not_made_or_has_an_unknown_outcome(void **state)
{
	const struct db *db = *state;
	int lost = 0;
	size_t at = 1;

	while (claim_at(db, at, &lost))
		at++;
	assert_true(lost > 0);
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		CASE(a_claim_without_memory_is_not_made_or_has_an_unknown_outcome),
	};

	databases_at(argc, argv);
	return cmocka_run_group_tests_name("claim", tests, NULL, NULL);
}
