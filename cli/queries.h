/*
 * queries.h - the SQL of commands, generated from sql/<dialect>/<room>/ by
 * tools/embed_sql.py.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#ifndef QUERIES_H
#define QUERIES_H

struct query {
	const char *dialect, *room, *name; /* NULL ends the table */
	const char *sql;
};
extern const struct query queries[];

/* Returns NULL if that database has no such query. */
const char *find_query(const char *dialect, const char *room, const char *name);

#endif
