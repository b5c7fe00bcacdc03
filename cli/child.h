/*
 * child.h - see child.c.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#ifndef CHILD_H
#define CHILD_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "readpast.h"

/* The descriptor on which a handler hands over its result. */
#define CHILD_RESULT 3
#define CHILD_STREAMS 4 /* 0 to 2, and that one */

#define CHILD_TAIL RP_MOST_ERROR /* bytes kept of standard error */

/* the process that kills the handlers if the worker itself is killed */
struct warden;

/* Start the warden. Call this before starting a thread or opening a
 * database. `slots`: how many handlers may run at once. Returns NULL if fork
 * fails. */
struct warden *warden_start(size_t slots);
void warden_stop(struct warden *warden);

/* the answer of asked(): may the handler go on, or shall it be stopped? */
enum child_end { CHILD_GO_ON, CHILD_STOP };

struct child {
	/* what to run */
	const char *file; /* searched in PATH */
	char **argv, **envp;
	const void *input; /* its standard input */
	size_t input_size;
	int64_t timeout_ms;      /* 0: none */
	int (*asked)(void *ctx); /* called regularly; returns CHILD_GO_ON or
				  * CHILD_STOP */
	/* Called with what the child writes to standard error and to
	 * CHILD_RESULT, and to standard output if passes_output is set. `fd`
	 * tells which of them. */
	void (*wrote)(void *ctx, int fd, const char *text, size_t n);
	int passes_output; /* not 0: pass standard output to wrote(), too */
	int has_no_result; /* not 0: the child finds CHILD_RESULT closed */
	void *ctx;
	/* results */
	int errnum;                /* 0, or why it could not be started */
	int status;                /* exit status, as from waitpid() */
	int timed_out;             /* was it stopped after timeout_ms? */
	int stopped;               /* was it stopped because of asked()? */
	char tail[CHILD_TAIL + 1]; /* the end of its standard error */
	size_t tail_size;
};

/* Run the child to its end, in a process group of its own. */
void child_run(struct warden *warden, struct child *child);

#endif
