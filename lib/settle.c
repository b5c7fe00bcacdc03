/*
 * settle.c - verdicts: what becomes of a claimed job.
 *
 * Each verdict names the job and the claim number it was given. If another
 * claim has moved the number on, no row matches, nothing changes, and the
 * caller learns RP_EGONE. That is all our fencing; no clock is compared.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "internal.h"

#include <stdlib.h>
#include <string.h>

#define MOST_MS (3650 * INT64_C(86400000))

/* The verdicts of one kind, as rows of parameters. */
struct rows {
	rp_conn *conn;
	rp_verdict **verdicts;
	struct rp_value *params;
	size_t count;
	int apart; /* a completed job had a payload that is stored apart */
};

/* The longest of the four parameter lists. */
enum { WIDEST = FAIL_PARAMS };

int
rp__check_verdicts(rp_conn *conn, const rp_verdict *verdicts, size_t n)
{
	if (n && !verdicts)
		return rp__fail(&conn->error, RP_EINVAL, "verdicts is NULL");
	if (n && verdicts->size <= offsetof(rp_verdict, state))
		return rp__fail(&conn->error, RP_EINVAL,
				"a verdict has no size: RP_VERDICT_INIT "
				"sets it");
	for (size_t i = 0; i < n; i++) {
		const rp_verdict *v = rp__verdict_at((rp_verdict *)verdicts, i);

		if (v->id < 1 || v->claim_no < 1)
			return rp__fail(&conn->error, RP_EINVAL,
					"no claim has the number %lld:%lld",
					(long long)v->id,
					(long long)v->claim_no);
		if (v->verdict < RP_DONE || v->verdict > RP_EXTEND)
			return rp__fail(&conn->error, RP_EINVAL,
					"no verdict has the number %d",
					v->verdict);
		if (v->delay_ms < -1 || v->delay_ms > MOST_MS)
			return rp__fail(&conn->error, RP_EINVAL,
					"the delay is not within "
					"0..3650 days");
		if (v->verdict == RP_EXTEND && v->delay_ms == 0)
			return rp__fail(&conn->error, RP_EINVAL,
					"a lease is 1 ms at least");
	}
	return 0;
}

int
rp__is_failure(const rp_verdict *v)
{
	return v->verdict == RP_FAIL || v->verdict == RP_DEAD;
}

/* What is kept of a failure's text, cleaned into memory of RP_MOST_ERROR + 1.
 */
struct rp_value
rp__failure(const rp_verdict *v, char *text)
{
	rp__clean(text, RP_MOST_ERROR + 1, v->error ? v->error : "");
	return rp__text(*text ? text : "failed");
}

/* The database took it. */
void
rp__accepted(rp_conn *conn, rp_verdict *v, int64_t state, int64_t queue_id)
{
	v->result = 0;
	v->state = (int)state;
	rp__tally(conn, queue_id, v->verdict == RP_DONE, rp__is_failure(v));
}

static int
accept_one(void *ctx, size_t row, const struct rp_value *c)
{
	struct rows *rows = ctx;

	/* All four answer the same two columns. */
	rp__accepted(rows->conn, rows->verdicts[row], c[COMPLETE_OUT_STATE].i,
		     c[COMPLETE_OUT_QUEUE_ID].i);
	return RP_ROW_TAKE;
}

static int
accept_done(void *ctx, size_t row, const struct rp_value *c)
{
	struct rows *rows = ctx;

	rows->apart |= c[COMPLETE_OUT_APART].i != 0;
	return accept_one(ctx, row, c);
}

static void
fill(struct rp_value *p, const rp_verdict *v, char *error)
{
	p[COMPLETE_ID] = rp__int(v->id);
	p[COMPLETE_CLAIM_NO] = rp__int(v->claim_no);
	switch (v->verdict) {
	case RP_FAIL:
	case RP_DEAD:
		p[FAIL_DELAY_MS] =
			rp__int_or_null(v->delay_ms, v->delay_ms < 0);
		p[FAIL_ERROR] = rp__failure(v, error);
		p[FAIL_FOR_GOOD] = rp__int(v->verdict == RP_DEAD);
		break;
	case RP_RELEASE:
		p[RELEASE_DELAY_MS] =
			rp__int(v->delay_ms < 0 ? 0 : v->delay_ms);
		break;
	case RP_EXTEND:
		p[EXTEND_LEASE_MS] =
			rp__int_or_null(v->delay_ms, v->delay_ms < 0);
		break;
	default:
		break;
	}
}

/* Failed attempts come with a text, which is cleaned into memory of its own:
 * they are run one by one. */
