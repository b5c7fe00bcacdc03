/*
 * clock.c - what time it is, as SQLite's host has it.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "sqlite.h"

#include <time.h>

/* Microseconds since 1970 of the clock that SQLite's julianday('now') tells in
 * milliseconds; the rest is the host's clock. SQLite's clock is called
 * directly, because a statement takes longer than the rest of a small verb. */
int
rp__sqlite_read_clock(const struct sqlite *s, int64_t *ret_us, rp_error *error)
{
	const int64_t epoch_ms = INT64_C(210866760000000); /* as a Julian day */
	const int64_t year_10000_ms = INT64_C(253402300800000);
	sqlite3_int64 ms = 0;
	struct timespec t;

	s->vfs->xCurrentTimeInt64(s->vfs, &ms);
	ms -= epoch_ms;
	/* Beyond that SQLite knows no time, and the view shows none. */
	if (ms < 0 || ms >= year_10000_ms)
		return rp__fail(error, RP_EDB,
				"this host's clock is %s: set it, for the "
				"queue's times come from it",
				ms < 0 ? "before 1970"
				       : "beyond the year 9999");
	clock_gettime(CLOCK_REALTIME, &t);
	*ret_us = ms * 1000 + t.tv_nsec / 1000 % 1000;
	return 0;
}
