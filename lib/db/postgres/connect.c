/*
 * connect.c - connect to a PostgreSQL server, inspect the session, and
 * reconnect.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "postgres.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>

#define CONNECT_S "10" /* time-out in seconds for each host of the URL */
/* A call checks whether the server has closed the connection, unless the
 * previous call began less than this time ago (in us). */
#define BUSY_US 5000

/* Detect a pooler and the isolation level. Behind a pooler, the process id that
 * libpq reports is not the server's. Each transaction may then run in another
 * session, which does not have our prepared statements, settings and LISTEN.
 *
 * All our transactions need `read committed`. If the session has another
 * default isolation level, we change the default. If the session belongs to the
 * caller or to a pooler, each transaction sets its own level instead. */
int
rp__postgres_check_session(struct postgres *s, rp_error *error)
{
	PGresult *res =
		PQ(exec)(s->pg, "select pg_catalog.pg_backend_pid(), "
				"pg_catalog.current_setting("
				"'default_transaction_isolation') "
				"operator(pg_catalog.<>) 'read committed'");
	int r = 0;

	if (PQ(resultStatus)(res) != PGRES_TUPLES_OK) {
		r = rp__postgres_failed(s, res, error);
	} else {
		s->pooled =
			atoi(PQ(getvalue)(res, 0, 0)) != PQ(backendPID)(s->pg);
		s->other_level = *PQ(getvalue)(res, 0, 1) == 't';
	}
	PQ(clear)(res);
	if (r == 0 && s->most_wait_ms)
		r = rp__postgres_limit_waits(s, s->most_wait_ms, error);
	if (r < 0 || !s->other_level || s->pooled || s->attached)
		return r;
	s->other_level = 0;
	return rp__postgres_execute(
		s, "set default_transaction_isolation = 'read committed'",
		error);
}

/* Set a lock timeout for the session. Behind a pooler, begin_first() sets the
 * timeout for each transaction instead. */
int
rp__postgres_limit_waits(void *db, int most_ms, rp_error *error)
{
	struct postgres *s = db;
	char set[64];

	s->most_wait_ms = most_ms;
	snprintf(set, sizeof(set), "set lock_timeout = '%dms'", most_ms);
	return s->pooled ? 0 : rp__postgres_execute(s, set, error);
}

/* Before a statement is sent, read a pending notice that the server is shutting
 * down. If the statement were sent first, its outcome would be unknown.
 * Back-to-back calls skip this check, because the previous call has just read
 * from the connection. */
static void
hear_goodbye(struct postgres *s)
{
	struct pollfd p = { .fd = PQ(socket)(s->pg), .events = POLLIN };
	int64_t now = rp__monotonic_us(), asked_us = s->asked_us;

	s->asked_us = now;
	if (now - asked_us < BUSY_US)
		return;
	for (int i = 0;
	     i < 4 && PQ(status)(s->pg) == CONNECTION_OK && poll(&p, 1, 0) > 0;
	     i++)
		PQ(consumeInput)(s->pg);
}

/* If the connection was lost, for example because the server was restarted,
 * make a new one. libpq tries the URL's hosts again. Callers do this only
 * before they send a statement. If the connection is lost after a statement was
 * sent, the statement must not be sent again, because the server may have run
 * it. */
int
rp__postgres_connect_again(struct postgres *s, rp_error *error)
{
	if (!s->attached)
		hear_goodbye(s);
	if (PQ(status)(s->pg) == CONNECTION_OK && !s->leaves_host)
		return 0;
	if (s->attached)
		return rp__postgres_say(error, RP_ELOST,
					PQ(errorMessage)(s->pg));
	PQ(reset)(s->pg);
	s->leaves_host = 0;
	memset(s->prepared, 0, sizeof(s->prepared));
	s->listening = 0;
	s->registered_at = 0;
	s->rest_ms = 0;
	*s->job_channel = '\0';
	s->lost_answer = 1;
	return PQ(status)(s->pg) == CONNECTION_OK
		       ? rp__postgres_check_session(s, error)
		       : rp__postgres_say(error, RP_EBUSY,
					  PQ(errorMessage)(s->pg));
}

void
rp__postgres_leave_host(void *db)
{
	struct postgres *s = db;

	s->leaves_host = !s->attached;
}

/* ---- connecting ---- */

/* Receive a notice of the server. Notices are dropped, because the library
 * never prints. Only one notice is recorded, the one that says that a commit
 * may exist only on this server, and not on its standby. That notice has no
 * SQLSTATE of its own, so it is recognised by the name of the server function
 * that sends it. */
static void
take_remark(void *ctx, const PGresult *res)
{
	struct postgres *s = ctx;
	const char *from = PQ(resultErrorField)(res, PG_DIAG_SOURCE_FUNCTION);

	if (from && strcmp(from, "SyncRepWaitForLSN") == 0)
		s->unsure = 1;
}

/* Returns 1 if libpq could not parse the text `host=... schema=...`. libpq does
 * not know our option, which rp__postgres_read_url() finds only after a ?. */
static int
has_our_option(const char *why)
{
	return why && strstr(why, "\"schema\"") != NULL;
}

/* Check that libpq can parse the URL. libpq's error message quotes the text
 * that libpq could not parse. If that text may include a password, our error
 * has another message. */
static int
check_url(const char *url, rp_error *reterr)
{
	char *why = NULL;
	PQconninfoOption *options = PQ(conninfoParse)(url, &why);
	int secret = strchr(url, '@') || strstr(url, "password");
	int r = 0;

	if (!options && has_our_option(why))
		r = rp__fail(reterr, RP_EINVAL,
			     "schema is an option of readpast: write it at the "
			     "end of the URL, as in "
			     "postgres://HOST/DATABASE?schema=NAME");
	else if (!options && secret)
		r = rp__fail(reterr, RP_EINVAL,
			     "not a valid database URL: in a password, "
			     "write each character other than a letter or "
			     "digit as %%XX");
	else if (!options)
		r = rp__postgres_say(reterr, RP_EINVAL,
				     why ? why : "out of memory");
	PQ(conninfoFree)(options);
	PQ(freemem)(why);
	return r;
}

/* Connect without printing. A server that is shutting down may send a notice
 * before the connection is complete, and libpq would print it. So start a
 * connection, set our function that receives notices, and only then let
 * PQreset() make the real connection. */
static PGconn *
connect_quietly(struct postgres *s, const char *const *names,
		const char *const *values)
{
	PGconn *pg = PQ(connectStartParams)(names, values, 1);

	if (!pg || PQ(status)(pg) == CONNECTION_BAD)
		return pg;
	PQ(setNoticeReceiver)(pg, take_remark, s);
	PQ(reset)(pg);
	return pg;
}

int
rp__postgres_connect(struct postgres *s, const char *url, rp_error *error)
{
	/* `dbname` is the whole URL. If the URL has a connect_timeout, libpq
	 * uses the URL's value, because a later parameter overrides an earlier
	 * one. */
	const char *const names[] = { "connect_timeout", "dbname",
				      "fallback_application_name",
				      "client_encoding", NULL };
	const char *const values[] = { getenv("PGCONNECT_TIMEOUT") ? NULL
								   : CONNECT_S,
				       url, "readpast", "UTF8", NULL };
	int r = check_url(url, error);

	if (r < 0)
		return r;
	s->pg = connect_quietly(s, names, values);
	if (s->pg && PQ(status)(s->pg) == CONNECTION_OK)
		return 0;
	return rp__postgres_say(error, RP_ENODB,
				s->pg ? PQ(errorMessage)(s->pg)
				      : "out of memory");
}
