/*
 * extension.c - compare the loadable SQLite extension with the library. Both
 * enqueue a thousand jobs in one call, outside of a transaction. The jobs are
 * passed to the extension as a JSON array.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "bench.h"

#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#define BATCH 1000
#define ROW "extension.enqueue.full.1000"

void
extension_rows(const struct bench *b)
{
	report_row(b->report, ROW, "jobs/s", "enqueue.full.1000", 0);
	report_goal(b->report, ROW, ">=", 0.7);
}

static char *
payloads(void)
{
	char *json = allocate(BATCH * (PAYLOAD + 3) + 2), *to = json;

	*to++ = '[';
	for (size_t i = 0; i < BATCH; i++) {
		*to++ = '"';
		memset(to, 'x', PAYLOAD);
		to += PAYLOAD;
		*to++ = '"';
		*to++ = i + 1 < BATCH ? ',' : ']';
	}
	return json;
}

static sqlite3 *
open_host(const char *path)
{
	sqlite3 *db;

	if (sqlite3_open(path, &db) != SQLITE_OK ||
	    sqlite3_enable_load_extension(db, 1) != SQLITE_OK ||
	    sqlite3_load_extension(db, EXTENSION, NULL, NULL) != SQLITE_OK ||
	    sqlite3_exec(db, "pragma synchronous = full", NULL, NULL, NULL) !=
		    SQLITE_OK)
		die("extension: %s", sqlite3_errmsg(db));
	return db;
}

static size_t
enqueue(sqlite3_stmt *stmt)
{
	size_t done = 0;

	while (sqlite3_step(stmt) == SQLITE_ROW)
		done++;
	if (sqlite3_reset(stmt) != SQLITE_OK || done != BATCH)
		die("extension: %s", sqlite3_errmsg(sqlite3_db_handle(stmt)));
	return done;
}

void
extension_round(const struct bench *b, int round)
{
	char *path = database_path(b, "library");
	char *json = payloads();
	double from, now, seconds = round < 0 ? b->seconds / 4 : b->seconds;
	size_t done = 0;
	sqlite3_stmt *stmt;
	sqlite3 *db;

	database_fill(path, BATCH);
	db = open_host(path);
	if (sqlite3_prepare_v2(
		    db, "select id from readpast_enqueue_many('" QUEUE "', ?1)",
		    -1, &stmt, NULL) != SQLITE_OK ||
	    sqlite3_bind_text(stmt, 1, json, -1, SQLITE_STATIC) != SQLITE_OK)
		die("extension: %s", sqlite3_errmsg(db));
	from = seconds_now();
	do {
		done += enqueue(stmt);
		now = seconds_now();
	} while (now - from < seconds);
	if (round >= 0)
		report_sample(b->report, ROW, (double)done / (now - from));
	sqlite3_finalize(stmt);
	sqlite3_close(db);
	free(json);
	free(path);
}
