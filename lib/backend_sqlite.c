/*
 * backend_sqlite.c - verbs on a SQLite file.
 *
 * WAL; every writing transaction is BEGIN IMMEDIATE, so that nothing is ever
 * upgraded from reading to writing; SQLITE_BUSY reaches nobody before the
 * deadline of the URL is over.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "sqlite.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "watch_sqlite.h"

/* ---- errors ---- */

static int
code_of(int rc, int system_errno)
{
	switch (rc & 0xff) {
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
		return RP_EBUSY;
	case SQLITE_NOMEM:
		return RP_ENOMEM;
	case SQLITE_READONLY:
		return RP_EREADONLY;
	case SQLITE_FULL:
		return RP_EFULL;
	case SQLITE_CONSTRAINT:
		return rc == SQLITE_CONSTRAINT_CHECK ? RP_EINVAL : RP_EDB;
	default:
		return system_errno == ENOSPC || system_errno == EDQUOT
			       ? RP_EFULL
			       : RP_EDB;
	}
}

/* Say in one line what SQLite says, and what it means for a queue. */
int
rp__sqlite_failed(struct sqlite *s, int rc, rp_error *error)
{
	int code, full = s->db ? sqlite3_extended_errcode(s->db) : rc;

	if ((full & 0xff) != (rc & 0xff))
		full = rc;
	code = code_of(full, s->db && (rc & 0xff) != SQLITE_BUSY
				     ? sqlite3_system_errno(s->db)
				     : 0);
	if (code == RP_EBUSY)
		rp__fail(error, code,
			 "%.120s stayed locked by another process for %lld ms",
			 s->path, (long long)s->busy_ms);
	else if (code == RP_EINVAL)
		rp__fail(error, code, "%.200s",
			 strstr(sqlite3_errmsg(s->db), "failed: ")
				 ? strstr(sqlite3_errmsg(s->db), ": ") + 2
				 : sqlite3_errmsg(s->db));
	else if ((rc & 0xff) == SQLITE_NOTADB)
		rp__fail(error, code, "%.150s is not a SQLite database",
			 s->path);
	else
		rp__fail(error, code, "%.100s: %.120s", s->path,
			 s->db ? sqlite3_errmsg(s->db) : sqlite3_errstr(rc));
	if (error)
		error->native = full;
	return code;
}

/*
 * Called while another connection has the lock. Sleeps of equal length are
 * fair: growing ones starve whoever came first. A little jitter keeps two
 * sleepers from waking together for ever; after a while it is a long wait
 * anyway, and longer naps spare the processor.
 */
static int
busy(void *ctx, int count)
{
	struct sqlite *s = ctx;
	struct timespec nap = { 0, 0 };
	int64_t now = rp__monotonic_ms();

	if (count == 0)
		s->busy_until = now + s->busy_ms;
	if (now >= s->busy_until)
		return 0;
	nap.tv_nsec =
		count < 1000 ? 50000 + (count * 7919 % 64) * 1000 : 2000000;
	nanosleep(&nap, NULL);
	return 1;
}

/* ---- transactions ---- */

int
rp__sqlite_execute(struct sqlite *s, const char *sql, rp_error *error)
{
	int rc = sqlite3_exec(s->db, sql, NULL, NULL, NULL);

	return rc == SQLITE_OK ? 0 : rp__sqlite_failed(s, rc, error);
}

int
rp__sqlite_begin(void *db, int write, rp_error *error)
{
	struct sqlite *s = db;
	int r;

	if (s->depth == 0)
		r = rp__sqlite_execute(s, write ? "begin immediate" : "begin",
				       error);
	else
		r = rp__sqlite_execute(s, "savepoint inner", error);
	if (r == 0)
		s->depth++;
	return r;
}

void
rp__sqlite_rollback(void *db)
{
	struct sqlite *s = db;

	s->depth--;
	if (s->depth > 0)
		rp__sqlite_execute(s, "rollback to inner; release inner", NULL);
	else if (!sqlite3_get_autocommit(s->db))
		rp__sqlite_execute(s, "rollback", NULL);
}

