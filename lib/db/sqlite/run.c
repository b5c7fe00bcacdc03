/*
 * run.c - run a verb's statements as nested loops. db/sql.h describes what a
 * verb is on SQLite.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "sqlite.h"

#include <stdlib.h>

/* A late statement (see sql.h) changes the rows that the callback accepted. If
 * there are at least this many rows, the statement runs once for all of them,
 * which is faster than once for each row. */
#define MANY 24

struct run {
	struct sqlite *s;
	const struct rp_sql *sql;
	struct verb *verb;
	const struct rp_value *params; /* the current row of parameters */
	size_t row, rows;
	int64_t now_us;
	struct rp_value ids_before;
	rp_row_fn *fn;
	void *ctx;
	rp_error *error;
};

int
rp__sqlite_bind(sqlite3_stmt *stmt, int i, const struct rp_value *value)
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

/* Bind the ids that the callback accepted (s->taken). If there are at least
 * MANY ids, the statement runs once and reads all of them from a virtual table.
 * Otherwise the statement runs once for each id, and this call binds the id
 * with the index `which`. */
static int
bind_taken(const struct run *run, sqlite3_stmt *stmt, int i, size_t which)
{
	const struct taken *taken = &run->s->taken;

	if (taken->count < MANY)
		return rp__sqlite_bind(stmt, i, &taken->ids[which]);
	run->s->rows = (struct rows){ taken->ids, taken->count, 1 };
	return rp__rows_bind(stmt, i, &run->s->rows);
}

/* Bind a column of an earlier statement, or null if that statement was not
 * run. */
static int
bind_column(sqlite3_stmt *stmt, int i, sqlite3_stmt *from, int column)
{
	return sqlite3_data_count(from)
		       ? sqlite3_bind_value(stmt, i,
					    sqlite3_column_value(from, column))
		       : sqlite3_bind_null(stmt, i);
}

static int
bind_one(const struct run *run, sqlite3_stmt *stmt, int i,
	 const struct source *from, size_t taken)
{
	struct rp_value payload;

	switch (from->stmt) {
	case FROM_PARAMS:
		return rp__sqlite_bind(stmt, i, &run->params[from->index]);
	case FROM_PAYLOAD:
	case FROM_APART:
		payload = rp__rows_payload(&run->params[from->index],
					   from->stmt == FROM_APART);
		return rp__sqlite_bind(stmt, i, &payload);
	case FROM_CLOCK:
		return sqlite3_bind_int64(stmt, i, run->now_us / 1000);
	case FROM_CLOCK_US:
		return sqlite3_bind_int64(stmt, i, run->now_us);
	case FROM_MOST_IN_ROW:
		return sqlite3_bind_int64(stmt, i, MOST_IN_ROW);
	case FROM_ROWS:
		return rp__rows_bind(stmt, i, &run->s->rows);
	case FROM_TAKEN:
		return bind_taken(run, stmt, i, taken);
	case FROM_IDS:
		return rp__sqlite_bind(stmt, i, &run->ids_before);
	default:
		return bind_column(stmt, i, run->verb->steps[from->stmt].open,
				   from->index);
	}
}

/* Bind a statement's parameters. A statement may run once for each id in
 * s->taken, the ids that the callback accepted. `taken` is the index of the id
 * for this run. After the first run, bind only the id, because SQLite keeps the
 * other bindings. */
static int
bind_all(const struct run *run, const struct form *form, size_t taken)
{
	int rc = SQLITE_OK;

	for (int i = 0; i < form->binds && rc == SQLITE_OK; i++)
		if (taken == 0 || form->bind[i].stmt == FROM_TAKEN)
			rc = bind_one(run, form->stmt, i + 1, &form->bind[i],
				      taken);
	return rc;
}

/* The SQL of a statement may have two forms: one for a single row of
 * parameters, one for many rows. Choose the form of the k-th statement. Returns
 * NULL on failure. */
