/*
 * steady.c - measure how many jobs two worker processes finish in a given time,
 * while a producer enqueues jobs, each in a transaction of its own.
 *
 * For comparison, the same is measured with a queue written by hand, without
 * leases. Its workers claim up to a hundred jobs and complete them in the same
 * commit. If a claim finds no job, the worker sleeps briefly.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "bench.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define WORKERS 2
#define BATCH 100
#define NAP_US 2000
#define LEVEL "normal"

/* memory that the producer shares with the workers */
struct served {
	_Atomic size_t jobs;
	_Atomic int ready;
};

struct scene {
	/* the queue that is measured */
	const struct side *side;
	void (*work)(const char *path, struct served *served);
	const char *row;
};

static void
work_by_hand(const char *path, struct served *served)
{
	const struct side *side = &floor_side;
	void *handle = side->open(path, LEVEL, BATCH);

	atomic_fetch_add(&served->ready, 1);
	for (;;) {
		size_t n = side->turn(handle);

		atomic_fetch_add(&served->jobs, n);
		if (n == 0)
			sleep_us(NAP_US);
	}
}

static int
count(rp_task *task, const rp_job *job, void *ctx)
{
	struct served *served = ctx;

	(void)task;
	(void)job;
	atomic_fetch_add(&served->jobs, 1);
	return RP_DONE;
}

static void
work_with_library(const char *path, struct served *served)
{
	char *url = text("sqlite:%s?synchronous=" LEVEL, path);
	rp_worker *worker;
	rp_error error;

	if (rp_worker_new(url, NULL, &worker, &error) < 0)
		die("rp_worker_new: %s", error.message);
	if (rp_worker_handle(worker, QUEUE, NULL, count, served) < 0)
		die("rp_worker_handle failed");
	atomic_fetch_add(&served->ready, 1);
	if (rp_worker_run(worker, &error) < 0)
		die("rp_worker_run: %s", error.message);
}

static const struct scene scenes[] = {
	{ &floor_side, work_by_hand, "floor.steady" },
	{ &library_side, work_with_library, "steady" },
};

static pid_t
start(const struct scene *scene, const char *path, struct served *served)
{
	pid_t pid = fork_child();

	if (pid > 0)
		return pid;
	scene->work(path, served);
	_exit(1);
}

static double
run(const struct scene *scene, const char *path, double seconds)
{
	struct served *served = allocate_shared(sizeof(*served));
	pid_t pids[WORKERS];
	double from, took;
	size_t jobs;
	void *handle;

	for (int i = 0; i < WORKERS; i++)
		pids[i] = start(scene, path, served);
	while (atomic_load(&served->ready) < WORKERS)
		sleep_us(1000);
	handle = scene->side->open(path, LEVEL, 1);
	from = seconds_now();
	do {
		scene->side->enqueue(handle);
		took = seconds_now() - from;
	} while (took < seconds);
	jobs = atomic_load(&served->jobs);
	scene->side->close(handle);
	for (int i = 0; i < WORKERS; i++)
		spawn_kill(pids[i]);
	munmap(served, sizeof(*served));
	return (double)jobs / took;
}

void
steady_rows(const struct bench *b)
{
	report_row(b->report, scenes[0].row, "jobs/s", NULL, 0);
	report_row(b->report, scenes[1].row, "jobs/s", scenes[0].row, 0);
}

void
steady_round(const struct bench *b, int round)
{
	char *path = database_path(b, "library");

	for (size_t i = 0; i < 2 && round >= 0; i++) {
		database_fill(path, 0);
		report_sample(b->report, scenes[i].row,
			      run(&scenes[i], path, 5 * b->seconds));
	}
	free(path);
}
