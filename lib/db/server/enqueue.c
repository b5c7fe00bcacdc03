/*
 * enqueue.c - put jobs into a database that has a routine for each case.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "server.h"

/* Nothing is said of the job but its kind. */
static int
is_plain(const struct rp_value *p)
{
	return p[PUT_PRIORITY].type == RP_NULL &&
	       p[PUT_DELAY_MS].type == RP_NULL &&
	       p[PUT_RUN_AT].type == RP_NULL &&
	       p[PUT_MAX_ATTEMPTS].type == RP_NULL &&
	       p[PUT_HEADERS].type == RP_NULL;
}

/* The verbs have the same parameters in front. */
int
rp__server_enqueue(const struct rp_server *server, void *db,
		   struct rp_enqueue *jobs, rp_error *error)
{
	enum rp_verb verb = jobs->unique             ? RP_V_ENQUEUE_UNIQUE
			    : jobs->count > 1        ? RP_V_ENQUEUE
			    : is_plain(jobs->params) ? RP_V_ENQUEUE_PLAIN
						     : RP_V_ENQUEUE_ONE;

	return server->run(db, verb, jobs->params, jobs->count, rp__take_added,
			   jobs, error);
}
