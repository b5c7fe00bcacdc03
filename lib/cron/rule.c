/*
 * rule.c - parse the rule at the end of a time zone file. The rule applies to
 * times after the last change that the file lists. Its form is that of POSIX's
 * TZ, with the extensions of RFC 9636, 3.3.1. An example is
 * "CET-1CEST,M3.5.0,M10.5.0/3".
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "cron.h"

#include <ctype.h>
#include <string.h>

#define DAY_S 86400
#define HOUR_S 3600

/* ---- parsing --------------------------------------------------------- */

static int
number(const char **at, int least, int most, int *ret)
{
	int n = 0;

	if (**at < '0' || **at > '9')
		return -1;
	for (; **at >= '0' && **at <= '9'; ++*at) {
		n = n * 10 + (**at - '0');
		if (n > most)
			return -1;
	}
	*ret = n;
	return n < least ? -1 : 0;
}

/* If the next character is `c`, skip it and return 1. Otherwise return 0. */
static int
skip(const char **at, char c)
{
	if (**at != c)
		return 0;
	++*at;
	return 1;
}

/* Parse a name. It has only letters; in <> it may also have digits, + and -. */
static int
name(const char **at, char *to, size_t room)
{
	int quoted = skip(at, '<');
	const char *start = *at;
	size_t n;

	while (isalpha((unsigned char)**at) ||
	       (quoted &&
		(isdigit((unsigned char)**at) || **at == '+' || **at == '-')))
		++*at;
	n = (size_t)(*at - start);
	if (n < 3 || n >= room || (quoted && !skip(at, '>')))
		return -1;
	memcpy(to, start, n);
	to[n] = '\0';
	return 0;
}

/* Parse [+-]HOURS[:MINUTES[:SECONDS]]. */
static int
clock_time(const char **at, int most_hours, int32_t *ret)
{
	int sign = **at == '-' ? -1 : 1, hours, minutes = 0, seconds = 0;

	if (**at == '-' || **at == '+')
		++*at;
	if (number(at, 0, most_hours, &hours) < 0)
		return -1;
	if (skip(at, ':') && number(at, 0, 59, &minutes) < 0)
		return -1;
	if (skip(at, ':') && number(at, 0, 59, &seconds) < 0)
		return -1;
	*ret = sign * (hours * HOUR_S + minutes * 60 + seconds);
	return 0;
}

/* Parse an offset. POSIX writes UTC minus local time, so the sign is
 * changed. */
static int
utc_offset(const char **at, int32_t *ret)
{
	int32_t west;

	if (clock_time(at, 24, &west) < 0)
		return -1;
	*ret = -west;
	return 0;
}

static int
month_week_day(const char **at, struct rp_rule_date *ret)
{
	return number(at, 1, 12, &ret->month) < 0 || !skip(at, '.') ||
			       number(at, 1, 5, &ret->week) < 0 ||
			       !skip(at, '.') || number(at, 0, 6, &ret->day) < 0
		       ? -1
		       : 0;
}

static int
date(const char **at, struct rp_rule_date *ret)
{
	int r;

	ret->kind = skip(at, 'M') ? 'M' : skip(at, 'J') ? 'J' : 'N';
	if (ret->kind == 'M')
		r = month_week_day(at, ret);
	else
		r = number(at, ret->kind == 'J', 365, &ret->day);
	if (r < 0)
		return -1;
	ret->time = 2 * HOUR_S;
	return skip(at, '/') ? clock_time(at, 167, &ret->time) : 0;
}

int
rp__rule_parse(const char *text, struct rp_rule *ret)
{
	struct rp_rule rule = { 0 };

	if (name(&text, rule.name, sizeof(rule.name)) < 0 ||
	    utc_offset(&text, &rule.offset) < 0)
		return -1;
	if (*text) {
		rule.has_summer = 1;
		rule.summer_offset = rule.offset + HOUR_S;
		if (name(&text, rule.summer_name, sizeof(rule.summer_name)) < 0)
			return -1;
		if (*text != ',' && utc_offset(&text, &rule.summer_offset) < 0)
			return -1;
		if (!skip(&text, ',') || date(&text, &rule.begins) < 0 ||
		    !skip(&text, ',') || date(&text, &rule.ends) < 0 || *text)
			return -1;
	}
	*ret = rule;
	return 0;
}

/* ---- applying -------------------------------------------------------- */

/* Returns the date's day in this year, as days since 1970-01-01. */
static int64_t
days_of(const struct rp_rule_date *date, int64_t year)
{
	int64_t first = rp__days_of(year, date->kind == 'M' ? date->month : 1);
	int weekday, day;

	if (date->kind == 'N')
		return first + date->day;
	if (date->kind == 'J')
		return first + date->day - 1 +
		       (date->day >= 60 && rp__is_leap(year));
	weekday = rp__weekday_of(first);
	day = (date->day - weekday + 7) % 7 + 7 * (date->week - 1);
	if (day >= rp__days_in(year, date->month))
		day -= 7;
	return first + day;
}

struct change {
	int64_t at;
	int summer; /* 1: summer time begins; 0: it ends */
};

/* Insert a change into `changes`, which is sorted by time. A new change goes
 * after the changes with the same time, so the change that was inserted last
 * wins. Equal times occur with a rule that has summer time all year: the summer
 * time of one year ends at the moment when that of the next year begins. */
static void
add_change(struct change *changes, int *count, int64_t at, int summer)
{
	int i = (*count)++;

	for (; i > 0 && changes[i - 1].at > at; i--)
		changes[i] = changes[i - 1];
	changes[i] = (struct change){ at, summer };
}

void
rp__rule_at(const struct rp_rule *rule, int64_t second, struct rp_period *ret)
{
	struct change changes[6];
	struct rp_period period = { INT64_MIN, INT64_MAX, 0, "" };
	int64_t year;
	int month, day, count = 0, summer = 0;

	rp__date_of(rp__floor_div(second, DAY_S), &year, &month, &day);
	for (int64_t y = year - 1; rule->has_summer && y <= year + 1; y++) {
		add_change(changes, &count,
			   days_of(&rule->begins, y) * DAY_S +
				   rule->begins.time - rule->offset,
			   1);
		add_change(changes, &count,
			   days_of(&rule->ends, y) * DAY_S + rule->ends.time -
				   rule->summer_offset,
			   0);
	}
	for (int i = 0; i < count && period.end == INT64_MAX; i++) {
		if (changes[i].at > second) {
			period.end = changes[i].at;
		} else {
			period.start = changes[i].at;
			summer = changes[i].summer;
		}
	}
	period.offset = summer ? rule->summer_offset : rule->offset;
	memcpy(period.name, summer ? rule->summer_name : rule->name,
	       sizeof(period.name));
	*ret = period;
}
