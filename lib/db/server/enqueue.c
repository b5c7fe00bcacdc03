/*
 * enqueue.c - enqueue jobs on a database that has routines, with the cheapest
 * of three calls. `enqueue_plain` takes one job with only a payload and a kind.
 * `enqueue` takes many jobs. `enqueue_unique` takes one job of any form, with
 * or without a unique key.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "server.h"

#include <string.h>

/* Returns 1 if the job has only a payload and a kind. */
static int
is_plain(const struct rp_value *p)
{
	return p[PUT_PRIORITY].type == RP_NULL &&
	       p[PUT_DELAY_MS].type == RP_NULL &&
	       p[PUT_RUN_AT].type == RP_NULL &&
	       p[PUT_MAX_ATTEMPTS].type == RP_NULL &&
	       p[PUT_HEADERS].type == RP_NULL &&
	       p[PUT_MANY_KEEP_MS].type == RP_NULL &&
	       p[PUT_MANY_TIMEOUT_MS].type == RP_NULL &&
	       p[PUT_MANY_EXPIRE_MS].type == RP_NULL &&
	       p[PUT_MANY_BACKOFF].type == RP_NULL;
}

/* Enqueue one job without a unique key by the verb enqueue_unique. That verb
 * has more parameters than the job's row, so copy the row into a longer one. */
static int
put_one(const struct rp_server *server, void *db, struct rp_enqueue *jobs,
	rp_error *error)
{
	struct rp_value params[ENQUEUE_UNIQUE_PARAMS] = { { .type = RP_NULL } };

	memcpy(params, jobs->params, PUT_MANY_COMMON_PARAMS * sizeof(*params));
	return server->run(db, RP_V_ENQUEUE_UNIQUE, params, 1, rp__take_added,
			   jobs, error);
}

/* The three verbs have the same first parameters, so all of them can take a row
 * of `jobs->params`. */
int
rp__server_enqueue(const struct rp_server *server, void *db,
		   struct rp_enqueue *jobs, rp_error *error)
{
	enum rp_verb verb = jobs->unique      ? RP_V_ENQUEUE_UNIQUE
			    : jobs->count > 1 ? RP_V_ENQUEUE
					      : RP_V_ENQUEUE_PLAIN;

	if (verb == RP_V_ENQUEUE_PLAIN && !is_plain(jobs->params))
		return put_one(server, db, jobs, error);
	return server->run(db, verb, jobs->params, jobs->count, rp__take_added,
			   jobs, error);
}
