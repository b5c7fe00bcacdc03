/*
 * terms.c - what a job's enqueue says about this job alone: how long it is
 * kept, how long a handler may run, when it expires, its delays after failures,
 * and how long its key stays taken.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "check.h"

#define HOUR_MS INT64_C(3600000)

static rp_job_spec
with_terms(const char *payload, const char *key)
{
	rp_job_spec job = job_of(payload);

	job.unique_key = key;
	job.keep_ms = 5;
	job.timeout_ms = 6000;
	job.expire_ms = HOUR_MS;
	job.backoff = "[7,80000]";
	job.unique_for_ms = key ? 9 : 0;
	return job;
}

static rp_added
add(rp_conn *conn, rp_job_spec job)
{
	rp_added added;

	ok(conn, rp_enqueue(conn, "q", &job, &added));
	return added;
}

static void
expect_terms(const rp_job *job, int64_t unique_for_ms)
{
	assert_int_equal(job->keep_ms, 5);
	assert_int_equal(job->timeout_ms, 6000);
	assert_int_equal(job->expire_at, job->created_at + HOUR_MS);
	assert_string_equal(job->backoff, "[7,80000]");
	assert_int_equal(job->unique_for_ms, unique_for_ms);
}

static void
expect_stored(rp_conn *conn, int64_t id, int64_t unique_for_ms)
{
	rp_batch *batch = get(conn, id);

	expect_terms(rp_batch_at(batch, 0), unique_for_ms);
	rp_batch_free(batch);
}

static void
expect_none(rp_conn *conn, int64_t id)
{
	rp_batch *batch = get(conn, id);
	const rp_job *job = rp_batch_at(batch, 0);

	assert_int_equal(job->keep_ms, 0);
	assert_int_equal(job->timeout_ms, 0);
	assert_int_equal(job->expire_at, 0);
	assert_null(job->backoff);
	assert_int_equal(job->unique_for_ms, 0);
	rp_batch_free(batch);
}

static void
a_job_has_its_terms_wherever_it_is_shown(void **state)
{
	struct db *db = *state;
	struct claim c = { 0, 0, 0 };
	rp_batch *batch;

	add(db->conn, with_terms("a", "k"));
	expect_stored(db->conn, 1, 9);
	batch = take(db->conn, "q", 1, 60000);
	expect_terms(rp_batch_at(batch, 0), 9);
	c.id = 1;
	c.no = rp_batch_at(batch, 0)->claim_no;
	rp_batch_free(batch);
	settle_one(db->conn, c, RP_FAIL, 0);
	expect_stored(db->conn, 1, 9);
	c = claim_one(db->conn, 60000);
	settle_one(db->conn, c, RP_DEAD, 0);
	expect_stored(db->conn, 1, 9);
	ok(db->conn, rp_job_retry(db->conn, 1, NULL));
	expect_stored(db->conn, 1, 9);
	ok(db->conn, rp_job_cancel(db->conn, 1, NULL));
	expect_stored(db->conn, 1, 9);
}

static void
many_jobs_have_each_its_own(void **state)
{
	struct db *db = *state;
	rp_job_spec jobs[6] = { job_of("a"),           with_terms("b", NULL),
				with_terms("c", NULL), job_of("d"),
				with_terms("e", NULL), job_of("f") };
	rp_added added[6];

	jobs[4].backoff = "[ 1 , 2 ]";
	ok(db->conn, rp_enqueue_many(db->conn, "q", jobs, 6, added));
	expect_none(db->conn, added[0].id);
	expect_stored(db->conn, added[1].id, 0);
	expect_stored(db->conn, added[2].id, 0);
	expect_none(db->conn, added[3].id);
	expect_none(db->conn, added[5].id);
}

/* On SQLite a large payload is in a table of its own. */
static void
jobs_with_large_payloads_have_them(void **state)
{
	struct db *db = *state;
	char *bytes = bytes_of(IN_ROW + 1, 1);
	rp_job_spec jobs[3] = { with_terms(bytes, NULL), with_terms("b", NULL),
				with_terms(bytes, NULL) };
	rp_added added[3];

	ok(db->conn, rp_enqueue_many(db->conn, "q", jobs, 3, added));
	for (int i = 0; i < 3; i++)
		expect_stored(db->conn, added[i].id, 0);
	free(bytes);
}

static void
a_replaced_job_has_the_new_ones(void **state)
{
	struct db *db = *state;
	rp_job_spec job = with_terms("a", "k");

	add(db->conn, job);
	job = job_of("b");
	job.unique_key = "k";
	job.replace = 1;
	assert_int_equal(add(db->conn, job).outcome, RP_REPLACED);
	expect_none(db->conn, 1);
	job = with_terms("c", "k");
	job.replace = 1;
	assert_int_equal(add(db->conn, job).outcome, RP_REPLACED);
	sleep_ms(2);
	assert_int_equal(state_of(db->conn, 1), RP_STATE_READY);
}

static void
wrong_terms_are_refused(void **state)
{
	static const char *const lists[] = {
		"",
		"[]",
		"7",
		"[7",
		"[7]x",
		"[7,]",
		"[,7]",
		"[7 8]",
		"[-1]",
		"[\"7\"]",
		"[07]",
		"[7.5]",
		"null",
		"{}",
		"[[7]]",
		"[7]]",
		"[null]",
		"[1e3]",
		"[9999999999999]",
		"[999999999999999999999999999]",
	};
	struct db *db = *state;
	rp_job_spec good = with_terms("a", "k"), job;

#define BAD(field, value)                                                      \
	job = good;                                                            \
	job.field = (value);                                                   \
	assert_int_equal(rp_enqueue(db->conn, "q", &job, NULL), RP_EINVAL)
	BAD(keep_ms, -1);
	BAD(timeout_ms, -1);
	BAD(expire_ms, -1);
	BAD(unique_for_ms, -1);
	BAD(keep_ms, RP_MOST_MS + 1);
	BAD(timeout_ms, RP_MOST_MS + 1);
	BAD(expire_ms, RP_MOST_MS + 1);
	BAD(unique_for_ms, RP_MOST_MS + 1);
	BAD(unique_key, NULL);
	for (size_t i = 0; i < sizeof(lists) / sizeof(*lists); i++) {
		BAD(backoff, lists[i]);
		assert_non_null(strstr(rp_last_error(db->conn)->message,
				       "JSON array of 1..100 delays"));
	}
#undef BAD
	assert_int_equal(rp_queue_list(db->conn, "q", &(rp_queues *){ NULL }),
			 RP_ENOENT);
}

static void
a_list_has_at_most_100_delays(void **state)
{
	struct db *db = *state;
	rp_job_spec job = job_of("a");
	char list[2 * (RP_MOST_BACKOFF + 1) + 2] = "[1";

	for (int i = 1; i < RP_MOST_BACKOFF; i++)
		strcat(list, ",1");
	strcat(list, "]");
	job.backoff = list;
	add(db->conn, job);
	strcpy(list + strlen(list) - 1, ",1]");
	assert_int_equal(rp_enqueue(db->conn, "q", &job, NULL), RP_EINVAL);
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		CASE(a_job_has_its_terms_wherever_it_is_shown),
		CASE(many_jobs_have_each_its_own),
		CASE(jobs_with_large_payloads_have_them),
		CASE(a_replaced_job_has_the_new_ones),
		CASE(wrong_terms_are_refused),
		CASE(a_list_has_at_most_100_delays),
	};

	databases_at(argc, argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
