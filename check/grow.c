/*
 * grow.c - make room in an array that grows.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "grow.h"

#include <stdlib.h>

void *
grow(void *items, size_t count, size_t *room, size_t size)
{
	size_t larger = *room ? *room * 2 : 64;

	if (count < *room)
		return items;
	items = realloc(items, larger * size);
	if (items)
		*room = larger;
	return items;
}
