/*
 * backend.c - open and close connections to a PostgreSQL server, and begin and
 * end transactions.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 *
 * A transaction with a single verb is sent as one statement without `begin`, so
 * it is one round trip and one commit. Other transactions are begun explicitly.
 * A call inside a transaction runs in a savepoint, so that its failure does not
 * end the caller's transaction.
 */
#include "postgres.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "db/server/server.h"

/* ---- errors ---- */

static int
code_of(const char *state)
{
	static const struct {
		const char *state; /* prefix of the SQLSTATE */
		int code;
	} codes[] = {
		{ "RP001", RP_EGONE },    { "RP002", RP_ECANCELLED },
		{ "RP003", RP_EINVAL },   { "RP004", RP_EFBIG },
		{ "RP005", RP_ENOENT },   { "RP006", RP_ETAKEN },
		{ "25001", RP_EINVAL },   { "25006", RP_EREADONLY },
		{ "40", RP_EBUSY },       { "55P03", RP_EBUSY },
		{ "57014", RP_EBUSY },    { "57P", RP_ELOST },
		{ "08", RP_ELOST },       { "53100", RP_EFULL },
		{ "53200", RP_ENOMEM },   { "53", RP_EBUSY },
		{ "3D000", RP_ENODB },    { "3F000", RP_ESCHEMA },
		{ "42P01", RP_ESCHEMA },  { "42883", RP_ESCHEMA },
		{ "42703", RP_ESCHEMA },  { "22P02", RP_EINVAL },
		{ "XX001", RP_EDAMAGED }, { "XX002", RP_EDAMAGED },
		{ "22021", RP_EINVAL },   { "23514", RP_EINVAL },
		{ "22P05", RP_EINVAL },   { "42939", RP_EINVAL },
		{ "26000", RP_EBUSY },
	};

	for (size_t i = 0; i < sizeof(codes) / sizeof(*codes); i++)
		if (strncmp(state, codes[i].state, strlen(codes[i].state)) == 0)
			return codes[i].code;
	return RP_EDB;
}

/* Fail with the first line of `text`, without the "ERROR:" that libpq adds. */
int
rp__postgres_say(rp_error *error, int code, const char *text)
{
	size_t n = strcspn(text, "\n");

	if (strncmp(text, "ERROR:  ", 8) == 0) {
		text += 8;
		n -= 8;
	}
	return rp__fail(error, code, "%.*s", n > 220 ? 220 : (int)n, text);
}

/* Returns what the user can do about an error of the server, or "". */
static const char *
advice(const char *state)
{
	return strcmp(state, "42501") == 0
		       ? ": the role lacks a grant (readpast(7), Grants)"
	       : strcmp(state, "25006") == 0
		       ? ": use the URL of a server that accepts writes"
		       : "";
}

/* Put `what` before the server's message. */
static void
say_first(rp_error *error, const char *what)
{
	char why[sizeof(error->message)];

	memcpy(why, error->message, sizeof(why));
	rp__fail(error, error->code, "%s: %.190s", what, why);
}

/* The server reports many different errors as 0A000 (feature not supported).
 * They are recognised by the name of the server function that raises them. */
static int
is_unsupported_in(const PGresult *res, const char *function)
{
	const char *state = PQ(resultErrorField)(res, PG_DIAG_SQLSTATE);
	const char *from = PQ(resultErrorField)(res, PG_DIAG_SOURCE_FUNCTION);

	return state && strcmp(state, "0A000") == 0 && from &&
	       strcmp(from, function) == 0;
}

int
rp__postgres_is_stale(const PGresult *res)
{
	return is_unsupported_in(res, "RevalidateCachedQuery");
}

/* Returns the SQLSTATE of a failed statement. It is 25006 (read-only) if a
 * standby has refused to read an unlogged table, and 26000 (no such prepared
 * statement) if a prepared statement cannot be used any more. */
static const char *
state_of(const PGresult *res)
{
	return is_unsupported_in(res, "get_relation_info") ? "25006"
	       : rp__postgres_is_stale(res)
		       ? "26000"
		       : PQ(resultErrorField)(res, PG_DIAG_SQLSTATE);
}

int
rp__postgres_failed(struct postgres *s, const PGresult *res, rp_error *error)
{
	const char *state = state_of(res);
	const char *text = PQ(resultErrorField)(res, PG_DIAG_MESSAGE_PRIMARY);
	int code = state ? code_of(state) : RP_EDB;
	size_t n;

	if (PQ(status)(s->pg) == CONNECTION_BAD)
		code = RP_ELOST;
	rp__postgres_say(error, code,
			 text && *text ? text : PQ(errorMessage)(s->pg));
	if (error && state) {
		n = strlen(error->message);
		snprintf(error->message + n, sizeof(error->message) - n, "%s",
			 advice(state));
	}
	if (error && code == RP_ELOST)
		say_first(error, s->is_open ? "connection lost, outcome unknown"
					    : "connection lost");
	if (error && code == RP_EFULL)
		say_first(error, "the server has no room left");
	if (error && state)
		snprintf(error->sqlstate, sizeof(error->sqlstate), "%s", state);
	return code;
}

