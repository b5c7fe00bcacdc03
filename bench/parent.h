/*
 * parent.h - measure in a child, in a directory that does not outlive it.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#ifndef BENCH_PARENT_H
#define BENCH_PARENT_H

/* A new directory in BENCH_DIR, TMPDIR or /tmp; NULL: it said why not. */
char *directory_make(void);
/* With the files in it. */
void directory_remove(const char *path);

/* Call measure(ctx) in a child, which a signal to this process ends. The exit
 * status. */
int measure_in_child(void (*measure)(void *ctx), void *ctx);

#endif