static int
run_failures(rp_conn *conn, rp_verdict *verdicts, size_t n)
{
	struct rp_value params[WIDEST];
	char error[RP_MOST_ERROR + 1];
	int r = 0;

	for (size_t i = 0; i < n && r == 0; i++) {
		rp_verdict *v = rp__verdict_at(verdicts, i);
		struct rows rows = { conn, &v, params, 1, 0 };

		if (!rp__is_failure(v))
			continue;
		fill(params, v, error);
		r = rp__run(conn, RP_V_FAIL, params, 1, accept_one, &rows);
	}
	return r;
}

static int
by_id(const void *a, const void *b)
{
	const rp_verdict *x = *(rp_verdict *const *)a;
	const rp_verdict *y = *(rp_verdict *const *)b;

	if (x->id != y->id)
		return x->id < y->id ? -1 : 1;
	if (x->claim_no != y->claim_no)
		return x->claim_no < y->claim_no ? -1 : 1;
	return (x > y) - (x < y);
}

/* In the order of their ids, so that no two clients can wait for each other's
 * rows; and of two verdicts on one claim the first counts. How many are left.
 */
size_t
rp__verdicts_in_order(rp_verdict **v, size_t n)
{
	size_t kept = 1, i = 1;

	while (i < n && v[i - 1]->id < v[i]->id)
		i++;
	if (i >= n)
		return n;
	qsort(v, n, sizeof(rp_verdict *), by_id);
	for (i = 1; i < n; i++)
		if (v[i]->id != v[kept - 1]->id ||
		    v[i]->claim_no != v[kept - 1]->claim_no)
			v[kept++] = v[i];
	return kept;
}

/* The verdicts of one kind that need no text: all in one run. */
static int
run_kind(struct rows *rows, rp_verdict *verdicts, size_t n, int kind)
{
	static const struct {
		enum rp_verb verb;
		size_t width;
	} verbs[] = {
		[RP_DONE] = { RP_V_COMPLETE, COMPLETE_PARAMS },
		[RP_RELEASE] = { RP_V_RELEASE, RELEASE_PARAMS },
		[RP_EXTEND] = { RP_V_EXTEND, EXTEND_PARAMS },
	};

	rows->count = 0;
	for (size_t i = 0; i < n; i++) {
		rp_verdict *v = rp__verdict_at(verdicts, i);

		if (v->verdict == kind)
			rows->verdicts[rows->count++] = v;
	}
	if (rows->count == 0)
		return 0;
	rows->count = rp__verdicts_in_order(rows->verdicts, rows->count);
	for (size_t i = 0; i < rows->count; i++)
		fill(rows->params + i * verbs[kind].width, rows->verdicts[i],
		     NULL);
	return rp__run(rows->conn, verbs[kind].verb, rows->params, rows->count,
		       kind == RP_DONE ? accept_done : accept_one, rows);
}

/* The payloads of completed jobs, as far as a slice gets. The next completion
 * of such a job goes on, or the next sweep. */
static int
forget_payloads(rp_conn *conn)
{
	struct rp_slice slice = { 0 };

	return rp__sweep_rest(conn, &slice);
}

static int
explain_row(void *ctx, size_t row, const struct rp_value *c)
{
	rp_verdict *v = ctx;

	(void)row;
	if (c[REFUSED_OUT_CANCELLED].i)
		v->result = RP_ECANCELLED;
	else if (!c[REFUSED_OUT_ISSUED].i)
		v->result = RP_ENOENT;
	return RP_ROW_TAKE;
}

/* Why was it refused? */
static int
explain(rp_conn *conn, rp_verdict *v)
{
	struct rp_value params[] = { rp__int(v->id), rp__int(v->claim_no) };

	return rp__run(conn, RP_V_REFUSED, params, 1, explain_row, v);
}

