/*
 * copy_refused.c - test that a refused rp_copy() does not change the source by
 * a byte.
 *
 * The two arguments are the kinds of the source and of the target.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "pair.h"

static rp_error error;

static int
copy(struct pair *pair, int move, rp_copied *ret)
{
	rp_copy_options o = RP_COPY_INIT;

	o.move = move;
	return rp_copy(pair->from->conn, pair->to->conn, &o, ret, &error);
}

static void
expect_done(int r)
{
	if (r < 0)
		fail_msg("%s", error.message);
}

/* Expect that the copy fails with the error `code`. 0 means any error, because
 * some errors differ between databases. */
static void
expect_refused_with(struct pair *pair, const rp_copy_options *o, int code)
{
	char *before = rows_of(pair->from->conn), *after;
	rp_copied copied;
	int r;

	memset(&copied, 0x5a, sizeof(copied));
	memset(&error, 0x5a, sizeof(error));
	r = rp_copy(pair->from->conn, pair->to->conn, o, &copied, &error);
	after = rows_of(pair->from->conn);
	assert_true(code ? r == code : r < 0);
	assert_int_equal(error.code, r);
	assert_in_range(strnlen(error.message, sizeof(error.message)), 5,
			sizeof(error.message) - 1);
	assert_int_equal(copied.doing, 0x5a5a5a5a);
	assert_string_equal(after, before);
	free(before);
	free(after);
}

/* Expect that both a copy and a move are refused. */
static void
expect_refused(struct pair *pair, int code)
{
	rp_copy_options o = RP_COPY_INIT;

	expect_refused_with(pair, &o, code);
	o.move = 1;
	expect_refused_with(pair, &o, code);
}

static void
rename_table(rp_conn *conn, const char *from, const char *to)
{
	const char *prefix = rp_conn_schema(conn) ? "" : "readpast_";
	char sql[200];

	snprintf(sql, sizeof(sql), "alter table %s%s rename to %s%s", prefix,
		 from, prefix, to);
	if (run_sql(conn, sql, NULL) != 0)
		fail_msg("%s: failed", sql);
}

static void
arguments_that_are_wrong_change_nothing(void **state)
{
	static const char *const nil[] = { "mail", "nil", NULL };
	struct pair *pair = *state;
	rp_copy_options o = RP_COPY_INIT;
	rp_conn *from = pair->from->conn;
	rp_copied no_size = { 0 };

	assert_int_equal(rp_copy(NULL, from, NULL, NULL, &error), RP_EINVAL);
	assert_int_equal(rp_copy(from, NULL, NULL, NULL, NULL), RP_EINVAL);
	assert_int_equal(rp_copy(from, from, NULL, NULL, &error), RP_EINVAL);
	assert_int_equal(rp_copy(from, pair->to->conn, NULL, &no_size, &error),
			 RP_EINVAL);
	assert_string_equal(error.message,
			    "rp_copy: ret is not made by RP_COPIED_INIT");
	ok(pair->to->conn, rp_begin(pair->to->conn));
	expect_refused(pair, RP_EINVAL);
	ok(pair->to->conn, rp_rollback(pair->to->conn));
	o.queues = nil;
	expect_refused_with(pair, &o, RP_ENOENT);
	assert_string_equal(error.message, "source: no queue named nil");
	expect_source_untouched(pair);
}

static void
a_database_is_not_copied_into_itself(void **state)
{
	struct pair *pair = *state;
	rp_conn *to = pair->to->conn;

	pair->to->conn = connect_to(pair->from);
	expect_refused(pair, RP_EINVAL);
	assert_string_equal(error.message,
			    "source and target are the same database");
	expect_source_untouched(pair);
	rp_close(pair->to->conn);
	pair->to->conn = to;
}

static void
a_queue_that_has_jobs_in_the_target_is_refused(void **state)
{
	struct pair *pair = *state;

	put(pair->to->conn, "other", "x");
	expect_refused(pair, RP_ETAKEN);
	expect_source_untouched(pair);
}

static void
a_copy_that_was_resumed_in_the_target_is_refused(void **state)
{
	struct pair *pair = *state;

	expect_done(copy(pair, 0, NULL));
	ok(pair->to->conn, rp_queue_resume(pair->to->conn, "mail"));
	expect_refused(pair, RP_ETAKEN);
	assert_false(is_paused(pair->from->conn, "mail"));
}

/* Rename one table after another. While a table is missing, a copy must be
 * refused. */
static void
expect_tables_needed(struct pair *pair, rp_conn *conn)
{
	static const char *const tables[] = { "queue", "meta", "job",
					      "archive" };

	for (size_t i = 0; i < 4; i++) {
		rename_table(conn, tables[i], "hidden");
		expect_refused(pair, 0);
		rename_table(conn, "hidden", tables[i]);
	}
}

static void
a_target_without_one_of_its_tables_is_refused(void **state)
{
	struct pair *pair = *state;

	expect_tables_needed(pair, pair->to->conn);
	expect_source_untouched(pair);
	expect_done(copy(pair, 0, NULL));
	expect_copied(pair, 0);
}

