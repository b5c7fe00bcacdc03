/*
 * change.h - the functions that the commands `cancel`, `retry`, `change` and
 * `purge` share; see change.c.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#ifndef CHANGE_H
#define CHANGE_H

#include "list.h"

#include "internal.h"

/* a command that changes jobs */
struct act {
	const char *event; /* the event's name in the history and in JSON */
	const char *done;  /* completes the message "12 jobs ..." */
	/* changes a list of jobs. NULL for the command `change`: it gives jobs
	 * the new values in `what` of struct change */
	rp_change_fn *all;
	/* changes one job. NULL for `change`, and for `purge`, which accepts
	 * no ids */
	int (*one)(rp_conn *, int64_t, const char *);
	/* completes the message "12 jobs not ...: REASON" */
	const char *past;
	const char *which; /* for messages: which jobs the command can change */
	/* states of the jobs that the command can change */
	int allowed;
	/* states of the jobs that are changed without --state */
	int otherwise;
	int keeps_order;  /* not 0: jobs are changed in the order in which
			   * `list` prints them, because a job may get a new
			   * place at the end of the ready line */
	int has_no_event; /* not 0: the command does not write an event for each
			   * job to the history */
};

extern const struct act cancels, retries, changes, purges;

/* the state of one run of a command */
struct change {
	struct cmd *cmd;
	const struct act *act;
	struct filter filter;
	int dry_run, json;
	rp_change what; /* the new values, for the command `change` */
};
#define CHANGE_INIT(cmd, act)                                                  \
	{                                                                      \
		(cmd), (act), FILTER_INIT, 0, 0, RP_CHANGE_INIT                \
	}
#define CHANGE_OPTIONS(c)                                                      \
	FILTER_OPTIONS(&(c)->filter),                                          \
		{ "--dry-run", FLAG, &(c)->dry_run, NULL,                      \
		  "change nothing: print how many match, and three of them" }, \
		JSON_OPTION(&(c)->json)

/* Change the jobs with the ids in argv or, without ids, the jobs that the
 * filter finds. Returns an exit status. */
int change_jobs(struct change *c, int argc, char **argv);
/* Change the jobs that the filter finds. The caller has checked the filter. */
int change_filtered(struct change *c);
/* Change the jobs that were found, in the order that suits the command. Prints
 * nothing. Returns 0 or RP_E*. */
int change_found(const struct change *c, struct found *jobs,
		 struct rp_changed *changed);
/* Print how many jobs were changed. Returns an exit status. */
int print_changed(const struct change *c, const struct rp_changed *changed);

#endif
