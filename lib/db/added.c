/*
 * added.c - read the rows that the database returns after an enqueue.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "internal.h"

int
rp__take_added(void *ctx, size_t row, const struct rp_value *c)
{
	const struct rp_enqueue *jobs = ctx;

	if (c[PUT_OUT_ID].type == RP_NULL)
		return RP_ROW_TAKE;
	jobs->added[row].id = c[PUT_OUT_ID].i;
	jobs->added[row].outcome =
		jobs->unique ? (int)c[ENQUEUE_UNIQUE_OUT_OUTCOME].i : RP_ADDED;
	return RP_ROW_TAKE;
}
