/*
 * joined_claims.c - make the claims of several requests. Requests with the same
 * queues, lease and worker share one call.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "joined.h"

#include <stdlib.h>
#include <string.h>

#include "internal.h"

int
claims_alike(const struct turn *a, const struct turn *b)
{
	size_t i = 0;

	if (!b->queues || b->code || a->lease_ms != b->lease_ms ||
	    a->worker_id != b->worker_id)
		return 0;
	for (; a->queues[i] && b->queues[i]; i++)
		if (strcmp(a->queues[i], b->queues[i]) != 0)
			return 0;
	return !a->queues[i] && !b->queues[i];
}

/* Distribute the claimed jobs among the requests one by one, in turns, so that
 * no request gets all jobs while others get none. */
static void
deal(const struct joined *j, size_t first, const rp_batch *batch)
{
	const struct turn *model = j->asked[first]->turn;
	size_t dealt = 0, before = SIZE_MAX;

	while (dealt < rp_batch_count(batch) && dealt != before) {
		before = dealt;
		for (size_t i = first;
		     i < j->n && dealt < rp_batch_count(batch); i++) {
			struct turn *turn = j->asked[i]->turn;

			if (!claims_alike(model, turn) ||
			    turn->jobs_count == turn->max)
				continue;
			turn->jobs[turn->jobs_count++] =
				rp_batch_at(batch, dealt++);
		}
	}
}

/* Let the next claim be made by this worker. id: 0 if the client has given no
 * name. */
static void
be_worker(rp_conn *conn, int64_t id, const char *name)
{
	conn->worker_id = id;
	snprintf(conn->worker, sizeof(conn->worker), "%s", id ? name : "");
}

int
claim_joined(struct joined *j, size_t first, rp_verdict *verdicts, size_t n)
{
	struct turn *turn = j->asked[first]->turn;
	rp_claim_options options = RP_CLAIM_INIT;
	size_t max = 0;
	int r;

	for (size_t i = first; i < j->n; i++)
		if (claims_alike(turn, j->asked[i]->turn))
			max += j->asked[i]->turn->max;
	options.lease_ms = turn->lease_ms;
	options.queues = turn->queues;
	max = max > MOST_JOBS ? MOST_JOBS : max;
	be_worker(j->conn, turn->worker_id, j->asked[first]->worker);
	r = rp_settle_and_claim(j->conn, verdicts, n, NULL, max, &options,
				&j->batches[j->batches_count]);
	be_worker(j->conn, 0, NULL);
	if (r >= 0) {
		deal(j, first, j->batches[j->batches_count++]);
		return 0;
	}
	if (n || !is_about_arguments(r))
		return r;
	for (size_t i = first; i < j->n; i++)
		if (claims_alike(turn, j->asked[i]->turn) &&
		    j->asked[i] != j->asked[first])
			note_failure(j, j->asked[i]->turn, r);
	return note_failure(j, turn, r);
}

int
claim_all(struct joined *j)
{
	int r = 0;

	for (size_t i = 0; i < j->n && r == 0; i++) {
		const struct turn *turn = j->asked[i]->turn;
		int is_first = turn->queues && !turn->code;

		for (size_t k = 0; k < i && is_first; k++)
			is_first = !claims_alike(turn, j->asked[k]->turn);
		if (is_first)
			r = claim_joined(j, i, NULL, 0);
	}
	return r;
}
