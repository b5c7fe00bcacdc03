/*
 * life.h - the events that the clients have recorded (the history), and the
 * check of all events of one job.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#ifndef LIFE_H
#define LIFE_H

#include "findings.h"

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
	LIMITS,
	KINDS
};

enum verdict { V_DONE, V_FAIL, V_DEAD, V_RELEASE, V_EXTEND, VERDICTS };
extern const char *const verdict_names[VERDICTS];

/* One event of the history. The struct is small, because a history may have ten
 * million events. */
struct event {
	int64_t id, claim, at, asked, lease_us;
	int32_t attempt, max_attempts;
	uint32_t name; /* number of the queue or group; 0: not recorded */
	unsigned kind : 4, verdict : 3;
	unsigned ok : 1;   /* for SETTLED: 1 if the verdict was accepted */
	unsigned dead : 1; /* for SETTLED: 1 if the job became dead */
	unsigned replaced : 1, existed : 1;
	unsigned delayed : 1; /* for ENQUEUED: 1 if the job had a delay or a
			       * run_at */
	unsigned priority : 8;
};

/* The events of one job: first its claims, by claim number, and then all other
 * events. */
struct life {
	const struct event *events;
	size_t count, claims;
	const struct findings *findings;
};

/* Check the events of a job. `audited`: not 0 if the history also lists the
 * jobs that are still in the database. A job is lost if it has not ended and is
 * not in this list. If `audited` is 0, lost jobs are not reported. */
void life_check(struct life *life, int audited);

/* Return the time until which a claim surely held this job. The claim held the
 * job from the time when the claim was answered. If the returned time is not
 * later, then there is no time at which the claim surely held the job. Call
 * life_check() first. */
int64_t life_held_until(const struct life *life, const struct event *claim);

#endif
