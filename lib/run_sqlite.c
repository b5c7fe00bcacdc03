/*
 * run_sqlite.c - a verb's statements, prepared and run as nested loops.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "sqlite.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MOST_COLUMNS 24

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
	if (strcmp(name, ":now_us") == 0) {
		*ret = (struct source){ FROM_CLOCK_US, 0 };
		return 0;
	}
	if (strcmp(name, ":rows") == 0) {
		*ret = (struct source){ FROM_ROWS, 0 };
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
		return rp__sqlite_failed(s, rc, error);
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
		verb->uses_clock |= step->bind[i].stmt == FROM_CLOCK ||
				    step->bind[i].stmt == FROM_CLOCK_US;
	}
	return 0;
}

void
rp__sqlite_drop_verb(struct verb *verb)
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
		rp__sqlite_drop_verb(verb);
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

/* SQLite's clock is the host's, in whole milliseconds: what is below them. */
static int64_t
micros(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return t.tv_nsec / 1000 % 1000;
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
		else if (from->stmt == FROM_CLOCK_US)
			rc = sqlite3_bind_int64(step->stmt, i + 1,
						run->now * 1000 + micros());
		else if (from->stmt == FROM_ROWS)
			rc = rp__rows_bind(step->stmt, i + 1, &run->s->rows);
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
		r = rp__sqlite_failed(run->s, rc, run->error);
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
	return rp__sqlite_failed(s, rc, error);
}

int
rp__sqlite_run(void *db, enum rp_verb which, const struct rp_value *params,
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
