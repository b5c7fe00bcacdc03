/*
 * attach.c - test the queue on the caller's own SQLite connection. Jobs and the
 * caller's own rows are committed together (promise P7 of docs/design.md).
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "check.h"

#include <pthread.h>
#include <sqlite3.h>

/* An application with a SQLite connection, and with the queue that is attached
 * to this connection. The application also has a table of its own. */
struct app {
	sqlite3 *db;
	rp_conn *conn;
};

static int64_t
number(sqlite3 *db, const char *sql)
{
	sqlite3_stmt *stmt;
	int64_t n;

	assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &stmt, NULL), 0);
	assert_int_equal(sqlite3_step(stmt), SQLITE_ROW);
	n = sqlite3_column_int64(stmt, 0);
	sqlite3_finalize(stmt);
	return n;
}

static void
execute(sqlite3 *db, const char *sql)
{
	char *error = NULL;

	if (sqlite3_exec(db, sql, NULL, NULL, &error) != SQLITE_OK)
		fail_msg("%s: %s", sql, error);
}

static struct app
app_on(const struct db *db)
{
	struct app app;
	rp_error error;

	assert_int_equal(sqlite3_open(db->path, &app.db), SQLITE_OK);
	execute(app.db, "create table if not exists orders (x)");
	if (rp_attach("sqlite", app.db, NULL, &app.conn, &error) < 0)
		fail_msg("%s", error.message);
	return app;
}

/* Close the application's connection. This succeeds only if the queue has left
 * no statement open. */
static void
close_app(struct app app)
{
	rp_close(app.conn);
	assert_int_equal(sqlite3_close(app.db), SQLITE_OK);
}

static int
count_commit(void *commits)
{
	++*(int *)commits;
	return 0;
}

/* Each of these calls must commit exactly once. If a call used two
 * transactions, another client could write between them. While the caller has a
 * select open, SQLite would then refuse the second transaction, because the
 * select reads an older state of the file. */
static void
a_call_that_settles_or_claims_is_one_transaction(void **state)
{
	struct db *db = *state;
	struct app app = app_on(db);
	struct claim claims[3];
	int commits = 0;

	for (int i = 0; i < 3; i++)
		put(app.conn, "q", "x");
	sqlite3_commit_hook(app.db, count_commit, &commits);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(take_one(app.conn, "q", 60000, &claims[i]), 1);
		ok(app.conn, rp_complete(app.conn, claims[i].id, claims[i].no));
		assert_int_equal(commits, 2 * (i + 1));
	}
	sqlite3_commit_hook(app.db, NULL, NULL);
	close_app(app);
}

/* The counts of finished jobs are written once a second. A handle that still
 * has some must not write them in a transaction of the caller. */
static void
closing_a_handle_writes_nothing_in_the_callers_transaction(void **state)
{
	struct db *db = *state;
	struct app app = app_on(db);
	struct claim claim;

	for (int i = 0; i < 2; i++) {
		put(app.conn, "q", "x");
		assert_int_equal(take_one(app.conn, "q", 60000, &claim), 1);
		ok(app.conn, rp_complete(app.conn, claim.id, claim.no));
	}
	execute(app.db, "begin; select * from orders");
	rp_close(app.conn);
	assert_int_equal(sqlite3_txn_state(app.db, "main"), SQLITE_TXN_READ);
	put(db->conn, "q", "x");
	assert_int_equal(sqlite3_close(app.db), SQLITE_OK);
}

static void
P7_rows_and_jobs_commit_or_vanish_together(void **state)
{
	struct db *db = *state;
	struct app app = app_on(db);

	execute(app.db, "begin; insert into orders values (1)");
	put(app.conn, "q", "one");
	assert_int_equal(stats_of(app.conn, "q").ready, 1);
	execute(app.db, "rollback");
	assert_int_equal(number(app.db, "select count(*) from orders"), 0);
	assert_int_equal(number(app.db, "select count(*) from readpast_job"),
			 0);
	execute(app.db, "begin; insert into orders values (1)");
	put(app.conn, "q", "one");
	execute(app.db, "commit");
	assert_int_equal(number(app.db, "select count(*) from orders"), 1);
	assert_int_equal(stats_of(db->conn, "q").ready, 1);
	close_app(app);
}

