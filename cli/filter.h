/*
 * filter.h - select jobs by ids or by a filter; see filter.c.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#ifndef FILTER_H
#define FILTER_H

#include "cmd.h"

/* A set of states is a bit mask with the bit IN(state) for each state. */
#define IN(state) (1 << (state))
#define LIVE                                                                   \
	(IN(RP_STATE_SCHEDULED) | IN(RP_STATE_READY) | IN(RP_STATE_RUNNING) |  \
	 IN(RP_STATE_BLOCKED))
#define KEPT (IN(RP_STATE_DONE) | IN(RP_STATE_DEAD) | IN(RP_STATE_CANCELLED))

/* The conditions that jobs must meet. NULL, or -1 for older_ms, means no
 * condition. */
struct filter {
	const char *queue, *kind, *key, *group, *error, *state;
	const char *queues; /* a JSON list of the names of the only queues to
			     * search; NULL: search all queues */
	int64_t older_ms;
	int states; /* set by choose_states() */
	int all;    /* 1: search all jobs, not only the first 10,000 of each
		     * state */
};
#define FILTER_INIT                                                            \
	{                                                                      \
		.older_ms = -1                                                 \
	}
/* The options that set the conditions, for a command's table of options. */
#define FILTER_OPTIONS(f)                                                      \
	{ "--queue", TEXT, &(f)->queue, "QUEUE", "jobs of this queue" },       \
		{ "--state", TEXT, &(f)->state, "S", "jobs in this state" },   \
		{ "--kind", TEXT, &(f)->kind, "K", "jobs of this kind" },      \
		{ "--key", TEXT, &(f)->key, "KEY",                             \
		  "jobs with this unique key" },                               \
		{ "--group", TEXT, &(f)->group, "GROUP",                       \
		  "jobs of this group" },                                      \
		{ "--error", TEXT, &(f)->error, "TEXT",                        \
		  "jobs whose last error contains this text" },                \
	{                                                                      \
		"--older", DURATION, &(f)->older_ms, "D",                      \
			"jobs enqueued at least this long ago"                 \
	}

/* The jobs that a search found. Free them with found_free(). */
struct found {
	int64_t *ids;
	int *states; /* each job's state when it was found */
	size_t count, room;
	int is_partial; /* 1: only a part of the jobs was searched */
};

/* Returns 1 if the filter has a condition besides --state. */
int has_filter(const struct filter *f);
/* Print that the user gave neither ids nor a sufficient filter. Returns an exit
 * status. */
int no_filter(const struct cmd *cmd, const struct filter *f);
/* Returns 1 if the filter has a condition that rp_job_list() does not
 * support. */
int is_narrow(const struct filter *f);
/* Write a set of states in words, as in "dead or cancelled". */
#define STATE_NAMES 96 /* size in bytes of the longest text */
void name_states(char *to, size_t room, int states);
/* Returns the states of a list without --state. With --error, dead jobs are
 * listed, too, because most jobs that failed are dead. */
int listed_states(const struct filter *f);
/* Set f->states from f->state, the name of a state. See check_states() for
 * `allowed` and `otherwise`. Returns 0, or -1 if the name is not allowed. In
 * that case the allowed names are written to `words`, which has STATE_NAMES
 * bytes. */
int choose_states(struct filter *f, int allowed, int otherwise, char *words);
/* Check --state. `allowed`: the states that it may name. `otherwise`: the
 * states to use if --state is not given. Returns 0, or an exit status after
 * printing an error. */
int check_states(const struct cmd *cmd, struct filter *f, int allowed,
		 int otherwise);
/* Find the jobs of a filter, or parse ids from the command line. Both functions
 * return 0, or an exit status after printing an error. */
int find_jobs(struct cmd *cmd, const struct filter *f, struct found *ret);
int parse_ids(const struct cmd *cmd, int argc, char **argv, struct found *ret);
/* The same as find_jobs(), without printing. Returns 0 or RP_E*. */
int find_matching(rp_conn *conn, const struct filter *f, struct found *ret);
void found_free(struct found *found);
/* A look_fn reads and prints one job. each_job() calls it for each job that the
 * ids or the filter on the command line select. Both functions return an exit
 * status. */
typedef int look_fn(struct cmd *cmd, int64_t id, int first, int json);
int each_job(struct cmd *cmd, int argc, char **argv, look_fn *look);
/* Warn that the search covered only a part of the jobs. */
void complain_of_partial(const struct found *found);

#endif
