/*
 * schedule_list.c - read the schedules that are stored in the database.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "schedule.h"

#include <stdlib.h>
#include <string.h>

static void
clear_one(rp_schedule *s)
{
	free((char *)s->name);
	free((char *)s->queue);
	free((char *)s->spec);
	free((char *)s->zone);
	free((void *)s->payload);
	free((char *)s->kind);
	free((char *)s->headers);
	free((char *)s->last_error);
}

void
rp__schedules_clear(struct rp_schedules *list)
{
	for (size_t i = 0; i < list->count; i++)
		clear_one(&list->items[i].schedule);
	free(list->items);
	*list = (struct rp_schedules){ NULL, 0 };
}

/* Returns a copy of a column, with a NUL byte appended. Sets *failed if memory
 * ran out. */
static char *
copy(const struct rp_value *value, int *failed)
{
	char *text;

	if (value->type == RP_NULL)
		return NULL;
	text = malloc(value->size + 1);
	*failed |= !text;
	if (text) {
		if (value->size)
			memcpy(text, value->data, value->size);
		text[value->size] = '\0';
	}
	return text;
}

int
rp__schedules_add(void *ctx, size_t row, const struct rp_value *c)
{
	struct rp_schedules *list = ctx;
	struct rp_stored *items =
		realloc(list->items, (list->count + 1) * sizeof(*items));
	int failed = 0;
	rp_schedule *s;

	(void)row;
	if (!items)
		return RP_ENOMEM;
	list->items = items;
	items[list->count].id = c[SCHEDULES_OUT_ID].i;
	items[list->count].has_fired = 0;
	s = &items[list->count++].schedule;
	*s = (rp_schedule)RP_SCHEDULE_INIT;
	s->name = copy(&c[SCHEDULES_OUT_NAME], &failed);
	s->queue = copy(&c[SCHEDULES_OUT_QUEUE], &failed);
	s->spec = copy(&c[SCHEDULES_OUT_SPEC], &failed);
	s->zone = copy(&c[SCHEDULES_OUT_ZONE], &failed);
	s->payload = copy(&c[SCHEDULES_OUT_CONTENT], &failed);
	s->payload_size = c[SCHEDULES_OUT_CONTENT].size;
	s->kind = copy(&c[SCHEDULES_OUT_KIND], &failed);
	s->headers = copy(&c[SCHEDULES_OUT_HEADERS], &failed);
	if (c[SCHEDULES_OUT_PRIORITY].type == RP_INT)
		s->priority = (int)c[SCHEDULES_OUT_PRIORITY].i;
	s->missed = (int)c[SCHEDULES_OUT_MISSED].i;
	s->overlap = (int)c[SCHEDULES_OUT_OVERLAP].i;
	s->next_at = c[SCHEDULES_OUT_NEXT_AT].i;
	s->last_at = c[SCHEDULES_OUT_LAST_AT].i;
	s->last_job_id = c[SCHEDULES_OUT_LAST_JOB_ID].i;
	s->last_state = (int)c[SCHEDULES_OUT_LAST_STATE].i;
	s->last_error = copy(&c[SCHEDULES_OUT_LAST_ERROR], &failed);
	s->paused_at = c[SCHEDULES_OUT_PAUSED_AT].i;
	s->created_at = c[SCHEDULES_OUT_CREATED_AT].i;
	s->anchor_at = c[SCHEDULES_OUT_ANCHOR].i;
	return failed ? RP_ENOMEM : RP_ROW_TAKE;
}

int
rp__schedules_read(rp_conn *conn, const char *name, struct rp_schedules *list)
{
	const struct rp_value p[SCHEDULE_LIST_PARAMS] = {
		[SCHEDULE_LIST_NAME] = rp__text(name),
		[SCHEDULE_LIST_QUEUE] = rp__text(NULL),
	};

	return rp__run(conn, RP_V_SCHEDULE_LIST, p, 1, rp__schedules_add, list);
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
	if (r == 0 && name && list->count == 0)
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
	return schedules ? schedules->count : 0;
}

const rp_schedule *
rp_schedules_at(const rp_schedules *schedules, size_t i)
{
	return schedules && i < schedules->count ? &schedules->items[i].schedule
						 : NULL;
}

void
rp_schedules_free(rp_schedules *schedules)
{
	if (!schedules)
		return;
	rp__schedules_clear(schedules);
	free(schedules);
}
