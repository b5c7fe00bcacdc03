/*
 * attach.c - test the queue on the caller's own PGconn. Jobs and the caller's
 * own rows are committed together (promise P7 of docs/design.md).
 *
 * Each case has a database of its own, with an application's table and the
 * queue in it.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "check.h"

#include <libpq-fe.h>
#include <poll.h>
#include <unistd.h>

/* An application: `pg` is its own connection, and `conn` is the queue that is
 * attached to `pg`. With the separate connection `other` the test checks
 * results. */
struct app {
	char name[64];
	PGconn *pg;
	rp_conn *conn;
	rp_conn *other;
};

static void
hush(void *ctx, const PGresult *res)
{
	(void)ctx;
	(void)res;
}

/* Connect to a database. "" names the server's default database. */
static PGconn *
connect_pg(const char *name)
{
	const char *const names[] = { "dbname", *name ? "dbname" : NULL, NULL };
	const char *const values[] = { getenv("READPAST_TEST_POSTGRES"), name,
				       NULL };
	PGconn *pg = PQconnectdbParams(names, values, 1);

	if (PQstatus(pg) != CONNECTION_OK)
		fail_msg("%s", PQerrorMessage(pg));
	PQsetNoticeReceiver(pg, hush, NULL);
	return pg;
}

static void
execute(PGconn *pg, const char *sql)
{
	PGresult *res = PQexec(pg, sql);

	if (PQresultStatus(res) != PGRES_COMMAND_OK &&
	    PQresultStatus(res) != PGRES_TUPLES_OK)
		fail_msg("%s: %s", sql, PQerrorMessage(pg));
	PQclear(res);
}

static int64_t
number(PGconn *pg, const char *sql)
{
	PGresult *res = PQexec(pg, sql);
	int64_t n;

	if (PQntuples(res) != 1)
		fail_msg("%s: %s", sql, PQerrorMessage(pg));
	n = atoll(PQgetvalue(res, 0, 0));
	PQclear(res);
	return n;
}

static void
on_server(const char *format, const char *name)
{
	PGconn *pg = connect_pg("");
	char sql[200];

	snprintf(sql, sizeof(sql), format, name);
	execute(pg, sql);
	PQfinish(pg);
}

static int
setup(void **state)
{
	static int made;
	struct app *app = calloc(1, sizeof(*app));
	rp_options options = RP_OPTIONS_INIT;
	rp_error error;
	char url[600];

	snprintf(app->name, sizeof(app->name), "attach_%ld_%d", (long)getpid(),
		 made++);
	on_server("create database %s", app->name);
	app->pg = connect_pg(app->name);
	execute(app->pg, "create table orders (x int primary key)");
	options.schema = RP_SCHEMA_INSTALL;
	if (rp_attach("postgres", app->pg, &options, &app->conn, &error) < 0)
		fail_msg("%s", error.message);
	snprintf(url, sizeof(url), "%.500s&dbname=%s",
		 getenv("READPAST_TEST_POSTGRES"), app->name);
	if (rp_open(url, NULL, &app->other, &error) < 0)
		fail_msg("%s", error.message);
	*state = app;
	return 0;
}

static int
teardown(void **state)
{
	struct app *app = *state;

	rp_close(app->conn);
	rp_close(app->other);
	PQfinish(app->pg);
	on_server("drop database %s with (force)", app->name);
	free(app);
	return 0;
}

static int64_t
ready(rp_conn *conn)
{
	rp_stats *stats;
	int64_t n = 0;
	int r = rp_stats_get(conn, "q", &stats);

	if (r == RP_ENOENT)
		return 0;
	ok(conn, r);
	n = rp_stats_at(stats, 0)->ready;
	rp_stats_free(stats);
	return n;
}

static void
P7_rows_and_jobs_commit_or_vanish_together(void **state)
{
	struct app *app = *state;

	execute(app->pg, "begin; insert into orders values (1)");
	put(app->conn, "q", "one");
	assert_int_equal(ready(app->conn), 1);
	assert_int_equal(ready(app->other), 0);
	execute(app->pg, "rollback");
	assert_int_equal(number(app->pg, "select count(*) from orders"), 0);
	assert_int_equal(ready(app->other), 0);
	execute(app->pg, "begin; insert into orders values (1)");
	put(app->conn, "q", "one");
	execute(app->pg, "commit");
	assert_int_equal(number(app->pg, "select count(*) from orders"), 1);
	assert_int_equal(ready(app->other), 1);
}

