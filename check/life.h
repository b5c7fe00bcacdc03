/*
 * life.h - the events that the clients have recorded (the history), and the
 * check of all events of one job.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#ifndef LIFE_H
#define LIFE_H

#include "checker.h"

enum kind {
	ENQUEUED,
	CLAIMED,
	STARTED,
	SETTLING,
	SETTLED,
	LOST,
	CANCELLED,
	RETRIED,
	CHANGED,
	PURGED,
	LEFT,
	AUDITED,
	KINDS
};

enum verdict { V_DONE, V_FAIL, V_DEAD, V_RELEASE, V_EXTEND, VERDICTS };
extern const char *const verdict_names[VERDICTS];

/* One event of the history. The struct is small, because a history may have ten
 * million events. */
struct event {
	int64_t id, claim, at, asked, lease_us;
	int32_t attempt, max_attempts;
	unsigned char kind, verdict;
	unsigned char ok;   /* SETTLED: not 0 if the verdict was accepted */
	unsigned char dead; /* SETTLED: not 0 if the job is dead now */
	unsigned char replaced, existed;
};

/* The events of one job: first its claims, by claim number, and then all other
 * events. */
struct life {
	const struct event *events;
	size_t count, claims;
	finding_fn *found;
	void *ctx;
	struct verdicts *sum;
};

/* Check the events of a job. `audited`: not 0 if the history also lists the
 * jobs that are still in the database. Only in that case can a lost job be
 * found. A lost job has not ended, and is not in this list. */
void life_check(struct life *life, int audited);

#endif
