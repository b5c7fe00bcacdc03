/*
 * verdict.c - check verdicts before they are sent to the database, and explain
 * refusals.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "internal.h"

#include <stdlib.h>
#include <string.h>

/* Returns 1 if the caller's struct has the fields for a result and progress. A
 * caller that was compiled with an older readpast.h has a smaller struct. */
static int
has_reports(const rp_verdict *v)
{
	return v->size > offsetof(rp_verdict, progress);
}

/* Returns the result as it is stored: bytes, or null if the verdict has no
 * result. */
struct rp_value
rp__result(const rp_verdict *v)
{
	if (v->verdict != RP_DONE || !has_reports(v) || !v->result_bytes)
		return (struct rp_value){ .type = RP_NULL };
	return rp__blob(v->result_bytes, v->result_size);
}

/* Returns the text that replaces the job's progress, or null if the verdict
 * does not change the progress. */
struct rp_value
rp__progress(const rp_verdict *v)
{
	return rp__text(v->verdict != RP_DONE && has_reports(v) ? v->progress
								: NULL);
}

int
rp__check_result(rp_error *error, size_t size)
{
	if (size <= RP_MOST_RESULT)
		return 0;
	return rp__fail(error, RP_EFBIG,
			"the result has %zu bytes, more than %d", size,
			RP_MOST_RESULT);
}

int
rp__check_progress(rp_error *error, const char *text)
{
	size_t size = text ? strlen(text) : 0;

	if (size > RP_MOST_PROGRESS)
		return rp__fail(error, RP_EFBIG,
				"the progress has %zu bytes, more than %d",
				size, RP_MOST_PROGRESS);
	if (text && !rp__utf8(text, size))
		return rp__fail(error, RP_EINVAL, "the progress is not UTF-8");
	return 0;
}

static int
check_reports(rp_error *error, const rp_verdict *v)
{
	struct rp_value result, progress;
	int r;

	if (!has_reports(v) || (!v->result_bytes && !v->progress))
		return 0;
	result = rp__result(v);
	progress = rp__progress(v);
	r = rp__check_result(error, result.type == RP_NULL ? 0 : result.size);
	if (r == 0 && progress.type != RP_NULL)
		r = rp__check_progress(error, progress.data);
	return r;
}

/* Returns the hold that the verdict asks for: RP_HOLD_GROUP, RP_HOLD_QUEUE or 0
 * (none). */
int
rp__verdict_hold(const rp_verdict *v)
{
	return v->size > offsetof(rp_verdict, hold_ms) ? v->hold : 0;
}

static int
check_hold(rp_error *error, const rp_verdict *v)
{
	int hold = rp__verdict_hold(v);

	if (!hold)
		return 0;
	if (hold != RP_HOLD_GROUP && hold != RP_HOLD_QUEUE)
		return rp__fail(error, RP_EINVAL, "unknown hold %d", hold);
	if (v->verdict == RP_DONE || v->verdict == RP_EXTEND)
		return rp__fail(error, RP_EINVAL,
				"only a job that fails or is released can hold "
				"its group or its queue");
	if (v->hold_ms < 1 || v->hold_ms > RP_MOST_MS)
		return rp__fail(error, RP_EINVAL,
				"a hold lasts 1 ms to %d days", RP_MOST_DAYS);
	return 0;
}

static int
check_one(rp_error *error, const rp_verdict *v)
{
	int r;

	if (v->id < 1 || v->claim_no < 1)
		return rp__fail(error, RP_EINVAL,
				"no claim has the job id %lld and the claim "
				"number %lld",
				(long long)v->id, (long long)v->claim_no);
	if (v->verdict < RP_DONE || v->verdict > RP_EXTEND)
		return rp__fail(error, RP_EINVAL, "unknown verdict %d",
				v->verdict);
	if (v->delay_ms < -1 || v->delay_ms > RP_MOST_MS)
		return rp__fail(error, RP_EINVAL,
				"the delay is not within 0..%d days",
				RP_MOST_DAYS);
	if (v->verdict == RP_EXTEND && v->delay_ms == 0)
		return rp__fail(error, RP_EINVAL,
				"a lease must be at least 1 ms");
	r = check_reports(error, v);
	return r < 0 ? r : check_hold(error, v);
}

int
rp__check_verdicts(const rp_verdict *verdicts, size_t n, rp_error *error)
{
	int r = 0;

	if (n && !verdicts)
		return rp__fail(error, RP_EINVAL, "verdicts is NULL");
	if (n && verdicts->size <= offsetof(rp_verdict, state))
		return rp__fail(error, RP_EINVAL,
				"a verdict has no size: RP_VERDICT_INIT "
				"sets it");
	for (size_t i = 0; i < n && r == 0; i++) {
		r = check_one(error, rp__verdict_at((rp_verdict *)verdicts, i));
		if (r < 0)
			error->item = (int64_t)i;
	}
	return r;
}

int
rp__is_failure(const rp_verdict *v)
{
	return v->verdict == RP_FAIL || v->verdict == RP_DEAD;
}

/* Returns the error text to store for a failed attempt: the verdict's error as
 * valid UTF-8, or "failed" if the verdict has no error. The text is written to
 * the buffer `text`, which has room for RP_MOST_ERROR + 1 bytes. */
struct rp_value
rp__failure(const rp_verdict *v, char *text)
{
	rp__clean(text, RP_MOST_ERROR + 1, v->error ? v->error : "");
	return rp__text(*text ? text : "failed");
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

/* Sort verdicts by job id, so that two clients cannot deadlock on each other's
 * rows. If several verdicts name the same claim, the first one is kept. Returns
 * how many remain. */
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

/* Set the error message for a verdict's result, and return the result. */
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
