/*
 * wait.c - wait until there may be work on a PostgreSQL server.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 *
 * A worker that finds no work polls at growing intervals. Then it registers as
 * a waiter. From then on it is notified on a channel of its own. A notification
 * may get lost without an error. So a waiter relies on the channel only if its
 * own notification has arrived there. Even then it probes (reads whether there
 * is work) after rest_ms, a time that the registration returns.
 *
 * A client that is not a worker can wait in the same way, for example an HTTP
 * server whose clients claim. Its id as a waiter is minus the process id of its
 * session, so it is not the id of a worker.
 */
#include "postgres.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define POLL_MS 1000
#define FIRST_NAP_MS 5
#define LAST_NAP_MS 20   /* after pauses of this length, a worker registers */
#define REGISTER_MS 5000 /* a waiter registers again after this time */
/* It registers again after this time if one of its queues did not exist. No
 * enqueue into a new queue notifies it before. */
#define REGISTER_MISSING_MS 1000
/* If our own notification does not arrive, the worker polls for this time
 * before it tries LISTEN again. */
#define DEAF_MS 30000

static int
registered_row(void *ctx, size_t row, const struct rp_value *c)
{
	struct postgres *s = ctx;

	(void)row;
	snprintf(s->channel, sizeof(s->channel), "%.*s",
		 (int)c[REGISTER_WAITER_OUT_CHANNEL].size,
		 (const char *)c[REGISTER_WAITER_OUT_CHANNEL].data);
	if (c[REGISTER_WAITER_OUT_FRESH].i)
		s->listening = 0;
	s->rest_ms = c[REGISTER_WAITER_OUT_REST_MS].i;
	s->is_queue_missing = c[REGISTER_WAITER_OUT_MISSING].i != 0;
	return RP_ROW_TAKE;
}

/* Record that this waiter is no longer registered in the database. Either the
 * client that notified us has deleted the registration, or we delete it. From
 * now on we poll. */
static void
set_unregistered(struct postgres *s)
{
	s->registered_at = 0;
	s->rest_ms = 0;
}

/* Delete our registration for a list of queues. Errors are ignored, because
 * they must not discard a claim that has just succeeded. The next call will
 * report them. */
static void
unregister(struct postgres *s, const char *queues)
{
	struct rp_value p[UNREGISTER_WAITER_PARAMS];
	rp_error ignored;

	p[UNREGISTER_WAITER_WORKER_ID] = rp__int(s->waiter);
	p[UNREGISTER_WAITER_QUEUES] = rp__text(queues);
	rp__postgres_run(s, RP_V_UNREGISTER_WAITER, p, 1, NULL, NULL, &ignored);
}

void
rp__postgres_unregister(struct postgres *s)
{
	set_unregistered(s);
	unregister(s, s->queues);
}

/* Read our notifications. Read none if we do not listen, because notifications
 * on an attached connection belong to the caller. A late notification about the
 * end of a job, on another channel, is discarded. Returns 1 if a job became
 * ready. The client that notified us has deleted our registration for the job's
 * queue. A worker is busy with the job from now on, so its registrations for
 * the other queues are deleted here. Sets *ret_alive to 1 if the notification
 * that we sent to ourselves arrived. */
static int
take_notices(struct postgres *s, int *ret_alive)
{
	int notified = s->listening &&
		       rp__postgres_take_notices(s, s->channel, ret_alive);

	if (notified && s->waiter > 0 && strchr(s->queues, ','))
		rp__postgres_unregister(s);
	else if (notified)
		set_unregistered(s);
	return notified;
}

int
rp__postgres_leave(void *db, const char *const *queues)
{
	struct postgres *s = db;
	char *list;

	if (!s->waiter || PQ(status)(s->pg) != CONNECTION_OK)
		return 0;
	list = rp__list(queues, '{', '}');
	if (list)
		unregister(s, list);
	free(list);
	/* The server has sent earlier notifications before its reply. */
	return take_notices(s, NULL);
}

/* LISTEN, then NOTIFY ourselves. If our notification does not arrive, fall
 * back to polling. */
static int
listen(struct postgres *s, rp_error *error)
{
	int alive = 0, r = rp__postgres_listen(s, s->channel, error);

	if (r < 0)
		return r;
	s->listening = 1;
	take_notices(s, &alive);
	s->deaf_at = 0;
	if (!alive) {
		s->deaf_at = rp__monotonic_ms();
		rp__postgres_unregister(s);
	}
	return 0;
}

/* Write this waiter's registration to the database. The fields of `s` about the
 * registration describe the old one until this has succeeded. */
