/*
 * enqueue.c - enqueue jobs on a database that has routines, with the cheapest
 * of four calls. `enqueue_plain` takes one job with only a payload and a kind.
 * `enqueue` takes many jobs. `enqueue_unique` takes one job without terms, with
 * or without a unique key. `enqueue_with_terms` takes one job of any form. A
 * job's terms are how long it is kept, its timeout, its expiry, its backoff,
 * its group, and how long its unique key stays taken after the job's end.
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
	       p[PUT_HEADERS].type == RP_NULL;
}

/* Returns 1 if the job has terms that a job without a unique key can have. */
static int
has_terms(const struct rp_value *p)
{
	return p[PUT_MANY_KEEP_MS].type != RP_NULL ||
	       p[PUT_MANY_TIMEOUT_MS].type != RP_NULL ||
	       p[PUT_MANY_EXPIRE_MS].type != RP_NULL ||
	       p[PUT_MANY_BACKOFF].type != RP_NULL ||
	       p[PUT_MANY_GROUP_KEY].type != RP_NULL;
}

/* Enqueue one job. `params` are the parameters of the verb enqueue_unique. The
 * verb enqueue_with_terms has the same parameters. */
static int
put_one(const struct rp_server *server, void *db, const struct rp_value *params,
	struct rp_enqueue *jobs, rp_error *error)
{
	int with_terms = has_terms(params) ||
			 params[PUT_ONE_UNIQUE_FOR_MS].type != RP_NULL;

	return server->run(
		db, with_terms ? RP_V_ENQUEUE_WITH_TERMS : RP_V_ENQUEUE_UNIQUE,
		params, 1, rp__take_added, jobs, error);
}

/* Choose the cheapest verb, and run it. The four verbs begin with the same
 * parameters. So a row of `jobs->params` suits both `enqueue` and
 * `enqueue_plain`. For the other two verbs, which have more parameters, the row
 * is copied into a longer row. */
int
rp__server_enqueue(const struct rp_server *server, void *db,
		   struct rp_enqueue *jobs, rp_error *error)
{
	struct rp_value params[PUT_ONE_COMMON_PARAMS] = { { .type = RP_NULL } };

	if (jobs->unique)
		return put_one(server, db, jobs->params, jobs, error);
	if (jobs->count > 1)
		return server->run(db, RP_V_ENQUEUE, jobs->params, jobs->count,
				   rp__take_added, jobs, error);
	if (is_plain(jobs->params) && !has_terms(jobs->params))
		return server->run(db, RP_V_ENQUEUE_PLAIN, jobs->params, 1,
				   rp__take_added, jobs, error);
	memcpy(params, jobs->params, PUT_MANY_COMMON_PARAMS * sizeof(*params));
	return put_one(server, db, params, jobs, error);
}
