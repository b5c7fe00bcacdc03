/*
 * stats.c - read the statistics of queues, and the list of workers.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "internal.h"

#include <stdlib.h>

struct rp_stats {
	struct rp_items items;
};

struct rp_workers {
	struct rp_items items;
};

static int64_t
or_absent(const struct rp_value *value)
{
	return value->type == RP_INT ? value->i : -1;
}

static int
add_stats(void *ctx, size_t row, const struct rp_value *c)
{
	struct rp_items *items = &((rp_stats *)ctx)->items;
	rp_queue_stats *s = rp__items_add(items, sizeof(*s));

	(void)row;
	if (!s)
		return RP_ENOMEM;
	s->queue = rp__items_text(items, &c[STATS_OUT_QUEUE]);
	s->paused = c[STATS_OUT_PAUSED].i != 0;
	s->scheduled = c[STATS_OUT_SCHEDULED].i;
	s->ready = c[STATS_OUT_READY].i;
	s->running = c[STATS_OUT_RUNNING].i;
	s->done = c[STATS_OUT_DONE].i;
	s->dead = c[STATS_OUT_DEAD].i;
	s->cancelled = c[STATS_OUT_CANCELLED].i;
	s->oldest_ready_ms = or_absent(&c[STATS_OUT_OLDEST_READY_MS]);
	s->longest_running_ms = or_absent(&c[STATS_OUT_LONGEST_RUNNING_MS]);
	s->workers = c[STATS_OUT_WORKERS].i;
	s->done_10s = c[STATS_OUT_DONE_RECENTLY].i;
	s->failed_10s = c[STATS_OUT_FAILED_RECENTLY].i;
	s->scheduled_at_least = c[STATS_OUT_SCHEDULED_AT_LEAST].i != 0;
	s->ready_at_least = c[STATS_OUT_READY_AT_LEAST].i != 0;
	s->blocked = c[STATS_OUT_BLOCKED].i;
	s->blocked_at_least = c[STATS_OUT_BLOCKED_AT_LEAST].i != 0;
	s->running_at_least = c[STATS_OUT_RUNNING_AT_LEAST].i != 0;
	s->held_until = c[STATS_OUT_HELD_UNTIL].i;
	s->done_total = c[STATS_OUT_DONE_TOTAL].i;
	s->failed_total = c[STATS_OUT_FAILED_TOTAL].i;
	s->dead_total = c[STATS_OUT_DEAD_TOTAL].i;
	s->pause_reason = rp__items_text(items, &c[STATS_OUT_PAUSE_REASON]);
	return rp__items_added(items);
}

static int
read_stats(rp_conn *conn, const char *queue, rp_stats *stats)
{
	const struct rp_value params[STATS_PARAMS] = {
		[STATS_QUEUE] = rp__text(queue),
		[STATS_MOST] = rp__int(RP_MOST_COUNTED),
	};
	int r = rp__run(conn, RP_V_STATS, params, 1, add_stats, stats);

	if (r == 0 && queue && stats->items.count == 0)
		return rp__no_such_queue(conn, queue);
	return r;
}

int
rp_stats_get(rp_conn *conn, const char *queue, rp_stats **ret)
{
	rp_stats *stats;
	int r = rp__enter(conn);

	if (r == 0 && queue)
		r = rp__check_queue(&conn->error, queue);
	if (r < 0)
		return r;
	if (!ret)
		return rp__fail(&conn->error, RP_EINVAL, "ret is NULL");
	stats = calloc(1, sizeof(*stats));
	if (!stats)
		return rp__fail(&conn->error, RP_ENOMEM, "out of memory");
	r = read_stats(conn, queue, stats);
	if (r < 0)
		rp_stats_free(stats);
	else
		*ret = stats;
	return r;
}

size_t
rp_stats_count(const rp_stats *stats)
{
	return stats ? stats->items.count : 0;
}

const rp_queue_stats *
rp_stats_at(const rp_stats *stats, size_t i)
{
	return stats ? rp__items_at(&stats->items, i, sizeof(rp_queue_stats))
		     : NULL;
}

void
rp_stats_free(rp_stats *stats)
{
	if (!stats)
		return;
	rp__items_clear(&stats->items);
	free(stats);
}

static int
add_worker(void *ctx, size_t row, const struct rp_value *c)
{
	struct rp_items *items = &((rp_workers *)ctx)->items;
	rp_worker_info *w = rp__items_add(items, sizeof(*w));

	(void)row;
	if (!w)
		return RP_ENOMEM;
	w->id = c[WORKER_LIST_OUT_ID].i;
	w->name = rp__items_text(items, &c[WORKER_LIST_OUT_NAME]);
	w->host = rp__items_text(items, &c[WORKER_LIST_OUT_HOST]);
	w->pid = c[WORKER_LIST_OUT_PID].i;
	w->queues = rp__items_text(items, &c[WORKER_LIST_OUT_QUEUES]);
	w->started_at = c[WORKER_LIST_OUT_STARTED_AT].i;
	w->seen_at = c[WORKER_LIST_OUT_SEEN_AT].i;
	w->silent_ms = c[WORKER_LIST_OUT_SILENT_MS].i;
	w->running = c[WORKER_LIST_OUT_RUNNING].i;
	w->done = c[WORKER_LIST_OUT_DONE].i;
	w->failed = c[WORKER_LIST_OUT_FAILED].i;
	w->dead = c[WORKER_LIST_OUT_DEAD].i;
	w->released = c[WORKER_LIST_OUT_RELEASED].i;
	w->running_at_least = c[WORKER_LIST_OUT_RUNNING_AT_LEAST].i != 0;
	return rp__items_added(items);
}

int
rp_worker_list(rp_conn *conn, rp_workers **ret)
{
	const struct rp_value params[WORKER_LIST_PARAMS] = {
		[WORKER_LIST_MOST] = rp__int(RP_MOST_COUNTED),
	};
	rp_workers *workers;
	int r = rp__enter(conn);

	if (r < 0)
		return r;
	if (!ret)
		return rp__fail(&conn->error, RP_EINVAL, "ret is NULL");
	workers = calloc(1, sizeof(*workers));
	if (!workers)
		return rp__fail(&conn->error, RP_ENOMEM, "out of memory");
	r = rp__run(conn, RP_V_WORKER_LIST, params, 1, add_worker, workers);
	if (r < 0)
		rp_workers_free(workers);
	else
		*ret = workers;
	return r;
}

size_t
rp_workers_count(const rp_workers *workers)
{
	return workers ? workers->items.count : 0;
}

const rp_worker_info *
rp_workers_at(const rp_workers *workers, size_t i)
{
	return workers ? rp__items_at(&workers->items, i,
				      sizeof(rp_worker_info))
		       : NULL;
}

void
rp_workers_free(rp_workers *workers)
{
	if (!workers)
		return;
	rp__items_clear(&workers->items);
	free(workers);
}
