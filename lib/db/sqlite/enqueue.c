/*
 * enqueue.c - enqueue jobs in a SQLite database.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "sqlite.h"

/* Choose the cheapest of the verbs that can enqueue the jobs. */
static enum rp_verb
choose(const struct rp_enqueue *jobs)
{
	if (jobs->unique)
		return RP_V_ENQUEUE_UNIQUE;
	for (size_t i = 0; i < jobs->count; i++)
		if (jobs->params[i * ENQUEUE_PARAMS + ENQUEUE_GROUP_KEY].type !=
		    RP_NULL)
			return RP_V_ENQUEUE_GROUPED;
	return RP_V_ENQUEUE;
}

int
rp__sqlite_enqueue(void *db, struct rp_enqueue *jobs, rp_error *error)
{
	return rp__sqlite_run(db, choose(jobs), jobs->params, jobs->count,
			      rp__take_added, jobs, error);
}
