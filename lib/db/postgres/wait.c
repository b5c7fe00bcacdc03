/*
 * wait.c - sleep until there may be work on a PostgreSQL server.
 *
 * A worker that goes idle looks ever less often; then it says that it sleeps,
 * and is woken through a channel of its own. A channel may be dead in silence:
 * only who has heard itself there sleeps for as long as going_to_sleep() says.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "postgres.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LOOK_MS 1000
#define TELL_MS 5000  /* so often it is said that we sleep */
#define DEAF_MS 30000 /* so long we do not try to listen again */
#define ALIVE "alive" /* what we tell ourselves */

static int
sleep_row(void *ctx, size_t row, const struct rp_value *c)
{
	struct postgres *s = ctx;

	(void)row;
	snprintf(s->channel, sizeof(s->channel), "%.*s",
		 (int)c[SLEEP_OUT_CHANNEL].size,
		 (const char *)c[SLEEP_OUT_CHANNEL].data);
	if (c[SLEEP_OUT_FRESH].i)
		s->listening = 0;
	s->rest_ms = c[SLEEP_OUT_REST_MS].i;
	return RP_ROW_TAKE;
}

/* Nobody needs to wake us, and we look for ourselves. */
static void
get_up(struct postgres *s)
{
	s->asleep_at = 0;
	s->rest_ms = 0;
}

/* That this fails is no reason to drop what was just claimed: the next call
 * will show what is wrong. */
void
rp__postgres_awake(struct postgres *s)
{
	struct rp_value p[AWAKE_PARAMS];
	rp_error ignored;

	p[AWAKE_WORKER_ID] = rp__int(s->sleeper);
	p[AWAKE_QUEUES] = rp__text(s->queues);
	get_up(s);
	rp__postgres_run(s, RP_V_AWAKE, p, 1, NULL, NULL, &ignored);
}

/* Take what we were notified of, if that is not the caller's to take: who woke
 * us took us off its queue's list. Those of other queues still have us. */
static int
take_notices(struct postgres *s, int *ret_alive)
{
	PGnotify *notice;
	int woken = 0;

	for (; s->listening && (notice = PQ(notifies)(s->pg));
	     PQ(freemem)(notice))
		if (strcmp(notice->extra, ALIVE) != 0)
			woken = 1;
		else if (ret_alive)
			*ret_alive = 1;
	if (woken && strchr(s->queues, ','))
		rp__postgres_awake(s);
	else if (woken)
		get_up(s);
	return woken;
}

/* Listen, and hear ourselves. Who does not is not to be woken. */
static int
listen(struct postgres *s, rp_error *error)
{
	char sql[2 * CHANNEL + 40];
	int alive = 0, r;

	snprintf(sql, sizeof(sql), "listen \"%s\"; notify \"%s\", '" ALIVE "'",
		 s->channel, s->channel);
	r = rp__postgres_execute(s, sql, error);
	if (r < 0)
		return r;
	s->listening = 1;
	take_notices(s, &alive);
	s->deaf_at = 0;
	if (!alive) {
		s->deaf_at = rp__monotonic_ms();
		rp__postgres_awake(s);
	}
	return 0;
}

/* 1: the caller is to look once more before it sleeps. */
static int
lie_down(struct postgres *s, const struct rp_sleeper *who, rp_error *error)
{
	struct rp_value p[SLEEP_PARAMS];
	int r;

	if (s->asleep_at && rp__monotonic_ms() - s->asleep_at < TELL_MS)
		return 0;
	free(s->queues);
	s->queues = rp__list(who->queues, '{', '}');
	s->sleeper = who->worker_id;
	if (!s->queues)
		return rp__fail(error, RP_ENOMEM, "out of memory");
	p[SLEEP_WORKER_ID] = rp__int(s->sleeper);
	p[SLEEP_QUEUES] = rp__text(s->queues);
	r = rp__postgres_run(s, RP_V_SLEEP, p, 1, sleep_row, s, error);
	if (r < 0)
		return r;
	s->asleep_at = rp__monotonic_ms();
	s->busy_turns = 0;
	if (s->listening)
		return 0;
	r = listen(s, error);
	return r < 0 ? r : 1;
}

static int
can_listen(const struct postgres *s)
{
	return !s->pooled &&
	       (s->deaf_at == 0 || rp__monotonic_ms() - s->deaf_at >= DEAF_MS);
}

int64_t
rp__postgres_rest_ms(void *db)
{
	return ((struct postgres *)db)->rest_ms;
}

/* Look ever less often; after the first short naps, be woken. */
int
rp__postgres_wait(void *db, const struct rp_sleeper *who, int64_t timeout_ms,
		  int fd, rp_error *error)
{
	struct postgres *s = db;
	struct pollfd p[] = { { .fd = fd, .events = POLLIN },
			      { .fd = -1, .events = POLLIN } };
	int64_t nap = s->nap_ms == 0 ? 5 : s->nap_ms * 4;
	int r = rp__postgres_connect_again(s, error);

	if (nap > LOOK_MS)
		nap = LOOK_MS;
	if (r == 0 && who->worker_id && can_listen(s) &&
	    (nap > 20 || s->asleep_at)) {
		r = lie_down(s, who, error);
		p[1].fd = PQ(socket)(s->pg);
		nap = LOOK_MS;
	}
	if (r == 0 && !PQ(consumeInput)(s->pg))
		r = rp__postgres_say(error, RP_ELOST, PQ(errorMessage)(s->pg));
	if (r == 0)
		r = take_notices(s, NULL); /* that came with other answers */
	if (r != 0)
		return r;
	s->nap_ms = nap;
	if (s->rest_ms > nap)
		nap = s->rest_ms;
	if (timeout_ms >= 0 && timeout_ms < nap)
		nap = timeout_ms;
	if (poll(p, 2, (int)nap) == 0)
		return nap != timeout_ms;
	if (!p[1].revents)
		return 0;
	if (!PQ(consumeInput)(s->pg))
		return rp__postgres_say(error, RP_ELOST,
					PQ(errorMessage)(s->pg));
	return take_notices(s, NULL);
}
