/*
 * clients.c - the clients that give a worker's name with their claims. Each of
 * them is registered as a worker, so that it is listed and the jobs that it
 * holds show its name.
 *
 * The server hears from a client with each claim that has the name, and while
 * such a claim waits (see poll.c). A client does not say that it ends. So it is
 * unregistered when the server has not heard from it for FORGET_MS.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "joined.h"

#include <string.h>

#include "internal.h"

#define HEARTBEAT_MS 5000
#define FORGET_MS 60000

/* ---- the table: an object for each client, by its name ---- */

static int64_t
number(json_t *client, const char *key)
{
	return json_integer_value(json_object_get(client, key));
}

static int
is_registered(json_t *client, const char *const *queues, int64_t now)
{
	json_t *its = json_object_get(client, "queues");

	if (now - number(client, "heard_at") >= HEARTBEAT_MS)
		return 0;
	while (*queues && json_object_get(its, *queues))
		queues++;
	return !*queues;
}

static void
remember(json_t *table, const char *name, int64_t id, const char *const *queues,
	 int64_t now)
{
	json_t *client = json_object_get(table, name);
	json_t *its;

	if (!client) {
		client = json_pack("{s:{}}", "queues");
		json_object_set_new(table, name, client);
	}
	json_object_set_new(client, "id", json_integer(id));
	json_object_set_new(client, "heard_at", json_integer(now));
	its = json_object_get(client, "queues");
	for (; *queues; queues++)
		json_object_set_new(its, *queues, json_true());
}

/* ---- hearing from clients ---- */

static void
hear(json_t *table, rp_conn *conn, struct request *request, int64_t now)
{
	const char *name = request->worker;
	struct turn *turn = request->turn;
	json_t *client = json_object_get(table, name);
	int64_t id = 0;
	int r = 0;

	if (client && is_registered(client, turn->queues, now)) {
		turn->worker_id = number(client, "id");
		return;
	}
	r = rp__worker_named(conn, name, turn->queues, &id);
	if (r < 0) {
		turn->code = r;
		turn->error = *rp_last_error(conn);
		return;
	}
	remember(table, name, id, turn->queues, now);
	turn->worker_id = id;
}

void
clients_hear(struct clients *clients, rp_conn *conn, struct request **asked,
	     size_t n)
{
	int64_t now = now_ms();

	pthread_mutex_lock(&clients->lock);
	if (!clients->table)
		clients->table = json_object();
	for (size_t i = 0; i < n; i++)
		if (asked[i]->turn->queues && asked[i]->worker)
			hear(clients->table, conn, asked[i], now);
	pthread_mutex_unlock(&clients->lock);
}

void
client_extends(rp_conn *conn, const rp_verdict *verdict)
{
	if (verdict->verdict == RP_EXTEND && verdict->result == 0)
		rp__worker_extends(conn, verdict->id, verdict->claim_no);
}

/* ---- the end of clients ---- */

int
clients_forget(struct clients *clients, rp_conn *conn)
{
	int64_t now = now_ms(), stays = 0;
	const char *name;
	json_t *client;
	void *next;
	int r = 0;

	pthread_mutex_lock(&clients->lock);
	json_object_foreach_safe(clients->table, next, name, client)
	{
		if (now - number(client, "heard_at") < FORGET_MS)
			continue;
		r = rp__worker_leave(conn, number(client, "id"), FORGET_MS,
				     &stays);
		if (r < 0)
			break;
		if (stays) /* it has extended a lease, or uses another server */
			json_object_set_new(client, "heard_at",
					    json_integer(now));
		else
			json_object_del(clients->table, name);
	}
	pthread_mutex_unlock(&clients->lock);
	return r;
}

void
clients_end(struct clients *clients, rp_conn *conn)
{
	const rp_worker_counts none = RP_WORKER_COUNTS_INIT;
	const char *name;
	json_t *client;

	json_object_foreach(clients->table, name, client) rp__worker_row_update(
		conn, RP_V_WORKER_STOP, number(client, "id"), &none, NULL);
	json_decref(clients->table);
	clients->table = NULL;
}
