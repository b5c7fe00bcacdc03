/*
 * renewal.c - test tasks that start and end while a renewal of leases waits for
 * the database.
 *
 * This test is for SQLite, where an open write transaction blocks all other
 * writers. On a server a worker never waits long for a lock.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "check.h"

#include <stdatomic.h>

/* The worker renews a lease after a third of this time, that is, 150 ms. It
 * releases a task that the program has not taken within STUCK_MS (500 ms, see
 * worker/loop.c). So the renewal comes first. */
#define LEASE_MS 450
#define PATIENCE_MS 60000
/* On a very busy machine all waiting tasks may be released before the renewal.
 * So try several times. */
#define TRIES 10

struct seen {
	/* `asked`: how many renewals have begun. `answered`: how many have
	 * ended. A call that fails counts as ended, too. */
	atomic_int asked, answered;
	atomic_int lost;
};

static void
watch(const rp_event *e, void *ctx)
{
	struct seen *seen = ctx;

	if (e->what == RP_EVENT_LOST)
		atomic_fetch_add(&seen->lost, 1);
	if (e->what == RP_EVENT_SETTLE && e->verdict == RP_EXTEND)
		atomic_fetch_add(&seen->asked, 1);
	else if (e->what == RP_EVENT_TROUBLE ||
		 (e->what == RP_EVENT_SETTLED && e->verdict == RP_EXTEND))
		atomic_fetch_add(&seen->answered, 1);
}

static rp_task *
pull(rp_worker *worker, int64_t timeout_ms)
{
	rp_task *task = NULL;

	assert_true(rp_worker_next(worker, timeout_ms, &task, NULL) >= 0);
	return task;
}

/* Start a task, and hold the file's write lock, so that the renewal of the
 * task's lease must wait. Return 1 if the task can end and the next task can
 * start while the renewal waits. */
static int
both_go_on(struct db *db, rp_worker *worker, struct seen *seen)
{
	int64_t last = now_ms() + 5000;
	int answered, asked, go_on;
	rp_task *a, *b;

	put(db->conn, "q", "x");
	put(db->conn, "q", "x");
	a = pull(worker, PATIENCE_MS);
	assert_non_null(a);
	ok(db->conn, rp_begin(db->conn));
	asked = atomic_load(&seen->asked);
	while (atomic_load(&seen->asked) == asked && now_ms() < last)
		sleep_ms(1);
	answered = atomic_load(&seen->answered);
	go_on = atomic_load(&seen->asked) > asked;
	assert_int_equal(rp_task_finish(a, RP_DONE), 0);
	b = pull(worker, 0);
	go_on &= b && atomic_load(&seen->answered) == answered;
	ok(db->conn, rp_rollback(db->conn));
	if (!b)
		b = pull(worker, PATIENCE_MS);
	assert_non_null(b);
	assert_int_equal(rp_task_finish(b, RP_DONE), 0);
	return go_on;
}

static void
P4_tasks_end_and_begin_while_a_renewal_hangs(void **state)
{
	struct db *db = *state;
	rp_worker_options options = RP_WORKER_INIT;
	struct seen seen = { 0 };
	rp_worker_counts counts = RP_WORKER_COUNTS_INIT;
	rp_worker *worker;
	rp_task *none;
	int tries = 1;

	options.threads = 2;
	options.lease_ms = LEASE_MS;
	options.observer = watch;
	options.observer_ctx = &seen;
	assert_int_equal(rp_worker_new(db->url, &options, &worker, NULL), 0);
	assert_int_equal(rp_worker_serve(worker, "q", NULL), 0);
	while (!both_go_on(db, worker, &seen) && tries < TRIES)
		tries++;
	assert_true(tries < TRIES);
	rp_worker_stop(worker);
	assert_int_equal(rp_worker_next(worker, PATIENCE_MS, &none, NULL),
			 RP_NEXT_END);
	assert_int_equal(rp_worker_counts_get(worker, &counts), 0);
	rp_worker_free(worker);
	assert_int_equal(counts.done, 2 * tries);
	assert_int_equal(counts.lost, 0);
	assert_int_equal(atomic_load(&seen.lost), 0);
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		CASE(P4_tasks_end_and_begin_while_a_renewal_hangs),
	};

	databases_at(argc, argv);
	return cmocka_run_group_tests_name("renewal", tests, NULL, NULL);
}