static void
P7_every_verdict_that_is_rolled_back_was_none(void **state)
{
	static const struct {
		int verdict, state;
	} verdicts[] = { { RP_RELEASE, RP_STATE_READY },
			 { RP_EXTEND, RP_STATE_RUNNING },
			 { RP_FAIL, RP_STATE_SCHEDULED },
			 { RP_DEAD, RP_STATE_DEAD },
			 { RP_DONE, 0 } };
	struct app *app = *state;

	for (size_t i = 0; i < sizeof(verdicts) / sizeof(*verdicts); i++) {
		rp_verdict v;
		struct claim c;

		assert_true(put(app->other, "q", "x") > 0);
		assert_int_equal(take_one(app->other, "q", 60000, &c), 1);
		v = verdict_on(c, verdicts[i].verdict);
		execute(app->pg, "begin");
		assert_int_equal(ok(app->conn, rp_settle(app->conn, &v, 1)), 1);
		assert_int_equal(state_of(app->conn, c.id), verdicts[i].state);
		execute(app->pg, "rollback");
		assert_int_equal(state_of(app->other, c.id), RP_STATE_RUNNING);
		execute(app->pg, "begin");
		assert_int_equal(ok(app->conn, rp_settle(app->conn, &v, 1)), 1);
		execute(app->pg, "commit");
		assert_int_equal(state_of(app->other, c.id), verdicts[i].state);
		ok(app->other, rp_queue_purge(app->other, "q", 0, NULL));
	}
}

static void
P3_a_claim_that_was_rolled_back_settles_nothing(void **state)
{
	struct app *app = *state;
	struct claim vanished, c;

	put(app->other, "q", "x");
	for (int i = 0; i < 20; i++) {
		execute(app->pg, "begin");
		assert_int_equal(take_one(app->conn, "q", 60000, &vanished), 1);
		execute(app->pg, "rollback");
		assert_int_equal(take_one(app->other, "q", 60000, &c), 1);
		assert_int_equal(c.id, vanished.id);
		assert_int_equal(
			rp_complete(app->conn, vanished.id, vanished.no),
			RP_EGONE);
		ok(app->other, rp_release(app->other, c.id, c.no, 0));
	}
}

static void
P4_a_claim_in_an_open_transaction_holds_up_nobody(void **state)
{
	struct app *app = *state;
	struct claim held, c;
	int64_t began;

	put(app->other, "q", "a");
	put(app->other, "q", "b");
	execute(app->pg, "begin");
	assert_int_equal(take_one(app->conn, "q", 60000, &held), 1);
	began = now_ms();
	assert_int_equal(take_one(app->other, "q", 60000, &c), 1);
	assert_true(c.id != held.id);
	ok(app->other, rp_complete(app->other, c.id, c.no));
	assert_int_equal(take_one(app->other, "q", 60000, &c), 0);
	assert_true(now_ms() - began < 2000);
	ok(app->conn, rp_complete(app->conn, held.id, held.no));
	execute(app->pg, "commit");
	assert_int_equal(state_of(app->other, held.id), 0);
}

/* Some of the calls are refused by the library, some by a routine, and some by
 * the server itself. */
static void
a_call_that_fails_leaves_the_callers_transaction_usable(void **state)
{
	static const char *const bad[] = { "garbage", "[1]",   "\"x\"",
					   "{\"a\"",  "{} {}", "\xff" };
	struct app *app = *state;
	rp_job_spec jobs[] = { job_of("good"), job_of("too large") };
	rp_queue q = RP_QUEUE_INIT;
	rp_batch *batch;

	q.name = "q";
	q.max_payload = 4;
	settings(app->other, q);
	execute(app->pg, "begin; insert into orders values (1)");
	put(app->conn, "q", "1");
	assert_int_equal(rp_enqueue_many(app->conn, "q", jobs, 2, NULL),
			 RP_EFBIG);
	assert_int_equal(rp_complete(app->conn, 1, 12345), RP_EGONE);
	assert_int_equal(rp_job_cancel(app->conn, 999999, NULL), RP_ENOENT);
	assert_int_equal(rp_job_get(app->conn, 999999, &batch), RP_ENOENT);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		jobs[0].headers = bad[i];
		assert_int_equal(rp_enqueue(app->conn, "q", jobs, NULL),
				 RP_EINVAL);
		assert_true(*rp_last_error(app->conn)->message);
		assert_null(strchr(rp_last_error(app->conn)->message, '\n'));
	}
	put(app->conn, "q", "2");
	execute(app->pg, "insert into orders values (2); commit");
	assert_int_equal(number(app->pg, "select count(*) from orders"), 2);
	assert_int_equal(ready(app->other), 2);
}

