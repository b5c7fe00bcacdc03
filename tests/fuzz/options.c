/*
 * options.c - the JSON options of the SQL function readpast_enqueue().
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "fuzz.h"

#include "ext.h"

static void
check(const rp_new *job)
{
	must(job->priority >= -1 && job->priority <= 255);
	must(job->delay_ms >= 0 && job->run_at >= 0);
	must(job->max_attempts >= 0);
	must(job->replace == 0 || job->replace == 1);
	must(!job->kind || strlen(job->kind) < SIZE_MAX);
	must(!job->headers || strlen(job->headers) < SIZE_MAX);
	must(!job->unique_key || strlen(job->unique_key) < SIZE_MAX);
}

/* As SQL hands it over: a value. */
static sqlite3_value *
value_of(sqlite3 *db, const uint8_t *data, size_t size)
{
	sqlite3_stmt *stmt;
	sqlite3_value *value;

	must(sqlite3_prepare_v2(db, "select ?", -1, &stmt, NULL) == SQLITE_OK);
	sqlite3_bind_text64(stmt, 1, size ? (const char *)data : "", size,
			    SQLITE_TRANSIENT, SQLITE_UTF8);
	must(sqlite3_step(stmt) == SQLITE_ROW);
	value = sqlite3_value_dup(sqlite3_column_value(stmt, 0));
	must(value != NULL);
	sqlite3_finalize(stmt);
	return value;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	sqlite3 *db;
	sqlite3_value *json;
	sqlite3_stmt *holder = NULL;
	rp_error error = { 0 };
	rp_new job;
	int r;

	must(sqlite3_open(":memory:", &db) == SQLITE_OK);
	json = value_of(db, data, size);
	r = ext_options(db, json, &job, &holder, &error);
	if (r < 0)
		must_be_a_message(&error, r);
	else
		check(&job);
	sqlite3_finalize(holder);
	sqlite3_value_free(json);
	must(sqlite3_close(db) == SQLITE_OK);
	return 0;
}
