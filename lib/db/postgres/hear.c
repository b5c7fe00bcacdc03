/*
 * hear.c - listen on a channel, read notifications, and test whether they
 * arrive.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "postgres.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>

/* The payload of the notification that a session sends to itself. */
#define ALIVE "alive"
#define TRIP_MS 300 /* a notification that takes longer (ms) counts as lost */

int
rp__postgres_listen(struct postgres *s, const char *channel, rp_error *error)
{
	char sql[2 * CHANNEL + 40];

	snprintf(sql, sizeof(sql), "listen \"%s\"; notify \"%s\", '" ALIVE "'",
		 channel, channel);
	return rp__postgres_execute(s, sql, error);
}

int
rp__postgres_take_notices(struct postgres *s, const char *channel,
			  int *ret_alive)
{
	PGnotify *notice;
	int notified = 0;

	for (; (notice = PQ(notifies)(s->pg)); PQ(freemem)(notice)) {
		if (strcmp(notice->relname, channel) != 0)
			continue;
		if (strcmp(notice->extra, ALIVE) != 0)
			notified = 1;
		else if (ret_alive)
			*ret_alive = 1;
	}
	return notified;
}

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

/* Test whether a notification from another session arrives. `readpast doctor`
 * uses this. The test needs two sessions: a pooler may lose the notifications
 * of other sessions, but deliver those that a session sends to itself. */
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