/* Calls that only read fail because the role lacks a right. The caller's
 * transaction must stay usable. */
static void
a_look_that_fails_leaves_the_callers_transaction_usable(void **state)
{
	struct app *app = *state;
	rp_conn *conn = NULL;
	rp_stats *stats;
	rp_workers *workers;
	rp_error error;
	int64_t now;

	put(app->conn, "q", "x");
	execute(app->pg, "create role nobody_here; "
			 "set role nobody_here; begin");
	assert_true(rp_stats_get(app->conn, NULL, &stats) < 0);
	assert_true(rp_worker_list(app->conn, &workers) < 0);
	/* this call needs no rights */
	assert_int_equal(rp_now(app->conn, &now), 0);
	assert_true(rp_attach("postgres", app->pg, NULL, &conn, &error) < 0);
	assert_null(conn);
	assert_non_null(strstr(error.message, "permission denied"));
	assert_string_equal(error.sqlstate, "42501");
	assert_int_equal(number(app->pg, "select 7"), 7);
	execute(app->pg, "commit; reset role; drop role nobody_here");
}

static void
without_a_transaction_each_call_is_a_transaction(void **state)
{
	struct app *app = *state;

	put(app->conn, "q", "x");
	assert_int_equal(PQtransactionStatus(app->pg), PQTRANS_IDLE);
	assert_int_equal(ready(app->other), 1);
	ok(app->conn, rp_begin(app->conn));
	put(app->conn, "q", "y");
	assert_int_equal(ready(app->other), 1);
	ok(app->conn, rp_commit(app->conn));
	assert_int_equal(ready(app->other), 2);
	ok(app->conn, rp_begin(app->conn));
	put(app->conn, "q", "z");
	ok(app->conn, rp_rollback(app->conn));
	assert_int_equal(ready(app->other), 2);
	assert_int_equal(PQtransactionStatus(app->pg), PQTRANS_IDLE);
}

static void
begin_inside_the_callers_transaction_is_a_savepoint(void **state)
{
	struct app *app = *state;

	execute(app->pg, "begin; savepoint readpast");
	put(app->conn, "q", "outer");
	ok(app->conn, rp_begin(app->conn));
	put(app->conn, "q", "inner");
	ok(app->conn, rp_rollback(app->conn));
	ok(app->conn, rp_begin(app->conn));
	put(app->conn, "q", "inner");
	ok(app->conn, rp_commit(app->conn));
	assert_int_equal(ready(app->conn), 2);
	/* The caller's own savepoint `readpast` still exists, although the
	 * library's savepoints have the same name. */
	execute(app->pg, "rollback to readpast");
	assert_int_equal(ready(app->conn), 0);
	put(app->conn, "q", "last");
	execute(app->pg, "release readpast; commit");
	assert_int_equal(ready(app->other), 1);
}

static void
a_failed_transaction_of_the_caller_is_refused_and_stays_failed(void **state)
{
	struct app *app = *state;
	rp_job_spec job = job_of("x");

	execute(app->pg, "begin");
	PQclear(PQexec(app->pg, "select 1 / 0"));
	assert_true(rp_enqueue(app->conn, "q", &job, NULL) < 0);
	assert_string_equal(rp_last_error(app->conn)->sqlstate, "25P02");
	assert_int_equal(PQtransactionStatus(app->pg), PQTRANS_INERROR);
	execute(app->pg, "rollback");
	put(app->conn, "q", "x");
	assert_int_equal(ready(app->other), 1);
}

static void
count_notices(void *ctx, const PGresult *res)
{
	(void)res;
	++*(int *)ctx;
}

