/*
 * rows.h - read the whole content of a database as text, to compare it with an
 * earlier state or with another database.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#ifndef ROWS_H
#define ROWS_H

#include "check.h"

/* Return the content of the database as text, with a line for each row of each
 * table. Free the text. */
char *rows_of(rp_conn *conn);

/* All jobs, live and kept. `lane` names a job's queue, priority and class.
 * `seq` is the number that gives the job its place in the ready line, or -1 if
 * the job is not in the line. Two databases with the same jobs may store
 * different numbers. `text` has all fields but the id and this number. */
struct jobs {
	size_t count;
	struct {
		int64_t id, seq;
		char *lane, *text;
	} rows[200];
};
struct jobs *jobs_of(rp_conn *conn);
void free_jobs(struct jobs *jobs);
/* Assert that both lists have the same jobs in the same order in each lane. The
 * ids of `got` must be larger by `shift`. */
void expect_same_jobs(const struct jobs *expected, const struct jobs *got,
		      int64_t shift);

#endif
