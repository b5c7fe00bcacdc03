/*
 * query.c - run SQL other than the library's own operations on a PostgreSQL
 * server.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "postgres.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- parameters ---- */

struct binds {
	const char *values[RP_MOST_NAMES];
	int sizes[RP_MOST_NAMES], formats[RP_MOST_NAMES];
	Oid types[RP_MOST_NAMES];
	char *texts[RP_MOST_NAMES]; /* the elements of `values` that bind()
				     * allocated; free_binds() frees them */
};

static const struct rp_value *
find_param(const struct rp_param *params, const char *name, size_t size)
{
	for (; params && params->name; params++)
		if (strlen(params->name) == size &&
		    memcmp(params->name, name, size) == 0)
			return &params->value;
	return NULL;
}

/* Bind a parameter. An integer is bound as a bigint. A text is bound without a
 * type, like a literal, so the server infers the type from the context. */
static int
bind(struct binds *b, size_t i, const struct rp_value *value, rp_error *error)
{
	if (!value || value->type == RP_NULL)
		return 0;
	if (value->type == RP_BLOB) {
		b->values[i] = value->size ? value->data : "";
		b->sizes[i] = (int)value->size;
		b->formats[i] = 1;
		b->types[i] = OID_BYTEA;
		return 0;
	}
	if (value->type == RP_INT) {
		b->types[i] = OID_INT8;
		if (asprintf(&b->texts[i], "%lld", (long long)value->i) < 0)
			b->texts[i] = NULL;
	} else {
		b->texts[i] =
			strndup(value->size ? value->data : "", value->size);
	}
	b->values[i] = b->texts[i];
	return b->values[i] ? 0 : rp__fail(error, RP_ENOMEM, "out of memory");
}

static void
free_binds(struct binds *b)
{
	for (size_t i = 0; i < RP_MOST_NAMES; i++)
		free(b->texts[i]);
}

/* ---- columns ---- */

static int
digit(char c)
{
	return c <= '9' ? c - '0' : c - 'a' + 10;
}

/* Decode "\x0123", the text form of a bytea, in place. Returns the number of
 * bytes. */
static size_t
read_bytes(char *text, size_t size)
{
	size_t n = 0;

	for (size_t i = 2; i + 1 < size; i += 2)
		text[n++] = (char)(digit(text[i]) * 16 + digit(text[i + 1]));
	return n;
}

static struct rp_value
column(const PGresult *res, int row, int c)
{
	struct rp_value value = { .type = RP_NULL };
	char *text;

	if (PQ(getisnull)(res, row, c))
		return value;
	text = PQ(getvalue)(res, row, c);
	value.data = text;
	value.size = (size_t)PQ(getlength)(res, row, c);
	switch (PQ(ftype)(res, c)) {
	case OID_INT2:
	case OID_INT4:
	case OID_INT8:
		return rp__int(atoll(text));
	case OID_BOOL:
		return rp__int(*text == 't');
	case OID_BYTEA:
		value.type = RP_BLOB;
		value.size = read_bytes(text, value.size);
		return value;
	default:
		value.type = RP_TEXT;
		return value;
	}
}

/* Call the query's row function for each row. */
static int
answer(const struct rp_query *query, const PGresult *res, rp_error *error)
{
	const char *names[RP_QUERY_COLUMNS];
	struct rp_value columns[RP_QUERY_COLUMNS];
	struct rp_row row = { .names = names, .columns = columns };
	int width = PQ(nfields)(res), r = 0;

	if (width > RP_QUERY_COLUMNS)
		return rp__fail(error, RP_EINVAL,
				"a query can return at most %d columns",
				RP_QUERY_COLUMNS);
	row.count = (size_t)width;
	for (int c = 0; c < width; c++)
		names[c] = PQ(fname)(res, c);
	for (int i = 0; query->row && i < PQ(ntuples)(res) && r == 0; i++) {
		for (int c = 0; c < width; c++)
			columns[c] = column(res, i, c);
		r = query->row(query->ctx, &row);
	}
	return rp__row_result(error, r);
}

/* ---- running ---- */

/* Returns 0, RP_ROW_STOP or an error. */
static int
run(struct postgres *s, const struct rp_query *query,
    const struct rp_named *named, rp_error *error)
{
	struct binds b = { .values = { NULL } };
	ExecStatusType status;
	PGresult *res;
	int r = 0;

	for (size_t i = 0; i < named->count && r == 0; i++)
		r = bind(&b, i,
			 find_param(query->params, named->names[i].at,
				    named->names[i].size),
			 error);
	if (r < 0) {
		free_binds(&b);
		return r;
	}
	s->statements++;
	res = PQ(execParams)(s->pg, named->text, (int)named->count, b.types,
			     b.values, b.sizes, b.formats, 0);
	free_binds(&b);
	status = PQ(resultStatus)(res);
	if (status != PGRES_TUPLES_OK && status != PGRES_COMMAND_OK)
		r = rp__postgres_failed(s, res, error);
	if (r == 0)
		r = rp__postgres_check_sure(s, error);
	if (r == 0)
		r = answer(query, res, error);
	PQ(clear)(res);
	return r;
}

