/*
 * settle.c - apply verdicts to jobs in a SQLite database, with one operation
 * for each kind of verdict.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "sqlite.h"

#include <stdlib.h>

/* All verdicts of one kind, such as RP_DONE, with their rows of parameters. */
struct kind {
	struct rp_round_trip *trip;
	rp_verdict **verdicts;
	struct rp_value *params;
	size_t count;
};

static int
accept(const struct kind *kind, size_t row, const struct rp_value *c, int state)
{
	rp_verdict *v = kind->verdicts[row];

	v->result = 0;
	v->state = state;
	kind->trip->finished(kind->trip->ctx, c[SETTLE_OUT_QUEUE_ID].i,
			     v->verdict == RP_DONE, rp__is_failure(v));
	return RP_ROW_TAKE;
}

static int
accept_one(void *ctx, size_t row, const struct rp_value *c)
{
	return accept(ctx, row, c, (int)c[UNDONE_OUT_STATE].i);
}

static int
accept_done(void *ctx, size_t row, const struct rp_value *c)
{
	struct kind *kind = ctx;

	kind->trip->left_payloads |= c[COMPLETE_OUT_APART].i != 0;
	return accept(kind, row, c, RP_STATE_DONE);
}

static void
fill(struct rp_value *p, const rp_verdict *v, char *error)
{
	p[SETTLE_ID] = rp__int(v->id);
	p[SETTLE_CLAIM_NO] = rp__int(v->claim_no);
	switch (v->verdict) {
	case RP_FAIL:
	case RP_DEAD:
		p[FAIL_DELAY_MS] =
			rp__int_or_null(v->delay_ms, v->delay_ms < 0);
		p[FAIL_ERROR] = rp__failure(v, error);
		p[FAIL_FOR_GOOD] = rp__int(v->verdict == RP_DEAD);
		p[FAIL_PROGRESS] = rp__progress(v);
		break;
	case RP_RELEASE:
		p[RELEASE_DELAY_MS] =
			rp__int(v->delay_ms < 0 ? 0 : v->delay_ms);
		p[RELEASE_PROGRESS] = rp__progress(v);
		break;
	case RP_EXTEND:
		p[EXTEND_LEASE_MS] =
			rp__int_or_null(v->delay_ms, v->delay_ms < 0);
		p[EXTEND_PROGRESS] = rp__progress(v);
		break;
	default:
		p[COMPLETE_RESULT] = rp__result(v);
		break;
	}
}

/* Run the failures one by one, because each needs a buffer for its error
 * text. */
static int
run_failures(struct sqlite *s, struct rp_round_trip *trip, rp_error *error)
{
	struct rp_value params[SETTLE_MOST_PARAMS];
	char text[RP_MOST_ERROR + 1];
	int r = 0;

	for (size_t i = 0; i < trip->verdicts_count && r == 0; i++) {
		struct kind kind = { trip, &trip->verdicts[i], params, 1 };

		if (!rp__is_failure(trip->verdicts[i]))
			continue;
		fill(params, trip->verdicts[i], text);
		r = rp__sqlite_run(s, RP_V_FAIL, params, 1, accept_one, &kind,
				   error);
	}
	return r;
}

/* Settle all verdicts of one kind with a single call of rp__sqlite_run().
 * Failures are not settled here, see run_failures(). */
static int
run_kind(struct sqlite *s, struct kind *kind, int verdict, rp_error *error)
{
	static const struct {
		enum rp_verb verb;
		size_t width;
	} verbs[] = {
		[RP_DONE] = { RP_V_COMPLETE, COMPLETE_PARAMS },
		[RP_RELEASE] = { RP_V_RELEASE, RELEASE_PARAMS },
		[RP_EXTEND] = { RP_V_EXTEND, EXTEND_PARAMS },
	};
	const struct rp_round_trip *trip = kind->trip;

	kind->count = 0;
	for (size_t i = 0; i < trip->verdicts_count; i++) {
		rp_verdict *v = trip->verdicts[i];

		if (v->verdict != verdict)
			continue;
		fill(kind->params + kind->count * verbs[verdict].width, v,
		     NULL);
		kind->verdicts[kind->count++] = v;
	}
	if (kind->count == 0)
		return 0;
	return rp__sqlite_run(s, verbs[verdict].verb, kind->params, kind->count,
			      verdict == RP_DONE ? accept_done : accept_one,
			      kind, error);
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

/* Find out why a verdict was refused. */
static int
explain(struct sqlite *s, rp_verdict *v, rp_error *error)
{
	const struct rp_value params[REFUSED_PARAMS] = {
		[REFUSED_ID] = rp__int(v->id),
		[REFUSED_CLAIM_NO] = rp__int(v->claim_no),
	};

	return rp__sqlite_run(s, RP_V_REFUSED, params, 1, explain_row, v,
			      error);
}

static int
run_all(struct sqlite *s, struct kind *kind, rp_error *error)
{
	struct rp_round_trip *trip = kind->trip;
	int r = run_kind(s, kind, RP_DONE, error);

	if (r == 0)
		r = run_failures(s, trip, error);
	if (r == 0)
		r = run_kind(s, kind, RP_RELEASE, error);
	if (r == 0)
		r = run_kind(s, kind, RP_EXTEND, error);
	for (size_t i = 0; i < trip->verdicts_count && r == 0; i++)
		if (trip->verdicts[i]->result < 0)
			r = explain(s, trip->verdicts[i], error);
	return r;
}

int
rp__sqlite_settle(struct sqlite *s, struct rp_round_trip *trip, rp_error *error)
{
	size_t n = trip->verdicts_count;
	rp_verdict *one_verdict[1];
	struct rp_value one_row[SETTLE_MOST_PARAMS];
	struct kind kind = { trip, one_verdict, one_row, 0 };
	int r;

	if (n == 0)
		return 0;
	if (n > 1) {
		kind.params =
			malloc(n * (SETTLE_MOST_PARAMS * sizeof(*kind.params) +
				    sizeof(*kind.verdicts)));
		if (!kind.params)
			return rp__fail(error, RP_ENOMEM, "out of memory");
		kind.verdicts =
			(rp_verdict **)(kind.params + n * SETTLE_MOST_PARAMS);
	}
	r = run_all(s, &kind, error);
	if (n > 1)
		free(kind.params);
	return r;
}
