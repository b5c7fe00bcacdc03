/*
 * worker.c - the worker: one connection for many handlers.
 *
 * The thread that calls rp_worker_run() is the coordinator. It alone talks to
 * the database, and it clocks itself: whatever has finished while its last
 * turn was under way is settled in the next one, which also claims what the
 * handlers will start within the next 50 ms, going by how fast they have been.
 * So a slow queue is fetched one by one and a fast one in large commits, and
 * there is no timer that anybody waits for.
 *
 * A suspect (a job whose lease ran out) is held alone until its lease was
 * renewed once: by then it has shown that it does not kill its worker at once.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "worker.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define AHEAD_MS 50
#define MOST_AHEAD 2000
#define MOST_THREADS 1024
#define STUCK_MS 500
#define LOOK_MS 1000
#define SWEEP_MS 60000
#define BUSY_BEAT_MS 5000
#define IDLE_BEAT_MS 10000
#define MOST_TROUBLES_AT_THE_END 5

/* ---- making one ---- */

static int
copy_options(rp_worker *w, const rp_worker_options *given, rp_error *reterr)
{
	rp_worker_options o = RP_WORKER_INIT;

	if (given)
		memcpy(&o, given,
		       given->size < sizeof(o) ? given->size : sizeof(o));
	if (o.threads == 0)
		o.threads = 1;
	if (o.threads < 0 || o.threads > MOST_THREADS)
		return rp__fail(reterr, RP_EINVAL,
				"threads: %d is not within 1..%d", o.threads,
				MOST_THREADS);
	if (o.lease_ms < 0 || o.lease_ms > 3650 * INT64_C(86400000))
		return rp__fail(reterr, RP_EINVAL,
				"the lease is not within 1 ms..3650 days");
	if (o.max_jobs < 0)
		return rp__fail(reterr, RP_EINVAL, "max_jobs is negative");
	if (o.name && rp__check_name(reterr, "the worker's name", o.name,
				     sizeof(w->name) - 1) < 0)
		return RP_EINVAL;
	gethostname(w->host, sizeof(w->host) - 1);
	if (o.name)
		snprintf(w->name, sizeof(w->name), "%s", o.name);
	else
		snprintf(w->name, sizeof(w->name), "%s:%ld", w->host,
			 (long)getpid());
	w->options = o;
	return 0;
}

int
rp_worker_new(const char *url, const rp_worker_options *options,
	      rp_worker **ret, rp_error *reterr)
{
	rp_worker *w;
	int r;

	if (!url || !ret)
		return rp__fail(reterr, RP_EINVAL, "url or ret is NULL");
	w = calloc(1, sizeof(*w));
	if (!w)
		return rp__fail(reterr, RP_ENOMEM, "out of memory");
	pthread_mutex_init(&w->lock, NULL);
	pthread_mutex_init(&w->observing, NULL);
	pthread_cond_init(&w->work, NULL);
	w->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	w->url = strdup(url);
	w->queues = calloc(1, sizeof(*w->queues));
	r = copy_options(w, options, reterr);
	if (r == 0 && (w->wake_fd < 0 || !w->url || !w->queues))
		r = rp__fail(reterr, RP_ENOMEM, "out of memory");
	if (r < 0)
		rp_worker_free(w);
	else
		*ret = w;
	return r;
}

void
rp_worker_free(rp_worker *w)
{
	if (!w)
		return;
	for (size_t i = 0; i < w->routes_count; i++) {
		free(w->routes[i].queue);
		free(w->routes[i].kind);
	}
	free(w->routes);
	free(w->queues);
	free(w->url);
	if (w->wake_fd >= 0)
		close(w->wake_fd);
	pthread_cond_destroy(&w->work);
	pthread_mutex_destroy(&w->observing);
	pthread_mutex_destroy(&w->lock);
	free(w);
}

/* The queue, if it is a new one, to the end of the list. */
static int
add_queue(rp_worker *w, const char *queue)
{
	const char **queues;

	for (size_t i = 0; i < w->queues_count; i++)
		if (strcmp(w->queues[i], queue) == 0)
			return 0;
	queues = realloc(w->queues, (w->queues_count + 2) * sizeof(*queues));
	if (!queues)
		return RP_ENOMEM;
	w->queues = queues;
	queues[w->queues_count++] = queue;
	queues[w->queues_count] = NULL;
	return 0;
}

