/*
 * cron.c - test specs of schedules, zone files and the next time of a schedule:
 * what is accepted, what is refused, and with which message.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "check.h"

#include <sys/stat.h>
#include <unistd.h>

#include "cron/cron.h"

#define BERLIN RP_ZONES "/Europe/Berlin"
/* 2026-03-27T12:00:00Z */
#define MARCH INT64_C(1774612800000)

/* ---- specs ----------------------------------------------------------- */

static struct rp_spec
parsed(const char *text)
{
	struct rp_spec spec;
	rp_error error;

	if (rp__spec_parse(text, &spec, &error) < 0)
		fail_msg("%s", error.message);
	return spec;
}

static void
fields_become_sets(void **state)
{
	struct rp_spec spec = parsed("0-10/5,59 22,23 1,31 jan,DEC Mon-FRI");

	(void)state;
	assert_true(spec.minutes == (UINT64_C(1) << 59 | 1 << 10 | 1 << 5 | 1));
	assert_int_equal(spec.hours, 1 << 22 | 1 << 23);
	assert_int_equal(spec.days, 1 << 1 | 1U << 31);
	assert_int_equal(spec.months, 1 << 1 | 1 << 12);
	assert_int_equal(spec.weekdays, 0x3e);
	assert_true(spec.either_day);
	assert_false(spec.both_times);
	assert_int_equal(parsed("0 0 * * 0").weekdays, 1);
	assert_int_equal(parsed("0 0 * * 7").weekdays, 1);
	assert_int_equal(parsed("0 0 * * 5-7").weekdays, 0x61);
	assert_int_equal(parsed("0 0 * * fri-sun").weekdays, 0x61);
	assert_int_equal(parsed("0 0 * * *").weekdays, 0x7f);
	assert_int_equal(parsed("0 0 * * */2").weekdays, 0x55);
	assert_int_equal(parsed(" 5\t4  * * * ").hours, 1 << 4);
	assert_int_equal(parsed("@DAILY").hours, 1);
	assert_true(parsed("every 90s").every_ms == 90000);
	assert_true(parsed("every  2h ").every_ms == 7200000);
}

static void
a_field_that_begins_with_a_star_is_not_restricted(void **state)
{
	(void)state;
	assert_true(parsed("0 0 1 * 1").either_day);
	assert_false(parsed("0 0 */2 * 1").either_day);
	assert_false(parsed("0 0 1 * */2").either_day);
	assert_false(parsed("0 0 *,1 * 1").either_day);
	assert_true(parsed("*/5 0 * * *").both_times);
	assert_true(parsed("5 */2 * * *").both_times);
	assert_false(parsed("0-59 0-23 * * *").both_times);
}

static const struct {
	const char *spec, *says;
} wrong_specs[] = {
	{ "", "the schedule is missing" },
	{ "x", "1 field, expected five" },
	{ "* * * *", "4 fields, expected five" },
	{ "* * * * * *", "6 fields, expected five" },
	{ "60 * * * *", "minute 60: expected 0 to 59" },
	{ "-1 * * * *", "minute -1: expected 0 to 59" },
	{ "* 24 * * *", "hour 24: expected 0 to 23" },
	{ "* * 0 * *", "day of month 0: expected 1 to 31" },
	{ "* * * 13 *", "month 13: expected 1 to 12" },
	{ "* * * MAI *", "month MAI: expected 1 to 12" },
	{ "* * * JANUARY *", "month JANUARY: expected 1 to 12" },
	{ "* * * * 8", "weekday 8: expected 0 to 7" },
	{ "MON * * * *", "minute MON: expected 0 to 59" },
	{ "* * L * *", "day of month L" },
	{ "* * ? * *", "day of month ?" },
	{ "* * * * 5#2", "weekday 5#2" },
	{ "4294967296 * * * *", "minute 4294967296: expected 0 to 59" },
	{ "1,, * * * *",
	  "minute: a comma needs a value before it and after it" },
	{ "5-1 * * * *", "minute 5-1: runs backwards" },
	{ "1-2-3 * * * *", "minute 1-2-3" },
	{ "*/0 * * * *", "minute */0: expected a step of 1 or more" },
	{ "*/ * * * *", "expected a step" },
	{ "*/90 * * * *", "every 90m" },
	{ "5/15 * * * *", "a step needs a range" },
	{ "30/-1 * * * *", "minute 30/-1: a step needs a range" },
	{ "*/1/2 * * * *", "minute */1/2: expected a step of 1 or more" },
	{ "* 19-1a * * *", "hour 19-1a: expected 0 to 23" },
	{ "** * * * *", "minute **" },
	{ "0 0 30 2 *", "never fires" },
	{ "0 0 31 2,4,6,9,11 *", "never fires" },
	{ "@reboot", "expected @hourly" },
	{ "@daily now", "expected @hourly" },
	{ "every", "expected a duration" },
	{ "every 0", "expected a duration" },
	{ "every 999ms", "a duration of 1 second to 3650 days" },
	{ "every 90", "expected a duration" },
	{ "every 3651d", "a duration of 1 second to 3650 days" },
	{ "every 5m 3s", "expected a duration" },
	{ "0 0 * * *\n", "weekday *?" },
	{ "0 0 * * \xff", "weekday ?" },
};