static void
do_everything(rp_conn *conn)
{
	rp_job_spec jobs[2] = { job_of("x"), job_of("y") };
	static const char *const queues[] = { "q", NULL };
	struct claim c;
	rp_stats *stats;

	put(conn, "q", "x");
	ok(conn, rp_enqueue_many(conn, "q", jobs, 2, NULL));
	assert_int_equal(take_one(conn, "q", 60000, &c), 1);
	ok(conn, rp_extend(conn, c.id, c.no, 1000));
	ok(conn, rp_complete(conn, c.id, c.no));
	ok(conn, rp_sweep(conn, NULL));
	ok(conn, rp_stats_get(conn, NULL, &stats));
	rp_stats_free(stats);
	assert_int_equal(rp_wait(conn, queues, 0, -1), 1);
	assert_int_equal(rp_complete(conn, 999999, 1), RP_ENOENT);
}

static void
the_connection_stays_as_the_caller_made_it(void **state)
{
	static const char all_settings[] =
		"select hashtext(string_agg(name || '=' || setting, ',' "
		"order by name)) from pg_settings where name <> 'plan_cache'";
	struct app *app = *state;
	PQnoticeReceiver before;
	int64_t settings_before;
	int notices = 0;

	execute(app->pg,
		"create schema theirs; set search_path = theirs; "
		"set timezone = 'Asia/Tokyo'; set datestyle = 'German'; "
		"set intervalstyle = 'iso_8601'; set bytea_output = 'escape'; "
		"set standard_conforming_strings = off; "
		"set extra_float_digits = 0; set synchronous_commit = off; "
		"prepare readpast_settle_and_claim as select 42; "
		"prepare theirs as select 43");
	before = PQsetNoticeReceiver(app->pg, count_notices, &notices);
	assert_true(before != NULL);
	settings_before = number(app->pg, all_settings);
	do_everything(app->conn);
	rp_close(app->conn);

	assert_int_equal(number(app->pg, all_settings), settings_before);
	assert_true(PQsetNoticeReceiver(app->pg, NULL, NULL) == count_notices);
	assert_int_equal(notices, 0);
	assert_int_equal(PQclientEncoding(app->pg),
			 PQclientEncoding(rp_conn_native(app->other)));
	assert_int_equal(number(app->pg, "execute readpast_settle_and_claim"),
			 42);
	assert_int_equal(number(app->pg, "execute theirs"), 43);
	assert_int_equal(number(app->pg, "select count(*) from "
					 "pg_catalog.pg_prepared_statements"),
			 2);
	assert_int_equal(number(app->pg, "select count(*) from "
					 "pg_catalog.pg_locks where locktype = "
					 "'advisory' and pid = "
					 "pg_backend_pid()"),
			 0);
	assert_int_equal(number(app->pg, "select count(*) from "
					 "pg_listening_channels()"),
			 0);
	ok(app->conn, rp_attach("postgres", app->pg, NULL, &app->conn, NULL));
}

/* a name of 43 bytes */
#define LONGEST "a_schema_whose_name_is_as_long_as_it_may_be"

static void
the_queue_may_be_in_another_schema(void **state)
{
	struct app *app = *state;
	rp_options options = RP_OPTIONS_INIT;
	rp_conn *conn = NULL;
	rp_error error;
	struct claim c;
	char url[700];

	options.schema_name = LONGEST;
	options.schema = RP_SCHEMA_REQUIRE;
	assert_int_equal(
		rp_attach("postgres", app->pg, &options, &conn, &error),
		RP_ESCHEMA);
	options.schema = RP_SCHEMA_INSTALL;
	assert_int_equal(
		rp_attach("postgres", app->pg, &options, &conn, &error), 0);
	do_everything(conn);
	execute(app->pg, "begin; insert into orders values (1)");
	put(conn, "q", "mine");
	execute(app->pg, "rollback");
	assert_int_equal(
		number(app->pg, "select count(*) from " LONGEST ".job"), 2);
	assert_int_equal(number(app->pg, "select count(*) from readpast.job"),
			 0);
	rp_close(conn);

	/* A connection that is opened by a URL finds the same queue. */
	snprintf(url, sizeof(url), "%.500s&dbname=%s&schema=" LONGEST,
		 getenv("READPAST_TEST_POSTGRES"), app->name);
	assert_int_equal(rp_open(url, NULL, &conn, &error), 0);
	assert_int_equal(take_one(conn, "q", 60000, &c), 1);
	rp_close(conn);

	/* A program that was compiled before schema_name was added passes a
	 * smaller struct. */
	options.size = offsetof(rp_options, schema_name);
	assert_int_equal(
		rp_attach("postgres", app->pg, &options, &conn, &error), 0);
	put(conn, "q", "x");
	assert_int_equal(number(app->pg, "select count(*) from readpast.job"),
			 1);
	rp_close(conn);
}

