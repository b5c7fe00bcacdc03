/*
 * rows.c - table-valued SQL functions that read arrays in C. The arrays are the
 * rows of parameters of a verb (an operation of the library), and the ids of
 * the rows that a callback has taken.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 *
 * These functions do what unnest() does on other databases. `insert ... select
 * from readpast_enqueue_rows(:rows)` costs a third of inserting the rows one by
 * one, because opening five indexes and the sequence costs more than a row
 * itself.
 *
 * The columns are `number`, counted from 1, and the verb's parameters. For a
 * large payload, the column `apart` has the payload and the column `payload`
 * its size. The function's argument is a pointer, which only C code can bind,
 * so no other SQL can use the function.
 */
#include "rows.h"

#include <stdio.h>
#include <string.h>

#include "sqlite.h"

#define POINTER_TYPE "readpast_rows 1"

struct table {
	sqlite3_vtab base;
	int payload_column; /* index of the column `payload`; 0: there is
			     * none */
	int apart_column;
	int rows_column;
};

struct cursor {
	sqlite3_vtab_cursor base;
	const struct rows *rows;
	size_t row;
};

struct rp_value
rp__rows_payload(const struct rp_value *payload, int apart)
{
	if ((payload->size > MOST_IN_ROW) == apart)
		return *payload;
	return (struct rp_value){ .type = apart ? RP_NULL : RP_INT,
				  .i = (int64_t)payload->size };
}

/* Write the columns of the table as a `create table` statement. */
static void
declare_columns(const struct rp_sql *sql, struct table *table, char *columns,
		size_t room)
{
	int n = 0;

	snprintf(columns, room, "create table x (number");
	for (size_t i = 0; i < sql->params_count; i++) {
		n++;
		if (strcmp(sql->params[i], "payload") == 0)
			table->payload_column = n;
		snprintf(columns + strlen(columns), room - strlen(columns),
			 ", %s", sql->params[i]);
	}
	table->apart_column = n + 1;
	table->rows_column = n + 2;
	snprintf(columns + strlen(columns), room - strlen(columns),
		 ", apart, rows hidden)");
}

static int
connect_table(sqlite3 *db, void *p, int argc, const char *const *argv,
	      sqlite3_vtab **ret, char **reterr)
{
	const struct rp_sql *sql = p;
	char columns[1024];
	struct table declared = { 0 }, *table;
	int rc;

	(void)argc;
	(void)argv;
	(void)reterr;
	declare_columns(sql, &declared, columns, sizeof(columns));
	rc = sqlite3_declare_vtab(db, columns);
	if (rc != SQLITE_OK)
		return rc;
	sqlite3_vtab_config(db, SQLITE_VTAB_DIRECTONLY);
	table = sqlite3_malloc(sizeof(*table));
	if (!table)
		return SQLITE_NOMEM;
	*table = declared;
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
best_index(sqlite3_vtab *base, sqlite3_index_info *info)
{
	const struct table *table = (const struct table *)base;

	info->estimatedCost = 1000;
	info->estimatedRows = 1000;
	for (int i = 0; i < info->nConstraint; i++) {
		if (info->aConstraint[i].iColumn != table->rows_column ||
		    !info->aConstraint[i].usable)
			continue;
		info->aConstraintUsage[i].argvIndex = 1;
		info->aConstraintUsage[i].omit = 1;
		return SQLITE_OK;
	}
	return SQLITE_CONSTRAINT;
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
	struct cursor *cursor = (struct cursor *)base;

	(void)number;
	(void)text;
	(void)argc;
	cursor->rows = sqlite3_value_pointer(argv[0], POINTER_TYPE);
	cursor->row = 0;
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
	const struct cursor *cursor = (const struct cursor *)base;

	return !cursor->rows || cursor->row >= cursor->rows->count;
}

static int
column(sqlite3_vtab_cursor *base, sqlite3_context *context, int c)
{
	const struct cursor *cursor = (const struct cursor *)base;
	const struct table *table = (const struct table *)base->pVtab;
	const struct rows *rows = cursor->rows;
	const struct rp_value *value;
	struct rp_value payload;
	int apart = c == table->apart_column;

	if (c == 0) {
		sqlite3_result_int64(context, (int64_t)cursor->row + 1);
		return SQLITE_OK;
	}
	if (apart)
		c = table->payload_column;
	if (c == 0 || (size_t)c > rows->width)
		return SQLITE_OK;
	value = &rows->params[cursor->row * rows->width + (size_t)c - 1];
	if (c == table->payload_column) {
		payload = rp__rows_payload(value, apart);
		value = &payload;
	}
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
	*ret = (int64_t)((const struct cursor *)base)->row + 1;
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
rp__rows_bind(sqlite3_stmt *stmt, int i, const struct rows *rows)
{
	return sqlite3_bind_pointer(stmt, i, (void *)(uintptr_t)rows,
				    POINTER_TYPE, NULL);
}

/* Returns 1 if the connection already has this module (the code of a
 * table-valued function). This is so if a caller has attached the same
 * connection before. Creating the module again would replace it while
 * statements use it.
 *
 * The check takes a twelfth of the instructions of a short command, so it is
 * not made on a connection that was just opened. It uses a pragma, because the
 * table-valued function pragma_module_list would read the database. */
static int
is_there(sqlite3 *db, const char *name)
{
	sqlite3_stmt *stmt = NULL;
	int there = 0;

	if (sqlite3_prepare_v2(db, "pragma module_list", -1, &stmt, NULL) ==
	    SQLITE_OK)
		while (!there && sqlite3_step(stmt) == SQLITE_ROW)
			there = strcmp((const char *)sqlite3_column_text(stmt,
									 0),
				       name) == 0;
	sqlite3_finalize(stmt);
	return there;
}

static int
make_table(sqlite3 *db, const char *name, const struct rp_sql *columns,
	   int is_new)
{
	if (!is_new && is_there(db, name))
		return SQLITE_OK;
	return sqlite3_create_module_v2(db, name, &module,
					(void *)(uintptr_t)columns, NULL);
}

int
rp__rows_tables(sqlite3 *db, int is_new)
{
	static const char *const id[] = { "id", NULL };
	static const struct rp_sql taken = { .params = id, .params_count = 1 };
	int rc = make_table(db, "readpast_taken", &taken, is_new);

	for (int v = 0; v < RP_VERBS && rc == SQLITE_OK; v++) {
		const struct rp_sql *sql = &rp__sql_sqlite[v];
		char name[64];

		if (!sql->batch)
			continue;
		snprintf(name, sizeof(name), "readpast_%s_rows", sql->verb);
		rc = make_table(db, name, sql, is_new);
	}
	return rc;
}
