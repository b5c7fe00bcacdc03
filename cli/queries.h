/*
 * queries.h - a table of the SQL that only one command uses; <room> is that
 * command. tools/embed_sql.py generates the table from sql/<dialect>/<room>/.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#ifndef QUERIES_H
#define QUERIES_H

struct query {
	const char *dialect, *room, *name; /* a NULL name ends the table */
	const char *sql;
};
extern const struct query queries[];

/* Returns the SQL of a query, or NULL if that database has no such query. */
const char *find_query(const char *dialect, const char *room, const char *name);

#endif
