/*
 * ext_settle.c - the SQL functions that give verdicts on claims. If a verdict
 * is refused, for example because the lease was lost, the statement fails. So
 * the host notices this, and can roll back its transaction.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include <stdlib.h>
#include <string.h>

#include "ext.h"

/* Add the verdict to the counts in the worker's row. */
static void
count(struct ext_call *call, const rp_verdict *v)
{
	rp_worker_counts *counts = &call->ext->worker.counts;

	if (v->result < 0)
		return;
	counts->done += v->verdict == RP_DONE;
	counts->released += v->verdict == RP_RELEASE;
	counts->dead += v->state == RP_STATE_DEAD;
	counts->failed += v->verdict == RP_FAIL && v->state != RP_STATE_DEAD;
}

static int
settle(struct ext_call *call, rp_verdict v, struct rp_value *ret)
{
	const struct ext_argument *a = call->arguments;
	int r;

	v.id = a[P_ID].number;
	v.claim_no = a[P_CLAIM_NO].number;
	r = rp_settle(call->conn, &v, 1);
	if (r < 0)
		return r;
	if (r == 0)
		return rp__refused(&call->error, &v);
	count(call, &v);
	*ret = rp__text(rp_state_text(v.state));
	return 0;
}

static int64_t
or_default(const struct ext_argument *a)
{
	return a->given ? a->number : -1;
}

int
ext_do_complete(struct ext_call *call, struct rp_value *ret)
{
	const struct ext_argument *result = &call->arguments[P_RESULT];
	rp_verdict v = RP_VERDICT_INIT;

	if (result->given) {
		v.result_bytes = result->text;
		v.result_size = result->size;
	}
	return settle(call, v, ret);
}

int
ext_do_fail(struct ext_call *call, struct rp_value *ret)
{
	const struct ext_argument *a = call->arguments;
	rp_verdict v = RP_VERDICT_INIT;
	int r;

	v.verdict = a[P_FOR_GOOD].number ? RP_DEAD : RP_FAIL;
	v.error = a[P_ERROR].given ? a[P_ERROR].text : "failed";
	v.delay_ms = or_default(&a[P_DELAY]);
	r = ext_take_hold(call, &v);
	return r < 0 ? r : settle(call, v, ret);
}

int
ext_do_release(struct ext_call *call, struct rp_value *ret)
{
	rp_verdict v = RP_VERDICT_INIT;
	int r;

	v.verdict = RP_RELEASE;
	v.delay_ms = or_default(&call->arguments[P_DELAY]);
	r = ext_take_hold(call, &v);
	return r < 0 ? r : settle(call, v, ret);
}

int
ext_do_extend(struct ext_call *call, struct rp_value *ret)
{
	rp_verdict v = RP_VERDICT_INIT;

	v.verdict = RP_EXTEND;
	v.delay_ms = or_default(&call->arguments[P_LEASE]);
	if (call->arguments[P_PROGRESS].given)
		v.progress = call->arguments[P_PROGRESS].text;
	return settle(call, v, ret);
}

/* ---- many verdicts in one commit ---- */

/* Verdicts to give. `texts` owns copies of results whose own text becomes
 * invalid before the call ends. */
struct verdicts {
	size_t count, claim_nos, results;
	rp_verdict *list;
	rp_batch *texts;
};

static int
add_id(void *ctx, struct ext_call *call, size_t i,
       const struct ext_element *element)
{
	struct verdicts *v = ctx;
	rp_verdict *more;

	if (!element->is_number)
		return rp__fail(&call->error, RP_EINVAL,
				"ids: element %zu is not a number", i + 1);
	if (!(i & (i + 1))) {
		more = realloc(v->list, (2 * i + 2) * sizeof(*more));
		if (!more)
			return ext_no_memory(call);
		v->list = more;
	}
	v->list[i] = (rp_verdict)RP_VERDICT_INIT;
	v->list[i].id = element->number;
	v->count = i + 1;
	return 0;
}

static int
add_claim_no(void *ctx, struct ext_call *call, size_t i,
	     const struct ext_element *element)
{
	struct verdicts *v = ctx;

	v->claim_nos = i + 1;
	if (!element->is_number)
		return rp__fail(&call->error, RP_EINVAL,
				"claim_nos: element %zu is not a number",
				i + 1);
	if (i < v->count)
		v->list[i].claim_no = element->number;
	return 0;
}

static int
add_result(void *ctx, struct ext_call *call, size_t i,
	   const struct ext_element *element)
{
	struct verdicts *v = ctx;
	char *copy = NULL;

	v->results = i + 1;
	if (i >= v->count || element->null)
		return 0;
	if (!element->stays) {
		copy = rp__batch_alloc(v->texts, element->size + 1);
		if (!copy)
			return ext_no_memory(call);
		memcpy(copy, element->text, element->size);
	}
	v->list[i].result_bytes = copy ? copy : element->text;
	v->list[i].result_size = element->size;
	return 0;
}

static int
add_results(struct ext_call *call, struct verdicts *v)
{
	int r;

	if (!call->arguments[P_RESULTS].given)
		return 0;
	if (rp__batch_new(&v->texts) < 0)
		return ext_no_memory(call);
	r = ext_each(call, P_RESULTS, add_result, v);
	if (r == 0 && v->count != v->results)
		r = rp__fail(&call->error, RP_EINVAL,
			     "there are %zu ids and %zu results", v->count,
			     v->results);
	return r;
}

static void
read_verdict(const void *data, size_t row, struct rp_value *columns)
{
	const rp_verdict *v = (const rp_verdict *)data + row;

	columns[0] = rp__int(v->id);
	columns[1] = rp__int(v->result == 0);
}

int
ext_complete_rows(struct ext_call *call, struct ext_rows *ret)
{
	struct verdicts v = { 0, 0, 0, NULL, NULL };
	int r = ext_each(call, P_IDS, add_id, &v);

	if (r == 0)
		r = ext_each(call, P_CLAIM_NOS, add_claim_no, &v);
	if (r == 0 && v.count != v.claim_nos)
		r = rp__fail(&call->error, RP_EINVAL,
			     "there are %zu ids and %zu claim_nos", v.count,
			     v.claim_nos);
	if (r == 0)
		r = add_results(call, &v);
	if (r == 0)
		r = rp_settle(call->conn, v.list, v.count);
	rp_batch_free(v.texts);
	for (size_t i = 0; i < v.count && r >= 0; i++)
		count(call, &v.list[i]);
	if (r < 0)
		free(v.list);
	else
		*ret = (struct ext_rows){ v.count, v.list, free, read_verdict };
	return r < 0 ? r : 0;
}
