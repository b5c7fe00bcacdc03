/*
 * results.c - test the result of a job, which is kept with the job.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "check.h"

static const char bytes[] = { 'a', '\0', '\xff', '\'', '\\', '\n', 'z' };

static struct claim
claimed(rp_conn *conn)
{
	struct claim c = { 0, 0, 0 };

	assert_int_equal(take_one(conn, "q", 60000, &c), 1);
	return c;
}

static struct claim
put_and_claimed(rp_conn *conn)
{
	put(conn, "q", "x");
	return claimed(conn);
}

/* Returns whether the list of done jobs has the job with a result. */
static int
is_listed_with_result(rp_conn *conn, int64_t id)
{
	rp_batch *batch;
	int found = -1;

	ok(conn, rp_job_list(conn, "q", RP_STATE_DONE, 100, &batch));
	for (size_t i = 0; i < rp_batch_count(batch); i++)
		if (rp_batch_at(batch, i)->id == id)
			found = rp_batch_at(batch, i)->result != NULL;
	rp_batch_free(batch);
	assert_int_not_equal(found, -1);
	return found;
}

static void
expect_result(rp_conn *conn, int64_t id, const void *result, size_t size)
{
	rp_batch *batch = get(conn, id);
	const rp_job *job = rp_batch_at(batch, 0);

	assert_int_equal(job->state, RP_STATE_DONE);
	if (result) {
		assert_non_null(job->result);
		assert_int_equal(job->result_size, size);
		assert_memory_equal(job->result, result, size);
	} else {
		assert_null(job->result);
		assert_int_equal(job->result_size, 0);
	}
	rp_batch_free(batch);
	assert_int_equal(is_listed_with_result(conn, id), result != NULL);
}

static void
a_kept_job_has_the_result_byte_for_byte(void **state)
{
	struct db *db = *state;
	struct claim c;

	put(db->conn, "q", "x");
	keep_for(db->conn, 3600000, 3600000);
	c = claimed(db->conn);
	ok(db->conn,
	   rp_complete_with(db->conn, c.id, c.no, bytes, sizeof(bytes)));
	expect_result(db->conn, c.id, bytes, sizeof(bytes));
	c = put_and_claimed(db->conn);
	ok(db->conn, rp_complete_with(db->conn, c.id, c.no, "", 0));
	expect_result(db->conn, c.id, "", 0);
	c = put_and_claimed(db->conn);
	ok(db->conn, rp_complete(db->conn, c.id, c.no));
	expect_result(db->conn, c.id, NULL, 0);
}

static void
each_of_many_verdicts_has_its_own_result(void **state)
{
	struct db *db = *state;
	struct claim c[40];
	rp_verdict v[40];
	char text[40][8];

	put(db->conn, "q", "x");
	keep_for(db->conn, 3600000, 3600000);
	for (int i = 0; i < 40; i++) {
		if (i)
			put(db->conn, "q", "x");
		c[i] = claimed(db->conn);
		snprintf(text[i], sizeof(text[i]), "%d", i);
		/* The verdicts are in reverse order of the claims. The library
		 * sorts them. */
		v[39 - i] = verdict_on(c[i], i % 4 == 3 ? RP_FAIL : RP_DONE);
		v[39 - i].result_bytes = i % 2 ? NULL : text[i];
		v[39 - i].result_size = i % 2 ? 0 : strlen(text[i]);
	}
	assert_int_equal(ok(db->conn, rp_settle(db->conn, v, 40)), 40);
	for (int i = 0; i < 40; i++)
		if (i % 4 != 3)
			expect_result(db->conn, c[i].id, i % 2 ? NULL : text[i],
				      strlen(text[i]));
}

