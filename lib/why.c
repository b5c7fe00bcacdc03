/*
 * why.c - explain the state of one job.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "internal.h"

#include <stdlib.h>

struct found {
	rp_why why; /* must be the first member, because rp_why_free() converts
		     * the address of `why` to that of the struct */
	rp_batch *batch;
};

static int
add_why(void *ctx, size_t row, const struct rp_value *c)
{
	struct found *found = ctx;
	rp_why *why = &found->why;

	(void)row;
	why->now = c[WHY_OUT_NOW].i;
	why->paused_at = c[WHY_OUT_PAUSED_AT].i;
	why->ahead = c[WHY_OUT_AHEAD].i;
	why->suspect = c[WHY_OUT_SUSPECT].i != 0;
	why->workers = c[WHY_OUT_WORKERS].i;
	why->queue_workers = c[WHY_OUT_QUEUE_WORKERS].i;
	why->worker_id = c[WHY_OUT_WORKER_ID].i;
	why->pid = c[WHY_OUT_PID].i;
	why->silent_ms = c[WHY_OUT_SILENT_MS].i;
	why->renewed = c[WHY_OUT_RENEWED].i;
	why->run_limit = c[WHY_OUT_RUN_LIMIT].i;
	why->running = c[WHY_OUT_RUNNING].i;
	why->held_until = c[WHY_OUT_HELD_UNTIL].i;
	why->group_held_until = c[WHY_OUT_GROUP_HELD_UNTIL].i;
	why->group_limit = c[WHY_OUT_GROUP_LIMIT].i;
	why->group_busy = c[WHY_OUT_GROUP_BUSY].i;
	why->group_ahead = c[WHY_OUT_GROUP_AHEAD].i;
	why->group_waiting = c[WHY_OUT_GROUP_WAITING].i;
	why->rate_count = c[WHY_OUT_RATE_COUNT].i;
	why->rate_ms = c[WHY_OUT_RATE_MS].i;
	why->rate_in_ms = c[WHY_OUT_RATE_IN_MS].i;
	if (rp__batch_text(found->batch, &why->host, &c[WHY_OUT_HOST]) < 0 ||
	    rp__batch_text(found->batch, &why->pause_reason,
			   &c[WHY_OUT_PAUSE_REASON]) < 0 ||
	    rp__batch_text(found->batch, &why->group_next,
			   &c[WHY_OUT_GROUP_NEXT]) < 0)
		return RP_ENOMEM;
	return RP_ROW_TAKE;
}

/* Read the job, and the facts that explain its state. The archive is read last,
 * because the job may finish between two queries. */
static int
look(rp_conn *conn, int64_t id, struct found *found)
{
	const struct rp_value p[ONE_JOB_MOST_PARAMS] = {
		[ONE_JOB_ID] = rp__int(id),
		[WHY_MOST] = rp__int(RP_MOST_AHEAD),
	};
	int r;

	r = rp__run(conn, RP_V_NOW, NULL, 1, rp__first_int, &found->why.now);
	if (r == 0)
		r = rp__run(conn, RP_V_GET, p, 1, rp__batch_add_row,
			    found->batch);
	if (r == 0 && rp_batch_count(found->batch))
		r = rp__run(conn, RP_V_WHY, p, 1, add_why, found);
	else if (r == 0)
		r = rp__run(conn, RP_V_GET_KEPT, p, 1, rp__batch_add_row,
			    found->batch);
	if (r == 0 && rp_batch_count(found->batch) == 0)
		return rp__no_such_job(conn, id);
	found->why.job = rp_batch_at(found->batch, 0);
	return r;
}

int
rp_why_get(rp_conn *conn, int64_t id, rp_why **ret)
{
	struct found *found;
	int r = rp__enter(conn);

	if (r < 0)
		return r;
	if (!ret)
		return rp__fail(&conn->error, RP_EINVAL, "ret is NULL");
	found = calloc(1, sizeof(*found));
	if (!found || rp__batch_new(&found->batch) < 0) {
		free(found);
		return rp__fail(&conn->error, RP_ENOMEM, "out of memory");
	}
	r = rp__begin(conn, 0);
	if (r == 0)
		r = rp__end(conn, look(conn, id, found));
	if (r < 0)
		rp_why_free(&found->why);
	else
		*ret = &found->why;
	return r;
}

void
rp_why_free(rp_why *why)
{
	struct found *found = (struct found *)(void *)why;

	if (!found)
		return;
	rp_batch_free(found->batch);
	free(found);
}
