/*
 * blocked.c - test a worker while another session has locked the row of one of
 * its jobs. Settling this job must wait, but the worker's other jobs must not.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "check.h"

#include <pthread.h>
#include <stdatomic.h>

#define LEASE_MS 2000
#define PATIENCE_MS 20000

struct work {
	struct db *db;
	rp_worker *worker;
	pthread_t thread;
	rp_error error;
	int r;
	/* id of the first job, whose handler waits for `go` */
	atomic_llong held;
	/* `done` is the number of handlers that have ended */
	atomic_int go, done;
	/* the result of rp_task_extend(); 1 before it is called */
	atomic_int extended;
	int64_t first_lease_end; /* see is_long_renewed() */
};

/* ---- waiting ---- */

static int
eventually(int (*is)(struct work *), struct work *work)
{
	int64_t end = now_ms() + PATIENCE_MS;
	int r;

	while (!(r = is(work)) && now_ms() < end)
		sleep_ms(5);
	return r;
}

static int
has_started(struct work *work)
{
	return atomic_load(&work->held) != 0;
}

static int
others_are_done(struct work *work)
{
	return atomic_load(&work->done) >= 20 &&
	       stats_of(work->db->conn, "q").running == 1;
}

static int
all_is_done(struct work *work)
{
	rp_queue_stats q = stats_of(work->db->conn, "q");

	return q.running + q.ready + q.blocked + q.scheduled == 0;
}

/* Returns the end of the lease of the only running job, in epoch ms. */
static int64_t
lease_end(struct work *work)
{
	int64_t end = 0;

	assert_int_equal(run_sql(work->db->conn,
				 "select coalesce(max(extract(epoch from"
				 " lease_until) * 1000)::bigint, 0) from job",
				 &end),
			 0);
	return end;
}

/* Returns 1 if a lease runs that was requested after the end of the first. */
static int
is_long_renewed(struct work *work)
{
	return lease_end(work) > work->first_lease_end + LEASE_MS;
}

static int
has_said(struct work *work)
{
	return atomic_load(&work->extended) != 1;
}

/* ---- handlers ---- */

static void
wait_for_go(struct work *work, const rp_job *job)
{
	int64_t end = now_ms() + PATIENCE_MS;
	long long none = 0;

	atomic_compare_exchange_strong(&work->held, &none, job->id);
	while (!atomic_load(&work->go) && now_ms() < end)
		sleep_ms(5);
}

static int
wait_if_held(rp_task *task, const rp_job *job, void *ctx)
{
	struct work *work = ctx;

	(void)task;
	if (strcmp(job->payload, "held") == 0)
		wait_for_go(work, job);
	atomic_fetch_add(&work->done, 1);
	return RP_DONE;
}

static int
extend_if_held(rp_task *task, const rp_job *job, void *ctx)
{
	struct work *work = ctx;

	if (strcmp(job->payload, "held") != 0)
		return RP_DONE;
	wait_for_go(work, job);
	atomic_store(&work->extended, rp_task_extend(task, LEASE_MS));
	return RP_DONE;
}

/* Complete the job, and commit long after that. The job's row stays locked
 * until the commit. */
static int
commit_late(rp_task *task, const rp_job *job, void *ctx)
{
	struct work *work = ctx;
	rp_conn *conn;
	int r;

	if (strcmp(job->payload, "held") != 0)
		return RP_DONE;
	r = rp_task_begin(task, &conn);
	if (r == 0)
		r = rp_task_complete(task);
	wait_for_go(work, job);
	if (r == 0)
		r = rp_task_commit(task);
	return r == 0 ? RP_DONE : RP_FAIL;
}

/* Hold the queue of the job for a moment, and release the job. Complete it the
 * second time. */
