/*
 * pair.h - two databases for a copy: a source that has one of everything, and a
 * target.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#ifndef PAIR_H
#define PAIR_H

#include "rows.h"

struct pair {
	struct db *from, *to;
	void *model_from, *model_to; /* SQLite: as it was when it was saved */
	char *rows;                  /* the source's, likewise */
	struct jobs *jobs;
};

/* main() calls it first: the kinds of the two are its arguments. */
void pairs_of(int argc, char **argv);
struct pair *make_pair(void);
void free_pair(struct pair *pair);
int setup_pair(void **state);
int teardown_pair(void **state);

/* Both as they are now, to be made so again. */
void save_pair(struct pair *pair);
void restore_pair(struct pair *pair);

int is_paused(rp_conn *conn, const char *queue);
/* A copy that was refused: not a byte of the source is another. */
void expect_source_untouched(const struct pair *pair);
/* A copy that is done: every job that was in the source is in the target, once;
 * and still in the source, or no more. */
void expect_copied(const struct pair *pair, int64_t shift);
void expect_moved(const struct pair *pair, int64_t shift);

#define PAIR(function)                                                         \
	cmocka_unit_test_setup_teardown(function, setup_pair, teardown_pair)

#endif
