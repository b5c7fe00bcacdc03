/*
 * lab_postgres.c - the lab on a PostgreSQL server: a scratch schema, and what
 * the server's own statistics say of the workers.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "db/postgres/libpq.h"

#define GONE_MS 5000 /* so long a killed worker's session may linger */

static const struct lab_script *
scratch(void)
{
	return lab_find(lab_scripts_postgres, "scratch");
}

/* The user's URL with another schema; its connections say whose they are. */
static char *
postgres_url(struct lab *lab)
{
	const char *url = lab->options->url;
	const char *name = lab->name;
	int server = strstr(url, "://") != NULL;
	char *ret;

	srandom((unsigned)(lab_now_us() ^ getpid() * 7919L));
	snprintf(lab->name, sizeof(lab->name), "readpast_lab_%ld",
		 100000000 + random() % 900000000);
	if (asprintf(&ret, "%s%s%s%s%cschema=%s%s%s",
		     server ? "" : "application_name=", server ? "" : name,
		     server ? "" : " ", url, strchr(url, '?') ? '&' : '?', name,
		     server ? "&application_name=" : "",
		     server ? name : "") < 0)
		return NULL;
	return ret;
}

/* ---- statements ---- */

static void
keep(const PGresult *res, struct lab_rows *ret)
{
	int columns = PQ(nfields)(res), count = PQ(ntuples)(res);

	ret->columns = columns < LAB_COLUMNS ? (size_t)columns : LAB_COLUMNS;
	ret->count = count < LAB_ROWS ? (size_t)count : LAB_ROWS;
	for (size_t c = 0; c < ret->columns; c++)
		snprintf(ret->names[c], LAB_VALUE, "%s",
			 PQ(fname)(res, (int)c));
	for (size_t r = 0; r < ret->count; r++)
		for (size_t c = 0; c < ret->columns; c++)
			snprintf(ret->values[r][c], LAB_VALUE, "%s",
				 PQ(getvalue)(res, (int)r, (int)c));
}

static int
failed(struct lab_side *side, PGconn *pg, const PGresult *res)
{
	const char *text = PQ(resultErrorField)(res, PG_DIAG_MESSAGE_PRIMARY);
	const char *state = PQ(resultErrorField)(res, PG_DIAG_SQLSTATE);

	/* deadlock_detected, serialization_failure */
	if (state &&
	    (strcmp(state, "40P01") == 0 || strcmp(state, "40001") == 0)) {
		if (PQ(transactionStatus)(pg) != PQTRANS_IDLE)
			PQ(clear)(PQ(exec)(pg, "rollback"));
		return LAB_AGAIN;
	}
	if (!text)
		text = PQ(errorMessage)(pg);
	return lab_fail(side->why, "%.*s", (int)strcspn(text, "\n"), text);
}

static int
postgres_run(struct lab_side *side, const struct lab_stmt *stmt,
	     const char *const *values, struct lab_rows *ret)
{
	PGconn *pg = rp_conn_native(side->conn);
	int n = 0, r = 0;
	PGresult *res;

	while (stmt->params[n])
		n++;
	side->account->statements++;
	res = PQ(execParams)(pg, stmt->sql, n, NULL, values, NULL, NULL, 0);
	if (PQ(resultStatus)(res) == PGRES_TUPLES_OK)
		keep(res, ret);
	else if (PQ(resultStatus)(res) != PGRES_COMMAND_OK)
		r = failed(side, pg, res);
	PQ(clear)(res);
	return r;
}

/* ---- the scratch ---- */

static int
postgres_session(const struct lab *lab, struct lab_side *side)
{
	struct lab_rows rows;
	int r = lab_section(lab, side, scratch(), "session", &rows);

	if (r != 0)
		return r;
	return atoi(rows.values[0][0]) ==
			       PQ(backendPID)(rp_conn_native(side->conn))
		       ? 0
		       : lab_fail(side->why, "a pooler stands before the "
					     "server: name the server itself");
}

