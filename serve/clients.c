/*
 * clients.c - the clients that give a worker's name with their claims. Each of
 * them is registered as a worker, so that it is listed and the jobs that it
 * holds show its name. Its host and process id are those of this server.
 *
 * The server hears from a client with each claim that has the name, while such
 * a claim waits (see poll.c), and with each verdict on a job that it got from
 * this server. The waiter stores the heartbeats, many in one commit. A client
 * does not say that it ends. So it is unregistered when the server has not
 * heard from it for CLIENT_GONE_MS. If it comes back within an hour, it gets
 * the same row of the table of workers, which its running jobs refer to.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "clients.h"
#include "joined.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "internal.h"

#define FORGET_MS 3600000     /* after this time the client's row is deleted */
#define FORGET_EVERY_MS 60000 /* how often claims and clients are forgotten */

/* ---- the table: an object for each client, by its token and its name ---- */

/* Returns the client of this request; it is added if it is new. Clients with
 * different tokens are different clients, even if they have the same name. */
static json_t *
find_or_add(json_t *table, const struct request *request)
{
	char key[RP_MOST_NAME + RP_MOST_WORKER + 2];
	json_t *client;

	snprintf(key, sizeof(key), "%s\n%s",
		 request->token ? request->token->name : "", request->worker);
	client = json_object_get(table, key);
	if (!client &&
	    (client = json_pack("{s:s, s:{}, s:i}", "name", request->worker,
				"queues", "is_counted", 1)) != NULL &&
	    json_object_set_new(table, key, client) < 0)
		return NULL;
	return client;
}

/* Add the queues to those of the client. queues: NULL stands for none. Returns
 * 1 if the list has changed. */
