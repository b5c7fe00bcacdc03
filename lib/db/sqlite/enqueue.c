/*
 * enqueue.c - enqueue jobs in a SQLite database.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "sqlite.h"

#include <string.h>

static int
is_same(const struct rp_value *a, const struct rp_value *b)
{
	return a->type == b->type && a->size == b->size &&
	       memcmp(a->data, b->data, a->size) == 0;
}

/* Number the jobs of each group, from 1. A call has at most 500 jobs, so it is
 * fast enough to compare each job with those before it. SQL could number them
 * with row_number(), but that takes a third of the enqueue's time. Returns 1 if
 * any job has a group. */
static int
number_groups(struct rp_value *params, size_t count)
{
	int grouped = 0;

	for (size_t i = 0; i < count; i++) {
		struct rp_value *job = params + i * ENQUEUE_PARAMS;
		const struct rp_value *other = job;
		int64_t nth = 1;

		if (job[ENQUEUE_GROUP_KEY].type == RP_NULL)
			continue;
		while (nth == 1 && other != params) {
			other -= ENQUEUE_PARAMS;
			if (is_same(&job[ENQUEUE_GROUP_KEY],
				    &other[ENQUEUE_GROUP_KEY]))
				nth = other[ENQUEUE_NTH].i + 1;
		}
		job[ENQUEUE_NTH] = rp__int(nth);
		grouped = 1;
	}
	return grouped;
}

int
rp__sqlite_enqueue(void *db, struct rp_enqueue *jobs, rp_error *error)
{
	/* the cheapest of the verbs that can enqueue the jobs */
	enum rp_verb verb = RP_V_ENQUEUE;

	if (jobs->unique)
		verb = RP_V_ENQUEUE_UNIQUE;
	else if (number_groups(jobs->params, jobs->count))
		verb = jobs->count == 1 ? RP_V_ENQUEUE_IN_GROUP
					: RP_V_ENQUEUE_GROUPED;
	return rp__sqlite_run(db, verb, jobs->params, jobs->count,
			      rp__take_added, jobs, error);
}
