/*
 * parent.h - run a measurement in a child process, in a temporary directory.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#ifndef BENCH_PARENT_H
#define BENCH_PARENT_H

/* Make a directory in BENCH_DIR, or else in TMPDIR, or else in /tmp. Prints an
 * error and returns NULL on failure. */
char *directory_make(void);
/* Remove the directory and the files in it. */
void directory_remove(const char *path);

/* Call measure(ctx) in a child. If a signal ends this process, the child is
 * killed, too. Returns the exit status. */
int measure_in_child(void (*measure)(void *ctx), void *ctx);

#endif
