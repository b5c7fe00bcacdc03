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
#include "internal.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "rows_sqlite.h"
#include "sql.h"
#include "watch_sqlite.h"

#define SCHEMA_VERSION 1
#define MOST_COLUMNS 24
#define MOST_PARAMS 16

/* Where a statement's parameter comes from: the verb's parameters, the clock,
 * or a column of a statement above. */
struct source {
	int stmt; /* index of that statement, or one of: */
	int index;
};
enum { FROM_PARAMS = -1, FROM_CLOCK = -2, NO_GUARD = -3 };

struct step {
	sqlite3_stmt *stmt;
	int columns, binds;
	int answer, batch;
	struct source guard;
	struct source bind[MOST_PARAMS];
};

struct verb {
	struct step *steps; /* NULL: not prepared yet */
	size_t count;
	size_t width; /* of a row of parameters */
	int uses_clock;
};

struct sqlite {
	sqlite3 *db;
	char *path;
	int64_t busy_ms, busy_until;
	int depth; /* of transactions: 1, or 2 within a savepoint */
	sqlite3_stmt *clock;
	struct verb verbs[RP_VERBS];
	struct rows rows;    /* what <verb>_rows shows */
	struct watch *watch; /* NULL until the first wait */
};

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
static int
failed(struct sqlite *s, int rc, rp_error *error)
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

/* ---- statements ---- */

static int
find_column(const struct step *steps, size_t before, const char *name,
	    struct source *ret)
{
	for (size_t k = before; k-- > 0;)
		for (int c = 0; c < steps[k].columns; c++)
			if (strcmp(sqlite3_column_name(steps[k].stmt, c),
				   name) == 0) {
				*ret = (struct source){ (int)k, c };
				return 0;
			}
	return -1;
}

static int
find_source(const struct rp_sql *sql, const struct verb *verb, size_t k,
	    const char *name, struct source *ret)
{
	if (*name == '@')
		return find_column(verb->steps, k, name + 1, ret);
	if (strcmp(name, ":now") == 0) {
		*ret = (struct source){ FROM_CLOCK, 0 };
		return 0;
	}
	for (size_t i = 0; i < sql->params_count; i++)
		if (strcmp(sql->params[i], name + 1) == 0) {
			*ret = (struct source){ FROM_PARAMS, (int)i };
			return 0;
		}
	return -1;
}

static int
prepare_step(struct sqlite *s, const struct rp_sql *sql, struct verb *verb,
	     size_t k, rp_error *error)
{
	const struct rp_stmt *from = &sql->stmts[k];
	struct step *step = &verb->steps[k];
	int rc = sqlite3_prepare_v3(s->db, from->text, -1,
				    SQLITE_PREPARE_PERSISTENT, &step->stmt,
				    NULL);

	if (rc != SQLITE_OK)
		return failed(s, rc, error);
	step->answer = from->answer;
	step->batch = from->batch;
	step->columns = sqlite3_column_count(step->stmt);
	step->binds = sqlite3_bind_parameter_count(step->stmt);
	step->guard.stmt = NO_GUARD;
	if (step->columns > MOST_COLUMNS || step->binds > MOST_PARAMS)
		return rp__fail(error, RP_EDB, "%s: too wide", sql->verb);
	if (from->guard &&
	    find_column(verb->steps, k, from->guard, &step->guard) < 0)
		return rp__fail(error, RP_EDB, "%s: no column %s", sql->verb,
				from->guard);
	for (int i = 0; i < step->binds; i++) {
		const char *name =
			sqlite3_bind_parameter_name(step->stmt, i + 1);

		if (find_source(sql, verb, k, name, &step->bind[i]) < 0)
			return rp__fail(error, RP_EDB, "%s: nothing gives %s",
					sql->verb, name);
		verb->uses_clock |= step->bind[i].stmt == FROM_CLOCK;
	}
	return 0;
}

static void
drop_verb(struct verb *verb)
{
	for (size_t k = 0; verb->steps && k < verb->count; k++)
		sqlite3_finalize(verb->steps[k].stmt);
	free(verb->steps);
	memset(verb, 0, sizeof(*verb));
}

