/*
 * backend.c - open and close connections to a SQLite file, and begin and end
 * transactions.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 *
 * The file is in WAL mode. Every writing transaction begins with BEGIN
 * IMMEDIATE. If a transaction began by reading, SQLite might refuse its first
 * write without waiting. With BEGIN IMMEDIATE a call fails with SQLITE_BUSY
 * only after it has waited for the time `busy` of the URL.
 */
#include "sqlite.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "watch.h"

/* ---- transactions ---- */

int
rp__sqlite_execute(struct sqlite *s, const char *sql, rp_error *error)
{
	int rc = sqlite3_exec(s->db, sql, NULL, NULL, NULL);

	return rc == SQLITE_OK ? 0 : rp__sqlite_failed(s, rc, error);
}

/* Prepare the statements of enum control before the first transaction begins.
 * Then ending or rolling back a transaction needs no memory. */
static int
prepare_control(struct sqlite *s, rp_error *error)
{
	static const char *const texts[LOCK] = {
		[BEGIN] = "begin",
		[BEGIN_IMMEDIATE] = "begin immediate",
		[COMMIT] = "commit",
		[ROLLBACK] = "rollback",
		[SAVEPOINT] = "savepoint readpast",
		[RELEASE] = "release readpast",
		[ROLLBACK_TO] = "rollback to readpast",
	};
	int rc = SQLITE_OK;

	for (int i = 0; i < LOCK && rc == SQLITE_OK; i++)
		if (!s->control[i])
			rc = sqlite3_prepare_v3(s->db, texts[i], -1,
						SQLITE_PREPARE_PERSISTENT,
						&s->control[i], NULL);
	return rc == SQLITE_OK ? 0 : rp__sqlite_failed(s, rc, error);
}

static int
control(struct sqlite *s, enum control which, rp_error *error)
{
	int rc;

	sqlite3_step(s->control[which]);
	rc = sqlite3_reset(s->control[which]);
	return rc == SQLITE_OK ? 0 : rp__sqlite_failed(s, rc, error);
}

static void
take_back_savepoint(struct sqlite *s)
{
	control(s, ROLLBACK_TO, NULL);
	control(s, RELEASE, NULL);
}

static int
begin_on_callers(struct sqlite *s, int write, rp_error *error)
{
	int own = s->base == OWN;
	int r = control(s, own ? BEGIN : SAVEPOINT, error);

	if (r < 0 || !write)
		return r;
	r = rp__sqlite_take_lock(s, error);
	if (r < 0 && own)
		control(s, ROLLBACK, NULL);
	else if (r < 0)
		take_back_savepoint(s);
	return r;
}

/* Fail because code outside of the library has ended the library's
 * transaction. */
static int
fail_ended_elsewhere(rp_error *error)
{
	return rp__fail(error, RP_EDB,
			"the transaction is not open any more: other code "
			"ended it, or an earlier failure rolled it back");
}

static int
begin_first(struct sqlite *s, int write, rp_error *error)
{
	int r = prepare_control(s, error);

	if (r < 0)
		return r;
	if (s->attached || s->base == JOINED)
		return begin_on_callers(s, write, error);
	if (!write)
		return control(s, BEGIN, error);
	rp__writers_ask(s, s->busy_ms);
	r = control(s, BEGIN_IMMEDIATE, error);
	rp__writers_answered(s);
	return r;
}

int
rp__sqlite_begin(void *db, int how, rp_error *error)
{
	struct sqlite *s = db;
	int r = 0;

	if (s->depth == 0)
		s->base = s->attached && rp__sqlite_writing(s->db) ? BARE
			  : sqlite3_get_autocommit(s->db)          ? OWN
								   : JOINED;
	if (s->base != BARE && s->depth == 0)
		r = begin_first(s, how & RP_BEGIN_WRITE, error);
	else if (s->base != BARE)
		r = sqlite3_get_autocommit(s->db)
			    ? fail_ended_elsewhere(error)
			    : control(s, SAVEPOINT, error);
	if (r < 0)
		return r;
	/* Check the files under the write lock. Other processes may have
	 * changed the files while this connection waited for the lock. */
	if (++s->depth == 1 && s->base != BARE)
		r = rp__sqlite_check_files(s, error);
	if (r == 0 && s->depth == 1 && s->unchecked)
		r = rp__sqlite_check_schema(s, s->schema, error);
	if (r < 0)
		rp__sqlite_rollback(s);
	return r;
}