static int
hold_if_held(rp_task *task, const rp_job *job, void *ctx)
{
	struct work *work = ctx;
	int first = 1;

	if (strcmp(job->payload, "held") != 0) {
		atomic_fetch_add(&work->done, 1);
		return RP_DONE;
	}
	if (!atomic_compare_exchange_strong(&work->extended, &first, 0))
		return RP_DONE;
	wait_for_go(work, job);
	return rp_task_hold(task, RP_HOLD_QUEUE, 1) == 0 ? RP_RELEASE : RP_DEAD;
}

/* ---- the worker, and the transaction that locks a job ---- */

static void *
run(void *ctx)
{
	struct work *work = ctx;

	work->r = rp_worker_run(work->worker, &work->error);
	return NULL;
}

static void
start(struct work *work, struct db *db, rp_handler *handler)
{
	rp_worker_options options = RP_WORKER_INIT;

	memset(work, 0, sizeof(*work));
	work->db = db;
	atomic_store(&work->extended, 1);
	options.threads = 2;
	options.lease_ms = LEASE_MS;
	assert_int_equal(rp_worker_new(db->url, &options, &work->worker, NULL),
			 0);
	assert_int_equal(
		rp_worker_handle(work->worker, "q", NULL, handler, work), 0);
	put(db->conn, "q", "held");
	assert_int_equal(pthread_create(&work->thread, NULL, run, work), 0);
	assert_true(eventually(has_started, work));
}

static rp_worker_counts
stop(struct work *work)
{
	rp_worker_counts counts = RP_WORKER_COUNTS_INIT;

	rp_worker_stop(work->worker);
	pthread_join(work->thread, NULL);
	assert_int_equal(work->r, 0);
	assert_int_equal(rp_worker_counts_get(work->worker, &counts), 0);
	rp_worker_free(work->worker);
	return counts;
}

/* Lock the row of a table that has this id. */
static rp_conn *
lock_row(struct work *work, const char *table, int64_t id)
{
	rp_conn *conn = connect_to(work->db);
	char sql[100];
	int64_t got = 0;

	snprintf(sql, sizeof(sql),
		 "select id from %s where id = %lld for update", table,
		 (long long)id);
	assert_int_equal(run_sql(conn, "begin", &got), 0);
	assert_int_equal(run_sql(conn, sql, &got), 0);
	assert_int_equal(got, id);
	return conn;
}

static rp_conn *
lock_held(struct work *work)
{
	return lock_row(work, "job", atomic_load(&work->held));
}

static void
let_go(rp_conn *conn)
{
	int64_t ignored;

	assert_int_equal(run_sql(conn, "rollback", &ignored), 0);
	rp_close(conn);
}

/* ---- the tests ---- */

static void
P4_a_verdict_that_must_wait_keeps_no_other_job_from_being_settled(void **state)
{
	struct work work;
	rp_conn *other;

	start(&work, *state, wait_if_held);
	other = lock_held(&work);
	atomic_store(&work.go, 1);
	for (int i = 0; i < 30; i++)
		put(work.db->conn, "q", "x");
	assert_true(eventually(others_are_done, &work));
	assert_int_equal(state_of(work.db->conn, atomic_load(&work.held)),
			 RP_STATE_RUNNING);
	let_go(other);
	assert_true(eventually(all_is_done, &work));
	assert_int_equal(stop(&work).done, 31);
}

/* The verdict holds the queue, whose row is locked. */
static void
P4_a_hold_that_must_wait_keeps_no_other_job_from_being_settled(void **state)
{
	struct work work;
	rp_conn *other;
	int64_t queue = 0;

	start(&work, *state, hold_if_held);
	assert_int_equal(run_sql(work.db->conn, "select id from queue", &queue),
			 0);
	other = lock_row(&work, "queue", queue);
	atomic_store(&work.go, 1);
	for (int i = 0; i < 30; i++)
		put(work.db->conn, "q", "x");
	assert_true(eventually(others_are_done, &work));
	let_go(other);
	assert_true(eventually(all_is_done, &work));
	assert_int_equal(stop(&work).done, 31);
}

/* While the verdict waits, the worker must renew the lease of its job.
 * Otherwise the job would become ready again, and the verdict would be refused.
 */
