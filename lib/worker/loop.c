/*
 * loop.c - the main loop of the coordinator.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 *
 * The coordinator is the thread that claims jobs, settles them and renews their
 * leases. Each step of the loop settles the tasks that finished during the
 * previous step. It also claims the jobs that the handlers will start within
 * the next 50 ms, as far as recent durations of jobs can tell. So the jobs of a
 * slow queue are fetched one by one, and the jobs of a fast queue are fetched
 * many in one commit.
 */
#include "worker.h"

#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#define MOST_AHEAD 2000 /* jobs to prefetch at most, however short they are */
/* If no task was started for so long, the tasks that wait are released. A task
 * starts late if it has to wait for a job that takes longer than usual. */
#define STUCK_MS 500
/* After a failed call the worker pauses. The pause grows by PAUSE_STEP_MS with
 * each failure, up to MOST_PAUSE_MS, until in one round of the loop no call has
 * failed. */
#define PAUSE_STEP_MS 100
#define MOST_PAUSE_MS 1000
/* A worker that was asked to stop ends if more calls than this have failed
 * since the last round of the loop without a failure. */
#define MOST_TROUBLES_AT_THE_END 5
/* A worker that was asked to stop tries this many times, in 10 s, to settle
 * jobs that other transactions have locked. Then it ends. */
#define MOST_TRIES_AT_THE_END 50

/* ---- failed calls ---- */

/* Handle a failed call to the database. If the call should be repeated, pause
 * and return 0. Otherwise return the error, which ends the worker. The worker
 * has written before, when it registered. So if a server refuses writes now, it
 * or another host may accept them later. */
int
rp__worker_trouble(rp_worker *w, int code)
{
	const char *text = rp_last_error(w->conn)->message;
	int may_move = code == RP_EREADONLY && w->conn->backend->leave_host;
	int lasting = code == RP_EINVAL || code == RP_ESCHEMA ||
		      (code == RP_EREADONLY && !may_move) ||
		      code == RP_ENOENT || code == RP_ENODB ||
		      code == RP_EDAMAGED;

	if (lasting || (atomic_load(&w->stopping) &&
			w->troubles >= MOST_TROUBLES_AT_THE_END))
		return code;
	rp__observe(w, (rp_event){ .what = RP_EVENT_TROUBLE,
				   .result = code,
				   .text = text });
	if (may_move)
		w->conn->backend->leave_host(w->conn->db);
	w->troubles++;
	poll(NULL, 0,
	     w->troubles < MOST_PAUSE_MS / PAUSE_STEP_MS
		     ? PAUSE_STEP_MS * w->troubles
		     : MOST_PAUSE_MS);
	return 0;
}

int
rp__worker_no_memory(rp_worker *w)
{
	return rp__worker_trouble(
		w, rp__fail(&w->conn->error, RP_ENOMEM, "out of memory"));
}

/* ---- how many jobs to claim ---- */

struct appetite {
	size_t want;    /* how many jobs to claim */
	size_t ahead;   /* how many of the claimed jobs will be prefetched */
	size_t holding; /* how many jobs the worker holds, started or not */
};

/* Returns how many more jobs the option max_jobs lets the worker claim. A job
 * that was released before it was started does not count. */
static int64_t
jobs_left(const rp_worker *w)
{
	return w->options.max_jobs ? w->options.max_jobs -
					     (w->counts.claimed - w->given_back)
				   : INT64_MAX;
}

/* Returns 1 if the worker must claim nothing more, because it was stopped or
 * max_jobs is reached. */
static int
is_ending(const rp_worker *w)
{
	return atomic_load(&w->stopping) || jobs_left(w) <= 0;
}

/* Returns how many jobs the handlers will start within AHEAD_MS, besides the
 * running jobs. The estimate assumes that a job takes as long as the mean of
 * recent jobs, or as long as the longest-running job has taken so far, if that
 * is longer. The caller holds the pool's lock. */
static size_t
to_start_soon(const struct pool *pool, int64_t threads)
{
	int64_t now = rp__monotonic_us(), mean = pool->mean_us, n;

	if (!mean)
		return 0;
	for (size_t i = 0; i < pool->slots; i++)
		if (pool->running[i] &&
		    now - pool->running[i]->started_us > mean)
			mean = now - pool->running[i]->started_us;
	n = threads * AHEAD_MS * INT64_C(1000) / mean;
	return (size_t)(n < MOST_AHEAD ? n : MOST_AHEAD);
}

