/*
 * pair.h - make two databases for tests of rp_copy(): a source with jobs of all
 * kinds, and a target.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#ifndef PAIR_H
#define PAIR_H

#include "rows.h"

struct pair {
	struct db *from, *to;
	void *model_from, *model_to; /* on SQLite: the saved files */
	char *rows;                  /* text of all rows of the saved source */
	struct jobs *jobs;
	rp_schedules *schedules;
};

/* Prepare the two databases. Call this first in main(). The arguments name the
 * two kinds of databases. */
void pairs_of(int argc, char **argv);
struct pair *make_pair(void);
void free_pair(struct pair *pair);
int setup_pair(void **state);
int teardown_pair(void **state);

/* save_pair() saves the state of both databases, and restore_pair() restores
 * it. */
void save_pair(struct pair *pair);
void restore_pair(struct pair *pair);

int is_paused(rp_conn *conn, const char *queue);
/* After a refused copy, check that the source has not changed by a byte. */
void expect_source_untouched(const struct pair *pair);
/* Check, after a complete copy, that each job of the source is in the target
 * once. expect_copied() checks that the jobs are still in the source, and
 * expect_moved() that they no longer are. */
void expect_copied(const struct pair *pair, int64_t shift);
void expect_moved(const struct pair *pair, int64_t shift);

#define PAIR(function)                                                         \
	cmocka_unit_test_setup_teardown(function, setup_pair, teardown_pair)

#endif
