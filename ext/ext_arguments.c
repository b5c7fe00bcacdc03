/*
 * ext_arguments.c - read and check the arguments of the SQL functions.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 *
 * SQLite has no named arguments. So a JSON object may be given in place of all
 * optional arguments, for example readpast_enqueue('mail', 'hello', '{"delay":
 * "5m"}').
 */
#include <stdio.h>
#include <string.h>

#include "ext.h"

/* ---- all arguments ---- */

enum kind_of_value {
	NAME,  /* text without a NUL; the library checks its length and
		* characters */
	WORD,  /* a NAME that never begins with a brace */
	BYTES, /* any value except null; a number is converted to text */
	NUMBER,
	NUMBER_OR_NAME,
	FLAG,
	DURATION,
	TIME
};

static const struct {
	const char *name, *words;
	enum kind_of_value kind;
	int64_t least, most; /* limits of a number, or of a duration or time in
			      * milliseconds */
} params[PARAMS] = {
	[P_QUEUE] = { "queue", "the queue's name", NAME, 0, 0 },
	[P_PAYLOAD] = { "payload", "the payload", BYTES, 0, 0 },
	[P_PRIORITY] = { "priority", "priority", NUMBER, 0, RP_MOST_PRIORITY },
	[P_DELAY] = { "delay", "the delay", DURATION, 0, RP_MOST_MS },
	[P_RUN_AT] = { "run_at", "run_at", TIME, 0, RP_MOST_TIME },
	[P_MAX_ATTEMPTS] = { "max_attempts", "max_attempts", NUMBER, 1,
			     RP_MOST_ATTEMPTS },
	[P_KIND] = { "kind", "the kind", NAME, 0, 0 },
	[P_HEADERS] = { "headers", "headers", NAME, 0, 0 },
	[P_UNIQUE_KEY] = { "unique_key", "the unique key", NAME, 0, 0 },
	[P_REPLACE] = { "replace", "replace", FLAG, 0, 1 },
	[P_PAYLOADS] = { "payloads", "payloads", NAME, 0, 0 },
	[P_DELAYS] = { "delays", "delays", NAME, 0, 0 },
	[P_KINDS] = { "kinds", "kinds", NAME, 0, 0 },
	[P_HEADERS_OF_EACH] = { "headers", "headers", NAME, 0, 0 },
	[P_N] = { "n", "n", NUMBER, 1, RP_MOST_CLAIMED },
	[P_LEASE] = { "lease", "the lease", DURATION, 1, RP_MOST_MS },
	[P_WORKER] = { "worker", "the worker's name", NAME, 0, 0 },
	[P_WORKER_ID] = { "worker_id", "worker_id", NUMBER, 0, INT64_MAX },
	[P_HOLDING] = { "holding", "holding", NUMBER, 0, INT32_MAX },
	[P_ID] = { "id", "id", NUMBER, INT64_MIN, INT64_MAX },
	[P_CLAIM_NO] = { "claim_no", "claim_no", NUMBER, INT64_MIN, INT64_MAX },
	[P_ERROR] = { "error", "the error", NAME, 0, 0 },
	[P_FOR_GOOD] = { "for_good", "for_good", FLAG, 0, 1 },
	[P_IDS] = { "ids", "ids", NAME, 0, 0 },
	[P_CLAIM_NOS] = { "claim_nos", "claim_nos", NAME, 0, 0 },
	[P_BACKOFF] = { "backoff", "backoff", DURATION, 0, RP_MOST_MS },
	[P_BACKOFF_MAX] = { "backoff_max", "backoff_max", DURATION, 0,
			    RP_MOST_MS },
	[P_KEEP_DONE] = { "keep_done", "keep_done", DURATION, 0, RP_MOST_MS },
	[P_KEEP_DEAD] = { "keep_dead", "keep_dead", DURATION, 0, RP_MOST_MS },
	[P_MAX_PAYLOAD] = { "max_payload", "max_payload", NUMBER, 0,
			    RP_MOST_PAYLOAD },
	[P_STATE] = { "state", "the state", WORD, 0, 0 },
	[P_JOB_ID] = { "job_id", "job_id", NUMBER, INT64_MIN, INT64_MAX },
	[P_QUEUES] = { "queues", "queues", NAME, 0, 0 },
	[P_WAITED] = { "id", "id", NUMBER_OR_NAME, INT64_MIN, INT64_MAX },
	[P_TIMEOUT] = { "timeout", "the timeout", DURATION, 0, RP_MOST_MS },
	[P_DEAD_TO] = { "dead_to", "dead_to", NAME, 0, 0 },
	[P_RUN_LIMIT] = { "run_limit", "run_limit", NUMBER, 0, RP_MOST_LIMIT },
	[P_GROUP_LIMIT] = { "group_limit", "group_limit", NUMBER, 0,
			    RP_MOST_LIMIT },
	[P_GROUP_ON_FAILURE] = { "group_on_failure", "group_on_failure", WORD,
				 0, 0 },
	[P_RATE] = { "rate", "rate", NUMBER, 0, RP_MOST_RATE },
	[P_PER] = { "per", "per", DURATION, 1, RP_MOST_MS },
	[P_HOLD] = { "hold", "hold", WORD, 0, 0 },
	[P_HOLD_FOR] = { "hold_for", "hold_for", DURATION, 1, RP_MOST_MS },
	[P_DURATION] = { "duration", "the hold", DURATION, 1, RP_MOST_MS },
	[P_BLOCKED] = { "blocked", "blocked", FLAG, 0, 1 },
	[P_AFTER] = { "after", "after", NAME, 0, 0 },
	[P_MOST] = { "most", "most", NUMBER, 1, INT32_MAX },
	[P_NEW_QUEUE] = { "queue", "the queue's name", NAME, 0, 0 },
	[P_REASON] = { "reason", "the reason", NAME, 0, 0 },
	[P_QUEUE_TIMEOUT] = { "timeout", "the timeout", DURATION, 0,
			      RP_MOST_MS },
	[P_KEEP] = { "keep", "keep", DURATION, 1, RP_MOST_MS },
	[P_JOB_TIMEOUT] = { "timeout", "the timeout", DURATION, 1, RP_MOST_MS },
	[P_EXPIRE] = { "expire", "expire", DURATION, 1, RP_MOST_MS },
	[P_BACKOFF_LIST] = { "backoff", "backoff", NAME, 0, 0 },
	[P_RESULT] = { "result", "the result", BYTES, 0, 0 },
	[P_RESULTS] = { "results", "results", NAME, 0, 0 },
	[P_PROGRESS] = { "progress", "progress", NAME, 0, 0 },
	[P_UNIQUE_FOR] = { "unique_for", "unique_for", DURATION, 1,
			   RP_MOST_MS },
	[P_GROUP_KEY] = { "group_key", "the group", NAME, 0, 0 },
	[P_SCHEDULE] = { "name", "the schedule's name", NAME, 0, 0 },
	[P_SPEC] = { "spec", "the spec", NAME, 0, 0 },
	[P_ZONE] = { "zone", "the time zone", WORD, 0, 0 },
	[P_MISSED] = { "missed", "missed", WORD, 0, 0 },
	[P_OVERLAP] = { "overlap", "overlap", WORD, 0, 0 },
};

