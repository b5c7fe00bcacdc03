/*
 * items.c - the lists that calls return: of queues, groups, schedules, workers,
 * and the statistics of queues.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "internal.h"

#include <stdlib.h>
#include <string.h>

void *
rp__items_add(struct rp_items *items, size_t size)
{
	char *list = items->list;

	if (items->count == items->room) {
		size_t room = items->room ? items->room * 2 : 4;

		list = realloc(list, room * size);
		if (!list)
			return NULL;
		items->list = list;
		items->room = room;
	}
	return memset(list + items->count++ * size, 0, size);
}

const char *
rp__items_text(struct rp_items *items, const struct rp_value *column)
{
	const char *text = NULL;

	if ((!items->texts && rp__batch_new(&items->texts) < 0) ||
	    rp__batch_text(items->texts, &text, column) < 0)
		items->has_failed = 1;
	return text;
}

int
rp__items_added(const struct rp_items *items)
{
	return items->has_failed ? RP_ENOMEM : RP_ROW_TAKE;
}

const void *
rp__items_at(const struct rp_items *items, size_t i, size_t size)
{
	return i < items->count ? (const char *)items->list + i * size : NULL;
}

void
rp__items_clear(struct rp_items *items)
{
	rp_batch_free(items->texts);
	free(items->list);
	*items = (struct rp_items){ NULL, 0, 0, NULL, 0 };
}