static int
prepare(struct sqlite *s, enum rp_verb which, rp_error *error)
{
	const struct rp_sql *sql = &rp__sql_sqlite[which];
	struct verb *verb = &s->verbs[which];
	int r = 0;

	if (verb->steps)
		return 0;
	verb->steps = calloc(sql->stmts_count, sizeof(*verb->steps));
	if (!verb->steps)
		return rp__fail(error, RP_ENOMEM, "out of memory");
	verb->count = sql->stmts_count;
	verb->width = sql->params_count;
	for (size_t k = 0; k < verb->count && r == 0; k++)
		r = prepare_step(s, sql, verb, k, error);
	if (r < 0)
		drop_verb(verb);
	return r;
}

/* ---- running a verb ---- */

struct run {
	struct sqlite *s;
	const struct verb *verb;
	const struct rp_value *params; /* this row of them */
	size_t row;
	int64_t now;
	rp_row_fn *fn;
	void *ctx;
	rp_error *error;
};

static int
bind_value(sqlite3_stmt *stmt, int i, const struct rp_value *value)
{
	switch (value->type) {
	case RP_INT:
		return sqlite3_bind_int64(stmt, i, value->i);
	case RP_TEXT:
		return sqlite3_bind_text64(stmt, i, value->data, value->size,
					   SQLITE_STATIC, SQLITE_UTF8);
	case RP_BLOB:
		return value->size
			       ? sqlite3_bind_blob64(stmt, i, value->data,
						     value->size, SQLITE_STATIC)
			       : sqlite3_bind_zeroblob(stmt, i, 0);
	default:
		return sqlite3_bind_null(stmt, i);
	}
}

static int
bind_all(const struct run *run, const struct step *step)
{
	int rc = SQLITE_OK;

	for (int i = 0; i < step->binds && rc == SQLITE_OK; i++) {
		const struct source *from = &step->bind[i];

		if (from->stmt == FROM_PARAMS)
			rc = bind_value(step->stmt, i + 1,
					&run->params[from->index]);
		else if (from->stmt == FROM_CLOCK)
			rc = sqlite3_bind_int64(step->stmt, i + 1, run->now);
		else
			rc = sqlite3_bind_value(
				step->stmt, i + 1,
				sqlite3_column_value(
					run->verb->steps[from->stmt].stmt,
					from->index));
	}
	return rc;
}

static struct rp_value
column(sqlite3_stmt *stmt, int c)
{
	struct rp_value value = { .type = RP_NULL };

	switch (sqlite3_column_type(stmt, c)) {
	case SQLITE_NULL:
		break;
	case SQLITE_INTEGER:
	case SQLITE_FLOAT:
		value.type = RP_INT;
		value.i = sqlite3_column_int64(stmt, c);
		break;
	case SQLITE_TEXT:
		value.type = RP_TEXT;
		value.data = sqlite3_column_text(stmt, c);
		value.size = (size_t)sqlite3_column_bytes(stmt, c);
		break;
	default:
		value.type = RP_BLOB;
		value.data = sqlite3_column_blob(stmt, c);
		value.size = (size_t)sqlite3_column_bytes(stmt, c);
		break;
	}
	return value;
}

/* The ids of the rows that were inserted at once: one after the other, for the
 * numbers of an autoincrement column are taken under the write lock. */
static int
answer_batch(const struct run *run)
{
	int64_t last = sqlite3_last_insert_rowid(run->s->db);
	int r = 0;

	if ((size_t)sqlite3_changes(run->s->db) != run->s->rows.count)
		return 0;
	for (size_t i = 0; i < run->s->rows.count && r == 0 && run->fn; i++) {
		struct rp_value id =
			rp__int(last - (int64_t)(run->s->rows.count - 1 - i));

		r = run->fn(run->ctx, i, &id);
	}
	return r;
}

static int
answer(const struct run *run, const struct step *step)
{
	struct rp_value columns[MOST_COLUMNS];

	if (!step->answer || !run->fn)
		return RP_ROW_TAKE;
	for (int c = 0; c < step->columns; c++)
		columns[c] = column(step->stmt, c);
	return run->fn(run->ctx, run->row, columns);
}