static void
a_late_worker_cannot_overwrite_a_result(void **state)
{
	struct db *db = *state;
	struct claim late, c;

	put(db->conn, "q", "x");
	keep_for(db->conn, 3600000, 3600000);
	assert_int_equal(take_one(db->conn, "q", 1, &late), 1);
	sleep_ms(20);
	ok(db->conn, rp_sweep(db->conn, NULL));
	c = claimed(db->conn);
	assert_int_equal(late.id, c.id);
	assert_int_equal(
		rp_complete_with(db->conn, late.id, late.no, "late", 4),
		RP_EGONE);
	assert_int_equal(state_of(db->conn, c.id), RP_STATE_RUNNING);
	ok(db->conn, rp_complete_with(db->conn, c.id, c.no, "mine", 4));
	assert_int_equal(
		rp_complete_with(db->conn, late.id, late.no, "late", 4),
		RP_EGONE);
	expect_result(db->conn, c.id, "mine", 4);
	assert_int_equal(rp_complete_with(db->conn, c.id, c.no, "twice", 5),
			 RP_EGONE);
	expect_result(db->conn, c.id, "mine", 4);
}

static void
a_result_that_is_too_large_is_refused_and_the_claim_stays(void **state)
{
	struct db *db = *state;
	char *large = bytes_of(RP_MOST_RESULT + 1, 1);
	struct claim c[2];
	rp_verdict v[2];

	put(db->conn, "q", "x");
	keep_for(db->conn, 3600000, 3600000);
	c[0] = claimed(db->conn);
	c[1] = put_and_claimed(db->conn);
	for (int i = 0; i < 2; i++) {
		v[i] = verdict_on(c[i], RP_DONE);
		v[i].result_bytes = large;
		v[i].result_size = RP_MOST_RESULT + (size_t)i;
	}
	assert_int_equal(rp_settle(db->conn, v, 2), RP_EFBIG);
	assert_int_equal(rp_last_error(db->conn)->item, 1);
	assert_string_equal(rp_last_error(db->conn)->message,
			    "the result has 65537 bytes, more than 65536");
	for (int i = 0; i < 2; i++)
		assert_int_equal(state_of(db->conn, c[i].id), RP_STATE_RUNNING);
	assert_int_equal(rp_complete_with(db->conn, c[1].id, c[1].no, NULL, 1),
			 RP_EINVAL);
	v[1].result_size--;
	assert_int_equal(ok(db->conn, rp_settle(db->conn, v, 2)), 2);
	for (int i = 0; i < 2; i++)
		expect_result(db->conn, c[i].id, large, RP_MOST_RESULT);
	free(large);
}

static void
a_job_that_is_not_kept_has_no_result(void **state)
{
	struct db *db = *state;
	struct claim c = put_and_claimed(db->conn);

	ok(db->conn, rp_complete_with(db->conn, c.id, c.no, "x", 1));
	assert_int_equal(state_of(db->conn, c.id), 0);
}

static void
a_failed_attempt_leaves_no_result(void **state)
{
	struct db *db = *state;
	struct claim c;
	rp_verdict v;

	put(db->conn, "q", "x");
	keep_for(db->conn, 3600000, 3600000);
	c = claimed(db->conn);
	v = verdict_on(c, RP_FAIL);
	v.delay_ms = 0;
	v.result_bytes = "x";
	v.result_size = 1;
	assert_int_equal(ok(db->conn, rp_settle(db->conn, &v, 1)), 1);
	c = claimed(db->conn);
	ok(db->conn, rp_complete(db->conn, c.id, c.no));
	expect_result(db->conn, c.id, NULL, 0);
}

static void
a_rollback_undoes_a_result(void **state)
{
	struct db *db = *state;
	struct claim c;

	put(db->conn, "q", "x");
	keep_for(db->conn, 3600000, 3600000);
	c = claimed(db->conn);
	ok(db->conn, rp_begin(db->conn));
	ok(db->conn, rp_complete_with(db->conn, c.id, c.no, "no", 2));
	ok(db->conn, rp_rollback(db->conn));
	assert_int_equal(state_of(db->conn, c.id), RP_STATE_RUNNING);
	ok(db->conn, rp_complete_with(db->conn, c.id, c.no, "yes", 3));
	expect_result(db->conn, c.id, "yes", 3);
}

