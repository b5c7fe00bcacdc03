/*
 * unsettled.c - remember the jobs that a worker has run and that are not
 * finished yet, such as a job that waits for a retry. Before a worker with
 * RP_DRAIN_SETTLED ends, it waits for these jobs.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 *
 * A job is added before its verdict is sent. If memory runs out for that, the
 * verdict is simply sent later. The job is removed when the database has
 * answered that it is finished. When the worker has nothing else to do, it
 * reads the states of the remaining jobs one by one.
 */
#include "worker.h"

#include <search.h>
#include <stdlib.h>

struct unsettled {
	int64_t id, attempt; /* `attempt` is the last attempt that this worker
			      * made */
};

static int
compare(const void *a, const void *b)
{
	const struct unsettled *x = a, *y = b;

	return (x->id > y->id) - (x->id < y->id);
}

static int
add(rp_worker *w, const rp_job *job)
{
	struct unsettled **found, *new = malloc(sizeof(*new));

	if (!new)
		return RP_ENOMEM;
	*new = (struct unsettled){ job->id, job->attempt };
	found = tsearch(new, &w->unsettled, compare);
	if (found && *found != new)
		(*found)->attempt = job->attempt;
	if (!found || *found != new)
		free(new);
	return found ? 0 : RP_ENOMEM;
}

/* Add the jobs whose handlers were started to the tree w->unsettled. Without
 * RP_DRAIN_SETTLED the tree is not needed, and this function does nothing. */
int
rp__unsettled_add(rp_worker *w, const struct tasks *tasks)
{
	const rp_task *task = tasks->first;
	int r = 0;

	if (w->options.drain != RP_DRAIN_SETTLED)
		return 0;
	for (; task && r == 0; task = task->next)
		if (task->started_us)
			r = add(w, task->job);
	return r;
}

void
rp__unsettled_remove(rp_worker *w, int64_t id)
{
	const struct unsettled key = { id, 0 };
	struct unsettled **found = tfind(&key, &w->unsettled, compare), *old;

	if (!found)
		return;
	old = *found;
	tdelete(&key, &w->unsettled, compare);
	free(old);
}

/* Returns 1 if the worker need not wait for the job: it is finished, or another
 * worker has started a later attempt. Otherwise returns 0 or an error. */
static int
is_over(rp_worker *w, const struct unsettled *job)
{
	rp_batch *batch;
	int r = rp_job_get(w->conn, job->id, &batch);
	const rp_job *now;

	if (r < 0)
		return r == RP_ENOENT ? 1 : r;
	now = rp_batch_at(batch, 0);
	r = rp__is_finished(now->state) || now->attempt > job->attempt;
	rp_batch_free(batch);
	return r;
}

/* Remove the jobs for which the worker need not wait any more: those that are
 * finished, or of which another worker has started a later attempt. Stops at
 * the first other job. Returns 1 if the worker must still wait for one of its
 * jobs. Also returns 1 if the database does not answer. If *ret_r is negative,
 * it is an error that ends the worker. */
int
rp__unsettled_drop_settled(rp_worker *w, int *ret_r)
{
	while (w->unsettled) {
		/* tsearch() has made the tree. Each node begins with the
		 * pointer that was inserted. */
		const struct unsettled *job =
			*(struct unsettled *const *)w->unsettled;
		int r = is_over(w, job);

		if (r < 0)
			*ret_r = rp__worker_trouble(w, r);
		if (r <= 0)
			return 1;
		rp__unsettled_remove(w, job->id);
	}
	return 0;
}

void
rp__unsettled_free(rp_worker *w)
{
	tdestroy(w->unsettled, free);
	w->unsettled = NULL;
}