int
rp__sqlite_commit(void *db, rp_error *error)
{
	struct sqlite *s = db;
	int r;

	if (s->depth > 1) {
		r = rp__sqlite_execute(s, "release inner", error);
		s->depth--;
		return r;
	}
	/* A failure that cannot be gone on after ends the transaction itself.
	 */
	if (sqlite3_get_autocommit(s->db)) {
		s->depth = 0;
		return rp__fail(error, RP_EDB,
				"the transaction was rolled back"
				" by an earlier failure");
	}
	r = rp__sqlite_execute(s, "commit", error);
	if (r < 0)
		rp__sqlite_rollback(s);
	else
		s->depth = 0;
	return r;
}

static int
set_up(struct sqlite *s, const struct rp_url *url, int schema, rp_error *error)
{
	int normal =
		url->synchronous && strcmp(url->synchronous, "normal") == 0;
	int r;

	sqlite3_busy_handler(s->db, busy, s);
	sqlite3_extended_result_codes(s->db, 1);
	r = rp__sqlite_execute(s,
			       normal ? "pragma synchronous = normal"
				      : "pragma synchronous = full",
			       error);
	if (r == 0 && rp__rows_tables(s->db, &s->rows) != SQLITE_OK)
		r = rp__fail(error, RP_ENOMEM, "out of memory");
	if (r == 0)
		r = rp__sqlite_check_schema(s, schema, error);
	return r;
}

static void
sqlite_close(void *db)
{
	struct sqlite *s = db;

	rp__watch_free(s->watch);
	for (int v = 0; v < RP_VERBS; v++)
		rp__sqlite_drop_verb(&s->verbs[v]);
	sqlite3_finalize(s->clock);
	sqlite3_close(s->db);
	free(s->path);
	free(s);
}

/* SQLite reads some names as something else than a file. */
static char *
file_name(const char *path)
{
	int odd = *path == ':' || strncmp(path, "file:", 5) == 0;
	char *name = malloc(strlen(path) + 3);

	if (name) {
		strcpy(name, odd ? "./" : "");
		strcat(name, path);
	}
	return name;
}

static int
sqlite_open(const struct rp_url *url, int schema, void **ret, rp_error *reterr)
{
	int create = schema == RP_SCHEMA_REQUIRE ? 0 : SQLITE_OPEN_CREATE;
	struct sqlite *s = calloc(1, sizeof(*s));
	int rc, r = 0;

	if (!s || !(s->path = file_name(url->path))) {
		free(s);
		return rp__fail(reterr, RP_ENOMEM, "out of memory");
	}
	s->busy_ms = url->busy_ms;
	if (!create && access(s->path, F_OK) < 0)
		r = rp__fail(reterr, RP_ENODB, "no database at %.200s",
			     s->path);
	if (r == 0) {
		rc = sqlite3_open_v2(s->path, &s->db,
				     SQLITE_OPEN_READWRITE | create |
					     SQLITE_OPEN_NOMUTEX |
					     SQLITE_OPEN_PRIVATECACHE,
				     NULL);
		r = rc == SQLITE_OK ? set_up(s, url, schema, reterr)
				    : rp__sqlite_failed(s, rc, reterr);
	}
	if (r < 0)
		sqlite_close(s);
	else
		*ret = s;
	return r;
}

static int
sqlite_wait(void *db, int64_t timeout_ms, int fd, rp_error *error)
{
	struct sqlite *s = db;

	if (!s->watch) {
		s->watch = rp__watch_new(s->db);
		if (!s->watch)
			return rp__fail(error, RP_ENOMEM, "out of memory");
	}
	return rp__watch_wait(s->watch, timeout_ms, fd);
}

const struct rp_backend rp__backend_sqlite = {
	.scheme = "sqlite",
	.open = sqlite_open,
	.close = sqlite_close,
	.begin = rp__sqlite_begin,
	.commit = rp__sqlite_commit,
	.rollback = rp__sqlite_rollback,
	.run = rp__sqlite_run,
	.wait = sqlite_wait,
};
