/*
 * queries.h - the SQL queries that only one command uses. tools/embed_sql.py
 * makes a table of them from the files of sql/DIALECT/ROOM/, where ROOM is the
 * command's name.
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
