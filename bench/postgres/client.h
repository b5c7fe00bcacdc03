/*
 * client.h - connect to the server with libpq instead of the library, for the
 * queue that is written by hand.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#ifndef BENCH_CLIENT_H
#define BENCH_CLIENT_H

#include <libpq-fe.h>

#include "pg.h"

PGconn *client_connect(const struct bench *b, const char *schema);
void client_check(PGconn *conn,
		  PGresult *result); /* checks the result, and frees it */

#endif
