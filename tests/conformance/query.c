/*
 * query.c - test rp__query(), which runs SQL other than the library's own
 * operations.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "check.h"

#include "internal.h"

/* Rows of a query as text, each as "name=value name=value;". */
struct said {
	char text[2000];
	int rows, stop_after;
	int answer; /* what the row callback returns to stop the query */
};

static void
say_value(struct said *said, const struct rp_value *value)
{
	char *to = said->text + strlen(said->text);
	size_t room = sizeof(said->text) - strlen(said->text);

	switch (value->type) {
	case RP_NULL:
		snprintf(to, room, "null");
		break;
	case RP_INT:
		snprintf(to, room, "%lld", (long long)value->i);
		break;
	case RP_TEXT:
		snprintf(to, room, "'%.*s'", (int)value->size,
			 (const char *)value->data);
		break;
	case RP_BLOB:
		snprintf(to, room, "blob:");
		for (size_t i = 0; i < value->size; i++)
			snprintf(to + 5 + 2 * i, room - 5 - 2 * i, "%02x",
				 ((const unsigned char *)value->data)[i]);
		break;
	}
}

static int
take_row(void *ctx, const struct rp_row *row)
{
	struct said *said = ctx;

	for (size_t i = 0; i < row->count; i++) {
		strcat(said->text, i ? " " : "");
		strcat(said->text, row->names[i]);
		strcat(said->text, "=");
		say_value(said, &row->columns[i]);
	}
	strcat(said->text, ";");
	return ++said->rows == said->stop_after ? said->answer : 0;
}

static const struct rp_param given[] = {
	{ "n", { .type = RP_INT, .i = INT64_C(5000000000) } },
	{ "text", { .type = RP_TEXT, .data = "a:b", .size = 3 } },
	{ "blob", { .type = RP_BLOB, .data = "\0\xff'", .size = 3 } },
	{ "nothing", { .type = RP_NULL } },
	{ NULL, { .type = RP_NULL } },
};

static int
ask(const struct db *db, struct said *said, const char *sql, int flags,
    int timeout_ms)
{
	struct rp_query query = { .sql = sql,
				  .params = given,
				  .flags = flags,
				  .timeout_ms = timeout_ms,
				  .row = take_row,
				  .ctx = said };

	*said->text = '\0';
	said->rows = 0;
	return rp__query(db->conn, &query);
}

static void
expect(const struct db *db, const char *sql, const char *words)
{
	struct said said = { .stop_after = 0 };

	ok(db->conn, ask(db, &said, sql, 0, 0));
	assert_string_equal(said.text, words);
}

static int
on_server(const struct db *db)
{
	return *db->schema != '\0';
}

static void
names_are_replaced_by_the_values_that_are_given(void **state)
{
	const struct db *db = *state;

	expect(db, "select :n + 1 as a, @n as b, :n as c",
	       "a=5000000001 b=5000000000 c=5000000000;");
	expect(db, "select 1 as one where @text='a:b'", "one=1;");
	expect(db,
	       "select coalesce(:nobody, 1) as a, coalesce(:nothing, 2) as b",
	       "a=1 b=2;");
}

static void
columns_have_names_and_types(void **state)
{
	const struct db *db = *state;

	expect(db, "select 1 as n, 'x' as t, null as z, '' as e",
	       "n=1 t='x' z=null e='';");
	expect(db, "select :blob as b, cast(:text as text) as \"A b\"",
	       "b=blob:00ff27 A b='a:b';");
	expect(db, "select cast(1.5 as numeric) as real, 1 = 1 as yes",
	       "real='1.5' yes=1;");
}

static void
text_that_only_looks_like_a_name_is_not_replaced(void **state)
{
	const struct db *db = *state;

	expect(db,
	       "select ':n ''@n'' ;' as \":n;\" -- :n; it's\n"
	       " /* @n; */ , :n as n",
	       ":n;=':n '@n' ;' n=5000000000;");
	if (!on_server(db))
		return;
	expect(db,
	       "select $$:n ; '$$ as a, $x$ $$ @n; $x$ as b, '7'::int as c,"
	       " E'\\':n;' as d, /* /* ; */ :n */ (array[1,2])[1:2] as e,"
	       " @ -5 as f, array[1] <@array[1] as g",
	       "a=':n ; '' b=' $$ @n; ' c=7 d='':n;' e='{1,2}' f=5 g=1;");
}