static void
a_source_without_one_of_its_tables_is_refused(void **state)
{
	struct pair *pair = *state;

	expect_tables_needed(pair, pair->from->conn);
	expect_source_untouched(pair);
	expect_done(copy(pair, 0, NULL));
	expect_copied(pair, 0);
}

/* Expect RP_EBUSY while another connection has locked the database. */
static void
expect_lock_respected(struct pair *pair, struct db *db)
{
	rp_conn *locker = connect_to(db), *waiter, *usual = db->conn;
	char url[700];
	rp_error why;

	if (*db->schema)
		snprintf(url, sizeof(url),
			 "%s&options=-csearch_path%%3D%s%%20-clock_timeout%%"
			 "3D50ms",
			 db->url, db->schema);
	else
		snprintf(url, sizeof(url), "%s?busy=50ms", db->url);
	if (rp_open(url, NULL, &waiter, &why) < 0)
		fail_msg("%s", why.message);
	ok(locker, rp_begin(locker));
	if (*db->schema)
		assert_int_equal(run_sql(locker, "lock table queue", NULL), 0);
	db->conn = waiter;
	if (!*db->schema || db == pair->to)
		expect_refused(pair, RP_EBUSY);
	else /* expect_refused() would read the table that is locked */
		assert_int_equal(copy(pair, 0, NULL), RP_EBUSY);
	db->conn = usual;
	rp_close(waiter);
	ok(locker, rp_rollback(locker));
	rp_close(locker);
	expect_source_untouched(pair);
}

static void
a_target_that_is_locked_is_refused(void **state)
{
	struct pair *pair = *state;

	expect_lock_respected(pair, pair->to);
	expect_done(copy(pair, 0, NULL));
	expect_copied(pair, 0);
}

static void
a_source_that_is_locked_is_refused(void **state)
{
	struct pair *pair = *state;

	expect_lock_respected(pair, pair->from);
	expect_done(copy(pair, 0, NULL));
	expect_copied(pair, 0);
}

static void
as_role(struct db *db, const char *format, const char *revoked)
{
	char sql[600];

	snprintf(sql, sizeof(sql), format, db->schema, revoked);
	if (run_sql(db->conn, sql, NULL) < 0)
		fail_msg("%s: failed", sql);
}

static void
expect_rights_needed(struct pair *pair, struct db *db, const char *revoked,
		     int copies)
{
	rp_copy_options o = RP_COPY_INIT;

	as_role(db,
		"create role r_%1$s; grant usage on schema %1$s to r_%1$s;"
		" grant all on all tables in schema %1$s to r_%1$s;"
		" grant all on all sequences in schema %1$s to r_%1$s;"
		" revoke %2$s from r_%1$s; set role r_%1$s",
		revoked);
	if (!copies)
		expect_refused_with(pair, &o, RP_EDB);
	o.move = 1;
	expect_refused_with(pair, &o, RP_EDB);
	assert_string_equal(error.sqlstate, "42501");
	as_role(db, "reset role; drop owned by r_%1$s; drop role r_%1$s", "");
	expect_source_untouched(pair);
}

/* This case runs only on a server, because a SQLite file has no rights on
 * single tables. */
static void
a_right_that_is_missing_is_found_before_it_begins(void **state)
{
	static const char *const to[] = {
		"update on queue",        "insert on job",
		"delete on job",          "insert on archive",
		"delete on archive",      "insert on lane",
		"update on meta",         "insert on meta",
		"update on sequence line"
	};
	static const char *const from[] = { "update on queue",
					    "insert on meta" };
	struct pair *pair = *state;

	for (size_t i = 0; *pair->to->schema && i < 9; i++)
		expect_rights_needed(pair, pair->to, to[i], 0);
	for (size_t i = 0; *pair->from->schema && i < 2; i++)
		expect_rights_needed(pair, pair->from, from[i], 0);
	if (*pair->from->schema) {
		expect_rights_needed(pair, pair->from, "delete on job", 1);
		expect_rights_needed(pair, pair->from, "delete on meta", 1);
	}
	expect_done(copy(pair, 0, NULL));
	expect_copied(pair, 0);
}

static void
a_target_that_may_only_be_read_is_refused(void **state)
{
	struct pair *pair = *state;

	assert_int_equal(run_sql(pair->to->conn,
				 *pair->to->schema
					 ? "set default_transaction_read_only "
					   "= on"
					 : "pragma query_only = on",
				 NULL),
			 0);
	expect_refused(pair, RP_EREADONLY);
	expect_source_untouched(pair);
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		PAIR(arguments_that_are_wrong_change_nothing),
		PAIR(a_database_is_not_copied_into_itself),
		PAIR(a_queue_that_has_jobs_in_the_target_is_refused),
		PAIR(a_copy_that_was_resumed_in_the_target_is_refused),
		PAIR(a_target_without_one_of_its_tables_is_refused),
		PAIR(a_source_without_one_of_its_tables_is_refused),
		PAIR(a_target_that_is_locked_is_refused),
		PAIR(a_source_that_is_locked_is_refused),
		PAIR(a_right_that_is_missing_is_found_before_it_begins),
		PAIR(a_target_that_may_only_be_read_is_refused),
	};

	pairs_of(argc, argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