static int
run_all(struct postgres *s, const struct rp_query *query, rp_error *error)
{
	const char *sql = query->sql;
	struct rp_named named;
	int r = 0, more;

	while (r == 0 &&
	       (more = rp__postgres_next_statement(&sql, &named, error)) != 0) {
		r = more < 0 ? more : run(s, query, &named, error);
		if (more > 0)
			free(named.text);
	}
	return r;
}

/*
 * Set the server's settings for one query. The settings are local to the
 * query's transaction, because behind a pooler the next transaction may run in
 * another session. If the query has no time-out, the session's own time-out
 * remains.
 *
 * A query with RP_QUERY_READ, such as a query of `readpast doctor`, may run on
 * a database in production and with the rights of an administrator. So its
 * search path has pg_catalog first, and no schema in which other users could
 * create functions. The query does not wait long for a lock, because sessions
 * that request the same lock later would have to wait behind the query. The
 * planner must use indexes, as in the routines, even if the statistics suggest
 * other plans.
 */
static int
set_up(struct postgres *s, const struct rp_query *query, rp_error *error)
{
	char timeout[16];
	const char *const values[] = { query->timeout_ms ? timeout : NULL,
				       s->schema };
	int reads = query->flags & RP_QUERY_READ, r = 0;
	PGresult *res;

	snprintf(timeout, sizeof(timeout), "%d", query->timeout_ms);
	res = PQ(execParams)(
		s->pg,
		reads ? "select pg_catalog.set_config('statement_timeout',"
			" coalesce($1, pg_catalog.current_setting("
			"'statement_timeout')), true),"
			" pg_catalog.set_config('search_path',"
			" pg_catalog.quote_ident($2)"
			" operator(pg_catalog.||) ', pg_temp', true),"
			" pg_catalog.set_config('lock_timeout', '100ms', true),"
			" pg_catalog.set_config('jit', 'off', true),"
			" pg_catalog.set_config('enable_seqscan', 'off', true),"
			" pg_catalog.set_config('enable_bitmapscan', 'off',"
			" true),"
			" pg_catalog.set_config('enable_sort', 'off', true)"
		      : "select pg_catalog.set_config('statement_timeout',"
			" $1, true)",
		reads ? 2 : 1, NULL, values, NULL, NULL, 0);
	if (PQ(resultStatus)(res) != PGRES_TUPLES_OK)
		r = rp__postgres_failed(s, res, error);
	PQ(clear)(res);
	return r;
}

/* Run a query in a transaction of its own. */
static int
run_apart(struct postgres *s, const struct rp_query *query, rp_error *error)
{
	int reads = query->flags & RP_QUERY_READ, r;

	if (PQ(transactionStatus)(s->pg) != PQTRANS_IDLE)
		return rp__fail(error, RP_EINVAL,
				"a read-only query, or a query with a time "
				"limit, cannot run inside a transaction");
	r = rp__postgres_execute(s, reads ? "begin read only" : "begin", error);
	if (r < 0)
		return r;
	r = set_up(s, query, error);
	if (r == 0)
		r = run_all(s, query, error);
	if (r >= 0 && !reads) {
		int failed = rp__postgres_execute(s, "commit", error);

		return failed < 0 ? failed : r;
	}
	rp__postgres_execute(s, "rollback", NULL);
	return r;
}

int
rp__postgres_query(void *db, const struct rp_query *query, rp_error *error)
{
	struct postgres *s = db;
	rp_error why = { 0 };
	int r = query->timeout_ms || query->flags & RP_QUERY_READ
			? run_apart(s, query, &why)
			: run_all(s, query, &why);

	if (r < 0 && query->timeout_ms && strcmp(why.sqlstate, "57014") == 0)
		return RP_TIMED_OUT;
	if (r < 0 && error && *why.message)
		*error = why;
	return r < 0 ? r : 0;
}

/* Only the server knows the other numbers of struct rp_usage. */
void
rp__postgres_measure(void *db, struct rp_usage *ret)
{
	struct postgres *s = db;

	*ret = (struct rp_usage){ .statements = s->statements };
	s->statements = 0;
}