static void
a_list_has_the_beginning_of_a_result(void **state)
{
	struct db *db = *state;
	char *large = bytes_of(RP_MOST_RESULT, 1);
	struct claim c;
	rp_batch *batch;

	put(db->conn, "q", "x");
	keep_for(db->conn, 3600000, 3600000);
	c = claimed(db->conn);
	ok(db->conn,
	   rp_complete_with(db->conn, c.id, c.no, large, RP_MOST_RESULT));
	assert_int_equal(ok(db->conn, rp_job_list(db->conn, "q", RP_STATE_DONE,
						  9, &batch)),
			 1);
	assert_int_equal(rp_batch_at(batch, 0)->result_size, RP_LIST_PAYLOAD);
	assert_memory_equal(rp_batch_at(batch, 0)->result, large,
			    RP_LIST_PAYLOAD);
	rp_batch_free(batch);
	free(large);
}

/* The caller was compiled with an older header. Its struct has no fields for a
 * result. */
static void
a_smaller_struct_has_no_result(void **state)
{
	struct db *db = *state;
	struct claim c;
	rp_verdict v;

	put(db->conn, "q", "x");
	keep_for(db->conn, 3600000, 3600000);
	c = claimed(db->conn);
	v = verdict_on(c, RP_DONE);
	v.size = offsetof(rp_verdict, result_bytes);
	v.result_bytes = "x";
	v.result_size = (size_t)-1;
	assert_int_equal(ok(db->conn, rp_settle(db->conn, &v, 1)), 1);
	expect_result(db->conn, c.id, NULL, 0);
}

/* ---- in a worker ---- */

struct seen {
	struct db *db;
	int r[4];
};

static int
set_results(rp_task *task, const rp_job *job, void *ctx)
{
	struct seen *seen = ctx;
	char *large = bytes_of(RP_MOST_RESULT + 1, 1);

	(void)job;
	seen->r[0] = rp_task_result(task, "first", 5);
	seen->r[1] = rp_task_result(task, bytes, sizeof(bytes));
	seen->r[2] = rp_task_result(task, large, RP_MOST_RESULT + 1);
	seen->r[3] = rp_task_result(task, NULL, 1);
	free(large);
	return RP_DONE;
}

static void
a_handler_sets_the_result(void **state)
{
	static struct seen seen;
	struct db *db = *state;
	int64_t id = put(db->conn, "q", "x");

	keep_for(db->conn, 3600000, 3600000);
	seen = (struct seen){ .db = db };
	work_until_settled(db, set_results, &seen);
	assert_int_equal(seen.r[0], 0);
	assert_int_equal(seen.r[1], 0);
	assert_int_equal(seen.r[2], RP_EFBIG);
	assert_int_equal(seen.r[3], RP_EINVAL);
	expect_result(db->conn, id, bytes, sizeof(bytes));
}

static int
complete_with_effects(rp_task *task, const rp_job *job, void *ctx)
{
	rp_conn *conn;

	(void)job;
	(void)ctx;
	if (rp_task_result(task, "42", 2) < 0 ||
	    rp_task_begin(task, &conn) < 0 || rp_task_complete(task) < 0 ||
	    rp_task_commit(task) < 0)
		return RP_FAIL;
	return RP_DONE;
}

static void
a_handler_can_commit_a_result_in_its_own_transaction(void **state)
{
	static struct seen seen;
	struct db *db = *state;
	int64_t id = put(db->conn, "q", "x");

	keep_for(db->conn, 3600000, 3600000);
	seen = (struct seen){ .db = db };
	work_until_settled(db, complete_with_effects, &seen);
	expect_result(db->conn, id, "42", 2);
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		CASE(a_kept_job_has_the_result_byte_for_byte),
		CASE(each_of_many_verdicts_has_its_own_result),
		CASE(a_late_worker_cannot_overwrite_a_result),
		CASE(a_result_that_is_too_large_is_refused_and_the_claim_stays),
		CASE(a_job_that_is_not_kept_has_no_result),
		CASE(a_failed_attempt_leaves_no_result),
		CASE(a_rollback_undoes_a_result),
		CASE(a_list_has_the_beginning_of_a_result),
		CASE(a_smaller_struct_has_no_result),
		CASE(a_handler_sets_the_result),
		CASE(a_handler_can_commit_a_result_in_its_own_transaction),
	};

	databases_at(argc, argv);
	return cmocka_run_group_tests_name("results", tests, NULL, NULL);
}
