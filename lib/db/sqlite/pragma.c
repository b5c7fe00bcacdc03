/*
 * pragma.c - run a pragma and read its result.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "sqlite.h"

#include <stdio.h>
#include <string.h>

#define WORD 16

static int
copy_word(void *word, int count, char **columns, char **names)
{
	(void)count;
	(void)names;
	snprintf(word, WORD, "%s", columns[0] ? columns[0] : "");
	return 0;
}

int
rp__sqlite_pragma_is(sqlite3 *db, const char *pragma, const char *word,
		     int else_ret)
{
	char answer[WORD] = "";

	sqlite3_exec(db, pragma, copy_word, answer, NULL);
	return *answer ? strcmp(answer, word) == 0 : else_ret;
}

int64_t
rp__sqlite_pragma_int(sqlite3 *db, const char *pragma)
{
	sqlite3_stmt *stmt = NULL;
	int64_t n = -1;

	if (sqlite3_prepare_v2(db, pragma, -1, &stmt, NULL) == SQLITE_OK &&
	    sqlite3_step(stmt) == SQLITE_ROW)
		n = sqlite3_column_int64(stmt, 0);
	sqlite3_finalize(stmt);
	return n;
}
