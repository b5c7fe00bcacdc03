/*
 * effects.c - test that a handler's changes in the database take effect exactly
 * once (promise P7 of docs/design.md). Also test other calls that a handler may
 * make on its task.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "check.h"

#include <pthread.h>

struct seen {
	struct db *db;
	rp_worker *worker;
	int calls, answers[8], wrong;
};

/* Run a worker with one thread until the queue is empty. */
static rp_worker_counts
work_with(struct db *db, int64_t lease_ms, rp_handler *handler,
	  struct seen *seen)
{
	rp_worker_options options = RP_WORKER_INIT;
	rp_worker_counts counts = RP_WORKER_COUNTS_INIT;
	rp_error error;

	*seen = (struct seen){ .db = db };
	options.drain = 1;
	options.lease_ms = lease_ms;
	assert_int_equal(rp_worker_new(db->url, &options, &seen->worker, NULL),
			 0);
	assert_int_equal(
		rp_worker_handle(seen->worker, "q", NULL, handler, seen), 0);
	if (rp_worker_run(seen->worker, &error) < 0)
		fail_msg("%s", error.message);
	assert_int_equal(rp_worker_counts_get(seen->worker, &counts), 0);
	rp_worker_free(seen->worker);
	return counts;
}

static int64_t
rows(rp_conn *conn)
{
	int64_t n = -1;

	assert_int_equal(run_sql(conn, "select count(*) from effect", &n), 0);
	return n;
}

static void
prepare(struct db *db, int64_t jobs)
{
	assert_int_equal(
		run_sql(db->conn, "create table effect (x integer)", NULL), 0);
	while (jobs-- > 0)
		put(db->conn, "q", "x");
}

static int
all_at_once(rp_task *task, const rp_job *job, void *ctx)
{
	struct seen *seen = ctx;
	rp_job_spec next = job_of("next");
	rp_conn *conn;

	(void)job;
	seen->calls++;
	seen->wrong += rp_task_begin(task, &conn) != 0;
	seen->wrong +=
		run_sql(conn, "insert into effect values (1)", NULL) != 0;
	seen->wrong += rp_enqueue(conn, "next", &next, NULL) != 0;
	seen->wrong += rp_task_complete(task) != 0;
	seen->wrong += rp_task_complete(task) != RP_EINVAL;
	seen->wrong += rp_task_commit(task) != 0;
	seen->wrong += rp_task_commit(task) != RP_EINVAL;
	seen->wrong += rp_task_begin(task, &conn) != RP_EINVAL;
	/* this verdict is ignored, because the job is already completed */
	return RP_FAIL;
}

static void
P7_effects_jobs_and_the_verdict_are_one_commit(void **state)
{
	struct db *db = *state;
	struct seen seen;
	rp_worker_counts counts;

	prepare(db, 50);
	counts = work_with(db, 0, all_at_once, &seen);
	assert_int_equal(seen.wrong, 0);
	assert_int_equal(counts.done, 50);
	assert_int_equal(counts.failed + counts.lost, 0);
	assert_int_equal(rows(db->conn), 50);
	assert_int_equal(stats_of(db->conn, "next").ready, 50);
	assert_int_equal(stats_of(db->conn, "q").ready, 0);
}

static void *
run(void *worker)
{
	rp_error error;

	return rp_worker_run(worker, &error) < 0 ? NULL : worker;
}

static void
jobs_that_handlers_complete_are_counted_while_the_worker_is_idle(void **state)
{
	struct db *db = *state;
	struct seen seen = { .db = db };
	int64_t end = now_ms() + 60000, counted = 0;
	pthread_t thread;
	rp_worker *worker;
	void *ended;

	prepare(db, 2);
	assert_int_equal(rp_worker_new(db->url, NULL, &worker, NULL), 0);
	assert_int_equal(
		rp_worker_handle(worker, "q", NULL, all_at_once, &seen), 0);
	assert_int_equal(pthread_create(&thread, NULL, run, worker), 0);
	while (counted < 2 && now_ms() < end) {
		sleep_ms(20);
		counted = stats_of(db->conn, "q").done_total;
	}
	rp_worker_stop(worker);
	pthread_join(thread, &ended);
	rp_worker_free(worker);
	assert_non_null(ended);
	assert_int_equal(seen.wrong, 0);
	assert_int_equal(counted, 2);
	assert_int_equal(stats_of(db->conn, "q").done_total, 2);
}

