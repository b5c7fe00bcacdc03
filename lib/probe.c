/*
 * probe.c - find out whether queues have work now, and when they will have
 * work.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 *
 * A probe only reads. No writer has to wait for a probe.
 */
#include "internal.h"

static int
add_queue(void *ctx, size_t row, const struct rp_value *c)
{
	struct rp_probe *found = ctx;
	const struct rp_value *due = &c[PROBE_OUT_DUE_IN_MS];
	const struct rp_value *expires = &c[PROBE_OUT_EXPIRES_IN_MS];
	int paused = c[PROBE_OUT_PAUSED].i != 0;

	(void)row;
	found->ready |= c[PROBE_OUT_READY].i != 0;
	found->suspects |= c[PROBE_OUT_SUSPECTS].i != 0;
	found->behind |= c[PROBE_OUT_BEHIND].i != 0;
	found->running |= !paused && c[PROBE_OUT_RUNNING].i;
	if (due->type == RP_INT && !paused)
		found->due_in_ms = rp__sooner(found->due_in_ms, due->i);
	if (expires->type == RP_INT)
		found->expires_in_ms =
			rp__sooner(found->expires_in_ms, expires->i);
	return RP_ROW_TAKE;
}

/* Probe all queues in one transaction. */
int
rp__probe(rp_conn *conn, const char *const *queues, struct rp_probe *ret)
{
	struct rp_probe found = { .due_in_ms = -1, .expires_in_ms = -1 };
	int r = rp__begin(conn, *queues && !queues[1] ? RP_BEGIN_ONCE : 0);

	if (r < 0)
		return r;
	for (; *queues && r == 0; queues++) {
		const struct rp_value p[PROBE_PARAMS] = {
			[PROBE_QUEUE] = rp__text(*queues),
		};

		r = rp__run(conn, RP_V_PROBE, p, 1, add_queue, &found);
	}
	r = rp__end(conn, r);
	if (r == 0)
		*ret = found;
	return r;
}
