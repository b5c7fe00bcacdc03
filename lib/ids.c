/*
 * ids.c - the numbers of jobs.
 *
 * An id is never given twice, for its next number is in the database with the
 * jobs. A backup that is put back has the number of its own time: ids given
 * since then would be given again, to other jobs, and services outside know
 * them as idempotency keys. So they are skipped.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "internal.h"

static int
take_last(void *ctx, size_t row, const struct rp_value *c)
{
	(void)row;
	*(int64_t *)ctx = c[ENDS_OUT_LAST_ID].i;
	return RP_ROW_TAKE;
}

static int
skip(rp_conn *conn, int64_t *ret)
{
	int64_t last = 0;
	struct rp_value params[RESERVE_PARAMS] = { [RESERVE_SEQ] = rp__int(0) };
	int r = rp__run(conn, RP_V_ENDS, NULL, 1, take_last, &last);

	if (r < 0)
		return r;
	if (last > INT64_MAX - RP_IDS_SKIPPED)
		return rp__fail(&conn->error, RP_EFULL,
				"there are no such numbers: the last id was "
				"%lld",
				(long long)last);
	*ret = last + RP_IDS_SKIPPED;
	params[RESERVE_ID] = rp__int(*ret);
	return rp__run(conn, RP_V_RESERVE, params, 1, NULL, NULL);
}

int
rp_ids_skip(rp_conn *conn, int64_t *ret)
{
	int64_t last = 0;
	int r = rp__enter(conn);

	if (r == 0)
		r = rp__begin(conn, RP_BEGIN_WRITE);
	if (r < 0)
		return r;
	r = rp__end(conn, skip(conn, &last));
	if (r == 0 && ret)
		*ret = last;
	return r;
}
