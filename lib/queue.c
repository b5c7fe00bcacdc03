/*
 * queue.c - create, list, change, pause and resume queues.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "internal.h"

#include <stdlib.h>
#include <string.h>

struct rp_queues {
	struct rp_items items;
};

/* The numeric settings of a queue.
 * param: index of the setting among the parameters of the verb `queue_set`
 * column: index of the setting among the columns of the verb `queue_list`
 * offset: offset of the setting in struct rp_queue
 * least, most: the smallest and the largest value */
static const struct {
	const char *name;
	int param, column;
	size_t offset;
	int64_t least, most;
} settings[] = {
#define SETTING(field, NAME, least, most)                                      \
	{                                                                      \
#field, QUEUE_SET_##NAME, QUEUE_LIST_OUT_##NAME,               \
			offsetof(rp_queue, field), (least), (most)             \
	}
	SETTING(max_attempts, MAX_ATTEMPTS, 1, RP_MOST_ATTEMPTS),
	SETTING(lease_ms, LEASE_MS, 1, RP_MOST_MS),
	SETTING(backoff_ms, BACKOFF_MS, 0, RP_MOST_MS),
	SETTING(backoff_max_ms, BACKOFF_MAX_MS, 0, RP_MOST_MS),
	SETTING(priority, PRIORITY, 0, RP_MOST_PRIORITY),
	SETTING(keep_done_ms, KEEP_DONE_MS, 0, RP_MOST_MS),
	SETTING(keep_dead_ms, KEEP_DEAD_MS, 0, RP_MOST_MS),
	SETTING(max_payload, MAX_PAYLOAD, 0, RP_MOST_PAYLOAD),
	SETTING(timeout_ms, TIMEOUT_MS, 0, RP_MOST_MS),
	SETTING(run_limit, RUN_LIMIT, 0, RP_MOST_LIMIT),
	SETTING(group_limit, GROUP_LIMIT, 0, RP_MOST_LIMIT),
	SETTING(group_pass, GROUP_PASS, 0, 1),
	SETTING(rate_count, RATE_COUNT, 0, RP_MOST_RATE),
	SETTING(rate_ms, RATE_MS, 0, RP_MOST_MS),
#undef SETTING
};
#define SETTINGS (sizeof(settings) / sizeof(*settings))

static int64_t *
setting_of(rp_queue *queue, size_t i)
{
	return (int64_t *)(void *)((char *)queue + settings[i].offset);
}

int
rp__no_such_queue(rp_conn *conn, const char *name)
{
	return rp__fail(&conn->error, RP_ENOENT, "no queue named %s%s", name,
			rp__is_pattern(name) ? "; only workers take patterns"
					     : "");
}

int
rp__queue_known(rp_conn *conn, const char *name)
{
	const struct rp_value params[QUEUE_LIST_PARAMS] = {
		[QUEUE_LIST_QUEUE] = rp__text(name),
	};
	int64_t found = 0;
	int r = rp__run(conn, RP_V_QUEUE_LIST, params, 1, rp__count, &found);

	if (r < 0)
		return r;
	return found ? 0 : rp__no_such_queue(conn, name);
}

int
rp__queue_create(rp_conn *conn, const char *name, int64_t *ret_new)
{
	const struct rp_value params[QUEUE_CREATE_PARAMS] = {
		[QUEUE_CREATE_QUEUE] = rp__text(name),
	};

	if (ret_new)
		*ret_new = 0;
	return rp__run_once(conn, RP_V_QUEUE_CREATE, params,
			    ret_new ? rp__first_int : NULL, ret_new);
}

/* Check that a job that dies in `queue` does not come back to `queue` through
 * `dead_to`, the queue that receives copies of dead jobs. */
static int
check_dead_to(rp_conn *conn, const char *queue, const char *dead_to)
{
	const struct rp_value params[DEAD_LOOP_PARAMS] = {
		[DEAD_LOOP_QUEUE] = rp__text(queue),
		[DEAD_LOOP_DEAD_TO] = rp__text(dead_to),
	};
	int64_t loops = 0;
	int r = rp__run(conn, RP_V_DEAD_LOOP, params, 1, rp__first_int, &loops);

	if (r < 0 || !loops)
		return r;
	return rp__fail(&conn->error, RP_EINVAL,
			"dead_to: jobs that die in queue %s would come back to "
			"it",
			queue);
}

/* Create the queue and the queue `dead_to`, and write the settings. */
static int
set_all(rp_conn *conn, const rp_queue *q, const struct rp_value *params)
{
	int has = q->dead_to && *q->dead_to;
	int r = has ? check_dead_to(conn, q->name, q->dead_to) : 0;

	if (r == 0)
		r = rp__run(conn, RP_V_QUEUE_CREATE, params, 1, NULL, NULL);
	if (r == 0 && has)
		r = rp__run(conn, RP_V_QUEUE_CREATE, &params[QUEUE_SET_DEAD_TO],
			    1, NULL, NULL);
	return r == 0 ? rp__run(conn, RP_V_QUEUE_SET, params, 1, NULL, NULL)
		      : r;
}

/* Check the numeric settings, and write them to `params`, the parameters of the
 * verb `queue_set`. */
