/*
 * worker.c - the library's worker with a handler that does nothing: how many
 * jobs it drains, and how soon it starts one that another process enqueues.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "bench.h"

#include <math.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define THREADS 2
#define DRAIN "worker.full.2-threads"
#define AGAINST "floor.turn.full.100"

static int64_t
now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

static void
run_worker(const char *path, rp_worker_options *options, rp_handler *handler,
	   void *ctx, rp_worker **worker)
{
	char *url = text("sqlite:%s?synchronous=full", path);
	rp_error error;

	if (rp_worker_new(url, options, worker, &error) < 0)
		die("rp_worker_new: %s", error.message);
	if (rp_worker_handle(*worker, QUEUE, NULL, handler, ctx) < 0)
		die("rp_worker_handle failed");
	if (rp_worker_run(*worker, &error) < 0)
		die("rp_worker_run: %s", error.message);
	rp_worker_free(*worker);
	free(url);
}

/* ---- draining ---- */

struct drain {
	rp_worker *worker;
	int64_t for_ns;
	_Atomic int64_t count, first_ns, last_ns;
};

static int
drain_one(rp_task *task, const rp_job *job, void *ctx)
{
	struct drain *d = ctx;
	int64_t now = now_ns(), none = 0;

	(void)task;
	(void)job;
	atomic_fetch_add(&d->count, 1);
	atomic_compare_exchange_strong(&d->first_ns, &none, now);
	atomic_store(&d->last_ns, now);
	if (now - atomic_load(&d->first_ns) > d->for_ns)
		rp_worker_stop(d->worker);
	return RP_DONE;
}

void
worker_rows(const struct bench *b)
{
	report_row(b->report, DRAIN, "jobs/s", AGAINST, 0);
}

void
worker_round(const struct bench *b, int round)
{
	double rate = report_median(b->report, AGAINST);
	double seconds = 2 * b->seconds;
	struct drain d = { .for_ns = (int64_t)(seconds * 1e9) };
	rp_worker_options options = RP_WORKER_INIT;
	char *path = database_path(b, "library");

	options.threads = THREADS;
	options.drain = 1;
	if (round >= 0) {
		database_fill(path, (size_t)(rate * seconds * 1.5) + 1000);
		run_worker(path, &options, drain_one, &d, &d.worker);
		/* From the first start to the last: neither the opening nor
		 * the end of it. */
		report_sample(b->report, DRAIN,
			      (double)(d.count - 1) * 1e9 /
				      (double)(d.last_ns - d.first_ns));
	}
	free(path);
}

/* ---- starting ---- */

static int
note_start(rp_task *task, const rp_job *job, void *ctx)
{
	_Atomic int64_t *started = ctx;
	uint32_t i;

	(void)task;
	memcpy(&i, job->payload, sizeof(i));
	atomic_store(&started[i], now_ns());
	return RP_DONE;
}

static pid_t
start_worker(const char *path, size_t jobs, _Atomic int64_t *started)
{
	rp_worker_options options = RP_WORKER_INIT;
	rp_worker *worker;
	pid_t pid = fork();

	if (pid < 0)
		die("fork failed");
	if (pid > 0)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	options.max_jobs = (int64_t)jobs;
	run_worker(path, &options, note_start, started, &worker);
	_exit(0);
}

static void
wait_for_start(_Atomic int64_t *started)
{
	for (int i = 0; i < 100000; i++) {
		if (atomic_load(started))
			return;
		sleep_us(100);
	}
	die("a job was not started within 10 s");
}

/* Enqueue one job every few milliseconds; when each call returned. */
static void
enqueue_all(const char *path, size_t jobs, int64_t *returned,
	    _Atomic int64_t *started)
{
	char *url = text("sqlite:%s?synchronous=full", path);
	char payload[PAYLOAD] = { 0 };
	rp_new job = RP_NEW_INIT;
	rp_conn *conn;
	rp_error error;

	if (rp_open(url, NULL, &conn, &error) < 0)
		die("rp_open: %s", error.message);
	job.payload = payload;
	job.payload_size = sizeof(payload);
	for (uint32_t i = 0; i < jobs; i++) {
		memcpy(payload, &i, sizeof(i));
		if (rp_enqueue(conn, QUEUE, &job, NULL) < 0)
			die("library: %s", rp_last_error(conn)->message);
		returned[i] = now_ns();
		/* The first finds it starting up, the others find it idle. */
		if (i == 0)
			wait_for_start(&started[0]);
		sleep_us(4000 + i * 7919 % 2000);
	}
	wait_for_start(&started[jobs - 1]);
	rp_close(conn);
	free(url);
}

static int
compare(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

void
starts_rows(const struct bench *b)
{
	report_row(b->report, "start.p50", "ms", NULL, 0);
	report_row(b->report, "start.p99", "ms", NULL, 0);
}

void
starts_run(const struct bench *b)
{
	size_t jobs = b->starts + 1, size = jobs * sizeof(int64_t);
	_Atomic int64_t *started = mmap(NULL, size, PROT_READ | PROT_WRITE,
					MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int64_t *returned = allocate(size);
	double *ms = allocate(jobs * sizeof(*ms));
	char *path = database_path(b, "library");
	int status;
	pid_t pid;

	progress(b, "starts", -1);
	if (started == MAP_FAILED)
		die("no shared memory");
	database_fill(path, 0);
	pid = start_worker(path, jobs, started);
	enqueue_all(path, jobs, returned, started);
	if (waitpid(pid, &status, 0) != pid || status != 0)
		die("the worker failed");
	for (size_t i = 1; i < jobs; i++)
		ms[i - 1] = fmax(0, (double)(started[i] - returned[i]) / 1e6);
	qsort(ms, b->starts, sizeof(*ms), compare);
	report_sample(b->report, "start.p50", ms[b->starts / 2]);
	report_sample(b->report, "start.p99", ms[b->starts * 99 / 100]);
	munmap(started, size);
	free(returned);
	free(ms);
	free(path);
}