/* Decide how many jobs to claim now. */
static struct appetite
appetite(rp_worker *w)
{
	struct appetite a = { 0, 0, 0 };
	size_t threads = (size_t)w->options.threads, most;
	int64_t left = jobs_left(w);
	int absent;

	pthread_mutex_lock(&w->pool.lock);
	a.holding = w->pool.todo.count + w->pool.running_count;
	most = threads + to_start_soon(&w->pool, w->options.threads);
	absent = w->pool.absent;
	pthread_mutex_unlock(&w->pool.lock);
	if (absent || is_ending(w) || !*w->queues ||
	    rp__alone_must_wait(&w->alone, a.holding) || a.holding >= most)
		return a;
	a.want = most - a.holding;
	if ((int64_t)a.want > left)
		a.want = (size_t)left;
	if (a.holding + a.want > threads)
		a.ahead = a.holding < threads ? a.holding + a.want - threads
					      : a.want;
	return a;
}

/* ---- settling and claiming ---- */

static void
init_task(rp_worker *w, rp_task *task, struct fetch *fetch, const rp_job *job,
	  int64_t asked)
{
	task->worker = w;
	task->fetch = fetch;
	task->job = job;
	task->delay_ms = -1;
	task->lease_ms = job->lease_until - job->claimed_at;
	task->leased_at = asked / 1000;
	task->fetched_at = rp__monotonic_ms();
	atomic_init(&task->fate, RP_TASK_RUNNING);
	if (job->suspect)
		rp__alone_note_begin(&w->alone, task);
	rp__observe(w, (rp_event){ .what = RP_EVENT_CLAIM,
				   .job = job,
				   .asked_us = asked });
}

/* Give the jobs of a claim to the threads. The jobs after the first `at_once`
 * are prefetched. */
static int
start_batch(rp_worker *w, rp_batch *batch, size_t at_once, int64_t asked)
{
	size_t n = rp_batch_count(batch);
	struct fetch *fetch = malloc(sizeof(*fetch));
	rp_task *tasks = calloc(n, sizeof(*tasks));

	if (!fetch || !tasks) {
		/* Discard the claim. The leases of its jobs will run out. */
		free(fetch);
		free(tasks);
		rp_batch_free(batch);
		return rp__worker_no_memory(w);
	}
	*fetch = (struct fetch){ batch, n, tasks };
	for (size_t i = 0; i < n; i++) {
		init_task(w, &tasks[i], fetch, rp_batch_at(batch, i), asked);
		tasks[i].prefetched = i >= at_once;
	}
	w->counts.claimed += (int64_t)n;
	rp__pool_add(&w->pool, fetch, n);
	return 0;
}

/* Record what a claim shows about the queues: whether suspects are ready, and
 * whether there may be more ready jobs than the claim returned. */
static void
note_claim(rp_worker *w, const rp_batch *batch, size_t want)
{
	size_t n = rp_batch_count(batch);
	size_t passed_over = rp_batch_suspects(batch);
	int suspect = n == 1 && rp_batch_at(batch, 0)->suspect;

	if (!suspect)
		rp__alone_note_claim(&w->alone, n, passed_over);
	w->maybe_ready = n == want || suspect ||
			 (passed_over && !w->alone.task) ||
			 rp_batch_is_partial(batch);
}

/* Settle and claim in one round trip. It fails if another transaction has
 * locked one of the jobs. In this case settle again without a claim: this
 * second call does not wait for locks, and leaves out the locked jobs. */
static int
ask(rp_worker *w, rp_verdict *verdicts, size_t n, struct appetite *a,
    rp_batch **ret)
{
	rp_claim_options o = RP_CLAIM_INIT;
	int r;

	o.holding = rp__alone_holding(&w->alone, a->holding);
	o.ahead = a->ahead;
	o.lease_ms = w->options.lease_ms;
	rp__queues_rotate(w);
	o.queues = w->queues;
	r = rp_settle_and_claim(w->conn, verdicts, n, NULL, a->want, &o, ret);
	if (r != RP_EBUSY || !n || !w->conn->backend->limit_waits)
		return r;
	a->want = 0;
	return rp__settle_unlocked(w->conn, verdicts, n);
}

/*
 * Settle the finished tasks and claim jobs that can be started soon. If there
 * is nothing to settle or to claim, no call is made. Returns 0, or the error
 * that ends the worker.
 */
static int
settle_and_claim(rp_worker *w, struct tasks *finished)
{
	struct appetite a = appetite(w);
	int64_t asked = rp__monotonic_us();
	rp_verdict *verdicts;
	rp_batch *batch = NULL;
	int r;

	if (!finished->count && (!a.want || !w->maybe_ready))
		return 0;
	verdicts = rp__verdicts_make(w, finished);
	if (!verdicts)
		return rp__worker_no_memory(w);
	r = ask(w, verdicts, finished->count, &a, &batch);
	if (r < 0) {
		free(verdicts);
		return rp__worker_trouble(w, r);
	}
	rp__verdicts_answered(w, finished, verdicts, asked);
	free(verdicts);
	if (a.want)
		note_claim(w, batch, a.want);
	if (rp_batch_count(batch) > 0)
		return start_batch(w, batch, a.want - a.ahead, asked);
	/* This claim has spent its time on jobs that must wait for their group.
	 * The next claim goes on with them. Let other writers in before. */
	if (rp_batch_is_partial(batch))
		rp__nap_us(RP_PARTIAL_PAUSE_US);
	rp_batch_free(batch);
	return 0;
}