static int
drop(struct lab *lab, const char *name)
{
	int r;

	lab_set(&lab->control.vars, "scratch", name);
	r = lab_section(lab, &lab->control, scratch(), "drop", NULL);
	lab_set(&lab->control.vars, "scratch", lab->name);
	return r;
}

/* What runs that were killed have left: removed, or named. */
static int
drop_leftovers(struct lab *lab)
{
	struct lab_rows rows;
	char text[200];
	int r = lab_section(lab, &lab->control, scratch(), "leftovers", &rows);

	for (size_t i = 0; i < rows.count && r == 0; i++) {
		const char *name = rows.values[i][0];

		r = drop(lab, name);
		snprintf(text, sizeof(text), "schema %s", name);
		if (r == 0)
			lab->left(text);
	}
	return r;
}

static int
postgres_prepare(struct lab *lab, const struct lab_script *script)
{
	int version =
		PQ(serverVersion)(rp_conn_native(lab->control.conn)) / 10000;
	int r;

	if (version < script->needs) {
		lab_fail(lab->control.why,
			 "%s needs PostgreSQL %d, and this is %d",
			 script->feature, script->needs, version);
		return LAB_CANNOT;
	}
	r = drop_leftovers(lab);
	if (r == 0)
		r = lab_section(lab, &lab->control, scratch(), "create", NULL);
	return r;
}

/* The sessions of workers that were killed may hold locks yet. */
static int
postgres_remove(struct lab *lab)
{
	const struct timespec nap = { 0, 10000000 };
	int64_t until = lab_now_us() + GONE_MS * 1000;
	struct lab_side *side = &lab->control;
	struct lab_rows rows = { .count = 0 };
	char name[sizeof(lab->name) + 2];
	int r, r2;

	if (!side->conn)
		return 0;
	r = lab_section(lab, side, scratch(), "end", NULL);
	while (r == 0 && lab_now_us() < until) {
		r = lab_section(lab, side, scratch(), "others", &rows);
		if (r == 0 && atoi(rows.values[0][0]) == 0)
			break;
		nanosleep(&nap, NULL);
	}
	snprintf(name, sizeof(name), "%s_t", lab->name);
	r = drop(lab, name);
	r2 = drop(lab, lab->name);
	return r ? r : r2;
}

/* ---- what they cost, and what they wait for ---- */

static int
log_position(struct lab *lab, int64_t *ret)
{
	struct lab_rows rows;
	int r = lab_section(lab, &lab->control, scratch(), "log", &rows);

	*ret = r == 0 ? atoll(rows.values[0][0]) : 0;
	return r;
}

static int
postgres_begin(struct lab *lab)
{
	return log_position(lab, &lab->log_began);
}

static int
postgres_finish(struct lab *lab)
{
	int64_t now;
	int r = log_position(lab, &now);

	lab->result.log_bytes = now - lab->log_began;
	return r;
}

/* Who waits now is taken to have waited since the last look. */
static int
postgres_watch(struct lab *lab, int64_t passed_us)
{
	struct lab_rows rows;
	int r = lab_section(lab, &lab->control, scratch(), "waits", &rows);
	int64_t most = 0;

	for (size_t i = 0; i < rows.count && r == 0; i++) {
		int64_t us = atoll(rows.values[i][1]) * passed_us;

		lab->result.blocked_us += us;
		if (us > most)
			snprintf(lab->result.waited_for,
				 sizeof(lab->result.waited_for), "%.23s",
				 rows.values[i][0]);
		most = us > most ? us : most;
	}
	return r;
}

static void
postgres_account(struct lab_side *side)
{
	(void)side;
}

const struct lab_dialect lab_postgres = {
	.url_of = postgres_url,
	.prepare = postgres_prepare,
	.session = postgres_session,
	.run = postgres_run,
	.watch = postgres_watch,
	.account = postgres_account,
	.begin = postgres_begin,
	.finish = postgres_finish,
	.remove = postgres_remove,
};
