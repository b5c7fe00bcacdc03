/*
 * query.c - run SQL other than the library's own operations on a SQLite file.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "sqlite.h"

#include <string.h>

/* The number of instructions that SQLite's virtual machine executes between two
 * checks of the time-out. */
#define STEPS 1000

static int
is_over(void *until)
{
	return rp__monotonic_ms() >= *(const int64_t *)until;
}

/* Bind the parameters. A parameter without a value is null. */
static int
bind_all(sqlite3_stmt *stmt, const struct rp_param *params)
{
	int rc = SQLITE_OK, n = sqlite3_bind_parameter_count(stmt);

	for (int i = 1; i <= n && rc == SQLITE_OK; i++) {
		const char *name = sqlite3_bind_parameter_name(stmt, i);
		const struct rp_param *p = params;

		while (p && p->name && name && strcmp(p->name, name + 1) != 0)
			p++;
		if (p && p->name && name)
			rc = rp__sqlite_bind(stmt, i, &p->value);
	}
	return rc;
}

static struct rp_value
column(sqlite3_stmt *stmt, int i)
{
	struct rp_value value = { .type = RP_NULL };

	switch (sqlite3_column_type(stmt, i)) {
	case SQLITE_NULL:
		return value;
	case SQLITE_INTEGER:
		return rp__int(sqlite3_column_int64(stmt, i));
	case SQLITE_BLOB:
		value.type = RP_BLOB;
		value.data = sqlite3_column_blob(stmt, i);
		break;
	default:
		value.type = RP_TEXT;
		value.data = sqlite3_column_text(stmt, i);
		break;
	}
	value.size = (size_t)sqlite3_column_bytes(stmt, i);
	return value;
}

/* Call the query's row function for one row. */
static int
answer(const struct rp_query *query, sqlite3_stmt *stmt)
{
	const char *names[RP_QUERY_COLUMNS];
	struct rp_value columns[RP_QUERY_COLUMNS];
	struct rp_row row = { .names = names, .columns = columns };

	row.count = (size_t)sqlite3_column_count(stmt);
	for (size_t i = 0; i < row.count; i++) {
		names[i] = sqlite3_column_name(stmt, (int)i);
		columns[i] = column(stmt, (int)i);
	}
	return query->row(query->ctx, &row);
}

static int
refuse(sqlite3_stmt *stmt, const struct rp_query *query, rp_error *error)
{
	if (sqlite3_column_count(stmt) > RP_QUERY_COLUMNS)
		return rp__fail(error, RP_EINVAL,
				"a query can return at most %d columns",
				RP_QUERY_COLUMNS);
	if (query->flags & RP_QUERY_READ && !sqlite3_stmt_readonly(stmt))
		return rp__fail(error, RP_EREADONLY,
				"this query may only read, but it would write");
	return 0;
}

static int
run(struct sqlite *s, const struct rp_query *query, sqlite3_stmt *stmt,
    rp_error *error)
{
	int rc, r = refuse(stmt, query, error);

	if (r < 0)
		return r;
	rc = bind_all(stmt, query->params);
	while (rc == SQLITE_OK && (rc = sqlite3_step(stmt)) == SQLITE_ROW) {
		r = query->row ? answer(query, stmt) : 0;
		if (r != 0)
			return rp__row_result(error, r);
		rc = SQLITE_OK;
	}
	return rc == SQLITE_DONE ? 0 : rp__sqlite_failed(s, rc, error);
}

static int
run_all(struct sqlite *s, const struct rp_query *query, rp_error *error)
{
	const char *sql = query->sql;
	int r = 0;

	while (*sql && r == 0) {
		sqlite3_stmt *stmt;
		int rc = sqlite3_prepare_v2(s->db, sql, -1, &stmt, &sql);

		r = rc != SQLITE_OK ? rp__sqlite_failed(s, rc, error)
		    : stmt          ? run(s, query, stmt, error)
				    : 0;
		sqlite3_finalize(stmt);
	}
	return r;
}

int
rp__sqlite_query(void *db, const struct rp_query *query, rp_error *error)
{
	struct sqlite *s = db;
	int64_t until = rp__monotonic_ms() + query->timeout_ms;
	rp_error why = { 0 };
	int r;

	if ((query->timeout_ms || query->flags & RP_QUERY_READ) &&
	    !sqlite3_get_autocommit(s->db))
		return rp__fail(error, RP_EINVAL,
				"a read-only query, or a query with a time "
				"limit, cannot run inside a transaction");
	r = query->flags & RP_QUERY_READ && !s->attached
		    ? rp__sqlite_check_files(s, error)
		    : 0;
	if (r < 0)
		return r;
	if (query->timeout_ms)
		sqlite3_progress_handler(s->db, STEPS, is_over, &until);
	r = run_all(s, query, &why);
	if (query->timeout_ms) {
		sqlite3_progress_handler(s->db, 0, NULL, NULL);
		if (r == RP_EDB && (why.native & 0xff) == SQLITE_INTERRUPT)
			return RP_TIMED_OUT;
	}
	if (r < 0 && error && *why.message)
		*error = why;
	return r < 0 ? r : 0;
}