int
rp_worker_handle(rp_worker *w, const char *queue, const char *kind,
		 rp_handler *handler, void *ctx)
{
	struct route route = { NULL, NULL, handler, ctx };
	struct route *routes;

	if (!w || !handler ||
	    rp__check_name(NULL, "the queue's name", queue, 128) < 0 ||
	    (kind && rp__check_name(NULL, "the kind", kind, 128) < 0))
		return RP_EINVAL;
	routes = realloc(w->routes, (w->routes_count + 1) * sizeof(*routes));
	if (!routes)
		return RP_ENOMEM;
	w->routes = routes;
	route.queue = strdup(queue);
	route.kind = kind ? strdup(kind) : NULL;
	if (!route.queue || (kind && !route.kind) ||
	    add_queue(w, route.queue) < 0) {
		free(route.queue);
		free(route.kind);
		return RP_ENOMEM;
	}
	routes[w->routes_count++] = route;
	return 0;
}

void
rp_worker_stop(rp_worker *w)
{
	const uint64_t one = 1;
	ssize_t written;

	if (!w)
		return;
	atomic_store(&w->stopping, 1);
	written = write(w->wake_fd, &one, sizeof(one));
	(void)written; /* full means: it is awake already */
}

rp_worker_counts
rp_worker_counted(const rp_worker *w)
{
	return w->counts;
}

/* ---- trouble ---- */

/* A call failed. 0: make it again; else it is the end. */
static int
trouble(rp_worker *w, int code)
{
	const char *text = rp_last_error(w->conn)->message;
	int lasting = code == RP_EINVAL || code == RP_ESCHEMA ||
		      code == RP_EREADONLY || code == RP_ENOENT;

	if (lasting || (atomic_load(&w->stopping) &&
			w->troubles >= MOST_TROUBLES_AT_THE_END))
		return code;
	rp__observe(w, (rp_event){ .what = RP_EVENT_TROUBLE,
				   .result = code,
				   .text = text });
	w->troubles++;
	poll(NULL, 0, w->troubles < 10 ? 100 * w->troubles : 1000);
	return 0;
}

/* ---- settling ---- */

static void
count_verdict(rp_worker *w, const rp_task *task, const rp_verdict *v,
	      int64_t asked)
{
	int handlers_own = v->result == RP_EGONE &&
			   asked < task->leased_at + task->lease_ms;

	if (v->result == 0 && v->state == RP_STATE_DEAD)
		w->counts.dead++;
	else if (v->result == 0 && v->verdict == RP_FAIL)
		w->counts.failed++;
	else if (v->result == 0 && v->verdict == RP_RELEASE)
		w->counts.released += task->started_us != 0;
	else if (v->result == 0 || (handlers_own && v->verdict == RP_DONE))
		w->counts.done++;
	else if (!handlers_own)
		w->counts.lost++;
}

static void
observe_verdict(rp_worker *w, int what, const rp_task *task,
		const rp_verdict *v, int64_t asked)
{
	rp__observe(w, (rp_event){ .what = what,
				   .job = task->job,
				   .verdict = v->verdict,
				   .result = v->result,
				   .state = v->state,
				   .duration_ms = task->took_us / 1000,
				   .asked_us = asked,
				   .text = v->error });
}

static void
forget(rp_worker *w, rp_task *task)
{
	if (task == w->alone)
		w->alone = NULL;
	rp__task_free(task);
}

/* The verdicts of tasks that may still have one. Those that were lost or
 * cancelled are dropped from the list. Free it. */
static rp_verdict *
make_verdicts(rp_worker *w, struct tasks *tasks)
{
	rp_verdict *verdicts = calloc(tasks->count + 1, sizeof(*verdicts));
	struct tasks kept = { NULL, NULL, 0 };

	if (!verdicts)
		return NULL;
	for (rp_task *task = tasks->first, *next; task; task = next) {
		rp_verdict *v = &verdicts[kept.count];

		next = task->next;
		if (atomic_load(&task->fate) != RP_TASK_RUNNING) {
			w->counts.lost++;
			forget(w, task);
			continue;
		}
		*v = (rp_verdict)RP_VERDICT_INIT;
		v->id = task->job->id;
		v->claim_no = task->job->claim_no;
		v->verdict = task->verdict;
		v->delay_ms = task->delay_ms;
		v->error = task->error;
		rp__tasks_add(&kept, task);
		observe_verdict(w, RP_EVENT_SETTLE, task, v, 0);
	}
	*tasks = kept;
	return verdicts;
}

