/*
 * claim.c - lease jobs to a worker.
 *
 * The verb walks the line and offers each job; what is taken is leased in the
 * same transaction. Two rules decide here what a claim passes over: a suspect
 * (its lease ran out twice in a row, or before its last attempt: it may be what
 * killed its worker) goes out alone,
 * to a worker that holds nothing, so that it can only hurt itself; and two
 * kinds of jobs are never fetched ahead. One has a single attempt: a worker
 * that dies before it starts the job would have used that attempt up. The other
 * has a large payload: a worker would hold many times the memory that it works
 * with.
 *
 * A payload that is stored apart is read when the claim is committed: other
 * writers need not wait for that.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "internal.h"

#include <string.h>

#define MOST_CLAIMED 100000
#define MOST_LEASE_MS (3650 * INT64_C(86400000))

struct claim {
	rp_batch *batch;
	size_t max, at_once, holding;
	int alone; /* a suspect was taken */
};

static int
offer(void *ctx, size_t row, const struct rp_value *c)
{
	struct claim *claim = ctx;
	size_t taken = rp_batch_count(claim->batch);
	int suspect = c[CLAIM_OUT_SUSPECT].i != 0;
	size_t size = c[CLAIM_OUT_PAYLOAD].type == RP_INT
			      ? (size_t)c[CLAIM_OUT_PAYLOAD].i
			      : c[CLAIM_OUT_PAYLOAD].size;
	int r;

	(void)row;
	if (taken == claim->max || claim->alone)
		return RP_ROW_STOP;
	if (suspect && (claim->holding || taken)) {
		rp__batch_passed_over(claim->batch);
		return claim->holding ? RP_ROW_SKIP : RP_ROW_STOP;
	}
	if (taken >= claim->at_once &&
	    (c[CLAIM_OUT_MAX_ATTEMPTS].i == 1 || size > RP_LARGE))
		return RP_ROW_STOP;
	r = rp__batch_add(claim->batch, c, suspect);
	if (r < 0)
		return r;
	claim->alone = suspect;
	return RP_ROW_TAKE;
}

static int
claim_queue(rp_conn *conn, const char *queue, int64_t lease_ms,
	    struct claim *claim)
{
	struct rp_value p[CLAIM_PARAMS];

	p[CLAIM_QUEUE] = rp__text(queue);
	p[CLAIM_LEASE_MS] = rp__int_or_null(lease_ms, lease_ms == 0);
	p[CLAIM_WORKER_ID] = rp__int(conn->worker_id);
	p[CLAIM_WORKER] = rp__text(*conn->worker ? conn->worker : NULL);
	return rp__run(conn, RP_V_CLAIM, p, 1, offer, claim);
}

/* Inside a transaction; `options` were checked. */
int
rp__claim(rp_conn *conn, const char *queue, size_t max,
	  const rp_claim_options *options, rp_batch *batch)
{
	const char *const single[] = { queue, NULL };
	const char *const *queues = options->queues ? options->queues : single;
	struct claim claim = { .batch = batch,
			       .max = max,
			       .at_once = max - options->ahead,
			       .holding = options->holding };
	int r = 0;

	for (; *queues && r == 0; queues++)
		if (rp_batch_count(batch) < max && !claim.alone)
			r = claim_queue(conn, *queues, options->lease_ms,
					&claim);
	if (r == RP_ENOMEM)
		rp__fail(&conn->error, r, "out of memory");
	return r < 0 ? r : (int)rp_batch_count(batch);
}

/* ---- payloads that are stored apart ---- */

struct reading {
	rp_batch *batch;
	size_t i;
};

static int
take_payload(void *ctx, size_t row, const struct rp_value *c)
{
	const struct reading *reading = ctx;

	(void)row;
	return rp__batch_set_payload(reading->batch, reading->i,
				     &c[PAYLOAD_OUT_PAYLOAD]);
}

static int
read_payload(rp_conn *conn, rp_batch *batch, size_t i)
{
	const rp_job *job = rp_batch_at(batch, i);
	struct reading reading = { batch, i };
	struct rp_value p[PAYLOAD_PARAMS];

	if (job->payload)
		return 0;
	p[PAYLOAD_ID] = rp__int(job->id);
	p[PAYLOAD_CLAIM_NO] = rp__int(job->claim_no);
	return rp__run(conn, RP_V_PAYLOAD, p, 1, take_payload, &reading);
}

static int
read_payloads(rp_conn *conn, rp_batch *batch)
{
	int r = rp__begin(conn, 0);

	if (r < 0)
		return r;
	for (size_t i = 0; i < rp_batch_count(batch) && r == 0; i++)
		r = read_payload(conn, batch, i);
	if (r == RP_ENOMEM)
		rp__fail(&conn->error, r, "out of memory");
	return rp__end(conn, r);
}

/* Release the jobs whose payload could not be read. */
static void
give_back(rp_conn *conn, const rp_batch *batch)
{
	const rp_error why = conn->error;

	for (size_t i = 0; i < rp_batch_count(batch); i++) {
		const rp_job *job = rp_batch_at(batch, i);

		if (!job->payload)
			rp_release(conn, job->id, job->claim_no, 0);
	}
	conn->error = why;
}

/* A job that was taken from its holder meanwhile, by a cancel, is left out. */
int
rp__claim_payloads(rp_conn *conn, rp_batch *batch)
{
	int r;

	if (rp__batch_is_complete(batch))
		return 0;
	r = read_payloads(conn, batch);
	if (r < 0)
		give_back(conn, batch);
	rp__batch_drop_incomplete(batch);
	return r;
}

int
rp__check_claim(rp_conn *conn, const char *queue, size_t max,
		const rp_claim_options *given, rp_claim_options *ret)
{
	rp_claim_options o = RP_CLAIM_INIT;
	int r = 0;

	if (given)
		memcpy(&o, given,
		       given->size < sizeof(o) ? given->size : sizeof(o));
	if (max > MOST_CLAIMED)
		return rp__fail(&conn->error, RP_EINVAL,
				"more than %d jobs in one claim", MOST_CLAIMED);
	if (o.lease_ms < 0 || o.lease_ms > MOST_LEASE_MS)
		return rp__fail(&conn->error, RP_EINVAL,
				"the lease is not within 1 ms..3650 days");
	if (o.ahead > max)
		return rp__fail(&conn->error, RP_EINVAL,
				"more fetched ahead than claimed");
	if (!o.queues && max)
		r = rp__check_name(&conn->error, "the queue's name", queue,
				   128);
	for (size_t i = 0; o.queues && o.queues[i] && r == 0; i++)
		r = rp__check_name(&conn->error, "the queue's name",
				   o.queues[i], 128);
	*ret = o;
	return r;
}

int
rp_claim(rp_conn *conn, const char *queue, size_t max,
	 const rp_claim_options *options, rp_batch **ret)
{
	int r = rp__enter(conn);

	if (r < 0)
		return r;
	if (max == 0)
		return rp__fail(&conn->error, RP_EINVAL,
				"a claim is of one job at least");
	return rp_settle_and_claim(conn, NULL, 0, queue, max, options, ret);
}
