/*
 * ext_claim.c - claiming as a table: select * from readpast_claim('mail', 10).
 *
 * All jobs are claimed, and committed unless the host's transaction is open,
 * before the first row is returned.
 *
 * SQLite disconnects its virtual tables before it looks whether a connection
 * that is to be closed is still in use: so the table is what the attached
 * handle, with its prepared statements, hangs on.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include <string.h>

#include "ext.h"
#include "internal.h"

static const char declaration[] =
	"create table x (id, claim_no, queue, kind, payload, headers, attempt,"
	" max_attempts, priority, unique_key, created_at, run_at, lease_until,"
	" last_error, in_queue hidden, n hidden, lease hidden)";

enum {
	ID,
	CLAIM_NO,
	QUEUE,
	KIND,
	PAYLOAD,
	HEADERS,
	ATTEMPT,
	MAX_ATTEMPTS,
	PRIORITY,
	UNIQUE_KEY,
	CREATED_AT,
	RUN_AT,
	LEASE_UNTIL,
	LAST_ERROR,
	IN_QUEUE,
	N,
	LEASE
};

struct table {
	sqlite3_vtab base;
	struct ext *ext;
};

struct cursor {
	sqlite3_vtab_cursor base;
	rp_batch *batch;
	size_t row;
};

static int
connect_table(sqlite3 *db, void *ext, int argc, const char *const *argv,
	      sqlite3_vtab **ret, char **reterr)
{
	struct table *table = sqlite3_malloc(sizeof(*table));
	int rc = table ? sqlite3_declare_vtab(db, declaration) : SQLITE_NOMEM;

	(void)argc;
	(void)argv;
	(void)reterr;
	if (rc != SQLITE_OK) {
		sqlite3_free(table);
		return rc;
	}
	sqlite3_vtab_config(db, SQLITE_VTAB_DIRECTONLY);
	*table = (struct table){ .ext = ext };
	ext_add_anchor(ext);
	*ret = &table->base;
	return SQLITE_OK;
}

static int
disconnect_table(sqlite3_vtab *base)
{
	struct table *table = (struct table *)base;

	ext_lose_anchor(table->ext);
	sqlite3_free(table);
	return SQLITE_OK;
}

/* The arguments are passed on in the order of their columns; `idxNum` says
 * which there are. Dear, so that in a join it is the outer loop and run once.
 */
static int
best_index(sqlite3_vtab *base, sqlite3_index_info *info)
{
	int there = 0, next = 1;

	for (int column = IN_QUEUE; column <= LEASE; column++)
		for (int i = 0; i < info->nConstraint; i++) {
			if (info->aConstraint[i].iColumn != column)
				continue;
			if (!info->aConstraint[i].usable)
				return SQLITE_CONSTRAINT;
			info->aConstraintUsage[i].argvIndex = next++;
			info->aConstraintUsage[i].omit = 1;
			there |= 1 << (column - IN_QUEUE);
			break;
		}
	if (!(there & 1)) {
		base->zErrMsg = sqlite3_mprintf(
			"readpast: which queue? readpast_claim('mail', 10)");
		return SQLITE_ERROR;
	}
	info->idxNum = there;
	info->estimatedCost = 1e9;
	info->estimatedRows = 10;
	return SQLITE_OK;
}

static int
open_cursor(sqlite3_vtab *table, sqlite3_vtab_cursor **ret)
{
	struct cursor *cursor = sqlite3_malloc(sizeof(*cursor));

	(void)table;
	if (!cursor)
		return SQLITE_NOMEM;
	*cursor = (struct cursor){ .row = 0 };
	*ret = &cursor->base;
	return SQLITE_OK;
}

static int
close_cursor(sqlite3_vtab_cursor *base)
{
	struct cursor *cursor = (struct cursor *)base;

	rp_batch_free(cursor->batch);
	sqlite3_free(cursor);
	return SQLITE_OK;
}

static int
say(sqlite3_vtab_cursor *base, const rp_error *error)
{
	sqlite3_free(base->pVtab->zErrMsg);
	base->pVtab->zErrMsg = sqlite3_mprintf("readpast: %s", error->message);
	return error->code == RP_EBUSY    ? SQLITE_BUSY
	       : error->code == RP_ENOMEM ? SQLITE_NOMEM
					  : SQLITE_ERROR;
}

