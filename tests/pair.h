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
	/* the saved files of both databases (only on SQLite) */
	void *model_from, *model_to;
	char *rows; /* all rows of the saved source as text */
	struct jobs *jobs;
	rp_schedules *schedules;
};

/* Read the two kinds of databases from the arguments. Call this first in
 * main(). */
void pairs_of(int argc, char **argv);
/* The schedules of the sources that are made from now on have this time zone.
 * Without this call they have Europe/Berlin. */
void schedules_in(const char *zone);
struct pair *make_pair(void);
void free_pair(struct pair *pair);
int setup_pair(void **state);
int teardown_pair(void **state);

/* save_pair() saves the state of both databases, and restore_pair() restores
 * it. */
void save_pair(struct pair *pair);
void restore_pair(struct pair *pair);

int is_paused(rp_conn *conn, const char *queue);
/* Check that a refused copy has not changed the source by a byte. */
void expect_source_untouched(const struct pair *pair);
/* Check that a complete copy has put each job of the source into the target
 * once. expect_copied() checks that the source still has the jobs, and
 * expect_moved() that it no longer has them. */
void expect_copied(const struct pair *pair, int64_t shift);
void expect_moved(const struct pair *pair, int64_t shift);

#define PAIR(function)                                                         \
	cmocka_unit_test_setup_teardown(function, setup_pair, teardown_pair)

#endif
