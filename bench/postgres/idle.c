/*
 * idle.c - measure idle workers: how many statements they send, how many
 * statements one new job causes, and how soon a worker starts this job.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include <readpast.h>

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "../starts.h"
#include "pg.h"

#define SCHEMA "readpast"
#define STACK (256 << 10)
/* pause between jobs that is long enough for a worker to become idle */
#define IDLE_US 60000
/* pause between jobs that is too short for a worker to become idle */
#define SOON_US 4000
#define SETTLING 15 /* seconds after which idle workers poll rarely */

/* ---- the workers, which are threads of one process ---- */

static int
handle(rp_task *task, const rp_job *job, void *ctx)
{
	(void)task;
	(void)job;
	(void)ctx;
	return RP_DONE;
}

static void *
serve(void *ctx)
{
	rp_worker_options options = RP_WORKER_INIT;
	rp_worker *worker;
	rp_error error;

	if (rp_worker_new(ctx, &options, &worker, &error) < 0)
		die("rp_worker_new: %s", error.message);
	if (rp_worker_handle(worker, QUEUE, NULL, handle, NULL) < 0)
		die("rp_worker_handle failed");
	if (rp_worker_run(worker, &error) < 0)
		die("rp_worker_run: %s", error.message);
	return NULL;
}

static pid_t
start_workers(const struct bench *b)
{
	char *url = server_library_url(b, SCHEMA);
	pid_t pid = fork_child();
	pthread_attr_t attr;
	pthread_t thread;

	if (pid > 0) {
		free(url);
		return pid;
	}
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK);
	for (size_t i = 0; i < b->workers; i++)
		if (pthread_create(&thread, &attr, serve, url) != 0)
			die("no thread");
	for (;;)
		pause();
}

/* ---- count statements in the server's log ---- */

static double
statements(const struct bench *b)
{
	return server_logged(b, "LOG:  statement: ") +
	       server_logged(b, "LOG:  execute ");
}

static double
statements_in(const struct bench *b, double seconds)
{
	double before = statements(b);

	sleep_us((int64_t)(seconds * 1e6));
	return statements(b) - before;
}

static void
wait_for_workers(const struct bench *b, rp_conn *conn)
{
	while (server_number(conn, "select count(distinct worker_id)"
				   "  from waiter") < (double)b->workers)
		sleep_us(100000);
	if (b->idle >= SETTLING)
		sleep_us(SETTLING * INT64_C(1000000));
}

void
idle_part(const struct bench *b)
{
	double asleep, woken, watched;
	rp_conn *conn;
	pid_t pid;

	progress("idle workers", -1, 0);
	row_add(b, "idle-workers", "-", NULL, NULL, 0);
	report_sample(b->report, "idle-workers", (double)b->workers);
	row_add(b, "idle.statements", "/s", NULL, "<=", 200);
	row_add(b, "idle.wake-up", "statements", NULL, "<=", 100);
	library_side.create(b, SCHEMA);
	conn = server_connect(b, SCHEMA);
	pid = start_workers(b);
	wait_for_workers(b, conn);
	server_set(b, "log_statement", "'all'");
	sleep_us(500000);
	asleep = statements_in(b, b->idle) / b->idle;
	report_sample(b->report, "idle.statements", asleep);
	server_execute(conn, "select enqueue('" QUEUE "', 'one'::text)");
	/* The usual polls of idle workers are subtracted from the count. Each
	 * worker polls every 8 to 10 s, and after some time all workers poll in
	 * the same second. So count for 10 s, which is long enough for each
	 * worker to poll. */
	watched = b->idle < 10 ? 1 : 10;
	woken = statements_in(b, watched) - asleep * watched;
	report_sample(b->report, "idle.wake-up", woken > 0 ? woken : 0);
	server_set(b, "log_statement", "default");
	spawn_kill(pid);
	rp_close(conn);
}

/* Measure how soon a worker starts a job. `gap_us` is the pause between jobs,
 * and decides whether the worker is idle or has just been busy. */
static void
measure_starts(const struct bench *b, const char *name, int64_t gap_us,
	       size_t starts)
{
	char *url = server_library_url(b, SCHEMA);
	char *first = text("%s.p50", name), *second = text("%s.p99", name);
	int is_idle = gap_us == IDLE_US;
	double p50, p99;

	library_side.create(b, SCHEMA);
	starts_measure(url, starts, gap_us, &p50, &p99);
	row_add(b, first, "ms", NULL, is_idle ? "<=" : NULL, 2);
	row_add(b, second, "ms", NULL, is_idle ? "<=" : NULL, 10);
	report_sample(b->report, first, p50);
	report_sample(b->report, second, p99);
	free(url);
	free(first);
	free(second);
}

void
start_part(const struct bench *b)
{
	progress("starts", -1, 0);
	measure_starts(b, "start", IDLE_US, b->starts);
	measure_starts(b, "start.soon", SOON_US, b->starts);
}