/* Run the statements from the k-th on: those behind one that has rows are run
 * for each of its rows. */
static int
run_from(const struct run *run, size_t k)
{
	const struct step *step = &run->verb->steps[k];
	int rc, r = 0;

	if (k == run->verb->count)
		return 0;
	if (step->guard.stmt >= 0 &&
	    !sqlite3_column_int(run->verb->steps[step->guard.stmt].stmt,
				step->guard.index))
		return run_from(run, k + 1);
	rc = bind_all(run, step);
	while (rc == SQLITE_OK &&
	       (rc = sqlite3_step(step->stmt)) == SQLITE_ROW) {
		r = answer(run, step);
		if (r == RP_ROW_TAKE)
			r = run_from(run, k + 1);
		if (r < 0 || r == RP_ROW_STOP)
			break;
		r = 0;
		rc = SQLITE_OK;
	}
	if (rc != SQLITE_OK && rc != SQLITE_ROW && rc != SQLITE_DONE)
		r = failed(run->s, rc, run->error);
	sqlite3_reset(step->stmt);
	if (r == 0 && step->batch)
		r = answer_batch(run);
	if (r == 0 && step->columns == 0)
		r = run_from(run, k + 1);
	return r;
}

static int
read_clock(struct sqlite *s, int64_t *ret, rp_error *error)
{
	const char *now = rp__sql_sqlite[RP_V_NOW].stmts[0].text;
	int rc = SQLITE_OK;

	if (!s->clock)
		rc = sqlite3_prepare_v3(s->db, now, -1,
					SQLITE_PREPARE_PERSISTENT, &s->clock,
					NULL);
	if (rc == SQLITE_OK && (rc = sqlite3_step(s->clock)) == SQLITE_ROW) {
		*ret = sqlite3_column_int64(s->clock, 0);
		sqlite3_reset(s->clock);
		return 0;
	}
	return failed(s, rc, error);
}

static int
sqlite_run(void *db, enum rp_verb which, const struct rp_value *params,
	   size_t rows, rp_row_fn *fn, void *ctx, rp_error *error)
{
	struct sqlite *s = db;
	struct run run = { .s = s,
			   .verb = &s->verbs[which],
			   .fn = fn,
			   .ctx = ctx,
			   .error = error };
	int r = prepare(s, which, error);

	if (r == 0 && run.verb->uses_clock)
		r = read_clock(s, &run.now, error);
	s->rows = (struct rows){ params, rows, run.verb->width };
	if (rp__sql_sqlite[which].batch && rows > 1)
		rows = 1;
	for (; run.row < rows && r == 0; run.row++) {
		run.params = params + run.row * run.verb->width;
		r = run_from(&run, 0);
		if (r > 0)
			r = 0;
	}
	return r;
}

/* ---- transactions ---- */

static int
execute(struct sqlite *s, const char *sql, rp_error *error)
{
	int rc = sqlite3_exec(s->db, sql, NULL, NULL, NULL);

	return rc == SQLITE_OK ? 0 : failed(s, rc, error);
}

static int
sqlite_begin(void *db, int write, rp_error *error)
{
	struct sqlite *s = db;
	int r;

	if (s->depth == 0)
		r = execute(s, write ? "begin immediate" : "begin", error);
	else
		r = execute(s, "savepoint inner", error);
	if (r == 0)
		s->depth++;
	return r;
}

static void
sqlite_rollback(void *db)
{
	struct sqlite *s = db;

	s->depth--;
	if (s->depth > 0)
		execute(s, "rollback to inner; release inner", NULL);
	else if (!sqlite3_get_autocommit(s->db))
		execute(s, "rollback", NULL);
}

