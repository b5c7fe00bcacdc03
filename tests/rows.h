/*
 * rows.h - the whole content of a database, to compare it with an earlier state
 * or with another database.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#ifndef ROWS_H
#define ROWS_H

#include "check.h"

/* The content as text: a line for each row of each table. */
char *rows_of(rp_conn *conn); /* free it */

/* all jobs, live and kept, with all fields. A place in the ready line is
 * given as a rank, because the sequence numbers may differ. */
struct jobs {
	size_t count;
	struct {
		int64_t id, seq;
		char *lane, *text;
	} rows[200];
};
struct jobs *jobs_of(rp_conn *conn);
void free_jobs(struct jobs *jobs);
/* Expect the same jobs, except that ids are larger by `shift`. */
void expect_same_jobs(const struct jobs *expected, const struct jobs *got,
		      int64_t shift);

#endif