static void
settled(rp_worker *w, struct tasks *tasks, const rp_verdict *verdicts,
	int64_t asked)
{
	size_t i = 0;

	for (rp_task *task = tasks->first, *next; task; task = next) {
		next = task->next;
		count_verdict(w, task, &verdicts[i], asked / 1000);
		observe_verdict(w, RP_EVENT_SETTLED, task, &verdicts[i], asked);
		forget(w, task);
		i++;
	}
	*tasks = (struct tasks){ NULL, NULL, 0 };
}

/* ---- claiming ---- */

/* Claim nothing more: told so, or enough. */
static int
ending(rp_worker *w)
{
	return atomic_load(&w->stopping) ||
	       (w->options.max_jobs &&
		w->counts.claimed >= w->options.max_jobs);
}

/* How many jobs are held, started or not, and how many the handlers will start
 * within AHEAD_MS if they go on as they did. One that takes longer than the
 * others did counts as soon as it does. */
static size_t
held(rp_worker *w, size_t *ret_ahead)
{
	int64_t now = rp__monotonic_us();
	int64_t mean, ahead;
	size_t n;

	pthread_mutex_lock(&w->lock);
	mean = w->mean_us;
	for (size_t i = 0; i < w->threads_count && w->running_count; i++)
		if (w->running[i] && now - w->running[i]->started_us > mean)
			mean = now - w->running[i]->started_us;
	n = w->todo.count + w->running_count;
	ahead = w->mean_us
			? w->options.threads * AHEAD_MS * INT64_C(1000) / mean
			: 0;
	pthread_mutex_unlock(&w->lock);
	*ret_ahead = (size_t)(ahead < MOST_AHEAD ? ahead : MOST_AHEAD);
	return n;
}

/* How many jobs to claim, and how many of them will not start at once. */
static size_t
appetite(rp_worker *w, size_t *ret_holding, size_t *ret_ahead)
{
	size_t threads = (size_t)w->options.threads;
	size_t ahead, holding = held(w, &ahead);
	size_t want = threads + ahead - holding;
	int64_t left = w->options.max_jobs - w->counts.claimed;

	*ret_holding = holding;
	if (ending(w) || w->alone || (w->making_room && holding > 0) ||
	    holding >= threads + ahead)
		return 0;
	if (w->options.max_jobs && (int64_t)want > left)
		want = (size_t)left;
	if (holding + want > threads)
		*ret_ahead =
			holding < threads ? holding + want - threads : want;
	return want;
}

static void
start_task(rp_worker *w, rp_task *task, struct fetch *fetch, const rp_job *job,
	   int64_t asked)
{
	task->worker = w;
	task->fetch = fetch;
	task->job = job;
	task->delay_ms = -1;
	task->lease_ms = job->lease_until - job->claimed_at;
	task->leased_at = asked / 1000;
	atomic_init(&task->fate, RP_TASK_RUNNING);
	if (job->suspect)
		w->alone = task;
	rp__observe(w, (rp_event){ .what = RP_EVENT_CLAIM,
				   .job = job,
				   .asked_us = asked });
}

/* Hand a claim's jobs to the threads. */
static int
start_batch(rp_worker *w, rp_batch *batch, int64_t asked)
{
	size_t n = rp_batch_count(batch);
	struct fetch *fetch = malloc(sizeof(*fetch));
	rp_task *tasks = calloc(n, sizeof(*tasks));

	if (!fetch || !tasks) {
		/* The leases will run out: nothing is lost. */
		free(fetch);
		free(tasks);
		rp_batch_free(batch);
		return rp__fail(&w->conn->error, RP_ENOMEM, "out of memory");
	}
	*fetch = (struct fetch){ batch, n, tasks };
	for (size_t i = 0; i < n; i++)
		start_task(w, &tasks[i], fetch, rp_batch_at(batch, i), asked);
	w->counts.claimed += (int64_t)n;
	pthread_mutex_lock(&w->lock);
	for (size_t i = 0; i < n; i++)
		rp__tasks_add(&w->todo, &tasks[i]);
	if (n == 1)
		pthread_cond_signal(&w->work);
	else
		pthread_cond_broadcast(&w->work);
	pthread_mutex_unlock(&w->lock);
	return 0;
}

/* ---- a turn ---- */