static int
sqlite_commit(void *db, rp_error *error)
{
	struct sqlite *s = db;
	int r;

	if (s->depth > 1) {
		r = execute(s, "release inner", error);
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
	r = execute(s, "commit", error);
	if (r < 0)
		sqlite_rollback(s);
	else
		s->depth = 0;
	return r;
}

/* ---- opening ---- */

static int
read_int(struct sqlite *s, const char *sql, int64_t *ret, rp_error *error)
{
	sqlite3_stmt *stmt;
	int rc = sqlite3_prepare_v2(s->db, sql, -1, &stmt, NULL);

	if (rc != SQLITE_OK)
		return failed(s, rc, error);
	rc = sqlite3_step(stmt);
	*ret = rc == SQLITE_ROW ? sqlite3_column_int64(stmt, 0) : 0;
	sqlite3_finalize(stmt);
	return rc == SQLITE_ROW || rc == SQLITE_DONE ? 0 : failed(s, rc, error);
}

/* The schema's version: 0, none; -1, none, but other people's tables. */
static int
read_version(struct sqlite *s, int64_t *ret, rp_error *error)
{
	int64_t tables = 0, ours = 0;
	int r = read_int(s, "select count(*) from sqlite_master", &tables,
			 error);

	*ret = tables ? -1 : 0;
	if (r == 0 && tables)
		r = read_int(s,
			     "select count(*) from sqlite_master where "
			     "type = 'table' and name = 'readpast_meta'",
			     &ours, error);
	if (r == 0 && ours)
		r = read_int(s,
			     "select value from readpast_meta "
			     "where name = 'schema'",
			     ret, error);
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
			r = execute(s, *sql, error);
	return r;
}

/* Changing the journal mode needs the file for itself for a moment, and SQLite
 * does not call the busy handler for it. */
static int
use_wal(struct sqlite *s, rp_error *error)
{
	int64_t until = rp__monotonic_ms() + s->busy_ms;
	struct timespec nap = { 0, 1000000 };
	int rc;

	do {
		rc = sqlite3_exec(s->db, "pragma journal_mode = wal", NULL,
				  NULL, NULL);
		if ((rc & 0xff) == SQLITE_BUSY)
			nanosleep(&nap, NULL);
	} while ((rc & 0xff) == SQLITE_BUSY && rp__monotonic_ms() < until);
	return rc == SQLITE_OK ? 0 : failed(s, rc, error);
}

static int
install(struct sqlite *s, rp_error *error)
{
	int r = use_wal(s, error);

	if (r == 0)
		r = sqlite_begin(s, 1, error);
	if (r < 0)
		return r;
	r = upgrade_steps(s, error);
	if (r < 0)
		sqlite_rollback(s);
	return r < 0 ? r : sqlite_commit(s, error);
}

static int
check_schema(struct sqlite *s, int schema, rp_error *error)
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
	if (version < 0 && schema == RP_SCHEMA_CREATE)
		return rp__fail(error, RP_ESCHEMA,
				"%.120s has other tables and none of ours: "
				"readpast init puts them there",
				s->path);
	if (version <= 0 && schema == RP_SCHEMA_REQUIRE)
		return rp__fail(error, RP_ESCHEMA,
				"%.120s has no queue in it: readpast init "
				"makes it a queue",
				s->path);
	return version < SCHEMA_VERSION ? install(s, error) : 0;
}

static int
set_up(struct sqlite *s, const struct rp_url *url, int schema, rp_error *error)
{
	int normal =
		url->synchronous && strcmp(url->synchronous, "normal") == 0;
	int r;

	sqlite3_busy_handler(s->db, busy, s);
	sqlite3_extended_result_codes(s->db, 1);
	r = execute(s,
		    normal ? "pragma synchronous = normal"
			   : "pragma synchronous = full",
		    error);
	if (r == 0 && rp__rows_tables(s->db, &s->rows) != SQLITE_OK)
		r = rp__fail(error, RP_ENOMEM, "out of memory");
	if (r == 0)
		r = check_schema(s, schema, error);
	return r;
}

static void
sqlite_close(void *db)
{
	struct sqlite *s = db;

	rp__watch_free(s->watch);
	for (int v = 0; v < RP_VERBS; v++)
		drop_verb(&s->verbs[v]);
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
				    : failed(s, rc, reterr);
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
	.begin = sqlite_begin,
	.commit = sqlite_commit,
	.rollback = sqlite_rollback,
	.run = sqlite_run,
	.wait = sqlite_wait,
};
