/*
 * open.c - test opening databases that are missing, have odd names, or are
 * locked.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "check.h"

#include <sqlite3.h>
#include <unistd.h>

static int
try_open(const char *url, int schema)
{
	rp_options o = RP_OPTIONS_INIT;
	rp_conn *conn = NULL;
	int r;

	o.schema = schema;
	r = rp_open(url, &o, &conn, NULL);
	assert_true((r == 0) == (conn != NULL));
	rp_close(conn);
	return r;
}

static int
do_nothing(rp_task *task, const rp_job *job, void *ctx)
{
	(void)task;
	(void)job;
	(void)ctx;
	return RP_DONE;
}

/* Run a worker until no job is ready. Fails if there is no database at this
 * URL. */
static int
work_at(const char *url)
{
	rp_worker_options o = RP_WORKER_INIT;
	rp_worker *worker;
	int r;

	o.schema = RP_SCHEMA_REQUIRE;
	o.drain = RP_DRAIN_READY;
	assert_int_equal(rp_worker_new(url, &o, &worker, NULL), 0);
	assert_int_equal(rp_worker_handle(worker, "q", NULL, do_nothing, NULL),
			 0);
	r = rp_worker_run(worker, NULL);
	rp_worker_free(worker);
	return r;
}

static void
a_search_for_a_database_makes_no_database(void **state)
{
	struct db *db = *state;
	char path[300], url[320];

	snprintf(path, sizeof(path), "%s/none", db->dir);
	snprintf(url, sizeof(url), "sqlite:%s", path);
	assert_int_equal(try_open(url, RP_SCHEMA_REQUIRE), RP_ENODB);
	assert_int_equal(access(path, F_OK), -1);
	assert_int_equal(try_open(url, 7), RP_EINVAL);
	assert_int_equal(access(path, F_OK), -1);
	assert_int_equal(work_at(url), RP_ENODB);
	assert_int_equal(access(path, F_OK), -1);
	assert_int_equal(try_open(url, RP_SCHEMA_CREATE), 0);
	assert_int_equal(access(path, F_OK), 0);
	snprintf(url, sizeof(url), "sqlite:%s/no/such/place", db->dir);
	assert_true(try_open(url, RP_SCHEMA_CREATE) < 0);
}

static void
strange_file_names_are_taken_literally(void **state)
{
	static const char *const names[] = { "a b",    "100%25", "what%3f",
					     "file:x", "%23",    "\xc3\xbc" };
	struct db *db = *state;
	char url[320], path[320];

	assert_int_equal(chdir(db->dir), 0);
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		snprintf(url, sizeof(url), "sqlite:%s", names[i]);
		assert_int_equal(try_open(url, RP_SCHEMA_CREATE), 0);
		assert_int_equal(try_open(url, RP_SCHEMA_REQUIRE), 0);
	}
	snprintf(path, sizeof(path), "%s/what?", db->dir);
	assert_int_equal(access(path, F_OK), 0);
	snprintf(path, sizeof(path), "%s/file:x", db->dir);
	assert_int_equal(access(path, F_OK), 0);
	assert_int_equal(chdir("/"), 0);
}

static void
a_file_that_is_locked_whole_cannot_be_opened_before_its_deadline(void **state)
{
	struct db *db = *state;
	sqlite3 *holder;
	char url[320];
	int64_t began;

	snprintf(url, sizeof(url), "sqlite:%s/locked", db->dir);
	assert_int_equal(sqlite3_open(strchr(url, ':') + 1, &holder),
			 SQLITE_OK);
	assert_int_equal(
		sqlite3_exec(holder, "begin exclusive", NULL, NULL, NULL),
		SQLITE_OK);
	strcat(url, "?busy=150ms");
	began = now_ms();
	assert_int_equal(try_open(url, RP_SCHEMA_CREATE), RP_EBUSY);
	assert_in_range(now_ms() - began, 150, 5000);
	sqlite3_close(holder);
	assert_int_equal(try_open(url, RP_SCHEMA_CREATE), 0);
}

/* ---- a fork while a transaction is open ---- */

struct fork {
	const struct db *db;
	int committed[2]; /* a pipe */
};

static int
enqueue_in_child(void *ctx)
{
	struct fork *f = ctx;
	char url[600], byte;
	rp_job_spec job = job_of("x");
	rp_conn *conn;
	int r;

	snprintf(url, sizeof(url), "%s?busy=100ms", f->db->url);
	if (read(f->committed[0], &byte, 1) != 1 ||
	    rp_open(url, NULL, &conn, NULL) < 0)
		return 2;
	r = rp_enqueue(conn, "q", &job, NULL);
	return r != RP_EBUSY || !strstr(rp_last_error(conn)->message,
					"open the database after fork()");
}

static void
a_child_forked_inside_a_transaction_gets_the_reason_of_its_wait(void **state)
{
	struct db *db = *state;
	struct fork f = { .db = db };
	pid_t child;

	assert_int_equal(pipe(f.committed), 0);
	put(db->conn, "q", "before");
	ok(db->conn, rp_begin(db->conn));
	child = in_child(enqueue_in_child, &f);
	ok(db->conn, rp_commit(db->conn));
	assert_int_equal(write(f.committed[1], "", 1), 1);
	expect_success(child);
	put(db->conn, "q", "after");
	close(f.committed[0]);
	close(f.committed[1]);
}

/* ---- a clock that is outside of the allowed range ---- */

static int64_t clock_ms; /* ms since 1970 */

static int
tell_time(sqlite3_vfs *vfs, sqlite3_int64 *ret)
{
	(void)vfs;
	*ret = INT64_C(210866760000000) + clock_ms;
	return SQLITE_OK;
}

static void
expect_clock_refused(const struct db *db, const char *words)
{
	rp_job_spec job = job_of("x");
	rp_error error;
	rp_conn *conn = NULL;
	char url[320];

	assert_int_equal(rp_open(db->url, NULL, &conn, &error), 0);
	assert_int_equal(rp_enqueue(conn, "q", &job, NULL), RP_EDB);
	assert_non_null(strstr(rp_last_error(conn)->message, words));
	rp_close(conn);
	snprintf(url, sizeof(url), "sqlite:%s/new", db->dir);
	assert_int_equal(rp_open(url, NULL, &conn, &error), RP_EDB);
	assert_non_null(strstr(error.message, words));
}

static void
a_clock_before_1970_or_beyond_9999_is_refused_in_words(void **state)
{
	const int64_t year_10000_ms = INT64_C(253402300800000);
	struct db *db = *state;
	sqlite3_vfs vfs = *sqlite3_vfs_find(NULL);
	rp_conn *conn;

	vfs.zName = "clock";
	vfs.xCurrentTimeInt64 = tell_time;
	sqlite3_vfs_register(&vfs, 1);
	clock_ms = year_10000_ms;
	expect_clock_refused(db, "beyond the year 9999: set it");
	clock_ms = -1;
	expect_clock_refused(db, "before 1970: set it");
	clock_ms = year_10000_ms - 1;
	conn = connect_to(db);
	put(conn, "q", "x");
	rp_close(conn);
	sqlite3_vfs_unregister(&vfs);
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		CASE(a_search_for_a_database_makes_no_database),
		CASE(strange_file_names_are_taken_literally),
		CASE(a_file_that_is_locked_whole_cannot_be_opened_before_its_deadline),
		CASE(a_child_forked_inside_a_transaction_gets_the_reason_of_its_wait),
		CASE(a_clock_before_1970_or_beyond_9999_is_refused_in_words),
	};

	databases_at(argc, argv);
	return cmocka_run_group_tests_name("open", tests, NULL, NULL);
}
