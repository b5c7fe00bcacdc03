/*
 * group.c - hold queues and groups, and list the groups of a queue.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "internal.h"

#include <stdlib.h>
#include <string.h>

/* ---- holds ---- */

static int
check_names(rp_conn *conn, const char *queue, const char *group)
{
	int r = rp__check_queue(&conn->error, queue);

	return r == 0 && group ? rp__check_name(&conn->error, "the group",
						group, RP_MOST_KEY)
			       : r;
}

int
rp_queue_hold(rp_conn *conn, const char *queue, const char *group,
	      int64_t for_ms)
{
	struct rp_value params[HOLD_PARAMS] = {
		[HOLD_QUEUE] = rp__text(queue),
		[HOLD_GROUP_KEY] = rp__text(group),
		[HOLD_FOR_MS] = rp__int_or_null(for_ms, for_ms == 0),
	};
	int64_t id = 0;
	int r = rp__enter(conn);

	if (r == 0)
		r = check_names(conn, queue, group);
	if (r < 0)
		return r;
	if (for_ms < 0 || for_ms > RP_MOST_MS)
		return rp__fail(
			&conn->error, RP_EINVAL,
			"a hold lasts 1 ms to %d days, and 0 ends a hold",
			RP_MOST_DAYS);
	params[HOLD_JOINED] = rp__int(rp__stays_open(conn));
	r = rp__run_once(conn, RP_V_HOLD, params, rp__first_int, &id);
	if (r == 0 && !id)
		return rp__no_such_queue(conn, queue);
	return r;
}

int
rp__hold_number(const char *word)
{
	return strcmp(word, "group") == 0   ? RP_HOLD_GROUP
	       : strcmp(word, "queue") == 0 ? RP_HOLD_QUEUE
					    : 0;
}

/* Set the hold that a verdict asks for, on the job's group or on its queue. If
 * the claim of the verdict does not hold the job any more, do nothing. The
 * caller has opened a transaction, and settles the job after this call. */
int
rp__hold_for_verdict(rp_conn *conn, const rp_verdict *v)
{
	const struct rp_value params[HOLD_OF_PARAMS] = {
		[HOLD_OF_ID] = rp__int(v->id),
		[HOLD_OF_CLAIM_NO] = rp__int(v->claim_no),
		[HOLD_OF_WHOLE] = rp__int(v->hold == RP_HOLD_QUEUE),
		[HOLD_OF_FOR_MS] = rp__int(v->hold_ms),
	};

	return rp__run(conn, RP_V_HOLD_OF, params, 1, NULL, NULL);
}

/* ---- the list ---- */

/* The list, and what all its groups have in common. */
struct rp_groups {
	struct rp_items items;
	int64_t limit;
};

static int
add_group(void *ctx, size_t row, const struct rp_value *c)
{
	rp_groups *groups = ctx;
	rp_group *g = rp__items_add(&groups->items, sizeof(*g));

	(void)row;
	if (!g)
		return RP_ENOMEM;
	g->name = rp__items_text(&groups->items, &c[GROUP_LIST_OUT_NAME]);
	g->waiting = c[GROUP_LIST_OUT_WAITING].i;
	g->ready = c[GROUP_LIST_OUT_READY].i;
	g->running = c[GROUP_LIST_OUT_RUNNING].i;
	g->limit = groups->limit;
	g->held_until = c[GROUP_LIST_OUT_HELD_UNTIL].i;
	g->waiting_at_least = c[GROUP_LIST_OUT_WAITING_AT_LEAST].i != 0;
	return rp__items_added(&groups->items);
}

static int
take_limit(void *ctx, size_t row, const struct rp_value *c)
{
	(void)row;
	*(int64_t *)ctx = c[QUEUE_LIST_OUT_GROUP_LIMIT].i;
	return RP_ROW_TAKE;
}

/* Read the queue's group limit into *ret. RP_ENOENT: there is no such queue. */
static int
read_limit(rp_conn *conn, const char *queue, int64_t *ret)
{
	const struct rp_value params[QUEUE_LIST_PARAMS] = {
		[QUEUE_LIST_QUEUE] = rp__text(queue),
	};
	int64_t limit = -1;
	int r = rp__run(conn, RP_V_QUEUE_LIST, params, 1, take_limit, &limit);

	if (r < 0)
		return r;
	*ret = limit;
	return limit < 0 ? rp__no_such_queue(conn, queue) : 0;
}

static int
read_groups(rp_conn *conn, const struct rp_value *params, const char *queue,
	    rp_groups *groups)
{
	int r = read_limit(conn, queue, &groups->limit);

	return r < 0 ? r
		     : rp__run(conn, RP_V_GROUP_LIST, params, 1, add_group,
			       groups);
}

int
rp_group_list(rp_conn *conn, const char *queue, int blocked, const char *after,
	      size_t max, rp_groups **ret)
{
	const struct rp_value params[GROUP_LIST_PARAMS] = {
		[GROUP_LIST_QUEUE] = rp__text(queue),
		[GROUP_LIST_BLOCKED] = rp__int(blocked != 0),
		[GROUP_LIST_AFTER] = rp__text(after ? after : ""),
		[GROUP_LIST_MAX] = rp__int((int64_t)max),
		[GROUP_LIST_MOST] = rp__int(RP_MOST_COUNTED),
	};
	rp_groups *groups;
	int r = rp__enter(conn);

	if (r == 0)
		r = check_names(conn, queue, after && *after ? after : NULL);
	if (r < 0)
		return r;
	if (!ret)
		return rp__fail(&conn->error, RP_EINVAL, "ret is NULL");
	if (max > INT32_MAX)
		return rp__fail(&conn->error, RP_EINVAL, "max is over %d",
				INT32_MAX);
	groups = calloc(1, sizeof(*groups));
	if (!groups)
		return rp__fail(&conn->error, RP_ENOMEM, "out of memory");
	r = rp__begin(conn, 0);
	if (r == 0)
		r = rp__end(conn, read_groups(conn, params, queue, groups));
	if (r < 0)
		rp_groups_free(groups);
	else
		*ret = groups;
	return r;
}

size_t
rp_groups_count(const rp_groups *groups)
{
	return groups ? groups->items.count : 0;
}

const rp_group *
rp_groups_at(const rp_groups *groups, size_t i)
{
	return groups ? rp__items_at(&groups->items, i, sizeof(rp_group))
		      : NULL;
}

void
rp_groups_free(rp_groups *groups)
{
	if (!groups)
		return;
	rp__items_clear(&groups->items);
	free(groups);
}
