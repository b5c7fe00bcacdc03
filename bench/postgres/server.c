/*
 * server.c - start the temporary server, and run statements on it.
 *
 * The server is configured like a production server. Each commit is flushed to
 * the disk, and max_wal_size is large enough for a whole run.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "pg.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char settings[] =
	"shared_buffers=1GB fsync=on synchronous_commit=on "
	"full_page_writes=on max_wal_size=16GB checkpoint_timeout=15min "
	"max_connections=250 track_io_timing=off";

void
server_start(struct bench *b)
{
	char *command = text("'%s' start '%s' %s", PG_TEMP, b->dir, settings);
	char line[512] = "";
	FILE *answer = popen(command, "r");

	if (!answer || !fgets(line, sizeof(line), answer))
		die("no server");
	if (pclose(answer) != 0)
		die("the server did not start");
	line[strcspn(line, "\n")] = '\0';
	b->url = text("%s", line);
	free(command);
}

void
server_stop(const char *dir)
{
	char *command = text("'%s' stop '%s' immediate", PG_TEMP, dir);

	if (system(command) != 0)
		fprintf(stderr, "bench: the server in %s is not stopped\n",
			dir);
	free(command);
}

char *
server_library_url(const struct bench *b, const char *schema)
{
	return text("%s&schema=%s", b->url, schema);
}

/* Connect to the server, with `schema` in search_path. rp_open() needs a schema
 * with readpast's tables. `schema` may have other tables, so the URL names the
 * schema `measuring`. */
rp_conn *
server_connect(const struct bench *b, const char *schema)
{
	char *url = text("%s&schema=measuring&options=-csearch_path%%3D%s"
			 ",public",
			 b->url, schema);
	rp_conn *conn;
	rp_error error;

	if (rp_open(url, NULL, &conn, &error) < 0)
		die("%s", error.message);
	free(url);
	return conn;
}

void
server_ask(rp_conn *conn, const char *sql,
	   int (*take_row)(void *ctx, const struct rp_row *row), void *ctx)
{
	const struct rp_query query = { .sql = sql,
					.row = take_row,
					.ctx = ctx };

	if (rp__query(conn, &query) < 0)
		die("%s", rp_last_error(conn)->message);
}

void
server_execute(rp_conn *conn, const char *sql)
{
	server_ask(conn, sql, NULL, NULL);
}

static int
take_text(void *ctx, const struct rp_row *row)
{
	const struct rp_value *value = row->columns;
	char **ret = ctx;

	free(*ret);
	*ret = value->type == RP_INT
		       ? text("%lld", (long long)value->i)
		       : text("%.*s", (int)value->size,
			      value->size ? (const char *)value->data : "");
	return RP_ROW_STOP;
}

char *
server_text(rp_conn *conn, const char *sql)
{
	char *ret = text("%s", "");

	server_ask(conn, sql, take_text, &ret);
	return ret;
}

double
server_number(rp_conn *conn, const char *sql)
{
	char *answer = server_text(conn, sql);
	double ret = strtod(answer, NULL);

	free(answer);
	return ret;
}

void
server_set(const struct bench *b, const char *setting, const char *value)
{
	rp_conn *conn = server_connect(b, "public");
	char *set = text("alter system set %s = %s", setting, value);

	server_execute(conn, set);
	server_execute(conn, "select pg_reload_conf()");
	rp_close(conn);
	free(set);
}

double
server_logged(const struct bench *b, const char *words)
{
	char *path = text("%s/server.log", b->dir);
	FILE *log = fopen(path, "r");
	char line[1024];
	double n = 0;

	if (!log)
		die("no log in %s", b->dir);
	while (fgets(line, sizeof(line), log))
		n += strstr(line, words) != NULL;
	fclose(log);
	free(path);
	return n;
}