static int
take_settings(rp_conn *conn, rp_queue *q, struct rp_value *params)
{
	for (size_t i = 0; i < SETTINGS; i++) {
		int64_t value = *setting_of(q, i);

		if (value >= 0 &&
		    (value < settings[i].least || value > settings[i].most))
			return rp__fail(&conn->error, RP_EINVAL,
					"%s: %lld is not within %lld..%lld",
					settings[i].name, (long long)value,
					(long long)settings[i].least,
					(long long)settings[i].most);
		params[settings[i].param] = rp__int_or_null(value, value < 0);
	}
	if (q->rate_count == 0)
		params[QUEUE_SET_RATE_MS] = rp__int_or_null(0, 1);
	else if ((q->rate_count < 0) != (q->rate_ms < 0) || q->rate_ms == 0)
		return rp__fail(&conn->error, RP_EINVAL,
				"a rate is rate_count jobs in rate_ms: set "
				"both settings");
	return 0;
}

int
rp_queue_set(rp_conn *conn, const rp_queue *queue)
{
	struct rp_value params[MAKE_QUEUE_MOST_PARAMS];
	rp_queue q = RP_QUEUE_INIT;
	int r = rp__enter(conn);

	if (r < 0)
		return r;
	if (!queue)
		return rp__fail(&conn->error, RP_EINVAL, "queue is NULL");
	rp__copy_struct(&q, queue, queue->size, sizeof(q));
	r = rp__check_queue(&conn->error, q.name);
	if (r == 0 && q.dead_to && *q.dead_to)
		r = rp__check_name(&conn->error, "dead_to", q.dead_to,
				   RP_MOST_NAME);
	if (r < 0)
		return r;
	params[MAKE_QUEUE_QUEUE] = rp__text(q.name);
	params[QUEUE_SET_DEAD_TO] = rp__text(q.dead_to);
	params[QUEUE_SET_JOINED] = rp__int(rp__stays_open(conn));
	r = take_settings(conn, &q, params);
	if (r == 0)
		r = rp__begin(conn, RP_BEGIN_WRITE);
	if (r < 0)
		return r;
	return rp__end(conn, set_all(conn, &q, params));
}

static int
add_queue(void *ctx, size_t row, const struct rp_value *c)
{
	struct rp_items *items = &((rp_queues *)ctx)->items;
	rp_queue *q = rp__items_add(items, sizeof(*q));

	(void)row;
	if (!q)
		return RP_ENOMEM;
	*q = (rp_queue)RP_QUEUE_INIT;
	q->name = rp__items_text(items, &c[QUEUE_LIST_OUT_NAME]);
	q->pause_reason =
		rp__items_text(items, &c[QUEUE_LIST_OUT_PAUSE_REASON]);
	q->dead_to = rp__items_text(items, &c[QUEUE_LIST_OUT_DEAD_TO]);
	q->paused_at = c[QUEUE_LIST_OUT_PAUSED_AT].i;
	q->held_until = c[QUEUE_LIST_OUT_HELD_UNTIL].i;
	for (size_t i = 0; i < SETTINGS; i++)
		*setting_of(q, i) = c[settings[i].column].i;
	if (q->rate_count == 0)
		q->rate_ms = 0;
	return rp__items_added(items);
}

int
rp_queue_list(rp_conn *conn, const char *name, rp_queues **ret)
{
	const struct rp_value params[QUEUE_LIST_PARAMS] = {
		[QUEUE_LIST_QUEUE] = rp__text(name),
	};
	rp_queues *list;
	int r = rp__enter(conn);

	if (r < 0)
		return r;
	if (!ret)
		return rp__fail(&conn->error, RP_EINVAL, "ret is NULL");
	list = calloc(1, sizeof(*list));
	if (!list)
		return rp__fail(&conn->error, RP_ENOMEM, "out of memory");
	r = rp__run(conn, RP_V_QUEUE_LIST, params, 1, add_queue, list);
	if (r == 0 && name && list->items.count == 0)
		r = rp__no_such_queue(conn, name);
	if (r < 0)
		rp_queues_free(list);
	else
		*ret = list;
	return r;
}

size_t
rp_queues_count(const rp_queues *queues)
{
	return queues ? queues->items.count : 0;
}

const rp_queue *
rp_queues_at(const rp_queues *queues, size_t i)
{
	return queues ? rp__items_at(&queues->items, i, sizeof(rp_queue))
		      : NULL;
}

void
rp_queues_free(rp_queues *queues)
{
	if (!queues)
		return;
	rp__items_clear(&queues->items);
	free(queues);
}

static int
set_paused(rp_conn *conn, const char *name, int paused, const char *reason)
{
	struct rp_value params[QUEUE_PAUSE_PARAMS] = {
		[QUEUE_PAUSE_QUEUE] = rp__text(name),
		[QUEUE_PAUSE_PAUSED] = rp__int(paused),
		[QUEUE_PAUSE_REASON] = rp__text(reason),
	};
	int64_t id = 0;
	int r = rp__enter(conn);

	if (r < 0)
		return r;
	r = rp__check_queue(&conn->error, name);
	if (r == 0 && reason)
		r = rp__check_name(&conn->error, "the reason", reason,
				   RP_MOST_REASON);
	if (r < 0)
		return r;
	params[QUEUE_PAUSE_JOINED] = rp__int(rp__stays_open(conn));
	r = rp__run_once(conn, RP_V_QUEUE_PAUSE, params, rp__first_int, &id);
	if (r == 0 && !id)
		return rp__no_such_queue(conn, name);
	return r;
}

int
rp_queue_pause(rp_conn *conn, const char *name, const char *reason)
{
	return set_paused(conn, name, 1, reason);
}

int
rp_queue_resume(rp_conn *conn, const char *name)
{
	return set_paused(conn, name, 0, NULL);
}
