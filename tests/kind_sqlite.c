/*
 * kind_sqlite.c - make and remove a test database on SQLite: a file in the
 * case's directory.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include <sqlite3.h>

#include "kinds.h"

static void
name_file(struct db *db)
{
	snprintf(db->path, sizeof(db->path), "%s/test.db", db->dir);
	snprintf(db->url, sizeof(db->url), "sqlite:%s", db->path);
}

static int
take_number(void *ctx, int n, char **values, char **names)
{
	(void)n;
	(void)names;
	if (ctx && values[0])
		*(int64_t *)ctx = atoll(values[0]);
	return 0;
}

static int
run_on_file(void *native, const char *sql, int64_t *ret)
{
	return sqlite3_exec(native, sql, take_number, ret, NULL);
}

static void
print_file_table(sqlite3 *db, const char *table, FILE *to)
{
	char *sql = sqlite3_mprintf("select * from \"%w\"", table);
	sqlite3_stmt *stmt;

	assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &stmt, NULL),
			 SQLITE_OK);
	sqlite3_free(sql);
	while (sqlite3_step(stmt) == SQLITE_ROW) {
		fputs(table, to);
		for (int c = 0; c < sqlite3_column_count(stmt); c++) {
			int n = sqlite3_column_bytes(stmt, c);
			const unsigned char *p = sqlite3_column_blob(stmt, c);

			fprintf(to, " %d:", sqlite3_column_type(stmt, c));
			while (n-- > 0)
				fprintf(to, "%02x", *p++);
		}
		fputc('\n', to);
	}
	assert_int_equal(sqlite3_finalize(stmt), SQLITE_OK);
}

static void
print_file(rp_conn *conn, FILE *to)
{
	sqlite3 *db = rp_conn_native(conn);
	sqlite3_stmt *stmt;

	assert_int_equal(
		sqlite3_prepare_v2(db,
				   "select name from sqlite_master"
				   " where type = 'table' order by name",
				   -1, &stmt, NULL),
		SQLITE_OK);
	while (sqlite3_step(stmt) == SQLITE_ROW)
		print_file_table(db, (const char *)sqlite3_column_text(stmt, 0),
				 to);
	assert_int_equal(sqlite3_finalize(stmt), SQLITE_OK);
}

const struct kind kind_sqlite = {
	.scheme = "sqlite",
	.name = name_file,
	.run = run_on_file,
	.print = print_file,
};
