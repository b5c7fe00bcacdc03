/*
 * ext_options.c - the options of readpast_enqueue(), a JSON object; durations.
 *
 * SQLite takes the JSON apart; each member has the name and the meaning of the
 * field of rp_new.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include <stdio.h>
#include <string.h>

#include "ext.h"
#include "internal.h"

/* One row for the whole object, a column for each member; a time may be text
 * that SQLite understands. `unknown`: a name that is none of these. */
static const char take_apart[] =
	"select j ->> '$.kind', j -> '$.headers', j ->> '$.unique_key',"
	"       j ->> '$.priority', j ->> '$.max_attempts', j ->> '$.replace',"
	"       coalesce(j ->> '$.delay_ms', j ->> '$.delay'),"
	"       case when typeof(j ->> '$.run_at') = 'text'"
	"            then coalesce(round((julianday(j ->> '$.run_at')"
	"                                 - 2440587.5) * 86400000), -1)"
	"            else j ->> '$.run_at' end,"
	"       (select min(key) from json_each(j)"
	"         where key not in ('kind', 'headers', 'unique_key', "
	"'priority',"
	"                           'max_attempts', 'replace', 'delay_ms',"
	"                           'delay', 'run_at')),"
	"       json_type(j)"
	"  from (select ?1 as j)";

enum {
	KIND,
	HEADERS,
	UNIQUE_KEY,
	PRIORITY,
	MAX_ATTEMPTS,
	REPLACE,
	DELAY,
	RUN_AT,
	UNKNOWN,
	TYPE
};

static int
refuse(rp_error *error, const char *what)
{
	return rp__fail(error, RP_EINVAL, "options: %.200s", what);
}

static const char *
text_at(sqlite3_stmt *stmt, int column)
{
	return (const char *)sqlite3_column_text(stmt, column);
}

int
ext_duration(sqlite3_value *value, int64_t *ret_ms, rp_error *error)
{
	int type = sqlite3_value_type(value);
	const char *text = (const char *)sqlite3_value_text(value);

	if (type == SQLITE_INTEGER || type == SQLITE_FLOAT) {
		*ret_ms = sqlite3_value_int64(value);
		if (*ret_ms >= 0 && *ret_ms <= 3650 * INT64_C(86400000))
			return 0;
	} else if (type == SQLITE_TEXT && rp_duration(text, ret_ms) == 0) {
		return 0;
	}
	return rp__fail(
		error, RP_EINVAL,
		"%.60s is no duration: milliseconds, or '90s', '5m', at most "
		"'3650d'",
		type == SQLITE_NULL || type == SQLITE_BLOB ? "that" : text);
}

/* An integer within least..most, if it is there. */
static int
int_at(sqlite3_stmt *stmt, int column, int64_t least, int64_t most,
       int64_t *ret)
{
	int type = sqlite3_column_type(stmt, column);
	int64_t n = sqlite3_column_int64(stmt, column);

	if (type == SQLITE_NULL)
		return 0;
	if ((type != SQLITE_INTEGER && type != SQLITE_FLOAT) || n < least ||
	    n > most)
		return -1;
	*ret = n;
	return 0;
}

static int
fill(sqlite3_stmt *stmt, rp_new *job, rp_error *error)
{
	int64_t priority = -1, replace = 0;
	const char *type = text_at(stmt, TYPE);
	char words[80];

	if (!type || strcmp(type, "object") != 0)
		return refuse(error, "a JSON object is expected, "
				     "{\"delay\": \"5m\"}");
	if (text_at(stmt, UNKNOWN)) {
		snprintf(words, sizeof(words), "there is no %.60s",
			 text_at(stmt, UNKNOWN));
		return refuse(error, words);
	}
	job->kind = text_at(stmt, KIND);
	job->headers = text_at(stmt, HEADERS);
	job->unique_key = text_at(stmt, UNIQUE_KEY);
	if (int_at(stmt, PRIORITY, 0, 255, &priority) < 0)
		return refuse(error, "priority is not within 0..255");
	if (int_at(stmt, MAX_ATTEMPTS, 1, 1000000000, &job->max_attempts) < 0)
		return refuse(error, "max_attempts is not within "
				     "1..1000000000");
	if (int_at(stmt, REPLACE, 0, 1, &replace) < 0)
		return refuse(error, "replace is not true or false");
	if (int_at(stmt, RUN_AT, 0, INT64_C(253402300799999), &job->run_at) < 0)
		return refuse(error, "run_at is neither milliseconds since "
				     "1970 nor a time like "
				     "2026-01-31T18:00:00Z");
	job->priority = (int)priority;
	job->replace = (int)replace;
	if (sqlite3_column_type(stmt, DELAY) == SQLITE_NULL)
		return 0;
	return ext_duration(sqlite3_column_value(stmt, DELAY), &job->delay_ms,
			    error);
}

int
ext_options(sqlite3 *db, sqlite3_value *json, rp_new *ret,
	    sqlite3_stmt **ret_holder, rp_error *error)
{
	rp_new job = RP_NEW_INIT;
	sqlite3_stmt *stmt = NULL;
	int r;

	if (sqlite3_prepare_v2(db, take_apart, -1, &stmt, NULL) != SQLITE_OK ||
	    sqlite3_bind_value(stmt, 1, json) != SQLITE_OK)
		r = refuse(error, sqlite3_errmsg(db));
	else if (sqlite3_step(stmt) != SQLITE_ROW)
		r = refuse(error, sqlite3_errmsg(db));
	else
		r = fill(stmt, &job, error);
	if (r < 0) {
		sqlite3_finalize(stmt);
		return r;
	}
	*ret = job;
	*ret_holder = stmt;
	return 0;
}
