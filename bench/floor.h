/*
 * floor.h - a minimal queue in SQLite whose statements are written by hand. The
 * benchmarks compare the library with it.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#ifndef BENCH_FLOOR_H
#define BENCH_FLOOR_H

#include <readpast.h>
#include <stddef.h>

struct floor;

/* Open a database for batches of `n` jobs. The database has the library's
 * schema, and a queue with the id 1. `synchronous` is "normal" or "full". */
struct floor *floor_open(const char *path, const char *synchronous, size_t n);
void floor_close(struct floor *f);
/* Return a handle of the library on the connection of `f`. Only rp__measure()
 * uses it, to read the cost of the hand-written statements. */
rp_conn *floor_conn(struct floor *f);

/* Open a connection to SQLite as an application would, with a busy timeout. */
void *floor_connect(const char *path, const char *synchronous);
void floor_disconnect(void *native);

/* Each of these functions runs one transaction, and returns the number of jobs
 * in it. `f` stores the claimed jobs until floor_complete() completes them, or
 * the next floor_turn() settles them. */
size_t floor_enqueue(struct floor *f, const void *payload, size_t size);
size_t floor_claim(struct floor *f);
size_t floor_complete(struct floor *f);
size_t floor_turn(struct floor *f);

/* Put `n` jobs at the end of the ready line, quickly. If `clear` is not 0,
 * first remove all other jobs. Afterwards the -wal file is empty. */
void floor_fill(const char *path, size_t n, int clear);

#endif
