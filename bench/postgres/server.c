/*
 * server.c - the temporary server, and statements to it.
 *
 * Its settings are a real server's: every commit is on the disk, and there is
 * room for the log of a whole run.
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

static void
ignore_notice(void *ctx, const PGresult *result)
{
	(void)ctx;
	(void)result;
}

PGconn *
server_connect(const struct bench *b, const char *schema)
{
	char *url =
		text("%s&options=-csearch_path%%3D%s,public", b->url, schema);
	PGconn *conn = PQconnectdb(url);

	if (PQstatus(conn) != CONNECTION_OK)
		die("%s", PQerrorMessage(conn));
	PQsetNoticeReceiver(conn, ignore_notice, NULL);
	free(url);
	return conn;
}

void
server_check(PGconn *conn, PGresult *result)
{
	ExecStatusType status = PQresultStatus(result);

	if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK)
		die("%s", PQerrorMessage(conn));
	PQclear(result);
}

void
server_execute(PGconn *conn, const char *sql)
{
	server_check(conn, PQexec(conn, sql));
}

char *
server_text(PGconn *conn, const char *sql)
{
	PGresult *result = PQexec(conn, sql);
	char *ret;

	if (PQresultStatus(result) != PGRES_TUPLES_OK)
		die("%s", PQerrorMessage(conn));
	ret = text("%s", PQntuples(result) ? PQgetvalue(result, 0, 0) : "");
	PQclear(result);
	return ret;
}

double
server_number(PGconn *conn, const char *sql)
{
	char *answer = server_text(conn, sql);
	double ret = strtod(answer, NULL);

	free(answer);
	return ret;
}

void
server_set(const struct bench *b, const char *setting, const char *value)
{
	PGconn *conn = server_connect(b, "public");
	char *set = text("alter system set %s = %s", setting, value);

	server_execute(conn, set);
	server_execute(conn, "select pg_reload_conf()");
	PQfinish(conn);
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