static int
add_queues(json_t *client, const char *const *queues)
{
	json_t *its = json_object_get(client, "queues");
	int is_changed = 0;

	if (!queues)
		return 0;
	if (client_number(client, "is_gone") ||
	    json_object_size(its) > MOST_QUEUES)
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

/* ---- the claims of clients ----
 * There is an object for each job that a client has got from this server. It is
 * forgotten when the job's lease is over. If there is a verdict later, it is
 * not counted for the client. */

struct claim_key {
	char text[2 * ID_TEXT];
};

static struct claim_key
claim_key(int64_t id, int64_t claim_no)
{
	struct claim_key key;

	snprintf(key.text, sizeof(key.text), "%lld:%lld", (long long)id,
		 (long long)claim_no);
	return key;
}

static json_t *
find_claim(const struct clients *clients, const rp_verdict *v)
{
	return json_object_get(clients->claims,
			       claim_key(v->id, v->claim_no).text);
}

/* Store when the lease of a claim will end. */
static void
set_lease(json_t *claim, int64_t lease_ms)
{
	client_set(claim, "lease_ms", lease_ms);
	client_set(claim, "until", now_ms() + lease_ms);
}

static void
add_claim(struct clients *clients, json_t *client, const rp_job *job)
{
	json_t *claim = json_pack("{s:O}", "client", client);

	/* A claim number is the time of the claim in microseconds, or a little
	 * more. */
	set_lease(claim, job->lease_until - job->claim_no / 1000);
	json_object_set_new(clients->claims,
			    claim_key(job->id, job->claim_no).text, claim);
}

/* Count the verdict for the client that held the job. */
static void
settle_claim(struct clients *clients, const rp_verdict *v)
{
	static const char *const counts[] = {
		[RP_DONE] = "done",
		[RP_FAIL] = "failed",
		[RP_DEAD] = "dead",
		[RP_RELEASE] = "released",
	};
	json_t *claim = find_claim(clients, v), *client;
	const char *count;

	if (!claim || v->result == RP_ENOENT)
		return;
	if (v->result == 0 && v->verdict == RP_EXTEND) {
		set_lease(claim, v->delay_ms > 0
					 ? v->delay_ms
					 : client_number(claim, "lease_ms"));
		return;
	}
	if (v->result == 0) {
		client = json_object_get(claim, "client");
		count = counts[verdict_outcome(v)];
		client_set(client, count, client_number(client, count) + 1);
		client_set(client, "is_counted", 0);
	}
	json_object_del(clients->claims, claim_key(v->id, v->claim_no).text);
}

void
clients_note(struct clients *clients, const struct request *request)
{
	const struct writes *writes = request->writes;
	json_t *client;

	if (writes->code)
		return;
	pthread_mutex_lock(&clients->lock);
	for (size_t i = 0; has_verdicts(writes) && i < writes->verdicts_count;
	     i++)
		settle_claim(clients, &writes->verdicts[i]);
	client =
		writes->worker_id ? find_or_add(clients->table, request) : NULL;
	for (size_t i = 0; client && i < writes->jobs_count; i++)
		add_claim(clients, client, writes->jobs[i]);
	pthread_mutex_unlock(&clients->lock);
}

/* ---- the clients of a server that was killed ---- */

/* Returns whether a worker that was listed before this server registered its
 * clients belongs to a process of this host that does not exist any more. In a
 * container, that process may have had the same id as this one. */
static int
has_died(const rp_worker_info *worker, const char *host)
{
	return strcmp(worker->host, host) == 0 && worker->pid > 0 &&
	       worker->pid <= INT_MAX &&
	       (worker->pid == getpid() ||
		(kill((pid_t)worker->pid, 0) < 0 && errno == ESRCH));
}

/* Unregister the workers with this name that have died. Otherwise a client that
 * now uses this server would also be listed for the server that was killed, and
 * doctor would report it as silent. Errors are ignored: the rows are deleted
 * after an hour. */
static void
unregister_dead(const struct clients *clients, rp_conn *conn, const char *name)
{
	for (size_t i = 0; i < rp_workers_count(clients->before); i++) {
		const rp_worker_info *w = rp_workers_at(clients->before, i);
		const rp_worker_counts counts = { .done = w->done,
						  .failed = w->failed,
						  .dead = w->dead,
						  .released = w->released };
		int64_t known;

		if (strcmp(w->name, name) == 0 && has_died(w, clients->host))
			rp__worker_row_update(conn, RP_V_WORKER_STOP, w->id,
					      &counts, &known);
	}
}

/* ---- hearing from clients ---- */

/* Write the client's queues, in its row or in a new row. */
static int
write_queues(json_t *client, rp_conn *conn, const struct clients *clients)
{
	const char *name = json_string_value(json_object_get(client, "name"));
	const char **queues = queues_of(client);
	char *kinds = queues ? rp__all_kinds(queues) : NULL;
	int64_t id = client_number(client, "id");
	int r;

	if (!queues)
		return RP_ENOMEM;
	if (id) {
		r = rp__worker_row_queues(conn, id, queues, kinds);
	} else {
		r = rp__worker_row_add(conn, name, clients->host, queues, kinds,
				       &id);
		client_set(client, "id", r < 0 ? 0 : id);
		if (r == 0)
			unregister_dead(clients, conn, name);
	}
	free(kinds);
	free(queues);
	return r;
}

/* Register the client if it is new, was gone, or has new queues. Otherwise only
 * note that the server has heard from it. queues: the queues of its claim, or
 * NULL. */
static int
hear(json_t *client, rp_conn *conn, const struct clients *clients,
     const char *const *queues)
{
	int is_changed = add_queues(client, queues) ||
			 !client_number(client, "is_written");
	rp_worker_counts counts;
	int64_t known = 0;
	int r = 0;

	client_set(client, "is_written", !is_changed);
	if (client_number(client, "id")) {
		if (!is_changed && !client_number(client, "is_gone")) {
			/* The waiter stores the heartbeat. */
			client_set(client, "heard_at", now_ms());
			return 0;
		}
		counts = client_counts(client);
		r = rp__worker_row_update(conn, RP_V_WORKER_BEAT,
					  client_number(client, "id"), &counts,
					  &known);
		client_set(client, "is_counted", r == 0 && known);
		if (r == 0 && !known) /* the row was deleted */
			client_set(client, "id", 0);
	}
	if (r == 0 && (is_changed || !known))
		r = write_queues(client, conn, clients);
	if (r == 0) {
		client_set(client, "is_written", 1);
		client_set(client, "heard_at", now_ms());
		client_set(client, "beat_at", now_ms());
		client_set(client, "is_gone", 0);
	}
	return r;
}

/* Hear from the clients that hold the jobs of these verdicts, until the first
 * error. Returns 0 or RP_E*. */
static int
hear_verdicts(struct clients *clients, rp_conn *conn,
	      const struct writes *writes)
{
	int r = 0;

	for (size_t i = 0; i < writes->verdicts_count && r == 0; i++) {
		json_t *claim = find_claim(clients, &writes->verdicts[i]);

		if (claim)
			r = hear(json_object_get(claim, "client"), conn,
				 clients, NULL);
	}
	return r;
}

/* Hear from the client whose claim this is. Returns 0 or RP_E*. */
static int
hear_claim(struct clients *clients, rp_conn *conn,
	   const struct request *request)
{
	struct writes *writes = request->writes;
	json_t *client = find_or_add(clients->table, request);
	int r = client ? hear(client, conn, clients, writes->queues)
		       : RP_ENOMEM;

	writes->worker_id = client_number(client, "id");
	return r;
}

void
clients_hear(struct clients *clients, rp_conn *conn, struct request **asked,
	     size_t n)
{
	/* With a server that does not answer, each call takes as long as a
	 * connection attempt. So after an error no more is heard from clients
	 * with verdicts, which lose only a heartbeat, and after an error of a
	 * claim the other claims get the same error. */
	int heard = 0, r = 0;

	pthread_mutex_lock(&clients->lock);
	if (!clients->table) {
		clients->table = json_object();
		clients->claims = json_object();
		gethostname(clients->host, sizeof(clients->host) - 1);
		rp_worker_list(conn, &clients->before);
	}
	for (size_t i = 0; i < n; i++) {
		struct writes *writes = asked[i]->writes;

		/* Without a connection, the server itself releases a job. */
		if (heard == 0 && asked[i]->connection && has_verdicts(writes))
			heard = hear_verdicts(clients, conn, writes);
		if (!writes->queues || !asked[i]->worker || writes->code)
			continue;
		if (r == 0)
			r = hear_claim(clients, conn, asked[i]);
		if (r < 0) {
			writes->code = r;
			writes->error = *rp_last_error(conn);
		}
	}
	pthread_mutex_unlock(&clients->lock);
}

/* ---- the end of clients ---- */

/* Forget the clients that have been silent for FORGET_MS. Forget the claims of
 * these clients, and the claims whose lease is over. */
static void
forget(struct clients *clients, int64_t now)
{
	json_t *client, *claim;
	const char *key;
	void *next;

	json_object_foreach_safe (clients->claims, next, key, claim)
		if (client_number(claim, "until") <= now ||
		    client_silent_ms(json_object_get(claim, "client"), now) >=
			    FORGET_MS)
			json_object_del(clients->claims, key);
	json_object_foreach_safe (clients->table, next, key, client)
		if (client_silent_ms(client, now) >= FORGET_MS)
			json_object_del(clients->table, key);
}

void
clients_forget(struct clients *clients, rp_conn *conn)
{
	int64_t now = now_ms();

	clients_update_rows(clients, conn, 0);
	pthread_mutex_lock(&clients->lock);
	if (now - clients->forgot_at >= FORGET_EVERY_MS) {
		clients->forgot_at = now;
		forget(clients, now);
	}
	pthread_mutex_unlock(&clients->lock);
}

void
clients_clear(struct clients *clients)
{
	pthread_mutex_lock(&clients->lock);
	json_object_clear(clients->claims);
	json_object_clear(clients->table);
	rp_workers_free(clients->before);
	clients->before = NULL;
	pthread_mutex_unlock(&clients->lock);
}

void
clients_end(struct clients *clients, rp_conn *conn)
{
	clients_update_rows(clients, conn, 1);
	json_decref(clients->claims);
	json_decref(clients->table);
	clients->claims = clients->table = NULL;
	rp_workers_free(clients->before);
	clients->before = NULL;
}