void
rp__sqlite_rollback(void *db)
{
	struct sqlite *s = db;

	rp__ids_forget(s);
	s->depth--;
	/* After some errors, SQLite itself has already rolled back. */
	if (s->base == BARE || sqlite3_get_autocommit(s->db))
		return;
	if (s->depth > 0 || s->base == JOINED)
		take_back_savepoint(s);
	else
		control(s, ROLLBACK, NULL);
}

int
rp__sqlite_commit(void *db, rp_error *error)
{
	struct sqlite *s = db;
	int r;

	if (s->base == BARE) {
		r = 0;
	} else if (sqlite3_get_autocommit(s->db)) {
		rp__ids_forget(s);
		s->depth--;
		return fail_ended_elsewhere(error);
	} else {
		r = control(
			s, s->depth > 1 || s->base == JOINED ? RELEASE : COMMIT,
			error);
	}
	if (r < 0)
		rp__sqlite_rollback(s);
	else if (--s->depth == 0)
		s->unchecked = 0;
	return r;
}

/* Run a verb. As long as the schema is not checked, the verb runs in a
 * transaction, because the begin of a transaction checks the schema. It also
 * checks the files, so this function does that if no transaction is open. */
static int
sqlite_run(void *db, enum rp_verb verb, const struct rp_value *params,
	   size_t rows, rp_row_fn *fn, void *ctx, rp_error *error)
{
	struct sqlite *s = db;
	int begins = s->unchecked && s->depth == 0;
	int reads = s->depth == 0 && !s->attached;
	int r = begins  ? rp__sqlite_begin(s, 0, error)
		: reads ? rp__sqlite_check_files(s, error)
			: 0;

	if (r < 0)
		return r;
	r = rp__sqlite_run(s, verb, params, rows, fn, ctx, error);
	if (begins && r < 0)
		rp__sqlite_rollback(s);
	else if (begins)
		r = rp__sqlite_commit(s, error);
	return r;
}

static int
sqlite_joins(void *db)
{
	const struct sqlite *s = db;

	return s->attached && s->depth == 0 &&
	       (!sqlite3_get_autocommit(s->db) || rp__sqlite_writing(s->db));
}

/* ---- opening ---- */

/* Check the schema now, unless the caller has a transaction open or a statement
 * running. A check would begin a snapshot in the caller's transaction. A
 * transaction that has a snapshot cannot wait for the write lock: SQLite fails
 * immediately if another connection holds the lock. So the check is left to our
 * first transaction, which checks the schema after it has got the lock. */
static int
make_ready(struct sqlite *s, int schema, rp_error *error)
{
	int rc = rp__rows_tables(s->db, !s->attached);

	if (rc == SQLITE_OK)
		rc = sqlite3_file_control(s->db, "main",
					  SQLITE_FCNTL_VFS_POINTER, &s->vfs);
	if (rc != SQLITE_OK)
		return rp__sqlite_failed(s, rc, error);
	s->schema = schema;
	s->unchecked =
		!sqlite3_get_autocommit(s->db) || rp__sqlite_running(s->db);
	return s->unchecked ? 0 : rp__sqlite_check_schema(s, schema, error);
}

static int
set_up(struct sqlite *s, const struct rp_url *url, int schema, rp_error *error)
{
	int normal =
		url->synchronous && strcmp(url->synchronous, "normal") == 0;
	int r;

	rp__writers_be_patient(s);
	sqlite3_extended_result_codes(s->db, 1);
	rp__sqlite_watch_wal(s);
	r = rp__sqlite_execute(s,
			       normal ? "pragma synchronous = normal"
				      : "pragma synchronous = full",
			       error);
	/* Some builds of SQLite overwrite each freed page with zeros by
	 * default. Deleting a payload of 16 MiB then takes ten times as long,
	 * and writes 16 MiB to the -wal. */
	if (r == 0)
		r = rp__sqlite_execute(s, "pragma secure_delete = fast", error);
	return r < 0 ? r : make_ready(s, schema, error);
}

static void
sqlite_close(void *db)
{
	struct sqlite *s = db;

	rp__watch_free(s->watch);
	rp__sqlite_end_measuring(s);
	for (int v = 0; v < RP_VERBS; v++)
		rp__sqlite_drop_verb(&s->verbs[v]);
	for (int i = 0; i < CONTROLS; i++)
		sqlite3_finalize(s->control[i]);
	rp__writers_close(s);
	rp__sqlite_close_files(s);
	free(s->taken.ids);
	free(s->path);
	free(s);
}

