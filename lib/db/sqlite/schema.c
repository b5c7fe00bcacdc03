/*
 * schema.c - check the version of the queue's schema in a SQLite file, and
 * create the schema.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "sqlite.h"

#include <stdio.h>
#include <string.h>

#define SCHEMA_VERSION 1

static int
read_int(struct sqlite *s, const char *sql, int64_t *ret, rp_error *error)
{
	sqlite3_stmt *stmt;
	int rc = sqlite3_prepare_v2(s->db, sql, -1, &stmt, NULL);

	if (rc != SQLITE_OK)
		return rp__sqlite_failed(s, rc, error);
	rc = sqlite3_step(stmt);
	*ret = rc == SQLITE_ROW ? sqlite3_column_int64(stmt, 0) : 0;
	sqlite3_finalize(stmt);
	return rc == SQLITE_ROW || rc == SQLITE_DONE
		       ? 0
		       : rp__sqlite_failed(s, rc, error);
}

/* Read the schema's version. 0: the database has no tables. -1: it has tables,
 * but not ours. OTHER_BUILD: it has our tables, but another build created them
 * from other SQL. When tables are counted, readpast_meta is left out, because
 * rp__sqlite_take_lock() may just have created it. */
#define OTHER_BUILD -2
static int
read_version(struct sqlite *s, int64_t *ret, rp_error *error)
{
	char sql[200];
	int64_t tables = 0, ours = 0, version = 0;
	int r = read_int(s,
			 "select count(*) from sqlite_master "
			 "where tbl_name <> 'readpast_meta'",
			 &tables, error);

	if (r == 0)
		r = read_int(s,
			     "select count(*) from sqlite_master where "
			     "type = 'table' and name = 'readpast_meta'",
			     &ours, error);
	snprintf(sql, sizeof(sql),
		 "select iif(value > %d or exists (select 1 from readpast_meta "
		 "where name = 'build' and value = %s), value, %d) "
		 "from readpast_meta where name = 'schema'",
		 SCHEMA_VERSION, rp__build_sqlite, OTHER_BUILD);
	if (r == 0 && ours)
		r = read_int(s, sql, &version, error);
	*ret = version ? version : tables ? -1 : 0;
	return r;
}

static int
upgrade_steps(struct sqlite *s, rp_error *error)
{
	int64_t version;
	int r = read_version(s, &version, error);

	for (int v = version < 0 ? 0 : (int)version;
	     r == 0 && v < SCHEMA_VERSION; v++)
		for (const char *const *sql = rp__schema_sqlite[v];
		     *sql && r == 0; sql++)
			r = rp__sqlite_execute(s, *sql, error);
	s->is_new = r == 0 && version <= 0;
	return r;
}

int
rp__sqlite_schema_sql(const struct rp_url *url, rp_sql_fn *statement,
		      rp_error *reterr)
{
	(void)url;
	(void)reterr;
	statement("pragma journal_mode = wal");
	statement("begin immediate");
	for (int v = 0; v < SCHEMA_VERSION; v++)
		for (const char *const *sql = rp__schema_sqlite[v]; *sql; sql++)
			statement(*sql);
	statement("commit");
	return 0;
}

/* ---- a queue in an attached database ---- */

struct attached {
	sqlite3 *db;
	char name[64], file[80]; /* the attached database that has a queue; "":
				  * no attached database has one */
};

static int
look_at_attached(void *ctx, int count, char **columns, char **names)
{
	struct attached *a = ctx;
	const char *name = columns[1], *file = columns[2];

	(void)count;
	(void)names;
	if (strcmp(name, "main") != 0 && strcmp(name, "temp") != 0 &&
	    sqlite3_table_column_metadata(a->db, name, "readpast_meta", NULL,
					  NULL, NULL, NULL, NULL,
					  NULL) == SQLITE_OK) {
		snprintf(a->name, sizeof(a->name), "%s", name);
		snprintf(a->file, sizeof(a->file), "%s", file ? file : "");
	}
	return 0;
}

/* Fail if main has no queue and an attached database has one. The caller
 * probably means the queue in the attached database. Without this check the
 * call would create a second queue in main. */
