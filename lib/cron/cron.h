/*
 * cron.h - parse the spec of a schedule (when it fires) and a time zone, and
 * find the next time at which the schedule fires. This code uses no database,
 * no global state, and neither TZ nor mktime().
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#ifndef RP_CRON_H
#define RP_CRON_H

#include <stddef.h>
#include <stdint.h>

#include "readpast.h"

/* ---- spec.c ---------------------------------------------------------- */

/*
 * A parsed spec. In the sets, bit N stands for the number N. If `every_ms` is
 * 0, each set has a member. If `every_ms` is not 0, the sets are not used.
 */
struct rp_spec {
	uint64_t minutes;  /* 0 to 59 */
	uint32_t hours;    /* 0 to 23 */
	uint32_t days;     /* 1 to 31, days of the month */
	uint32_t months;   /* 1 to 12 */
	uint32_t weekdays; /* 0 to 6; 0 is Sunday */
	int either_day;    /* 1: neither of the two day fields begins with `*`,
			    * so a day matches if it is in `days` or in
			    * `weekdays`. 0: a day must be in both sets */
	int both_times;    /* a local time occurs twice when the clock is set
			    * back. 1: both occurrences match, because the
			    * minute or the hour field begins with `*`. 0: only
			    * the first occurrence matches */
	int64_t every_ms;  /* the interval of `every D`; 0: the spec has another
			    * form */
};

/* Parse a spec. RP_EINVAL: the spec is wrong, or no date ever matches it. */
int rp__spec_parse(const char *text, struct rp_spec *ret, rp_error *reterr);

/* Returns the first minute that matches, at or after `minute` and before `end`.
 * If no minute matches, returns `end`. All three are minutes of local time
 * since 1970-01-01 00:00. */
int64_t rp__spec_next(const struct rp_spec *spec, int64_t minute, int64_t end);

/* ---- zone.c ---------------------------------------------------------- */

struct rp_zone;

/* A period during which a zone's offset from UTC does not change. Times are
 * seconds since 1970-01-01 00:00 UTC. */
struct rp_period {
	int64_t start, end; /* the period begins at `start` and lasts until just
			     * before `end`. INT64_MIN: no change before it;
			     * INT64_MAX: no change after it */
	int32_t offset;     /* local time minus UTC, in seconds */
	char name[12];      /* abbreviation, such as "CEST" or "+03" */
};

#define RP_ZONES "/usr/share/zoneinfo"
#define RP_MOST_ZONE_FILE 65536 /* bytes; the largest IANA file has 4 KB */

/*
 * Read the zone `name` from the folder `folder`. A NULL folder stands for
 * RP_ZONES. If the name is NULL or "UTC", the zone is UTC, which needs no file.
 * RP_EINVAL: the name is wrong or unknown. RP_EDB: the file cannot be read, or
 * is damaged. Free the zone with rp__zone_free(). Several threads may use a
 * zone at the same time.
 */
int rp__zone_open(const char *folder, const char *name, struct rp_zone **ret,
		  rp_error *reterr);
/* Read a zone from the bytes of a zone file (RFC 9636), which are copied. */
int rp__zone_parse(const char *name, const void *bytes, size_t size,
		   struct rp_zone **ret, rp_error *reterr);
void rp__zone_free(struct rp_zone *zone);

/* Set *ret to the period that contains the time `second`. */
void rp__zone_at(const struct rp_zone *zone, int64_t second,
		 struct rp_period *ret);

/* ---- near.c ---------------------------------------------------------- */

/* Write to `to` up to three names of zones that are similar to `name`, such as
 * "A, B or C". Writes "" if no name is similar. Returns -1 if the folder has no
 * zones. */
int rp__zones_near(const char *folder, const char *name, char *to, size_t room);

/* ---- rule.c ---------------------------------------------------------- */

/* The date on which summer time begins or ends each year. It comes from the
 * rule at the end of a zone file. The rule gives the offset for times after the
 * last change that the file lists. */
struct rp_rule_date {
	char kind; /* 'J': `day` is 1 to 365, and 29 February has no number.
		    * 'N': `day` is 0 to 365. 'M': the date is weekday `day` (0:
		    * Sunday) in week `week` (5: the last) of `month` */
	int month, week, day;
	int32_t time; /* seconds after 00:00 local time, within -167 to 167
		       * hours */
};
struct rp_rule {
	int32_t offset, summer_offset; /* local time minus UTC, seconds */
	char name[12], summer_name[12];
	int has_summer;
	struct rp_rule_date begins, ends; /* when summer time begins and ends */
};

/* Returns 0, or -1 if `text` is no rule. */
int rp__rule_parse(const char *text, struct rp_rule *ret);
/* Set *ret to the period that the rule gives for the time `second`. */
void rp__rule_at(const struct rp_rule *rule, int64_t second,
		 struct rp_period *ret);

/* ---- next.c ---------------------------------------------------------- */

/* Find the next fire as rp_schedule_next() does, with a spec and a zone that
 * are parsed already. Returns 1, or 0 if the schedule has no further fire. */
int rp__schedule_next(const struct rp_spec *spec, const struct rp_zone *zone,
		      int64_t anchor_ms, int64_t after_ms, rp_fire *ret);

/* ---- days.c: the proleptic Gregorian calendar ------------------------ */

/* Returns n / by, rounded down. */
int64_t rp__floor_div(int64_t n, int64_t by);
/* Returns the weekday, 0 to 6, of the day that is `days` days after 1970-01-01.
 * 0 is Sunday. */
int rp__weekday_of(int64_t days);
/* Returns the days from 1970-01-01 to the first day of a month (1 to 12). */
int64_t rp__days_of(int64_t year, int month);
int rp__is_leap(int64_t year);
int rp__days_in(int64_t year, int month);
/* Set the date of the day that is `days` days after 1970-01-01. */
void rp__date_of(int64_t days, int64_t *ret_year, int *ret_month, int *ret_day);

#endif
