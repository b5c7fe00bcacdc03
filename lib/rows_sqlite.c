/*
 * rows_sqlite.c - a verb's rows of parameters as a table.
 *
 * What unnest() is on other databases: `insert ... select from enqueue_rows`
 * costs a third of as many inserts of one row, since opening five indexes and
 * the sequence costs more than the row does. The columns are the verb's
 * parameters, and `number`, from 1.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "rows_sqlite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sql.h"

struct aux {
	const struct rows *rows;
	const struct rp_sql *sql;
};

struct table {
	sqlite3_vtab base;
	const struct rows *rows;
};

struct cursor {
	sqlite3_vtab_cursor base;
	size_t row;
};

static const struct rows *
rows_of(sqlite3_vtab_cursor *base)
{
	return ((struct table *)base->pVtab)->rows;
}

static int
connect_table(sqlite3 *db, void *p, int argc, const char *const *argv,
	      sqlite3_vtab **ret, char **reterr)
{
	const struct aux *aux = p;
	char columns[1024] = "create table x (number";
	struct table *table;
	int rc;

	(void)argc;
	(void)argv;
	(void)reterr;
	for (size_t i = 0; i < aux->sql->params_count; i++)
		snprintf(columns + strlen(columns),
			 sizeof(columns) - strlen(columns), ", %s",
			 aux->sql->params[i]);
	strncat(columns, ")", sizeof(columns) - strlen(columns) - 1);
	rc = sqlite3_declare_vtab(db, columns);
	if (rc != SQLITE_OK)
		return rc;
	table = sqlite3_malloc(sizeof(*table));
	if (!table)
		return SQLITE_NOMEM;
	memset(table, 0, sizeof(*table));
	table->rows = aux->rows;
	*ret = &table->base;
	return SQLITE_OK;
}

static int
disconnect_table(sqlite3_vtab *table)
{
	sqlite3_free(table);
	return SQLITE_OK;
}

static int
best_index(sqlite3_vtab *table, sqlite3_index_info *info)
{
	(void)table;
	info->estimatedCost = 1000;
	info->estimatedRows = 1000;
	return SQLITE_OK;
}

static int
open_cursor(sqlite3_vtab *table, sqlite3_vtab_cursor **ret)
{
	struct cursor *cursor = sqlite3_malloc(sizeof(*cursor));

	(void)table;
	if (!cursor)
		return SQLITE_NOMEM;
	memset(cursor, 0, sizeof(*cursor));
	*ret = &cursor->base;
	return SQLITE_OK;
}

static int
close_cursor(sqlite3_vtab_cursor *cursor)
{
	sqlite3_free(cursor);
	return SQLITE_OK;
}

static int
filter(sqlite3_vtab_cursor *base, int number, const char *text, int argc,
       sqlite3_value **argv)
{
	(void)number;
	(void)text;
	(void)argc;
	(void)argv;
	((struct cursor *)base)->row = 0;
	return SQLITE_OK;
}

static int
next(sqlite3_vtab_cursor *base)
{
	((struct cursor *)base)->row++;
	return SQLITE_OK;
}

static int
at_end(sqlite3_vtab_cursor *base)
{
	return ((struct cursor *)base)->row >= rows_of(base)->count;
}

static int
column(sqlite3_vtab_cursor *base, sqlite3_context *context, int c)
{
	const struct rows *rows = rows_of(base);
	size_t row = ((struct cursor *)base)->row;
	const struct rp_value *value;

	if (c == 0) {
		sqlite3_result_int64(context, (int64_t)row + 1);
		return SQLITE_OK;
	}
	value = &rows->params[row * rows->width + (size_t)c - 1];
	if (value->type == RP_INT)
		sqlite3_result_int64(context, value->i);
	else if (value->type == RP_TEXT)
		sqlite3_result_text64(context, value->data, value->size,
				      SQLITE_STATIC, SQLITE_UTF8);
	else if (value->type == RP_BLOB && value->size)
		sqlite3_result_blob64(context, value->data, value->size,
				      SQLITE_STATIC);
	else if (value->type == RP_BLOB)
		sqlite3_result_zeroblob(context, 0);
	return SQLITE_OK;
}

static int
rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *ret)
{
	*ret = (int64_t)((struct cursor *)base)->row + 1;
	return SQLITE_OK;
}

static const sqlite3_module module = {
	.xConnect = connect_table,
	.xBestIndex = best_index,
	.xDisconnect = disconnect_table,
	.xOpen = open_cursor,
	.xClose = close_cursor,
	.xFilter = filter,
	.xNext = next,
	.xEof = at_end,
	.xColumn = column,
	.xRowid = rowid,
};

int
rp__rows_tables(sqlite3 *db, const struct rows *rows)
{
	int rc = SQLITE_OK;

	for (int v = 0; v < RP_VERBS && rc == SQLITE_OK; v++) {
		const struct rp_sql *sql = &rp__sql_sqlite[v];
		struct aux *aux;
		char name[64];

		if (!sql->batch)
			continue;
		aux = malloc(sizeof(*aux));
		if (!aux)
			return SQLITE_NOMEM;
		*aux = (struct aux){ rows, sql };
		snprintf(name, sizeof(name), "%s_rows", sql->verb);
		rc = sqlite3_create_module_v2(db, name, &module, aux, free);
	}
	return rc;
}