/*
 * Fail if it is not certain that a commit has reached the synchronous standby.
 * The wait for the standby may be cancelled. The server then reports success,
 * but also sends a notice that the commit may exist only on this server. In
 * this case the caller must read which jobs it holds, as after a lost answer.
 */
int
rp__postgres_check_sure(struct postgres *s, rp_error *error)
{
	if (!s->unsure)
		return 0;
	s->unsure = 0;
	s->lost_answer = 1;
	return rp__fail(error, RP_ELOST,
			"outcome unknown: committed on this server, but the "
			"wait for the synchronous standby was cancelled");
}

/* ---- transactions ---- */

int
rp__postgres_execute(struct postgres *s, const char *sql, rp_error *error)
{
	PGresult *res = PQ(exec)(s->pg, sql);
	ExecStatusType status = PQ(resultStatus)(res);
	int r = status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK
			? 0
			: rp__postgres_failed(s, res, error);

	PQ(clear)(res);
	return r;
}

/* Check the connection's client_encoding. The library writes UTF-8, but the
 * caller may have set another encoding. */
static int
check_encoding(const struct postgres *s, rp_error *error)
{
	const char *name = PQ(parameterStatus)(s->pg, "client_encoding");

	if (!s->attached || !name || strcmp(name, "UTF8") == 0 ||
	    strcmp(name, "SQL_ASCII") == 0)
		return 0;
	return rp__fail(error, RP_EINVAL,
			"the connection's client_encoding is %.40s: readpast "
			"needs UTF8",
			name);
}

static int
begin_first(struct postgres *s, int how, rp_error *error)
{
	int limits = s->most_wait_ms && s->pooled, n;
	char begin[128];
	PGTransactionStatusType status = PQ(transactionStatus)(s->pg);
	int r = rp__postgres_connect_again(s, error);

	if (r == 0)
		r = check_encoding(s, error);
	if (r < 0)
		return r;
	if (status == PQTRANS_INTRANS || status == PQTRANS_INERROR) {
		s->base = JOINED;
		return rp__postgres_execute(s, "savepoint readpast", error);
	}
	n = snprintf(begin, sizeof(begin),
		     "begin isolation level read committed");
	if (limits)
		snprintf(begin + n, sizeof(begin) - (size_t)n,
			 "; set local lock_timeout = '%dms'", s->most_wait_ms);
	s->base =
		how & RP_BEGIN_ONCE && !s->other_level && !limits ? ALONE : OWN;
	if (s->base == ALONE)
		return 0;
	r = rp__postgres_execute(s, begin, error);
	if (r == RP_ELOST && (r = rp__postgres_connect_again(s, error)) == 0)
		r = rp__postgres_execute(s, begin, error);
	return r;
}

/* Check that the library's transaction is still open. */
static int
check_open(struct postgres *s, rp_error *error)
{
	PGTransactionStatusType status = PQ(transactionStatus)(s->pg);

	if (PQ(status)(s->pg) == CONNECTION_BAD)
		return rp__postgres_say(error, RP_ELOST,
					PQ(errorMessage)(s->pg));
	return s->base == ALONE || status == PQTRANS_INTRANS ||
			       status == PQTRANS_INERROR
		       ? 0
		       : rp__fail(error, RP_EDB,
				  "the transaction is not open any more: "
				  "other code ended it, or an earlier failure "
				  "rolled it back");
}

int
rp__postgres_begin(void *db, int how, rp_error *error)
{
	struct postgres *s = db;
	int r = s->depth == 0 ? begin_first(s, how, error)
			      : check_open(s, error);

	if (r == 0 && s->depth > 0)
		r = rp__postgres_execute(s, "savepoint readpast", error);
	if (r == 0)
		s->depth++;
	return r;
}

void
rp__postgres_rollback(void *db)
{
	struct postgres *s = db;

	s->depth--;
	if (s->depth == 0 && s->base == ALONE)
		return;
	if (s->depth > 0 || s->base == JOINED)
		rp__postgres_execute(
			s, "rollback to readpast; release readpast", NULL);
	else
		rp__postgres_execute(s, "rollback", NULL);
}

/* Commit the library's transaction. If a statement in the transaction has
 * failed, the server rolls back instead, and only the command tag shows that.
 * If the connection is lost, the outcome is unknown. */
static int
commit_own(struct postgres *s, rp_error *error)
{
	PGresult *res = PQ(exec)(s->pg, "commit");
	int r = 0;

	if (PQ(resultStatus)(res) != PGRES_COMMAND_OK)
		r = rp__postgres_failed(s, res, error);
	else if (strcmp(PQ(cmdStatus)(res), "COMMIT") != 0)
		r = rp__fail(error, RP_EDB,
			     "the transaction was rolled back by an earlier "
			     "failure");
	else
		r = rp__postgres_check_sure(s, error);
	PQ(clear)(res);
	return r;
}

