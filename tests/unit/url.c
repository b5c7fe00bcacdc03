/*
 * url.c - test the parsing of database URLs.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "check.h"

#include "db/databases.h"
#include "internal.h"

static void
expect_path(const char *text, const char *path)
{
	struct rp_url url;
	rp_error error;

	assert_int_equal(rp__url_parse(text, &url, &error), 0);
	assert_string_equal(url.database->schemes[0], "sqlite");
	assert_true(url.is_file);
	assert_string_equal(url.path, path);
	assert_null(url.synchronous);
	assert_int_equal(url.busy_ms, 10000);
	rp__url_free(&url);
}

static void
the_path_is_what_stands_behind_the_scheme(void **state)
{
	(void)state;
	expect_path("sqlite:q.db", "q.db");
	expect_path("sqlite:/var/lib/q.db", "/var/lib/q.db");
	expect_path("sqlite:///var/lib/q.db", "/var/lib/q.db");
	expect_path("sqlite:./a b/q", "./a b/q");
	expect_path("sqlite:a:b&c=d", "a:b&c=d");
	expect_path("sqlite:q.db?", "q.db");
}

static void
escapes_stand_for_one_byte(void **state)
{
	(void)state;
	expect_path("sqlite:100%25", "100%");
	expect_path("sqlite:a%3Fb%3fc", "a?b?c");
	expect_path("sqlite:%23", "#");
	expect_path("sqlite:%2525", "%25");
}

static void
options_are_names_and_values(void **state)
{
	struct rp_url url;
	rp_error error;

	(void)state;
	assert_int_equal(rp__url_parse("sqlite:q?synchronous=normal&busy=250ms",
				       &url, &error),
			 0);
	assert_string_equal(url.path, "q");
	assert_string_equal(url.synchronous, "normal");
	assert_int_equal(url.busy_ms, 250);
	rp__url_free(&url);
	assert_int_equal(rp__url_parse("sqlite:q?busy=%31%30s&synchronous=full",
				       &url, &error),
			 0);
	assert_string_equal(url.synchronous, "full");
	assert_int_equal(url.busy_ms, 10000);
	rp__url_free(&url);
	assert_int_equal(rp__url_parse("sqlite:q?busy=0", &url, &error), 0);
	assert_int_equal(url.busy_ms, 0);
	rp__url_free(&url);
}

static void
a_bad_url_is_refused_in_words_and_writes_nothing(void **state)
{
	static const char *const bad[] = {
		NULL,
		"",
		"q.db",
		"./sqlite:q",
		"dir/sqlite:q",
		"sqlite:",
		"sqlite:?busy=1s",
		"sqlite://q.db",
		"sqlite://",
		"sqlite:a#b",
		"sqlite:a%",
		"sqlite:a%2",
		"sqlite:a%zz",
		"sqlite:a%00b",
		"sqlite:q?busy",
		"sqlite:q?busy=",
		"sqlite:q?busy=5",
		"sqlite:q?busy=%zz",
		"sqlite:q?busy=1s&&synchronous=full",
		"sqlite:q?synchronous=FULL",
		"sqlite:q?BUSY=1s",
		"sqlite:q?mode=ro",
#ifdef RP_HAVE_POSTGRES
		"postgres:d",
		"postgres:/d",
#endif
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct rp_url url = { .busy_ms = -7 };
		rp_error error = { 0 };

		assert_int_equal(rp__url_parse(bad[i], &url, &error),
				 RP_EINVAL);
		assert_int_equal(error.code, RP_EINVAL);
		assert_true(*error.message);
		assert_null(strchr(error.message, '\n'));
		assert_int_equal(url.busy_ms, -7);
		assert_null(url.text);
		assert_int_equal(rp__url_parse(bad[i], &url, NULL), RP_EINVAL);
	}
}

static void
a_url_of_any_length_gets_a_message_that_fits(void **state)
{
	static char text[5000];
	struct rp_url url;
	rp_error error;

	(void)state;
	memset(text, 'x', sizeof(text) - 1);
	assert_int_equal(rp__url_parse(text, &url, &error), RP_EINVAL);
	assert_non_null(memchr(error.message, 0, sizeof(error.message)));
	memcpy(text, "sqlite:q?", 9);
	assert_int_equal(rp__url_parse(text, &url, &error), RP_EINVAL);
	assert_non_null(memchr(error.message, 0, sizeof(error.message)));
}

#ifdef RP_HAVE_POSTGRES

static void
expect_server(const char *text, const char *path, const char *schema)
{
	struct rp_url url;
	rp_error error;

	assert_int_equal(rp__url_parse(text, &url, &error), 0);
	assert_string_equal(url.database->schemes[0], "postgres");
	assert_false(url.is_file);
	assert_string_equal(url.path, path);
	assert_string_equal(url.schema ? url.schema : "-", schema);
	rp__url_free(&url);
}

static void
of_a_server_only_the_schema_is_ours(void **state)
{
	(void)state;
	expect_server("postgres://h/d", "postgres://h/d", "-");
	expect_server("postgresql://h/d?schema=s", "postgresql://h/d", "s");
	expect_server("postgres:///d?host=/x&schema=s&a=b",
		      "postgres:///d?host=/x&a=b", "s");
	expect_server("postgres:", "postgres://", "-");
	expect_server("postgresql:?schema=s&a=b", "postgresql://?a=b", "s");
	expect_server("host=/x dbname=a:b", "host=/x dbname=a:b", "-");
	expect_server("host=/x?schema=s", "host=/x", "s");
}

#endif

static void
a_message_names_the_databases_that_there_are(void **state)
{
	static const char *const texts[][2] = {
		{ "nosql:x",
		  "unknown database scheme \"nosql\": use sqlite:PATH "
		  "or postgres://HOST/DATABASE" },
		{ "q.db",
		  "a database is named by a URL, sqlite:PATH or "
		  "postgres://HOST/DATABASE: did you mean sqlite:q.db?" },
		{ "", "no database was named: use sqlite:PATH or "
		      "postgres://HOST/DATABASE" },
	};
	struct rp_url url;
	rp_error error;

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		assert_int_equal(rp__url_parse(texts[i][0], &url, &error),
				 RP_EINVAL);
		assert_string_equal(error.message, texts[i][1]);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_path_is_what_stands_behind_the_scheme),
		cmocka_unit_test(escapes_stand_for_one_byte),
		cmocka_unit_test(options_are_names_and_values),
		cmocka_unit_test(
			a_bad_url_is_refused_in_words_and_writes_nothing),
		cmocka_unit_test(a_url_of_any_length_gets_a_message_that_fits),
#ifdef RP_HAVE_POSTGRES
		cmocka_unit_test(of_a_server_only_the_schema_is_ours),
#endif
		cmocka_unit_test(a_message_names_the_databases_that_there_are),
	};

	return cmocka_run_group_tests_name("url", tests, NULL, NULL);
}
