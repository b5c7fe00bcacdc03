/*
 * floor.h - the raw floor: a queue written by hand against SQLite.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#ifndef BENCH_FLOOR_H
#define BENCH_FLOOR_H

#include <readpast.h>
#include <stddef.h>

struct floor;

/* Open a database that has the library's schema and a queue with id 1, for
 * batches of `n`. `synchronous` is "normal" or "full". */
struct floor *floor_open(const char *path, const char *synchronous, size_t n);
void floor_close(struct floor *f);
rp_conn *floor_conn(struct floor *f); /* a connection of the library, to
				       * measure the floor's work */

/* A plain connection, as a caller would open it, with SQLite's busy timeout. */
void *floor_connect(const char *path, const char *synchronous);
void floor_disconnect(void *native);

/* Each of these runs one transaction, and returns the number of jobs in it.
 * `f` keeps the claimed jobs until they are completed, or settled by the
 * next floor_turn(). */
size_t floor_enqueue(struct floor *f, const void *payload, size_t size);
size_t floor_claim(struct floor *f);
size_t floor_complete(struct floor *f);
size_t floor_turn(struct floor *f);

/* Put `n` jobs at the end of the ready line, quickly. `clear`: first remove
 * all other jobs. Afterwards the -wal file is empty. */
void floor_fill(const char *path, size_t n, int clear);

#endif
