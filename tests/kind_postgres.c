/*
 * kind_postgres.c - make and remove a test database on PostgreSQL: a schema on
 * the server that READPAST_TEST_POSTGRES names.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include <ctype.h>
#include <libpq-fe.h>

#include "kinds.h"

/* Return the URL of the server. */
static const char *
server(void)
{
	const char *url = getenv("READPAST_TEST_POSTGRES");

	if (url)
		return url;
	fprintf(stderr, "READPAST_TEST_POSTGRES names no server: "
			"tools/run-tests starts one\n");
	exit(1);
}

static void
name_schema(struct db *db)
{
	snprintf(db->schema, sizeof(db->schema), "t_%s",
		 strrchr(db->dir, '.') + 1);
	for (char *p = db->schema; *p; p++)
		*p = (char)tolower((unsigned char)*p);
	/* With this search_path, tables that tests create are in this schema,
	 * too. */
	snprintf(db->url, sizeof(db->url),
		 "%.200s&schema=%s&options=-csearch_path%%3D%s"
		 "&application_name=%s",
		 server(), db->schema, db->schema, db->schema);
}

static void
hush(void *ctx, const char *message)
{
	(void)ctx;
	(void)message;
}

static void
drop_schema(const struct db *db)
{
	PGconn *pg = PQconnectdb(server());
	char sql[100];

	snprintf(sql, sizeof(sql), "drop schema if exists %s cascade",
		 db->schema);
	PQsetNoticeProcessor(pg, hush, NULL);
	PQclear(PQexec(pg, sql));
	PQfinish(pg);
}

static int
run_on_server(void *native, const char *sql, int64_t *ret)
{
	PGresult *res = PQexec(native, sql);
	int ok = PQresultStatus(res) == PGRES_TUPLES_OK ||
		 PQresultStatus(res) == PGRES_COMMAND_OK;

	if (ret && PQntuples(res))
		*ret = atoll(PQgetvalue(res, 0, 0));
	PQclear(res);
	return ok ? 0 : -1;
}

static PGresult *
ask(PGconn *pg, const char *sql)
{
	PGresult *res = PQexec(pg, sql);

	if (PQresultStatus(res) != PGRES_TUPLES_OK &&
	    PQresultStatus(res) != PGRES_COMMAND_OK)
		fail_msg("%s: %s", sql, PQerrorMessage(pg));
	return res;
}

static void
print_schema(rp_conn *conn, FILE *to)
{
	PGconn *pg = rp_conn_native(conn);
	char sql[300];
	PGresult *tables;

	snprintf(
		sql, sizeof(sql),
		"select c.oid::regclass::text from pg_class c"
		" where c.relkind = 'r' and c.relnamespace = '%s'::regnamespace"
		" order by 1",
		rp_conn_schema(conn));
	tables = ask(pg, sql);
	for (int t = 0; t < PQntuples(tables); t++) {
		const char *table = PQgetvalue(tables, t, 0);
		PGresult *rows;

		snprintf(sql, sizeof(sql),
			 "select t::text from %s t order by 1", table);
		rows = ask(pg, sql);
		for (int i = 0; i < PQntuples(rows); i++)
			fprintf(to, "%s %s\n", table, PQgetvalue(rows, i, 0));
		PQclear(rows);
	}
	PQclear(tables);
}

const struct kind kind_postgres = {
	.scheme = "postgres",
	.name = name_schema,
	.drop = drop_schema,
	.run = run_on_server,
	.print = print_schema,
};
