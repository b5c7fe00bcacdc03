/*
 * queries.h - the SQL of commands, made of sql/<dialect>/<room>/ by
 * tools/embed_sql.py.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#ifndef QUERIES_H
#define QUERIES_H

struct query {
	const char *dialect, *room, *name; /* NULL: the end */
	const char *sql;
};
extern const struct query queries[];

/* NULL: that database has none of this name. */
const char *find_query(const char *dialect, const char *room, const char *name);

#endif