const char *
ext_words(enum ext_param param)
{
	return params[param].words;
}

int
ext_arguments(const struct ext_function *function)
{
	int n = 0;

	while (function->params[n])
		n++;
	return n;
}

void
ext_signature(const struct ext_function *function, char *to, size_t room)
{
	size_t used = 0;

	*to = '\0';
	for (int i = 0; function->params[i] && used < room; i++)
		used += (size_t)snprintf(
			to + used, room - used, "%s%s%s",
			i == function->least ? i ? " [" : "[" : "",
			i ? ", " : "", params[function->params[i]].name);
	if (function->params[function->least] && used < room)
		snprintf(to + used, room - used, "]");
}

/* ---- one argument ---- */

int
ext_no_memory(struct ext_call *call)
{
	return rp__fail(&call->error, RP_ENOMEM, "out of memory");
}

static int
read_text(struct ext_call *call, int param, sqlite3_value *value,
	  struct ext_argument *to)
{
	int type = sqlite3_value_type(value);

	if (params[param].kind != BYTES && type != SQLITE_TEXT)
		return rp__fail(&call->error, RP_EINVAL, "%s is not text",
				params[param].words);
	to->text = type == SQLITE_BLOB
			   ? sqlite3_value_blob(value)
			   : (const void *)sqlite3_value_text(value);
	to->size = (size_t)sqlite3_value_bytes(value);
	if (!to->text && to->size)
		return ext_no_memory(call);
	if (!to->text)
		to->text = "";
	return 0;
}

/* Returns 1 if a value of this type is a number without a fraction. */
static int
is_whole(sqlite3_value *value, int type)
{
	return type == SQLITE_INTEGER ||
	       (type == SQLITE_FLOAT &&
		sqlite3_value_double(value) ==
			(double)sqlite3_value_int64(value));
}

