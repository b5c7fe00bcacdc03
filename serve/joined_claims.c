/*
 * joined_claims.c - make the claims of several requests. Requests with the same
 * queues, lease and worker share a call.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "joined.h"

#include <string.h>

#include "internal.h"

int
claims_alike(const struct writes *a, const struct writes *b)
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

/* The requests that one call claims for. */
struct alike {
	struct request *requests[MOST_IN_COMMIT];
	size_t n;
	size_t max; /* how many jobs they ask for */
};

/* Find the request with the index `first`, and the later requests with the same
 * queues, lease and worker, that have no jobs yet. */
static void
find_alike(const struct joined *j, size_t first, struct alike *ret)
{
	const struct writes *model = j->asked[first]->writes;

	ret->n = ret->max = 0;
	for (size_t i = first; i < j->n; i++) {
		const struct writes *writes = j->asked[i]->writes;

		if (writes->jobs_count || !claims_alike(model, writes))
			continue;
		ret->requests[ret->n++] = j->asked[i];
		ret->max += writes->max;
	}
}

/* Distribute the claimed jobs among the requests one by one, in turns, so that
 * no request gets all jobs while others get none. */
static void
deal(const struct alike *alike, const rp_batch *batch)
{
	size_t dealt = 0, before = SIZE_MAX;

	while (dealt < rp_batch_count(batch) && dealt != before) {
		before = dealt;
		for (size_t i = 0;
		     i < alike->n && dealt < rp_batch_count(batch); i++) {
			struct writes *writes = alike->requests[i]->writes;

			if (writes->jobs_count < writes->max)
				writes->jobs[writes->jobs_count++] =
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

/* Claim for the requests that are like `first` in one call, which also settles
 * the verdicts. */
static int
claim_once(struct joined *j, const struct request *first,
	   const struct alike *alike, rp_verdict *verdicts, size_t n)
{
	size_t max = alike->max > MOST_JOBS ? MOST_JOBS : alike->max;
	rp_claim_options options = RP_CLAIM_INIT;
	int r;

	options.lease_ms = first->writes->lease_ms;
	options.queues = first->writes->queues;
	be_worker(j->conn, first->writes->worker_id, first->worker);
	r = rp_settle_and_claim(j->conn, verdicts, n, NULL, max, &options,
				&j->batches[j->batches_count]);
	be_worker(j->conn, 0, NULL);
	if (r >= 0)
		deal(alike, j->batches[j->batches_count++]);
	return r;
}

/* Returns whether the last claim ended because of a suspect, a job that may
 * have killed its worker. A claim returns a suspect alone, so further jobs may
 * be ready. */
static int
has_met_suspect(const struct joined *j)
{
	const rp_batch *batch = j->batches[j->batches_count - 1];
	size_t n = rp_batch_count(batch);

	return n &&
	       (rp_batch_suspects(batch) || rp_batch_at(batch, n - 1)->suspect);
}

int
claim_joined(struct joined *j, size_t first, rp_verdict *verdicts, size_t n)
{
	struct alike alike;
	int r;

	find_alike(j, first, &alike);
	r = claim_once(j, j->asked[first], &alike, verdicts, n);
	if (r < 0 && (n || !is_about_arguments(r)))
		return r;
	/* If this commit settles verdicts of the same request, an error would
	 * tell the client that they had no effect. So it gets no job instead.
	 */
	for (size_t i = 0; i < alike.n && r < 0; i++)
		if (!has_verdicts(alike.requests[i]->writes))
			note_failure(j, alike.requests[i]->writes, r);
	while (r >= 0 && has_met_suspect(j)) {
		find_alike(j, first, &alike);
		if (alike.n == 0)
			return 0;
		r = claim_once(j, j->asked[first], &alike, NULL, 0);
		/* Outside a transaction, the earlier calls are committed. So
		 * these requests get no job, and the others keep theirs. */
		if (r < 0 && !j->is_single)
			return r;
	}
	return 0;
}

int
claim_all(struct joined *j)
{
	int r = 0;

	for (size_t i = 0; i < j->n && r == 0; i++) {
		const struct writes *writes = j->asked[i]->writes;
		int is_first = writes->queues && !writes->code;

		for (size_t k = 0; k < i && is_first; k++)
			is_first = !claims_alike(writes, j->asked[k]->writes);
		if (is_first)
			r = claim_joined(j, i, NULL, 0);
	}
	return r;
}
