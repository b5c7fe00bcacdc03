/*
 * renewal.c - handlers end and begin while the database does not answer a
 * renewal. On a server a worker waits for no lock for longer than a moment; in
 * a file somebody's open transaction stops all writers.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "check.h"

#include <stdatomic.h>

#define LEASE_MS 450 /* renewed before the tasks behind it are given back */
#define PATIENCE_MS 60000
#define AROUND 200 /* jobs before and behind the one that locks */

struct seen {
	rp_conn *conn;                  /* locks the database */
	int is_locked, began_meanwhile; /* the one handler thread's */
	int64_t locker;
	atomic_int asked, answered; /* renewals of it; and troubles */
	atomic_int is_locking, wrong;
};

static void
lock_database(struct seen *seen)
{
	if (rp_begin(seen->conn) < 0)
		atomic_fetch_add(&seen->wrong, 1);
	seen->is_locked = 1;
	atomic_store(&seen->is_locking, 1);
}

static void
unlock_database(struct seen *seen)
{
	seen->is_locked = 0;
	if (rp_rollback(seen->conn) < 0)
		atomic_fetch_add(&seen->wrong, 1);
}

static void
watch(const rp_event *e, void *ctx)
{
	struct seen *seen = ctx;

	if (e->what == RP_EVENT_LOST)
		atomic_fetch_add(&seen->wrong, 1);
	if (!atomic_load(&seen->is_locking))
		return;
	if (e->what == RP_EVENT_SETTLE && e->verdict == RP_EXTEND)
		atomic_fetch_add(&seen->asked, 1);
	else if (atomic_load(&seen->asked) &&
		 (e->what == RP_EVENT_TROUBLE || e->what == RP_EVENT_SETTLED))
		atomic_fetch_add(&seen->answered, 1);
}

/* The job that locks ends while its own renewal is asked for, and the next one
 * begins on the same thread. */
static int
handle(rp_task *task, const rp_job *job, void *ctx)
{
	struct seen *seen = ctx;
	int64_t last = now_ms() + PATIENCE_MS;

	(void)task;
	if (job->id == seen->locker) {
		lock_database(seen);
		while (!atomic_load(&seen->asked) && now_ms() < last)
			sleep_ms(1);
	} else if (seen->is_locked) {
		seen->began_meanwhile = !atomic_load(&seen->answered);
		unlock_database(seen);
	}
	return RP_DONE;
}

static void
P4_handlers_end_and_begin_while_a_renewal_hangs(void **state)
{
	static struct seen seen;
	struct db *db = *state;
	rp_worker_options options = RP_WORKER_INIT;
	rp_worker_counts counts;
	rp_worker *worker;
	rp_error error;

	memset(&seen, 0, sizeof(seen));
	seen.conn = connect_to(db);
	for (int i = 0; i < AROUND; i++)
		put(db->conn, "q", "before");
	seen.locker = put(db->conn, "q", "locks");
	for (int i = 0; i < AROUND; i++)
		put(db->conn, "q", "behind");
	options.lease_ms = LEASE_MS;
	options.drain = 1;
	options.observer = watch;
	options.observer_ctx = &seen;
	assert_int_equal(rp_worker_new(db->url, &options, &worker, NULL), 0);
	assert_int_equal(rp_worker_handle(worker, "q", NULL, handle, &seen), 0);
	if (rp_worker_run(worker, &error) < 0)
		fail_msg("%s", error.message);
	counts = rp_worker_counts_get(worker);
	rp_worker_free(worker);
	rp_close(seen.conn);
	assert_true(atomic_load(&seen.asked) > 0);
	assert_true(seen.began_meanwhile);
	assert_int_equal(atomic_load(&seen.wrong), 0);
	assert_int_equal(counts.done, 2 * AROUND + 1);
	assert_int_equal(counts.lost, 0);
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		CASE(P4_handlers_end_and_begin_while_a_renewal_hangs),
	};

	databases_at(argc, argv);
	return cmocka_run_group_tests_name("renewal", tests, NULL, NULL);
}