static void
a_wrong_spec_is_refused_with_the_reason(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(wrong_specs) / sizeof(*wrong_specs);
	     i++) {
		struct rp_spec spec;
		rp_error error;

		assert_int_equal(
			rp__spec_parse(wrong_specs[i].spec, &spec, &error),
			RP_EINVAL);
		if (!strstr(error.message, wrong_specs[i].says))
			fail_msg("%s: %s", wrong_specs[i].spec, error.message);
	}
}

/* ---- zones ----------------------------------------------------------- */

static size_t
read_bytes(const char *path, unsigned char *to, size_t room)
{
	FILE *file = fopen(path, "rb");
	size_t n;

	if (!file)
		fail_msg("%s is missing: install the package tzdata", path);
	n = fread(to, 1, room, file);
	fclose(file);
	return n;
}

static int
parses(const void *bytes, size_t size, rp_error *error)
{
	/* Copy the text to the heap, so that a sanitizer detects a read past
	 * its end. */
	unsigned char *copy = malloc(size ? size : 1);
	struct rp_zone *zone = NULL;
	int r;

	memcpy(copy, bytes, size);
	r = rp__zone_parse("X", copy, size, &zone, error);
	free(copy);
	assert_true((r == 0) == (zone != NULL));
	rp__zone_free(zone);
	return r;
}

static void
a_zone_file_that_is_cut_anywhere_is_refused(void **state)
{
	unsigned char bytes[8192];
	size_t size = read_bytes(BERLIN, bytes, sizeof(bytes));
	rp_error error;

	(void)state;
	assert_int_equal(parses(bytes, size, &error), 0);
	for (size_t n = 0; n < size; n++) {
		assert_int_equal(parses(bytes, n, &error), RP_EDB);
		assert_non_null(strstr(error.message, "damaged"));
	}
	bytes[size] = 'x';
	assert_int_equal(parses(bytes, size + 1, &error), RP_EDB);
}

static void
a_zone_file_with_any_byte_changed_does_no_harm(void **state)
{
	unsigned char bytes[8192];
	size_t size = read_bytes(BERLIN, bytes, sizeof(bytes));
	rp_error error;

	(void)state;
	for (size_t i = 0; i < size; i++) {
		unsigned char was = bytes[i];

		bytes[i] = (unsigned char)~was;
		parses(bytes, size, &error);
		bytes[i] = 0xff;
		parses(bytes, size, &error);
		bytes[i] = was;
	}
}

static void
a_hostile_name_is_refused(void **state)
{
	static const char *const names[] = {
		"../../../etc/passwd",
		"/etc/passwd",
		"Europe/../UTC",
		"localtime",
		"posixrules",
		"right/UTC",
		"Europe",
		"Europe/",
		"",
		"tzdata.zi",
		"Europe/Berlin.",
	};
	struct rp_zone *zone;
	rp_error error;

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		assert_int_equal(rp__zone_open(NULL, names[i], &zone, &error),
				 RP_EINVAL);
}

