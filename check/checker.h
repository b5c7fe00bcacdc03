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

/* The promises of docs/design.md that the checker examines. P7 is checked for
 * schedules, and the others for jobs. */
enum promise { P1, P2, P3, P6, P7, PROMISES, PROMISES_OF_JOBS = P7 };
extern const char *const promise_names[PROMISES];

/* A function that is called for each violation. `text` is one line without a
 * newline. */
typedef void finding_fn(void *ctx, enum promise promise, const char *text);

struct verdicts {
	int64_t events, jobs, claims, settled, clients;
	int64_t broken[PROMISES];
	int64_t gaps; /* number of claims that are missing in the history */
	/* The number of instants that have fired (an instant is a time that a
	 * schedule names), and the number of their schedules. If there are
	 * none, P7 was not checked. */
	int64_t instants, schedules;
	int64_t latest_ms; /* the longest delay between an instant and its fire
			    */
	/* not 0: the remaining jobs are known, so P1 was checked */
	int audited;
};

struct checker *checker_new(void);
void checker_free(struct checker *checker);

/* Add a file of events. Returns 0, or -1 after writing into `why` what is wrong
 * and in which line. */
int checker_read(struct checker *checker, FILE *file, const char *name,
		 char *why, size_t room);

/* Call checker_left() for each job that is still in the database, and then
 * checker_audited() once. Without checker_audited(), the checker cannot report
 * lost jobs, because a job that never ended may still be in the database. */
int checker_left(struct checker *checker, int64_t id);
void checker_audited(struct checker *checker);

/* Check all the events that were added. */
void checker_run(struct checker *checker, finding_fn *found, void *ctx,
		 struct verdicts *ret);

#endif
