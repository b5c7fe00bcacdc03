/*
 * enqueue.c - enqueue jobs in a SQLite database.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "sqlite.h"

int
rp__sqlite_enqueue(void *db, struct rp_enqueue *jobs, rp_error *error)
{
	return rp__sqlite_run(
		db, jobs->unique ? RP_V_ENQUEUE_UNIQUE : RP_V_ENQUEUE,
		jobs->params, jobs->count, rp__take_added, jobs, error);
}
