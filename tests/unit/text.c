/*
 * text.c - test the validation of names and texts, and their repair.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "check.h"

#include "internal.h"

static const char *const utf8[] = {
	"a",
	"\x7f",
	"\xc2\x80",
	"\xdf\xbf",
	"\xe0\xa0\x80",
	"\xed\x9f\xbf",
	"\xee\x80\x80",
	"\xef\xbf\xbf",
	"\xf0\x90\x80\x80",
	"\xf4\x8f\xbf\xbf",
	"gr\xc3\xbc\xc3\x9f",
};

/* Texts that are not UTF-8: stray and missing continuation bytes, overlong
 * forms, surrogates, and code points beyond Unicode. */
static const char *const not_utf8[] = {
	"\x80",
	"\xbf",
	"\xc2",
	"\xc2\x61",
	"\xc0\x80",
	"\xc1\xbf",
	"\xe0\x9f\xbf",
	"\xe2\x82",
	"\xed\xa0\x80",
	"\xed\xbf\xbf",
	"\xf0\x8f\xbf\xbf",
	"\xf4\x90\x80\x80",
	"\xf5\x80\x80\x80",
	"\xff",
	"\xf0\x90\x80",
	"ab\xc3",
};

static void
utf8_is_told_from_what_is_not(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(utf8) / sizeof(*utf8); i++)
		assert_true(rp__utf8(utf8[i], strlen(utf8[i])));
	for (size_t i = 0; i < sizeof(not_utf8) / sizeof(*not_utf8); i++)
		assert_false(rp__utf8(not_utf8[i], strlen(not_utf8[i])));
	assert_true(rp__utf8("", 0));
	assert_true(rp__utf8("a\0b", 3));
	/* the text is cut within a character */
	assert_false(rp__utf8("\xc3\xbc", 1));
}

static void
a_name_has_a_byte_at_least_and_its_most_at_most(void **state)
{
	rp_error error;

	(void)state;
	assert_int_equal(rp__check_name(&error, "it", NULL, 4), RP_EINVAL);
	assert_int_equal(rp__check_name(&error, "it", "", 4), RP_EINVAL);
	assert_int_equal(rp__check_name(&error, "it", "a", 4), 0);
	assert_int_equal(rp__check_name(&error, "it", "abcd", 4), 0);
	assert_int_equal(rp__check_name(&error, "it", "abcde", 4), RP_EINVAL);
	assert_string_equal(error.message, "it is longer than 4 bytes");
	assert_int_equal(rp__check_name(&error, "it", "\xc3\xbc\xc3\xbc", 4),
			 0);
}

static void
a_name_has_no_control_characters_and_no_strange_bytes(void **state)
{
	rp_error error;

	(void)state;
	for (int c = 1; c < 0x80; c++) {
		char name[] = { 'a', (char)c, '\0' };

		assert_int_equal(rp__check_name(&error, "it", name, 9),
				 c < 0x20 || c == 0x7f ? RP_EINVAL : 0);
	}
	for (int c = 0x80; c < 0xc0; c++) { /* U+0080 to U+00BF */
		char name[] = { 'a', '\xc2', (char)c, '\0' };

		assert_int_equal(rp__check_name(&error, "it", name, 9),
				 c < 0xa0 ? RP_EINVAL : 0);
	}
	for (size_t i = 0; i < sizeof(not_utf8) / sizeof(*not_utf8); i++)
		assert_int_equal(rp__check_name(&error, "it", not_utf8[i], 9),
				 RP_EINVAL);
}

static void
an_error_has_no_control_characters(void **state)
{
	rp_error error;

	(void)state;
	rp__fail(&error, RP_EINVAL, "%s", "\x1b[2J\n\x7f \xc2\x9b \xc2\xa0");
	assert_string_equal(error.message, "?[2J?? ?? \xc2\xa0");
}

