/*
 * names.h - give a number to each queue and each group that a history names.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#ifndef NAMES_H
#define NAMES_H

#include "line.h"

/* A queue, or a group of a queue. */
struct name {
	uint32_t number, queue; /* `number`: the number of this name. `queue`:
				 * the number of its queue. Both are equal if
				 * this name is a queue */
	char text[];            /* "QUEUE" or "QUEUE\nGROUP" */
};

struct names {
	struct name **items; /* the names, indexed by their numbers; items[0] is
			      * not used */
	size_t count, room;
	void *tree;
	const struct name *last; /* the name of the last call of names_add() */
};

/* Return the number of this group of the queue. If `group` has no text, return
 * the number of the queue. A new name gets a new number, and keeps it. Returns
 * 0 if `queue` has no text, and -1 if memory ran out. */
int64_t names_add(struct names *names, const struct word *queue,
		  const struct word *group);
void names_clear(struct names *names);

/* Write a name for a message, such as "queue mail" or "group acme of queue
 * mail". */
void name_write(char *to, size_t room, const struct name *name);

#endif
