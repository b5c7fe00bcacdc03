/*
 * worker_pace.c - how often a worker asks the database.
 *
 * A worker that claims each job as soon as it is committed makes a commit for
 * each, and competes with the producer for the write lock. So while jobs keep
 * coming it lets GATHER_US go by between its turns, and claims what came
 * meanwhile. It need not where there are more jobs than it asked for; and it
 * does not help where the next job comes only after the last one was started.
 * A job that comes after a pause is claimed at once in any case.
 *
 * A look at a thousand queues takes a millisecond, and others may commit all
 * the time to queues that are not this worker's: so a look that found nothing
 * is repeated only after some times as long as it took.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "worker.h"

#include <time.h>

#define GATHER_US 2000
#define ALONE_US 100000 /* so long it is not tried again if it did not help */
/* Looks take a sixteenth of the time at most, unless they are very slow. */
#define REST_TIMES 15
#define MOST_US 50000

/* Before a turn: let the jobs gather that come. */
void
rp__pace_gather(struct pace *pace)
{
	int64_t us = pace->gather_until - rp__monotonic_us();
	struct timespec t = { 0, us * 1000 };

	pace->gathered = us > 0 && us <= GATHER_US;
	if (pace->gathered)
		nanosleep(&t, NULL);
	pace->gather_until = 0;
}

/* After a turn that was to claim. */
void
rp__pace_claimed(struct pace *pace, size_t jobs, size_t wanted)
{
	int64_t now = rp__monotonic_us();

	if (pace->gathered && jobs < 2)
		pace->alone_until = now + ALONE_US;
	if (jobs > 0 && jobs < wanted && now >= pace->alone_until)
		pace->gather_until = now + GATHER_US;
}

/* After a look. */
void
rp__pace_looked(struct pace *pace, int64_t began_us, int found)
{
	int64_t now = rp__monotonic_us();
	int64_t us = REST_TIMES * (now - began_us);

	pace->look_from = found ? 0 : now + (us < MOST_US ? us : MOST_US);
}

/* For how long another look is not worth its while. */
int64_t
rp__pace_rest_us(const struct pace *pace)
{
	int64_t us = pace->look_from - rp__monotonic_us();

	return us > 0 ? us : 0;
}