static int
run_register_waiter(struct postgres *s, const struct rp_waiter *waiter,
		    rp_error *error)
{
	struct rp_value p[REGISTER_WAITER_PARAMS];
	int64_t id =
		waiter->is_session ? -PQ(backendPID)(s->pg) : waiter->worker_id;
	char *queues = rp__list(waiter->queues, '{', '}');
	int r;

	if (!queues)
		return rp__fail(error, RP_ENOMEM, "out of memory");
	p[REGISTER_WAITER_WORKER_ID] = rp__int(id);
	p[REGISTER_WAITER_QUEUES] = rp__text(queues);
	r = rp__postgres_run(s, RP_V_REGISTER_WAITER, p, 1, registered_row, s,
			     error);
	if (r < 0) {
		free(queues);
		return r;
	}
	free(s->queues);
	s->queues = queues;
	s->waiter = id;
	s->version = waiter->version;
	s->registered_at = rp__monotonic_ms();
	s->busy_turns = 0;
	return 0;
}

/* Register as a waiter, or register again if the registration is old. Returns 1
 * if we were not listening before, or not for these queues. The caller must
 * then probe once more, because a job may have become ready just before that.
 */
static int
register_waiter(struct postgres *s, const struct rp_waiter *waiter,
		rp_error *error)
{
	int is_other = s->version != waiter->version, r;
	int64_t most_ms =
		s->is_queue_missing ? REGISTER_MISSING_MS : REGISTER_MS;

	if (s->registered_at && !is_other &&
	    rp__monotonic_ms() - s->registered_at < most_ms)
		return 0;
	r = run_register_waiter(s, waiter, error);
	if (r < 0)
		return r;
	if (s->listening)
		return is_other;
	if (waiter->is_session)
		s->nap_ms = FIRST_NAP_MS;
	r = listen(s, error);
	return r < 0 ? r : 1;
}

static int
can_listen(const struct postgres *s)
{
	return !s->pooled &&
	       (s->deaf_at == 0 || rp__monotonic_ms() - s->deaf_at >= DEAF_MS);
}

/* Register as a waiter when the pauses between polls have grown to
 * LAST_NAP_MS, or at once if the caller is not a worker. Register again when
 * the registration is old. Then read pending notifications. Returns a flag
 * RP_WAIT_... if the caller must do something without waiting, 0 if it must
 * wait, or an error. Sets *ret_notified to 1 if further notifications will
 * arrive on the socket. */
static int
prepare(struct postgres *s, const struct rp_waiter *waiter, int *ret_notified,
	rp_error *error)
{
	int r = rp__postgres_connect_again(s, error);
	int is_due = waiter->is_session ||
		     (waiter->worker_id &&
		      (s->nap_ms >= LAST_NAP_MS || s->registered_at));
	int listens = is_due && can_listen(s);

	if (r == 0 && listens)
		r = register_waiter(s, waiter, error);
	if (r != 0)
		return r < 0 ? r : RP_WAIT_PROBE;
	if (!PQ(consumeInput)(s->pg))
		return rp__postgres_say(error, RP_ELOST,
					PQ(errorMessage)(s->pg));
	*ret_notified = listens;
	return take_notices(s, NULL) ? RP_WAIT_WORK : 0;
}

/* Returns how long to wait in milliseconds. Sets *ret_what to flags
 * RP_WAIT_..., which say what the caller must do after the wait. A worker that
 * gets notified need not poll, unless waiter->polls is set. Other workers poll
 * at growing intervals. So does a session that has just registered, because an
 * enqueue that began before the registration notifies nobody. */
static int64_t
next_nap(struct postgres *s, const struct rp_waiter *waiter, int notified,
	 int *ret_what)
{
	int64_t at = s->rest_ms && !waiter->polls
			     ? waiter->probed_at + s->rest_ms
			     : waiter->probe_at;
	int64_t ms = at - rp__monotonic_ms();

	s->nap_ms = s->nap_ms == 0 ? FIRST_NAP_MS : s->nap_ms * 4;
	if (s->nap_ms > POLL_MS)
		s->nap_ms = POLL_MS;
	*ret_what = RP_WAIT_PROBE;
	if ((!notified || waiter->is_session) && s->nap_ms < ms)
		return s->nap_ms;
	*ret_what |= RP_WAIT_SWEEP;
	return ms > 0 ? ms : 0;
}

int
rp__postgres_wait(void *db, const struct rp_waiter *waiter, int64_t timeout_ms,
		  int fd, rp_error *error)
{
	struct postgres *s = db;
	struct pollfd p[] = { { .fd = fd, .events = POLLIN },
			      { .fd = -1, .events = POLLIN } };
	int notified = 0, what;
	int64_t nap;
	int r = prepare(s, waiter, &notified, error);

	if (r != 0)
		return r;
	nap = next_nap(s, waiter, notified, &what);
	if (timeout_ms >= 0 && timeout_ms < nap) {
		nap = timeout_ms;
		what = 0;
	}
	if (notified)
		p[1].fd = PQ(socket)(s->pg);
	if (poll(p, 2, (int)nap) == 0)
		return what;
	if (!p[1].revents)
		return 0;
	if (!PQ(consumeInput)(s->pg))
		return rp__postgres_say(error, RP_ELOST,
					PQ(errorMessage)(s->pg));
	return take_notices(s, NULL) ? RP_WAIT_WORK : 0;
}