static void
take_finished(rp_worker *w, struct tasks *finished)
{
	pthread_mutex_lock(&w->lock);
	if (w->finished.first) {
		if (finished->last)
			finished->last->next = w->finished.first;
		else
			finished->first = w->finished.first;
		finished->last = w->finished.last;
		finished->count += w->finished.count;
		w->finished = (struct tasks){ NULL, NULL, 0 };
	}
	pthread_mutex_unlock(&w->lock);
}

/* What was not started is to be given back. */
static void
take_unstarted(rp_worker *w, struct tasks *finished)
{
	pthread_mutex_lock(&w->lock);
	for (rp_task *task = w->todo.first, *next; task; task = next) {
		next = task->next;
		task->verdict = RP_RELEASE;
		task->delay_ms = -1;
		rp__tasks_add(finished, task);
	}
	w->todo = (struct tasks){ NULL, NULL, 0 };
	pthread_mutex_unlock(&w->lock);
}

/*
 * Settle what is finished and claim what will be started. Left alone when there
 * is neither: then nothing is asked of the database. 0, or the end.
 */
static int
turn(rp_worker *w, struct tasks *finished)
{
	rp_claim_options o = RP_CLAIM_INIT;
	size_t want = appetite(w, &o.holding, &o.ahead);
	int64_t asked = rp__monotonic_us();
	rp_verdict *verdicts;
	rp_batch *batch = NULL;
	int r;

	if (!finished->count && (!want || !w->maybe_ready))
		return 0;
	verdicts = make_verdicts(w, finished);
	if (!verdicts)
		return trouble(w, rp__fail(&w->conn->error, RP_ENOMEM,
					   "out of memory"));
	o.lease_ms = w->options.lease_ms;
	o.queues = w->queues;
	r = rp_turn(w->conn, verdicts, finished->count, NULL, want, &o, &batch);
	if (r < 0) {
		free(verdicts);
		return trouble(w, r);
	}
	w->troubles = 0;
	settled(w, finished, verdicts, asked);
	free(verdicts);
	w->making_room = rp_batch_suspects(batch) > 0;
	if (want)
		w->maybe_ready = (size_t)r == want || w->making_room;
	if (r > 0)
		return start_batch(w, batch, asked);
	rp_batch_free(batch);
	return 0;
}

/* ---- renewing ---- */

/* Tasks that are held, and whose lease is a third over at `now`. */
static size_t
collect_due(rp_worker *w, int64_t now, rp_task **ret, size_t room)
{
	size_t n = 0;

	for (size_t i = 0; i < w->threads_count; i++) {
		rp_task *task = w->running[i];

		if (task && n < room &&
		    atomic_load(&task->fate) == RP_TASK_RUNNING &&
		    now - task->leased_at >= task->lease_ms / 3)
			ret[n++] = task;
	}
	for (rp_task *task = w->todo.first; task && n < room; task = task->next)
		if (atomic_load(&task->fate) == RP_TASK_RUNNING &&
		    now - task->leased_at >= task->lease_ms / 3)
			ret[n++] = task;
	return n;
}

static void
renewed(rp_worker *w, rp_task *task, const rp_verdict *v, int64_t asked)
{
	observe_verdict(w, RP_EVENT_SETTLED, task, v, asked);
	if (v->result == 0) {
		task->leased_at = asked / 1000;
		if (task == w->alone)
			w->alone = NULL;
		return;
	}
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
static int
renew(rp_worker *w)
{
	int64_t now = rp__monotonic_ms();
	size_t room, n;
	rp_task **tasks;
	rp_verdict *verdicts;
	int r = 0;

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
		observe_verdict(w, RP_EVENT_SETTLE, tasks[i], &verdicts[i], 0);
	}
	if (n)
		r = rp_settle(w->conn, verdicts, n);
	for (size_t i = 0; i < n && r >= 0; i++)
		renewed(w, tasks[i], &verdicts[i], now * 1000);
	pthread_mutex_unlock(&w->lock);
	free(tasks);
	free(verdicts);
	return r < 0 ? trouble(w, r) : 0;
}

/* ---- the rest of the housekeeping ---- */