/* Returns a name that SQLite opens as a file. SQLite treats names like
 * ":memory:" and "file:..." in a special way, so "./" is put before them. */
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
fail_not_there(const struct sqlite *s, int errnum, rp_error *error)
{
	return errnum == EACCES ? rp__fail(error, RP_EDB,
					   "cannot open database %.150s: "
					   "permission denied",
					   s->path)
				: rp__fail(error, RP_ENODB,
					   "no database at %.200s", s->path);
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
		r = fail_not_there(s, errno, reterr);
	if (r == 0) {
		rc = sqlite3_open_v2(s->path, &s->db,
				     SQLITE_OPEN_READWRITE | create |
					     SQLITE_OPEN_NOMUTEX |
					     SQLITE_OPEN_PRIVATECACHE,
				     NULL);
		r = rc == SQLITE_OK ? 0 : rp__sqlite_failed(s, rc, reterr);
	}
	if (r == 0 && sqlite3_db_readonly(s->db, "main") > 0)
		r = rp__sqlite_make_nothing(s, reterr);
	if (r == 0)
		r = set_up(s, url, schema, reterr);
	if (r == 0)
		r = rp__sqlite_check_files(s, reterr);
	if (r < 0)
		sqlite_close(s);
	else
		*ret = s;
	return r;
}

static int
sqlite_attach(void *native, const rp_options *options, void **ret,
	      rp_error *reterr)
{
	struct sqlite *s = calloc(1, sizeof(*s));
	const char *path = sqlite3_db_filename(native, "main");
	int r;

	if (!s || !(s->path = strdup(path && *path ? path : "the database"))) {
		free(s);
		return rp__fail(reterr, RP_ENOMEM, "out of memory");
	}
	s->db = native;
	s->attached = 1;
	r = make_ready(s, options->schema, reterr);
	if (r < 0)
		sqlite_close(s);
	else
		*ret = s;
	return r;
}

static void *
sqlite_native(void *db)
{
	return ((struct sqlite *)db)->db;
}

static int
sqlite_is_new(void *db)
{
	return ((struct sqlite *)db)->is_new;
}

static int
sqlite_settle_and_claim(void *db, struct rp_round_trip *trip, rp_error *error)
{
	int r = rp__sqlite_settle(db, trip, error);

	return r == 0 && trip->max ? rp__sqlite_claim(db, trip, error) : r;
}

static int
make_watch(struct sqlite *s, rp_error *error)
{
	if (!s->watch)
		s->watch = rp__watch_new(s->db);
	return s->watch ? 0 : rp__fail(error, RP_ENOMEM, "out of memory");
}

/* Wait until another connection commits. The file does not show which queue the
 * commit has changed, so the caller must probe. */
static int
sqlite_wait(void *db, const struct rp_waiter *waiter, int64_t timeout_ms,
	    int fd, rp_error *error)
{
	struct sqlite *s = db;
	int64_t ms = waiter->probe_at - rp__monotonic_ms();
	int changed, r = make_watch(s, error);

	if (r < 0)
		return r;
	if (s->waits_for != waiter->version) {
		s->waits_for = waiter->version;
		return RP_WAIT_PROBE;
	}
	if (ms < 0)
		ms = 0;
	if (timeout_ms >= 0 && timeout_ms < ms)
		ms = timeout_ms;
	changed = rp__watch_wait(s->watch, ms, fd, 0);
	if (changed)
		rp__watch_stay_quiet(waiter->quiet_until, fd);
	if (rp__monotonic_ms() >= waiter->probe_at)
		return RP_WAIT_PROBE | RP_WAIT_SWEEP;
	return changed ? RP_WAIT_PROBE : 0;
}

static int
sqlite_wait_for_jobs(void *db, struct rp_job_waiter *waiter, int64_t timeout_ms,
		     int fd, rp_error *error)
{
	struct sqlite *s = db;
	int r = make_watch(s, error);

	(void)waiter;
	return r < 0 ? r : rp__watch_wait(s->watch, timeout_ms, fd, 1);
}

const struct rp_backend rp__backend_sqlite = {
	.read_url = rp__sqlite_read_url,
	.one_writer = 1,
	.open = sqlite_open,
	.attach = sqlite_attach,
	.close = sqlite_close,
	.native = sqlite_native,
	.is_new = sqlite_is_new,
	.is_replaced = rp__sqlite_is_replaced,
	.schema_sql = rp__sqlite_schema_sql,
	.joins = sqlite_joins,
	.begin = rp__sqlite_begin,
	.commit = rp__sqlite_commit,
	.rollback = rp__sqlite_rollback,
	.run = sqlite_run,
	.query = rp__sqlite_query,
	.measure = rp__sqlite_measure,
	.settle_and_claim = sqlite_settle_and_claim,
	.enqueue = rp__sqlite_enqueue,
	.wait = sqlite_wait,
	.wait_for_jobs = sqlite_wait_for_jobs,
	.trim = rp__sqlite_trim_wal,
};
