/*
 * payloads.c - test that jobs with large payloads are enqueued by several
 * statements, because PostgreSQL limits the size of a statement.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "check.h"

#define SIZE (9 << 20)

static void
large_jobs_of_one_call_are_several_statements_and_one_transaction(void **state)
{
	rp_conn *conn = ((struct db *)*state)->conn;
	rp_job_spec jobs[3] = { RP_JOB_SPEC_INIT, RP_JOB_SPEC_INIT,
				RP_JOB_SPEC_INIT };
	void *payload = calloc(1, SIZE);

	assert_non_null(payload);
	for (int i = 0; i < 3; i++) {
		jobs[i].payload = payload;
		jobs[i].payload_size = i < 2 ? SIZE : 1;
	}
	ok(conn, rp_enqueue_many(conn, "q", jobs, 3, NULL));
	free(payload);
	/* each statement reads the clock once */
	assert_int_equal(
		ask_sql(conn, "select count(distinct created_at) from job"), 2);
	assert_int_equal(
		ask_sql(conn, "select count(distinct xmin::text) from job"), 1);
	assert_int_equal(
		ask_sql(conn, "select sum(length(payload))::bigint from job"),
		2 * SIZE + 1);
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		CASE(large_jobs_of_one_call_are_several_statements_and_one_transaction),
	};

	databases_at(argc, argv);
	return cmocka_run_group_tests_name("payloads", tests, NULL, NULL);
}