static struct form *
choose(const struct run *run, size_t k, int many)
{
	struct step *step = &run->verb->steps[k];
	struct form *form = many && step->sql->many ? &step->many : &step->one;

	if (!form->stmt &&
	    rp__sqlite_prepare_form(run->s, run->sql, run->verb, k,
				    step->sql->many, form, run->error) < 0)
		return NULL;
	step->open = form->stmt;
	return form;
}

static struct rp_value
column(sqlite3_stmt *stmt, int c)
{
	sqlite3_value *from = sqlite3_column_value(stmt, c);
	struct rp_value value = { .type = RP_NULL };

	switch (sqlite3_value_type(from)) {
	case SQLITE_NULL:
		break;
	case SQLITE_INTEGER:
	case SQLITE_FLOAT:
		value.type = RP_INT;
		value.i = sqlite3_value_int64(from);
		break;
	case SQLITE_TEXT:
		value.type = RP_TEXT;
		value.data = sqlite3_value_text(from);
		value.size = (size_t)sqlite3_value_bytes(from);
		break;
	default:
		value.type = RP_BLOB;
		value.data = sqlite3_value_blob(from);
		value.size = (size_t)sqlite3_value_bytes(from);
		break;
	}
	return value;
}

/* Pass the ids of the inserted rows to the callback. The ids are consecutive,
 * because the write lock is held while SQLite assigns them. */
static int
answer_batch(const struct run *run)
{
	int64_t last = sqlite3_last_insert_rowid(run->s->db);
	int r = 0;

	if ((size_t)sqlite3_changes(run->s->db) != run->s->rows.count)
		return 0;
	rp__ids_given(run->s, run->s->rows.count);
	for (size_t i = 0; i < run->s->rows.count && r == 0 && run->fn; i++) {
		struct rp_value id =
			rp__int(last - (int64_t)(run->s->rows.count - 1 - i));

		r = run->fn(run->ctx, i, &id);
	}
	return rp__row_result(run->error, r);
}

static int
take(const struct run *run, const struct step *step)
{
	struct taken *taken = &run->s->taken;

	if (taken->count == taken->room) {
		size_t room = taken->room ? taken->room * 2 : 16;
		void *ids = realloc(taken->ids, room * sizeof(*taken->ids));

		if (!ids)
			return rp__fail(run->error, RP_ENOMEM, "out of memory");
		taken->ids = ids;
		taken->room = room;
	}
	taken->ids[taken->count++] =
		rp__int(sqlite3_column_int64(step->open, step->id));
	return 0;
}

static int
answer(const struct run *run, const struct step *step)
{
	struct rp_value columns[MOST_COLUMNS];
	size_t row = run->row;
	int r = RP_ROW_TAKE;

	if (!step->sql->answer)
		return RP_ROW_TAKE;
	for (int c = 0; c < run->sql->columns_count; c++)
		columns[c] = column(step->open, c);
	if (step->number >= 0)
		row = (size_t)sqlite3_column_int64(step->open, step->number) -
		      1;
	if (run->fn)
		r = rp__row_result(run->error, run->fn(run->ctx, row, columns));
	if ((r == RP_ROW_TAKE || r == RP_ROW_LAST) &&
	    run->verb->late < run->verb->count) {
		int taken = take(run, step);

		return taken < 0 ? taken : r;
	}
	return r;
}

/* Run a late statement (see sql.h), which changes the rows that the callback
 * accepted. Run it once for each accepted id. If there are at least MANY ids,
 * run it only once, for all ids. */
static int
run_late(const struct run *run, size_t k)
{
	size_t count = run->s->taken.count;
	size_t times = count < MANY ? count : 1;
	const struct form *form = choose(run, k, count >= MANY);
	int rc = SQLITE_OK;

	if (!form)
		return run->error->code;
	for (size_t i = 0; i < times && rc == SQLITE_OK; i++) {
		rc = bind_all(run, form, i);
		if (rc == SQLITE_OK) {
			sqlite3_step(form->stmt);
			rc = sqlite3_reset(form->stmt);
		}
	}
	return rc == SQLITE_OK ? 0 : rp__sqlite_failed(run->s, rc, run->error);
}

