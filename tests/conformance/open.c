/*
 * open.c - databases that are not there, or named oddly, or locked.
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

static void
looking_for_a_database_makes_none(void **state)
{
	struct db *db = *state;
	char path[300], url[320];

	snprintf(path, sizeof(path), "%s/none", db->dir);
	snprintf(url, sizeof(url), "sqlite:%s", path);
	assert_int_equal(try_open(url, RP_SCHEMA_REQUIRE), RP_ENODB);
	assert_int_equal(access(path, F_OK), -1);
	assert_int_equal(try_open(url, 7), RP_EINVAL);
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

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		CASE(looking_for_a_database_makes_none),
		CASE(strange_file_names_are_taken_literally),
		CASE(a_file_that_is_locked_whole_cannot_be_opened_before_its_deadline),
	};

	databases_at(argc, argv);
	return cmocka_run_group_tests_name("open", tests, NULL, NULL);
}
