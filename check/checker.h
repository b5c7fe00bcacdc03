/*
 * checker.h - check from the records of all clients that the promises of
 * docs/design.md were kept; see checker.c.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#ifndef CHECKER_H
#define CHECKER_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct checker;

/* The promises of docs/design.md that the checker examines. */
enum promise { P1, P2, P3, P6, P7, P10, P11, P12, P13, PROMISES };
extern const char *const promise_names[PROMISES];

/* A function that is called for each violation. `text` is one line without a
 * newline. */
typedef void finding_fn(void *ctx, enum promise promise, const char *text);

struct verdicts {
	int64_t events, jobs, claims, settled, clients;
	int64_t broken[PROMISES];
	int64_t gaps; /* number of claims that the history does not contain */
	int64_t incomplete; /* number of lines that end with GIVEN_UP; their
			     * events are missing */
	/* not 0: the report names this promise. It always names P1, P2, P3 and
	 * P6. It names P13 after checker_groups_audited(), and each other
	 * promise if the history has events that concern it. */
	int examined[PROMISES];
	/* An instant is a time that a schedule names. `instants`: how many
	 * instants have fired. `schedules`: how many schedules these instants
	 * belong to. */
	int64_t instants, schedules;
	/* the longest time from an instant to the enqueue of its job */
	int64_t latest_ms;
	/* not 0: P1 was checked, because it is known which jobs are still in
	 * the database */
	int audited;
};

/* The end of a line that its client could not write completely: the control
 * character CAN, which no JSON contains, and a newline. */
#define GIVEN_UP "\030\n"
#define GIVEN_UP_SIZE (sizeof(GIVEN_UP) - 1)

struct checker *checker_new(void);
void checker_free(struct checker *checker);

/* Add a file of events. Returns 0, or -1 on failure. In that case `why` says
 * what is wrong, and in which line. */
int checker_read(struct checker *checker, FILE *file, const char *name,
		 char *why, size_t room);

/* Call checker_left() for each job that is still in the database, and then
 * checker_audited() once. Without checker_audited(), the checker cannot report
 * lost jobs, because a job that never ended may still be in the database. */
int checker_left(struct checker *checker, int64_t id);
void checker_audited(struct checker *checker);

/* A group is stuck if some of its jobs wait, but none runs and none can be
 * claimed. Call checker_group() for each stuck group, and then
 * checker_groups_audited() once. Without checker_groups_audited(), P13 is not
 * checked. */
int checker_group(struct checker *checker, const char *name);
void checker_groups_audited(struct checker *checker);

/* Check all the events that were added. Returns -1 if memory ran out. */
int checker_run(struct checker *checker, finding_fn *found, void *ctx,
		struct verdicts *ret);

#endif