static void
P7_a_verdict_that_is_rolled_back_has_no_effect(void **state)
{
	struct db *db = *state;
	struct app app = app_on(db);
	struct claim c;

	put(db->conn, "q", "x");
	take_one(db->conn, "q", 60000, &c);
	execute(app.db, "begin immediate");
	ok(app.conn, rp_complete(app.conn, c.id, c.no));
	execute(app.db, "rollback");
	assert_int_equal(state_of(db->conn, c.id), RP_STATE_RUNNING);
	execute(app.db, "begin immediate");
	ok(app.conn, rp_complete(app.conn, c.id, c.no));
	execute(app.db, "commit");
	assert_int_equal(state_of(db->conn, c.id), 0);
	close_app(app);
}

static void
P3_a_claim_that_was_rolled_back_settles_nothing(void **state)
{
	struct db *db = *state;
	struct app app = app_on(db);
	struct claim vanished, c;

	put(db->conn, "q", "x");
	for (int i = 0; i < 200; i++) {
		execute(app.db, "begin immediate");
		assert_int_equal(take_one(app.conn, "q", 60000, &vanished), 1);
		execute(app.db, "rollback");
		assert_int_equal(take_one(db->conn, "q", 60000, &c), 1);
		assert_int_equal(c.id, vanished.id);
		assert_int_equal(
			rp_complete(app.conn, vanished.id, vanished.no),
			RP_EGONE);
		ok(db->conn, rp_release(db->conn, c.id, c.no, 0));
	}
	close_app(app);
}

static void
a_call_that_fails_does_not_end_the_callers_transaction(void **state)
{
	struct db *db = *state;
	struct app app = app_on(db);
	rp_job_spec jobs[] = { job_of("good"), job_of("too large") };
	rp_queue q = RP_QUEUE_INIT;

	q.name = "q";
	q.max_payload = 4;
	settings(db->conn, q);
	execute(app.db, "begin; insert into orders values (1)");
	put(app.conn, "q", "1");
	assert_int_equal(rp_enqueue_many(app.conn, "q", jobs, 2, NULL),
			 RP_EFBIG);
	assert_int_equal(rp_complete(app.conn, 1, 12345), RP_EGONE);
	put(app.conn, "q", "2");
	execute(app.db, "commit");
	assert_int_equal(number(app.db, "select count(*) from orders"), 1);
	assert_int_equal(stats_of(db->conn, "q").ready, 2);
	close_app(app);
}

static void
without_a_transaction_each_call_is_a_transaction(void **state)
{
	struct db *db = *state;
	struct app app = app_on(db);
	struct claim c;

	put(app.conn, "q", "x");
	assert_int_equal(stats_of(db->conn, "q").ready, 1);
	assert_int_equal(take_one(app.conn, "q", 60000, &c), 1);
	assert_int_equal(state_of(db->conn, c.id), RP_STATE_RUNNING);
	ok(app.conn, rp_begin(app.conn));
	ok(app.conn, rp_complete(app.conn, c.id, c.no));
	execute(rp_conn_native(app.conn), "insert into orders values (1)");
	ok(app.conn, rp_rollback(app.conn));
	assert_int_equal(state_of(db->conn, c.id), RP_STATE_RUNNING);
	assert_int_equal(number(app.db, "select count(*) from orders"), 0);
	close_app(app);
}

static void
begin_inside_the_callers_transaction_is_a_savepoint(void **state)
{
	struct db *db = *state;
	struct app app = app_on(db);

	execute(app.db, "savepoint theirs");
	put(app.conn, "q", "outer");
	ok(app.conn, rp_begin(app.conn));
	put(app.conn, "q", "inner");
	ok(app.conn, rp_rollback(app.conn));
	ok(app.conn, rp_begin(app.conn));
	put(app.conn, "q", "inner");
	ok(app.conn, rp_commit(app.conn));
	assert_int_equal(
		rp_wait(app.conn, (const char *[]){ "q", NULL }, 0, -1),
		RP_EINVAL);
	execute(app.db, "release theirs");
	assert_int_equal(stats_of(db->conn, "q").ready, 2);
	close_app(app);
}

static int
count_calls(void *ctx, int count)
{
	(void)count;
	++*(int *)ctx;
	return 0;
}

