/*
 * names.c - give a number to each queue and each group that a history names, so
 * that an event can store this number instead of the names.
 *
 * Names are compared as JSON strings, with their escapes. Such a string
 * contains no newline character, so a newline can separate the queue from the
 * group.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "names.h"

#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "grow.h"

static int
compare(const void *a, const void *b)
{
	return strcmp(((const struct name *)a)->text,
		      ((const struct name *)b)->text);
}

/* Put a new name into the list. Returns its number, or 0 if memory ran out. */
static uint32_t
append(struct names *names, struct name *name)
{
	struct name **items = grow(names->items, names->count + 1, &names->room,
				   sizeof(struct name *));

	if (!items)
		return 0;
	names->items = items;
	name->number = (uint32_t)++names->count;
	items[name->number] = name;
	return name->number;
}

static int
is_last(const struct names *names, const struct word *queue,
	const struct word *group)
{
	const char *text = names->last ? names->last->text : NULL;

	if (!text || strncmp(text, queue->text, queue->size) != 0)
		return 0;
	text += queue->size;
	if (!group->text)
		return *text == '\0';
	return *text == '\n' &&
	       strncmp(text + 1, group->text, group->size) == 0 &&
	       text[1 + group->size] == '\0';
}

int64_t
names_add(struct names *names, const struct word *queue,
	  const struct word *group)
{
	const struct word none = { NULL, 0 };
	struct name *name, **found;
	int64_t of;

	if (!queue->text)
		return 0;
	if (is_last(names, queue, group))
		return names->last->number;
	name = malloc(sizeof(*name) + queue->size + group->size + 2);
	if (!name)
		return -1;
	sprintf(name->text, "%.*s%s%.*s", (int)queue->size, queue->text,
		group->text ? "\n" : "", (int)group->size,
		group->text ? group->text : "");
	found = tsearch(name, &names->tree, compare);
	if (found && *found != name) {
		free(name);
		names->last = *found;
		return names->last->number;
	}
	if (!found || !append(names, name)) {
		if (found)
			tdelete(name, &names->tree, compare);
		free(name);
		return -1;
	}
	name->queue = name->number;
	of = group->text ? names_add(names, queue, &none) : name->number;
	if (of < 0)
		return -1;
	name->queue = (uint32_t)of;
	names->last = name;
	return name->number;
}

void
names_clear(struct names *names)
{
	tdestroy(names->tree, free);
	free(names->items);
}

void
name_write(char *to, size_t room, const struct name *name)
{
	const char *group = strchr(name->text, '\n');

	if (group)
		snprintf(to, room, "group %.255s of queue %.*s", group + 1,
			 (int)(group - name->text), name->text);
	else
		snprintf(to, room, "queue %s", name->text);
}
