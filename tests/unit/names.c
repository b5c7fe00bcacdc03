/*
 * names.c - test that the library finds the columns of its results even if the
 * application has changed how SQLite names columns.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "check.h"

#include <sqlite3.h>

#include "db/sqlite/sqlite.h"

/* Prepare all statements of a verb (an operation of the library). Some verbs
 * have different statements for one row and for several rows, so run the verb
 * with one row and with two. All parameters are null, because it matters only
 * whether the statements can be prepared. The test rolls everything back. */
static void
prepare_all(rp_conn *conn, enum rp_verb verb)
{
	/* null for each parameter; enough for two rows of the verb with the
	 * most parameters */
	static const struct rp_value none[100] = { { .type = RP_NULL } };

	for (size_t rows = 1; rows <= 2; rows++) {
		int r = rp__begin(conn, RP_BEGIN_WRITE);

		assert_int_equal(r, 0);
		r = rp__run(conn, verb, none, rows, NULL, NULL);
		if (r < 0 && (strstr(conn->error.message, "no value for") ||
			      strstr(conn->error.message, "no column")))
			fail_msg("%s", conn->error.message);
		rp__end(conn, RP_ECANCELLED);
	}
}

static void
no_statement_depends_on_what_columns_are_called(void **state)
{
	static const char *const settings[] = {
		"pragma full_column_names = 1",
		"pragma short_column_names = 0",
		"pragma full_column_names = 0",
	};
	rp_conn *conn;
	sqlite3 *db;

	(void)state;
	for (size_t i = 0; i < sizeof(settings) / sizeof(*settings); i++) {
		assert_int_equal(sqlite3_open(":memory:", &db), SQLITE_OK);
		for (size_t k = 0; k <= i; k++)
			sqlite3_exec(db, settings[k], NULL, NULL, NULL);
		assert_int_equal(rp_attach("sqlite", db, NULL, &conn, NULL), 0);
		for (int verb = 0; verb < RP_VERBS; verb++)
			if (rp__sql_sqlite[verb].stmts_count)
				prepare_all(conn, verb);
		rp_close(conn);
		assert_int_equal(sqlite3_close(db), SQLITE_OK);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			no_statement_depends_on_what_columns_are_called),
	};

	return cmocka_run_group_tests_name("names", tests, NULL, NULL);
}
