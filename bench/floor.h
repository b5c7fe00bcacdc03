/*
 * floor.h - the raw floor: a queue as one writes it by hand against SQLite.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#ifndef BENCH_FLOOR_H
#define BENCH_FLOOR_H

#include <readpast.h>
#include <stddef.h>

struct floor;

/* Open the database, which has the library's schema and a queue with the id
 * 1, for batches of `n`. `synchronous` is "normal" or "full". */
struct floor *floor_open(const char *path, const char *synchronous, size_t n);
void floor_close(struct floor *f);
rp_conn *floor_conn(struct floor *f); /* the library, to measure the floor */

/* A connection such as a caller has of its own, with SQLite's busy timeout. */
void *floor_connect(const char *path, const char *synchronous);
void floor_disconnect(void *native);

/* Each is one transaction and returns how many jobs it was about. Claimed jobs
 * are held in `f` until they are completed, or settled by the next turn. */
size_t floor_enqueue(struct floor *f, const void *payload, size_t size);
size_t floor_claim(struct floor *f);
size_t floor_complete(struct floor *f);
size_t floor_turn(struct floor *f);

/* Put `n` jobs at the end of the line, as fast as can be; with `clear` they are
 * all that is left in it. Leaves an empty log behind. */
void floor_fill(const char *path, size_t n, int clear);

#endif
