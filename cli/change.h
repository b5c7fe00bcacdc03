/*
 * change.h - the functions that cancel, retry, change and purge share; see
 * change.c.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#ifndef CHANGE_H
#define CHANGE_H

#include "list.h"

#include "internal.h"

/* what a command does with jobs */
struct act {
	const char *event; /* the event's name in the history and in JSON */
	const char *done;  /* past participle for "12 jobs ..." */
	rp_change_fn *all; /* changes a list of jobs; NULL: struct change says
			    * how */
	int (*one)(rp_conn *, int64_t,
		   const char *); /* changes one job; NULL: struct change says
				   * how, or the command accepts no ids */
	const char *past;         /* participle for jobs that were refused */
	const char *which;        /* the jobs that the command can change */
	int allowed;              /* states that the command can change */
	int otherwise;            /* states of the jobs it changes if --state
				   * is not given */
	int has_no_event; /* the history records no event for each job */
};

/* the state of one run of a command */
struct change {
	struct cmd *cmd;
	const struct act *act;
	struct filter filter;
	int dry_run, json;
	rp_change what; /* of the command `change` */
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

/* Change the jobs with the ids in argv, or those that the filter finds. Returns
 * an exit status. */
int change_jobs(struct change *c, int argc, char **argv);
/* Change the jobs that the filter finds, without checking its options. */
int change_filtered(struct change *c);
/* Print how many jobs were changed. Returns an exit status. */
int print_changed(const struct change *c, const struct rp_changed *changed);

#endif