/* A handler. rp_commit() must be refused here, because it would commit the
 * effects without the verdict. The job would then run again. */
static int
commit_the_connection(rp_task *task, const rp_job *job, void *ctx)
{
	struct seen *seen = ctx;
	rp_conn *conn;

	(void)job;
	seen->wrong += rp_task_begin(task, &conn) != 0;
	seen->wrong +=
		run_sql(conn, "insert into effect values (1)", NULL) != 0;
	seen->wrong += rp_begin(conn) != RP_EINVAL;
	seen->wrong += rp_commit(conn) != RP_EINVAL;
	seen->wrong += !strstr(rp_last_error(conn)->message, "rp_task_commit");
	seen->wrong += rp_rollback(conn) != RP_EINVAL;
	seen->wrong += rp_task_rollback(task) != 0;
	seen->wrong += rp_task_begin(task, &conn) != 0;
	seen->wrong += rp_task_commit(task) != 0;
	seen->wrong += rp_begin(conn) != 0 || rp_commit(conn) != 0;
	return RP_DONE;
}

static void
only_the_task_ends_its_transaction(void **state)
{
	struct db *db = *state;
	struct seen seen;
	rp_worker_counts counts;

	prepare(db, 1);
	counts = work_with(db, 0, commit_the_connection, &seen);
	assert_int_equal(seen.wrong, 0);
	assert_int_equal(counts.done, 1);
	assert_int_equal(rows(db->conn), 0);
}

static int
forget_to_commit(rp_task *task, const rp_job *job, void *ctx)
{
	struct seen *seen = ctx;
	rp_conn *conn;

	(void)job;
	seen->wrong += rp_task_begin(task, &conn) != 0;
	seen->wrong +=
		run_sql(conn, "insert into effect values (1)", NULL) != 0;
	seen->wrong += rp_task_complete(task) != 0;
	return RP_DEAD;
}

static void
P7_returning_without_commit_rolls_back_and_the_verdict_counts(void **state)
{
	struct db *db = *state;
	struct seen seen;
	rp_worker_counts counts;

	prepare(db, 3);
	counts = work_with(db, 0, forget_to_commit, &seen);
	assert_int_equal(seen.wrong, 0);
	assert_int_equal(counts.dead, 3);
	assert_int_equal(rows(db->conn), 0);
	assert_int_equal(stats_of(db->conn, "q").dead, 3);
}

/* A handler. While it runs, another client releases the job (in the first call)
 * or cancels the job (in the second call). This ends the handler's claim. */
static int
lose_it(rp_task *task, const rp_job *job, void *ctx)
{
	struct seen *seen = ctx;
	rp_conn *other = connect_to(seen->db), *conn;

	seen->calls++;
	if (seen->calls == 1)
		seen->wrong +=
			rp_release(other, job->id, job->claim_no, 3600000) != 0;
	else
		seen->wrong += rp_job_cancel(other, job->id, NULL) != 0;
	rp_close(other);
	seen->wrong += rp_task_begin(task, &conn) != 0;
	seen->wrong +=
		run_sql(conn, "insert into effect values (1)", NULL) != 0;
	seen->answers[seen->calls * 2] = rp_task_complete(task);
	seen->answers[seen->calls * 2 + 1] = rp_task_commit(task);
	return RP_DONE;
}

