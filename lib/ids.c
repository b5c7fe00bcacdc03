/*
 * ids.c - read the last id that was given to a job, and skip ids after a backup
 * was restored.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 *
 * An id is never used twice, because the next id is stored in the database with
 * the jobs. But a backup contains an old next id. The ids that were given to
 * jobs after the backup would be given again after it is restored. Other
 * services may have stored such ids, for example as idempotency keys.
 * rp_ids_skip() prevents such a reuse.
 */
#include "internal.h"

int
rp__last_id(rp_conn *conn, int64_t *ret)
{
	return rp__read_once(conn, RP_V_LAST_ID, NULL, 1, rp__first_int, ret);
}

/* Fail, because no job has this id. If the id is larger than the last id in
 * use, the message says that it was never given to a job. On a server, only a
 * role with a certain privilege can read the last id in use. For other roles
 * the message gives no reason. */
int
rp__no_such_job(rp_conn *conn, int64_t id)
{
	int64_t last = 0;
	int r = rp__run(conn, RP_V_LAST_ID, NULL, 1, rp__first_int, &last);

	return rp__fail(&conn->error, RP_ENOENT, "no job has the id %lld%s",
			(long long)id,
			r < 0       ? ""
			: id > last ? ": this id was never given to a job"
				    : ": it is finished and not kept, or was "
				      "purged");
}

static int
skip(rp_conn *conn, int64_t *ret)
{
	int64_t last = 0;
	struct rp_value params[RESERVE_PARAMS] = { [RESERVE_SEQ] = rp__int(0) };
	int r = rp__run(conn, RP_V_LAST_ID, NULL, 1, rp__first_int, &last);

	if (r < 0)
		return r;
	if (last > INT64_MAX - RP_IDS_SKIPPED)
		return rp__fail(&conn->error, RP_EFULL,
				"not enough ids are left to skip any: %lld is "
				"already given to a job",
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
