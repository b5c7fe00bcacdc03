/*
 * client.h - connections of those who write a queue by hand: libpq's own.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#ifndef BENCH_CLIENT_H
#define BENCH_CLIENT_H

#include <libpq-fe.h>

#include "pg.h"

PGconn *client_connect(const struct bench *b, const char *schema);
void client_check(PGconn *conn, PGresult *result); /* and clear it */

#endif
