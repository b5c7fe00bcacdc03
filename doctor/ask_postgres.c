/*
 * ask_postgres.c - put a question to a PostgreSQL server.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include <stdlib.h>
#include <string.h>

#include "doctor.h"
#include "db/postgres/libpq.h"

#define STATEMENT_TIMEOUT "300ms"
#define OID_BOOL 16
#define OID_INT8 20
#define OID_INT2 21
#define OID_INT4 23

static json_t *
row_of(const PGresult *res, int row)
{
	json_t *object = json_object();

	for (int i = 0; object && i < PQ(nfields)(res); i++) {
		const char *text = PQ(getvalue)(res, row, i);
		Oid type = PQ(ftype)(res, i);
		json_t *value;

		if (PQ(getisnull)(res, row, i))
			value = json_null();
		else if (type == OID_INT8 || type == OID_INT4 ||
			 type == OID_INT2)
			value = json_integer(atoll(text));
		else if (type == OID_BOOL)
			value = json_boolean(*text == 't');
		else
			value = json_string(text);
		json_object_set_new(object, PQ(fname)(res, i), value);
	}
	return object;
}

/* Why it failed, and if that was for want of rights or time, in few words. */
static int
failed(struct doctor *d, const PGconn *pg, const PGresult *res)
{
	const char *state = PQ(resultErrorField)(res, PG_DIAG_SQLSTATE);
	const char *text = PQ(resultErrorField)(res, PG_DIAG_MESSAGE_PRIMARY);

	if (state && strcmp(state, "57014") == 0)
		return doctor_undone(d, "stopped after %s", STATEMENT_TIMEOUT);
	if (!text)
		text = PQ(errorMessage)(pg);
	return doctor_undone(d, "%.*s", (int)strcspn(text, "\n"), text);
}

/* A transaction for each: behind a pooler no setting would stay. Of the path
 * pg_catalog comes first where it is not named, and what others may write to is
 * not in it. Plans are those of the routines: whatever the statistics say, they
 * walk indexes. */
static int
begin(PGconn *pg, const char *schema)
{
	const char *const values[] = { schema, STATEMENT_TIMEOUT };
	PGresult *res = PQ(exec)(pg, "begin read only");
	int good = PQ(resultStatus)(res) == PGRES_COMMAND_OK;

	PQ(clear)(res);
	if (!good)
		return -1;
	res = PQ(execParams)(
		pg,
		"select pg_catalog.set_config('search_path',"
		" pg_catalog.quote_ident($1)"
		" operator(pg_catalog.||) ', pg_temp', true),"
		" pg_catalog.set_config('statement_timeout', $2, true),"
		" pg_catalog.set_config('lock_timeout', '100ms', true),"
		" pg_catalog.set_config('jit', 'off', true),"
		" pg_catalog.set_config('enable_seqscan', 'off', true),"
		" pg_catalog.set_config('enable_bitmapscan', 'off', true),"
		" pg_catalog.set_config('enable_sort', 'off', true)",
		2, NULL, values, NULL, NULL, 0);
	good = PQ(resultStatus)(res) == PGRES_TUPLES_OK;
	PQ(clear)(res);
	return good ? 0 : -1;
}

int
ask_postgres(struct doctor *d, const char *sql, json_t *rows)
{
	PGconn *pg = rp_conn_native(d->conn);
	char long_ms[24], now_ms[24];
	const char *const given[] = { long_ms, now_ms };
	PGresult *res;
	int r = 0;

	snprintf(long_ms, sizeof(long_ms), "%lld", (long long)d->long_ms);
	snprintf(now_ms, sizeof(now_ms), "%lld", (long long)d->now_ms);
	if (begin(pg, rp_conn_schema(d->conn)) < 0)
		return failed(d, pg, NULL);
	res = PQ(execParams)(pg, sql,
			     strstr(sql, "$2")   ? 2
			     : strstr(sql, "$1") ? 1
						 : 0,
			     NULL, given, NULL, NULL, 0);
	if (PQ(resultStatus)(res) != PGRES_TUPLES_OK)
		r = failed(d, pg, res);
	for (int row = 0; row < PQ(ntuples)(res) && r == 0; row++)
		r = json_array_append_new(rows, row_of(res, row));
	PQ(clear)(res);
	PQ(clear)(PQ(exec)(pg, "rollback"));
	return r;
}