/* ---- waiting ---- */

/* Returns how many milliseconds the coordinator may wait if nothing happens;
 * -1: no limit. waits: 1 if it will wait in the backend (the code for the kind
 * of database), which itself decides when to look for ready jobs. */
static int64_t
nap_ms(rp_worker *w, int waits)
{
	int64_t now = rp__monotonic_ms();
	int64_t at = waits ? INT64_MAX : w->waiter.probe_at;
	int64_t lives = rp__alone_lives_in_ms(&w->alone);
	int64_t renew_at = rp__lease_renew_at(w);

	if (w->tell_at < at)
		at = w->tell_at;
	if (w->look_at < at)
		at = w->look_at;
	if (lives >= 0 && now + lives < at)
		at = now + lives;
	if (w->locked.count && w->locked_until < at)
		at = w->locked_until;
	if (renew_at < at)
		at = renew_at;
	return at == INT64_MAX ? -1 : at > now ? at - now : 0;
}

/* Record that the coordinator is going to wait. From now on a thread that
 * finishes a task wakes it. If a task is already finished, record nothing and
 * return 0. */
static int
begin_wait(struct pool *pool)
{
	int waits;

	pthread_mutex_lock(&pool->lock);
	waits = pool->coordinator_waits = !pool->finished.first;
	pthread_mutex_unlock(&pool->lock);
	return waits;
}

static void
end_wait(struct pool *pool)
{
	uint64_t ignored;

	pthread_mutex_lock(&pool->lock);
	pool->coordinator_waits = 0;
	pthread_mutex_unlock(&pool->lock);
	if (read(pool->wake_fd, &ignored, sizeof(ignored)) < 0)
		ignored = 0; /* no wake-up was pending */
}

/* Wait until one of these events: a task is finished; there may be work, and
 * the worker can take more; the next renewal of a lease, heartbeat or other
 * duty is due. */
static int
wait_for_news(rp_worker *w)
{
	struct pollfd wake = { .fd = w->pool.wake_fd, .events = POLLIN };
	int waits = begin_wait(&w->pool);
	size_t want = appetite(w).want;
	int64_t nap = nap_ms(w, want > 0);
	int r = 0;

	if (waits && nap != 0 && want > 0) {
		w->waiter.worker_id = w->conn->worker_id;
		w->waited = 1;
		r = w->conn->backend->wait(w->conn->db, &w->waiter, nap,
					   w->pool.wake_fd, &w->conn->error);
	} else if (waits && nap != 0) {
		poll(&wake, 1, (int)nap);
	}
	end_wait(&w->pool);
	if (r < 0)
		return rp__worker_trouble(w, r);
	w->maybe_ready |= (r & RP_WAIT_WORK) != 0;
	w->what |= r;
	return 0;
}

/* ---- the loop ---- */

static int
probe(rp_worker *w, int what, struct rp_probe *ret)
{
	int r = rp__waiter_probe(w->conn, &w->waiter, what, 0, ret);

	if (r < 0)
		return rp__worker_trouble(w, r);
	w->what = 0;
	w->maybe_ready |= ret->ready;
	/* A worker that gets notified need not poll, except in four cases. Jobs
	 * are ready, or the last sweep was not finished: no new notification
	 * announces this work. The worker drains: no notification is sent when
	 * the last job ends. The worker sweeps for all workers: it must notice
	 * when the next sweep is due. A queue has used up its rate: no
	 * notification is sent when the next job may start. */
	w->waiter.polls = ret->ready || ret->blocked || w->options.drain ||
			  rp__has_swept_lately(w->conn) || w->conn->has_unswept;
	if (!ret->suspects)
		rp__alone_note_claim(&w->alone, 0, 0);
	return 0;
}

/* Probe (read whether jobs are due or ready) if the last wait returned
 * RP_WAIT_PROBE or RP_WAIT_SWEEP. A busy worker does not wait, so it probes
 * when the time probe_at has come. */
static int
probe_if_due(rp_worker *w, int64_t now)
{
	struct rp_probe ignored;

	if (!w->waited && now >= w->waiter.probe_at)
		w->what |= RP_WAIT_PROBE | RP_WAIT_SWEEP;
	w->waited = 0;
	if (!(w->what & (RP_WAIT_PROBE | RP_WAIT_SWEEP)))
		return 0;
	return probe(w, w->what, &ignored);
}

/* Find out whether the worker may end, and return 1 if so. Call this when the
 * worker holds no job and has nothing to settle. With the option `drain`, this
 * probes all its queues in one transaction, and sweeps. */
