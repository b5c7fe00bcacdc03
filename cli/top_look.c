/*
 * top_look.c - read from the database what `readpast top` shows.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "top.h"

#include <stdlib.h>
#include <string.h>

#define MOST_JOBS 50

static void
forget_jobs(struct top *t)
{
	for (int pane = RUNNING; pane <= DEAD; pane++) {
		rp_batch_free(t->jobs[pane]);
		t->jobs[pane] = NULL;
	}
}

void
top_forget(struct top *t)
{
	forget_jobs(t);
	free(t->by_name);
	rp_workers_free(t->workers);
	rp_stats_free(t->stats);
	t->by_name = NULL;
	t->workers = NULL;
	t->stats = NULL;
}

size_t
top_count(const struct top *t, int pane)
{
	return pane == QUEUES    ? rp_stats_count(t->stats)
	       : pane == WORKERS ? rp_workers_count(t->workers)
				 : rp_batch_count(t->jobs[pane]);
}

int
top_is_partial(const struct top *t, int pane)
{
	return t->jobs[pane] && (rp_batch_is_partial(t->jobs[pane]) ||
				 rp_batch_count(t->jobs[pane]) == MOST_JOBS);
}

const void *
top_row(const struct top *t, int pane, size_t i)
{
	if (i >= top_count(t, pane))
		return NULL;
	return pane == QUEUES    ? (const void *)rp_stats_at(t->stats, i)
	       : pane == WORKERS ? (const void *)t->by_name[i]
				 : (const void *)rp_batch_at(t->jobs[pane], i);
}

static int
compare_workers(const void *a, const void *b)
{
	const rp_worker_info *x = *(const rp_worker_info *const *)a;
	const rp_worker_info *y = *(const rp_worker_info *const *)b;
	int order = strcmp(x->name, y->name);

	return order ? order : (x->id > y->id) - (x->id < y->id);
}

/* List the workers, sorted by name; the library sorts them by id. */
static int
look_for_workers(struct top *t)
{
	int r = rp_worker_list(t->cmd->conn, &t->workers);
	size_t n;

	if (r < 0)
		return r;
	n = rp_workers_count(t->workers);
	t->by_name = calloc(n + 1, sizeof(*t->by_name));
	if (!t->by_name)
		return RP_ENOMEM;
	for (size_t i = 0; i < n; i++)
		t->by_name[i] = rp_workers_at(t->workers, i);
	qsort(t->by_name, n, sizeof(*t->by_name), compare_workers);
	return 0;
}

/* Read the jobs of the selected queue. The list is empty if the queue was
 * dropped after the queues were read. */
int
top_look_for_jobs(struct top *t)
{
	const rp_queue_stats *queue = top_row(t, QUEUES, t->panes[QUEUES].at);
	int r = 0;

	forget_jobs(t);
	if (queue)
		r = rp_job_list(t->cmd->conn, queue->queue, RP_STATE_RUNNING,
				MOST_JOBS, &t->jobs[RUNNING]);
	if (queue && r >= 0)
		r = rp_job_list(t->cmd->conn, queue->queue, RP_STATE_DEAD,
				MOST_JOBS, &t->jobs[DEAD]);
	top_find_cursor(t, RUNNING);
	top_find_cursor(t, DEAD);
	return r < 0 && r != RP_ENOENT ? r : 0;
}

int
top_look(struct top *t)
{
	int r;

	top_forget(t);
	r = rp_stats_get(t->cmd->conn, NULL, &t->stats);
	if (r >= 0)
		r = look_for_workers(t);
	if (r >= 0)
		r = rp_now(t->cmd->conn, &t->now);
	if (r < 0)
		return r;
	top_find_cursor(t, QUEUES);
	top_find_cursor(t, WORKERS);
	return top_look_for_jobs(t);
}