static void
the_connection_stays_as_the_caller_made_it(void **state)
{
	struct db *db = *state;
	char path[300];
	struct app app;
	rp_options options = RP_OPTIONS_INIT;
	rp_job_spec job = job_of("x");
	sqlite3 *other;
	int calls = 0;

	snprintf(path, sizeof(path), "%s.own", db->path);
	assert_int_equal(sqlite3_open(path, &app.db), SQLITE_OK);
	execute(app.db, "create table orders (x); pragma synchronous = off");
	assert_int_equal(rp_attach("sqlite", app.db, NULL, &app.conn, NULL),
			 RP_ESCHEMA);
	options.schema = RP_SCHEMA_INSTALL;
	execute(app.db, "begin");
	assert_int_equal(rp_attach("sqlite", app.db, &options, &app.conn, NULL),
			 0);
	execute(app.db, "commit");
	put(app.conn, "q", "x");
	assert_int_equal(number(app.db, "select journal_mode = 'delete' "
					"from pragma_journal_mode"),
			 1);
	assert_int_equal(number(app.db, "pragma synchronous"), 0);

	sqlite3_busy_handler(app.db, count_calls, &calls);
	assert_int_equal(sqlite3_open(path, &other), SQLITE_OK);
	execute(other, "begin immediate");
	assert_int_equal(rp_enqueue(app.conn, "q", &job, NULL), RP_EBUSY);
	assert_int_equal(calls, 1);
	sqlite3_close(other);
	put(app.conn, "q", "x");
	close_app(app);
}

static void
a_transaction_that_has_read_may_be_refused_at_once(void **state)
{
	struct db *db = *state;
	struct app app = app_on(db);
	rp_job_spec job = job_of("x");

	execute(app.db, "begin");
	number(app.db, "select count(*) from orders");
	put(db->conn, "q", "theirs");
	assert_int_equal(rp_enqueue(app.conn, "q", &job, NULL), RP_EBUSY);
	assert_non_null(strstr(rp_last_error(app.conn)->message,
			       "start it with begin immediate"));
	execute(app.db, "rollback");

	/* This transaction has not read anything when the other client commits.
	 * So the transaction is not refused, and sees that commit. */
	execute(app.db, "begin");
	put(db->conn, "q", "theirs");
	put(app.conn, "q", "ours");
	execute(app.db, "commit");
	assert_int_equal(stats_of(db->conn, "q").ready, 3);
	close_app(app);
}

static void
attaching_inside_a_transaction_reads_nothing_yet(void **state)
{
	struct db *db = *state;
	struct app app = app_on(db);
	rp_options options = RP_OPTIONS_INIT;
	char path[300];

	rp_close(app.conn);
	execute(app.db, "begin");
	assert_int_equal(rp_attach("sqlite", app.db, NULL, &app.conn, NULL), 0);
	put(db->conn, "q", "theirs");
	put(app.conn, "q", "ours");
	execute(app.db, "commit");
	assert_int_equal(stats_of(db->conn, "q").ready, 2);
	close_app(app);

	/* In an open transaction rp_attach() reads nothing, so it accepts a
	 * file without a schema. The first call then fails. */
	snprintf(path, sizeof(path), "%s.own", db->path);
	assert_int_equal(sqlite3_open(path, &app.db), SQLITE_OK);
	execute(app.db, "create table orders (x); begin");
	assert_int_equal(rp_attach("sqlite", app.db, NULL, &app.conn, NULL), 0);
	assert_int_equal(rp_sweep(app.conn, NULL), RP_ESCHEMA);
	rp_close(app.conn);
	options.schema = RP_SCHEMA_INSTALL;
	assert_int_equal(rp_attach("sqlite", app.db, &options, &app.conn, NULL),
			 0);
	assert_int_equal(rp_queue_pause(app.conn, "nosuch", NULL), RP_ENOENT);
	put(app.conn, "q", "x");
	execute(app.db, "commit");
	assert_int_equal(stats_of(app.conn, "q").ready, 1);
	close_app(app);
}

static void
two_handles_share_one_connection(void **state)
{
	struct db *db = *state;
	struct app app = app_on(db);
	rp_conn *second;

	put(app.conn, "q", "x");
	assert_int_equal(rp_attach("sqlite", app.db, NULL, &second, NULL), 0);
	put(second, "q", "y");
	put(app.conn, "q", "z");
	rp_close(second);
	put(app.conn, "q", "z");
	assert_int_equal(stats_of(app.conn, "q").ready, 4);
	assert_ptr_equal(rp_conn_native(app.conn), app.db);
	close_app(app);
}

static void
a_transaction_that_was_ended_elsewhere_is_not_committed_twice(void **state)
{
	struct db *db = *state;
	struct app app = app_on(db);

	ok(app.conn, rp_begin(app.conn));
	put(app.conn, "q", "x");
	execute(app.db, "rollback");
	assert_int_equal(rp_commit(app.conn), RP_EDB);
	put(app.conn, "q", "y");
	assert_int_equal(stats_of(db->conn, "q").ready, 1);
	close_app(app);
}