static void
a_schemas_name_that_cannot_be_is_refused(void **state)
{
	static const char *const names[] = { "",     "Jobs", "a.b",
					     "a\"b", "1a",   "select" };
	struct app *app = *state;
	rp_options options = RP_OPTIONS_INIT;
	rp_conn *conn = NULL;
	rp_error error;

	options.schema = RP_SCHEMA_INSTALL;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		options.schema_name = names[i];
		assert_int_equal(
			rp_attach("postgres", app->pg, &options, &conn, &error),
			RP_EINVAL);
	}
	options.schema_name = "jobs2";
	assert_int_equal(rp_open(getenv("READPAST_TEST_POSTGRES"), &options,
				 &conn, &error),
			 RP_EINVAL);
	assert_non_null(strstr(error.message, "?schema=NAME"));
	assert_int_equal(rp_attach("sqlite", app->pg, &options, &conn, &error),
			 RP_EINVAL);
	assert_null(conn);
}

static void
two_handles_share_one_connection(void **state)
{
	struct app *app = *state;
	rp_conn *second;

	put(app->conn, "q", "x");
	assert_int_equal(rp_attach("postgres", app->pg, NULL, &second, NULL),
			 0);
	put(second, "q", "y");
	put(app->conn, "q", "z");
	rp_close(second);
	put(app->conn, "q", "z");
	assert_int_equal(rp_attach("postgres", app->pg, NULL, &second, NULL),
			 0);
	put(second, "q", "y");
	rp_close(second);
	assert_int_equal(ready(app->conn), 5);
}

static void
prepared_statements_may_be_discarded_by_the_caller(void **state)
{
	struct app *app = *state;
	rp_job_spec job = job_of("x");

	put(app->conn, "q", "x");
	execute(app->pg, "discard all");
	put(app->conn, "q", "x");
	execute(app->pg, "begin; deallocate all");
	/* This call may fail, because its prepared statement is gone. Inside a
	 * transaction the library does not repeat the call, so the caller must
	 * repeat it. */
	if (rp_enqueue(app->conn, "q", &job, NULL) < 0) {
		assert_int_equal(rp_last_error(app->conn)->code, RP_EBUSY);
		put(app->conn, "q", "x");
	}
	execute(app->pg, "commit");
	assert_int_equal(ready(app->other), 3);
}

/* Drop the tables and make new ones, as a restored backup does. */
static void
make_again(const char *name)
{
	PGconn *pg = connect_pg(name);
	rp_options options = RP_OPTIONS_INIT;
	rp_conn *conn;

	execute(pg, "drop schema readpast cascade");
	options.schema = RP_SCHEMA_INSTALL;
	assert_int_equal(rp_attach("postgres", pg, &options, &conn, NULL), 0);
	put(conn, "q", "x");
	put(conn, "q", "y");
	rp_close(conn);
	PQfinish(pg);
}

static void
tables_may_be_made_again_while_a_handle_is_open(void **state)
{
	struct app *app = *state;
	rp_batch *batch = NULL;
	struct claim c;

	put(app->conn, "q", "x");
	put(app->conn, "q", "x");
	assert_int_equal(take_one(app->conn, "q", 60000, &c), 1);
	assert_int_equal(take_one(app->other, "q", 60000, &c), 1);
	make_again(app->name);
	assert_int_equal(take_one(app->other, "q", 60000, &c), 1);
	assert_int_equal(take_one(app->conn, "q", 60000, &c), 1);

	/* Inside a transaction of the caller the first call may fail. */
	make_again(app->name);
	execute(app->pg, "begin");
	assert_int_equal(rp_claim(app->conn, "q", 1, NULL, &batch), RP_EBUSY);
	execute(app->pg, "rollback; begin");
	assert_int_equal(take_one(app->conn, "q", 60000, &c), 1);
	execute(app->pg, "commit");
	assert_int_equal(ready(app->other), 1);
}

static void
native_is_the_connection(void **state)
{
	struct app *app = *state;

	assert_ptr_equal(rp_conn_native(app->conn), app->pg);
	ok(app->other, rp_begin(app->other));
	execute(rp_conn_native(app->other), "insert into orders values (1)");
	put(app->other, "q", "x");
	ok(app->other, rp_rollback(app->other));
	assert_int_equal(number(app->pg, "select count(*) from orders"), 0);
	assert_int_equal(ready(app->conn), 0);
}

