/*
 * settle.c - settle jobs: store the verdict of a worker. A verdict ends a claim
 * or extends its lease.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 *
 * Each verdict names the job and the claim number that the claim was given. If
 * a later claim has changed the job's number, no row matches, nothing changes,
 * and the caller gets RP_EGONE. That is all our fencing; no clock is compared.
 */
#include "internal.h"

#include <stdlib.h>

int
rp_settle(rp_conn *conn, rp_verdict *verdicts, size_t n)
{
	struct rp_round_trip trip = { .max = 0 };
	int r = rp__enter(conn);

	if (r < 0)
		return r;
	r = rp__check_verdicts(verdicts, n, &conn->error);
	if (r < 0 || n == 0)
		return r;
	return rp__round_trip(conn, verdicts, n, &trip);
}

static int
mark_locked(void *ctx, size_t row, const struct rp_value *c)
{
	rp_verdict *verdicts = ctx;

	(void)c;
	verdicts[row].result = RP_EBUSY;
	return RP_ROW_TAKE;
}

/* Set the result of each verdict: RP_EBUSY if another transaction has locked
 * the job, otherwise 0. The caller has opened a transaction. */
static int
find_locked(rp_conn *conn, rp_verdict *verdicts, size_t n)
{
	struct rp_value *ids = calloc(n * LOCKED_JOBS_PARAMS, sizeof(*ids));
	int r;

	if (!ids)
		return rp__fail(&conn->error, RP_ENOMEM, "out of memory");
	for (size_t i = 0; i < n; i++) {
		ids[i * LOCKED_JOBS_PARAMS + LOCKED_JOBS_ID] =
			rp__int(verdicts[i].id);
		verdicts[i].result = 0;
	}
	r = rp__run(conn, RP_V_LOCKED_JOBS, ids, n, mark_locked, verdicts);
	free(ids);
	return r;
}

/* Settle the jobs that are not locked: the jobs whose verdicts got the result 0
 * from find_locked(). The caller has opened a transaction. */
static int
settle_rest(rp_conn *conn, rp_verdict *verdicts, size_t n)
{
	rp_verdict *rest = calloc(n, sizeof(*rest));
	size_t k = 0;
	int r;

	if (!rest)
		return rp__fail(&conn->error, RP_ENOMEM, "out of memory");
	for (size_t i = 0; i < n; i++)
		if (verdicts[i].result == 0)
			rest[k++] = verdicts[i];
	r = rp_settle(conn, rest, k);
	for (size_t i = n; i-- > 0 && r >= 0;)
		if (verdicts[i].result == 0)
			verdicts[i] = rest[--k];
	free(rest);
	return r;
}

static int
settle_unlocked(rp_conn *conn, rp_verdict *verdicts, size_t n)
{
	int r = rp__begin(conn, RP_BEGIN_WRITE);

	if (r < 0)
		return r;
	r = find_locked(conn, verdicts, n);
	if (r == 0)
		r = settle_rest(conn, verdicts, n);
	return rp__end(conn, r);
}

/* One of the verdicts needs another row that is locked. For example, its hold
 * changes the row of the queue. Settle the verdicts one by one, so that only
 * this one gets the result RP_EBUSY. If one hold waits, do not try the others,
 * because each try takes a while. If a call fails in another way, the verdicts
 * that are left get RP_EBUSY, too. Returns how many were accepted. */
static int
settle_each(rp_conn *conn, rp_verdict *verdicts, size_t n)
{
	int accepted = 0, hold_waits = 0, has_failed = 0;

	for (size_t i = 0; i < n; i++) {
		rp_verdict *v = &verdicts[i];
		int holds = rp__verdict_hold(v), r = RP_EBUSY;

		if (!has_failed && !(holds && hold_waits))
			r = settle_unlocked(conn, v, 1);
		has_failed |= r < 0 && r != RP_EBUSY;
		hold_waits |= holds && r == RP_EBUSY;
		if (r < 0)
			v->result = RP_EBUSY;
		else
			accepted += r;
	}
	return accepted;
}

/*
 * Do the same as rp_settle(), but do not wait for locks. If another transaction
 * has locked a job, its verdict gets the result RP_EBUSY, and the caller may
 * try this verdict again. The verdicts must have the size of struct rp_verdict
 * in this library.
 */
int
rp__settle_unlocked(rp_conn *conn, rp_verdict *verdicts, size_t n)
{
	int r = settle_unlocked(conn, verdicts, n);

	if (r != RP_EBUSY || !conn->backend->limit_waits)
		return r;
	if (n > 1)
		return settle_each(conn, verdicts, n);
	verdicts[0].result = RP_EBUSY;
	return 0;
}

static int
settle_one(rp_conn *conn, rp_verdict *v)
{
	int r = rp_settle(conn, v, 1);

	if (r < 0)
		return r;
	return rp__refused(&conn->error, v);
}

int
rp_complete(rp_conn *conn, int64_t id, int64_t claim_no)
{
	rp_verdict v = rp__verdict(id, claim_no, RP_DONE);

	return settle_one(conn, &v);
}

int
rp_complete_with(rp_conn *conn, int64_t id, int64_t claim_no,
		 const void *result, size_t size)
{
	rp_verdict v = rp__verdict(id, claim_no, RP_DONE);

	if (size && !result) {
		int r = rp__enter(conn);

		return r < 0 ? r
			     : rp__fail(&conn->error, RP_EINVAL,
					"result is NULL");
	}
	v.result_bytes = result;
	v.result_size = size;
	return settle_one(conn, &v);
}

int
rp_fail(rp_conn *conn, int64_t id, int64_t claim_no, const char *error)
{
	rp_verdict v = rp__verdict(id, claim_no, RP_FAIL);

	v.error = error;
	return settle_one(conn, &v);
}

int
rp_release(rp_conn *conn, int64_t id, int64_t claim_no, int64_t delay_ms)
{
	rp_verdict v = rp__verdict(id, claim_no, RP_RELEASE);

	v.delay_ms = delay_ms;
	return settle_one(conn, &v);
}

int
rp_extend(rp_conn *conn, int64_t id, int64_t claim_no, int64_t lease_ms)
{
	rp_verdict v = rp__verdict(id, claim_no, RP_EXTEND);

	v.delay_ms = lease_ms;
	return settle_one(conn, &v);
}
