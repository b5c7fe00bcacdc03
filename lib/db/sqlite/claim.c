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
 *
 * Some jobs in the ready line must wait: their group is held, or it has no slot
 * (right to run) for them. A scan notes these jobs, and stops at the next job
 * that need not wait. Then the verb admit gives each noted job a slot, or takes
 * the job out of the line. The line is scanned again until the batch is full or
 * no job must wait. After MOST_MOVED noted jobs, or after MOST_MOVING_MS, the
 * line is scanned one last time. Later claims admit the remaining jobs. If the
 * last scan finds such jobs, the batch is marked as partial.
 */
#include "sqlite.h"

/* Limits for jobs in the ready line that must wait (see above). A scan notes at
 * most NOTED such jobs. A claim stops running the verb admit after about
 * MOST_MOVED such jobs, or after MOST_MOVING_MS. */
#define NOTED 100
#define MOST_MOVED 1000
#define MOST_MOVING_MS 10

/* The value of the column `terms` for a job that must wait, because its group
 * is held or has no slot for the job. */
#define MUST_WAIT 2

struct claim {
	const struct rp_round_trip *trip;
	int alone;      /* 1: the batch has a suspect, so no further job may be
			 * added */
	size_t first;   /* how many jobs the batch had before this scan */
	int with_extra; /* 1: a job of the batch has rarely used fields, which
			 * read_extra() must read */
	int has_rate;   /* 1: the queue has a rate */
	int64_t waiting[NOTED]; /* ids of the noted jobs, which are in the
				 * ready line but must wait */
	size_t waiting_count;
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
	job[JOB_GROUP_KEY] = c[CLAIM_OUT_TERMS];
	if (c[CLAIM_OUT_TERMS].type != RP_TEXT)
		job[JOB_GROUP_KEY].type = RP_NULL;
	return rp__batch_add(claim->trip->batch, job,
			     c[CLAIM_OUT_SUSPECT].i != 0);
}

/* Returns 1 if the queue's limits allow no further job. No job of a queue with
 * a limit is prefetched, because a prefetched job counts as running and would
 * keep another worker from running a job. */
static int
is_full(const struct claim *claim, const struct rp_value *free, size_t taken)
{
	return free->type == RP_INT &&
	       (taken >= claim->trip->at_once ||
		(int64_t)(taken - claim->first) >= free->i);
}

/* Skip a job that must wait, and note its id for admit(). */
static int
skip_waiting(struct claim *claim, int64_t id)
{
	if (claim->waiting_count == NOTED)
		return RP_ROW_STOP;
	claim->waiting[claim->waiting_count++] = id;
	return RP_ROW_SKIP;
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
	if (c[CLAIM_OUT_TERMS].type == RP_INT &&
	    c[CLAIM_OUT_TERMS].i == MUST_WAIT)
		return skip_waiting(claim, c[CLAIM_OUT_ID].i);
	if (claim->waiting_count)
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
	claim->has_rate = c[CLAIM_OUT_HAS_RATE].i != 0;
	claim->with_extra |= c[CLAIM_OUT_TERMS].type == RP_INT;
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

/* Read the rarely used fields of the jobs in the batch. Skip the jobs before
 * index `first`. */
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

/* For a queue with a rate: record the start of the jobs that this scan has
 * added to the batch. */
static int
count_starts(struct sqlite *s, const struct claim *claim, const char *queue,
	     rp_error *error)
{
	size_t n = rp_batch_count(claim->trip->batch) - claim->first;
	const struct rp_value p[RATE_START_PARAMS] = {
		[RATE_START_QUEUE] = rp__text(queue),
		[RATE_START_JOBS] = rp__int((int64_t)n),
	};

	return rp__sqlite_run(s, RP_V_RATE_START, p, 1, NULL, NULL, error);
}

/* Scan the ready line of a queue once. */
static int
scan(struct sqlite *s, struct claim *claim, const char *queue, rp_error *error)
{
	const struct rp_round_trip *trip = claim->trip;
	struct rp_value p[CLAIM_PARAMS];
	int r;

	claim->with_extra = claim->has_rate = 0;
	claim->waiting_count = 0;
	claim->first = rp_batch_count(trip->batch);
	p[CLAIM_QUEUE] = rp__text(queue);
	p[CLAIM_LEASE_MS] =
		rp__int_or_null(trip->lease_ms, trip->lease_ms == 0);
	p[CLAIM_WORKER_ID] = rp__int(trip->worker_id);
	r = rp__sqlite_run(s, RP_V_CLAIM, p, 1, offer, claim, error);
	if (r == 0 && claim->has_rate)
		r = count_starts(s, claim, queue, error);
	return r == 0 && claim->with_extra
		       ? read_extra(s, trip->batch, claim->first, error)
		       : r;
}

/* For each job in claim->waiting: give the job a slot of its group, or take the
 * job out of the ready line. Stops at the time stop_at. */
static int
admit(struct sqlite *s, const struct claim *claim, int64_t stop_at,
      rp_error *error)
{
	int r = 0;

	for (size_t i = 0; i < claim->waiting_count && r == 0 &&
			   (i == 0 || rp__monotonic_ms() < stop_at);
	     i++) {
		const struct rp_value p[ADMIT_PARAMS] = {
			[ADMIT_ID] = rp__int(claim->waiting[i]),
		};

		r = rp__sqlite_run(s, RP_V_ADMIT, p, 1, NULL, NULL, error);
	}
	return r;
}

static int
claim_queue(struct sqlite *s, struct claim *claim, const char *queue,
	    rp_error *error)
{
	const struct rp_round_trip *trip = claim->trip;
	int64_t stop_at = 0;
	size_t moved = 0;
	int r = 0, is_last = 0;

	claim->job[JOB_QUEUE] = rp__text(queue);
	for (;;) {
		r = scan(s, claim, queue, error);
		if (is_last && claim->waiting_count)
			rp__batch_set_partial(trip->batch);
		if (r < 0 || claim->waiting_count == 0 || is_last)
			return r;
		if (stop_at == 0)
			stop_at = rp__monotonic_ms() + MOST_MOVING_MS;
		r = admit(s, claim, stop_at, error);
		moved += claim->waiting_count;
		if (r < 0 || claim->alone ||
		    rp_batch_count(trip->batch) == trip->max)
			return r;
		is_last = moved >= MOST_MOVED || rp__monotonic_ms() >= stop_at;
	}
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
