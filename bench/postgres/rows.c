/*
 * rows.c - make the names of the rows of the report, and add these rows.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "pg.h"

char *
row_name(const struct side *side, const char *what, size_t batch)
{
	return text("%s%s.%zu", side->prefix, what, batch);
}

/* Add a row to the report. `relation` is NULL if the row has no goal. */
void
row_add(const struct bench *b, const char *name, const char *unit,
	const char *over, const char *relation, double goal)
{
	report_row(b->report, name, unit, over, 0);
	if (relation)
		report_goal(b->report, name, relation, goal);
}
