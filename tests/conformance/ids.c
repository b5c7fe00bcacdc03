/*
 * ids.c - test the ids of jobs.
 *
 * No id is given twice, even if the transaction that got the id is rolled back.
 * A new id costs few writes. One case is for SQLite only.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "check.h"

#include <sys/stat.h>

#define IDS 4000

struct given {
	int64_t ids[IDS];
	int count;
};

/* Record the id of a new job. The id must differ from all earlier ids. Complete
 * the job now. Otherwise the primary key alone would prevent a second job with
 * this id. */
static void
note(struct given *given, rp_conn *conn, int64_t id)
{
	struct claim a = { .id = 0 };

	assert_true(id > 0 && given->count < IDS);
	for (int i = 0; i < given->count; i++)
		assert_true(given->ids[i] != id);
	given->ids[given->count++] = id;
	while (take_one(conn, "q", 60000, &a))
		ok(conn, rp_complete(conn, a.id, a.no));
}

/* Enqueue into a file that cannot grow. SQLite then rolls back the
 * transaction. */
static void
fail_to_put(const struct db *db, rp_conn *conn)
{
	static const char large[100000];
	rp_job_spec job = RP_JOB_SPEC_INIT;

	job.payload = large;
	job.payload_size = sizeof(large);
	if (!*db->path) /* on a server */
		job.headers = "not JSON";
	else
		run_sql(conn, "pragma max_page_count = 1", NULL);
	assert_true(rp_enqueue(conn, "q", &job, NULL) < 0);
	if (*db->path)
		run_sql(conn, "pragma max_page_count = 1000000", NULL);
}

static void
take_back(rp_conn *conn)
{
	ok(conn, rp_begin(conn));
	put(conn, "q", "x");
	put(conn, "q", "x");
	ok(conn, rp_rollback(conn));
}

static void
put_several(rp_conn *conn, struct given *given)
{
	rp_job_spec jobs[] = { job_of("x"), job_of("x"), job_of("x") };
	rp_added added[3];

	ok(conn, rp_enqueue_many(conn, "q", jobs, 3, added));
	for (int i = 0; i < 3; i++)
		note(given, conn, added[i].id);
}

static void
no_two_jobs_of_several_connections_have_one_id(void **state)
{
	struct db *db = *state;
	struct given given = { .count = 0 };
	rp_conn *conns[] = { db->conn, connect_to(db), connect_to(db) };

	for (int round = 0; round < 800; round++) {
		/* In every second block of 100 rounds, only the first
		 * connection enqueues. */
		rp_conn *conn = conns[round / 100 % 2 ? 0 : round * 7 % 3];

		if (round % 11 == 4)
			fail_to_put(db, conn);
		if (round % 13 == 5)
			take_back(conn);
		if (round % 101 == 60)
			put_several(conn, &given);
		note(&given, conn, put(conn, "q", "x"));
	}
	rp_close(conns[1]);
	rp_close(conns[2]);
}

static void
ids_of_one_connection_grow(void **state)
{
	struct db *db = *state;
	rp_job_spec jobs[] = { job_of("x"), job_of("x") };
	rp_added added[2];
	int64_t last = 0;
	char key[16];

	for (int round = 0; round < 300; round++) {
		int64_t id = put(db->conn, "q", "x");

		assert_true(id > last);
		last = id;
		if (round % 5 == 3) {
			snprintf(key, sizeof(key), "%d", round);
			jobs[0].unique_key = key;
			ok(db->conn,
			   rp_enqueue_many(db->conn, "q", jobs, 2, added));
			jobs[0].unique_key = NULL;
			assert_true(added[0].id > last);
			assert_true(added[1].id > added[0].id);
			last = added[1].id;
		}
		if (round % 7 != 3)
			continue;
		ok(db->conn, rp_enqueue_many(db->conn, "q", jobs, 2, added));
		assert_true(added[0].id > last);
		last = added[1].id;
	}
}

/* An enqueue of one job writes two pages: the last leaf of the table and the
 * last leaf of the index of ready jobs. */
static void
a_job_that_is_put_in_alone_writes_two_pages(void **state)
{
	struct db *db = *state;
	char path[300];
	struct stat before, after;
	int jobs = 200;

	if (!*db->path) /* on a server */
		return;
	snprintf(path, sizeof(path), "%s-wal", db->path);
	put(db->conn, "q", "x");
	assert_int_equal(stat(path, &before), 0);
	for (int i = 0; i < jobs; i++)
		put(db->conn, "q", "x");
	assert_int_equal(stat(path, &after), 0);
	/* Some jobs write a third page: a new page, or the page that stores the
	 * last id. */
	assert_in_range(after.st_size - before.st_size, jobs * 2 * 4096,
			jobs * 2.2 * 4120);
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		CASE(no_two_jobs_of_several_connections_have_one_id),
		CASE(ids_of_one_connection_grow),
		CASE(a_job_that_is_put_in_alone_writes_two_pages),
	};

	databases_at(argc, argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
