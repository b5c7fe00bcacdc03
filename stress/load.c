/*
 * load.c - the producer and the worker of `readpast stress`.
 *
 * Each producer and each worker is a process. These processes use the library
 * like any program, and record each answer of the library as docs/history.md
 * describes.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "stress.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* With --for, producers pause while more than this many enqueued jobs are not
 * done. Each kill of a worker raises this limit by 5,000. */
#define BACKLOG 20000

/* Return a random number, computed by splitmix64. The result depends only on
 * the arguments. So runs with the same seed make the same choices, in whatever
 * order the processes call this function. */
uint64_t
stress_random(uint64_t seed, uint64_t a, uint64_t b)
{
	uint64_t z = seed + a * UINT64_C(0x9e3779b97f4a7c15) +
		     b * UINT64_C(0xd1b54a32d192ed03);

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

/* Record why a child failed, unless another failure is recorded already. The
 * parent prints the recorded failure. Returns FAILED. */
int
child_fails(struct stress *stress, const char *what, const char *why)
{
	int not_yet = 0;

	if (atomic_compare_exchange_strong(&stress->shared->failing, &not_yet,
					   -1)) {
		snprintf(stress->shared->why, sizeof(stress->shared->why),
			 "%s: %s", what, why);
		atomic_store(&stress->shared->failing, 1);
	}
	return FAILED;
}

static uint32_t
ago(int64_t now, int64_t asked)
{
	return now - asked > UINT32_MAX ? UINT32_MAX : (uint32_t)(now - asked);
}

/* ---- groups ---- */

/* Returns the number of a group, or 0 if `name` is NULL. */
static uint32_t
group_of(const char *name)
{
	return name ? (uint32_t)strtoul(name + 1, NULL, 10) : 0;
}

void
group_name(char to[GROUP_ROOM], uint32_t group)
{
	snprintf(to, GROUP_ROOM, "g%u", (unsigned)group);
}

/* ---- producing ---- */

/* Return the number of jobs in the next batch, or 0 if no jobs are left to
 * make. */
static size_t
next_share(struct stress *stress)
{
	struct shared *s = stress->shared;
	int64_t left;

	while (stress->for_ms && !atomic_load(&s->stop) &&
	       atomic_load(&s->enqueued) - atomic_load(&s->done) >
		       BACKLOG + 5000 * atomic_load(&s->kills))
		sleep_us(1000);
	if (atomic_load(&s->stop))
		return 0;
	if (stress->for_ms)
		return (size_t)stress->batch;
	left = atomic_fetch_sub(&s->to_make, stress->batch);
	if (left <= 0)
		return 0;
	return (size_t)(left < stress->batch ? left : stress->batch);
}

/* The jobs that a producer enqueues in one call. */
struct batch {
	struct stress *stress;
	struct child *child;
	rp_conn *conn;
	rp_job_spec *jobs;
	rp_added *added;
	uint32_t *groups; /* the group of each job */
	char (*names)[GROUP_ROOM];
	uint64_t made; /* how many groups were chosen so far */
};

/* Choose the groups of the next `n` jobs. */
static void
choose_groups(struct batch *b, size_t n)
{
	const struct stress *s = b->stress;
	uint64_t me = (uint64_t)(b->child - s->children) << 40;

	for (size_t i = 0; i < n && s->groups; i++) {
		uint64_t dice =
			stress_random((uint64_t)s->seed, 'g', me + b->made++);

		b->groups[i] = (uint32_t)(dice % (uint64_t)s->groups) + 1;
		group_name(b->names[i], b->groups[i]);
		b->jobs[i].group_key = b->names[i];
	}
}

static int
note_enqueued(struct batch *b, size_t n, int64_t asked)
{
	int64_t now = monotonic_us();

	for (size_t i = 0; i < n; i++) {
		struct moment m = { .at = now,
				    .id = b->added[i].id,
				    .asked_ago_us = ago(now, asked),
				    .what = ENQUEUED,
				    .group = b->groups[i] };

		if (log_note(&b->child->log, &m) < 0)
			return -1;
	}
	return 0;
}

/* Enqueue batch by batch. Try again after RP_EBUSY (a lock could not be had)
 * and RP_ELOST (the connection was lost). After RP_ELOST the jobs may exist
 * already. Enqueueing such jobs once more does no harm, because jobs that were
 * not acknowledged are not counted. */
static int
produce_all(struct batch *b)
{
	struct stress *stress = b->stress;
	size_t n;

	while ((n = next_share(stress)) > 0) {
		int64_t asked;
		int r;

		choose_groups(b, n);
		do {
			asked = monotonic_us();
			r = rp_enqueue_many(b->conn, stress->queue, b->jobs, n,
					    b->added);
		} while ((r == RP_EBUSY || r == RP_ELOST) &&
			 !atomic_load(&stress->shared->stop));
		if (r < 0 && atomic_load(&stress->shared->stop))
			return DONE;
		if (r < 0)
			return child_fails(stress, "a producer",
					   rp_last_error(b->conn)->message);
		if (note_enqueued(b, n, asked) < 0)
			return child_fails(stress, "a producer",
					   "out of memory for the history");
		atomic_fetch_add(&stress->shared->enqueued, (int64_t)n);
	}
	return DONE;
}

int
produce(struct stress *stress, struct child *child)
{
	size_t n = (size_t)stress->batch, size = (size_t)stress->payload;
	unsigned char *payload = malloc(size + 1);
	rp_job_spec job = RP_JOB_SPEC_INIT;
	struct batch b = { .stress = stress, .child = child };
	rp_error error;
	int status = FAILED;

	b.jobs = calloc(n, sizeof(*b.jobs));
	b.added = calloc(n, sizeof(*b.added));
	b.groups = calloc(n, sizeof(*b.groups));
	b.names = calloc(n, sizeof(*b.names));
	if (!payload || !b.jobs || !b.added || !b.groups || !b.names) {
		status = child_fails(stress, "a producer", "out of memory");
		goto fail;
	}
	for (size_t i = 0; i < size; i++)
		payload[i] = (unsigned char)stress_random(
			(uint64_t)stress->seed, 'p', i);
	job.payload = payload;
	job.payload_size = size;
	for (size_t i = 0; i < n; i++)
		b.jobs[i] = job;
	if (rp_open(stress->cmd->url, NULL, &b.conn, &error) < 0)
		status = child_fails(stress, "a producer", error.message);
	else
		status = produce_all(&b);
fail:
	rp_close(b.conn);
	free(b.jobs);
	free(b.added);
	free(b.groups);
	free(b.names);
	free(payload);
	return status;
}

/* ---- working ---- */

struct working {
	struct stress *stress;
	struct child *child;
};

static int
handle(rp_task *task, const rp_job *job, void *ctx)
{
	struct stress *stress = ctx;
	uint64_t dice = stress_random((uint64_t)stress->seed, (uint64_t)job->id,
				      (uint64_t)job->attempt);

	if (stress->work_ms)
		sleep_us(stress->work_ms * 1000);
	if ((double)(dice >> 11) * 0x1p-53 >= stress->fail_rate)
		return RP_DONE;
	rp_task_error(task, "failed at random (--fail-rate)");
	return RP_FAIL;
}

static void
count_settled(struct shared *shared, const rp_event *e)
{
	if (e->result < 0 || e->verdict == RP_EXTEND)
		return;
	if (e->state == RP_STATE_DONE)
		atomic_fetch_add(&shared->done, 1);
	else if (e->state == RP_STATE_DEAD)
		atomic_fetch_add(&shared->dead, 1);
	else if (e->verdict == RP_FAIL)
		atomic_fetch_add(&shared->failed, 1);
}

static void
observe(const rp_event *e, void *ctx)
{
	static const uint8_t what[] = {
		[RP_EVENT_CLAIM] = CLAIMED,   [RP_EVENT_START] = STARTED,
		[RP_EVENT_SETTLE] = SETTLING, [RP_EVENT_SETTLED] = SETTLED,
		[RP_EVENT_LOST] = LOST,
	};
	struct working *w = ctx;
	struct moment m;
	int64_t now;

	if (!e->job || e->what >= RP_EVENT_TROUBLE)
		return;
	now = monotonic_us();
	m = (struct moment){
		.at = now,
		.id = e->job->id,
		.claim_no = e->job->claim_no,
		.asked_ago_us = ago(now, e->asked_us ? e->asked_us : now),
		.lease_ms =
			(uint32_t)(e->job->lease_until - e->job->claimed_at),
		.attempt = (uint16_t)e->job->attempt,
		.max_attempts = (uint16_t)e->job->max_attempts,
		.what = what[e->what],
		.verdict = (uint8_t)e->verdict,
		.result = (int8_t)e->result,
		.state = (uint8_t)e->state,
		.group = group_of(e->job->group_key),
	};
	if (log_note(&w->child->log, &m) < 0) {
		child_fails(w->stress, "a worker",
			    "out of memory for the history");
		_exit(FAILED);
	}
	if (e->what == RP_EVENT_SETTLED)
		count_settled(w->stress->shared, e);
}

static rp_worker *volatile signalled;

static void
on_term(int number)
{
	(void)number;
	rp_worker_stop(signalled);
}

int
work(struct stress *stress, struct child *child)
{
	struct working working = { stress, child };
	rp_worker_options options = RP_WORKER_INIT;
	struct sigaction action = { .sa_handler = on_term,
				    .sa_flags = SA_RESTART };
	rp_worker *worker;
	rp_error error;
	int r;

	options.threads = (int)stress->threads;
	options.observer = observe;
	options.observer_ctx = &working;
	r = rp_worker_new(stress->cmd->url, &options, &worker, &error);
	if (r < 0)
		return child_fails(stress, "a worker", error.message);
	signalled = worker;
	sigaction(SIGTERM, &action, NULL);
	if (rp_worker_handle(worker, stress->queue, NULL, handle, stress) < 0)
		r = child_fails(stress, "a worker", "no such queue");
	else if (rp_worker_run(worker, &error) < 0)
		r = child_fails(stress, "a worker", error.message);
	rp_worker_free(worker);
	return r;
}