static void
a_claim_at_repeatable_read_is_refused_and_nothing_else(void **state)
{
	static const char *const levels[] = { "repeatable read",
					      "serializable" };
	struct app *app = *state;

	for (size_t i = 0; i < 2; i++) {
		rp_batch *batch = NULL;
		struct claim c;
		char sql[80];
		int64_t id;

		put(app->other, "q", "x");
		assert_int_equal(take_one(app->other, "q", 60000, &c), 1);
		snprintf(sql, sizeof(sql), "begin isolation level %s",
			 levels[i]);
		execute(app->pg, sql);
		id = put(app->conn, "q", "mine");
		assert_int_equal(rp_claim(app->conn, "q", 1, NULL, &batch),
				 RP_EINVAL);
		assert_null(batch);
		assert_non_null(strstr(rp_last_error(app->conn)->message,
				       "READ COMMITTED"));
		ok(app->conn, rp_complete(app->conn, c.id, c.no));
		assert_int_equal(state_of(app->conn, id), RP_STATE_READY);
		execute(app->pg, "commit");
		assert_int_equal(state_of(app->other, c.id), 0);
		assert_int_equal(take_one(app->other, "q", 60000, &c), 1);
		assert_int_equal(c.id, id);
	}
}

static void
where_another_isolation_is_the_default_calls_of_their_own_work(void **state)
{
	struct app *app = *state;
	rp_conn *conn = NULL;
	rp_error error;
	struct claim c;
	char url[700];

	snprintf(url, sizeof(url), "%.500s&dbname=%s&options=%s",
		 getenv("READPAST_TEST_POSTGRES"), app->name,
		 "-cdefault_transaction_isolation%3Dserializable"
		 "%20-csearch_path%3Dnowhere");
	assert_int_equal(rp_open(url, NULL, &conn, &error), 0);
	put(conn, "q", "x");
	assert_int_equal(take_one(conn, "q", 60000, &c), 1);
	ok(conn, rp_sweep(conn, NULL));
	ok(conn, rp_begin(conn));
	ok(conn, rp_release(conn, c.id, c.no, 0));
	assert_int_equal(take_one(conn, "q", 60000, &c), 1);
	ok(conn, rp_commit(conn));
	/* The session still has the search_path that the URL has set. */
	assert_int_equal(number(rp_conn_native(conn),
				"select count(*) from pg_settings"
				" where setting = 'nowhere'"),
			 1);
	rp_close(conn);

	/* The caller sets another isolation level. The calls must work, and the
	 * setting must not change. */
	execute(app->pg, "set default_transaction_isolation = serializable");
	assert_int_equal(rp_attach("postgres", app->pg, NULL, &conn, &error),
			 0);
	put(conn, "q", "y");
	assert_int_equal(take_one(conn, "q", 60000, &c), 1);
	ok(conn, rp_sweep(conn, NULL));
	rp_close(conn);
	assert_int_equal(number(app->pg,
				"select count(*) from pg_settings"
				" where name = 'default_transaction_isolation'"
				"   and setting = 'serializable'"),
			 1);
}

static void
another_encoding_is_refused(void **state)
{
	struct app *app = *state;
	rp_job_spec job = job_of("x");
	rp_conn *conn = NULL;
	rp_error error;

	job.kind = "\xc3\xa4"; /* one letter in UTF-8, two in Latin-1 */
	execute(app->pg, "set client_encoding = 'LATIN1'");
	assert_int_equal(rp_enqueue(app->conn, "q", &job, NULL), RP_EINVAL);
	assert_non_null(strstr(rp_last_error(app->conn)->message, "LATIN1"));
	assert_int_equal(rp_attach("postgres", app->pg, NULL, &conn, &error),
			 RP_EINVAL);
	assert_null(conn);
	execute(app->pg, "set client_encoding = 'UTF8'");
	ok(app->conn, rp_enqueue(app->conn, "q", &job, NULL));
}

static void
a_transaction_that_was_ended_elsewhere_is_not_committed_twice(void **state)
{
	struct app *app = *state;

	ok(app->conn, rp_begin(app->conn));
	put(app->conn, "q", "x");
	execute(app->pg, "rollback");
	assert_int_equal(rp_commit(app->conn), RP_EDB);
	put(app->conn, "q", "y");
	assert_int_equal(ready(app->other), 1);
}