static int
try_to_end(rp_worker *w, int *ret_r)
{
	struct rp_probe found = { 0 };

	if (w->locked.count)
		return atomic_load(&w->stopping) &&
		       w->locked_tries >= MOST_TRIES_AT_THE_END;
	if (is_ending(w))
		return 1;
	if (!w->options.drain || (w->maybe_ready && *w->queues))
		return 0;
	*ret_r = rp__queues_find_at_the_end(w);
	if (*ret_r == 0)
		*ret_r = probe(w, RP_WAIT_PROBE | RP_WAIT_SWEEP, &found);
	if (*ret_r < 0 || (w->maybe_ready && *w->queues) || w->troubles ||
	    found.ready || found.running || found.blocked ||
	    found.due_in_ms == 0)
		return 0;
	return w->options.drain != RP_DRAIN_SETTLED ||
	       !rp__unsettled_drop_settled(w, ret_r);
}

/* Return 1 if tasks wait and no task was started for STUCK_MS. Then the caller
 * releases the waiting tasks, because other workers may be free to run them.
 *
 * If tasks wait although a slot is free, the program that pulls tasks has
 * stopped calling rp_worker_next(). Then this function sets `absent`, and the
 * worker claims nothing until the next call. */
static int
look_for_stuck_tasks(rp_worker *w)
{
	struct pool *pool = &w->pool;
	const rp_task *first;
	int64_t now = rp__monotonic_us();
	int answer;

	pthread_mutex_lock(&pool->lock);
	first = pool->todo.first;
	answer = first && now - pool->started_us > STUCK_MS * 1000 &&
		 now / 1000 - first->fetched_at > STUCK_MS;
	if (answer && pool->pulled && pool->running_count < pool->slots)
		pool->absent = 1;
	w->maybe_ready |= pool->absent;
	pthread_mutex_unlock(&pool->lock);
	return answer;
}

static int
step(rp_worker *w, struct tasks *finished)
{
	int64_t now = rp__monotonic_ms();
	int r;

	if (atomic_load(&w->stopping) || look_for_stuck_tasks(w))
		rp__worker_take_unstarted(w, finished);
	r = rp__lease_give_back_unknown(w, finished);
	if (r == 0)
		r = rp__lease_renew(w);
	rp__worker_take_finished(w, finished);
	if (r == 0)
		r = rp__worker_settle_locked(w);
	rp__alone_end_making_room(&w->alone, appetite(w).holding);
	if (r == 0)
		r = rp__queues_find_if_due(w, now);
	if (r == 0)
		r = settle_and_claim(w, finished);
	if (r == 0)
		r = probe_if_due(w, now);
	return r < 0 ? r : rp__worker_heartbeat_if_due(w, now);
}

static int
loop(rp_worker *w, struct tasks *finished)
{
	struct appetite a;
	int before = 0, r;

	for (;;) {
		if (w->troubles == before)
			w->troubles = 0;
		before = w->troubles;
		r = step(w, finished);
		if (r < 0)
			return r;
		a = appetite(w);
		rp__worker_take_finished(w, finished);
		if (finished->count || w->conn->lost_answer ||
		    (a.want && w->maybe_ready))
			continue;
		if (!a.holding && (try_to_end(w, &r) || r < 0))
			return r;
		r = wait_for_news(w);
		if (r < 0)
			return r;
	}
}

/* ---- start and end ---- */

/* Free all tasks that were not settled, for example after a failure. Their jobs
 * stay claimed until the leases run out. */
static void
forget_all(rp_worker *w, struct tasks *finished)
{
	rp__worker_take_unstarted(w, finished);
	rp__worker_take_finished(w, finished);
	rp__tasks_free(finished);
	rp__tasks_free(&w->locked);
}

/* Run the coordinator: open the connection, run the main loop, and close the
 * connection. */
int
rp__loop_run(rp_worker *w, rp_error *reterr)
{
	struct tasks finished = NO_TASKS;
	int r = rp__worker_open(w, reterr);

	if (r < 0)
		return r;
	w->maybe_ready = 1;
	w->heartbeat_at = rp__monotonic_ms();
	if (!w->pool.pulled)
		r = rp__pool_start_threads(w);
	if (r < 0)
		rp__fail(
			&w->conn->error, r,
			"the worker's threads cannot be started: out of memory "
			"or too many threads");
	else
		r = loop(w, &finished);
	if (r < 0)
		*reterr = *rp_last_error(w->conn);
	if (!w->pool.pulled)
		rp__pool_join_threads(w);
	forget_all(w, &finished);
	if (r == 0)
		rp__worker_heartbeat(w, RP_V_WORKER_STOP);
	rp_close(w->conn);
	w->conn = NULL;
	return r;
}
