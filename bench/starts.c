/*
 * starts.c - measure how soon an idle worker starts a job that another process
 * enqueues.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "starts.h"

#include <math.h>
#include <readpast.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "basics.h"

static int
note_start(rp_task *task, const rp_job *job, void *ctx)
{
	_Atomic int64_t *started = ctx;
	uint32_t i;

	(void)task;
	memcpy(&i, job->payload, sizeof(i));
	atomic_store(&started[i], monotonic_ns());
	return RP_DONE;
}

static pid_t
start_worker(const char *url, size_t jobs, _Atomic int64_t *started)
{
	rp_worker_options options = RP_WORKER_INIT;
	rp_worker *worker;
	rp_error error;
	pid_t pid = fork_child();

	if (pid > 0)
		return pid;
	options.max_jobs = (int64_t)jobs;
	if (rp_worker_new(url, &options, &worker, &error) < 0)
		die("rp_worker_new: %s", error.message);
	if (rp_worker_handle(worker, QUEUE, NULL, note_start, started) < 0)
		die("rp_worker_handle failed");
	if (rp_worker_run(worker, &error) < 0)
		die("rp_worker_run: %s", error.message);
	rp_worker_free(worker);
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

/* Enqueue jobs one by one, and record when each call returned. `gap_us` is the
 * shortest pause between two jobs. */
static void
enqueue_all(const char *url, size_t jobs, int64_t gap_us, int64_t *returned,
	    _Atomic int64_t *started)
{
	char payload[PAYLOAD] = { 0 };
	rp_job_spec job = RP_JOB_SPEC_INIT;
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
		returned[i] = monotonic_ns();
		/* The first job may be enqueued before the worker is ready. So
		 * wait until this job has started. Then the worker is idle when
		 * the other jobs arrive. */
		if (i == 0)
			wait_for_start(&started[0]);
		sleep_us(gap_us + i * 7919 % (gap_us / 2));
	}
	wait_for_start(&started[jobs - 1]);
	rp_close(conn);
}

static int
compare(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

void
starts_measure(const char *url, size_t n, int64_t gap_us, double *p50,
	       double *p99)
{
	size_t jobs = n + 1, size = jobs * sizeof(int64_t);
	_Atomic int64_t *started = allocate_shared(size);
	int64_t *returned = allocate(size);
	double *ms = allocate(jobs * sizeof(*ms));
	pid_t pid;

	pid = start_worker(url, jobs, started);
	enqueue_all(url, jobs, gap_us, returned, started);
	if (spawn_wait(pid) != 0)
		die("the worker failed");
	for (size_t i = 1; i < jobs; i++)
		ms[i - 1] = fmax(0, (double)(started[i] - returned[i]) / 1e6);
	qsort(ms, n, sizeof(*ms), compare);
	*p50 = ms[n / 2];
	*p99 = ms[n * 99 / 100];
	munmap(started, size);
	free(returned);
	free(ms);
}
