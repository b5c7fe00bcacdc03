/*
 * claim.c - check the arguments of a claim, and read its large payloads.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 *
 * A payload that is stored in a table of its own is read after the commit, so
 * that other writers need not wait for the read.
 */
#include "internal.h"

#include <string.h>

/* ---- payloads in a table of their own ---- */

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
	return rp__end(conn, r);
}

/* Release the jobs whose payload could not be read. The handle's error is not
 * changed. */
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

/* Read the missing payloads. If a job was cancelled after the claim's commit,
 * its payload is not found, and the job is removed from the batch. */
static int
add_missing(rp_conn *conn, rp_batch *batch)
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

static int
check_claim(rp_conn *conn, const char *queue, size_t max,
	    const rp_claim_options *given, rp_claim_options *ret)
{
	rp_claim_options o = RP_CLAIM_INIT;
	int r = 0;

	if (given)
		rp__copy_struct(&o, given, given->size, sizeof(o));
	if (max > RP_MOST_CLAIMED)
		return rp__fail(&conn->error, RP_EINVAL,
				"one claim can return at most %d jobs",
				RP_MOST_CLAIMED);
	if (o.lease_ms < 0 || o.lease_ms > RP_MOST_MS)
		return rp__fail(&conn->error, RP_EINVAL,
				"the lease is not within 1 ms..%d days",
				RP_MOST_DAYS);
	if (o.ahead > max)
		return rp__fail(&conn->error, RP_EINVAL,
				"options.ahead is larger than max");
	if (!o.queues && max)
		r = rp__check_queue(&conn->error, queue);
	for (size_t i = 0; o.queues && o.queues[i] && r == 0; i++)
		r = rp__check_queue(&conn->error, o.queues[i]);
	*ret = o;
	return r;
}

/* Read the missing payloads and return the result of the call. If a verdict or
 * a claim was committed, the call succeeds, even if no payload could be
 * read. */
static int
add_payloads(rp_conn *conn, size_t n, rp_batch *batch)
{
	int r = add_missing(conn, batch);
	size_t count = rp_batch_count(batch);

	return r < 0 && n == 0 && count == 0 ? r : (int)count;
}

int
rp_settle_and_claim(rp_conn *conn, rp_verdict *verdicts, size_t n,
		    const char *queue, size_t max,
		    const rp_claim_options *options, rp_batch **ret)
{
	const char *const single[] = { queue, NULL };
	rp_claim_options o = RP_CLAIM_INIT;
	struct rp_round_trip trip = { .max = max };
	int r = rp__enter(conn);

	if (r < 0)
		return r;
	if (!ret)
		return rp__fail(&conn->error, RP_EINVAL, "ret is NULL");
	r = rp__check_verdicts(verdicts, n, &conn->error);
	if (r == 0)
		r = check_claim(conn, queue, max, options, &o);
	if (r < 0)
		return r;
	trip.queues = o.queues ? o.queues : single;
	trip.at_once = max - o.ahead;
	trip.holding = o.holding;
	trip.lease_ms = o.lease_ms;
	if (rp__batch_new(&trip.batch) < 0)
		return rp__fail(&conn->error, RP_ENOMEM, "out of memory");
	r = rp__round_trip(conn, verdicts, n, &trip);
	if (r >= 0)
		r = add_payloads(conn, n, trip.batch);
	if (r < 0)
		rp_batch_free(trip.batch);
	else
		*ret = trip.batch;
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
		return rp__fail(
			&conn->error, RP_EINVAL,
			"max is 0: a claim must ask for at least 1 job");
	return rp_settle_and_claim(conn, NULL, 0, queue, max, options, ret);
}
