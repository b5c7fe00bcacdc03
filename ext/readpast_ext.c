/*
 * readpast_ext.c - the queue as SQL functions of SQLite: a loadable extension.
 *
 * The library is compiled into it again, against the host's own SQLite: two
 * copies of SQLite in one process lose each other's locks on a file.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#ifdef RP_EXTENSION
#include <sqlite3ext.h>
SQLITE_EXTENSION_INIT1
#endif

#include "ext.h"
#include "internal.h"

/* ---- arguments and answers ---- */

static void
answer_error(sqlite3_context *context, const rp_error *error)
{
	char *message = sqlite3_mprintf("readpast: %s", error->message);

	if (!message || error->code == RP_ENOMEM) {
		sqlite3_result_error_nomem(context);
	} else {
		sqlite3_result_error(context, message, -1);
		if (error->code == RP_EBUSY)
			sqlite3_result_error_code(context, SQLITE_BUSY);
	}
	sqlite3_free(message);
}

static void
answer(sqlite3_context *context, struct ext *ext, rp_conn *conn, int64_t r,
       int64_t value)
{
	if (r < 0)
		answer_error(context, rp_last_error(conn));
	else
		sqlite3_result_int64(context, value);
	ext_leave(ext);
}

/* ---- the functions ---- */

static void
enqueue(sqlite3_context *context, int argc, sqlite3_value **argv)
{
	struct ext *ext = sqlite3_user_data(context);
	const char *queue = (const char *)sqlite3_value_text(argv[0]);
	rp_error error = { 0 };
	rp_new job = RP_NEW_INIT;
	sqlite3_stmt *holder = NULL;
	rp_added added = { 0, 0 };
	rp_conn *conn = NULL;
	int r = 0;

	if (argc > 2 && sqlite3_value_type(argv[2]) != SQLITE_NULL)
		r = ext_options(ext_scratch(ext), argv[2], &job, &holder,
				&error);
	if (sqlite3_value_type(argv[1]) == SQLITE_BLOB)
		job.payload = sqlite3_value_blob(argv[1]);
	else
		job.payload = sqlite3_value_text(argv[1]);
	job.payload_size = (size_t)sqlite3_value_bytes(argv[1]);
	if (r == 0)
		conn = ext_enter(ext, &error);
	if (conn) {
		r = rp_enqueue(conn, queue, &job, &added);
		answer(context, ext, conn, r, added.id);
	} else {
		answer_error(context, &error);
	}
	sqlite3_finalize(holder);
}

/* One verdict: 1, or an error, so that a lost lease ends the transaction that
 * relies on it. */
static void
settle(sqlite3_context *context, sqlite3_value **argv, rp_verdict v)
{
	struct ext *ext = sqlite3_user_data(context);
	rp_error error = { 0 };
	rp_conn *conn = ext_enter(ext, &error);
	int r;

	if (!conn) {
		answer_error(context, &error);
		return;
	}
	v.id = sqlite3_value_int64(argv[0]);
	v.claim_no = sqlite3_value_int64(argv[1]);
	r = rp_settle(conn, &v, 1);
	if (r == 0) {
		rp__refused(&error, &v);
		answer_error(context, &error);
		ext_leave(ext);
	} else {
		answer(context, ext, conn, r, 1);
	}
}

static void
complete(sqlite3_context *context, int argc, sqlite3_value **argv)
{
	(void)argc;
	settle(context, argv, (rp_verdict)RP_VERDICT_INIT);
}

/* The last argument is a duration, if it is there and not null. */
static void
settle_with_delay(sqlite3_context *context, sqlite3_value **argv, rp_verdict v,
		  sqlite3_value *delay)
{
	rp_error error = { 0 };

	if (delay && sqlite3_value_type(delay) != SQLITE_NULL &&
	    ext_duration(delay, &v.delay_ms, &error) < 0)
		answer_error(context, &error);
	else
		settle(context, argv, v);
}

