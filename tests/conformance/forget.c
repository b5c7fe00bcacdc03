/*
 * forget.c - test that each call that deletes a job also deletes its payload.
 * SQLite only.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "check.h"

static void
complete(struct db *db, size_t size)
{
	put_sized(db->conn, size, 1);
	settle_one(db->conn, claim_one(db->conn, 60000), RP_DONE, -1);
}

static void
complete_all(rp_conn *conn, size_t n)
{
	rp_verdict v[50];
	rp_batch *batch = take(conn, "q", n, 60000);

	for (size_t i = 0; i < n; i++) {
		v[i] = (rp_verdict)RP_VERDICT_INIT;
		v[i].id = rp_batch_at(batch, i)->id;
		v[i].claim_no = rp_batch_at(batch, i)->claim_no;
	}
	rp_batch_free(batch);
	assert_int_equal(rp_settle(conn, v, n), (int)n);
}

static void
complete_many(struct db *db, size_t size)
{
	for (unsigned i = 0; i < 50; i++)
		put_sized(db->conn, size, i);
	complete_all(db->conn, 50);
	ok(db->conn, rp_sweep(db->conn, NULL));
}

static void
purge(struct db *db, size_t size)
{
	put_sized(db->conn, size, 1);
	settle_one(db->conn, claim_one(db->conn, 60000), RP_DEAD, -1);
	put_sized(db->conn, size, 1);
	assert_int_equal(rp_queue_purge(db->conn, "q", 0, NULL), 2);
}

static void
outlive_retention(struct db *db, size_t size)
{
	keep_for(db->conn, 1, 0);
	complete(db, size);
	ok(db->conn,
	   rp_job_cancel(db->conn, put_sized(db->conn, size, 1), NULL));
	sleep_ms(3);
	assert_int_equal(ok(db->conn, rp_sweep(db->conn, NULL)), 2);
	keep_for(db->conn, 0, 600000);
}

static void
drop(struct db *db, size_t size)
{
	rp_job_spec later = RP_JOB_SPEC_INIT;

	later.delay_ms = 60000;
	put_sized(db->conn, size, 1);
	put_bytes(db->conn, later, size, 2);
	ok(db->conn,
	   rp_job_cancel(db->conn, put_sized(db->conn, size, 3), NULL));
	ok(db->conn, rp_queue_drop(db->conn, "q"));
}

static void
move(struct db *db, size_t size)
{
	struct db *to = make_db("sqlite:");
	rp_copy_options options = RP_COPY_INIT;
	rp_error error = { 0 };
	rp_batch *batch;

	put_sized(db->conn, size, 1);
	ok(db->conn,
	   rp_job_cancel(db->conn, put_sized(db->conn, size, 2), NULL));
	options.move = 1;
	if (rp_copy(db->conn, to->conn, &options, NULL, &error) < 0)
		fail_msg("%s", error.message);
	ok(db->conn, rp_queue_resume(db->conn, "q"));
	ok(to->conn, rp_queue_resume(to->conn, "q"));
	batch = take(to->conn, "q", 1, 60000);
	expect_bytes(rp_batch_at(batch, 0), size, 1);
	rp_batch_free(batch);
	remove_db(to);
}

static void
replace(struct db *db, size_t size)
{
	const size_t others[] = { IN_ROW + 7, 10 };
	rp_job_spec job = RP_JOB_SPEC_INIT;

	job.unique_key = "key";
	put_bytes(db->conn, job, size, 0);
	for (unsigned i = 0; i < 2; i++) {
		rp_batch *batch;

		job.replace = 0;
		put_bytes(db->conn, job, others[i], 1); /* the key is taken */
		job.replace = 1;
		put_bytes(db->conn, job, others[i], i + 2);
		batch = get(db->conn,
			    put_bytes(db->conn, job, others[i], i + 2));
		expect_bytes(rp_batch_at(batch, 0), others[i], i + 2);
		rp_batch_free(batch);
	}
	settle_one(db->conn, claim_one(db->conn, 60000), RP_DONE, -1);
}

static void
fail_to_enqueue(struct db *db, size_t size)
{
	rp_job_spec job = RP_JOB_SPEC_INIT;
	char *bytes = bytes_of(size, 1);

	job.payload = bytes;
	job.payload_size = size;
	job.headers = "no object";
	assert_int_equal(rp_enqueue(db->conn, "q", &job, NULL), RP_EINVAL);
	free(bytes);
}

static void
each_end_of_a_job_deletes_its_payload(void **state)
{
	static const struct {
		const char *what;
		void (*end)(struct db *db, size_t size);
	} ways[] = {
		{ "complete", complete },
		{ "complete many", complete_many },
		{ "purge", purge },
		{ "retention", outlive_retention },
		{ "copy --move", move },
		{ "replace", replace },
		{ "a refused enqueue", fail_to_enqueue },
		{ "queue drop", drop },
	};
	struct db *db = *state;

	for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++)
		for (int large = 0; large < 2; large++) {
			ways[i].end(db, large ? IN_ROW + 100 : 100);
			if (ask_sql(db->conn,
				    "select (select count(*) from readpast_job)"
				    " + (select count(*) from readpast_archive)"
				    " + (select count(*) from"
				    " readpast_payload)") != 0)
				fail_msg("%s: something is left", ways[i].what);
		}
}

static void
completions_of_large_jobs_leave_some_payloads_to_a_sweep(void **state)
{
	rp_conn *conn = ((struct db *)*state)->conn;

	run_sql(conn, "pragma synchronous = off", NULL);
	for (unsigned i = 0; i < 16; i++)
		put_sized(conn, EIGHT_MIB, i);
	complete_all(conn, 16);
	assert_int_equal(ask_sql(conn, "select count(*) from readpast_job"), 0);
	assert_in_range(ask_sql(conn, "select count(*) from readpast_payload"),
			1, 15);
	assert_int_equal(
		ask_sql(conn, "select count(*) from readpast_gone"
			      " join readpast_payload using (id)"),
		ask_sql(conn, "select count(*) from readpast_payload"));
	ok(conn, rp_sweep(conn, NULL));
	assert_int_equal(ask_sql(conn, "select count(*) from readpast_payload"),
			 0);
	assert_int_equal(ask_sql(conn, "select count(*) from readpast_gone"),
			 0);
}

static void
a_payload_that_a_copy_has_brought_back_is_not_swept(void **state)
{
	rp_conn *conn = ((struct db *)*state)->conn;
	rp_batch *batch;

	put_sized(conn, IN_ROW + 1, 1);
	run_sql(conn, "insert into readpast_gone values (1)", NULL);
	ok(conn, rp_sweep(conn, NULL));
	assert_int_equal(ask_sql(conn, "select count(*) from readpast_gone"),
			 0);
	batch = get(conn, 1);
	expect_bytes(rp_batch_at(batch, 0), IN_ROW + 1, 1);
	rp_batch_free(batch);
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		CASE(each_end_of_a_job_deletes_its_payload),
		CASE(completions_of_large_jobs_leave_some_payloads_to_a_sweep),
		CASE(a_payload_that_a_copy_has_brought_back_is_not_swept),
	};

	databases_at(argc, argv);
	return cmocka_run_group_tests_name("forget", tests, NULL, NULL);
}
