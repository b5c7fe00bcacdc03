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

#define CHILD_TAIL RP_MOST_ERROR /* what is kept of a failure */

/* Who kills the handlers when the worker itself is killed. */
struct warden;

/* Before any thread is started and any database opened. `slots`: how many
 * handlers may run at a time. NULL: no more processes. */
struct warden *warden_start(size_t slots);
void warden_stop(struct warden *warden);

/* Why a child is to end before it does so by itself. */
enum child_end { CHILD_GO_ON, CHILD_STOP };

struct child {
	/* what to run */
	const char *file; /* searched in PATH */
	char **argv, **envp;
	const void *input; /* its standard input */
	size_t input_size;
	int64_t timeout_ms;      /* 0: none */
	int (*asked)(void *ctx); /* now and then: shall it be stopped? */
	void *ctx;
	/* what became of it */
	int errnum;                /* it could not be started */
	int status;                /* as waitpid() has it */
	int timed_out;             /* ended because of timeout_ms */
	int stopped;               /* ended because asked() said so */
	char tail[CHILD_TAIL + 1]; /* the end of its standard error */
	size_t tail_size;
};

/* Run it to its end, in a process group of its own. */
void child_run(struct warden *warden, struct child *child);

#endif
