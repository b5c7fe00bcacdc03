/*
 * ext_claim.c - claim jobs with the table-valued function readpast_claim(), for
 * example `select * from readpast_claim('mail', 10)`.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "ext.h"

static void
read_claim(const void *batch, size_t row, struct rp_value *columns)
{
	const rp_job *job = rp_batch_at(batch, row);

#define READ(field, FIELD, type) *columns++ = EXT_VALUE_##type(job, field);
	EXT_CLAIM_FIELDS(READ)
#undef READ
}

int
ext_claim_rows(struct ext_call *call, struct ext_rows *ret)
{
	const struct ext_argument *a = call->arguments;
	rp_claim_options options = RP_CLAIM_INIT;
	rp_batch *batch = NULL;
	int r = ext_worker_claims(call);

	if (r < 0)
		return r;
	options.lease_ms = a[P_LEASE].number;
	options.holding = (size_t)a[P_HOLDING].number;
	r = rp_claim(call->conn, a[P_QUEUE].text,
		     a[P_N].given ? (size_t)a[P_N].number : 1, &options,
		     &batch);
	if (r < 0)
		return r;
	*ret = (struct ext_rows){ rp_batch_count(batch), batch, ext_free_batch,
				  read_claim };
	return 0;
}