static void
fail(sqlite3_context *context, int argc, sqlite3_value **argv)
{
	rp_verdict v = RP_VERDICT_INIT;

	v.verdict = RP_FAIL;
	v.error = (const char *)sqlite3_value_text(argv[2]);
	settle_with_delay(context, argv, v, argc > 3 ? argv[3] : NULL);
}

static void
fail_for_good(sqlite3_context *context, int argc, sqlite3_value **argv)
{
	rp_verdict v = RP_VERDICT_INIT;

	(void)argc;
	v.verdict = RP_DEAD;
	v.error = (const char *)sqlite3_value_text(argv[2]);
	settle(context, argv, v);
}

static void
release(sqlite3_context *context, int argc, sqlite3_value **argv)
{
	rp_verdict v = RP_VERDICT_INIT;

	v.verdict = RP_RELEASE;
	settle_with_delay(context, argv, v, argc > 2 ? argv[2] : NULL);
}

static void
extend(sqlite3_context *context, int argc, sqlite3_value **argv)
{
	rp_verdict v = RP_VERDICT_INIT;

	v.verdict = RP_EXTEND;
	settle_with_delay(context, argv, v, argc > 2 ? argv[2] : NULL);
}

static void
sweep(sqlite3_context *context, int argc, sqlite3_value **argv)
{
	struct ext *ext = sqlite3_user_data(context);
	rp_error error = { 0 };
	rp_conn *conn = ext_enter(ext, &error);
	int64_t r;

	(void)argc;
	(void)argv;
	if (!conn) {
		answer_error(context, &error);
		return;
	}
	r = rp_sweep(conn, NULL);
	answer(context, ext, conn, r, r);
}

static const struct {
	const char *name;
	int least, most; /* arguments */
	void (*function)(sqlite3_context *, int, sqlite3_value **);
} functions[] = {
	{ "readpast_enqueue", 2, 3, enqueue },
	{ "readpast_complete", 2, 2, complete },
	{ "readpast_fail", 3, 4, fail },
	{ "readpast_fail_for_good", 3, 3, fail_for_good },
	{ "readpast_release", 2, 3, release },
	{ "readpast_extend", 2, 3, extend },
	{ "readpast_sweep", 0, 0, sweep },
};

static int
make_functions(sqlite3 *db, struct ext *ext)
{
	int rc = SQLITE_OK;

	for (size_t i = 0; i < sizeof(functions) / sizeof(*functions); i++)
		for (int n = functions[i].least;
		     n <= functions[i].most && rc == SQLITE_OK; n++) {
			ext->uses++; /* SQLite releases it if this fails */
			rc = sqlite3_create_function_v2(
				db, functions[i].name, n,
				SQLITE_UTF8 | SQLITE_DIRECTONLY, ext,
				functions[i].function, NULL, NULL, ext_release);
		}
	return rc;
}

#ifdef RP_EXTENSION
__attribute__((visibility("default")))
#endif
int
sqlite3_readpast_init(sqlite3 *db, char **reterr,
		      const sqlite3_api_routines *api);

int
sqlite3_readpast_init(sqlite3 *db, char **reterr,
		      const sqlite3_api_routines *api)
{
	struct ext *ext;
	int rc;

	SQLITE_EXTENSION_INIT2(api);
	if (sqlite3_libversion_number() < 3038000) {
		*reterr = sqlite3_mprintf("readpast needs SQLite 3.38 or "
					  "newer; this one is %s",
					  sqlite3_libversion());
		return SQLITE_ERROR;
	}
	ext = sqlite3_malloc(sizeof(*ext));
	if (!ext)
		return SQLITE_NOMEM;
	*ext = (struct ext){ .db = db, .uses = 1 };
	rc = make_functions(db, ext);
	if (rc == SQLITE_OK)
		rc = ext_claim_module(db, ext);
	ext_release(ext);
	return rc;
}
