/*
 * schema.c - check the version of the queue's schema on a PostgreSQL server,
 * and create the schema.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "postgres.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SCHEMA_VERSION 1

static int
in_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

char *
rp__postgres_named(const char *schema, const char *sql)
{
	static const char word[] = "readpast";
	size_t length = sizeof(word) - 1, name = strlen(schema), n = 0;
	char *ret, *to;

	for (const char *p = sql; (p = strstr(p, word)); p += length)
		n++;
	ret = to = malloc(strlen(sql) + n * name + 1);
	for (const char *p = sql; ret && *p;) {
		if ((p == sql || !in_word(p[-1])) &&
		    strncmp(p, word, length) == 0 && !in_word(p[length])) {
			to = stpcpy(to, schema);
			p += length;
		} else {
			*to++ = *p++;
		}
	}
	if (ret)
		*to = '\0';
	return ret;
}

/* Set *ret to the first column of the first row, as a number, or to 0 if there
 * is no row or the column is null. Returns 0 or an error. */
static int
read_number(struct postgres *s, const char *sql, int64_t *ret, rp_error *error)
{
	const char *const values[] = { s->schema };
	PGresult *res =
		PQ(execParams)(s->pg, sql, 1, NULL, values, NULL, NULL, 0);
	int r = 0;

	if (PQ(resultStatus)(res) != PGRES_TUPLES_OK)
		r = rp__postgres_failed(s, res, error);
	else
		*ret = PQ(ntuples)(res) ? atoll(PQ(getvalue)(res, 0, 0)) : 0;
	PQ(clear)(res);
	return r;
}

/* Read the version of our schema. *ret is 0 if our schema has no table `meta`
 * and the database has no other tables. *ret is -1 if our schema has no table
 * `meta` but the database has other tables. *ret is OTHER_BUILD if another
 * build of readpast made our schema, with other SQL. */
#define OTHER_BUILD -2
static int
read_version_here(struct postgres *s, int64_t *ret, rp_error *error)
{
	char sql[600];
	int64_t ours = 0, others = 0;
	int r = read_number(s,
			    "select 1 from pg_catalog.pg_tables"
			    " where schemaname operator(pg_catalog.=) $1"
			    "   and tablename operator(pg_catalog.=) 'meta'",
			    &ours, error);

	*ret = 0;
	if (r < 0)
		return r;
	if (ours) {
		snprintf(sql, sizeof(sql),
			 "select case when value::pg_catalog.int8"
			 "                 operator(pg_catalog.>) %d or exists"
			 "         (select from %s.meta"
			 "           where name operator(pg_catalog.=) 'build'"
			 "             and value operator(pg_catalog.=) '%s')"
			 "       then value else '%d' end"
			 "  from %s.meta"
			 " where name operator(pg_catalog.=) 'schema'"
			 "   and $1::pg_catalog.text is not null",
			 SCHEMA_VERSION, s->schema, rp__build_postgres,
			 OTHER_BUILD, s->schema);
		return read_number(s, sql, ret, error);
	}
	r = read_number(
		s,
		"select pg_catalog.count(*) from pg_catalog.pg_tables"
		" where schemaname operator(pg_catalog.<>) all"
		"       (array['pg_catalog', 'information_schema', $1])",
		&others, error);
	*ret = others ? -1 : 0;
	return r;
}

/* Read the schema's version in a transaction or savepoint of its own, so that a
 * failure does not end the caller's transaction. */
static int
read_version(struct postgres *s, int64_t *ret, rp_error *error)
{
	int r = rp__postgres_begin(s, RP_BEGIN_ONCE, error);

	if (r < 0)
		return r;
	r = read_version_here(s, ret, error);
	if (r < 0)
		rp__postgres_rollback(s);
	return r < 0 ? r : rp__postgres_commit(s, error);
}

/* Check that the schema's name is no keyword that needs quotes, because our SQL
 * does not quote the name. */
static int
check_name(struct postgres *s, rp_error *error)
{
	int64_t word = 0;
	int r = read_number(s,
			    "select 1 from pg_catalog.pg_get_keywords()"
			    " where word operator(pg_catalog.=) $1"
			    "   and catcode operator(pg_catalog.<>) 'U'",
			    &word, error);

	if (r == 0 && word)
		return rp__fail(
			error, RP_EINVAL,
			"schema=%.60s is a reserved word of SQL: choose "
			"another name",
			s->schema);
	return r;
}

static int
upgrade_steps(struct postgres *s, rp_error *error)
{
	int64_t version = 0;
	int r = check_name(s, error);

	if (r == 0)
		r = read_version_here(s, &version, error);
	for (int v = version < 0 ? 0 : (int)version;
	     r == 0 && v < SCHEMA_VERSION; v++)
		for (const char *const *step = rp__schema_postgres[v];
		     *step && r == 0; step++) {
			char *sql = rp__postgres_named(s->schema, *step);

			r = sql ? rp__postgres_execute(s, sql, error)
				: rp__fail(error, RP_ENOMEM, "out of memory");
			free(sql);
		}
	s->is_new = r == 0 && version <= 0;
	return r;
}

