/*
 * queue_drop.c - delete a queue with its jobs.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "internal.h"

struct dropped {
	int64_t found, busy;
};

static int
dropped_row(void *ctx, size_t row, const struct rp_value *c)
{
	struct dropped *d = ctx;

	(void)row;
	d->found = 1;
	d->busy = c[QUEUE_DROP_OUT_BUSY].i;
	return RP_ROW_TAKE;
}

int
rp__queue_drop(rp_conn *conn, const char *name, int delete_jobs)
{
	const struct rp_value params[QUEUE_DROP_PARAMS] = {
		[QUEUE_DROP_QUEUE] = rp__text(name),
	};
	struct dropped dropped = { 0, 0 };
	int r = rp__enter(conn);

	if (r < 0)
		return r;
	r = rp__check_queue(&conn->error, name);
	if (r < 0)
		return r;
	r = rp__run_once(conn, RP_V_QUEUE_DROP, params, dropped_row, &dropped);
	if (r < 0)
		return r;
	/* The queue is already removed. If this call fails, a sweep deletes the
	 * jobs. If there is no such queue, an earlier drop may have been killed
	 * before it had deleted all jobs. */
	if (delete_jobs && !dropped.busy)
		rp__sweep_dropped(conn);
	if (!dropped.found)
		return rp__no_such_queue(conn, name);
	if (dropped.busy)
		return rp__fail(&conn->error, RP_ETAKEN,
				"queue %s is in use: wait for its running "
				"jobs or cancel them, and let open "
				"transactions with its jobs finish",
				name);
	return 0;
}

int
rp_queue_drop(rp_conn *conn, const char *name)
{
	return rp__queue_drop(conn, name, 1);
}
