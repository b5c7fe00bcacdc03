/*
 * queries.c - find an SQL query that only one command uses; see queries.h.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "queries.h"

#include <string.h>

const char *
find_query(const char *dialect, const char *room, const char *name)
{
	const struct query *q = queries;

	while (q->name &&
	       (strcmp(q->dialect, dialect) != 0 ||
		strcmp(q->room, room) != 0 || strcmp(q->name, name) != 0))
		q++;
	return q->sql;
}
