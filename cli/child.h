/*
 * child.h - run a child process, such as a handler of the command `work`; see
 * child.c.
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

/* The descriptor to which a handler writes its result. */
#define CHILD_RESULT 3
#define CHILD_STREAMS 4 /* descriptors 0 to 2 and CHILD_RESULT */

#define CHILD_TAIL RP_MOST_ERROR /* bytes kept from the end of stderr */

/* the process that kills the handlers if the worker itself is killed */
struct warden;

/* Start the warden. Call this before starting a thread or opening a database.
 * `slots`: the largest number of handlers that run at the same time. Returns
 * NULL if fork fails. */
struct warden *warden_start(size_t slots);
void warden_stop(struct warden *warden);

/* The values that the callback `choose_end` of struct child can return.
 * CHILD_GO_ON lets the child continue, and CHILD_STOP stops it. */
enum child_end { CHILD_GO_ON, CHILD_STOP };

struct child {
	/* The program, its arguments and its environment. */
	const char *file; /* a program name, searched in PATH, or a path */
	char **argv, **envp;
	const void *input; /* the bytes of the child's standard input */
	size_t input_size;
	int64_t timeout_ms;           /* 0: no limit */
	int (*choose_end)(void *ctx); /* called regularly; returns CHILD_GO_ON
				       * or CHILD_STOP */
	/* Called with the text that the child writes to standard error or to
	 * CHILD_RESULT. If passes_output is set, it is also called for standard
	 * output. `fd` is the descriptor to which the child wrote. */
	void (*take_output)(void *ctx, int fd, const char *text, size_t n);
	int passes_output; /* not 0: pass standard output to take_output(), too
			    */
	int has_no_result; /* not 0: CHILD_RESULT is closed in the child */
	void *ctx;
	/* Set by child_run(). */
	int64_t started_ms; /* when the child was started (monotonic ms) */
	int pidfd;          /* of the child; -1 after its end */
	/* The results. */
	int errnum;    /* 0, or the errno that says why the child
			* was not started, or could not be watched */
	int has_begun; /* 1: the child has begun to run the command.
			* If errnum is not 0, it was killed */
	int status;    /* exit status, as waitpid() returns it */
	int timed_out; /* 1: the child was stopped after
			* timeout_ms */
	int stopped;   /* 1: the child was stopped because choose_end()
			* returned CHILD_STOP */
	char tail[CHILD_TAIL + 1]; /* the end of the child's standard error */
	size_t tail_size;
};

/* Returns whether the child is to end, or is ending, because it has run for
 * timeout_ms. While take_output() runs, the child is not checked, so a
 * take_output() that waits calls this. */
int child_is_overdue(const struct child *child);
/* Run the child to its end, in a process group of its own. */
void child_run(struct warden *warden, struct child *child);

#endif