/* Inside a transaction; the verdicts were checked. */
int
rp__settle(rp_conn *conn, rp_verdict *verdicts, size_t n)
{
	rp_verdict *one_verdict[1];
	struct rp_value one_row[WIDEST];
	struct rows rows = { conn, one_verdict, one_row, 0, 0 };
	int accepted = 0, r;

	if (n == 0)
		return 0;
	if (n > 1) {
		rows.verdicts = calloc(n, sizeof(*rows.verdicts));
		rows.params = calloc(n, WIDEST * sizeof(*rows.params));
	}
	for (size_t i = 0; i < n; i++)
		rp__verdict_at(verdicts, i)->result = RP_EGONE;
	r = rows.verdicts && rows.params
		    ? 0
		    : rp__fail(&conn->error, RP_ENOMEM, "out of memory");
	if (r == 0)
		r = run_kind(&rows, verdicts, n, RP_DONE);
	if (r == 0 && rows.apart)
		r = forget_payloads(conn);
	if (r == 0)
		r = run_failures(conn, verdicts, n);
	if (r == 0)
		r = run_kind(&rows, verdicts, n, RP_RELEASE);
	if (r == 0)
		r = run_kind(&rows, verdicts, n, RP_EXTEND);
	for (size_t i = 0; i < n && r == 0; i++) {
		rp_verdict *v = rp__verdict_at(verdicts, i);

		accepted += v->result == 0;
		if (v->result < 0)
			r = explain(conn, v);
	}
	if (n > 1) {
		free(rows.verdicts);
		free(rows.params);
	}
	if (r == 0)
		r = rp__tally_write(conn, 0);
	return r < 0 ? r : accepted;
}

int
rp_settle(rp_conn *conn, rp_verdict *verdicts, size_t n)
{
	static const rp_claim_options none = RP_CLAIM_INIT;
	int r = rp__enter(conn);

	if (r < 0)
		return r;
	r = rp__check_verdicts(conn, verdicts, n);
	if (r < 0 || n == 0)
		return r;
	if (conn->backend->routines)
		return rp__turn_call(conn, verdicts, n, NULL, 0, &none, NULL);
	r = rp__begin(conn, RP_BEGIN_WRITE);
	if (r < 0)
		return r;
	return rp__end(conn, rp__settle(conn, verdicts, n));
}

static int
mark_blocked(void *ctx, size_t row, const struct rp_value *c)
{
	rp_verdict *verdicts = ctx;

	(void)c;
	verdicts[row].result = RP_EBUSY;
	return RP_ROW_TAKE;
}

/* Inside a transaction: which of them would have to wait? */
static int
find_blocked(rp_conn *conn, rp_verdict *verdicts, size_t n)
{
	struct rp_value *ids = calloc(n, sizeof(*ids));
	int r;

	if (!ids)
		return rp__fail(&conn->error, RP_ENOMEM, "out of memory");
	for (size_t i = 0; i < n; i++) {
		ids[i] = rp__int(verdicts[i].id);
		verdicts[i].result = 0;
	}
	r = rp__run(conn, RP_V_BLOCKED, ids, n, mark_blocked, verdicts);
	free(ids);
	return r;
}

/* In a transaction, the ones that are not blocked. */
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

/*
 * As rp_settle(), but it waits for nobody: a verdict on a job that somebody
 * else has locked has the result RP_EBUSY, and may be given again. All verdicts
 * are of this library's own size.
 */
int
rp__settle_unblocked(rp_conn *conn, rp_verdict *verdicts, size_t n)
{
	int r = rp__begin(conn, RP_BEGIN_WRITE);

	if (r < 0)
		return r;
	r = find_blocked(conn, verdicts, n);
	if (r == 0)
		r = settle_rest(conn, verdicts, n);
	return rp__end(conn, r);
}

/* Put a verdict's result in words. */
int
rp__refused(rp_error *error, const rp_verdict *v)
{
	const char *words =
		v->result == RP_ECANCELLED ? "job %lld was cancelled"
		: v->result == RP_ENOENT   ? "no job has the id %lld"
					   : "job %lld is no longer yours";

	return v->result < 0
		       ? rp__fail(error, v->result, words, (long long)v->id)
		       : 0;
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
	rp_verdict v = RP_VERDICT_INIT;

	v.id = id;
	v.claim_no = claim_no;
	return settle_one(conn, &v);
}

int
rp_fail(rp_conn *conn, int64_t id, int64_t claim_no, const char *error)
{
	rp_verdict v = RP_VERDICT_INIT;

	v.id = id;
	v.claim_no = claim_no;
	v.verdict = RP_FAIL;
	v.error = error;
	return settle_one(conn, &v);
}

int
rp_release(rp_conn *conn, int64_t id, int64_t claim_no, int64_t delay_ms)
{
	rp_verdict v = RP_VERDICT_INIT;

	v.id = id;
	v.claim_no = claim_no;
	v.verdict = RP_RELEASE;
	v.delay_ms = delay_ms;
	return settle_one(conn, &v);
}

int
rp_extend(rp_conn *conn, int64_t id, int64_t claim_no, int64_t lease_ms)
{
	rp_verdict v = RP_VERDICT_INIT;

	v.id = id;
	v.claim_no = claim_no;
	v.verdict = RP_EXTEND;
	v.delay_ms = lease_ms;
	return settle_one(conn, &v);
}
