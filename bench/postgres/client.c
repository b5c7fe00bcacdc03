/*
 * client.c - connect to the server with libpq instead of the library, for the
 * queue that is written by hand.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "client.h"

#include <stdlib.h>

PGconn *
client_connect(const struct bench *b, const char *schema)
{
	char *url =
		text("%s&options=-csearch_path%%3D%s,public", b->url, schema);
	PGconn *conn = PQconnectdb(url);

	if (PQstatus(conn) != CONNECTION_OK)
		die("%s", PQerrorMessage(conn));
	free(url);
	return conn;
}

void
client_check(PGconn *conn, PGresult *result)
{
	ExecStatusType status = PQresultStatus(result);

	if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK)
		die("%s", PQerrorMessage(conn));
	PQclear(result);
}

void
client_trace(void *native, FILE *to)
{
	if (to)
		PQtrace(native, to);
	else
		PQuntrace(native);
}
