/*
 * claim.c - claim jobs in a SQLite database.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 *
 * The verb scans the ready line and calls offer() with each job. The jobs that
 * offer() takes are leased in the same transaction. Two kinds of jobs are taken
 * only under a condition.
 *
 * A suspect is a job that may have killed its worker: its lease ran out twice
 * in a row, or once with one attempt left. A suspect is claimed alone, by a
 * worker that holds no other job, so that a suspect can harm no other job.
 *
 * Some jobs are never prefetched. If a job has a single attempt, a worker that
 * dies before it starts the job would use up that attempt. If a job has a large
 * payload, prefetching would multiply the memory that a worker needs. For jobs
 * of a queue with a limit see is_full().
 */
#include "sqlite.h"

struct claim {
	const struct rp_round_trip *trip;
	int alone;      /* 1: the batch has a suspect, so no further job may be
			 * added */
	size_t first;   /* how many jobs the batch had before this queue */
	int with_extra; /* 1: a job of the batch has rarely used fields, which
			 * read_extra() must read */
	struct rp_value job[JOB_COLUMNS]; /* fields of the job that is passed to
					   * the callback */
};

static int
add(struct claim *claim, const struct rp_value *c)
{
	struct rp_value *job = claim->job;

#define COPY(column) job[JOB_##column] = c[CLAIM_OUT_##column]
	COPY(ID);
	COPY(PRIORITY);
	COPY(ATTEMPT);
	COPY(MAX_ATTEMPTS);
	COPY(CLAIM_NO);
	COPY(RUN_AT);
	COPY(CREATED_AT);
	job[JOB_CLAIMED_AT] = rp__int(c[CLAIM_OUT_CLAIM_NO].i / 1000);
	COPY(LEASE_UNTIL);
	COPY(UNIQUE_KEY);
	COPY(KIND);
	COPY(HEADERS);
	COPY(PAYLOAD);
	COPY(LAST_ERROR);
	COPY(FAILURES);
	COPY(TIMEOUT_MS);
#undef COPY
	return rp__batch_add(claim->trip->batch, job,
			     c[CLAIM_OUT_SUSPECT].i != 0);
}

/* Returns 1 if the queue's limit allows no further job. No job of a queue with
 * a limit is prefetched, because a prefetched job counts as running and would
 * keep another worker from running a job. */
static int
is_full(const struct claim *claim, const struct rp_value *free, size_t taken)
{
	return free->type == RP_INT &&
	       (taken >= claim->trip->at_once ||
		(int64_t)(taken - claim->first) >= free->i);
}

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
	if (is_full(claim, &c[CLAIM_OUT_FREE], taken))
		return RP_ROW_STOP;
	if (suspect && (trip->holding || taken)) {
		rp__batch_passed_over(trip->batch);
		return trip->holding ? RP_ROW_SKIP : RP_ROW_STOP;
	}
	if (taken >= trip->at_once &&
	    (c[CLAIM_OUT_MAX_ATTEMPTS].i == 1 || size > RP_LARGE_PAYLOAD))
		return RP_ROW_STOP;
	r = add(claim, c);
	if (r < 0)
		return r;
	claim->alone = suspect;
	claim->with_extra |= c[CLAIM_OUT_HAS_EXTRA].i != 0;
	return suspect || taken + 1 == trip->max ? RP_ROW_LAST : RP_ROW_TAKE;
}

struct reading {
	rp_batch *batch;
	size_t i;
};

static int
take_extra(void *ctx, size_t row, const struct rp_value *c)
{
	const struct reading *reading = ctx;

	(void)row;
	return rp__batch_set_extra(reading->batch, reading->i, c);
}

/* For the jobs of the batch from index `first` on, read the rarely used
 * fields. */
static int
read_extra(struct sqlite *s, rp_batch *batch, size_t first, rp_error *error)
{
	int r = 0;

	for (size_t i = first; i < rp_batch_count(batch) && r == 0; i++) {
		struct reading reading = { batch, i };
		const struct rp_value p[EXTRA_PARAMS] = {
			[EXTRA_ID] = rp__int(rp_batch_at(batch, i)->id),
		};

		r = rp__sqlite_run(s, RP_V_EXTRA, p, 1, take_extra, &reading,
				   error);
	}
	return r;
}

static int
claim_queue(struct sqlite *s, struct claim *claim, const char *queue,
	    rp_error *error)
{
	const struct rp_round_trip *trip = claim->trip;
	struct rp_value p[CLAIM_PARAMS];
	int r;

	claim->job[JOB_QUEUE] = rp__text(queue);
	claim->with_extra = 0;
	claim->first = rp_batch_count(trip->batch);
	p[CLAIM_QUEUE] = rp__text(queue);
	p[CLAIM_LEASE_MS] =
		rp__int_or_null(trip->lease_ms, trip->lease_ms == 0);
	p[CLAIM_WORKER_ID] = rp__int(trip->worker_id);
	r = rp__sqlite_run(s, RP_V_CLAIM, p, 1, offer, claim, error);
	return r == 0 && claim->with_extra
		       ? read_extra(s, trip->batch, claim->first, error)
		       : r;
}

int
rp__sqlite_claim(struct sqlite *s, const struct rp_round_trip *trip,
		 rp_error *error)
{
	struct claim claim = {
		.trip = trip,
		.job = { [JOB_STATE] = rp__int(RP_STATE_RUNNING),
			 [JOB_WORKER] = rp__text(trip->worker) },
	};
	int r = 0;

	for (size_t i = 0; trip->queues[i] && r == 0; i++)
		if (rp_batch_count(trip->batch) < trip->max && !claim.alone)
			r = claim_queue(s, &claim, trip->queues[i], error);
	return r;
}
