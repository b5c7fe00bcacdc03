/*
 * clients.h - a client that is registered as a worker; see clients.c. It is an
 * object with these members, besides those of its counts:
 *   name, queues  the worker's name, and an object with its queues as keys
 *   id            the id of its row in the table of workers; 0: it has no row
 *   heard_at      when the server last heard from it (monotonic ms)
 *   beat_at       when its row was last updated (monotonic ms)
 *   is_written    1: the row has all its queues
 *   is_counted    1: the row has its counts
 *   is_gone       1: it is unregistered
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#ifndef CLIENTS_H
#define CLIENTS_H

#include "serve.h"

/* Returns a member of a client or of a claim, or 0 if it has no such member. */
static inline int64_t
client_number(json_t *client, const char *key)
{
	return json_integer_value(json_object_get(client, key));
}

static inline void
client_set(json_t *client, const char *key, int64_t n)
{
	json_object_set_new(client, key, json_integer(n));
}

static inline int64_t
client_silent_ms(json_t *client, int64_t now)
{
	return now - client_number(client, "heard_at");
}

/* client_rows.c */
rp_worker_counts client_counts(json_t *client);
/* Update the rows that are due or, if `ends` is 1, unregister all clients,
 * until the first error. The lock is not held during the calls, because all
 * writes would wait for a server that does not answer. If the writer hears from
 * a client during a call, the client may be listed as gone until its next
 * heartbeat. */
void clients_update_rows(struct clients *clients, rp_conn *conn, int ends);

#endif