static int
beat(rp_worker *w, enum rp_verb verb)
{
	/* worker_beat and worker_stop take the same. */
	struct rp_value p[WORKER_BEAT_PARAMS];
	int64_t known = verb == RP_V_WORKER_STOP;
	int r;

	p[WORKER_BEAT_ID] = rp__int(w->conn->worker_id);
	p[WORKER_BEAT_DONE] = rp__int(w->counts.done);
	p[WORKER_BEAT_FAILED] = rp__int(w->counts.failed);
	p[WORKER_BEAT_DEAD] = rp__int(w->counts.dead);
	p[WORKER_BEAT_RELEASED] = rp__int(w->counts.released);
	r = rp__tally_write(w->conn, 1);
	if (r == 0)
		r = rp__run_once(w->conn, verb, p, rp__count, &known);
	if (r == 0 && !known)
		w->conn->worker_id = 0;
	return r;
}

static int
sign_on(rp_worker *w)
{
	struct rp_value p[WORKER_START_PARAMS];
	char *queues = rp__json_array(w->queues, w->queues_count);
	int r;

	if (!queues)
		return rp__fail(&w->conn->error, RP_ENOMEM, "out of memory");
	p[WORKER_START_NAME] = rp__text(w->name);
	p[WORKER_START_HOST] = rp__text(w->host);
	p[WORKER_START_PID] = rp__int(getpid());
	p[WORKER_START_QUEUES] = rp__text(queues);
	r = rp__run_once(w->conn, RP_V_WORKER_START, p, rp__first_int,
			 &w->conn->worker_id);
	snprintf(w->conn->worker, sizeof(w->conn->worker), "%s", w->name);
	free(queues);
	return r;
}

static int64_t
counted(const rp_worker *w)
{
	return w->counts.done + w->counts.failed + w->counts.dead +
	       w->counts.released;
}

/* Say that we are there: rarely when nothing has happened. */
static int
beat_if_due(rp_worker *w, int64_t now)
{
	int idle = counted(w) == w->beat_total;
	int r;

	if (now - w->beat_at < (idle ? IDLE_BEAT_MS : BUSY_BEAT_MS))
		return 0;
	r = beat(w, RP_V_WORKER_BEAT);
	if (r == 0 && !w->conn->worker_id)
		r = sign_on(w);
	w->beat_at = now;
	w->beat_total = counted(w);
	return r < 0 ? trouble(w, r) : 0;
}

/* Look at the queues: is there work, is anything due? Sweep what is. */
static int
look(rp_worker *w, struct rp_look *ret)
{
	int64_t now = rp__monotonic_ms();
	int r = rp__look(w->conn, w->queues, ret);

	if (r == 0 && (ret->due_in_ms == 0 || ret->expires_in_ms == 0 ||
		       now - w->swept_at >= SWEEP_MS)) {
		w->swept_at = now;
		r = rp_sweep(w->conn, NULL);
		if (r >= 0)
			r = rp__look(w->conn, w->queues, ret);
	}
	if (r < 0)
		return trouble(w, r);
	w->looked_at = now;
	w->next_look_ms = LOOK_MS;
	if (ret->due_in_ms >= 0 && ret->due_in_ms < w->next_look_ms)
		w->next_look_ms = ret->due_in_ms;
	if (ret->expires_in_ms >= 0 && ret->expires_in_ms < w->next_look_ms)
		w->next_look_ms = ret->expires_in_ms;
	w->maybe_ready |= ret->ready;
	w->making_room &= ret->suspects;
	return 0;
}

/* ---- sleeping ---- */

/* Until when nothing has to be done, if nothing happens. */
static int64_t
nap_ms(rp_worker *w)
{
	int64_t now = rp__monotonic_ms();
	int64_t nap = w->looked_at + w->next_look_ms - now;

	pthread_mutex_lock(&w->lock);
	for (size_t i = 0; i < w->threads_count; i++) {
		const rp_task *task = w->running[i];
		int64_t left =
			task ? task->leased_at + task->lease_ms / 3 - now : nap;

		if (left < nap)
			nap = left;
	}
	pthread_mutex_unlock(&w->lock);
	return nap > 0 ? nap : 0;
}

/* Sleep until a task is finished, somebody commits (if we are hungry), or it is
 * time for the housekeeping. */