static void
expect_clean(const char *text, size_t room, const char *expected)
{
	char to[40];

	assert_true(room <= sizeof(to));
	memset(to, '#', sizeof(to));
	assert_int_equal(rp__clean(to, room, text), strlen(expected));
	assert_string_equal(to, expected);
	for (size_t i = room; i < sizeof(to); i++)
		assert_int_equal(to[i], '#');
}

static void
texts_are_cut_between_characters_and_mended(void **state)
{
	(void)state;
	expect_clean("", 8, "");
	expect_clean("abc", 4, "abc");
	expect_clean("abcd", 4, "abc");
	expect_clean("abc", 1, "");
	expect_clean("a\xff\xfe", 8, "a??");
	expect_clean("a\xe2\x82", 8, "a??");
	expect_clean("ab\xc3\xbc", 4, "ab");
	expect_clean("ab\xc3\xbc", 5, "ab\xc3\xbc");
	expect_clean("\xf0\x9f\x98\x80x", 5, "\xf0\x9f\x98\x80");
	expect_clean("\xf0\x9f\x98\x80x", 4, "");
}

static void
names_become_a_list(void **state)
{
	const char *const names[] = { "a", "say \"b\"", "c\\d", NULL };
	char *json;

	(void)state;
	json = rp__list(names, '[', ']');
	assert_string_equal(json, "[\"a\",\"say \\\"b\\\"\",\"c\\\\d\"]");
	free(json);
	json = rp__list(NULL, '{', '}');
	assert_string_equal(json, "{}");
	free(json);
}

static void
a_pattern_matches_names(void **state)
{
	static const struct {
		const char *pattern, *name;
		int matches;
	} cases[] = {
		{ "a", "a", 1 },         { "a", "ab", 0 },
		{ "*", "", 1 },          { "*", "any", 1 },
		{ "a*", "a", 1 },        { "a*b", "aXbXb", 1 },
		{ "a*b", "aXbX", 0 },    { "*a*b*", "xaxbx", 1 },
		{ "?", "", 0 },          { "?", "\xc3\xa9", 1 },
		{ "??", "\xc3\xa9", 0 }, { "*?", "\xc3\xa9", 1 },
		{ "\\*", "*", 1 },       { "\\*", "a", 0 },
		{ "\\\\", "\\", 1 },     { "a\\", "a\\", 1 },
		{ "[ab]", "a", 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		if (rp__pattern_matches(cases[i].pattern, cases[i].name) !=
		    cases[i].matches)
			fail_msg("%s and %s", cases[i].pattern, cases[i].name);
}

static void
a_backslash_makes_a_name_of_a_pattern(void **state)
{
	char star[] = "a\\*b\\\\c", plain[] = "a\\b";

	(void)state;
	assert_true(rp__is_pattern("a*"));
	assert_false(rp__is_pattern(star));
	rp__pattern_unescape(star);
	assert_string_equal(star, "a*b\\c");
	rp__pattern_unescape(plain);
	assert_string_equal(plain, "a\\b");
}

static void
an_escaped_name_is_the_name_again(void **state)
{
	static const char *const names[] = { "mail",   "a*",    "*",  "a\\b",
					     "a\\*b?", "\\\\?", "?\\" };
	char word[RP_PATTERN(5)];

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		rp__pattern_escape(word, sizeof(word), names[i]);
		assert_false(rp__is_pattern(word));
		rp__pattern_unescape(word);
		assert_string_equal(word, names[i]);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(utf8_is_told_from_what_is_not),
		cmocka_unit_test(
			a_name_has_a_byte_at_least_and_its_most_at_most),
		cmocka_unit_test(
			a_name_has_no_control_characters_and_no_strange_bytes),
		cmocka_unit_test(an_error_has_no_control_characters),
		cmocka_unit_test(texts_are_cut_between_characters_and_mended),
		cmocka_unit_test(names_become_a_list),
		cmocka_unit_test(a_pattern_matches_names),
		cmocka_unit_test(a_backslash_makes_a_name_of_a_pattern),
		cmocka_unit_test(an_escaped_name_is_the_name_again),
	};

	return cmocka_run_group_tests_name("text", tests, NULL, NULL);
}
