/*
 * schedule_list.c - read the schedules that are stored in the database.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "schedule.h"

#include <stdlib.h>

struct rp_stored *
rp__schedules_add(struct rp_schedules *list, const struct rp_value *c)
{
	struct rp_items *items = &list->items;
	struct rp_stored *stored = rp__items_add(items, sizeof(*stored));
	rp_schedule *s;

	if (!stored)
		return NULL;
	stored->id = c[SCHEDULES_OUT_ID].i;
	s = &stored->schedule;
	*s = (rp_schedule)RP_SCHEDULE_INIT;
	s->name = rp__items_text(items, &c[SCHEDULES_OUT_NAME]);
	s->queue = rp__items_text(items, &c[SCHEDULES_OUT_QUEUE]);
	s->spec = rp__items_text(items, &c[SCHEDULES_OUT_SPEC]);
	s->zone = rp__items_text(items, &c[SCHEDULES_OUT_ZONE]);
	s->payload = rp__items_text(items, &c[SCHEDULES_OUT_CONTENT]);
	s->payload_size = c[SCHEDULES_OUT_CONTENT].size;
	s->kind = rp__items_text(items, &c[SCHEDULES_OUT_KIND]);
	s->headers = rp__items_text(items, &c[SCHEDULES_OUT_HEADERS]);
	if (c[SCHEDULES_OUT_PRIORITY].type == RP_INT)
		s->priority = (int)c[SCHEDULES_OUT_PRIORITY].i;
	s->missed = (int)c[SCHEDULES_OUT_MISSED].i;
	s->overlap = (int)c[SCHEDULES_OUT_OVERLAP].i;
	s->next_at = c[SCHEDULES_OUT_NEXT_AT].i;
	s->last_at = c[SCHEDULES_OUT_LAST_AT].i;
	s->last_job_id = c[SCHEDULES_OUT_LAST_JOB_ID].i;
	s->last_state = (int)c[SCHEDULES_OUT_LAST_STATE].i;
	s->last_error = rp__items_text(items, &c[SCHEDULES_OUT_LAST_ERROR]);
	s->paused_at = c[SCHEDULES_OUT_PAUSED_AT].i;
	s->created_at = c[SCHEDULES_OUT_CREATED_AT].i;
	s->anchor_at = c[SCHEDULES_OUT_ANCHOR].i;
	return rp__items_added(items) < 0 ? NULL : stored;
}

const struct rp_stored *
rp__schedules_at(const struct rp_schedules *list, size_t i)
{
	return rp__items_at(&list->items, i, sizeof(struct rp_stored));
}

static int
add_row(void *ctx, size_t row, const struct rp_value *c)
{
	(void)row;
	return rp__schedules_add(ctx, c) ? RP_ROW_TAKE : RP_ENOMEM;
}

int
rp__schedules_read(rp_conn *conn, const char *name, struct rp_schedules *list)
{
	const struct rp_value p[SCHEDULE_LIST_PARAMS] = {
		[SCHEDULE_LIST_NAME] = rp__text(name),
		[SCHEDULE_LIST_QUEUE] = rp__text(NULL),
	};

	return rp__run(conn, RP_V_SCHEDULE_LIST, p, 1, add_row, list);
}

int
rp__schedule_missing(rp_conn *conn, const char *name)
{
	return rp__fail(&conn->error, RP_ENOENT, "no schedule named %s", name);
}

int
rp_schedule_list(rp_conn *conn, const char *name, rp_schedules **ret)
{
	rp_schedules *list;
	int r = rp__enter(conn);

	if (r < 0)
		return r;
	if (!ret)
		return rp__fail(&conn->error, RP_EINVAL, "ret is NULL");
	list = calloc(1, sizeof(*list));
	if (!list)
		return rp__fail(&conn->error, RP_ENOMEM, "out of memory");
	r = rp__schedules_read(conn, name, list);
	if (r == 0 && name && list->items.count == 0)
		r = rp__schedule_missing(conn, name);
	if (r < 0)
		rp_schedules_free(list);
	else
		*ret = list;
	return r;
}

size_t
rp_schedules_count(const rp_schedules *schedules)
{
	return schedules ? schedules->items.count : 0;
}

const rp_schedule *
rp_schedules_at(const rp_schedules *schedules, size_t i)
{
	const struct rp_stored *stored =
		schedules ? rp__schedules_at(schedules, i) : NULL;

	return stored ? &stored->schedule : NULL;
}

void
rp_schedules_free(rp_schedules *schedules)
{
	if (!schedules)
		return;
	rp__items_clear(&schedules->items);
	free(schedules);
}