int
rp__sqlite_check_main(sqlite3 *db, rp_error *error)
{
	struct attached a = { .db = db };

	if (sqlite3_table_column_metadata(db, "main", "readpast_meta", NULL,
					  NULL, NULL, NULL, NULL,
					  NULL) == SQLITE_OK)
		return 0;
	sqlite3_exec(db, "pragma database_list", look_at_attached, &a, NULL);
	return *a.name ? rp__fail(error, RP_ESCHEMA,
				  "the queue is in the attached database %s, "
				  "but "
				  "only the queue of main can be used: open %s "
				  "as main and attach the other",
				  a.name, *a.file ? a.file : "it")
		       : 0;
}

/* ---- installing ---- */

/* Switch to WAL mode. The switch needs an exclusive lock for a moment. SQLite
 * does not call the busy handler for this lock, so this function tries again
 * itself. After the switch SQLite opens -wal when it next reads the database.
 * The second pragma is such a read, so an error of opening -wal is returned
 * here. */
int
rp__sqlite_try_wal(sqlite3 *db, int64_t wait_ms)
{
	int64_t until = rp__monotonic_ms() + wait_ms;
	int rc;

	for (;;) {
		rc = sqlite3_exec(db,
				  "pragma main.journal_mode = wal;"
				  "pragma main.schema_version",
				  NULL, NULL, NULL);
		if ((rc & 0xff) != SQLITE_BUSY || rp__monotonic_ms() >= until)
			return rc;
		rp__nap_us(1000);
	}
}

/* Switch to WAL mode. On a connection of the caller, do nothing. */
static int
use_wal(struct sqlite *s, rp_error *error)
{
	int rc =
		s->attached ? SQLITE_OK : rp__sqlite_try_wal(s->db, s->busy_ms);

	return rc == SQLITE_OK ? 0 : rp__sqlite_failed(s, rc, error);
}

/* Try to switch an existing database to WAL mode. If it was created on a
 * caller's connection, it may be in another journal mode. Everything works in
 * other modes, only more slowly, so we do not wait long for the change. */
#define PREFER_WAL_MS 100
static void
prefer_wal(struct sqlite *s)
{
	if (s->attached)
		return;
	sqlite3_busy_handler(s->db, NULL, NULL);
	rp__sqlite_try_wal(s->db, PREFER_WAL_MS);
	rp__writers_be_patient(s);
}

static int
install(struct sqlite *s, rp_error *error)
{
	int64_t now_us; /* not used: the clock is read only to fail if it is
			 * wrong, before the schema stores the time */
	int r = rp__sqlite_read_clock(s, &now_us, error);

	if (r == 0)
		r = use_wal(s, error);
	if (r == 0)
		r = rp__sqlite_begin(s, RP_BEGIN_WRITE, error);
	if (r < 0)
		return r;
	r = upgrade_steps(s, error);
	if (r < 0)
		rp__sqlite_rollback(s);
	return r < 0 ? r : rp__sqlite_commit(s, error);
}

int
rp__sqlite_check_schema(struct sqlite *s, int schema, rp_error *error)
{
	int64_t version = 0;
	int r = read_version(s, &version, error);

	if (r < 0)
		return r;
	if (version > SCHEMA_VERSION)
		return rp__fail(error, RP_ESCHEMA,
				"%.120s has schema %lld, newer than this "
				"readpast's %d: upgrade readpast",
				s->path, (long long)version, SCHEMA_VERSION);
	if (version == OTHER_BUILD)
		return rp__fail(error, RP_ESCHEMA,
				"%.120s was made by an earlier build of "
				"readpast: finish its jobs with that build, or "
				"use a new database",
				s->path);
	if (version <= 0 && s->attached) {
		r = rp__sqlite_check_main(s->db, error);
		if (r < 0)
			return r;
	}
	if (version < 0 && schema == RP_SCHEMA_CREATE)
		return rp__fail(
			error, RP_ESCHEMA,
			s->attached ? "%.120s has other tables but no queue: "
				      "RP_SCHEMA_INSTALL creates one"
				    : "%.120s has other tables but no queue: "
				      "readpast init creates one",
			s->path);
	if (version <= 0 && schema == RP_SCHEMA_REQUIRE)
		return rp__fail(error, RP_ESCHEMA,
				"%.120s has no queue in it: readpast init "
				"creates one",
				s->path);
	if (version < SCHEMA_VERSION)
		return install(s, error);
	prefer_wal(s);
	return 0;
}
