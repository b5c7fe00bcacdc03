/*
 * next.c - find when a schedule fires next.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 *
 * Time is divided into periods in which a zone's offset from UTC does not
 * change. Within a period, each local minute is exactly one point in time. So
 * the minutes that match are searched for in local time. A local time that does
 * not exist is in no period, and a local time that occurs twice is in two
 * periods.
 */
#include "cron.h"

#include <stddef.h>
#include <string.h>

#include "internal.h"

#define MINUTE_MS 60000
#define YEAR_S INT64_C(31556952) /* average length of a year */
/* The calendar repeats after 400 years, and so do the rules of time zones. */
#define CALENDAR_S (400 * YEAR_S)
/* Offsets from UTC are between -25 and 26 hours, so they differ by less than 52
 * hours. If one period (times with the same offset) begins more than OVERLAP_S
 * seconds after the end of another, the two have no local time in common. */
#define OVERLAP_S (52 * 3600)

static int64_t
minute_at_or_after(int64_t second)
{
	return second >= 0 ? (second + 59) / 60 : -(-second / 60);
}

/* Returns 1 if this local minute of `period` is a repetition: it has occurred
 * in an earlier period, before the clock was set back. */
static int
occurred_before(const struct rp_zone *zone, const struct rp_period *period,
		int64_t minute)
{
	struct rp_period before = *period;
	int64_t since = minute * 60 - period->offset - OVERLAP_S;

	while (before.start > since) {
		int64_t second;

		rp__zone_at(zone, before.start - 1, &before);
		second = minute * 60 - before.offset;
		if (second >= before.start && second < before.end)
			return 1;
	}
	return 0;
}

/* Count the local minutes that match the spec but do not exist, because the
 * clock was set forward at the end of period `before`. */
static void
count_skipped(const struct rp_spec *spec, const struct rp_period *before,
	      const struct rp_period *after, rp_fire *fire)
{
	int64_t minute = minute_at_or_after(before->end + before->offset);
	int64_t end = minute_at_or_after(before->end + after->offset);

	for (; (minute = rp__spec_next(spec, minute, end)) < end; minute++)
		if (fire->skipped++ == 0)
			fire->skipped_local_ms = minute * MINUTE_MS;
}

/* Find the first fire at or after second `from` and before second `until`. All
 * this time is in `period`, in which the zone's offset does not change. Returns
 * 1, or 0 if there is no fire. */
static int
find_in(const struct rp_spec *spec, const struct rp_zone *zone,
	const struct rp_period *period, int64_t from, int64_t until,
	rp_fire *fire)
{
	int64_t minute = minute_at_or_after(from + period->offset);
	int64_t end = minute_at_or_after(until + period->offset);

	for (; (minute = rp__spec_next(spec, minute, end)) < end; minute++) {
		if (occurred_before(zone, period, minute)) {
			if (fire->doubled++ == 0)
				fire->doubled_local_ms = minute * MINUTE_MS;
			if (!spec->both_times)
				continue;
		}
		fire->at_ms = (minute * 60 - period->offset) * 1000;
		return 1;
	}
	return 0;
}

static void
set_local(const struct rp_period *period, rp_fire *fire)
{
	fire->offset_s = period->offset;
	memcpy(fire->zone, period->name, sizeof(fire->zone));
}

static int
next_match(const struct rp_spec *spec, const struct rp_zone *zone,
	   int64_t after_ms, rp_fire *fire)
{
	int64_t after = after_ms / 1000;
	int64_t last = after + CALENDAR_S;
	struct rp_period period, next;

	if (last > RP_MOST_TIME / 1000)
		last = RP_MOST_TIME / 1000;
	rp__zone_at(zone, after, &period);
	for (;;) {
		int64_t from = period.start > after ? period.start : after + 1;
		int64_t until = period.end < last ? period.end : last + 1;

		if (find_in(spec, zone, &period, from, until, fire)) {
			set_local(&period, fire);
			return 1;
		}
		if (period.end > last)
			return 0;
		rp__zone_at(zone, period.end, &next);
		count_skipped(spec, &period, &next, fire);
		period = next;
	}
}

static int
next_of_every(const struct rp_spec *spec, const struct rp_zone *zone,
	      int64_t anchor_ms, int64_t after_ms, rp_fire *fire)
{
	int64_t every = spec->every_ms, n = 1;
	struct rp_period period;

	if (after_ms >= anchor_ms)
		n = (after_ms - anchor_ms) / every + 1;
	fire->at_ms = anchor_ms + n * every;
	if (fire->at_ms > RP_MOST_TIME)
		return 0;
	rp__zone_at(zone, fire->at_ms / 1000, &period);
	set_local(&period, fire);
	return 1;
}

int
rp__schedule_next(const struct rp_spec *spec, const struct rp_zone *zone,
		  int64_t anchor_ms, int64_t after_ms, rp_fire *ret)
{
	rp_fire fire = RP_FIRE_INIT;
	int found = spec->every_ms ? next_of_every(spec, zone, anchor_ms,
						   after_ms, &fire)
				   : next_match(spec, zone, after_ms, &fire);

	if (found) {
		fire.size = ret->size;
		rp__copy_struct(ret, &fire, ret->size, sizeof(fire));
	}
	return found;
}

static int
is_time(int64_t ms)
{
	return ms >= 0 && ms <= RP_MOST_TIME;
}

int
rp_schedule_next(const char *spec, const char *zone, int64_t anchor_ms,
		 int64_t after_ms, rp_fire *ret, rp_error *reterr)
{
	struct rp_spec parsed;
	struct rp_zone *opened;
	int r;

	if (!ret || ret->size < offsetof(rp_fire, zone))
		return rp__fail(reterr, RP_EINVAL,
				"the fire's size is not set: use "
				"RP_FIRE_INIT");
	if (!is_time(after_ms) || !is_time(anchor_ms))
		return rp__fail(reterr, RP_EINVAL,
				"after_ms or anchor_ms is before the year 1970 "
				"or after 9999");
	r = rp__spec_parse(spec, &parsed, reterr);
	if (r < 0)
		return r;
	r = rp__zone_open(NULL, zone, &opened, reterr);
	if (r < 0)
		return r;
	r = rp__schedule_next(&parsed, opened, anchor_ms, after_ms, ret);
	rp__zone_free(opened);
	return r;
}
