/*
 * claim.c - the claim on a SQLite database.
 *
 * The verb scans the ready line and calls offer() with each job; the jobs that
 * offer() takes are leased in the same transaction. Two kinds of jobs are taken
 * only under a condition.
 *
 * A suspect (its lease ran out twice in a row, or once with one attempt left,
 * so it may be what killed its worker) is claimed alone, by a worker that holds
 * no other job, so that it can harm only itself.
 *
 * Some jobs are never prefetched. If a job has a single attempt, a worker that
 * dies before it starts the job would use up that attempt. If a job has a large
 * payload, prefetching would multiply the memory that a worker needs.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "sqlite.h"

struct claim {
	const struct rp_round_trip *trip;
	int alone; /* a suspect was taken */
};

static int
offer(void *ctx, size_t row, const struct rp_value *c)
{
	struct claim *claim = ctx;
	const struct rp_round_trip *trip = claim->trip;
	size_t taken = rp_batch_count(trip->batch);
	int suspect = c[CLAIM_OUT_SUSPECT].i != 0;
	size_t size = c[CLAIM_OUT_PAYLOAD].type == RP_INT
			      ? (size_t)c[CLAIM_OUT_PAYLOAD].i
			      : c[CLAIM_OUT_PAYLOAD].size;
	int r;

	(void)row;
	if (taken == trip->max || claim->alone)
		return RP_ROW_STOP;
	if (suspect && (trip->holding || taken)) {
		rp__batch_passed_over(trip->batch);
		return trip->holding ? RP_ROW_SKIP : RP_ROW_STOP;
	}
	if (taken >= trip->at_once &&
	    (c[CLAIM_OUT_MAX_ATTEMPTS].i == 1 || size > RP_LARGE_PAYLOAD))
		return RP_ROW_STOP;
	r = rp__batch_add(trip->batch, c, suspect);
	if (r < 0)
		return r;
	claim->alone = suspect;
	return RP_ROW_TAKE;
}

static int
claim_queue(struct sqlite *s, struct claim *claim, const char *queue,
	    rp_error *error)
{
	const struct rp_round_trip *trip = claim->trip;
	struct rp_value p[CLAIM_PARAMS];

	p[CLAIM_QUEUE] = rp__text(queue);
	p[CLAIM_LEASE_MS] =
		rp__int_or_null(trip->lease_ms, trip->lease_ms == 0);
	p[CLAIM_WORKER_ID] = rp__int(trip->worker_id);
	p[CLAIM_WORKER] = rp__text(trip->worker);
	return rp__sqlite_run(s, RP_V_CLAIM, p, 1, offer, claim, error);
}

int
rp__sqlite_claim(struct sqlite *s, const struct rp_round_trip *trip,
		 rp_error *error)
{
	struct claim claim = { .trip = trip };
	int r = 0;

	for (size_t i = 0; trip->queues[i] && r == 0; i++)
		if (rp_batch_count(trip->batch) < trip->max && !claim.alone)
			r = claim_queue(s, &claim, trip->queues[i], error);
	return r;
}
