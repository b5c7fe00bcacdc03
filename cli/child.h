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

#define CHILD_TAIL RP_MOST_ERROR /* bytes kept of standard error */

/* A process that kills the handlers if the worker itself is killed. */
struct warden;

/* Call before any thread is started and any database opened. `slots`: how many
 * handlers may run at once. NULL: fork failed. */
struct warden *warden_start(size_t slots);
void warden_stop(struct warden *warden);

/* Whether a handler goes on or is stopped early. */
enum child_end { CHILD_GO_ON, CHILD_STOP };

struct child {
	/* what to run */
	const char *file; /* searched in PATH */
	char **argv, **envp;
	const void *input; /* its standard input */
	size_t input_size;
	int64_t timeout_ms;      /* 0: none */
	int (*asked)(void *ctx); /* polled: shall the handler be stopped? */
	/* Called with what it writes to standard error, and to standard output
	 * if passes_output is set. `fd` says which. */
	void (*wrote)(void *ctx, int fd, const char *text, size_t n);
	int passes_output; /* pipe its standard output, see wrote() */
	void *ctx;
	/* results */
	int errnum;                /* it could not be started */
	int status;                /* as waitpid() returns it */
	int timed_out;             /* ended because of timeout_ms */
	int stopped;               /* ended because asked() said so */
	char tail[CHILD_TAIL + 1]; /* the end of its standard error */
	size_t tail_size;
};

/* Run the child to its end, in a process group of its own. */
void child_run(struct warden *warden, struct child *child);

#endif
