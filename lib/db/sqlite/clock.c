/*
 * clock.c - read the clock of this host.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "sqlite.h"

#include <time.h>

/* Sets *ret_us to the microseconds since 1970. The milliseconds come from
 * SQLite's clock, as in julianday('now'). The microseconds within a millisecond
 * come from the system clock. If it shows another millisecond, because it was
 * read a little earlier, they are 0, so that the time does not go back.
 * SQLite's clock is called directly, because running a statement would take
 * longer than the rest of a small verb. */
int
rp__sqlite_read_clock(const struct sqlite *s, int64_t *ret_us, rp_error *error)
{
	const int64_t epoch_ms =
		INT64_C(210866760000000); /* the Julian day of
					   * 1970-01-01 in ms */
	const int64_t year_10000_ms = INT64_C(253402300800000);
	sqlite3_int64 ms = 0;
	struct timespec t;
	int64_t us;

	clock_gettime(CLOCK_REALTIME, &t);
	us = t.tv_sec * INT64_C(1000000) + t.tv_nsec / 1000;
	s->vfs->xCurrentTimeInt64(s->vfs, &ms);
	ms -= epoch_ms;
	/* SQLite has no times outside of this range, and the view readpast_jobs
	 * could not show them. */
	if (ms < 0 || ms >= year_10000_ms)
		return rp__fail(error, RP_EDB,
				"this host's clock is %s: set it, because the"
				" queue's times come from it",
				ms < 0 ? "before 1970"
				       : "beyond the year 9999");
	*ret_us = us / 1000 == ms ? us : ms * 1000;
	return 0;
}
