/*
 * demo.h - the option --demo: a scratch database with a small load.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#ifndef DEMO_H
#define DEMO_H

#include <sys/types.h>

#include "cmd.h"

struct demo {
	pid_t pid; /* the process that enqueues and runs jobs */
	char folder[1024];
	char url[3 * 1024 + 20]; /* see rp__url_escape() */
};

/* Make a database in a new folder, and start a process that enqueues and runs
 * jobs in it. The struct must be zeroed. Returns 0, or an exit status after
 * printing an error. Call demo_end() in both cases. Call demo_start() before
 * any thread is started, because it forks. */
int demo_start(struct demo *demo);
/* End this process and delete the database. */
void demo_end(struct demo *demo);

#endif