static void
P2_a_hold_that_must_wait_keeps_the_lease_of_its_job(void **state)
{
	struct work work;
	rp_conn *other;
	rp_worker_counts counts;
	int64_t queue = 0;
	int is_renewed;

	start(&work, *state, hold_if_held);
	assert_int_equal(run_sql(work.db->conn, "select id from queue", &queue),
			 0);
	other = lock_row(&work, "queue", queue);
	work.first_lease_end = lease_end(&work);
	atomic_store(&work.go, 1);
	is_renewed = eventually(is_long_renewed, &work);
	let_go(other);
	assert_true(is_renewed);
	assert_true(eventually(all_is_done, &work));
	counts = stop(&work);
	assert_int_equal(counts.released, 1);
	assert_int_equal(counts.done, 1);
	assert_int_equal(counts.lost, 0);
}

/* One job's row is locked, so the renewal of its lease waits. The worker must
 * nevertheless renew the lease of its other job in time. */
static void
P2_a_renewal_that_must_wait_keeps_no_other_from_being_made(void **state)
{
	struct work work;
	rp_conn *other;
	int64_t late = 0, end;

	start(&work, *state, wait_if_held);
	other = lock_held(&work);
	put(work.db->conn, "q", "held");
	for (end = now_ms() + 3 * LEASE_MS; now_ms() < end; sleep_ms(50)) {
		char sql[200];

		snprintf(sql, sizeof(sql),
			 "select count(*) from job where id <> %lld"
			 " and lease_until < clock_timestamp()",
			 (long long)atomic_load(&work.held));
		assert_int_equal(run_sql(work.db->conn, sql, &late), 0);
		assert_int_equal(late, 0);
		if (stats_of(work.db->conn, "q").running < 2)
			end = now_ms() + 3 * LEASE_MS;
	}
	let_go(other);
	atomic_store(&work.go, 1);
	assert_true(eventually(all_is_done, &work));
	assert_true(stop(&work).done >= 1);
}

static void
P4_a_heartbeat_of_a_handler_never_waits(void **state)
{
	struct work work;
	rp_conn *other;

	start(&work, *state, extend_if_held);
	other = lock_held(&work);
	atomic_store(&work.go, 1);
	assert_true(eventually(has_said, &work));
	assert_int_equal(atomic_load(&work.extended), RP_EBUSY);
	let_go(other);
	assert_true(eventually(all_is_done, &work));
	assert_int_equal(stop(&work).done, 1);
}

/* The handler completes its job in a transaction, and commits the transaction
 * only when the whole lease is over. Until then the job's row is locked, so the
 * worker cannot renew the lease. The job must stay running, and the worker must
 * run it once. */
static void
P7_a_handler_may_take_long_to_commit_what_it_completed(void **state)
{
	struct work work;

	start(&work, *state, commit_late);
	for (int i = 0; i < 5; i++)
		put(work.db->conn, "q", "x");
	sleep_ms(LEASE_MS);
	assert_int_equal(stats_of(work.db->conn, "q").ready, 0);
	assert_int_equal(stats_of(work.db->conn, "q").running, 1);
	atomic_store(&work.go, 1);
	assert_true(eventually(all_is_done, &work));
	assert_int_equal(stop(&work).done, 6);
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		CASE(P4_a_verdict_that_must_wait_keeps_no_other_job_from_being_settled),
		CASE(P4_a_hold_that_must_wait_keeps_no_other_job_from_being_settled),
		CASE(P2_a_hold_that_must_wait_keeps_the_lease_of_its_job),
		CASE(P2_a_renewal_that_must_wait_keeps_no_other_from_being_made),
		CASE(P4_a_heartbeat_of_a_handler_never_waits),
		CASE(P7_a_handler_may_take_long_to_commit_what_it_completed),
	};

	databases_at(argc, argv);
	return cmocka_run_group_tests_name("blocked", tests, NULL, NULL);
}
