/*
 * lab_sqlite.c - the lab on SQLite: a scratch file beside the database.
 *
 * The user's file is not opened. The busy handler is the lab's own, for all
 * techniques alike: it naps, and keeps the time.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "run.h"

#include <dirent.h>
#include <errno.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define FRAME (4096 + 24) /* of the -wal: a page and its header */
#define NAP_US 500
#define MARK "-lab-" /* in a scratch's name, before the process's number */

static char *
sqlite_url(struct lab *lab)
{
	const char *url = lab->options->url;
	int path = (int)strcspn(url, "?");
	char *ret;

	srandom((unsigned)lab_now_us());
	snprintf(lab->name, sizeof(lab->name), "%ld-%ld", (long)getpid(),
		 random());
	if (asprintf(&ret, "%.*s" MARK "%s%s", path, url, lab->name,
		     url + path) < 0)
		return NULL;
	return ret;
}

/* ---- statements ---- */

static int
wait_for_turn(void *ctx, int count)
{
	struct lab_account *account = ctx;
	const struct timespec t = { 0, (NAP_US + count % 8 * 50) * 1000 };
	int64_t began = lab_now_us();

	nanosleep(&t, NULL);
	account->blocked_us += lab_now_us() - began;
	return 1;
}

static int
count_statement(unsigned what, void *ctx, void *stmt, void *sql)
{
	struct lab_account *account = ctx;

	(void)what;
	(void)stmt;
	account->statements += strncmp(sql, "--", 2) != 0;
	return 0;
}

static int
sqlite_session(const struct lab *lab, struct lab_side *side)
{
	sqlite3 *db = rp_conn_native(side->conn);

	(void)lab;
	sqlite3_busy_handler(db, wait_for_turn, side->account);
	sqlite3_trace_v2(db, SQLITE_TRACE_STMT, count_statement, side->account);
	return 0;
}

static void
keep(sqlite3_stmt *stmt, struct lab_rows *ret)
{
	int columns = sqlite3_column_count(stmt);

	ret->columns = columns < LAB_COLUMNS ? (size_t)columns : LAB_COLUMNS;
	while (sqlite3_step(stmt) == SQLITE_ROW) {
		if (ret->count == LAB_ROWS)
			continue;
		for (size_t c = 0; c < ret->columns; c++) {
			const void *text = sqlite3_column_text(stmt, (int)c);
			char *to = ret->values[ret->count][c];

			snprintf(ret->names[c], LAB_VALUE, "%s",
				 sqlite3_column_name(stmt, (int)c));
			snprintf(to, LAB_VALUE, "%s",
				 text ? (const char *)text : "");
		}
		ret->count++;
	}
}

/* SQLITE_BUSY comes only where waiting is no help: what the transaction has
 * read is no longer so. */
static int
sqlite_run(struct lab_side *side, const struct lab_stmt *stmt,
	   const char *const *values, struct lab_rows *ret)
{
	sqlite3 *db = rp_conn_native(side->conn);
	sqlite3_stmt *s = NULL;
	int rc = sqlite3_prepare_v2(db, stmt->sql, -1, &s, NULL);

	for (int i = 0; rc == SQLITE_OK && stmt->params[i]; i++)
		rc = sqlite3_bind_text(s, i + 1, values[i], -1, SQLITE_STATIC);
	if (rc == SQLITE_OK)
		keep(s, ret);
	rc = s ? sqlite3_finalize(s) : rc;
	if (rc == SQLITE_OK)
		return 0;
	if ((rc & 0xff) != SQLITE_BUSY)
		return lab_fail(side->why, "%s", sqlite3_errmsg(db));
	if (!sqlite3_get_autocommit(db))
		sqlite3_exec(db, "rollback", NULL, NULL, NULL);
	return LAB_AGAIN;
}

/* ---- the scratch ---- */

/* The process whose scratch it is, or 0: it is none. */
static int
owner_of(const char *name, const char *prefix)
{
	static const char *const ends[] = { "", "-wal", "-shm", "-journal" };
	size_t n = strlen(prefix);
	int owner, read = 0;

	if (strncmp(name, prefix, n) != 0 ||
	    sscanf(name + n, "%9d-%*11d%n", &owner, &read) != 1 || read == 0)
		return 0;
	for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++)
		if (strcmp(name + n + read, ends[i]) == 0)
			return owner;
	return 0;
}

/* What runs that were killed have left. */
static void
remove_leftovers(struct lab *lab)
{
	char folder[sizeof(lab->path)], path[2 * sizeof(lab->path)];
	char *slash, *prefix;
	const struct dirent *entry;
	DIR *dir;

	snprintf(folder, sizeof(folder), "%.*s",
		 (int)(strlen(lab->path) - strlen(lab->name)), lab->path);
	slash = strrchr(folder, '/');
	if (!slash)
		return;
	*slash = '\0';
	prefix = slash + 1;
	dir = opendir(*folder ? folder : "/");
	while (dir && (entry = readdir(dir))) {
		int owner = owner_of(entry->d_name, prefix);

		if (owner <= 0 || strstr(entry->d_name, lab->name) ||
		    (owner != getpid() &&
		     (kill(owner, 0) == 0 || errno != ESRCH)))
			continue;
		snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
		if (unlink(path) == 0)
			lab->left(path);
	}
	if (dir)
		closedir(dir);
}

static int
sqlite_prepare(struct lab *lab, const struct lab_script *script)
{
	const char *path =
		sqlite3_db_filename(rp_conn_native(lab->control.conn), "main");

	(void)script;
	snprintf(lab->path, sizeof(lab->path), "%s", path ? path : "");
	remove_leftovers(lab);
	return 0;
}

/* A connection does not outlive a fork. */
static int
sqlite_remove(struct lab *lab)
{
	static const char *const ends[] = { "-wal", "-shm", "-journal", "" };
	char path[sizeof(lab->path) + 16];

	lab_close(&lab->control);
	for (size_t i = 0; *lab->path && i < 4; i++) {
		snprintf(path, sizeof(path), "%s%s", lab->path, ends[i]);
		if (unlink(path) < 0 && errno != ENOENT)
			return lab_fail(lab->control.why, "%s: %s", path,
					strerror(errno));
	}
	return 0;
}

/* ---- what they cost ---- */

static void
sqlite_account(struct lab_side *side)
{
	int pages = 0, highest;

	sqlite3_db_status(rp_conn_native(side->conn),
			  SQLITE_DBSTATUS_CACHE_WRITE, &pages, &highest, 0);
	side->account->log_bytes = (int64_t)pages * FRAME;
}

static int
sqlite_begin(struct lab *lab)
{
	(void)lab;
	return 0;
}

static int
sqlite_finish(struct lab *lab)
{
	if (lab->result.blocked_us)
		strcpy(lab->result.waited_for, "file");
	return 0;
}

static int
sqlite_watch(struct lab *lab, int64_t passed_us)
{
	(void)lab;
	(void)passed_us;
	return 0;
}

const struct lab_dialect lab_sqlite = {
	.dies_at_fork = 1,
	.url_of = sqlite_url,
	.prepare = sqlite_prepare,
	.session = sqlite_session,
	.run = sqlite_run,
	.watch = sqlite_watch,
	.account = sqlite_account,
	.begin = sqlite_begin,
	.finish = sqlite_finish,
	.remove = sqlite_remove,
};