static void *
from_another_thread(void *arg)
{
	rp_conn *conn = arg;
	rp_job_spec job = job_of("x");

	/* Report a failure as NULL, because cmocka's assertions work only in
	 * the main thread. */
	return rp_enqueue(conn, "q", &job, NULL) == RP_EINVAL &&
			       rp_commit(conn) == RP_EINVAL &&
			       rp_rollback(conn) == RP_EINVAL
		       ? conn
		       : NULL;
}

static void
a_transaction_belongs_to_the_thread_that_began_it(void **state)
{
	struct db *db = *state;
	pthread_t thread;
	void *refused;

	ok(db->conn, rp_begin(db->conn));
	put(db->conn, "q", "x");
	pthread_create(&thread, NULL, from_another_thread, db->conn);
	pthread_join(thread, &refused);
	assert_non_null(refused);
	ok(db->conn, rp_commit(db->conn));
	assert_int_equal(stats_of(db->conn, "q").ready, 1);
}

static void
wrong_arguments_are_refused(void **state)
{
	struct db *db = *state;
	struct app app = app_on(db);
	rp_conn *conn = NULL;
	rp_error error;
	rp_options options = RP_OPTIONS_INIT;

	assert_int_equal(rp_attach(NULL, app.db, NULL, &conn, &error),
			 RP_EINVAL);
	assert_int_equal(rp_attach("sqlite", NULL, NULL, &conn, &error),
			 RP_EINVAL);
	assert_int_equal(rp_attach("sqlite", app.db, NULL, NULL, &error),
			 RP_EINVAL);
	assert_int_equal(rp_attach("abacus", app.db, NULL, &conn, &error),
			 RP_EINVAL);
	options.schema = 7;
	assert_int_equal(rp_attach("sqlite", app.db, &options, &conn, &error),
			 RP_EINVAL);
	assert_null(conn);
	assert_null(rp_conn_native(NULL));
	close_app(app);
}

static void
a_queue_in_an_attached_database_is_refused_and_none_made_in_main(void **state)
{
	struct db *db = *state;
	rp_options o = RP_OPTIONS_INIT;
	rp_conn *conn = NULL;
	char path[300], sql[400];
	rp_error error;
	sqlite3 *app;

	o.schema = RP_SCHEMA_INSTALL;
	snprintf(path, sizeof(path), "%s/app", db->dir);
	snprintf(sql, sizeof(sql), "attach '%s' as jobs", db->path);
	assert_int_equal(sqlite3_open(path, &app), SQLITE_OK);
	execute(app, sql);
	assert_int_equal(rp_attach("sqlite", app, &o, &conn, &error),
			 RP_ESCHEMA);
	assert_non_null(
		strstr(error.message, "is in the attached database jobs"));
	assert_non_null(strstr(error.message, "as main"));
	assert_int_equal(number(app, "select count(*) from main.sqlite_master"),
			 0);
	execute(app, "detach jobs");
	assert_int_equal(rp_attach("sqlite", app, &o, &conn, &error), 0);
	rp_close(conn);
	/* The file `main` now has a queue of its own, and calls use this
	 * queue. */
	execute(app, sql);
	assert_int_equal(rp_attach("sqlite", app, &o, &conn, &error), 0);
	put(conn, "q", "x");
	assert_int_equal(number(app, "select count(*) from main.readpast_job"),
			 1);
	rp_close(conn);
	assert_int_equal(sqlite3_close(app), SQLITE_OK);
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		CASE(a_call_that_settles_or_claims_is_one_transaction),
		CASE(closing_a_handle_writes_nothing_in_the_callers_transaction),
		CASE(P7_rows_and_jobs_commit_or_vanish_together),
		CASE(P7_a_verdict_that_is_rolled_back_has_no_effect),
		CASE(P3_a_claim_that_was_rolled_back_settles_nothing),
		CASE(a_call_that_fails_does_not_end_the_callers_transaction),
		CASE(without_a_transaction_each_call_is_a_transaction),
		CASE(begin_inside_the_callers_transaction_is_a_savepoint),
		CASE(the_connection_stays_as_the_caller_made_it),
		CASE(a_transaction_that_has_read_may_be_refused_at_once),
		CASE(attaching_inside_a_transaction_reads_nothing_yet),
		CASE(two_handles_share_one_connection),
		CASE(a_transaction_that_was_ended_elsewhere_is_not_committed_twice),
		CASE(a_transaction_belongs_to_the_thread_that_began_it),
		CASE(wrong_arguments_are_refused),
		CASE(a_queue_in_an_attached_database_is_refused_and_none_made_in_main),
	};

	databases_at(argc, argv);
	return cmocka_run_group_tests_name("attach", tests, NULL, NULL);
}
