/*
 * client_rows.c - the rows of clients in the table of workers: heartbeats,
 * counts and ends, many in one commit. See clients.c.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "clients.h"

#include "internal.h"

#define HEARTBEAT_MS 5000

rp_worker_counts
client_counts(json_t *client)
{
	rp_worker_counts counts = RP_WORKER_COUNTS_INIT;

	counts.done = client_number(client, "done");
	counts.failed = client_number(client, "failed");
	counts.dead = client_number(client, "dead");
	counts.released = client_number(client, "released");
	return counts;
}

/* Returns what to do with the client's row: RP_V_WORKER_STOP if the client is
 * gone or the server ends, RP_V_WORKER_BEAT if the server has heard from the
 * client or its counts have changed since the last heartbeat, or -1. */
static int
verb_due(json_t *client, int64_t now, int ends)
{
	int64_t beat_at = client_number(client, "beat_at");

	if (ends || client_silent_ms(client, now) >= CLIENT_GONE_MS)
		return client_number(client, "is_gone") ? -1 : RP_V_WORKER_STOP;
	return now - beat_at >= HEARTBEAT_MS &&
			       (client_number(client, "heard_at") > beat_at ||
				!client_number(client, "is_counted"))
		       ? RP_V_WORKER_BEAT
		       : -1;
}

/* The most rows in a commit. Meanwhile other commits may wait for these rows
 * or, on SQLite, for any row. */
#define MOST_DUE 100

/* A client whose row is to be updated, and what the row is to have. */
struct due {
	json_t *client;
	int64_t id;
	enum rp_verb verb;
	rp_worker_counts counts;
	int64_t known; /* 0: the row was deleted */
};

/* Find clients whose rows are due, and note that their rows have been updated.
 * ends: 1 if the server ends. The caller has the lock. */
static size_t
take_due(const struct clients *clients, struct due due[MOST_DUE], int ends)
{
	int64_t now = now_ms();
	const char *key;
	json_t *client;
	size_t n = 0;

	json_object_foreach (clients->table, key, client) {
		int verb = verb_due(client, now, ends);

		if (n == MOST_DUE)
			break;
		if (verb < 0)
			continue;
		due[n++] = (struct due){ .client = json_incref(client),
					 .id = client_number(client, "id"),
					 .verb = (enum rp_verb)verb,
					 .counts = client_counts(client) };
		client_set(client, "is_counted", 1);
		client_set(client, "beat_at", now);
		client_set(client, "is_gone", verb == RP_V_WORKER_STOP);
	}
	return n;
}

/* Update the rows in one commit, because many commits could take too long. */
static int
update_rows(rp_conn *conn, struct due *due, size_t n)
{
	int r = n ? rp_begin(conn) : 0;

	for (size_t i = 0; i < n && r == 0; i++)
		r = rp__worker_row_update(conn, due[i].verb, due[i].id,
					  &due[i].counts, &due[i].known);
	if (r == 0 && n)
		r = rp_commit(conn);
	if (r < 0)
		rp_rollback(conn);
	return r;
}

/* Note that the update has failed, or that the row was deleted. The caller has
 * the lock. */
static void
note_result(const struct due *due, int r)
{
	if (r < 0) {
		client_set(due->client, "is_counted", 0);
		client_set(due->client, "beat_at", 0);
		client_set(due->client, "is_gone", 0);
	} else if (due->verb == RP_V_WORKER_BEAT && !due->known &&
		   client_number(due->client, "id") == due->id) {
		client_set(due->client, "id", 0);
	}
}

void
clients_update_rows(struct clients *clients, rp_conn *conn, int ends)
{
	struct due due[MOST_DUE];
	size_t n;
	int r;

	do {
		pthread_mutex_lock(&clients->lock);
		n = take_due(clients, due, ends);
		pthread_mutex_unlock(&clients->lock);
		r = update_rows(conn, due, n);
		pthread_mutex_lock(&clients->lock);
		for (size_t i = 0; i < n; i++) {
			note_result(&due[i], r);
			json_decref(due[i].client);
		}
		pthread_mutex_unlock(&clients->lock);
	} while (r == 0 && n == MOST_DUE);
}