static void
an_unknown_zone_is_told_what_is_like_it(void **state)
{
	static const char *const like[][2] = {
		{ "Europe/Berln", "did you mean Europe/Berlin?" },
		{ "europe/berlin", "did you mean Europe/Berlin?" },
		{ "berlin", "did you mean Europe/Berlin?" },
		{ "America/New York", "did you mean America/New_York?" },
		{ "Mars/Olympus", "unknown time zone \"Mars/Olympus\"" },
	};
	struct rp_zone *zone;
	rp_error error;

	(void)state;
	for (size_t i = 0; i < sizeof(like) / sizeof(*like); i++) {
		assert_int_equal(rp__zone_open(NULL, like[i][0], &zone, &error),
				 RP_EINVAL);
		if (!strstr(error.message, like[i][1]))
			fail_msg("%s", error.message);
	}
	assert_int_equal(
		rp__zone_open("/nowhere", "Europe/Berlin", &zone, &error),
		RP_EINVAL);
	assert_non_null(strstr(error.message, "install the package tzdata"));
	assert_int_equal(rp__zone_open("/nowhere", "UTC", &zone, &error), 0);
	rp__zone_free(zone);
}

static void
a_file_that_is_no_zone_is_not_waited_for(void **state)
{
	char folder[] = "/tmp/readpast-zones-XXXXXX", path[64];
	struct rp_zone *zone;
	rp_error error;

	(void)state;
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/Fifo", folder);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(rp__zone_open(folder, "Fifo", &zone, &error),
			 RP_EINVAL);
	unlink(path);
	rmdir(folder);
}

/* ---- rules ----------------------------------------------------------- */

static void
a_rule_is_parsed_whole_or_refused(void **state)
{
	static const char *const good[] = {
		"UTC0",
		"<+03>-3",
		"CET-1CEST,M3.5.0,M10.5.0/3",
		"<-02>2<-01>,M3.5.0/-1,M10.5.0/0",
		"IST-1GMT0,M10.5.0,M3.5.0/1",
		"EST5EDT,0/0,J365/25",
		"XXX-5:30:15YYY,J60,364/167:59:59",
	};
	static const char *const bad[] = {
		"",
		"UTC",
		"UT0",
		"UTC0 ",
		"UTC25",
		"CET-1CEST",
		"CET-1CEST,M3.5.0",
		"CET-1CEST,M13.1.0,M10.5.0",
		"CET-1CEST,M3.6.0,M10.5.0",
		"CET-1CEST,M3.5.7,M10.5.0",
		"CET-1CEST,J0,J365",
		"CET-1CEST,366,1",
		"CET-1CEST,M3.5.0/168,1",
		"CET-1CEST,M3.5.0,M10.5.0,x",
		"<+03-3",
		"ABCDEFGHIJKLM0",
	};
	struct rp_rule rule;

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++)
		if (rp__rule_parse(good[i], &rule) < 0)
			fail_msg("%s", good[i]);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		if (rp__rule_parse(bad[i], &rule) == 0)
			fail_msg("%s", bad[i]);
}

static void
summer_time_may_last_all_year(void **state)
{
	struct rp_rule rule;
	struct rp_period period;

	(void)state;
	assert_int_equal(rp__rule_parse("EST5EDT,0/0,J365/25", &rule), 0);
	for (int64_t t = MARCH / 1000; t < MARCH / 1000 + 800 * 86400;
	     t += 900) {
		rp__rule_at(&rule, t, &period);
		assert_int_equal(period.offset, -4 * 3600);
		assert_true(period.start <= t && t < period.end);
	}
}

/* ---- the next fire of a schedule ---- */

static int
next(const char *spec, const char *zone, int64_t after, rp_fire *fire)
{
	rp_error error;
	int r = rp_schedule_next(spec, zone, MARCH, after, fire, &error);

	if (r < 0)
		fail_msg("%s", error.message);
	return r;
}

static void
every_counts_from_its_start(void **state)
{
	rp_fire fire = RP_FIRE_INIT;

	(void)state;
	assert_int_equal(next("every 90s", NULL, MARCH, &fire), 1);
	assert_true(fire.at_ms == MARCH + 90000);
	assert_int_equal(next("every 90s", NULL, MARCH + 89999, &fire), 1);
	assert_true(fire.at_ms == MARCH + 90000);
	assert_int_equal(next("every 90s", NULL, MARCH + 90000, &fire), 1);
	assert_true(fire.at_ms == MARCH + 180000);
	assert_int_equal(next("every 90s", NULL, 0, &fire), 1);
	assert_true(fire.at_ms == MARCH + 90000);
	assert_int_equal(next("every 90s", NULL, RP_MOST_TIME, &fire), 0);
}

