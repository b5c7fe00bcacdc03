/*
 * ext_table.c - SQL functions that return a table, as in `select * from
 * readpast_stats()`.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 *
 * The whole call is done before the first row is returned. By then the call is
 * also committed, unless a transaction of the host is open. The arguments are
 * hidden columns, after the columns of the result.
 *
 * The extension keeps a handle of the library, and that handle keeps prepared
 * statements on the host's connection. SQLite refuses to close a connection
 * that has prepared statements. But SQLite first disconnects the virtual
 * tables. So the extension closes its handle when the last of its tables is
 * disconnected, and then the connection can be closed.
 */
#include <stdlib.h>
#include <string.h>

#include "ext.h"

struct module {
	struct ext *ext;
	const struct ext_function *function;
	int columns;
};

/* The table has copies of the module's fields, because SQLite may free the
 * module while the table still exists. */
struct table {
	sqlite3_vtab base;
	struct ext *ext;
	const struct ext_function *function;
	int columns;
};

struct cursor {
	sqlite3_vtab_cursor base;
	struct ext_rows rows;
	size_t row;
	struct rp_value columns[EXT_MOST_COLUMNS]; /* the columns of the current
						    * row */
};

/* Write the `create table` statement of a function's table. The arguments are
 * hidden columns. A hidden column does not have the name of its argument,
 * because a result column may have the same name. */
static char *
declare(const struct ext_function *function)
{
	char *sql = sqlite3_mprintf("create table x (%s", function->columns);

	for (int i = 0; i < ext_arguments(function) && sql; i++) {
		char *more = sqlite3_mprintf("%s, argument_%d hidden", sql, i);

		sqlite3_free(sql);
		sql = more;
	}
	if (sql) {
		char *whole = sqlite3_mprintf("%s)", sql);

		sqlite3_free(sql);
		sql = whole;
	}
	return sql;
}

static int
connect_table(sqlite3 *db, void *aux, int argc, const char *const *argv,
	      sqlite3_vtab **ret, char **reterr)
{
	struct module *module = aux;
	struct table *table = sqlite3_malloc(sizeof(*table));
	char *sql = declare(module->function);
	int rc = table && sql ? sqlite3_declare_vtab(db, sql) : SQLITE_NOMEM;

	(void)argc;
	(void)argv;
	(void)reterr;
	sqlite3_free(sql);
	if (rc != SQLITE_OK) {
		sqlite3_free(table);
		return rc;
	}
	sqlite3_vtab_config(db, SQLITE_VTAB_DIRECTONLY);
	*table = (struct table){ .ext = module->ext,
				 .function = module->function,
				 .columns = module->columns };
	ext_add_anchor(table->ext);
	*ret = &table->base;
	return SQLITE_OK;
}

static int
disconnect_table(sqlite3_vtab *base)
{
	ext_lose_anchor(((struct table *)base)->ext);
	sqlite3_free(base);
	return SQLITE_OK;
}

/* Pass the arguments to filter() in the order of their columns. `idxNum` has a
 * bit for each argument that is given. The cost is set high, so that a join
 * uses the table as its outer loop and calls the function once. */
static int
best_index(sqlite3_vtab *base, sqlite3_index_info *info)
{
	const struct table *table = (const struct table *)base;
	int arguments = ext_arguments(table->function), next = 1, there = 0;
	int needed = (1 << table->function->least) - 1;
	char signature[200];

	for (int a = 0; a < arguments; a++)
		for (int i = 0; i < info->nConstraint; i++) {
			if (info->aConstraint[i].iColumn != table->columns + a)
				continue;
			if (!info->aConstraint[i].usable)
				return SQLITE_CONSTRAINT;
			info->aConstraintUsage[i].argvIndex = next++;
			info->aConstraintUsage[i].omit = 1;
			there |= 1 << a;
			break;
		}
	if ((there & needed) != needed) {
		ext_signature(table->function, signature, sizeof(signature));
		sqlite3_free(base->zErrMsg);
		base->zErrMsg = sqlite3_mprintf(
			"readpast: arguments are missing: readpast_%s(%s)",
			table->function->name, signature);
		return SQLITE_ERROR;
	}
	info->idxNum = there;
	info->estimatedCost = 1e9;
	info->estimatedRows = 10;
	return SQLITE_OK;
}

