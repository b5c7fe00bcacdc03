/*
 * words.c - test the conversion of durations, error codes and states between
 * numbers and words.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "check.h"

static void
durations_are_a_whole_number_and_a_unit(void **state)
{
	static const struct {
		const char *text;
		int64_t ms;
	} good[] = {
		{ "0", 0 },
		{ "00", 0 },
		{ "0d", 0 },
		{ "1ms", 1 },
		{ "90s", 90000 },
		{ "007s", 7000 },
		{ "10m", 600000 },
		{ "2h", 7200000 },
		{ "1d", 86400000 },
		{ "3650d", INT64_C(315360000000) },
		{ "315360000000ms", INT64_C(315360000000) },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++) {
		int64_t ms = -1;

		assert_int_equal(rp_duration(good[i].text, &ms), 0);
		assert_int_equal(ms, good[i].ms);
	}
}

static void
what_is_no_duration_is_refused_and_writes_nothing(void **state)
{
	static const char *const bad[] = {
		"",
		"5",
		"s",
		"-1s",
		"+1s",
		" 1s",
		"1 s",
		"1s ",
		"1.5s",
		"1S",
		"1sec",
		"1m30s",
		"0x1s",
		"3651d",
		"87601h",
		"315360000001ms",
		"18446744073709551617ms",
		NULL,
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		int64_t ms = -7;

		assert_int_equal(rp_duration(bad[i], &ms), RP_EINVAL);
		assert_int_equal(ms, -7);
	}
	assert_int_equal(rp_duration("1s", NULL), RP_EINVAL);
}

/* Compiled programs contain these numbers, so the numbers must never change. */
static void
the_numbers_of_errors_states_and_verdicts_are_abi(void **state)
{
	static const int errors[] = {
		RP_EINVAL,    RP_ENOMEM, RP_EBUSY,      RP_ELOST,  RP_EGONE,
		RP_ESCHEMA,   RP_EDB,    RP_ECANCELLED, RP_ENOENT, RP_EFBIG,
		RP_EREADONLY, RP_ENODB,  RP_EFULL,      RP_ETAKEN,
	};
	static const int states[] = {
		RP_STATE_SCHEDULED, RP_STATE_READY, RP_STATE_RUNNING,
		RP_STATE_DONE,      RP_STATE_DEAD,  RP_STATE_CANCELLED,
	};
	static const int verdicts[] = { RP_DONE, RP_FAIL, RP_DEAD, RP_RELEASE,
					RP_EXTEND };

	(void)state;
	for (int i = 0; i < (int)(sizeof(errors) / sizeof(*errors)); i++)
		assert_int_equal(errors[i], -1 - i);
	for (int i = 0; i < (int)(sizeof(states) / sizeof(*states)); i++)
		assert_int_equal(states[i], 1 + i);
	for (int i = 0; i < (int)(sizeof(verdicts) / sizeof(*verdicts)); i++)
		assert_int_equal(verdicts[i], i);
	assert_int_equal(sizeof(rp_error), 256);
}

static void
every_error_has_words_of_its_own(void **state)
{
	static const char *const words[] = {
#define WORDS(name, number, outcome, text) text,
		RP_ERRORS(WORDS)
#undef WORDS
	};
	const int n = (int)(sizeof(words) / sizeof(*words));

	(void)state;
	for (int i = 0; i < n; i++) {
		assert_string_equal(rp_error_text(-1 - i), words[i]);
		for (int k = 0; k < i; k++)
			assert_string_not_equal(words[i], words[k]);
	}
	assert_string_equal(rp_error_text(0), "no error");
	assert_string_equal(rp_error_text(5), "no error");
	assert_string_equal(rp_error_text(-n - 1), "unknown error");
	assert_string_equal(rp_error_text(INT32_MIN), "unknown error");
}

static void
states_have_words_and_words_have_states(void **state)
{
	(void)state;
	for (int s = RP_STATE_SCHEDULED; s <= RP_STATE_BLOCKED; s++)
		assert_int_equal(rp_state_number(rp_state_text(s)), s);
	assert_string_equal(rp_state_text(RP_STATE_DEAD), "dead");
	assert_null(rp_state_text(0));
	assert_null(rp_state_text(RP_STATE_BLOCKED + 1));
	assert_int_equal(rp_state_number("Ready"), 0);
	assert_int_equal(rp_state_number(""), 0);
	assert_int_equal(rp_state_number(NULL), 0);
}

static void
the_version_is_the_builds(void **state)
{
	(void)state;
	assert_string_equal(rp_version(), RP_VERSION);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(durations_are_a_whole_number_and_a_unit),
		cmocka_unit_test(
			what_is_no_duration_is_refused_and_writes_nothing),
		cmocka_unit_test(
			the_numbers_of_errors_states_and_verdicts_are_abi),
		cmocka_unit_test(every_error_has_words_of_its_own),
		cmocka_unit_test(states_have_words_and_words_have_states),
		cmocka_unit_test(the_version_is_the_builds),
	};

	return cmocka_run_group_tests_name("words", tests, NULL, NULL);
}
