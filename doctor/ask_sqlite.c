/*
 * ask_sqlite.c - put a question to a SQLite file.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include <sqlite3.h>
#include <time.h>

#include "doctor.h"

/* A reader that stays keeps the -wal from being emptied. */
#define MOST_MS 100

static int
is_over(void *until)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000 + t.tv_nsec / 1000000 > *(int64_t *)until;
}

static void
bind(sqlite3_stmt *stmt, const char *name, int64_t value)
{
	int i = sqlite3_bind_parameter_index(stmt, name);

	if (i > 0)
		sqlite3_bind_int64(stmt, i, value);
}

static json_t *
row_of(sqlite3_stmt *stmt)
{
	json_t *row = json_object();

	for (int i = 0; row && i < sqlite3_column_count(stmt); i++) {
		const char *text;
		json_t *value;

		if (sqlite3_column_type(stmt, i) == SQLITE_INTEGER) {
			value = json_integer(sqlite3_column_int64(stmt, i));
		} else {
			text = (const char *)sqlite3_column_text(stmt, i);
			value = text ? json_string(text) : json_null();
		}
		json_object_set_new(row, sqlite3_column_name(stmt, i), value);
	}
	return row;
}

int
ask_sqlite(struct doctor *d, const char *sql, json_t *rows)
{
	sqlite3 *db = rp_conn_native(d->conn);
	sqlite3_stmt *stmt = NULL;
	struct timespec t;
	int64_t until;
	int rc = sqlite3_prepare_v2(db, sql, -1, &stmt, NULL), r = 0;

	clock_gettime(CLOCK_MONOTONIC, &t);
	until = t.tv_sec * 1000 + t.tv_nsec / 1000000 + MOST_MS;
	sqlite3_progress_handler(db, 1000, is_over, &until);
	bind(stmt, ":long_ms", d->long_ms);
	bind(stmt, ":now_ms", d->now_ms);
	while (rc == SQLITE_OK && (rc = sqlite3_step(stmt)) == SQLITE_ROW &&
	       r == 0) {
		r = json_array_append_new(rows, row_of(stmt));
		rc = SQLITE_OK;
	}
	if (rc == SQLITE_INTERRUPT)
		r = doctor_undone(d,
				  "stopped after %d ms, for a reader that "
				  "stays holds up checkpoints",
				  MOST_MS);
	else if (rc != SQLITE_OK && rc != SQLITE_DONE)
		r = doctor_undone(d, "%s", sqlite3_errmsg(db));
	sqlite3_progress_handler(db, 0, NULL, NULL);
	sqlite3_finalize(stmt);
	return r;
}
