/*
 * clients.c - the clients that give a worker's name with their claims. Each of
 * them is registered as a worker, so that it is listed and the jobs that it
 * holds show its name. Its host and process id are those of this server.
 *
 * The server hears from a client with each claim that has the name, while such
 * a claim waits (see poll.c), and when a lease of the client is extended. A
 * client does not say that it ends. So it is unregistered when the server has
 * not heard from it for GONE_MS. If it comes back within an hour, it gets the
 * same row of the table of workers, which its running jobs refer to.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "joined.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "internal.h"

#define HEARTBEAT_MS 5000
/* A worker without a heartbeat for 30 s counts as silent, and doctor reports
 * it. A client that has ended must not be reported. */
#define GONE_MS 28000
#define FORGET_MS 3600000 /* after this time the client's row is deleted */

static const rp_worker_counts no_counts = RP_WORKER_COUNTS_INIT;

/* ---- the table: an object for each client, by its token and its name ---- */

static int64_t
number(json_t *client, const char *key)
{
	return json_integer_value(json_object_get(client, key));
}

static void
set_number(json_t *client, const char *key, int64_t n)
{
	json_object_set_new(client, key, json_integer(n));
}

static void
is_heard(json_t *client)
{
	set_number(client, "heard_at", now_ms());
	set_number(client, "is_gone", 0);
}

/* Returns the client of this request; it is added if it is new. Clients with
 * different tokens are different clients, even if they have the same name. */
static json_t *
find(json_t *table, const struct request *request)
{
	char key[RP_MOST_NAME + RP_MOST_WORKER + 2];
	json_t *client;

	snprintf(key, sizeof(key), "%s\n%s",
		 request->token ? request->token->name : "", request->worker);
	client = json_object_get(table, key);
	if (!client && (client = json_pack("{s:{}}", "queues")) != NULL &&
	    json_object_set_new(table, key, client) < 0)
		return NULL;
	return client;
}

/* Add the queues to those of the client. Returns 1 if the list has changed. */
static int
add_queues(json_t *client, const char *const *queues)
{
	json_t *its = json_object_get(client, "queues");
	int is_changed = 0;

	if (number(client, "is_gone") || json_object_size(its) > MOST_QUEUES)
		json_object_clear(its);
	for (; *queues; queues++)
		if (!json_object_get(its, *queues)) {
			json_object_set_new(its, *queues, json_true());
			is_changed = 1;
		}
	return is_changed;
}

/* Returns the client's queues, with NULL at the end. The caller frees the list,
 * but not the names. NULL: out of memory. */
static const char **
queues_of(json_t *client)
{
	json_t *its = json_object_get(client, "queues"), *value;
	const char **list = calloc(json_object_size(its) + 1, sizeof(*list));
	const char *name;
	size_t n = 0;

	json_object_foreach (its, name, value)
		if (list)
			list[n++] = name;
	return list;
}

/* ---- hearing from clients ---- */

/* Write the client's queues, in its row or in a new row. */
static int
write_queues(json_t *client, rp_conn *conn, const char *host, const char *name)
{
	const char **queues = queues_of(client);
	char *kinds = queues ? rp__all_kinds(queues) : NULL;
	int64_t id = number(client, "id");
	int r;

	if (!queues)
		return RP_ENOMEM;
	if (id) {
		r = rp__worker_row_queues(conn, id, queues, kinds);
	} else {
		r = rp__worker_row_add(conn, name, host, queues, kinds, &id);
		set_number(client, "id", r < 0 ? 0 : id);
	}
	free(kinds);
	free(queues);
	return r;
}

/* Register the client if it is new, or store its heartbeat if that is due. */
static int
hear(json_t *client, rp_conn *conn, const char *host,
     const struct request *request)
{
	int is_changed = add_queues(client, request->turn->queues) ||
			 !number(client, "is_written");
	int64_t known = 0;
	int r = 0;

	set_number(client, "is_written", !is_changed);
	if (number(client, "id")) {
		if (!is_changed &&
		    now_ms() - number(client, "heard_at") < HEARTBEAT_MS)
			return 0;
		r = rp__worker_row_update(conn, RP_V_WORKER_BEAT,
					  number(client, "id"), &no_counts,
					  &known);
		if (r == 0 && !known) /* the row was deleted */
			set_number(client, "id", 0);
	}
	if (r == 0 && (is_changed || !known))
		r = write_queues(client, conn, host, request->worker);
	if (r == 0) {
		set_number(client, "is_written", 1);
		is_heard(client);
	}
	return r;
}

void
clients_hear(struct clients *clients, rp_conn *conn, struct request **asked,
	     size_t n)
{
	int r = 0; /* after an error the other clients get the same error */

	pthread_mutex_lock(&clients->lock);
	if (!clients->table) {
		clients->table = json_object();
		gethostname(clients->host, sizeof(clients->host) - 1);
	}
	for (size_t i = 0; i < n; i++) {
		struct turn *turn = asked[i]->turn;
		json_t *client;

		if (!turn->queues || !asked[i]->worker || turn->code)
			continue;
		client = find(clients->table, asked[i]);
		if (r == 0)
			r = client ? hear(client, conn, clients->host, asked[i])
				   : RP_ENOMEM;
		turn->worker_id = number(client, "id");
		if (r < 0) {
			turn->code = r;
			turn->error = *rp_last_error(conn);
		}
	}
	pthread_mutex_unlock(&clients->lock);
}

void
client_extends(struct clients *clients, rp_conn *conn,
	       const rp_verdict *verdict)
{
	const char *key;
	json_t *client;
	int64_t id = 0;

	if (verdict->verdict != RP_EXTEND || verdict->result != 0)
		return;
	/* Do not wait for the lock: clients_forget() holds it while it waits
	 * for the database, which this thread may have locked for writing. */
	if (pthread_mutex_trylock(&clients->lock) != 0)
		return;
	if (json_object_size(clients->table))
		rp__worker_extends(conn, verdict->id, verdict->claim_no,
				   clients->host, &id);
	json_object_foreach (clients->table, key, client)
		if (id && number(client, "id") == id)
			is_heard(client);
	pthread_mutex_unlock(&clients->lock);
}

/* ---- the end of clients ---- */

static void
unregister(json_t *client, rp_conn *conn)
{
	int64_t known;
	int r;

	if (number(client, "is_gone"))
		return;
	r = rp__worker_row_update(conn, RP_V_WORKER_STOP, number(client, "id"),
				  &no_counts, &known);
	set_number(client, "is_gone", r == 0);
}

void
clients_forget(struct clients *clients, rp_conn *conn)
{
	const char *key;
	json_t *client;
	void *next;

	pthread_mutex_lock(&clients->lock);
	json_object_foreach_safe (clients->table, next, key, client) {
		int64_t silent_ms = now_ms() - number(client, "heard_at");

		if (silent_ms >= GONE_MS)
			unregister(client, conn);
		if (silent_ms >= FORGET_MS)
			json_object_del(clients->table, key);
	}
	pthread_mutex_unlock(&clients->lock);
}

void
clients_end(struct clients *clients, rp_conn *conn)
{
	const char *key;
	json_t *client;

	json_object_foreach (clients->table, key, client)
		unregister(client, conn);
	json_decref(clients->table);
	clients->table = NULL;
}