static int
run_all_late(const struct run *run)
{
	int r = 0;

	for (size_t k = run->verb->late;
	     k < run->verb->count && run->s->taken.count && r == 0; k++)
		r = run_late(run, k);
	run->s->taken.count = 0;
	return r;
}

static int run_from(const struct run *run, size_t k);

/* Returns 1 if a statement may run, because it has no guard or its guard is
 * true. The guard is a column of an earlier statement. If that statement was
 * skipped, the guard is false. */
static int
is_allowed(const struct run *run, const struct source *guard)
{
	sqlite3_stmt *stmt;

	if (guard->stmt == NO_GUARD)
		return 1;
	stmt = run->verb->steps[guard->stmt].open;
	return sqlite3_data_count(stmt) &&
	       sqlite3_column_int(stmt, guard->index);
}

/* Step through the rows of the k-th statement. For each row, run the statements
 * after the k-th one. */
static int
run_rows(const struct run *run, size_t k)
{
	const struct step *step = &run->verb->steps[k];
	const struct form *form = choose(run, k, run->rows > 1);
	int rc, r = 0;

	if (!form)
		return run->error->code;
	rc = bind_all(run, form, 0);
	while (rc == SQLITE_OK &&
	       (rc = sqlite3_step(form->stmt)) == SQLITE_ROW) {
		int what = answer(run, step);

		r = what;
		if (what == RP_ROW_TAKE || what == RP_ROW_LAST)
			r = run_from(run, k + 1);
		if (r == 0 && what == RP_ROW_LAST)
			r = RP_ROW_STOP;
		if (r < 0 || r == RP_ROW_STOP)
			break;
		r = 0;
		rc = SQLITE_OK;
	}
	if (rc == SQLITE_ROW) /* the loop ended before the last row, so end the
			       * statement; this returns a late error, if any */
		rc = sqlite3_reset(form->stmt);
	if (rc != SQLITE_OK && rc != SQLITE_DONE && r >= 0)
		r = rp__sqlite_failed(run->s, rc, run->error);
	sqlite3_reset(form->stmt);
	return r;
}

/* Run the k-th statement and all statements after it. If the k-th statement
 * returns rows, the statements after it run once for each row. */
static int
run_from(const struct run *run, size_t k)
{
	const struct step *step = &run->verb->steps[k];
	int late, r;

	if (k >= run->verb->late)
		return 0;
	if (!is_allowed(run, &step->guard))
		return step->sql->rest ? 0 : run_from(run, k + 1);
	r = run_rows(run, k);
	if (r >= 0 && step->sql->answer && (late = run_all_late(run)) < 0)
		r = late;
	if (r == 0 && step->sql->batch)
		r = answer_batch(run);
	if (r == 0 && step->columns == 0)
		r = run_from(run, k + 1);
	return r;
}

int
rp__sqlite_run(void *db, enum rp_verb which, const struct rp_value *params,
	       size_t rows, rp_row_fn *fn, void *ctx, rp_error *error)
{
	struct sqlite *s = db;
	struct run run = { .s = s,
			   .sql = &rp__sql_sqlite[which],
			   .verb = &s->verbs[which],
			   .rows = rows,
			   .fn = fn,
			   .ctx = ctx,
			   .error = error };
	int r = rp__sqlite_prepare(s, which, error);

	if (r == 0 && run.verb->uses_clock)
		r = rp__sqlite_read_clock(s, &run.now_us, error);
	if (r == 0 && run.verb->uses_ids)
		r = rp__ids_find(s, rows, &run.ids_before, error);
	else if (which == RP_V_ENQUEUE_UNIQUE)
		rp__ids_pass(s);
	s->rows = (struct rows){ params, rows, run.verb->width };
	s->taken.count = 0;
	for (; run.row < (run.sql->batch ? 1 : rows) && r == 0; run.row++) {
		run.params = params + run.row * run.verb->width;
		r = run_from(&run, 0);
		if (r > 0)
			r = 0;
	}
	return r;
}
