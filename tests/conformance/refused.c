/*
 * refused.c - test that a refused enqueue enqueues nothing, and reports the
 * number of the job that caused the error.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "check.h"

/* The test enqueues JOBS jobs, which takes several statements. Job number AT
 * and all later jobs are not valid. */
#define JOBS 1200
#define AT 700

/* Each payload has five bytes, the limit of the queue. Every second job has
 * headers. */
static void
make_jobs(rp_job_spec jobs[JOBS])
{
	for (size_t i = 0; i < JOBS; i++) {
		jobs[i] = job_of("12345");
		jobs[i].headers = i % 2 ? "{\"a\":1}" : NULL;
	}
}

static void
make_keyed(rp_job_spec jobs[JOBS], char keys[JOBS][8])
{
	make_jobs(jobs);
	for (size_t i = 0; i < JOBS; i++) {
		snprintf(keys[i], sizeof(keys[i]), "k%zu", i);
		jobs[i].unique_key = keys[i];
	}
}

static void
make_queue(rp_conn *conn)
{
	rp_queue q = RP_QUEUE_INIT;

	q.name = "q";
	q.max_payload = 5;
	settings(conn, q);
	put(conn, "q", "there");
}

static void
is_refused(rp_conn *conn, const rp_job_spec *jobs, size_t n, int code,
	   size_t item)
{
	const rp_error *error = rp_last_error(conn);
	char name[32];

	assert_int_equal(rp_enqueue_many(conn, "q", jobs, n, NULL), code);
	assert_int_equal(error->item, item);
	snprintf(name, sizeof(name), "job %zu: ", item + 1);
	if (n > 1)
		assert_ptr_equal(strstr(error->message, name), error->message);
	else
		assert_null(strstr(error->message, "job"));
	assert_int_equal(stats_of(conn, "q").ready, 1);
}

static void
the_job_with_too_large_a_payload_is_named(void **state)
{
	struct db *db = *state;
	rp_job_spec jobs[JOBS];

	make_queue(db->conn);
	make_jobs(jobs);
	jobs[AT].payload = jobs[AT + 1].payload = "123456";
	jobs[AT].payload_size = jobs[AT + 1].payload_size = 6;
	is_refused(db->conn, jobs, JOBS, RP_EFBIG, AT);
	is_refused(db->conn, &jobs[AT], 1, RP_EFBIG, 0);
}

static void
the_job_with_bad_headers_is_named(void **state)
{
	struct db *db = *state;
	rp_job_spec jobs[JOBS];

	make_queue(db->conn);
	make_jobs(jobs);
	jobs[AT].headers = "[1]";
	jobs[AT + 2].headers = "{";
	is_refused(db->conn, jobs, JOBS, RP_EINVAL, AT);
	is_refused(db->conn, &jobs[AT + 2], 1, RP_EINVAL, 0);
	is_refused(db->conn, &jobs[AT + 1], 2, RP_EINVAL, 1);
}

static void
of_jobs_with_keys_the_job_with_too_large_a_payload_is_named(void **state)
{
	struct db *db = *state;
	rp_job_spec jobs[JOBS];
	char keys[JOBS][8];

	make_queue(db->conn);
	make_keyed(jobs, keys);
	jobs[AT].payload = jobs[AT + 1].payload = "123456";
	jobs[AT].payload_size = jobs[AT + 1].payload_size = 6;
	is_refused(db->conn, jobs, JOBS, RP_EFBIG, AT);
	is_refused(db->conn, &jobs[AT], 1, RP_EFBIG, 0);
}

static void
of_jobs_with_keys_the_job_with_bad_headers_is_named(void **state)
{
	struct db *db = *state;
	rp_job_spec jobs[JOBS];
	char keys[JOBS][8];

	make_queue(db->conn);
	make_keyed(jobs, keys);
	jobs[AT].headers = "{\"a\":1";
	jobs[AT + 2].headers = "1";
	is_refused(db->conn, jobs, JOBS, RP_EINVAL, AT);
	is_refused(db->conn, &jobs[AT], 1, RP_EINVAL, 0);
}

static void
a_job_that_the_library_refuses_is_named(void **state)
{
	struct db *db = *state;
	rp_job_spec jobs[JOBS];

	make_queue(db->conn);
	make_jobs(jobs);
	jobs[AT].priority = 256;
	is_refused(db->conn, jobs, JOBS, RP_EINVAL, AT);
	is_refused(db->conn, &jobs[AT], 1, RP_EINVAL, 0);
}

static void
a_refused_job_leaves_the_transaction_as_it_was(void **state)
{
	struct db *db = *state;
	rp_job_spec jobs[JOBS];

	make_queue(db->conn);
	make_jobs(jobs);
	ok(db->conn, rp_begin(db->conn));
	jobs[AT].headers = "[1]";
	is_refused(db->conn, jobs, JOBS, RP_EINVAL, AT);
	jobs[AT - 1].payload_size = 6;
	is_refused(db->conn, jobs, JOBS, RP_EFBIG, AT - 1);
	put(db->conn, "q", "two");
	ok(db->conn, rp_commit(db->conn));
	assert_int_equal(stats_of(db->conn, "q").ready, 2);
}

static void
a_job_for_a_new_queue_is_named(void **state)
{
	struct db *db = *state;
	rp_job_spec jobs[] = { job_of("a"), job_of("b"), job_of("c") };

	jobs[1].headers = "no";
	assert_int_equal(rp_enqueue_many(db->conn, "new", jobs, 3, NULL),
			 RP_EINVAL);
	assert_int_equal(rp_last_error(db->conn)->item, 1);
	assert_int_equal(rp_enqueue(db->conn, "new", &jobs[1], NULL),
			 RP_EINVAL);
	assert_int_equal(rp_last_error(db->conn)->item, 0);
	assert_int_equal(rp_stats_get(db->conn, "new", &(rp_stats *){ 0 }),
			 RP_ENOENT);
}

static void
an_error_that_no_job_has_caused_names_no_job(void **state)
{
	struct db *db = *state;
	rp_job_spec job = job_of("x");

	assert_int_equal(rp_enqueue(db->conn, "", &job, NULL), RP_EINVAL);
	assert_int_equal(rp_last_error(db->conn)->item, -1);
	assert_int_equal(rp_queue_pause(db->conn, "none", NULL), RP_ENOENT);
	assert_int_equal(rp_last_error(db->conn)->item, -1);
	assert_int_equal(rp_last_error(NULL)->item, -1);
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		CASE(the_job_with_too_large_a_payload_is_named),
		CASE(the_job_with_bad_headers_is_named),
		CASE(of_jobs_with_keys_the_job_with_too_large_a_payload_is_named),
		CASE(of_jobs_with_keys_the_job_with_bad_headers_is_named),
		CASE(a_job_that_the_library_refuses_is_named),
		CASE(a_refused_job_leaves_the_transaction_as_it_was),
		CASE(a_job_for_a_new_queue_is_named),
		CASE(an_error_that_no_job_has_caused_names_no_job),
	};

	databases_at(argc, argv);
	return cmocka_run_group_tests_name("refused", tests, NULL, NULL);
}
