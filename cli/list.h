/*
 * list.h - print lists of jobs; see list.c.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#ifndef LIST_H
#define LIST_H

#include "filter.h"

/* Print jobs as a table or as JSON lines. Both functions return 0, or an exit
 * status after printing an error. With `with_queue` the table has a column with
 * the queue. */
int print_list(struct cmd *cmd, const rp_batch *batch, int json);
int print_found(struct cmd *cmd, const struct found *found, size_t most,
		int with_queue, int json);
/* For a dry run, print how many jobs would be changed, and the first three of
 * them. `done`: the word for the change, such as "cancelled". */
int print_dry_run(struct cmd *cmd, const struct found *found, const char *done,
		  int json);

#endif
