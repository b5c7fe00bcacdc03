/*
 * script.c - run the steps of a technique of the lab: take rows, do their jobs,
 * mark them done.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "run.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int
lab_fail(char *why, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(why, LAB_WHY, format, args);
	va_end(args);
	return LAB_FAILED;
}

/* ---- variables ---- */

void
lab_set(struct lab_vars *vars, const char *name, const char *value)
{
	size_t i = 0;

	while (i < vars->count && strcmp(vars->names[i], name) != 0)
		i++;
	if (i == sizeof(vars->names) / sizeof(*vars->names))
		return;
	if (i == vars->count)
		snprintf(vars->names[vars->count++], LAB_VALUE, "%s", name);
	snprintf(vars->values[i], LAB_VALUE, "%s", value);
}

/* Return the value of a name, or NULL if it has no value yet. */
static const char *
value_of(const struct lab_vars *vars, const char *name)
{
	for (size_t i = 0; i < vars->count; i++)
		if (strcmp(vars->names[i], name) == 0)
			return *vars->values[i] ? vars->values[i] : NULL;
	return NULL;
}

static void
set_row(struct lab_vars *vars, const struct lab_rows *rows, size_t row)
{
	for (size_t i = 0; i < rows->columns; i++)
		lab_set(vars, rows->names[i], rows->values[row][i]);
}

/* ---- running ---- */

/* Store the first rows and columns of the result, as many as fit. */
static int
keep(void *ctx, const struct rp_row *row)
{
	struct lab_rows *rows = ctx;

	if (rows->count == LAB_ROWS)
		return 0;
	rows->columns = row->count < LAB_COLUMNS ? row->count : LAB_COLUMNS;
	for (size_t c = 0; c < rows->columns; c++) {
		const struct rp_value *value = &row->columns[c];
		char *to = rows->values[rows->count][c];

		snprintf(rows->names[c], LAB_VALUE, "%s", row->names[c]);
		if (value->type == RP_INT)
			snprintf(to, LAB_VALUE, "%lld", (long long)value->i);
		else
			snprintf(to, LAB_VALUE, "%.*s", (int)value->size,
				 value->size ? (const char *)value->data : "");
	}
	rows->count++;
	return 0;
}

/* Decide what to do after an error. RP_EBUSY means that there was a deadlock,
 * or that a SQLite transaction has an outdated snapshot. Waiting does not help
 * in these cases, so roll back and try again. Any other error ends the run. */
static int
failed(struct lab_side *side, int r)
{
	const struct rp_query rollback = { .sql = "rollback" };

	if (r != RP_EBUSY)
		return lab_fail(side->why, "%s",
				rp_last_error(side->conn)->message);
	/* the transaction may still be open */
	rp__query(side->conn, &rollback);
	return LAB_AGAIN;
}

static int
run(struct lab_side *side, const char *sql, struct lab_rows *ret)
{
	struct rp_param params[LAB_NAMES + LAB_COLUMNS + 1];
	const struct rp_query query = {
		.sql = sql, .params = params, .row = keep, .ctx = ret
	};
	int r;

	for (size_t i = 0; i < side->vars.count; i++) {
		const char *name = side->vars.names[i];

		params[i].name = name;
		params[i].value = rp__text(value_of(&side->vars, name));
	}
	params[side->vars.count].name = NULL;
	ret->count = ret->columns = 0;
	r = rp__query(side->conn, &query);
	return r < 0 ? failed(side, r) : 0;
}

static const char *const *
find_section(const struct lab_script *script, const char *name)
{
	const struct lab_section *s = script->sections;

	while (s->name && strcmp(s->name, name) != 0)
		s++;
	return s->name ? s->stmts : NULL;
}

int
lab_section(struct lab_side *side, const struct lab_script *script,
	    const char *section, struct lab_rows *ret)
{
	const char *const *sql = find_section(script, section);
	struct lab_rows ignored;
	int r = 0;

	if (!ret)
		ret = &ignored;
	ret->count = 0;
	for (; sql && *sql && r == 0; sql++) {
		if (ret->count)
			set_row(&side->vars, ret, 0);
		r = run(side, *sql, ret);
	}
	return r;
}

static int64_t
job_of(const struct lab_rows *rows, size_t row)
{
	for (size_t i = 0; i < rows->columns; i++)
		if (strcmp(rows->names[i], "job") == 0)
			return atoll(rows->values[row][i]);
	return 0;
}

/* Do the jobs of the rows that were taken, and mark them as done. A row without
 * a job number needs no work. */
static int
do_jobs(struct lab_side *side, const struct lab_script *script,
	const struct lab_rows *rows, void (*work)(void *ctx, int64_t job),
	void *ctx)
{
	int r = 0;

	for (size_t i = 0; i < rows->count && r == 0; i++) {
		int64_t job = job_of(rows, i);

		set_row(&side->vars, rows, i);
		if (job == 0)
			continue;
		work(ctx, job);
		r = lab_section(side, script, "done", NULL);
	}
	return r;
}

/* Do one step of a worker that uses the library: settle the worker's last job
 * and claim its next job in one call. */
static int
turn(struct lab_side *side, void (*work)(void *ctx, int64_t job), void *ctx)
{
	rp_verdict verdict = RP_VERDICT_INIT;
	const char *id = value_of(&side->vars, "id");
	const char *claim = value_of(&side->vars, "claim");
	char text[LAB_VALUE];
	rp_batch *batch;
	int r;

	verdict.id = id ? atoll(id) : 0;
	verdict.claim_no = claim ? atoll(claim) : 0;
	r = rp_settle_and_claim(side->conn, &verdict, id != NULL, "lab", 1,
				NULL, &batch);
	lab_set(&side->vars, "id", "");
	if (r < 0)
		return lab_fail(side->why, "%s",
				rp_last_error(side->conn)->message);
	for (size_t i = 0; i < rp_batch_count(batch); i++) {
		const rp_job *job = rp_batch_at(batch, i);

		snprintf(text, sizeof(text), "%lld", (long long)job->id);
		lab_set(&side->vars, "id", text);
		snprintf(text, sizeof(text), "%lld", (long long)job->claim_no);
		lab_set(&side->vars, "claim", text);
		snprintf(text, sizeof(text), "%.*s", (int)job->payload_size,
			 (const char *)job->payload);
		work(ctx, atoll(text));
	}
	rp_batch_free(batch);
	return r;
}

int
lab_step(struct lab_side *side, const struct lab_script *script,
	 void (*work)(void *ctx, int64_t job), void *ctx)
{
	struct lab_rows rows = { .count = 0 };
	int r = 0;

	if (!script->sections->name)
		return turn(side, work, ctx);
	if (find_section(script, "while")) {
		r = lab_section(side, script, "while", &rows);
		if (r != 0 || rows.count == 0)
			return r;
	}
	r = lab_section(side, script, "take", &rows);
	if (r == 0)
		r = do_jobs(side, script, &rows, work, ctx);
	if (r == 0)
		r = lab_section(side, script, "end", NULL);
	/* This call has settled the last job. If it has found no new job,
	 * forget the last job, so that the next call does not settle it again.
	 */
	if (r == 0 && rows.count == 0)
		lab_set(&side->vars, "id", "");
	side->account->deadlocks += r == LAB_AGAIN;
	return r == 0 ? rows.count > 0 : r;
}
