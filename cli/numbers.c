/*
 * numbers.c - parse and print counts, sizes, times and claims.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "cmd.h"

#include <string.h>
#include <time.h>

#include "cron/cron.h"

/* Parse a number. *ret_rest becomes the text after it. Returns -1 if there are
 * no digits or the number is out of range. */
static int
digits(const char *text, int64_t *ret, const char **ret_rest)
{
	int64_t n = 0;

	if (*text < '0' || *text > '9')
		return -1;
	for (; *text >= '0' && *text <= '9'; text++)
		if (__builtin_mul_overflow(n, 10, &n) ||
		    __builtin_add_overflow(n, *text - '0', &n))
			return -1;
	*ret = n;
	*ret_rest = text;
	return 0;
}

struct unit {
	const char *name;
	int64_t factor;
};

static int
with_unit(const char *text, const struct unit *units, int64_t *ret)
{
	const char *rest;
	int64_t n;

	if (digits(text, &n, &rest) < 0)
		return -1;
	for (; units->name; units++)
		if (strcmp(rest, units->name) == 0)
			return __builtin_mul_overflow(n, units->factor, ret)
				       ? -1
				       : 0;
	return -1;
}

int
parse_count(const char *text, int64_t *ret)
{
	static const struct unit units[] = {
		{ "", 1 }, { "k", 1000 }, { "M", 1000000 }, { NULL, 0 }
	};

	return with_unit(text, units, ret);
}

int
parse_size(const char *text, int64_t *ret)
{
	static const struct unit units[] = { { "", 1 },
					     { "KiB", 1024 },
					     { "MiB", 1024 * 1024 },
					     { "GiB", 1024 * 1024 * 1024 },
					     { NULL, 0 } };

	return with_unit(text, units, ret);
}

int
parse_whole(const char *text, int64_t *ret)
{
	const char *rest;

	return digits(text, ret, &rest) < 0 || *rest ? -1 : 0;
}

int
parse_id(const char *text, int64_t *ret)
{
	return parse_whole(text, ret) < 0 || *ret == 0 ? -1 : 0;
}

int
parse_claim(const char *text, int64_t *ret_id, int64_t *ret_claim_no)
{
	const char *rest;

	if (digits(text, ret_id, &rest) < 0 || *rest != ':' || *ret_id == 0)
		return -1;
	return parse_id(rest + 1, ret_claim_no);
}

/* Parse exactly `count` digits as a number of at most `most`. */
static int
field(const char **text, int count, int most, int *ret)
{
	int n = 0;

	for (int i = 0; i < count; i++) {
		if ((*text)[i] < '0' || (*text)[i] > '9')
			return -1;
		n = n * 10 + ((*text)[i] - '0');
	}
	*text += count;
	*ret = n;
	return n > most ? -1 : 0;
}

static int
expect(const char **text, const char *any_of)
{
	if (!**text || !strchr(any_of, **text))
		return -1;
	++*text;
	return 0;
}

/* Parse a fraction of a second, such as .123456, as milliseconds. An empty
 * text is 0. */
static int
fraction(const char **text, int *ret_ms)
{
	int ms = 0, scale = 100;

	if (**text == '.') {
		++*text;
		if (**text < '0' || **text > '9')
			return -1;
		for (; **text >= '0' && **text <= '9'; ++*text) {
			ms += (**text - '0') * scale;
			scale /= 10;
		}
	}
	*ret_ms = ms;
	return 0;
}

/* Parse an offset from UTC, such as Z or +01:00, as minutes. */
static int
zone(const char **text, int *ret)
{
	int sign = **text == '-' ? -1 : 1, hours, minutes;

	*ret = 0;
	if (expect(text, "Zz") == 0)
		return 0;
	if (expect(text, "+-") < 0 || field(text, 2, 23, &hours) < 0 ||
	    expect(text, ":") < 0 || field(text, 2, 59, &minutes) < 0)
		return -1;
	*ret = sign * (hours * 60 + minutes);
	return 0;
}

/* Parse the form of a time in RFC 3339. The day need not exist. Returns -1 if
 * the text has another form. */
static int
rfc3339_form(const char *s, struct tm *ret, int *ret_ms, int *ret_minutes)
{
	if (field(&s, 4, 9999, &ret->tm_year) < 0 || expect(&s, "-") < 0 ||
	    field(&s, 2, 99, &ret->tm_mon) < 0 || expect(&s, "-") < 0 ||
	    field(&s, 2, 99, &ret->tm_mday) < 0 || expect(&s, "Tt ") < 0 ||
	    field(&s, 2, 99, &ret->tm_hour) < 0 || expect(&s, ":") < 0 ||
	    field(&s, 2, 99, &ret->tm_min) < 0 || expect(&s, ":") < 0 ||
	    field(&s, 2, 99, &ret->tm_sec) < 0 || fraction(&s, ret_ms) < 0 ||
	    zone(&s, ret_minutes) < 0 || *s)
		return -1;
	return 0;
}

static int
exists(const struct tm *tm)
{
	return tm->tm_mon >= 1 && tm->tm_mon <= 12 && tm->tm_mday >= 1 &&
	       tm->tm_mday <= rp__days_in(tm->tm_year, tm->tm_mon) &&
	       tm->tm_hour <= 23 && tm->tm_min <= 59 && tm->tm_sec <= 60;
}

static int
rfc3339(const char *s, int64_t *ret_ms)
{
	struct tm tm = { 0 };
	int ms, minutes;
	int64_t at;

	if (rfc3339_form(s, &tm, &ms, &minutes) < 0)
		return -1;
	if (!exists(&tm))
		return NO_SUCH_TIME;
	tm.tm_year -= 1900;
	tm.tm_mon -= 1;
	at = ((int64_t)timegm(&tm) - minutes * 60) * 1000 + ms;
	if (at < 0)
		return TIME_OUT_OF_RANGE;
	*ret_ms = at;
	return 0;
}

int
parse_time(const char *text, int64_t *ret_ms)
{
	const char *number = text + 1 + (text[0] == '@' && text[1] == '-');
	const char *rest;
	int64_t seconds;

	if (*text != '@')
		return rfc3339(text, ret_ms);
	if (!*number || number[strspn(number, "0123456789")])
		return -1;
	if (number > text + 1 || digits(number, &seconds, &rest) < 0 ||
	    seconds > INT64_C(253402300799))
		return TIME_OUT_OF_RANGE;
	*ret_ms = seconds * 1000;
	return 0;
}

const char *
time_problem(int r)
{
	return r == NO_SUCH_TIME
		       ? "there is no such day, or no such time of day"
	       : r == TIME_OUT_OF_RANGE ? "times must be between 1970 and 9999"
					: NULL;
}

/* Format a duration in the largest unit that gives a whole number, such as 90s,
 * 2h or 30d. */
void
print_duration(char *to, size_t room, int64_t ms)
{
	static const struct unit units[] = { { "d", 86400000 },
					     { "h", 3600000 },
					     { "m", 60000 },
					     { "s", 1000 },
					     { "ms", 1 } };
	const struct unit *unit = units;

	while (ms % unit->factor)
		unit++;
	snprintf(to, room, "%lld%s", (long long)(ms / unit->factor),
		 ms ? unit->name : "s");
}

void
format_rate(char *to, size_t room, int64_t count, int64_t ms)
{
	char span[32];

	print_duration(span, sizeof(span), ms);
	snprintf(to, room, "%lld/%s", (long long)count, span);
}
