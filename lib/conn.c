/*
 * conn.c - open and close handles (connections to a database), and run SQL
 * other than the library's own operations.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "internal.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "db/databases.h"

/* Returns NULL if memory ran out. */
static rp_conn *
make_conn(const struct rp_database *database)
{
	rp_conn *conn = calloc(1, sizeof(*conn));

	if (!conn)
		return NULL;
	conn->pid = getpid();
	conn->swept_at = rp__monotonic_ms();
	conn->database = database;
	conn->backend = database->backend;
	return conn;
}

static int
open_url(const struct rp_url *url, int schema, rp_conn **ret, rp_error *reterr)
{
	rp_conn *conn = make_conn(url->database);
	int r;

	if (!conn)
		return rp__fail(reterr, RP_ENOMEM, "out of memory");
	r = conn->backend->open(url, schema, &conn->db, reterr);
	if (r < 0)
		free(conn);
	else
		*ret = conn;
	return r;
}

/* Check the caller's options and copy them. check_schema: the function that
 * checks a schema's name; NULL: the options must not name a schema. */
static int
read_options(const rp_options *options,
	     int (*check_schema)(const char *name, rp_error *reterr),
	     rp_options *ret, rp_error *reterr)
{
	*ret = (rp_options)RP_OPTIONS_INIT;
	if (options)
		rp__copy_struct(ret, options, options->size, sizeof(*ret));
	if (ret->schema < RP_SCHEMA_CREATE || ret->schema > RP_SCHEMA_REQUIRE)
		return rp__fail(reterr, RP_EINVAL,
				"unknown schema option %d: use RP_SCHEMA_*",
				ret->schema);
	if (ret->schema_name && !check_schema)
		return rp__fail(reterr, RP_EINVAL,
				"schema_name is only for rp_attach() on "
				"PostgreSQL: in a URL, write ?schema=NAME");
	return ret->schema_name ? check_schema(ret->schema_name, reterr) : 0;
}

int
rp_open(const char *url, const rp_options *options, rp_conn **ret,
	rp_error *reterr)
{
	struct rp_url parsed;
	rp_options o;
	int r;

	if (!ret)
		return rp__fail(reterr, RP_EINVAL, "rp_open: ret is NULL");
	r = read_options(options, NULL, &o, reterr);
	if (r < 0)
		return r;
	r = rp__url_parse(url, &parsed, reterr);
	if (r < 0)
		return r;
	r = open_url(&parsed, o.schema, ret, reterr);
	rp__url_free(&parsed);
	return r;
}

int
rp_attach(const char *scheme, void *native, const rp_options *options,
	  rp_conn **ret, rp_error *reterr)
{
	const struct rp_database *database;
	char urls[RP_URLS];
	rp_conn *conn;
	rp_options o;
	int r;

	if (!scheme || !native || !ret)
		return rp__fail(reterr, RP_EINVAL,
				"rp_attach: scheme, native or ret is NULL");
	database = rp__database_find(scheme, strlen(scheme));
	if (!database)
		return rp__fail(reterr, RP_EINVAL,
				"unknown database scheme \"%.40s\": use the "
				"scheme of %s",
				scheme, rp__database_urls(urls));
	r = rp__database_check(database, reterr);
	if (r == 0)
		r = read_options(options, database->backend->check_schema, &o,
				 reterr);
	if (r < 0)
		return r;
	conn = make_conn(database);
	if (!conn)
		return rp__fail(reterr, RP_ENOMEM, "out of memory");
	r = conn->backend->attach(native, &o, &conn->db, reterr);
	if (r < 0)
		free(conn);
	else
		*ret = conn;
	return r;
}

void *
rp_conn_native(rp_conn *conn)
{
	return conn ? conn->backend->native(conn->db) : NULL;
}

const char *
rp_conn_schema(const rp_conn *conn)
{
	return conn && conn->backend->schema ? conn->backend->schema(conn->db)
					     : NULL;
}

int
rp_conn_is_new(const rp_conn *conn)
{
	return conn ? conn->backend->is_new(conn->db) : 0;
}

int
rp__is_replaced(const rp_conn *conn)
{
	return conn->backend->is_replaced &&
	       conn->backend->is_replaced(conn->db);
}

void
rp_close(rp_conn *conn)
{
	if (!conn)
		return;
	/* In a forked child, do not touch the parent's connection, because
	 * closing it would release the parent's locks. */
	if (conn->pid == getpid()) {
		if (conn->in_transaction)
			rp__end(conn, RP_ECANCELLED);
		conn->in_transaction = 0;
		/* Do not write in a transaction of the caller: on SQLite that
		 * would keep the write lock until the caller ends it. */
		if (!conn->backend->joins(conn->db))
			rp__tally_write(conn);
		conn->backend->close(conn->db);
	}
	free(conn->tallies.items);
	free(conn);
}

const rp_error *
rp_last_error(const rp_conn *conn)
{
	static const rp_error none = { RP_EINVAL, 0, "", "the handle is NULL",
				       -1 };

	return conn ? &conn->error : &none;
}

const char *
rp_conn_scheme(const rp_conn *conn)
{
	return conn ? conn->database->schemes[0] : NULL;
}

int
rp__query(rp_conn *conn, const struct rp_query *query)
{
	int r = rp__enter(conn);

	return r < 0 ? r : conn->backend->query(conn->db, query, &conn->error);
}

int
rp__schema_sql(const char *url, rp_sql_fn *statement, rp_error *reterr)
{
	struct rp_url parsed;
	int r = rp__url_parse(url, &parsed, reterr);

	if (r < 0)
		return r;
	r = parsed.database->backend->schema_sql(&parsed, statement, reterr);
	rp__url_free(&parsed);
	return r;
}

void
rp__measure(rp_conn *conn, struct rp_usage *ret)
{
	conn->backend->measure(conn->db, ret);
}

int
rp__has_notifications(const rp_conn *conn)
{
	return conn->backend->hears != NULL;
}

int
rp__hears(rp_conn *conn, rp_conn *other)
{
	return conn->backend->hears(conn->db, other->db);
}

int
rp__is_pooled(const rp_conn *conn)
{
	return conn->backend->is_pooled && conn->backend->is_pooled(conn->db);
}

int
rp__limit_waits(rp_conn *conn, int most_ms, rp_error *reterr)
{
	return conn->backend->limit_waits
		       ? conn->backend->limit_waits(conn->db, most_ms, reterr)
		       : 0;
}

int
rp_now(rp_conn *conn, int64_t *ret_ms)
{
	int64_t now;
	int r = rp__enter(conn);

	if (r < 0)
		return r;
	if (!ret_ms)
		return rp__fail(&conn->error, RP_EINVAL, "rp_now: ret is NULL");
	r = rp__run(conn, RP_V_NOW, NULL, 1, rp__first_int, &now);
	if (r == 0)
		*ret_ms = now;
	return r;
}