int
rp__postgres_commit(void *db, rp_error *error)
{
	struct postgres *s = db;
	int r = check_open(s, error);

	if (r == 0 && (s->depth > 1 || s->base == JOINED)) {
		r = rp__postgres_execute(s, "release readpast", error);
		if (r < 0) {
			rp__postgres_rollback(s);
			return r;
		}
	} else if (r == 0 && s->base == OWN)
		r = commit_own(s, error);
	s->depth--;
	return r;
}

static int
postgres_joins(void *db)
{
	const struct postgres *s = db;

	return s->attached && s->depth == 0 &&
	       PQ(transactionStatus)(s->pg) != PQTRANS_IDLE;
}

static int
postgres_begin(void *db, int how, rp_error *error)
{
	struct postgres *s = db;
	int r = rp__postgres_begin(s, how, error);

	if (r < 0 || !s->lost_answer)
		return r;
	s->lost_answer = 0;
	return 1;
}

/* ---- opening ---- */

static void
postgres_close(void *db)
{
	struct postgres *s = db;

	if (s->attached)
		rp__postgres_forget(s);
	else
		PQ(finish)(s->pg);
	for (int v = 0; v < RP_VERBS; v++)
		free(s->sql[v]);
	free(s->schema);
	free(s->queues);
	free(s);
}

/* Returns NULL on failure, with the error code in *ret_r. */
static struct postgres *
new_postgres(const char *schema, int *ret_r, rp_error *reterr)
{
	const char *why = rp__libpq()->why;
	struct postgres *s;

	if (*why) {
		*ret_r = rp__fail(reterr, RP_EDB, "%s", why);
		return NULL;
	}
	s = calloc(1, sizeof(*s));
	if (s)
		s->schema = strdup(schema ? schema : "readpast");
	if (!s || !s->schema) {
		free(s);
		*ret_r = rp__fail(reterr, RP_ENOMEM, "out of memory");
		return NULL;
	}
	return s;
}

static int
finish_opening(struct postgres *s, int schema, void **ret, rp_error *reterr)
{
	int r = rp__postgres_check_session(s, reterr);

	if (r == 0)
		r = rp__postgres_check_schema(s, schema, reterr);
	if (r < 0) {
		postgres_close(s);
		return r;
	}
	s->is_open = 1;
	*ret = s;
	return 0;
}

static int
postgres_open(const struct rp_url *url, int schema, void **ret,
	      rp_error *reterr)
{
	int r = 0;
	struct postgres *s = new_postgres(url->schema, &r, reterr);

	if (!s)
		return r;
	r = rp__postgres_connect(s, url->path, reterr);
	if (r == 0)
		return finish_opening(s, schema, ret, reterr);
	postgres_close(s);
	return r;
}

static int
postgres_attach(void *native, const rp_options *options, void **ret,
		rp_error *reterr)
{
	int r = 0;
	struct postgres *s = new_postgres(options->schema_name, &r, reterr);

	if (!s)
		return r;
	s->pg = native;
	s->attached = 1;
	rp__postgres_sign(s);
	return finish_opening(s, options->schema, ret, reterr);
}

static void *
postgres_native(void *db)
{
	return ((struct postgres *)db)->pg;
}

static const char *
postgres_schema(void *db)
{
	return ((struct postgres *)db)->schema;
}

static int
postgres_is_new(void *db)
{
	return ((struct postgres *)db)->is_new;
}

static int
postgres_is_pooled(void *db)
{
	return ((struct postgres *)db)->pooled;
}

/* A list of names is bound as the literal of a text[], which needs braces. */
static const struct rp_server server = { rp__postgres_run, rp__postgres_fields,
					 '{', '}' };

static int
postgres_settle_and_claim(void *db, struct rp_round_trip *trip, rp_error *error)
{
	return rp__server_settle_and_claim(&server, db, trip, error);
}

static int
postgres_enqueue(void *db, struct rp_enqueue *jobs, rp_error *error)
{
	return rp__server_enqueue(&server, db, jobs, error);
}

const struct rp_backend rp__backend_postgres = {
	.read_url = rp__postgres_read_url,
	.names = rp__postgres_names,
	.check_schema = rp__postgres_check_name,
	.shares_sequences = 1,
	.open = postgres_open,
	.attach = postgres_attach,
	.close = postgres_close,
	.native = postgres_native,
	.schema = postgres_schema,
	.is_new = postgres_is_new,
	.schema_sql = rp__postgres_schema_sql,
	.joins = postgres_joins,
	.begin = postgres_begin,
	.commit = rp__postgres_commit,
	.rollback = rp__postgres_rollback,
	.limit_waits = rp__postgres_limit_waits,
	.run = rp__postgres_run,
	.query = rp__postgres_query,
	.measure = rp__postgres_measure,
	.settle_and_claim = postgres_settle_and_claim,
	.enqueue = postgres_enqueue,
	.wait = rp__postgres_wait,
	.leave = rp__postgres_leave,
	.wait_for_jobs = rp__postgres_wait_for_jobs,
	.leave_jobs = rp__postgres_leave_jobs,
	.hears = rp__postgres_hears,
	.is_pooled = postgres_is_pooled,
	.leave_host = rp__postgres_leave_host,
};