static void
P7_a_lost_lease_rolls_back_effects_and_verdict(void **state)
{
	struct db *db = *state;
	struct seen seen;
	rp_worker_counts counts;

	prepare(db, 2);
	counts = work_with(db, 0, lose_it, &seen);
	assert_int_equal(seen.wrong, 0);
	assert_int_equal(seen.answers[2], RP_EGONE);
	assert_int_equal(seen.answers[3], RP_EGONE);
	assert_int_equal(seen.answers[4], RP_ECANCELLED);
	assert_int_equal(seen.answers[5], RP_ECANCELLED);
	assert_int_equal(counts.lost, 1);
	assert_int_equal(counts.cancelled, 1);
	assert_int_equal(rows(db->conn), 0);
}

static int
step_by_step(rp_task *task, const rp_job *job, void *ctx)
{
	struct seen *seen = ctx;
	rp_conn *conn;

	(void)job;
	for (int i = 0; i < 3; i++) {
		seen->wrong += rp_task_begin(task, &conn) != 0;
		seen->wrong += rp_task_begin(task, &conn) != RP_EINVAL;
		seen->wrong += run_sql(conn, "insert into effect values (1)",
				       NULL) != 0;
		seen->wrong += (i == 1 ? rp_task_rollback(task)
				       : rp_task_commit(task)) != 0;
	}
	seen->wrong += rp_task_rollback(task) != RP_EINVAL;
	seen->wrong += rp_task_complete(task) != RP_EINVAL;
	return RP_DONE;
}

static void
a_handler_may_commit_several_times_and_complete_by_its_verdict(void **state)
{
	struct db *db = *state;
	struct seen seen;

	prepare(db, 4);
	assert_int_equal(work_with(db, 0, step_by_step, &seen).done, 4);
	assert_int_equal(seen.wrong, 0);
	assert_int_equal(rows(db->conn), 8);
}

/* A handler whose transaction takes longer than the job's lease. On SQLite the
 * transaction holds the write lock, so the worker cannot renew the lease before
 * the transaction ends. This is harmless, because no other client can claim the
 * job before that either. */
static int
hold_it_long(rp_task *task, const rp_job *job, void *ctx)
{
	struct seen *seen = ctx;
	rp_conn *conn;

	(void)job;
	seen->wrong += rp_task_begin(task, &conn) != 0;
	seen->wrong +=
		run_sql(conn, "insert into effect values (1)", NULL) != 0;
	sleep_ms(700);
	seen->wrong += rp_task_complete(task) != 0;
	seen->wrong += rp_task_commit(task) != 0;
	return RP_DONE;
}

static void
P7_a_long_transaction_outlives_its_lease(void **state)
{
	struct db *db = *state;
	struct seen seen;
	rp_worker_counts counts;

	prepare(db, 2);
	counts = work_with(db, 300, hold_it_long, &seen);
	assert_int_equal(seen.wrong, 0);
	assert_int_equal(counts.done, 2);
	assert_int_equal(counts.lost, 0);
	assert_int_equal(rows(db->conn), 2);
}

static int
extend_it(rp_task *task, const rp_job *job, void *ctx)
{
	struct seen *seen = ctx;
	rp_conn *other = connect_to(seen->db), *conn;
	rp_batch *batch = get(other, job->id);
	int64_t before = rp_batch_at(batch, 0)->lease_until;

	rp_batch_free(batch);
	seen->wrong += rp_task_extend(task, 0) != RP_EINVAL;
	seen->wrong += rp_task_extend(task, -1) != RP_EINVAL;
	seen->wrong += rp_task_extend(task, INT64_MAX) != RP_EINVAL;
	seen->wrong += rp_task_extend(task, 3600000) != 0;
	batch = get(other, job->id);
	seen->wrong += rp_batch_at(batch, 0)->lease_until < before + 3000000;
	rp_batch_free(batch);
	seen->wrong += rp_task_begin(task, &conn) != 0;
	seen->wrong += rp_task_extend(task, 1000) != RP_EINVAL;
	seen->wrong += rp_task_rollback(task) != 0;
	seen->wrong += rp_release(other, job->id, job->claim_no, 3600000) != 0;
	seen->wrong += rp_task_extend(task, 1000) != RP_EGONE;
	seen->wrong += rp_task_state(task) != RP_TASK_LOST;
	rp_close(other);
	return RP_DONE;
}

