/*
 * hear.c - test whether notifications arrive. `readpast doctor` uses this.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "postgres.h"

#include <poll.h>

#define TRIP_MS 300 /* a notification that takes longer (ms) counts as lost */

static int
wait_for_notice(PGconn *pg)
{
	struct pollfd p = { .fd = PQ(socket)(pg), .events = POLLIN };
	int64_t until = rp__monotonic_ms() + TRIP_MS, left = TRIP_MS;

	for (; left > 0; left = until - rp__monotonic_ms()) {
		PGnotify *notice;

		if (poll(&p, 1, (int)left) > 0 && !PQ(consumeInput)(pg))
			return 0;
		notice = PQ(notifies)(pg);
		PQ(freemem)(notice);
		if (notice)
			return 1;
	}
	return 0;
}

/* Test whether a notification from another session arrives. The test needs two
 * sessions: a pooler may lose the notifications of other sessions, but deliver
 * those that a session sends to itself. */
int
rp__postgres_hears(void *db, void *other)
{
	struct postgres *s = db, *o = other;
	int came = rp__postgres_execute(s, "listen \"readpast.doctor\"",
					NULL) == 0 &&
		   rp__postgres_execute(o, "notify \"readpast.doctor\"",
					NULL) == 0 &&
		   wait_for_notice(s->pg);

	rp__postgres_execute(s, "unlisten \"readpast.doctor\"", NULL);
	return came;
}