/* Set the search path to pg_catalog. Then the types, functions and operators in
 * the schema's SQL are the server's own, even if other users have created some
 * with the same name. *was becomes a query result that contains the previous
 * path. */
static int
take_own_path(struct postgres *s, PGresult **was, rp_error *error)
{
	*was = PQ(exec)(
		s->pg,
		"select pg_catalog.current_setting('search_path'),"
		"       pg_catalog.set_config('search_path',"
		"                             'pg_catalog, pg_temp', true)");
	return PQ(resultStatus)(*was) == PGRES_TUPLES_OK
		       ? 0
		       : rp__postgres_failed(s, *was, error);
}

/* Restore the search path, because the caller's transaction may continue after
 * the schema is created. */
static int
give_path_back(struct postgres *s, const PGresult *was, rp_error *error)
{
	const char *const values[] = { PQ(getvalue)(was, 0, 0) };
	PGresult *res =
		PQ(execParams)(s->pg,
			       "select pg_catalog.set_config('search_path', $1,"
			       "                             true)",
			       1, NULL, values, NULL, NULL, 0);
	int r = PQ(resultStatus)(res) == PGRES_TUPLES_OK
			? 0
			: rp__postgres_failed(s, res, error);

	PQ(clear)(res);
	return r;
}

/* Create the schema. If two clients do this at the same time, one of them waits
 * in its first `create` until the other client has committed. After this commit
 * the waiting `create` fails, because the schema exists. An advisory lock would
 * prevent this error, but any user of the server could hold that lock, and so
 * prevent the creation. */
static int
install(struct postgres *s, rp_error *error)
{
	int64_t version = 0;
	PGresult *path = NULL;
	int r = rp__postgres_begin(s, RP_BEGIN_WRITE, error);

	if (r < 0)
		return r;
	r = take_own_path(s, &path, error);
	if (r == 0)
		r = upgrade_steps(s, error);
	if (r == 0)
		r = give_path_back(s, path, error);
	PQ(clear)(path);
	if (r == 0)
		return rp__postgres_commit(s, error);
	rp__postgres_rollback(s);
	s->is_new = 0;
	return read_version(s, &version, NULL) == 0 && version == SCHEMA_VERSION
		       ? 0
		       : r;
}

int
rp__postgres_schema_sql(const struct rp_url *url, rp_sql_fn *statement,
			rp_error *reterr)
{
	const char *schema = url->schema ? url->schema : "readpast";

	statement("begin");
	statement("set local search_path = pg_catalog, pg_temp");
	for (int v = 0; v < SCHEMA_VERSION; v++)
		for (const char *const *step = rp__schema_postgres[v]; *step;
		     step++) {
			char *sql = rp__postgres_named(schema, *step);

			if (!sql)
				return rp__fail(reterr, RP_ENOMEM,
						"out of memory");
			statement(sql);
			free(sql);
		}
	statement("commit");
	return 0;
}

/* With another encoding, the database could not store every text, such as the
 * error of a handler. */
static int
check_encoding(struct postgres *s, rp_error *error)
{
	const char *name = PQ(parameterStatus)(s->pg, "server_encoding");

	return !name || strcmp(name, "UTF8") == 0
		       ? 0
		       : rp__fail(error, RP_ESCHEMA,
				  "the encoding of database %.60s is %.20s: "
				  "use a database with the encoding UTF8",
				  PQ(db)(s->pg), name);
}

int
rp__postgres_check_schema(struct postgres *s, int schema, rp_error *error)
{
	int64_t version = 0;
	int r = check_encoding(s, error);

	if (r == 0)
		r = read_version(s, &version, error);
	if (r < 0)
		return r;
	if (version > SCHEMA_VERSION)
		return rp__fail(error, RP_ESCHEMA,
				"schema %.60s is of version %lld, newer than "
				"this readpast's %d: upgrade readpast",
				s->schema, (long long)version, SCHEMA_VERSION);
	if (version == OTHER_BUILD)
		return rp__fail(error, RP_ESCHEMA,
				"schema %.60s was made by an earlier build of "
				"readpast: finish its jobs with that build, or "
				"use a new schema",
				s->schema);
	if (version < 0 && schema == RP_SCHEMA_CREATE)
		return rp__fail(error, RP_ESCHEMA,
				"database %.60s has other tables but no "
				"schema %.60s: readpast init creates it",
				PQ(db)(s->pg), s->schema);
	if (version <= 0 && schema == RP_SCHEMA_REQUIRE)
		return rp__fail(error, RP_ESCHEMA,
				"database %.60s has no schema %.60s: readpast"
				" init creates it",
				PQ(db)(s->pg), s->schema);
	return version < SCHEMA_VERSION ? install(s, error) : 0;
}