static void
a_handler_may_ask_for_a_longer_lease(void **state)
{
	struct db *db = *state;
	struct seen seen;

	prepare(db, 1);
	assert_int_equal(work_with(db, 0, extend_it, &seen).lost, 1);
	assert_int_equal(seen.wrong, 0);
}

static void *
elsewhere(void *arg)
{
	rp_task *task = arg;
	rp_conn *conn;

	return rp_task_begin(task, &conn) == RP_EINVAL &&
			       rp_task_complete(task) == RP_EINVAL &&
			       rp_task_commit(task) == RP_EINVAL &&
			       rp_task_rollback(task) == RP_EINVAL &&
			       rp_task_extend(task, 1000) == RP_EINVAL &&
			       rp_task_error(task, "x") == RP_EINVAL &&
			       rp_task_delay(task, 1) == RP_EINVAL &&
			       rp_task_state(task) == RP_TASK_RUNNING
		       ? arg
		       : NULL;
}

static int
ask_elsewhere(rp_task *task, const rp_job *job, void *ctx)
{
	struct seen *seen = ctx;
	pthread_t thread;
	void *refused;

	(void)job;
	pthread_create(&thread, NULL, elsewhere, task);
	pthread_join(thread, &refused);
	seen->wrong += refused == NULL;
	return RP_DONE;
}

static void
a_task_belongs_to_its_thread(void **state)
{
	struct db *db = *state;
	struct seen seen;
	rp_conn *conn;

	prepare(db, 1);
	assert_int_equal(work_with(db, 0, ask_elsewhere, &seen).done, 1);
	assert_int_equal(seen.wrong, 0);
	assert_int_equal(rp_task_begin(NULL, &conn), RP_EINVAL);
	assert_int_equal(rp_task_complete(NULL), RP_EINVAL);
	assert_int_equal(rp_task_commit(NULL), RP_EINVAL);
	assert_int_equal(rp_task_rollback(NULL), RP_EINVAL);
	assert_int_equal(rp_task_extend(NULL, 1), RP_EINVAL);
}

static int
fail_in_the_database(rp_task *task, const rp_job *job, void *ctx)
{
	struct seen *seen = ctx;
	rp_conn *conn;

	(void)job;
	seen->wrong += rp_task_begin(task, &conn) != 0;
	seen->wrong += run_sql(conn, "rollback", NULL) != 0;
	seen->answers[0] = rp_task_complete(task);
	return RP_DEAD;
}

static void
the_words_of_a_failure_become_the_tasks_error(void **state)
{
	struct db *db = *state;
	struct seen seen;
	rp_batch *batch;

	prepare(db, 1);
	work_with(db, 0, fail_in_the_database, &seen);
	batch = get(db->conn, 1);
	assert_int_equal(seen.wrong, 0);
	assert_int_equal(seen.answers[0], RP_EDB);
	assert_non_null(
		strstr(rp_batch_at(batch, 0)->last_error, "not open any more"));
	rp_batch_free(batch);
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		CASE(P7_effects_jobs_and_the_verdict_are_one_commit),
		CASE(P7_returning_without_commit_rolls_back_and_the_verdict_counts),
		CASE(jobs_that_handlers_complete_are_counted_while_the_worker_is_idle),
		CASE(only_the_task_ends_its_transaction),
		CASE(P7_a_lost_lease_rolls_back_effects_and_verdict),
		CASE(a_handler_may_commit_several_times_and_complete_by_its_verdict),
		CASE(P7_a_long_transaction_outlives_its_lease),
		CASE(a_handler_may_ask_for_a_longer_lease),
		CASE(a_task_belongs_to_its_thread),
		CASE(the_words_of_a_failure_become_the_tasks_error),
	};

	databases_at(argc, argv);
	return cmocka_run_group_tests_name("effects", tests, NULL, NULL);
}
