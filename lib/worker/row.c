/*
 * row.c - write the rows of workers in the database: add a row, and update it
 * at each heartbeat, when the worker's queues change, and when it ends. A
 * client of `readpast serve` that gives itself a name has such a row, too.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

char *
rp__all_kinds(const char *const *queues)
{
	size_t n = 0;
	char **kinds, *list;

	while (queues[n])
		n++;
	kinds = calloc(n + 1, sizeof(*kinds));
	for (size_t i = 0; kinds && i < n; i++)
		if (asprintf(&kinds[i], "%s/", queues[i]) < 0)
			kinds[n = i] = NULL; /* out of memory */
	list = kinds && !queues[n]
		       ? rp__list((const char *const *)kinds, '[', ']')
		       : NULL;
	for (size_t i = 0; kinds && i < n; i++)
		free(kinds[i]);
	free(kinds);
	return list;
}

int
rp__worker_row_add(rp_conn *conn, const char *name, const char *host,
		   const char *const *queues, const char *kinds,
		   int64_t *ret_id)
{
	struct rp_value p[WORKER_START_PARAMS];
	char *list = rp__list(queues, '[', ']');
	int r;

	if (!list || !kinds) {
		free(list);
		return rp__fail(&conn->error, RP_ENOMEM, "out of memory");
	}
	p[WORKER_START_NAME] = rp__text(name);
	p[WORKER_START_HOST] = rp__text(host);
	p[WORKER_START_PID] = rp__int(getpid());
	p[WORKER_START_QUEUES] = rp__text(list);
	p[WORKER_START_KINDS] = rp__text(kinds);
	r = rp__run_once(conn, RP_V_WORKER_START, p, rp__first_int, ret_id);
	free(list);
	return r;
}

int
rp__worker_row_update(rp_conn *conn, enum rp_verb verb, int64_t id,
		      const rp_worker_counts *counts, int64_t *ret_known)
{
	struct rp_value p[HEARTBEAT_MOST_PARAMS];

	p[HEARTBEAT_ID] = rp__int(id);
	p[HEARTBEAT_DONE] = rp__int(counts->done);
	p[HEARTBEAT_FAILED] = rp__int(counts->failed);
	p[HEARTBEAT_DEAD] = rp__int(counts->dead);
	p[HEARTBEAT_RELEASED] = rp__int(counts->released);
	return rp__run_once(conn, verb, p, rp__count, ret_known);
}

int
rp__worker_row_queues(rp_conn *conn, int64_t id, const char *const *queues,
		      const char *kinds)
{
	char *list = rp__list(queues, '[', ']');
	const struct rp_value p[WORKER_QUEUES_PARAMS] = {
		[WORKER_QUEUES_ID] = rp__int(id),
		[WORKER_QUEUES_QUEUES] = rp__text(list),
		[WORKER_QUEUES_KINDS] = rp__text(kinds),
	};
	int r = list && kinds
			? rp__run_once(conn, RP_V_WORKER_QUEUES, p, NULL, NULL)
			: rp__fail(&conn->error, RP_ENOMEM, "out of memory");

	free(list);
	return r;
}
