/*
 * cron.h - schedules: what a spec says, what a time zone does, and the next
 * instant. No database, no global state, and neither TZ nor mktime().
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
 * A parsed spec. Plain data: bit N of a set stands for the number N. Either
 * `every_ms` is set, or the sets are, and none of them is empty.
 */
struct rp_spec {
	uint64_t minutes;  /* 0 to 59 */
	uint32_t hours;    /* 0 to 23 */
	uint32_t days;     /* 1 to 31, of the month */
	uint32_t months;   /* 1 to 12 */
	uint32_t weekdays; /* 0 to 6; 0 is Sunday */
	int either_day;    /* both day fields are restricted: a day that is in
			    * one of the two sets matches. Else it must be in
			    * both */
	int both_times;    /* the minute or the hour field begins with `*`: a
			    * local time that occurs twice matches twice. Else
			    * only its first occurrence does */
	int64_t every_ms;  /* `every D`; 0: none */
};

/* Parse a spec. RP_EINVAL: it is wrong, or can never match a day. */
int rp__spec_parse(const char *text, struct rp_spec *ret, rp_error *reterr);

/* The first minute that matches, at or after `minute` and before `end`; if
 * there is none, `end`. Minutes of local time, counted from 1970-01-01 00:00.
 */
int64_t rp__spec_next(const struct rp_spec *spec, int64_t minute, int64_t end);

/* ---- zone.c ---------------------------------------------------------- */

struct rp_zone;

/* A time during which a zone's clock keeps its distance from UTC. Seconds from
 * 1970-01-01 00:00 UTC. */
struct rp_period {
	int64_t start, end; /* INT64_MIN, INT64_MAX: no change before or after
			     * it. It lasts until just before `end` */
	int32_t offset;     /* local time minus UTC, seconds */
	char name[12];      /* "CEST", "+03" */
};

#define RP_ZONES "/usr/share/zoneinfo"
#define RP_MOST_ZONE_FILE 65536 /* bytes; the largest of IANA's has 4 KB */

/*
 * Read the zone `name` (NULL or "UTC": UTC, which needs no file) from the
 * folder `folder` (NULL: RP_ZONES). RP_EINVAL: the name is wrong or unknown.
 * RP_EDB: the file cannot be read, or is damaged. Free the zone with
 * rp__zone_free(). Several threads may use a zone at the same time.
 */
int rp__zone_open(const char *folder, const char *name, struct rp_zone **ret,
		  rp_error *reterr);
/* The same of a file's bytes (RFC 9636), which are copied. */
int rp__zone_parse(const char *name, const void *bytes, size_t size,
		   struct rp_zone **ret, rp_error *reterr);
void rp__zone_free(struct rp_zone *zone);

/* The period that `second` is in. */
void rp__zone_at(const struct rp_zone *zone, int64_t second,
		 struct rp_period *ret);

/* ---- near.c ---------------------------------------------------------- */

/* Write up to three names of zones that are like `name` to `to`: "A, B or C".
 * "" if there are none. -1: the folder has no zones at all. */
int rp__zones_near(const char *folder, const char *name, char *to, size_t room);

/* ---- rule.c ---------------------------------------------------------- */

/* The rule in a zone file's footer, for times after its last change. */
struct rp_rule_date {
	char kind; /* 'J': day 1 to 365, never 29 February; 'N': day 0 to 365;
		    * 'M': weekday `day` (0: Sunday) of week `week` (5: the
		    * last) of `month` */
	int month, week, day;
	int32_t time; /* seconds from 00:00 local time, -167 to 167 hours */
};
struct rp_rule {
	int32_t offset, summer_offset; /* local time minus UTC, seconds */
	char name[12], summer_name[12];
	int has_summer;
	struct rp_rule_date begins, ends; /* of summer time */
};

/* 0, or -1 if `text` is no rule. */
int rp__rule_parse(const char *text, struct rp_rule *ret);
/* As rp__zone_at(). */
void rp__rule_at(const struct rp_rule *rule, int64_t second,
		 struct rp_period *ret);

/* ---- next.c ---------------------------------------------------------- */

/* rp_schedule_next() of what is already parsed: 1, or 0 if the schedule has no
 * further fire. */
int rp__schedule_next(const struct rp_spec *spec, const struct rp_zone *zone,
		      int64_t anchor_ms, int64_t after_ms, rp_fire *ret);

/* ---- days.c: the proleptic Gregorian calendar ------------------------ */

/* Days from 1970-01-01 to the first day of a month (1 to 12). */
int64_t rp__days_of(int64_t year, int month);
int rp__is_leap(int64_t year);
int rp__days_in(int64_t year, int month);
/* The date of a day that is counted from 1970-01-01. */
void rp__date_of(int64_t days, int64_t *ret_year, int *ret_month, int *ret_day);

#endif
