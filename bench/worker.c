/*
 * worker.c - measure how fast the library's worker drains a queue with a
 * handler that does nothing.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "bench.h"

#include <stdatomic.h>
#include <stdlib.h>

#define THREADS 2
#define DRAIN "worker.full.2-threads"
#define AGAINST "floor.turn.full.100"

struct drain {
	rp_worker *worker;
	int64_t for_ns;
	_Atomic int64_t count, first_ns, last_ns;
};

static int
drain_one(rp_task *task, const rp_job *job, void *ctx)
{
	struct drain *d = ctx;
	int64_t now = monotonic_ns(), none = 0;

	(void)task;
	(void)job;
	atomic_fetch_add(&d->count, 1);
	atomic_compare_exchange_strong(&d->first_ns, &none, now);
	atomic_store(&d->last_ns, now);
	if (now - atomic_load(&d->first_ns) > d->for_ns)
		rp_worker_stop(d->worker);
	return RP_DONE;
}

static void
run_worker(const char *path, struct drain *d)
{
	char *url = text("sqlite:%s?synchronous=full", path);
	rp_worker_options options = RP_WORKER_INIT;
	rp_error error;

	options.threads = THREADS;
	options.drain = 1;
	if (rp_worker_new(url, &options, &d->worker, &error) < 0)
		die("rp_worker_new: %s", error.message);
	if (rp_worker_handle(d->worker, QUEUE, NULL, drain_one, d) < 0)
		die("rp_worker_handle failed");
	if (rp_worker_run(d->worker, &error) < 0)
		die("rp_worker_run: %s", error.message);
	rp_worker_free(d->worker);
	free(url);
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
	char *path = database_path(b, "library");

	if (round >= 0) {
		database_fill(path, (size_t)(rate * seconds * 1.5) + 1000);
		run_worker(path, &d);
		/* Measure from the first to the last call of the handler, to
		 * leave out the time in which the worker starts and stops. */
		report_sample(b->report, DRAIN,
			      (double)(d.count - 1) * 1e9 /
				      (double)(d.last_ns - d.first_ns));
	}
	free(path);
}
