/*
 * job_wait.c - wait until jobs may have ended on a PostgreSQL server.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 *
 * The session listens on a channel of its own, and registers for the jobs. The
 * call that ends a job, such as a verdict, then notifies the session. A
 * transaction that was already running when the session registered may end a
 * job without a notification. For this reason the caller also reads the jobs'
 * states from time to time, after pauses that grow.
 *
 * A session that cannot listen polls at growing intervals of at most a second.
 * A session cannot listen behind a pooler or on a standby. The session of a
 * caller's own connection does not listen, because the caller reads the
 * notifications there.
 */
#include "postgres.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A registration is renewed after this time, which is a third of its lifetime,
 * job_waiter_age() in thresholds.sql. */
#define RENEW_MS 30000
#define FIRST_NAP_MS 2
#define POLL_MS 1000 /* the longest pause if no notification will arrive */

/* LISTEN, then NOTIFY ourselves. Returns 1 if our notification arrives, 0 if
 * the session must poll. */
static int
listen_for_jobs(struct postgres *s, rp_error *error)
{
	int alive = 0, r;

	if (*s->job_channel)
		return 1;
	snprintf(s->job_channel, CHANNEL, "%s.job.%d", s->schema,
		 PQ(backendPID)(s->pg));
	r = rp__postgres_listen(s, s->job_channel, error);
	if (r == 0)
		rp__postgres_take_notices(s, s->job_channel, &alive);
	if (!alive)
		*s->job_channel = '\0';
	return r < 0 ? r : alive;
}

/* Run a verb with a row of parameters for each job. A row has only the job's
 * id. */
static int
run_for_jobs(struct postgres *s, enum rp_verb verb,
	     const struct rp_job_waiter *waiter, rp_error *error)
{
	struct rp_value *p = calloc(waiter->count, sizeof(*p));
	int r;

	if (!p)
		return rp__fail(error, RP_ENOMEM, "out of memory");
	for (size_t i = 0; i < waiter->count; i++)
		p[i] = rp__int(waiter->ids[i]);
	r = rp__postgres_run(s, verb, p, waiter->count, NULL, NULL, error);
	free(p);
	return r;
}

_Static_assert((int)AWAIT_PARAMS == 1 && (int)UNAWAIT_PARAMS == 1,
	       "run_for_jobs() sets one parameter in each row");

/* Register this session for notifications about the jobs. If that is
 * impossible, set waiter->polls. For example, a standby has no notifications
 * and cannot be written to. After a new registration the pauses between polls
 * begin again with the shortest one, because a transaction that is already
 * running will send no notification to this session. */
static int
register_for_jobs(struct postgres *s, struct rp_job_waiter *waiter,
		  rp_error *error)
{
	int again = waiter->registered_at && *s->job_channel;
	int r = s->pooled || s->attached ? 0 : listen_for_jobs(s, error);

	if (r > 0)
		r = run_for_jobs(s, RP_V_AWAIT, waiter, error);
	else if (r == 0)
		waiter->polls = 1;
	if (r == RP_EREADONLY) {
		waiter->polls = 1;
		r = 0;
	}
	if (r < 0)
		return r;
	waiter->registered_at = rp__monotonic_ms();
	if (!again)
		waiter->nap_ms = FIRST_NAP_MS;
	return 0;
}

void
rp__postgres_leave_jobs(void *db, struct rp_job_waiter *waiter)
{
	struct postgres *s = db;
	rp_error ignored;

	if (waiter->registered_at && !waiter->polls &&
	    PQ(status)(s->pg) == CONNECTION_OK)
		run_for_jobs(s, RP_V_UNAWAIT, waiter, &ignored);
}

/* Returns how long to sleep. Sets *ret_look to 1 if the caller must read the
 * jobs' states after the sleep. */
static int
next_nap(struct rp_job_waiter *waiter, int64_t timeout_ms, int *ret_look)
{
	int often = waiter->polls || waiter->is_open;
	int64_t most = often ? POLL_MS : RENEW_MS;
	int64_t nap = waiter->nap_ms < most ? waiter->nap_ms : most;

	waiter->nap_ms = nap * 2;
	*ret_look = timeout_ms < 0 || nap <= timeout_ms;
	return (int)(*ret_look ? nap : timeout_ms);
}

/* Read our notifications. Returns 1 if the caller must read the jobs' states: a
 * job may have ended, or the connection is broken. In the second case the read
 * reports the error. */
static int
take_news(struct postgres *s)
{
	return !PQ(consumeInput)(s->pg) ||
	       (*s->job_channel &&
		rp__postgres_take_notices(s, s->job_channel, NULL));
}

int
rp__postgres_wait_for_jobs(void *db, struct rp_job_waiter *waiter,
			   int64_t timeout_ms, int fd, rp_error *error)
{
	struct postgres *s = db;
	struct pollfd p[] = { { .fd = fd, .events = POLLIN },
			      { .fd = -1, .events = POLLIN } };
	int r = rp__postgres_connect_again(s, error), look, nap;

	if (r < 0)
		return r;
	if (!waiter->registered_at ||
	    (!waiter->polls &&
	     (!*s->job_channel ||
	      rp__monotonic_ms() - waiter->registered_at >= RENEW_MS))) {
		r = register_for_jobs(s, waiter, error);
		return r < 0 ? r : 1;
	}
	if (!s->attached && take_news(s))
		return 1;
	nap = next_nap(waiter, timeout_ms, &look);
	if (!s->attached)
		p[1].fd = PQ(socket)(s->pg);
	r = poll(p, 2, nap);
	if (r == 0)
		return look;
	return r > 0 && p[1].revents ? take_news(s) : 0;
}