static int
claim(struct cursor *cursor, const char *queue, int64_t n, int64_t lease_ms)
{
	struct ext *ext = ((struct table *)cursor->base.pVtab)->ext;
	rp_claim_options options = RP_CLAIM_INIT;
	rp_error error = { 0 };
	rp_conn *conn = ext_enter(ext, &error);
	int rc = SQLITE_OK;

	if (!conn)
		return say(&cursor->base, &error);
	options.lease_ms = lease_ms;
	/* What is too large or negative is too large as a size_t as well. */
	if (rp_claim(conn, queue, (size_t)n, &options, &cursor->batch) < 0)
		rc = say(&cursor->base, rp_last_error(conn));
	ext_leave(ext);
	return rc;
}

static int
filter(sqlite3_vtab_cursor *base, int there, const char *text, int argc,
       sqlite3_value **argv)
{
	struct cursor *cursor = (struct cursor *)base;
	const char *queue = (const char *)sqlite3_value_text(*argv++);
	int64_t n = 1, lease_ms = 0;
	rp_error error = { 0 };

	(void)text;
	(void)argc;
	rp_batch_free(cursor->batch);
	cursor->batch = NULL;
	cursor->row = 0;
	if (there & 2)
		n = sqlite3_value_int64(*argv++);
	if (there & 4 && sqlite3_value_type(*argv) != SQLITE_NULL &&
	    ext_duration(*argv, &lease_ms, &error) < 0)
		return say(base, &error);
	return claim(cursor, queue, n, lease_ms);
}

static int
next(sqlite3_vtab_cursor *base)
{
	((struct cursor *)base)->row++;
	return SQLITE_OK;
}

static int
at_end(sqlite3_vtab_cursor *base)
{
	const struct cursor *cursor = (const struct cursor *)base;

	return !cursor->batch || cursor->row >= rp_batch_count(cursor->batch);
}

/* As text where it is text, like the view readpast_jobs. */
static void
answer_payload(sqlite3_context *context, const rp_job *job)
{
	int text = !memchr(job->payload, '\0', job->payload_size) &&
		   rp__utf8(job->payload, job->payload_size);

	if (text)
		sqlite3_result_text64(context, job->payload, job->payload_size,
				      SQLITE_TRANSIENT, SQLITE_UTF8);
	else
		sqlite3_result_blob64(context, job->payload, job->payload_size,
				      SQLITE_TRANSIENT);
}

static int
column(sqlite3_vtab_cursor *base, sqlite3_context *context, int c)
{
	const struct cursor *cursor = (const struct cursor *)base;
	const rp_job *job = rp_batch_at(cursor->batch, cursor->row);
	const int64_t numbers[] = {
		[ID] = job->id,
		[CLAIM_NO] = job->claim_no,
		[ATTEMPT] = job->attempt,
		[MAX_ATTEMPTS] = job->max_attempts,
		[PRIORITY] = job->priority,
		[CREATED_AT] = job->created_at,
		[RUN_AT] = job->run_at,
		[LEASE_UNTIL] = job->lease_until,
	};
	const char *const texts[] = {
		[QUEUE] = job->queue,           [KIND] = job->kind,
		[HEADERS] = job->headers,       [UNIQUE_KEY] = job->unique_key,
		[LAST_ERROR] = job->last_error,
	};

	if (c == PAYLOAD)
		answer_payload(context, job);
	else if (c == QUEUE || c == KIND || c == HEADERS || c == UNIQUE_KEY ||
		 c == LAST_ERROR)
		sqlite3_result_text(context, texts[c], -1, SQLITE_TRANSIENT);
	else if (c <= LEASE_UNTIL)
		sqlite3_result_int64(context, numbers[c]);
	return SQLITE_OK;
}

static int
rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *ret)
{
	*ret = (int64_t)((const struct cursor *)base)->row + 1;
	return SQLITE_OK;
}

static const sqlite3_module module = {
	.xCreate = connect_table,
	.xConnect = connect_table,
	.xBestIndex = best_index,
	.xDisconnect = disconnect_table,
	.xDestroy = disconnect_table,
	.xOpen = open_cursor,
	.xClose = close_cursor,
	.xFilter = filter,
	.xNext = next,
	.xEof = at_end,
	.xColumn = column,
	.xRowid = rowid,
};

int
ext_claim_module(sqlite3 *db, struct ext *ext)
{
	int rc;

	ext->uses++; /* SQLite releases it if this fails */
	rc = sqlite3_create_module_v2(db, "readpast_claim", &module, ext,
				      ext_release);
	if (rc == SQLITE_OK)
		ext_make_temporary(db, "readpast_claim");
	return rc;
}
