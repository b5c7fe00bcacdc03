/*
 * work.h - what cmd_work.c, handler.c and output.c share.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#ifndef WORK_H
#define WORK_H

#include <stdatomic.h>

#include "child.h"
#include "cmd.h"

struct work {
	struct cmd *cmd;
	char **queues;
	int queues_count;
	char **command;  /* ended by a NULL */
	int in_argument; /* {} is somewhere in it */
	char *file;      /* where the command was found */
	char url[4200]; /* READPAST_DB for handlers: the path absolute; room for
			   two names of 1024 bytes, one of them escaped */
	int64_t threads, lease_ms, timeout_ms, release_delay_ms, max_jobs;
	int64_t grace_ms;
	int drain;
	const char *log;
	struct history *log_json;
	struct warden *warden;
	rp_worker *worker;

	/* by the threads that run handlers */
	_Atomic int64_t running, released;
	atomic_int output_errnum; /* what ended the worker, see output.c */

	/* for the observer, which is called by one thread at a time */
	rp_worker_counts seen;
	int64_t shown_at, began_at;
	int progress; /* a line of it is on the terminal */
};

/* handler.c: an rp_handler; ctx is the struct work */
int handle_job(rp_task *task, const rp_job *job, void *ctx);

/* output.c: 0, or why handlers cannot write to standard output; and the line
 * that says so. FAILED */
int output_error(void);
int complain_of_output(int errnum, const char *consequence);

/* cmd_work.c: how many signals there were, and when the first one came; 0:
 * there was none */
int signals_seen(void);
int64_t first_signal_us(void);

#endif