static int
sleep_until_news(rp_worker *w)
{
	struct pollfd wake = { .fd = w->wake_fd, .events = POLLIN };
	int64_t nap = nap_ms(w);
	size_t holding, ahead, want = appetite(w, &holding, &ahead);
	uint64_t ignored;
	int r = 0;

	pthread_mutex_lock(&w->lock);
	w->asleep = !w->finished.first;
	if (!w->asleep)
		nap = 0;
	pthread_mutex_unlock(&w->lock);
	if (nap > 0 && want > 0)
		r = w->conn->backend->wait(w->conn->db, nap, w->wake_fd,
					   &w->conn->error);
	else if (nap > 0)
		poll(&wake, 1, (int)nap);
	pthread_mutex_lock(&w->lock);
	w->asleep = 0;
	pthread_mutex_unlock(&w->lock);
	if (read(w->wake_fd, &ignored, sizeof(ignored)) < 0)
		ignored = 0; /* nobody woke us */
	if (r > 0)
		w->next_look_ms = 0;
	return r < 0 ? trouble(w, r) : 0;
}

/* ---- the loop ---- */

/* Nothing is held and nothing is to be settled: is it the end? The draining
 * worker takes one look, in one transaction. */
static int
at_the_end(rp_worker *w, int *ret_r)
{
	struct rp_look there;

	if (ending(w))
		return 1;
	if (!w->options.drain || w->maybe_ready)
		return 0;
	*ret_r = look(w, &there);
	return *ret_r == 0 && w->troubles == 0 && !there.ready &&
	       !there.running && there.due_in_ms != 0;
}

/* Nothing was started for so long that what waits behind it is better given
 * back: some other worker may be free. */
static int
stuck(rp_worker *w)
{
	int answer;

	pthread_mutex_lock(&w->lock);
	answer = w->todo.count > 0 &&
		 rp__monotonic_us() - w->started_us > STUCK_MS * 1000;
	pthread_mutex_unlock(&w->lock);
	return answer;
}

static int
step(rp_worker *w, struct tasks *finished)
{
	struct rp_look there;
	int64_t now = rp__monotonic_ms();
	int r;

	if (atomic_load(&w->stopping) || stuck(w))
		take_unstarted(w, finished);
	r = renew(w);
	take_finished(w, finished);
	if (r == 0)
		r = turn(w, finished);
	if (r == 0 && now - w->looked_at >= w->next_look_ms)
		r = look(w, &there);
	return r < 0 ? r : beat_if_due(w, now);
}

static int
work(rp_worker *w, struct tasks *finished)
{
	size_t want, holding, ahead;
	int r;

	for (;;) {
		r = step(w, finished);
		if (r < 0)
			return r;
		want = appetite(w, &holding, &ahead);
		take_finished(w, finished);
		if (finished->count || (want && w->maybe_ready))
			continue;
		if (!holding && (at_the_end(w, &r) || r < 0))
			return r;
		r = sleep_until_news(w);
		if (r < 0)
			return r;
	}
}

static int
open_conn(rp_worker *w, rp_error *reterr)
{
	int r = rp_open(w->url, NULL, &w->conn, reterr);

	if (r < 0)
		return r;
	for (size_t i = 0; i < w->queues_count && r == 0; i++)
		if (rp__queue_known(w->conn, w->queues[i]) < 0)
			r = rp__queue_create(w->conn, w->queues[i]);
	if (r == 0)
		r = sign_on(w);
	if (r < 0) {
		*reterr = *rp_last_error(w->conn);
		rp_close(w->conn);
		w->conn = NULL;
	}
	return r;
}

/* After a failure: what is still held is left to its lease. */
static void
forget_all(rp_worker *w, struct tasks *finished)
{
	take_unstarted(w, finished);
	take_finished(w, finished);
	for (rp_task *task = finished->first, *next; task; task = next) {
		next = task->next;
		forget(w, task);
	}
}

int
rp_worker_run(rp_worker *w, rp_error *reterr)
{
	struct tasks finished = { NULL, NULL, 0 };
	rp_error error;
	int r;

	if (!w || w->queues_count == 0)
		return rp__fail(reterr, RP_EINVAL,
				"a worker needs a handler for some queue");
	r = open_conn(w, &error);
	if (r == 0) {
		w->maybe_ready = 1;
		w->beat_at = w->swept_at = rp__monotonic_ms();
		r = rp__threads_start(w);
		if (r < 0)
			rp__fail(&w->conn->error, r, "no more threads");
		else
			r = work(w, &finished);
		error = *rp_last_error(w->conn);
		rp__threads_join(w);
		forget_all(w, &finished);
		if (r == 0)
			beat(w, RP_V_WORKER_STOP);
		rp_close(w->conn);
		w->conn = NULL;
	}
	if (r < 0 && reterr)
		*reterr = error;
	return r;
}
