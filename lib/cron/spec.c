/*
 * spec.c - parse the spec of a schedule, and find the minutes that match it.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 *
 * The fields are those of a crontab of POSIX, with the names and the steps of
 * the Open Cron Pattern Specification 1.4.
 */
#include "cron.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "internal.h"

#define BLANKS " \t"
#define MINUTES_OF_DAY 1440

/* A spec that is being parsed. */
struct reader {
	const char *spec;
	rp_error *error;
};

static int wrong(const struct reader *in, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static int
wrong(const struct reader *in, const char *format, ...)
{
	char text[160];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	return rp__fail(in->error, RP_EINVAL, "schedule \"%.60s\": %s",
			in->spec, text);
}

/* ---- fields ---------------------------------------------------------- */

struct field {
	const char *title;
	int least, most;
	const char *names; /* the names, three letters each, without spaces;
			    * NULL: no names */
	int first;         /* the number of the first name */
};

enum { MINUTE, HOUR, DAY, MONTH, WEEKDAY, FIELDS };

static const struct field fields[FIELDS] = {
	[MINUTE] = { "minute", 0, 59, NULL, 0 },
	[HOUR] = { "hour", 0, 23, NULL, 0 },
	[DAY] = { "day of month", 1, 31, NULL, 0 },
	[MONTH] = { "month", 1, 12, "JANFEBMARAPRMAYJUNJULAUGSEPOCTNOVDEC", 1 },
	/* Both 0 and 7 are Sunday. */
	[WEEKDAY] = { "weekday", 0, 7, "SUNMONTUEWEDTHUFRISAT", 0 },
};

/* One item of a field's list, such as `1-5/2`. `at` points to the first
 * character of the item that is not parsed yet. */
struct item {
	const struct field *field;
	const char *text;
	int size;
	const char *at;
};

static int
wrong_item(const struct reader *in, const struct item *item, const char *why)
{
	return wrong(in, "%s %.*s: %s", item->field->title,
		     item->size < 40 ? item->size : 40, item->text, why);
}

static int
out_of_range(const struct reader *in, const struct item *item)
{
	char why[60];

	snprintf(why, sizeof(why), "expected %d to %d%s", item->field->least,
		 item->field->most,
		 item->field->names ? ", or three letters of a name" : "");
	return wrong_item(in, item, why);
}

/* Returns the number of the name at the current position, such as 1 for JAN.
 * Returns -1 if there is no name. */
static int
named(const struct item *item)
{
	const char *names = item->field->names;
	int left = (int)(item->text + item->size - item->at);

	for (int i = 0; names && left >= 3 && names[i]; i += 3)
		if (strncasecmp(names + i, item->at, 3) == 0)
			return item->field->first + i / 3;
	return -1;
}

/* Parse a number. Returns -1 if there are no digits. With more than 3 digits,
 * returns a number that is too large for any field. */
static int
number(struct item *item)
{
	const char *end = item->text + item->size;
	int n = 0, digits = 0;

	for (; item->at < end && *item->at >= '0' && *item->at <= '9';
	     item->at++, digits++)
		n = digits < 3 ? n * 10 + (*item->at - '0') : 1000;
	return digits ? n : -1;
}

static int
value(const struct reader *in, struct item *item, int *ret)
{
	int n = named(item);

	if (n >= 0) {
		item->at += 3;
		*ret = n;
		return 0;
	}
	n = number(item);
	if (n < item->field->least || n > item->field->most)
		return out_of_range(in, item);
	*ret = n;
	return 0;
}

static int
at_char(const struct item *item, char c)
{
	return item->at < item->text + item->size && *item->at == c;
}

static int
at_end(const struct item *item)
{
	return item->at == item->text + item->size;
}

/* Parse `A` or `A-B`. */
static int
values(const struct reader *in, struct item *item, int *ret_from, int *ret_to)
{
	int from = 0, to, r = value(in, item, &from);

	if (r < 0)
		return r;
	to = from;
	if (at_char(item, '-')) {
		item->at++;
		r = value(in, item, &to);
		if (r < 0)
			return r;
		/* In a range such as FRI-SUN, Sunday is 7. */
		if (to == 0 && from > 0 && item->field == &fields[WEEKDAY])
			to = 7;
	}
	*ret_from = from;
	*ret_to = to;
	return 0;
}

/* Parse `*`, `A` or `A-B`, up to the `/` or the end of the item. */
static int
range(const struct reader *in, struct item *item, int *ret_from, int *ret_to)
{
	int from = item->field->least, to = item->field->most, r = 0;

	if (!at_char(item, '*')) {
		r = values(in, item, &from, &to);
	} else {
		item->at++;
		if (item->field == &fields[WEEKDAY])
			to = 6;
	}
	if (r < 0)
		return r;
	if (!at_end(item) && !at_char(item, '/'))
		return out_of_range(in, item);
	if (to < from)
		return wrong_item(in, item,
				  "runs backwards: write two ranges, such as "
				  "22-23,0-2 for 22-2");
	*ret_from = from;
	*ret_to = to;
	return 0;
}

/* Parse `/N`, if there is one. */
static int
step(const struct reader *in, struct item *item, int *ret)
{
	const struct field *f = item->field;
	int n;

	*ret = 1;
	if (!at_char(item, '/'))
		return 0;
	if (item->at[-1] != '*' &&
	    !memchr(item->text, '-', (size_t)(item->at - item->text)))
		return wrong_item(in, item,
				  "a step needs a range, such as */10 or "
				  "5-59/10");
	item->at++;
	n = number(item);
	if (n < 1 || !at_end(item))
		return wrong_item(in, item, "expected a step of 1 or more");
	if (n > f->most - f->least + 1)
		return wrong_item(in, item,
				  "the step is longer than the field's range: "
				  "for a longer interval, write \"every 90m\"");
	*ret = n;
	return 0;
}

static int
add_item(const struct reader *in, struct item *item, uint64_t *set)
{
	int from = 0, to = 0, by = 1, r;

	if (item->size == 0)
		return wrong(in,
			     "%s: a comma needs a value before it and after it",
			     item->field->title);
	r = range(in, item, &from, &to);
	if (r == 0)
		r = step(in, item, &by);
	if (r < 0)
		return r;
	for (int n = from; n <= to; n += by)
		*set |= UINT64_C(1)
			<< (item->field == &fields[WEEKDAY] ? n % 7 : n);
	return 0;
}

static int
parse_field(const struct reader *in, const struct field *field,
	    const char *text, size_t size, uint64_t *ret_set)
{
	const char *end = text + size;
	uint64_t set = 0;

	for (;;) {
		const char *comma = memchr(text, ',', (size_t)(end - text));
		struct item item = { field, text, 0, text };
		int r;

		item.size = (int)((comma ? comma : end) - text);
		r = add_item(in, &item, &set);
		if (r < 0)
			return r;
		if (!comma)
			break;
		text = comma + 1;
	}
	*ret_set = set;
	return 0;
}

static int
count_fields(const char *text)
{
	int count = 0;

	for (text += strspn(text, BLANKS); *text; count++) {
		text += strcspn(text, BLANKS);
		text += strspn(text, BLANKS);
	}
	return count;
}

static int
parse_fields(const struct reader *in, const char *text, struct rp_spec *ret)
{
	uint64_t sets[FIELDS];
	int stars[FIELDS], count = count_fields(text), r;

	if (count != FIELDS)
		return wrong(in,
			     "%d field%s, expected five: minute, hour, day of "
			     "month, month, weekday",
			     count, count == 1 ? "" : "s");
	for (int i = 0; i < FIELDS; i++) {
		size_t n;

		text += strspn(text, BLANKS);
		n = strcspn(text, BLANKS);
		stars[i] = *text == '*';
		r = parse_field(in, &fields[i], text, n, &sets[i]);
		if (r < 0)
			return r;
		text += n;
	}
	*ret = (struct rp_spec){
		.minutes = sets[MINUTE],
		.hours = (uint32_t)sets[HOUR],
		.days = (uint32_t)sets[DAY],
		.months = (uint32_t)sets[MONTH],
		.weekdays = (uint32_t)sets[WEEKDAY],
		.either_day = !stars[DAY] && !stars[WEEKDAY],
		.both_times = stars[MINUTE] || stars[HOUR],
	};
	return 0;
}

/* ---- the other forms ------------------------------------------------- */

/* Returns the five fields that a name such as @daily stands for, or NULL. */
static const char *
find_nickname(const char *text)
{
	static const char *const nicknames[][2] = {
		{ "@yearly", "0 0 1 1 *" },  { "@annually", "0 0 1 1 *" },
		{ "@monthly", "0 0 1 * *" }, { "@weekly", "0 0 * * 0" },
		{ "@daily", "0 0 * * *" },   { "@midnight", "0 0 * * *" },
		{ "@hourly", "0 * * * *" },
	};
	size_t n = strcspn(text, BLANKS);

	if (text[n + strspn(text + n, BLANKS)])
		return NULL;
	for (size_t i = 0; i < sizeof(nicknames) / sizeof(*nicknames); i++)
		if (strlen(nicknames[i][0]) == n &&
		    strncasecmp(nicknames[i][0], text, n) == 0)
			return nicknames[i][1];
	return NULL;
}

static int
parse_every(const struct reader *in, const char *text, struct rp_spec *ret)
{
	char duration[32];
	size_t n;
	int64_t ms;

	text += strspn(text, BLANKS);
	n = strcspn(text, BLANKS);
	snprintf(duration, sizeof(duration), "%.*s", n < 31 ? (int)n : 31,
		 text);
	if (text[n + strspn(text + n, BLANKS)] ||
	    rp_duration(duration, &ms) < 0 || ms < 1000)
		return wrong(in,
			     "expected a duration of 1 second to %d days, such "
			     "as every 90s, every 15m or every 2h",
			     RP_MOST_DAYS);
	*ret = (struct rp_spec){ .every_ms = ms };
	return 0;
}

static int
parse(const struct reader *in, struct rp_spec *ret)
{
	const char *text = in->spec + strspn(in->spec, BLANKS), *fields_of;

	if (strncasecmp(text, "every", 5) == 0)
		return parse_every(in, text + 5, ret);
	if (*text != '@')
		return parse_fields(in, text, ret);
	fields_of = find_nickname(text);
	if (!fields_of)
		return wrong(in,
			     "expected @hourly, @daily, @midnight, @weekly, "
			     "@monthly, @yearly or @annually");
	return parse_fields(in, fields_of, ret);
}

int
rp__spec_parse(const char *text, struct rp_spec *ret, rp_error *reterr)
{
	const struct reader in = { text, reterr };
	const int64_t first = rp__days_of(2000, 1) * MINUTES_OF_DAY;
	const int64_t end = rp__days_of(2400, 1) * MINUTES_OF_DAY;
	struct rp_spec spec = { 0 };
	size_t size = text ? strnlen(text, RP_MOST_SPEC + 1) : 0;
	int r;

	if (size == 0)
		return rp__fail(reterr, RP_EINVAL, "the schedule is missing");
	if (size > RP_MOST_SPEC)
		return rp__fail(reterr, RP_EINVAL,
				"the schedule is longer than %d bytes",
				RP_MOST_SPEC);
	r = parse(&in, &spec);
	if (r < 0)
		return r;
	/* The calendar repeats every 400 years, so a spec that does not match
	 * in that time never matches. */
	if (!spec.every_ms && rp__spec_next(&spec, first, end) == end)
		return wrong(&in, "never fires: there is no such day");
	*ret = spec;
	return 0;
}

/* ---- matching -------------------------------------------------------- */

/* Returns the smallest member of `set` that is at least `from`, or -1. */
static int
first_in(uint64_t set, int from)
{
	set = from < 64 ? set >> from << from : 0;
	return set ? __builtin_ctzll(set) : -1;
}

static int
is_day(const struct rp_spec *spec, int64_t days, int day)
{
	int by_date = spec->days >> day & 1;
	int by_weekday = spec->weekdays >> rp__weekday_of(days) & 1;

	return spec->either_day ? by_date || by_weekday : by_date && by_weekday;
}

/* Returns the first minute of the day (0 to 1439) that is at or after `from`
 * and matches the spec's hours and minutes. Returns -1 if there is none. */
static int
minute_of_day(const struct rp_spec *spec, int from)
{
	int hour = first_in(spec->hours, from / 60), minute;

	if (hour < 0)
		return -1;
	minute = first_in(spec->minutes, hour > from / 60 ? 0 : from % 60);
	if (minute < 0) {
		hour = first_in(spec->hours, hour + 1);
		minute = first_in(spec->minutes, 0);
	}
	return hour < 0 ? -1 : hour * 60 + minute;
}

int64_t
rp__spec_next(const struct rp_spec *spec, int64_t minute, int64_t end)
{
	while (minute < end) {
		int64_t days = rp__floor_div(minute, MINUTES_OF_DAY);
		int64_t midnight = days * MINUTES_OF_DAY, year;
		int month, day, found = -1;

		rp__date_of(days, &year, &month, &day);
		if (!(spec->months >> month & 1)) {
			minute = (days - day + 1 + rp__days_in(year, month)) *
				 MINUTES_OF_DAY;
			continue;
		}
		if (is_day(spec, days, day))
			found = minute_of_day(spec, (int)(minute - midnight));
		if (found >= 0)
			return midnight + found < end ? midnight + found : end;
		minute = midnight + MINUTES_OF_DAY;
	}
	return end;
}
