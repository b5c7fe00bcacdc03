/*
 * wait.c - sleep until there may be work.
 *
 * A look reads; it takes no lock that a writer waits for. Between looks the
 * backend sleeps until somebody commits, or until the queue's own times say
 * that a job is due or a lease is over: those are swept here, so that a queue
 * served by sleepers alone still moves.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "internal.h"

#include <poll.h>

static int64_t
sooner(int64_t a, int64_t b)
{
	return a < 0 || (b >= 0 && b < a) ? b : a;
}

static int
look_row(void *ctx, size_t row, const struct rp_value *c)
{
	struct rp_look *look = ctx;
	const struct rp_value *due = &c[LOOK_OUT_DUE_IN_MS];
	const struct rp_value *expires = &c[LOOK_OUT_EXPIRES_IN_MS];
	int paused = c[LOOK_OUT_PAUSED].i != 0;

	(void)row;
	look->ready |= c[LOOK_OUT_READY].i != 0;
	look->suspects |= c[LOOK_OUT_SUSPECTS].i != 0;
	look->behind |= c[LOOK_OUT_BEHIND].i != 0;
	look->running |= !paused && c[LOOK_OUT_RUNNING].i;
	if (due->type == RP_INT && !paused)
		look->due_in_ms = sooner(look->due_in_ms, due->i);
	if (expires->type == RP_INT)
		look->expires_in_ms = sooner(look->expires_in_ms, expires->i);
	return RP_ROW_TAKE;
}

/* One look at the queues, in one transaction. */
int
rp__look(rp_conn *conn, const char *const *queues, struct rp_look *ret)
{
	struct rp_look look = RP_LOOK_NONE;
	int r = rp__begin(conn, *queues && !queues[1] ? RP_BEGIN_ONCE : 0);

	if (r < 0)
		return r;
	for (; *queues && r == 0; queues++) {
		const struct rp_value p[LOOK_PARAMS] = {
			[LOOK_QUEUE] = rp__text(*queues),
		};

		r = rp__run(conn, RP_V_LOOK, p, 1, look_row, &look);
	}
	r = rp__end(conn, r);
	if (r == 0)
		*ret = look;
	return r;
}

static int
readable(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	return fd >= 0 && poll(&p, 1, 0) > 0;
}

/* Look once, sweep if something is due: 1 there is work, 0 sleep up to *ms. */
static int
look_and_sweep(rp_conn *conn, const char *const *queues, int64_t *ms)
{
	struct rp_look look = RP_LOOK_NONE;
	int r = rp__look_and_sweep(conn, queues, 1, &look);

	if (r < 0)
		return r;
	*ms = sooner(*ms, look.due_in_ms);
	*ms = sooner(*ms, look.expires_in_ms);
	return look.ready;
}

int
rp_wait(rp_conn *conn, const char *const *queues, int64_t timeout_ms, int fd)
{
	int64_t end = rp__monotonic_ms() + timeout_ms;
	int r = rp__enter(conn);

	for (size_t i = 0; r == 0 && queues && queues[i]; i++)
		r = rp__check_name(&conn->error, "the queue's name", queues[i],
				   RP_MOST_NAME);
	if (r < 0)
		return r;
	if (!queues || !*queues || timeout_ms < -1 || timeout_ms > RP_MOST_MS ||
	    conn->in_transaction || conn->backend->joins(conn->db))
		return rp__fail(&conn->error, RP_EINVAL,
				"a wait needs queues, a time of -1..%d days, "
				"and no open transaction",
				RP_MOST_DAYS);
	for (;;) {
		int64_t left = timeout_ms < 0 ? -1 : end - rp__monotonic_ms();
		int64_t nap = left;

		r = look_and_sweep(conn, queues, &nap);
		if (r != 0)
			return r;
		if ((timeout_ms >= 0 && left <= 0) || readable(fd))
			return 0;
		r = rp__own(conn);
		if (r == 0)
			r = conn->backend->wait(
				conn->db, &(struct rp_sleeper){ 0, queues },
				nap, fd, &conn->error);
		rp__disown(conn);
		if (r < 0)
			return r;
	}
}