static void
several_statements_are_run_in_order(void **state)
{
	const struct db *db = *state;

	expect(db, ";; select 1 as a; -- ;\n select :n as b;\n ; -- the end\n",
	       "a=1;b=5000000000;");
	expect(db,
	       "create table t (i integer); insert into t values (7);"
	       " select i from t; drop table t",
	       "i=7;");
	expect(db, "", "");
	expect(db, " -- nothing", "");
}

static void
the_row_callback_can_stop_the_query(void **state)
{
	static const char three[] =
		"select 1 as n union all select 2 union all select 3; "
		"select 4 as n";
	const struct db *db = *state;
	struct said said = { .stop_after = 2, .answer = RP_ROW_STOP };

	assert_int_equal(ask(db, &said, three, 0, 0), 0);
	assert_string_equal(said.text, "n=1;n=2;");
	said.answer = RP_EGONE;
	assert_int_equal(ask(db, &said, three, 0, 0), RP_EGONE);
	assert_int_equal(said.rows, 2);
	assert_int_equal(ask(db, &said, three, RP_QUERY_READ, 1000), RP_EGONE);
	expect(db, "select 5 as n", "n=5;");
}

static void
a_query_that_may_only_read_refuses_to_write(void **state)
{
	const struct db *db = *state;
	struct said said = { .stop_after = 0 };

	expect(db, "create table t (i integer)", "");
	assert_int_equal(
		ask(db, &said, "insert into t values (1)", RP_QUERY_READ, 0),
		RP_EREADONLY);
	assert_int_equal(rp_last_error(db->conn)->code, RP_EREADONLY);
	assert_int_equal(
		ask(db, &said, "select 1 as a; drop table t", RP_QUERY_READ, 0),
		RP_EREADONLY);
	assert_int_equal(ask(db, &said, "select count(*) as n from queue",
			     on_server(db) ? RP_QUERY_READ : 0, 0),
			 on_server(db) ? 0 : RP_EDB);
	expect(db, "select count(*) as n from t", "n=0;");
	ok(db->conn, rp_begin(db->conn));
	assert_int_equal(ask(db, &said, "select 1", RP_QUERY_READ, 0),
			 RP_EINVAL);
	ok(db->conn, rp_rollback(db->conn));
	expect(db, "insert into t values (1); select i from t", "i=1;");
}

static void
a_timeout_ends_the_query(void **state)
{
	static const char for_ever[] =
		"with recursive c (n) as (select 1 union all select n + 1 "
		"from c) select count(*) from c";
	const struct db *db = *state;
	struct said said = { .stop_after = 0 };

	for (int flags = 0; flags <= RP_QUERY_READ; flags++) {
		int64_t began = now_ms();

		assert_int_equal(ask(db, &said, for_ever, flags, 50),
				 RP_TIMED_OUT);
		assert_true(now_ms() - began >= 49);
		assert_int_equal(said.rows, 0);
	}
	/* A timeout applies only to the query for which it was set. */
	assert_int_equal(ask(db, &said, "select 1 as a", 0, 60000), 0);
	assert_string_equal(said.text, "a=1;");
	ok(db->conn, ask(db, &said, "create table t (i integer)", 0, 60000));
	expect(db, "select count(*) as n from t", "n=0;");
	if (on_server(db))
		expect(db, "show statement_timeout", "statement_timeout='0';");
}

