/*
 * filter.h - see filter.c.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#ifndef FILTER_H
#define FILTER_H

#include "cmd.h"

/* A set of states is a bit mask. */
#define IN(state) (1 << (state))
#define LIVE                                                                   \
	(IN(RP_STATE_SCHEDULED) | IN(RP_STATE_READY) | IN(RP_STATE_RUNNING))
#define KEPT (IN(RP_STATE_DONE) | IN(RP_STATE_DEAD) | IN(RP_STATE_CANCELLED))

/* Conditions that jobs must meet. NULL, or -1 for an age: any. */
struct filter {
	const char *queue, *kind, *key, *error, *state;
	int64_t older_ms;
	int states; /* set by check_states() */
	int all;    /* look at all jobs, not only at the first 10,000 */
};
#define FILTER_INIT                                                            \
	{                                                                      \
		.older_ms = -1                                                 \
	}
/* The options that fill it in, for a command's table. */
#define FILTER_OPTIONS(f)                                                      \
	{ "--queue", TEXT, &(f)->queue, "QUEUE", "jobs of this queue" },       \
		{ "--state", TEXT, &(f)->state, "S", "... in this state" },    \
		{ "--kind", TEXT, &(f)->kind, "K", "... of this kind" },       \
		{ "--key", TEXT, &(f)->key, "KEY",                             \
		  "... with this unique key" },                                \
		{ "--error", TEXT, &(f)->error, "TEXT",                        \
		  "... whose last error has this text in it" },                \
	{                                                                      \
		"--older", DURATION, &(f)->older_ms, "D",                      \
			"... enqueued so long ago, or longer"                  \
	}

/* Jobs that a search found; free with found_free(). */
struct found {
	int64_t *ids;
	int *states; /* each job's state when it was found */
	size_t count, room;
	int is_partial; /* not all jobs were searched */
};

/* Does it have any condition besides the state? */
int has_filter(const struct filter *f);
/* Does it have a condition that a list of one queue does not support? */
int is_narrow(const struct filter *f);
/* Check --state. `allowed`: the states it may name; `otherwise`: the states if
 * it is not given. 0, or an exit status after a complaint. */
int check_states(const struct cmd *cmd, struct filter *f, int allowed,
		 int otherwise);
/* Both return 0, or an exit status after a complaint. */
int find_jobs(struct cmd *cmd, const struct filter *f, struct found *ret);
int parse_ids(const struct cmd *cmd, int argc, char **argv, struct found *ret);
void found_free(struct found *found);
/* Read one of the jobs of a command line. Returns an exit status. */
typedef int look_fn(struct cmd *cmd, int64_t id, int first, int json);
int each_job(struct cmd *cmd, int argc, char **argv, look_fn *look);
/* Warn that a search was partial and jobs may be missing. */
void complain_of_partial(const struct found *found);

#endif