static void
a_fire_is_strictly_after_the_given_time(void **state)
{
	rp_fire fire = RP_FIRE_INIT;

	(void)state;
	assert_int_equal(next("0 12 * * *", NULL, MARCH - 1, &fire), 1);
	assert_true(fire.at_ms == MARCH);
	assert_int_equal(next("0 12 * * *", NULL, MARCH, &fire), 1);
	assert_true(fire.at_ms == MARCH + 86400000);
	/* In this zone, the local time at the start of the search is before
	 * 1970. */
	assert_int_equal(next("0 20 * * *", "America/New_York", 0, &fire), 1);
	assert_true(fire.at_ms == 3600000);
}

static void
a_skipped_time_is_told_with_the_fire_after_it(void **state)
{
	rp_fire fire = RP_FIRE_INIT;
	const int64_t day = 86400000;

	(void)state;
	assert_int_equal(next("30 2 * * *", "Europe/Berlin", MARCH, &fire), 1);
	assert_true(fire.at_ms == MARCH + 13 * 3600000 + 1800000);
	assert_string_equal(fire.zone, "CET");
	assert_true(fire.skipped == 0 && fire.doubled == 0);
	assert_int_equal(next("30 2 * * *", "Europe/Berlin", fire.at_ms, &fire),
			 1);
	assert_true(fire.at_ms == MARCH + 2 * day + 12 * 3600000 + 1800000);
	assert_true(fire.offset_s == 7200 && fire.skipped == 1);
	assert_true(fire.skipped_local_ms ==
		    MARCH + day + 14 * 3600000 + 1800000);
}

static void
what_only_fires_in_the_gap_never_does(void **state)
{
	rp_fire fire = RP_FIRE_INIT;

	(void)state;
	assert_int_equal(
		next("30 2 25-31 3 */7", "Europe/Berlin", MARCH, &fire), 0);
	assert_int_equal(next("0 0 29 2 */7", NULL, MARCH, &fire), 1);
	assert_true(fire.at_ms == INT64_C(1961625600000)); /* 2032 */
	assert_int_equal(next("0 0 1 1 *", NULL, RP_MOST_TIME, &fire), 0);
}

static void
arguments_are_checked(void **state)
{
	rp_fire fire = RP_FIRE_INIT, unset = { 0 };
	rp_error error;

	(void)state;
	assert_int_equal(rp_schedule_next("@daily", NULL, 0, 0, &unset, &error),
			 RP_EINVAL);
	assert_int_equal(rp_schedule_next("@daily", NULL, 0, -1, &fire, &error),
			 RP_EINVAL);
	assert_int_equal(rp_schedule_next("@daily", NULL, -1, 0, &fire, NULL),
			 RP_EINVAL);
	assert_int_equal(rp_schedule_next(NULL, NULL, 0, 0, &fire, &error),
			 RP_EINVAL);
	assert_int_equal(rp_schedule_next("@daily", NULL, 0, 0, NULL, &error),
			 RP_EINVAL);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fields_become_sets),
		cmocka_unit_test(
			a_field_that_begins_with_a_star_is_not_restricted),
		cmocka_unit_test(a_wrong_spec_is_refused_with_the_reason),
		cmocka_unit_test(a_zone_file_that_is_cut_anywhere_is_refused),
		cmocka_unit_test(
			a_zone_file_with_any_byte_changed_does_no_harm),
		cmocka_unit_test(a_hostile_name_is_refused),
		cmocka_unit_test(an_unknown_zone_is_told_what_is_like_it),
		cmocka_unit_test(a_file_that_is_no_zone_is_not_waited_for),
		cmocka_unit_test(a_rule_is_parsed_whole_or_refused),
		cmocka_unit_test(summer_time_may_last_all_year),
		cmocka_unit_test(every_counts_from_its_start),
		cmocka_unit_test(a_fire_is_strictly_after_the_given_time),
		cmocka_unit_test(a_skipped_time_is_told_with_the_fire_after_it),
		cmocka_unit_test(what_only_fires_in_the_gap_never_does),
		cmocka_unit_test(arguments_are_checked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
