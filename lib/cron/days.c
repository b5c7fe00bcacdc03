/*
 * days.c - convert between dates of the Gregorian calendar and days since
 * 1970-01-01.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "cron.h"

/* The calendar repeats every 400 years. */
#define YEARS 400
#define DAYS 146097
/* Days from 0000-03-01 to 1970-01-01. */
#define EPOCH 719468

int64_t
rp__floor_div(int64_t n, int64_t by)
{
	return (n >= 0 ? n : n - (by - 1)) / by;
}

int
rp__weekday_of(int64_t days)
{
	/* 1970-01-01 was a Thursday. */
	return (int)(days + 4 - rp__floor_div(days + 4, 7) * 7);
}

int
rp__is_leap(int64_t year)
{
	return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
}

int64_t
rp__days_of(int64_t year, int month)
{
	/* Count years from March, so that the leap day is the last day of a
	 * year. */
	int64_t y = month <= 2 ? year - 1 : year;
	int64_t cycle = rp__floor_div(y, YEARS);
	int64_t in_cycle = y - cycle * YEARS;
	int from_march = (153 * ((month + 9) % 12) + 2) / 5;

	return cycle * DAYS + in_cycle * 365 + in_cycle / 4 - in_cycle / 100 +
	       from_march - EPOCH;
}

int
rp__days_in(int64_t year, int month)
{
	return (int)(rp__days_of(month == 12 ? year + 1 : year,
				 month % 12 + 1) -
		     rp__days_of(year, month));
}

void
rp__date_of(int64_t days, int64_t *ret_year, int *ret_month, int *ret_day)
{
	int64_t day = days + EPOCH;
	int64_t cycle = rp__floor_div(day, DAYS);
	int in_cycle = (int)(day - cycle * DAYS);
	int year = (in_cycle - in_cycle / 1460 + in_cycle / 36524 -
		    in_cycle / (DAYS - 1)) /
		   365;
	int in_year = in_cycle - (365 * year + year / 4 - year / 100);
	int month = (5 * in_year + 2) / 153; /* 0 is March */

	*ret_day = in_year - (153 * month + 2) / 5 + 1;
	*ret_month = month < 10 ? month + 3 : month - 9;
	*ret_year = cycle * YEARS + year + (*ret_month <= 2);
}