static int
open_cursor(sqlite3_vtab *table, sqlite3_vtab_cursor **ret)
{
	struct cursor *cursor = sqlite3_malloc(sizeof(*cursor));

	(void)table;
	if (!cursor)
		return SQLITE_NOMEM;
	*cursor = (struct cursor){ .row = 0 };
	*ret = &cursor->base;
	return SQLITE_OK;
}

static void
drop_rows(struct cursor *cursor)
{
	if (cursor->rows.free)
		cursor->rows.free(cursor->rows.data);
	cursor->rows = (struct ext_rows){ .count = 0 };
	cursor->row = 0;
}

static int
close_cursor(sqlite3_vtab_cursor *base)
{
	struct cursor *cursor = (struct cursor *)base;

	drop_rows(cursor);
	sqlite3_free(cursor);
	return SQLITE_OK;
}

static void
read_row(struct cursor *cursor)
{
	if (cursor->row < cursor->rows.count)
		cursor->rows.read(cursor->rows.data, cursor->row,
				  cursor->columns);
}

static int
say(sqlite3_vtab_cursor *base, const rp_error *error)
{
	sqlite3_free(base->pVtab->zErrMsg);
	base->pVtab->zErrMsg = sqlite3_mprintf("readpast: %s", error->message);
	return error->code == RP_EBUSY    ? SQLITE_BUSY
	       : error->code == RP_ENOMEM ? SQLITE_NOMEM
					  : SQLITE_ERROR;
}

static int
filter(sqlite3_vtab_cursor *base, int there, const char *text, int argc,
       sqlite3_value **argv)
{
	struct cursor *cursor = (struct cursor *)base;
	const struct table *table = (const struct table *)base->pVtab;
	sqlite3_value *arguments[EXT_MOST_ARGUMENTS + 1] = { NULL };
	struct ext_call call;
	int r, rc = SQLITE_OK;

	(void)text;
	(void)argc;
	drop_rows(cursor);
	for (int a = 0; a < EXT_MOST_ARGUMENTS; a++)
		if (there & (1 << a))
			arguments[a] = *argv++;
	r = ext_begin(&call, table->ext, table->function, arguments);
	if (r == 0)
		r = table->function->fetch(&call, &cursor->rows);
	if (r < 0)
		rc = say(base, ext_error(&call));
	else
		read_row(cursor);
	ext_end(&call);
	return rc;
}

static int
next(sqlite3_vtab_cursor *base)
{
	struct cursor *cursor = (struct cursor *)base;

	cursor->row++;
	read_row(cursor);
	return SQLITE_OK;
}

static int
at_end(sqlite3_vtab_cursor *base)
{
	const struct cursor *cursor = (const struct cursor *)base;

	return cursor->row >= cursor->rows.count;
}

static int
column(sqlite3_vtab_cursor *base, sqlite3_context *context, int c)
{
	const struct cursor *cursor = (const struct cursor *)base;
	const struct table *table = (const struct table *)base->pVtab;

	if (c < table->columns)
		ext_result(context, &cursor->columns[c]);
	return SQLITE_OK;
}

static int
rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *ret)
{
	*ret = (int64_t)((const struct cursor *)base)->row + 1;
	return SQLITE_OK;
}

static const sqlite3_module methods = {
	.xCreate = connect_table,
	.xConnect = connect_table,
	.xBestIndex = best_index,
	.xDisconnect = disconnect_table,
	.xDestroy = disconnect_table,
	.xOpen = open_cursor,
	.xClose = close_cursor,
	.xFilter = filter,
	.xNext = next,
	.xEof = at_end,
	.xColumn = column,
	.xRowid = rowid,
};

static void
release_module(void *p)
{
	struct module *module = p;

	ext_release(module->ext);
	sqlite3_free(module);
}

int
ext_table_module(sqlite3 *db, struct ext *ext,
		 const struct ext_function *function)
{
	struct module *module = sqlite3_malloc(sizeof(*module));
	char *name = sqlite3_mprintf("readpast_%s", function->name);
	int rc = SQLITE_NOMEM;

	if (module && name) {
		*module = (struct module){ ext, function, 1 };
		for (const char *c = function->columns; *c; c++)
			module->columns += *c == ',';
		ext->uses++; /* release_module() undoes this. SQLite calls
			      * release_module() even if the next call fails */
		rc = sqlite3_create_module_v2(db, name, &methods, module,
					      release_module);
		if (rc == SQLITE_OK)
			ext_make_temporary(db, name);
	} else {
		sqlite3_free(module);
	}
	sqlite3_free(name);
	return rc;
}
