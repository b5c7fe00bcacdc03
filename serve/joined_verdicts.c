/*
 * joined_verdicts.c - give the verdicts of several requests in one call.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "joined.h"

#include <stdlib.h>
#include <string.h>

#include "internal.h"

int
has_verdicts(const struct writes *writes)
{
	return writes->verdicts_count && !writes->is_settled && !writes->code;
}

/* ---- verdicts of several requests on one job ---- */

struct named {
	int64_t id;     /* a job that a verdict names */
	size_t request; /* the index of the verdict's request */
};

static int
by_id(const void *a, const void *b)
{
	const struct named *x = a, *y = b;

	if (x->id != y->id)
		return x->id < y->id ? -1 : 1;
	return (x->request > y->request) - (x->request < y->request);
}

int
verdicts_share_jobs(const struct joined *j)
{
	struct named *all;
	size_t n = 0;
	int shares = 0;

	for (size_t i = 0; i < j->n; i++)
		n += has_verdicts(j->asked[i]->writes)
			     ? j->asked[i]->writes->verdicts_count
			     : 0;
	if (j->n == 1 || n < 2)
		return 0;
	all = calloc(n, sizeof(*all));
	if (!all)
		return 1; /* it is always safe to settle each request alone */
	n = 0;
	for (size_t i = 0; i < j->n; i++) {
		const struct writes *writes = j->asked[i]->writes;

		for (size_t k = 0;
		     has_verdicts(writes) && k < writes->verdicts_count; k++)
			all[n++] = (struct named){ writes->verdicts[k].id, i };
	}
	qsort(all, n, sizeof(*all), by_id);
	for (size_t i = 1; i < n && !shares; i++)
		shares = all[i].id == all[i - 1].id &&
			 all[i].request != all[i - 1].request;
	free(all);
	return shares;
}

/* ---- settling ---- */

#define NOT_KNOWN 2 /* is_hidden: the job's queue must still be found */

static void
hide_or_show(void *ctx, size_t i, const char *queue)
{
	struct request *request = ctx;

	request->writes->is_hidden[i] = !may(request, MAY_WORK, queue);
}

/* Decide about a verdict on a job that is not live. The job may be kept. */
static int
hide_finished(struct joined *j, struct request *request, size_t i)
{
	struct writes *writes = request->writes;
	rp_batch *batch;
	int r = rp_job_get(j->conn, writes->verdicts[i].id, &batch);

	writes->is_hidden[i] = 1;
	if (r < 0)
		return r == RP_ENOENT ? 0 : r;
	hide_or_show(request, i, rp_batch_at(batch, 0)->queue);
	rp_batch_free(batch);
	return 0;
}

/* The request's token may allow work on some queues only. Hide the verdicts on
 * jobs of all other queues. A hidden verdict gets the result RP_ENOENT, as if
 * there were no such job. */
static int
hide_verdicts(struct joined *j, struct request *request)
{
	struct writes *writes = request->writes;
	size_t n = writes->verdicts_count;
	int r;

	if (!request->token || writes->is_hidden ||
	    may(request, MAY_WORK, NULL))
		return 0;
	writes->is_hidden = malloc(n);
	if (!writes->is_hidden)
		return RP_ENOMEM;
	memset(writes->is_hidden, NOT_KNOWN, n);
	r = rp__live_queues(j->conn, writes->verdicts, n, hide_or_show,
			    request);
	for (size_t i = 0; i < n && r == 0; i++) {
		if (writes->is_hidden[i] == NOT_KNOWN)
			r = hide_finished(j, request, i);
		if (writes->is_hidden[i])
			writes->verdicts[i].result = RP_ENOENT;
	}
	if (r < 0) {
		free(writes->is_hidden);
		writes->is_hidden = NULL;
	}
	return r;
}

/* Copy the verdicts of a request to the array `all`, beginning at the index
 * `at`. If `back` is 1, copy the verdicts with their results from the array to
 * the request instead. Returns the index after the last of these verdicts. */
static size_t
copy_verdicts(struct writes *writes, rp_verdict *all, size_t at, int back)
{
	for (size_t i = 0; i < writes->verdicts_count; i++) {
		if (writes->is_hidden && writes->is_hidden[i])
			continue;
		if (back)
			writes->verdicts[i] = all[at];
		else
			all[at] = writes->verdicts[i];
		at++;
	}
	return at;
}

/* Settle in one call the verdicts of the requests with the indices `from` to
 * `to` - 1. If `claims` is 1, the call also makes the claims of all requests,
 * unless there is no verdict. */
static int
settle_some(struct joined *j, size_t from, size_t to, rp_verdict *all,
	    int claims)
{
	size_t n = 0;
	int r;

	for (size_t i = from; i < to; i++)
		if (has_verdicts(j->asked[i]->writes))
			n = copy_verdicts(j->asked[i]->writes, all, n, 0);
	if (n == 0)
		return 0;
	r = claims ? claim_joined(j, 0, all, n) : rp_settle(j->conn, all, n);
	n = 0;
	for (size_t i = from; i < to && r >= 0; i++)
		if (has_verdicts(j->asked[i]->writes))
			n = copy_verdicts(j->asked[i]->writes, all, n, 1);
	return r;
}

static int
settle_each(struct joined *j, rp_verdict *all)
{
	int r = 0;

	for (size_t i = 0; i < j->n && r == 0; i++) {
		r = settle_some(j, i, i + 1, all, 0);
		r = r < 0 ? note_failure(j, j->asked[i]->writes, r) : 0;
	}
	return r;
}

int
settle_all(struct joined *j)
{
	/* If one call is enough, and there is a claim, each request has one. */
	int claims = j->is_single && j->asked[0]->writes->queues;
	rp_verdict *all;
	size_t most = 0;
	int r = 0;

	for (size_t i = 0; i < j->n && r == 0; i++) {
		if (!has_verdicts(j->asked[i]->writes))
			continue;
		most += j->asked[i]->writes->verdicts_count;
		r = hide_verdicts(j, j->asked[i]);
	}
	if (most == 0 || r < 0)
		return r;
	all = calloc(most, sizeof(*all));
	if (!all)
		return RP_ENOMEM;
	/* One call would accept only the first of several verdicts on a claim.
	 * But if one request extends the lease, and the next one reports that
	 * the job is done, both are right. */
	if (!j->shares_jobs)
		r = settle_some(j, 0, j->n, all, claims);
	if (j->shares_jobs || has_to_split(j, r))
		r = settle_each(j, all);
	free(all);
	return r < 0 ? r : 0;
}
