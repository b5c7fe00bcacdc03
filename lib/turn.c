/*
 * turn.c - what a worker does all day: settle, then claim, in one commit.
 *
 * The claim rides on the commit that the verdicts need anyway.
 * Source of the idea: one MERGE that claims and cleans up; here without its
 * table lock, and as two statements in this order.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "internal.h"

static int
settle_and_claim(rp_conn *conn, rp_verdict *verdicts, size_t n,
		 const char *queue, size_t max, const rp_claim_options *options,
		 rp_batch *batch)
{
	const char *const single[] = { queue, NULL };
	int r;

	if (conn->backend->routines) {
		r = rp__turn_call(conn, verdicts, n,
				  options->queues ? options->queues : single,
				  max, options, batch);
		return r < 0 ? r : (int)rp_batch_count(batch);
	}
	r = rp__begin(conn, RP_BEGIN_WRITE);
	if (r < 0)
		return r;
	r = rp__settle(conn, verdicts, n);
	if (r >= 0 && max)
		r = rp__claim(conn, queue, max, options, batch);
	else if (r > 0)
		r = 0;
	return rp__end(conn, r);
}

/* Once something was settled or claimed that stands, the call has not failed.
 */
static int
add_payloads(rp_conn *conn, size_t n, rp_batch *batch)
{
	int r = rp__claim_payloads(conn, batch);
	size_t count = rp_batch_count(batch);

	return r < 0 && n == 0 && count == 0 ? r : (int)count;
}

int
rp_settle_and_claim(rp_conn *conn, rp_verdict *verdicts, size_t n,
		    const char *queue, size_t max,
		    const rp_claim_options *options, rp_batch **ret)
{
	rp_claim_options o = RP_CLAIM_INIT;
	rp_batch *batch;
	int r = rp__enter(conn);

	if (r < 0)
		return r;
	if (!ret)
		return rp__fail(&conn->error, RP_EINVAL, "ret is NULL");
	r = rp__check_verdicts(conn, verdicts, n);
	if (r == 0)
		r = rp__check_claim(conn, queue, max, options, &o);
	if (r < 0)
		return r;
	if (rp__batch_new(&batch) < 0)
		return rp__fail(&conn->error, RP_ENOMEM, "out of memory");
	r = settle_and_claim(conn, verdicts, n, queue, max, &o, batch);
	if (r > 0)
		r = add_payloads(conn, n, batch);
	if (r < 0)
		rp_batch_free(batch);
	else
		*ret = batch;
	return r;
}
