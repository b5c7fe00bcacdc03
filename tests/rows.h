/*
 * rows.h - all that a database has, to be compared with what it had before, or
 * with what another one has.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#ifndef ROWS_H
#define ROWS_H

#include "check.h"

/* What a database has, as text: a line for each row of each of its tables. */
char *rows_of(rp_conn *conn); /* free it */

/* The jobs of a database, live and kept, in all their fields. Places in line
 * are in the order of the claims, for the numbers themselves may be others. */
struct jobs {
	size_t count;
	struct {
		int64_t id, seq;
		char *lane, *text;
	} rows[200];
};
struct jobs *jobs_of(rp_conn *conn);
void free_jobs(struct jobs *jobs);
/* The same, but for ids that are larger by `shift`. */
void expect_same_jobs(const struct jobs *expected, const struct jobs *got,
		      int64_t shift);

#endif
