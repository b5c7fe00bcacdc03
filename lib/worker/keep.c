/*
 * keep.c - what keeps a worker's jobs its own: renewed leases, a sign of
 * life, and a look at what is due.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "worker.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LOOK_MS 1000
/* Looks take a sixteenth of the time at most, unless they are very slow. */
#define REST_TIMES 15
#define MOST_REST_US 50000
#define BUSY_BEAT_MS 5000
#define IDLE_BEAT_MS 10000

/* ---- renewing ---- */

/* Tasks that are held, and whose lease is a third over at `now`. */
static size_t
collect_due(rp_worker *w, int64_t now, rp_task **ret, size_t room)
{
	size_t n = 0;

	for (size_t i = 0; i < w->threads_count; i++) {
		rp_task *task = w->running[i];

		if (task && n < room && now >= rp__task_renew_at(task))
			ret[n++] = task;
	}
	for (rp_task *task = w->todo.first; task && n < room; task = task->next)
		if (now >= rp__task_renew_at(task))
			ret[n++] = task;
	return n;
}

static void
renewed(rp_worker *w, rp_task *task, const rp_verdict *v, int64_t asked)
{
	rp__worker_observe_verdict(w, RP_EVENT_SETTLED, task, v, asked);
	if (v->result == 0) {
		task->leased_at = asked / 1000;
		task->blocked_until = 0;
		return;
	}
	if (v->result == RP_EBUSY) {
		task->blocked_until = rp__monotonic_ms() + BLOCKED_MS;
		return;
	}
	if (atomic_load(&task->done)) /* by its own transaction, just now */
		return;
	atomic_store(&task->fate, v->result == RP_ECANCELLED ? RP_TASK_CANCELLED
							     : RP_TASK_LOST);
	rp__observe(w, (rp_event){ .what = RP_EVENT_LOST,
				   .job = task->job,
				   .result = v->result });
}

/*
 * Renew the leases that are a third over, all in one commit. The threads stop
 * starting and finishing tasks for as long as the commit takes; only so is no
 * task settled and renewed at once.
 */
int
rp__worker_renew(rp_worker *w)
{
	int64_t now = rp__monotonic_ms();
	size_t room, n;
	rp_task **tasks;
	rp_verdict *verdicts;
	int blocked = 0, r = 0; /* some were, when they were tried last */

	pthread_mutex_lock(&w->lock);
	room = w->todo.count + w->running_count;
	tasks = calloc(room + 1, sizeof(*tasks));
	verdicts = calloc(room + 1, sizeof(*verdicts));
	n = tasks && verdicts ? collect_due(w, now, tasks, room) : 0;
	for (size_t i = 0; i < n; i++) {
		verdicts[i] = (rp_verdict)RP_VERDICT_INIT;
		verdicts[i].id = tasks[i]->job->id;
		verdicts[i].claim_no = tasks[i]->job->claim_no;
		verdicts[i].verdict = RP_EXTEND;
		verdicts[i].delay_ms = tasks[i]->lease_ms;
		blocked |= tasks[i]->blocked_until != 0;
		rp__worker_observe_verdict(w, RP_EVENT_SETTLE, tasks[i],
					   &verdicts[i], 0);
	}
	if (n && !blocked)
		r = rp_settle(w->conn, verdicts, n);
	if (blocked || (r == RP_EBUSY && w->conn->backend->limit_waits))
		r = rp__settle_unblocked(w->conn, verdicts, n);
	for (size_t i = 0; i < n && r >= 0; i++)
		renewed(w, tasks[i], &verdicts[i], now * 1000);
	pthread_mutex_unlock(&w->lock);
	free(tasks);
	free(verdicts);
	return r < 0 ? rp__worker_trouble(w, r) : 0;
}

/* ---- after a lost connection ---- */

/* Jobs that are leased to us, and that no answer ever brought. */
struct lost {
	rp_worker *w;
	const struct tasks *finished;
	rp_verdict *verdicts;
	size_t count;
};

static int
is_among(const struct tasks *tasks, int64_t id)
{
	const rp_task *task = tasks->first;

	while (task && task->job->id != id)
		task = task->next;
	return task != NULL;
}

static int
is_known(const struct lost *lost, int64_t id)
{
	const rp_worker *w = lost->w;

	for (size_t i = 0; i < w->threads_count; i++)
		if (w->running[i] && w->running[i]->job->id == id)
			return 1;
	return is_among(&w->todo, id) || is_among(&w->finished, id) ||
	       is_among(&w->blocked, id) || is_among(lost->finished, id);
}

static int
collect_lost(void *ctx, size_t row, const struct rp_value *c)
{
	struct lost *lost = ctx;
	rp_verdict *more, v = RP_VERDICT_INIT;

	(void)row;
	if (is_known(lost, c[HELD_OUT_ID].i))
		return RP_ROW_TAKE;
	more = realloc(lost->verdicts, (lost->count + 1) * sizeof(v));
	if (!more)
		return rp__fail(&lost->w->conn->error, RP_ENOMEM,
				"out of memory");
	v.id = c[HELD_OUT_ID].i;
	v.claim_no = c[HELD_OUT_CLAIM_NO].i;
	v.verdict = RP_RELEASE;
	lost->verdicts = more;
	lost->verdicts[lost->count++] = v;
	return RP_ROW_TAKE;
}

/* The answer to a claim may have been lost after its commit. Its jobs would be
 * nobody's until their leases ran out. */
