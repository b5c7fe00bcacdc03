/*
 * prepare.c - prepare the statements of a verb, and find the value for each of
 * their parameters. db/sql.h describes what a verb is on SQLite.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "sqlite.h"

#include <stdlib.h>
#include <string.h>

/* Return a column's name without the name of its table. SQLite calls the column
 * `j.id` "id", but "j.id" or "readpast_job.id" if the caller has set
 * short_column_names or full_column_names. */
static const char *
short_name(const char *name)
{
	const char *dot = strchr(name, '.');

	return dot && strspn(name, "abcdefghijklmnopqrstuvwxyz_") ==
				       (size_t)(dot - name)
		       ? dot + 1
		       : name;
}

static int
column_named(sqlite3_stmt *stmt, const char *name)
{
	int c = sqlite3_column_count(stmt);

	while (c-- > 0 &&
	       strcmp(short_name(sqlite3_column_name(stmt, c)), name) != 0)
		;
	return c;
}

static int
find_column(const struct step *steps, size_t before, const char *name,
	    struct source *ret)
{
	int c = -1;

	while (c < 0 && before-- > 0)
		c = column_named(steps[before].one.stmt, name);
	*ret = (struct source){ (int)before, c };
	return c < 0 ? -1 : 0;
}

/* The k-th statement may use columns of earlier statements that have a current
 * row when it runs. Returns the number of these earlier statements. A late
 * statement (see db/sql.h) runs after the statement that returns the answer has
 * ended. So for a late statement only the statements before that one count. */
static size_t
open_above(const struct verb *verb, size_t k)
{
	size_t open = k;

	while (verb->steps[k].sql->late && open > 0 &&
	       !verb->steps[open].sql->answer)
		open--;
	return open;
}

static int
find_source(const struct rp_sql *sql, const struct verb *verb, size_t k,
	    const char *name, struct source *ret)
{
	static const struct {
		const char *name;
		int from;
	} own[] = {
		{ ":now", FROM_CLOCK },
		{ ":now_us", FROM_CLOCK_US },
		{ ":rows", FROM_ROWS },
		{ ":taken", FROM_TAKEN },
		{ ":ids_before", FROM_IDS },
		{ ":most_in_row", FROM_MOST_IN_ROW },
	};
	int from = strcmp(name, ":payload") == 0 ? FROM_PAYLOAD
		   : strcmp(name, ":apart") == 0 ? FROM_APART
						 : FROM_PARAMS;

	if (*name == '@')
		return find_column(verb->steps, open_above(verb, k), name + 1,
				   ret);
	for (size_t i = 0; i < sizeof(own) / sizeof(*own); i++)
		if (strcmp(own[i].name, name) == 0) {
			*ret = (struct source){ own[i].from, 0 };
			return 0;
		}
	name = from == FROM_APART ? "payload" : name + 1;
	for (size_t i = 0; i < sql->params_count; i++)
		if (strcmp(sql->params[i], name) == 0) {
			*ret = (struct source){ from, (int)i };
			return 0;
		}
	return -1;
}

int
rp__sqlite_prepare_form(struct sqlite *s, const struct rp_sql *sql,
			struct verb *verb, size_t k, const char *text,
			struct form *form, rp_error *error)
{
	int rc = sqlite3_prepare_v3(s->db, text, -1, SQLITE_PREPARE_PERSISTENT,
				    &form->stmt, NULL);

	if (rc != SQLITE_OK)
		return rp__sqlite_failed(s, rc, error);
	form->binds = sqlite3_bind_parameter_count(form->stmt);
	if (form->binds > MOST_PARAMS)
		return rp__fail(error, RP_EDB,
				"verb %s: a statement has too many "
				"parameters",
				sql->verb);
	for (int i = 0; i < form->binds; i++) {
		struct source *from = &form->bind[i];
		const char *name =
			sqlite3_bind_parameter_name(form->stmt, i + 1);

		if (find_source(sql, verb, k, name, from) < 0)
			return rp__fail(
				error, RP_EDB,
				"verb %s: no value for the parameter %s",
				sql->verb, name);
		verb->uses_clock |=
			from->stmt == FROM_CLOCK || from->stmt == FROM_CLOCK_US;
		verb->uses_ids |= from->stmt == FROM_IDS;
	}
	return 0;
}

static int
prepare_step(struct sqlite *s, const struct rp_sql *sql, struct verb *verb,
	     size_t k, rp_error *error)
{
	struct step *step = &verb->steps[k];
	int r;

	step->sql = &sql->stmts[k];
	step->guard.stmt = NO_GUARD;
	r = rp__sqlite_prepare_form(s, sql, verb, k, step->sql->one, &step->one,
				    error);
	if (r < 0)
		return r;
	step->columns = sqlite3_column_count(step->one.stmt);
	step->number = column_named(step->one.stmt, "number");
	step->id = column_named(step->one.stmt, "id");
	if (step->columns > MOST_COLUMNS)
		return rp__fail(error, RP_EDB,
				"verb %s: a statement has too many columns",
				sql->verb);
	if (step->sql->guard &&
	    find_column(verb->steps, k, step->sql->guard, &step->guard) < 0)
		return rp__fail(error, RP_EDB,
				"verb %s: no column %s for a guard", sql->verb,
				step->sql->guard);
	return 0;
}

void
rp__sqlite_drop_verb(struct verb *verb)
{
	for (size_t k = 0; verb->steps && k < verb->count; k++) {
		sqlite3_finalize(verb->steps[k].one.stmt);
		sqlite3_finalize(verb->steps[k].many.stmt);
	}
	free(verb->steps);
	memset(verb, 0, sizeof(*verb));
}

int
rp__sqlite_prepare(struct sqlite *s, enum rp_verb which, rp_error *error)
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
	while (verb->late < verb->count && !sql->stmts[verb->late].late)
		verb->late++;
	for (size_t k = 0; k < verb->count && r == 0; k++)
		r = prepare_step(s, sql, verb, k, error);
	if (r < 0)
		rp__sqlite_drop_verb(verb);
	return r;
}
