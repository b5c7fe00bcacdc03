/*
 * wait.c - wait until there may be work.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 *
 * The call probes the queues, that is, it reads whether they have work. No
 * writer has to wait for a probe. Between probes the backend waits for a
 * notification, for commits of other clients, or for the time at which a job is
 * due or a lease ends. Due jobs and ended leases are swept here. So jobs become
 * ready even if all clients of a queue only wait.
 */
#include "internal.h"

#include <poll.h>

/* Probe at least once in this time, even if the backend reports nothing. */
#define PROBE_MS 1000

/* Probe, sweep, and schedule the next probe. Other clients may commit very
 * often to queues that the caller does not serve, and a probe of a thousand
 * queues takes a millisecond. So after a probe that found nothing, their
 * commits cause no probe for the time that rp__quiet_us() returns. A commit of
 * another client causes an extra probe. This extra probe must not postpone the
 * next scheduled probe, because only scheduled probes sweep all queues, and
 * clients that commit all the time would prevent these sweeps. */
int
rp__waiter_probe(rp_conn *conn, struct rp_waiter *waiter, int what,
		 int unless_ready, struct rp_probe *ret)
{
	int64_t began = rp__monotonic_us();
	int64_t ms = PROBE_MS, took;
	int r = rp__probe_and_sweep(conn, waiter->queues, what, unless_ready,
				    ret);

	if (r < 0)
		return r;
	took = rp__monotonic_us() - began;
	waiter->quiet_until = 0;
	if (!ret->ready)
		waiter->quiet_until = began + took + rp__quiet_us(took);
	ms = rp__sooner(ms, ret->due_in_ms);
	ms = rp__sooner(ms, ret->expires_in_ms);
	if (what & RP_WAIT_SWEEP)
		waiter->probed_at = began / 1000;
	if (what & RP_WAIT_SWEEP || began / 1000 + ms < waiter->probe_at)
		waiter->probe_at = began / 1000 + ms;
	return 0;
}

static int
is_readable(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	return fd >= 0 && poll(&p, 1, 0) > 0;
}

static int
check_wait(rp_conn *conn, const char *const *queues, int64_t timeout_ms)
{
	int r = rp__enter(conn);

	for (size_t i = 0; r == 0 && queues && queues[i]; i++)
		r = rp__check_queue(&conn->error, queues[i]);
	if (r < 0)
		return r;
	if (!queues || !*queues || timeout_ms < -1 || timeout_ms > RP_MOST_MS ||
	    rp__stays_open(conn))
		return rp__fail(
			&conn->error, RP_EINVAL,
			"a wait needs queues, a timeout of 0..%d days or -1, "
			"and no open transaction",
			RP_MOST_DAYS);
	return 0;
}

int
rp__wait(rp_conn *conn, struct rp_waiter *waiter, int what, int64_t timeout_ms,
	 int fd)
{
	int r = check_wait(conn, waiter->queues, timeout_ms);
	int64_t end = r < 0 ? 0 : rp__monotonic_ms() + timeout_ms;

	while (r == 0) {
		struct rp_probe found = { 0 };
		int64_t left = timeout_ms < 0 ? -1 : end - rp__monotonic_ms();

		if (what)
			r = rp__waiter_probe(conn, waiter, what, 1, &found);
		if (r < 0 || found.ready)
			return r < 0 ? r : 1;
		if ((timeout_ms >= 0 && left <= 0) || is_readable(fd))
			return 0;
		r = rp__own(conn);
		if (r < 0)
			return r;
		what = conn->backend->wait(conn->db, waiter, left, fd,
					   &conn->error);
		rp__disown(conn);
		if (what < 0 || what & RP_WAIT_WORK)
			return what < 0 ? what : 1;
	}
	return r;
}

int
rp__wait_end(rp_conn *conn, const char *const *queues, int pass_on)
{
	struct rp_slice slice = { 0 };
	int r;

	if (!conn->backend->leave)
		return 0;
	r = rp__own(conn);
	if (r < 0)
		return r;
	pass_on |= conn->backend->leave(conn->db, queues);
	rp__disown(conn);
	/* Where clients can be notified, the verb sweep_rest does so. */
	r = pass_on ? rp__sweep_rest(conn, &slice, 0) : 0;
	return r < 0 ? r : pass_on;
}

int
rp_wait(rp_conn *conn, const char *const *queues, int64_t timeout_ms, int fd)
{
	struct rp_waiter waiter = { .queues = queues };

	return rp__wait(conn, &waiter, RP_WAIT_PROBE | RP_WAIT_SWEEP,
			timeout_ms, fd);
}