static void
kill_backend(const struct app *app, PGconn *victim)
{
	struct pollfd end = { .fd = PQsocket(victim), .events = POLLRDHUP };
	char sql[100];
	PGconn *pg = connect_pg(app->name);

	snprintf(sql, sizeof(sql), "select pg_terminate_backend(%d)",
		 PQbackendPID(victim));
	execute(pg, sql);
	PQfinish(pg);
	assert_int_equal(poll(&end, 1, 10000), 1);
}

/* Only the owner of the connection may reconnect it. */
static void
a_callers_connection_that_was_lost_is_not_made_anew(void **state)
{
	struct app *app = *state;
	rp_job_spec job = job_of("x");

	put(app->conn, "q", "x");
	execute(app->pg, "begin");
	put(app->conn, "q", "y");
	kill_backend(app, app->pg);
	assert_int_equal(rp_enqueue(app->conn, "q", &job, NULL), RP_ELOST);
	assert_int_equal(rp_enqueue(app->conn, "q", &job, NULL), RP_ELOST);
	assert_int_equal(PQstatus(app->pg), CONNECTION_BAD);
	assert_int_equal(ready(app->other), 1);
}

static void
a_connection_of_our_own_that_was_lost_is_made_anew(void **state)
{
	struct app *app = *state;
	rp_job_spec job = job_of("x");
	rp_workers *workers;
	int64_t now;

	/* The connection is lost while it is idle. The next call reconnects
	 * without an error. */
	put(app->other, "q", "x");
	kill_backend(app, rp_conn_native(app->other));
	put(app->other, "q", "x");
	kill_backend(app, rp_conn_native(app->other));
	ok(app->other, rp_now(app->other, &now));
	kill_backend(app, rp_conn_native(app->other));
	ok(app->other, rp_worker_list(app->other, &workers));
	rp_workers_free(workers);
	kill_backend(app, rp_conn_native(app->other));
	ok(app->other, rp_begin(app->other));
	put(app->other, "q", "x");
	ok(app->other, rp_commit(app->other));
	assert_int_equal(ready(app->conn), 3);

	/* The connection is lost inside a transaction. The transaction is lost,
	 * but the connection can be used again. */
	ok(app->other, rp_begin(app->other));
	put(app->other, "q", "x");
	kill_backend(app, rp_conn_native(app->other));
	assert_int_equal(rp_enqueue(app->other, "q", &job, NULL), RP_ELOST);
	assert_int_equal(rp_enqueue(app->other, "q", &job, NULL), RP_ELOST);
	assert_int_equal(rp_commit(app->other), RP_ELOST);
	put(app->other, "q", "x");
	assert_int_equal(ready(app->conn), 4);
}

#define APP(function) cmocka_unit_test_setup_teardown(function, setup, teardown)

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		APP(P7_rows_and_jobs_commit_or_vanish_together),
		APP(P7_every_verdict_that_is_rolled_back_was_none),
		APP(P3_a_claim_that_was_rolled_back_settles_nothing),
		APP(P4_a_claim_in_an_open_transaction_holds_up_nobody),
		APP(a_call_that_fails_leaves_the_callers_transaction_usable),
		APP(a_look_that_fails_leaves_the_callers_transaction_usable),
		APP(without_a_transaction_each_call_is_a_transaction),
		APP(begin_inside_the_callers_transaction_is_a_savepoint),
		APP(a_failed_transaction_of_the_caller_is_refused_and_stays_failed),
		APP(the_connection_stays_as_the_caller_made_it),
		APP(the_queue_may_be_in_another_schema),
		APP(a_schemas_name_that_cannot_be_is_refused),
		APP(two_handles_share_one_connection),
		APP(prepared_statements_may_be_discarded_by_the_caller),
		APP(tables_may_be_made_again_while_a_handle_is_open),
		APP(native_is_the_connection),
		APP(a_claim_at_repeatable_read_is_refused_and_nothing_else),
		APP(where_another_isolation_is_the_default_calls_of_their_own_work),
		APP(another_encoding_is_refused),
		APP(a_transaction_that_was_ended_elsewhere_is_not_committed_twice),
		APP(a_callers_connection_that_was_lost_is_not_made_anew),
		APP(a_connection_of_our_own_that_was_lost_is_made_anew),
	};

	databases_at(argc, argv);
	return cmocka_run_group_tests_name("attach", tests, NULL, NULL);
}
