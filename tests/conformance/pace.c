/*
 * pace.c - test how often a worker queries the database while others write.
 * SQLite only.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "check.h"

#include <stdatomic.h>
#include <time.h>

#include "process.h"

/* ---- a worker in a process of its own ---- */

/* The memory shared with the worker. */
struct seen {
	atomic_long jobs;
};

struct child {
	const struct db *db;
	int queues;
	int64_t jobs; /* the worker ends after this many jobs */
	struct seen *seen;
};

static int
do_nothing(rp_task *task, const rp_job *job, void *ctx)
{
	(void)task;
	(void)job;
	(void)ctx;
	return RP_DONE;
}

static void
observe(const rp_event *event, void *ctx)
{
	struct seen *seen = ctx;

	if (event->what == RP_EVENT_CLAIM)
		atomic_fetch_add(&seen->jobs, 1);
}

static int
be_worker(void *ctx)
{
	const struct child *child = ctx;
	rp_worker_options options = RP_WORKER_INIT;
	rp_worker *worker;
	rp_error error;
	char queue[20];
	int r;

	options.max_jobs = child->jobs;
	options.observer = observe;
	options.observer_ctx = child->seen;
	if (rp_worker_new(child->db->url, &options, &worker, &error) < 0)
		return 1;
	for (int i = 0; i < child->queues; i++) {
		snprintf(queue, sizeof(queue), "q%d", i);
		rp_worker_handle(worker, queue, NULL, do_nothing, NULL);
	}
	r = rp_worker_run(worker, &error);
	rp_worker_free(worker);
	return r < 0;
}

/* Start the worker, and wait until it has done a job of the last queue that it
 * serves. */
static pid_t
start_worker(struct db *db, struct child *child)
{
	char last[20];
	pid_t pid;

	child->db = db;
	child->seen = shared_memory(sizeof(*child->seen));
	assert_non_null(child->seen);
	/* no connection may be open while the process forks */
	rp_close(db->conn);
	pid = in_child(be_worker, child);
	db->conn = connect_to(db);
	snprintf(last, sizeof(last), "q%d", child->queues - 1);
	put(db->conn, last, "x");
	while (atomic_load(&child->seen->jobs) == 0)
		sleep_ms(1);
	return pid;
}

/* Return the processor time that the worker has used so far, in ms. */
static int64_t
used_ms(pid_t pid)
{
	struct timespec used;
	clockid_t clock;

	assert_int_equal(clock_getcpuclockid(pid, &clock), 0);
	assert_int_equal(clock_gettime(clock, &used), 0);
	return used.tv_sec * 1000 + used.tv_nsec / 1000000;
}

/* ---- the case ---- */

/* A worker probes (queries for ready jobs) when another client has committed.
 * A probe that found nothing is followed by a pause, in which commits cause no
 * probe. The pause is 15 times as long as the probe took, but at most 50 ms. */
static void
a_worker_of_many_queues_pauses_while_others_commit(void **state)
{
	struct db *db = *state;
	struct child child = { .queues = 999, .jobs = 2 };
	pid_t pid = start_worker(db, &child);
	int64_t from = now_ms(), used = used_ms(pid), took;

	while (now_ms() - from < 3000) {
		put(db->conn, "of others", "x");
		sleep_ms(2);
	}
	took = now_ms() - from;
	used = used_ms(pid) - used;
	put(db->conn, "q0", "x");
	expect_success(pid);
	/* The worker probes for a sixteenth of the time, and pauses for the
	 * other fifteen sixteenths. The test accepts a worker that probes for
	 * up to a third of the time. */
	assert_in_range(used, 0, took / 3);
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		CASE(a_worker_of_many_queues_pauses_while_others_commit),
	};

	databases_at(argc, argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
