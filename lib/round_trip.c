/*
 * round_trip.c - settle and claim in one transaction.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 *
 * The verdicts need a commit anyway, so the claim is made in the same
 * transaction. A verdict may ask to hold the group of its job. So the order is:
 * set the holds, settle, claim. If the job were settled before its group is
 * held, the next job of the group would get its slot, and would run.
 */
#include "internal.h"

#include <stdlib.h>

static void
count_finished(void *ctx, int64_t queue_id, int64_t done, int64_t failed)
{
	rp__tally(ctx, queue_id, done, failed);
}

/* Run the verb `sweep_rest`, which deletes the payloads of completed jobs. Stop
 * after the time of one slice (see slice.c), because the caller waits. A later
 * round trip or the next sweep deletes the payloads that are left. */
static int
forget_payloads(rp_conn *conn)
{
	struct rp_slice slice = { 0 };

	return rp__sweep_rest(conn, &slice, 1);
}

static int
has_holds(const struct rp_round_trip *trip)
{
	for (size_t i = 0; i < trip->verdicts_count; i++)
		if (rp__verdict_hold(trip->verdicts[i]))
			return 1;
	return 0;
}

static int
hold(rp_conn *conn, const struct rp_round_trip *trip)
{
	int r = 0;

	for (size_t i = 0; i < trip->verdicts_count && r == 0; i++)
		if (rp__verdict_hold(trip->verdicts[i]))
			r = rp__hold_for_verdict(conn, trip->verdicts[i]);
	return r;
}

/* Write the tally (the counts of finished jobs) in the transaction of the round
 * trip. */
static int
write_tally(rp_conn *conn, int is_callers)
{
	if (is_callers)
		return rp__tally_write_open(conn);
	return conn->backend->one_writer ? rp__tally_write_if_due(conn) : 0;
}

/* Run the round trip. If the tally is due, write it, too. If the database has
 * one writer at a time, both are one transaction. On a server the round trip is
 * a single statement, so the tally has a transaction of its own. This comes
 * first: if it came after the claim and failed, the caller would get an error
 * instead of the claimed jobs. */
static int
run(rp_conn *conn, struct rp_round_trip *trip, int holds)
{
	int is_callers = conn->backend->joins(conn->db);
	int r = is_callers || conn->backend->one_writer
			? 0
			: rp__tally_write_if_due(conn);

	if (r == 0)
		r = rp__begin(conn,
			      RP_BEGIN_WRITE | (holds ? 0 : RP_BEGIN_ONCE));
	if (r < 0)
		return r;
	r = holds ? hold(conn, trip) : 0;
	if (r == 0)
		r = conn->backend->settle_and_claim(conn->db, trip,
						    &conn->error);
	if (r == 0 && trip->left_payloads)
		r = forget_payloads(conn);
	if (r == 0)
		r = write_tally(conn, is_callers);
	return rp__end(conn, r);
}

static void
put_in_order(rp_verdict *verdicts, size_t n, struct rp_round_trip *trip)
{
	for (size_t i = 0; i < n; i++) {
		trip->verdicts[i] = rp__verdict_at(verdicts, i);
		trip->verdicts[i]->result = RP_EGONE;
	}
	trip->verdicts_count = rp__verdicts_in_order(trip->verdicts, n);
}

static int
count_accepted(rp_verdict *verdicts, size_t n)
{
	int accepted = 0;

	for (size_t i = 0; i < n; i++)
		accepted += rp__verdict_at(verdicts, i)->result == 0;
	return accepted;
}

int
rp__round_trip(rp_conn *conn, rp_verdict *verdicts, size_t n,
	       struct rp_round_trip *trip)
{
	rp_verdict *one;
	int r, holds;

	trip->verdicts = n > 1 ? malloc(n * sizeof(*trip->verdicts)) : &one;
	if (!trip->verdicts)
		return rp__fail(&conn->error, RP_ENOMEM, "out of memory");
	put_in_order(verdicts, n, trip);
	trip->worker_id = conn->worker_id;
	trip->worker = *conn->worker ? conn->worker : NULL;
	holds = has_holds(trip);
	trip->joined = holds || rp__stays_open(conn);
	trip->finished = count_finished;
	trip->ctx = conn;
	r = run(conn, trip, holds);
	if (n > 1)
		free(trip->verdicts);
	return r < 0 ? r : count_accepted(verdicts, n);
}