static void
the_error_of_the_database_is_kept(void **state)
{
	const struct db *db = *state;
	const rp_error *error = rp_last_error(db->conn);
	struct said said = { .stop_after = 0 };

	assert_int_equal(ask(db, &said, "selekt 1", 0, 0), RP_EDB);
	assert_non_null(strstr(error->message, "syntax error"));
	assert_string_equal(error->sqlstate, on_server(db) ? "42601" : "");
	assert_int_equal(error->native, on_server(db) ? 0 : 1);
	assert_true(ask(db, &said, "select 1 from nowhere", 0, 0) < 0);
	assert_non_null(strstr(error->message, "nowhere"));
	expect(db, "select 1 as a", "a=1;");
}

/* A query fails with RP_EBUSY if a file or table is locked, or if a row has
 * changed since the transaction began. */
static void
a_busy_database_is_distinguished_from_a_failure(void **state)
{
	const struct db *db = *state;
	rp_conn *other = connect_to(db);
	struct said said = { .stop_after = 0 };
	struct rp_query hold = { .sql = on_server(db) ? "begin; lock table t"
						      : "begin immediate" };
	char url[600];
	rp_conn *hasty;
	rp_error error;

	expect(db, "create table t (i integer)", "");
	ok(other, rp__query(other, &hold));
	if (on_server(db)) {
		assert_int_equal(
			ask(db, &said, "select i from t", RP_QUERY_READ, 10000),
			RP_EBUSY);
		assert_string_equal(rp_last_error(db->conn)->sqlstate, "55P03");
		hold.sql = "insert into t values (1); commit; "
			   "begin isolation level repeatable read; "
			   "select i from t";
		ok(other, rp__query(other, &hold));
		expect(db, "update t set i = 2", "");
		hold.sql = "update t set i = 3";
		assert_int_equal(rp__query(other, &hold), RP_EBUSY);
		assert_string_equal(rp_last_error(other)->sqlstate, "40001");
	} else {
		snprintf(url, sizeof(url), "%s?busy=1ms", db->url);
		assert_int_equal(rp_open(url, NULL, &hasty, &error), 0);
		hold.sql = "insert into t values (1)";
		assert_int_equal(rp__query(hasty, &hold), RP_EBUSY);
		rp_close(hasty);
	}
	rp_close(other);
}

static void
the_cost_of_a_query_is_counted(void **state)
{
	const struct db *db = *state;
	struct rp_usage usage;

	rp__measure(db->conn, &usage);
	expect(db, "create table t (i integer); select 1 as a", "a=1;");
	rp__measure(db->conn, &usage);
	assert_int_equal(usage.statements, 2);
	assert_true(on_server(db) || usage.log_bytes >= 4096);
	rp__measure(db->conn, &usage);
	assert_int_equal(usage.statements, 0);
	assert_int_equal(usage.log_bytes, 0);
}

static void
the_written_bytes_are_counted_with_other_page_sizes(void **state)
{
	struct db *db = *state;
	struct rp_usage usage;

	if (on_server(db))
		return; /* a server does not report the bytes */
	ask_sql(db->conn, "pragma journal_mode = delete");
	ask_sql(db->conn, "pragma page_size = 1024");
	ask_sql(db->conn, "vacuum");
	ask_sql(db->conn, "pragma journal_mode = wal");
	rp_close(db->conn);
	db->conn = connect_to(db);
	rp__measure(db->conn, &usage);
	expect(db, "create table t (i integer)", "");
	rp__measure(db->conn, &usage);
	assert_true(usage.log_bytes > 0);
	assert_int_equal(usage.log_bytes % (1024 + 24), 0);
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		CASE(names_are_replaced_by_the_values_that_are_given),
		CASE(columns_have_names_and_types),
		CASE(text_that_only_looks_like_a_name_is_not_replaced),
		CASE(several_statements_are_run_in_order),
		CASE(the_row_callback_can_stop_the_query),
		CASE(a_query_that_may_only_read_refuses_to_write),
		CASE(a_timeout_ends_the_query),
		CASE(the_error_of_the_database_is_kept),
		CASE(a_busy_database_is_distinguished_from_a_failure),
		CASE(the_cost_of_a_query_is_counted),
		CASE(the_written_bytes_are_counted_with_other_page_sizes),
	};

	databases_at(argc, argv);
	return cmocka_run_group_tests_name("query", tests, NULL, NULL);
}
