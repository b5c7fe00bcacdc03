/*
 * why.h - the explanation why one job does not run.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#ifndef WHY_H
#define WHY_H

#include "filter.h"

struct answer {
	FILE *to;
	const rp_why *why;
	const rp_job *job;
	const char *reason; /* the reason in one word, for programs */
	/* the time at which the reason ends by itself; 0: no such time is
	 * known */
	int64_t until;
	struct fired fired; /* the schedule that made the job, if any */
};

/* why.c */
/* Write the explanation as text and, if `ret` is not NULL, as JSON. Returns the
 * text, which the caller frees, or NULL if memory ran out. */
char *explain_why(const rp_why *why, json_t **ret);
/* Print a time, and how far it is from now. */
void say_time(const struct answer *answer, int64_t at);

/* why_limits.c */
/* Returns 1 if the job waits until its group lets it into the ready line. */
int waits_for_group(const struct answer *answer);
/* Print the place of the job among the jobs that wait for its group. */
void say_place(const struct answer *answer);
/* Print for which job of its group the job waits. */
void say_group(struct answer *answer);
/* Print what keeps the job from starting now: the limit, the rate, or a
 * hold. */
void say_limits(struct answer *answer);

#endif