int
rp__worker_give_back_lost(rp_worker *w, const struct tasks *finished)
{
	struct lost lost = { .w = w, .finished = finished };
	struct rp_value p[HELD_PARAMS];
	char *queues;
	int r;

	if (w->conn->backend->renewed && w->conn->backend->renewed(w->conn->db))
		w->lost = 1;
	if (!w->lost)
		return 0;
	queues = rp__list(w->queues, '{', '}');
	if (!queues)
		return rp__worker_trouble(
			w,
			rp__fail(&w->conn->error, RP_ENOMEM, "out of memory"));
	p[HELD_WORKER_ID] = rp__int(w->conn->worker_id);
	p[HELD_QUEUES] = rp__text(queues);
	pthread_mutex_lock(&w->lock);
	r = rp__run_once(w->conn, RP_V_HELD, p, collect_lost, &lost);
	pthread_mutex_unlock(&w->lock);
	if (r == 0 && lost.count)
		r = rp_settle(w->conn, lost.verdicts, lost.count);
	free(lost.verdicts);
	free(queues);
	w->lost = r < 0;
	return r < 0 ? rp__worker_trouble(w, r) : 0;
}

/* ---- the rest of the housekeeping ---- */

int
rp__worker_beat(rp_worker *w, enum rp_verb verb)
{
	int64_t known = verb == RP_V_WORKER_STOP;
	int r = rp__tally_write(w->conn);

	if (r == 0)
		r = rp__heartbeat(w->conn, verb, w->conn->worker_id, &w->counts,
				  &known);
	if (r == 0 && !known)
		w->conn->worker_id = 0;
	return r;
}

/* What there are handlers for: `queue/kind`, or `queue/` for any. NULL: no
 * memory. */
static char *
list_kinds(const rp_worker *w)
{
	char **kinds = calloc(w->routes_count + 1, sizeof(*kinds));
	char *list = NULL;
	size_t n = 0;

	for (; kinds && n < w->routes_count; n++) {
		const struct route *route = &w->routes[n];
		const char *kind = route->kind ? route->kind : "";
		size_t room = strlen(route->queue) + strlen(kind) + 2;

		kinds[n] = malloc(room);
		if (!kinds[n])
			break;
		snprintf(kinds[n], room, "%s/%s", route->queue, kind);
	}
	if (kinds && n == w->routes_count)
		list = rp__list((const char *const *)kinds, '[', ']');
	while (n-- > 0)
		free(kinds[n]);
	free(kinds);
	return list;
}

int
rp__worker_sign_on(rp_worker *w)
{
	char *kinds = list_kinds(w);
	int r = rp__sign_on(w->conn, w->name, w->host, w->queues, kinds,
			    &w->conn->worker_id);

	snprintf(w->conn->worker, sizeof(w->conn->worker), "%s", w->name);
	free(kinds);
	return r;
}

static int64_t
counted(const rp_worker *w)
{
	return w->counts.done + w->counts.failed + w->counts.dead +
	       w->counts.released;
}

/* Say that we are there: rarely when nothing has happened. */
int
rp__worker_beat_if_due(rp_worker *w, int64_t now)
{
	int idle = counted(w) == w->beat_total;
	int r;

	if (now - w->beat_at < (idle ? IDLE_BEAT_MS : BUSY_BEAT_MS))
		return 0;
	r = rp__worker_beat(w, RP_V_WORKER_BEAT);
	if (r == 0 && !w->conn->worker_id)
		r = rp__worker_sign_on(w);
	w->beat_at = now;
	w->beat_total = counted(w);
	return r < 0 ? rp__worker_trouble(w, r) : 0;
}

/* A worker that gets notified need not look, unless it sweeps for all: but
 * nobody tells of the last job's end. */
static int64_t
next_look(const rp_worker *w, const struct rp_look *there)
{
	const struct rp_backend *backend = w->conn->backend;
	int64_t rest = backend->rest_ms ? backend->rest_ms(w->conn->db) : 0;
	int64_t ms = LOOK_MS;

	if (rest && !there->ready && !w->options.drain &&
	    !rp__has_swept_lately(w->conn) && !w->conn->has_unswept)
		return rest;
	if (there->due_in_ms >= 0 && there->due_in_ms < ms)
		ms = there->due_in_ms;
	if (there->expires_in_ms >= 0 && there->expires_in_ms < ms)
		ms = there->expires_in_ms;
	return ms;
}

/* A worker that is not notified is woken by every commit, and others may commit
 * all the time to queues that are not its own; a look at a thousand queues
 * takes a millisecond. So a look that found nothing is repeated after some
 * times as long as it took. */
static void
rest(rp_worker *w, int64_t began_us, int found)
{
	int64_t now = rp__monotonic_us();
	int64_t us = REST_TIMES * (now - began_us);

	if (w->conn->backend->rest_ms)
		return;
	w->rest_until =
		found ? 0 : now + (us < MOST_REST_US ? us : MOST_REST_US);
}

/* Look at the queues: is there work, is anything due? Sweep what is. */
int
rp__worker_look(rp_worker *w, struct rp_look *ret)
{
	int64_t began = rp__monotonic_us();
	int r = rp__look_and_sweep(w->conn, w->queues, 0, ret);

	if (r < 0)
		return rp__worker_trouble(w, r);
	rest(w, began, ret->ready);
	w->looked_at = began / 1000;
	w->next_look_ms = next_look(w, ret);
	w->maybe_ready |= ret->ready;
	if (!ret->suspects)
		rp__alone_claimed(&w->alone, 0, 0);
	return 0;
}