static int
read_number(struct ext_call *call, int param, sqlite3_value *value,
	    struct ext_argument *to)
{
	int type = sqlite3_value_numeric_type(value);

	to->number = sqlite3_value_int64(value);
	if (is_whole(value, type) && to->number >= params[param].least &&
	    to->number <= params[param].most)
		return 0;
	if (params[param].kind == FLAG)
		return rp__fail(&call->error, RP_EINVAL,
				"%s is not true or false", params[param].words);
	if (params[param].least == INT64_MIN)
		return rp__fail(&call->error, RP_EINVAL, "%s is not a number",
				params[param].words);
	return rp__fail(&call->error, RP_EINVAL, "%s is not within %lld..%lld",
			params[param].words, (long long)params[param].least,
			(long long)params[param].most);
}

static int
read_duration(struct ext_call *call, int param, sqlite3_value *value,
	      struct ext_argument *to)
{
	int type = sqlite3_value_type(value);
	const char *text = (const char *)sqlite3_value_text(value);
	int64_t ms = -1;

	if (is_whole(value, type))
		ms = sqlite3_value_int64(value);
	else if (type == SQLITE_TEXT && text && rp_duration(text, &ms) < 0)
		ms = -1;
	if (ms < 0 || ms > params[param].most)
		return rp__fail(
			&call->error, RP_EINVAL,
			"%.60s is not a duration: use milliseconds, or a "
			"text such as '90s' or '5m', at most '%dd'",
			text && type != SQLITE_BLOB ? text : "that",
			RP_MOST_DAYS);
	if (ms < params[param].least)
		return rp__fail(&call->error, RP_EINVAL,
				"%s must be at least 1 ms",
				params[param].words);
	to->number = ms;
	return 0;
}

/* Read a time: milliseconds, or a text that SQLite's julianday() accepts. */
static int
read_time(struct ext_call *call, int param, sqlite3_value *value,
	  struct ext_argument *to)
{
	static const char sql[] =
		"select case typeof(?1) when 'text' then "
		"round((julianday(?1) - 2440587.5) * 86400000)"
		" when 'blob' then null else ?1 end";
	sqlite3_stmt *stmt = NULL;
	int64_t ms = -1;

	if (sqlite3_prepare_v2(ext_scratch(call->ext), sql, -1, &stmt, NULL) ==
		    SQLITE_OK &&
	    sqlite3_bind_value(stmt, 1, value) == SQLITE_OK &&
	    sqlite3_step(stmt) == SQLITE_ROW &&
	    sqlite3_column_type(stmt, 0) != SQLITE_NULL)
		ms = sqlite3_column_int64(stmt, 0);
	sqlite3_finalize(stmt);
	if (ms < params[param].least || ms > params[param].most)
		return rp__fail(&call->error, RP_EINVAL,
				"%s is neither milliseconds since 1970 nor a "
				"time like 2026-01-31T18:00:00Z",
				params[param].words);
	to->number = ms;
	return 0;
}

static int
read_argument(struct ext_call *call, int param, sqlite3_value *value)
{
	struct ext_argument *to = &call->arguments[param];
	const char *text;

	if (!value || sqlite3_value_type(value) == SQLITE_NULL)
		return 0;
	to->given = 1;
	if (params[param].kind == BYTES)
		return read_text(call, param, value, to);
	/* Refuse a NUL, because C code would end the text there. */
	text = sqlite3_value_type(value) == SQLITE_TEXT
		       ? (const char *)sqlite3_value_text(value)
		       : NULL;
	if (text && memchr(text, '\0', (size_t)sqlite3_value_bytes(value)))
		return rp__fail(&call->error, RP_EINVAL,
				"%s has a control character",
				params[param].words);
	switch (params[param].kind) {
	case NAME:
	case WORD:
		return read_text(call, param, value, to);
	case NUMBER_OR_NAME:
		return text ? read_text(call, param, value, to)
			    : read_number(call, param, value, to);
	case DURATION:
		return read_duration(call, param, value, to);
	case TIME:
		return read_time(call, param, value, to);
	default:
		return read_number(call, param, value, to);
	}
}

/* ---- a JSON object of arguments ---- */

/* Returns the position of the optional argument with this name, or -1. */
static int
position_named(const struct ext_function *function, const char *name)
{
	for (int i = function->least; function->params[i]; i++)
		if (strcmp(params[function->params[i]].name, name) == 0)
			return i;
	return -1;
}

static int
no_such_option(struct ext_call *call, const char *name)
{
	const struct ext_function *function = call->function;
	char there[240] = "";
	size_t used = 0;

	for (int i = function->least;
	     function->params[i] && used < sizeof(there); i++)
		used += (size_t)snprintf(there + used, sizeof(there) - used,
					 "%s%s", used ? ", " : "",
					 params[function->params[i]].name);
	return rp__fail(&call->error, RP_EINVAL,
			"unknown option %.60s: the options are %s", name,
			there);
}

/* Returns 1 if the argument is a number, a duration or a time. */
static int
is_quantity(int param)
{
	return params[param].kind == NUMBER || params[param].kind == DURATION ||
	       params[param].kind == TIME;
}

/* Read a member of the JSON object that contains the optional arguments. The
 * row has the member's name, its value, and the JSON text of the value. */
static int
read_member(struct ext_call *call, sqlite3_stmt *row)
{
	const char *name = (const char *)sqlite3_column_text(row, 0);
	const char *raw = (const char *)sqlite3_column_text(row, 2);
	int i = position_named(call->function, name);
	int param, word;

	if (i < 0)
		return no_such_option(call, name);
	param = call->function->params[i];
	if (raw && *raw == '"' && ext_has_nul_escape(raw, strlen(raw)))
		return rp__fail(&call->error, RP_EINVAL,
				"%s has a control character",
				params[param].words);
	/* The value of `true` is the number 1. A quantity is read from the text
	 * instead, so that it is refused. */
	word = raw && (*raw == 't' || *raw == 'f') && is_quantity(param);
	sqlite3_value_free(call->named[i]);
	call->named[i] =
		sqlite3_value_dup(sqlite3_column_value(row, word ? 2 : 1));
	if (!call->named[i])
		return ext_no_memory(call);
	return read_argument(call, param, call->named[i]);
}

static int
read_object(struct ext_call *call, sqlite3_value *json)
{
	sqlite3 *db = ext_scratch(call->ext);
	sqlite3_stmt *stmt = NULL;
	int r = 0, rc;

	rc = sqlite3_prepare_v2(db,
				"select key, value, ?1 -> fullkey"
				"  from json_each(?1)",
				-1, &stmt, NULL);
	if (rc == SQLITE_OK)
		rc = sqlite3_bind_value(stmt, 1, json);
	while (r == 0 && rc != SQLITE_DONE &&
	       (rc = sqlite3_step(stmt)) == SQLITE_ROW)
		r = read_member(call, stmt);
	if (r == 0 && rc != SQLITE_DONE)
		r = rp__fail(&call->error, RP_EINVAL, "options: %.200s",
			     sqlite3_errmsg(db));
	sqlite3_finalize(stmt);
	return r;
}

/* Returns 1 if the first optional argument is a JSON object. If this argument
 * is a NAME or BYTES, returns 0, because such a text may begin with a brace,
 * too. */
static int
is_object(const struct ext_function *function, sqlite3_value *const *argv)
{
	int param = function->params[function->least];
	sqlite3_value *value = param ? argv[function->least] : NULL;
	const char *text;

	if (!value || params[param].kind == NAME ||
	    params[param].kind == BYTES ||
	    sqlite3_value_type(value) != SQLITE_TEXT)
		return 0;
	text = (const char *)sqlite3_value_text(value);
	return text && text[strspn(text, " \t\r\n")] == '{';
}

/* ---- all arguments of a call ---- */

int
ext_read(struct ext_call *call, sqlite3_value **argv)
{
	const struct ext_function *f = call->function;
	int named = is_object(f, argv), r = 0;

	for (int i = 0; f->params[i] && r == 0; i++) {
		if (i >= f->least && named)
			return argv[i + 1] && f->params[i + 1]
				       ? rp__fail(&call->error, RP_EINVAL,
						  "no argument may follow the "
						  "JSON object of options")
				       : read_object(call, argv[i]);
		r = read_argument(call, f->params[i], argv[i]);
		if (r == 0 && i < f->least &&
		    !call->arguments[f->params[i]].given)
			r = rp__fail(&call->error, RP_EINVAL, "%s is missing",
				     params[f->params[i]].words);
	}
	return r;
}

void
ext_forget(struct ext_call *call)
{
	for (int i = 0; i < EXT_MOST_ARGUMENTS; i++) {
		sqlite3_value_free(call->named[i]);
		call->named[i] = NULL;
	}
}
