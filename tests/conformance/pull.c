/*
 * pull.c - test rp_worker_next(), with which a program takes one claimed job
 * after the other and needs no handlers.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "check.h"

#include <poll.h>
#include <pthread.h>

#define PATIENCE_MS 60000

static rp_worker *
make(struct db *db, int threads, int64_t lease_ms)
{
	rp_worker_options options = RP_WORKER_INIT;
	rp_worker *worker;

	options.threads = threads;
	options.lease_ms = lease_ms;
	assert_int_equal(rp_worker_new(db->url, &options, &worker, NULL), 0);
	assert_int_equal(rp_worker_serve(worker, "q", NULL), 0);
	return worker;
}

static int
next(rp_worker *worker, int64_t timeout_ms, rp_task **ret)
{
	rp_error error = { 0 };
	int r = rp_worker_next(worker, timeout_ms, ret, &error);

	if (r < 0)
		fail_msg("%s", error.message);
	return r;
}

static rp_task *
pull(rp_worker *worker)
{
	rp_task *task = NULL;

	assert_int_equal(next(worker, PATIENCE_MS, &task), RP_NEXT_TASK);
	return task;
}

/* Stop the worker, and check that no task is left. */
static rp_worker_counts
end(rp_worker *worker)
{
	rp_worker_counts counts = RP_WORKER_COUNTS_INIT;
	rp_task *task;

	rp_worker_stop(worker);
	assert_int_equal(next(worker, PATIENCE_MS, &task), RP_NEXT_END);
	assert_int_equal(rp_worker_counts_get(worker, &counts), 0);
	rp_worker_free(worker);
	return counts;
}

static int
can_be_read(const rp_worker *worker, int timeout_ms)
{
	struct pollfd p = { .fd = rp_worker_fd(worker), .events = POLLIN };

	return poll(&p, 1, timeout_ms);
}

/* Wait until queue q has this many ready and running jobs. */
static void
until(struct db *db, int64_t ready, int64_t running)
{
	int64_t last = now_ms() + PATIENCE_MS;
	rp_queue_stats stats = stats_of(db->conn, "q");

	while ((stats.ready != ready || stats.running != running) &&
	       now_ms() < last) {
		sleep_ms(10);
		stats = stats_of(db->conn, "q");
	}
	assert_int_equal(stats.ready, ready);
	assert_int_equal(stats.running, running);
}

static void
as_many_tasks_are_out_at_once_as_the_options_say(void **state)
{
	struct db *db = *state;
	rp_worker *worker = make(db, 2, 0);
	rp_task *a, *b, *c = NULL;
	rp_worker_counts counts;

	for (int i = 0; i < 3; i++)
		put(db->conn, "q", "x");
	a = pull(worker);
	b = pull(worker);
	assert_true(rp_task_job(a)->id != rp_task_job(b)->id);
	assert_memory_equal(rp_task_job(a)->payload, "x", 2);
	assert_int_equal(next(worker, 0, &c), RP_NEXT_NONE);
	assert_int_equal(next(worker, 20, &c), RP_NEXT_NONE);
	assert_null(c);
	assert_int_equal(rp_task_finish(b, RP_DONE), 0);
	c = pull(worker);
	assert_int_equal(rp_task_finish(c, RP_DONE), 0);
	assert_int_equal(rp_task_finish(a, RP_DONE), 0);
	counts = end(worker);
	assert_int_equal(counts.claimed, 3);
	assert_int_equal(counts.done, 3);
	until(db, 0, 0);
}

static void
the_verdict_decides_the_state_of_the_job(void **state)
{
	static const int verdicts[] = { RP_DONE, RP_FAIL, RP_DEAD, RP_RELEASE };
	struct db *db = *state;
	rp_worker *worker = make(db, 1, 0);
	rp_worker_counts counts;
	rp_batch *batch;
	int64_t ids[4];

	for (int i = 0; i < 4; i++)
		ids[i] = put(db->conn, "q", "x");
	for (int i = 0; i < 4; i++) {
		rp_task *task = pull(worker);

		assert_int_equal(rp_task_job(task)->id, ids[i]);
		assert_int_equal(rp_task_error(task, "because"), 0);
		assert_int_equal(rp_task_delay(task, 3600000), 0);
		assert_int_equal(rp_task_finish(task, 77), RP_EINVAL);
		assert_int_equal(rp_task_finish(task, verdicts[i]), 0);
	}
	counts = end(worker);
	assert_int_equal(counts.done, 1);
	assert_int_equal(counts.failed, 1);
	assert_int_equal(counts.dead, 1);
	assert_int_equal(counts.released, 1);
	assert_int_equal(state_of(db->conn, ids[0]), 0);
	assert_int_equal(state_of(db->conn, ids[1]), RP_STATE_SCHEDULED);
	assert_int_equal(state_of(db->conn, ids[2]), RP_STATE_DEAD);
	assert_int_equal(state_of(db->conn, ids[3]), RP_STATE_SCHEDULED);
	batch = get(db->conn, ids[2]);
	assert_string_equal(rp_batch_at(batch, 0)->last_error, "because");
	rp_batch_free(batch);
}

static void
the_descriptor_says_when_to_call(void **state)
{
	struct db *db = *state;
	rp_worker *worker = make(db, 1, 0);
	rp_task *task;

	assert_int_equal(can_be_read(worker, 0), 1);
	assert_int_equal(next(worker, 0, &task), RP_NEXT_NONE);
	assert_int_equal(can_be_read(worker, 300), 0);
	put(db->conn, "q", "x");
	put(db->conn, "q", "x");
	assert_int_equal(can_be_read(worker, PATIENCE_MS), 1);
	assert_int_equal(next(worker, 0, &task), RP_NEXT_TASK);
	assert_int_equal(can_be_read(worker, 50), 0);
	assert_int_equal(rp_task_finish(task, RP_DONE), 0);
	assert_int_equal(can_be_read(worker, PATIENCE_MS), 1);
	task = pull(worker);
	assert_int_equal(rp_task_finish(task, RP_DONE), 0);
	rp_worker_stop(worker);
	assert_int_equal(can_be_read(worker, PATIENCE_MS), 1);
	assert_int_equal(end(worker).done, 2);
}

#define LEASE_MS 3000 /* much longer than a commit on a slow disk takes */

static void
P2_the_lease_of_a_task_that_is_out_is_renewed(void **state)
{
	struct db *db = *state;
	rp_worker *worker = make(db, 1, LEASE_MS);
	rp_task *task;

	put(db->conn, "q", "x");
	task = pull(worker);
	for (int64_t last = now_ms() + LEASE_MS + 500; now_ms() < last;
	     sleep_ms(20)) {
		ok(db->conn, rp_sweep(db->conn, NULL));
		assert_int_equal(rp_task_state(task), RP_TASK_RUNNING);
		assert_int_equal(stats_of(db->conn, "q").running, 1);
	}
	assert_int_equal(rp_task_finish(task, RP_DONE), 0);
	assert_int_equal(end(worker).done, 1);
}

static void
a_pulled_task_may_extend_its_lease_and_commit_what_it_did(void **state)
{
	struct db *db = *state;
	rp_worker *worker = make(db, 1, 60000);
	rp_job_spec effect = job_of("effect");
	rp_batch *batch;
	rp_task *task;
	rp_conn *conn;
	int64_t id = put(db->conn, "q", "x"), now;

	task = pull(worker);
	assert_int_equal(rp_task_extend(task, 3600000), 0);
	ok(db->conn, rp_now(db->conn, &now));
	batch = get(db->conn, id);
	assert_true(rp_batch_at(batch, 0)->lease_until > now + 3000000);
	rp_batch_free(batch);
	assert_int_equal(rp_task_begin(task, &conn), 0);
	ok(conn, rp_enqueue(conn, "effects", &effect, NULL));
	assert_int_equal(rp_task_complete(task), 0);
	assert_int_equal(rp_task_commit(task), 0);
	assert_int_equal(state_of(db->conn, id), 0);
	assert_int_equal(rp_task_finish(task, RP_DONE), 0);
	put(db->conn, "q", "x");
	task = pull(worker);
	assert_int_equal(rp_task_begin(task, &conn), 0);
	ok(conn, rp_enqueue(conn, "effects", &effect, NULL));
	/* The task's transaction is still open. rp_task_finish() rolls the
	 * transaction back, and then settles the job as done. */
	assert_int_equal(rp_task_finish(task, RP_DONE), 0);
	assert_int_equal(end(worker).done, 2);
	assert_int_equal(stats_of(db->conn, "effects").ready, 1);
}

static void
P3_a_verdict_on_a_job_that_was_cancelled_is_refused(void **state)
{
	struct db *db = *state;
	rp_worker *worker = make(db, 1, 300);
	int64_t id = put(db->conn, "q", "x"), last = now_ms() + PATIENCE_MS;
	rp_worker_counts counts;
	rp_task *task = pull(worker);

	ok(db->conn, rp_job_cancel(db->conn, id, NULL));
	while (rp_task_state(task) == RP_TASK_RUNNING && now_ms() < last)
		sleep_ms(5);
	assert_int_equal(rp_task_state(task), RP_TASK_CANCELLED);
	assert_int_equal(rp_task_finish(task, RP_DONE), RP_ECANCELLED);
	counts = end(worker);
	assert_int_equal(counts.done, 0);
	assert_int_equal(counts.cancelled, 1);
	assert_int_equal(state_of(db->conn, id), RP_STATE_CANCELLED);
}

static void
tasks_that_are_not_finished_at_the_end_are_released(void **state)
{
	struct db *db = *state;
	rp_worker *worker = make(db, 2, 0);
	rp_job_spec effect = job_of("effect");
	int64_t id = put(db->conn, "q", "x");
	int64_t before = put(db->conn, "effects", "x");
	rp_task *task = pull(worker), *none;
	rp_batch *batch;
	rp_conn *conn;

	assert_int_equal(rp_task_begin(task, &conn), 0);
	ok(conn, rp_enqueue(conn, "effects", &effect, NULL));
	rp_worker_stop(worker);
	assert_int_equal(rp_task_state(task), RP_TASK_STOPPING);
	assert_int_equal(next(worker, 0, &none), RP_NEXT_NONE);
	rp_worker_free(worker);
	assert_int_equal(state_of(db->conn, before), RP_STATE_READY);
	assert_int_equal(stats_of(db->conn, "effects").ready, 1);
	batch = get(db->conn, id);
	assert_int_equal(rp_batch_at(batch, 0)->state, RP_STATE_READY);
	assert_int_equal(rp_batch_at(batch, 0)->attempt, 0);
	rp_batch_free(batch);
}

/* A fetched task is released if the program does not take the task within half
 * a second, because another worker may be free. */
static void
tasks_that_the_program_does_not_take_are_released(void **state)
{
	struct db *db = *state;
	rp_worker *worker = make(db, 1, 0);
	rp_task *task;

	assert_int_equal(next(worker, 0, &task), RP_NEXT_NONE);
	put(db->conn, "q", "x");
	assert_int_equal(can_be_read(worker, PATIENCE_MS), 1);
	until(db, 1, 0);
	assert_int_equal(can_be_read(worker, 0), 1);
	task = pull(worker);
	assert_int_equal(rp_task_job(task)->attempt, 1);
	assert_int_equal(rp_task_finish(task, RP_DONE), 0);
	assert_int_equal(end(worker).done, 1);
}

static void
jobs_of_a_kind_that_is_not_served_are_for_other_workers(void **state)
{
	struct db *db = *state;
	rp_worker_options options = RP_WORKER_INIT;
	rp_job_spec job = job_of("x");
	rp_worker *worker;
	rp_task *task;
	rp_added other;

	job.kind = "other";
	ok(db->conn, rp_enqueue(db->conn, "q", &job, &other));
	job.kind = "mine";
	ok(db->conn, rp_enqueue(db->conn, "q", &job, NULL));
	assert_int_equal(rp_worker_new(db->url, &options, &worker, NULL), 0);
	assert_int_equal(rp_worker_serve(worker, "q", "mine"), 0);
	task = pull(worker);
	assert_string_equal(rp_task_job(task)->kind, "mine");
	assert_int_equal(rp_task_finish(task, RP_DONE), 0);
	assert_int_equal(end(worker).released, 1);
	assert_int_equal(state_of(db->conn, other.id), RP_STATE_SCHEDULED);
}

static int
do_nothing(rp_task *task, const rp_job *job, void *ctx)
{
	(void)task;
	(void)job;
	(void)ctx;
	return RP_DONE;
}

static int
in_the_child(void *ctx)
{
	rp_worker *worker = ctx;
	rp_task *task;

	if (rp_worker_next(worker, 0, &task, NULL) != RP_EINVAL)
		return 1;
	rp_worker_free(worker);
	return 0;
}

static void
a_worker_is_run_or_pulled_by_one_process(void **state)
{
	struct db *db = *state;
	rp_worker *worker = make(db, 1, 0);
	rp_task *task;
	rp_error error;

	assert_int_equal(rp_worker_run(worker, &error), RP_EINVAL);
	assert_int_equal(rp_worker_next(worker, -2, &task, &error), RP_EINVAL);
	assert_int_equal(rp_worker_next(NULL, 0, &task, &error), RP_EINVAL);
	assert_int_equal(next(worker, 0, &task), RP_NEXT_NONE);
	expect_success(in_child(in_the_child, worker));
	end(worker);
	assert_int_equal(rp_worker_new(db->url, NULL, &worker, NULL), 0);
	assert_int_equal(rp_worker_next(worker, 0, &task, &error), RP_EINVAL);
	assert_int_equal(rp_worker_handle(worker, "q", NULL, do_nothing, NULL),
			 0);
	assert_int_equal(rp_worker_next(worker, 0, &task, &error), RP_EINVAL);
	rp_worker_free(worker);
	assert_int_equal(
		rp_worker_new("sqlite:/nowhere/db", NULL, &worker, NULL), 0);
	assert_int_equal(rp_worker_serve(worker, "q", NULL), 0);
	assert_true(rp_worker_next(worker, PATIENCE_MS, &task, &error) < 0);
	rp_worker_free(worker);
}

static void *
pull_all(void *ctx)
{
	rp_worker *worker = ctx;
	rp_task *task;
	int r;

	while ((r = rp_worker_next(worker, -1, &task, NULL)) == RP_NEXT_TASK)
		if (rp_task_finish(task, RP_DONE) < 0)
			break;
	return r == RP_NEXT_END ? worker : NULL;
}

static void
threads_may_pull_together(void **state)
{
	struct db *db = *state;
	rp_worker_options options = RP_WORKER_INIT;
	pthread_t threads[4];
	rp_worker *worker;

	for (int i = 0; i < 500; i++)
		put(db->conn, "q", "x");
	options.threads = 3;
	options.drain = 1;
	assert_int_equal(rp_worker_new(db->url, &options, &worker, NULL), 0);
	assert_int_equal(rp_worker_serve(worker, "q", NULL), 0);
	for (int i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, pull_all, worker);
	for (int i = 0; i < 4; i++) {
		void *answer;

		pthread_join(threads[i], &answer);
		assert_ptr_equal(answer, worker);
	}
	assert_int_equal(end(worker).done, 500);
}

/* The caller may have been compiled with an older header, in which the struct
 * is shorter. */
static void
counts_are_written_only_to_the_fields_that_the_struct_has(void **state)
{
	struct db *db = *state;
	rp_worker *worker = make(db, 1, 0);
	rp_worker_counts old = RP_WORKER_COUNTS_INIT;

	put(db->conn, "q", "x");
	assert_int_equal(rp_task_finish(pull(worker), RP_DONE), 0);
	until(db, 0, 0);
	old.size = offsetof(rp_worker_counts, lost);
	old.lost = old.cancelled = 7;
	assert_int_equal(rp_worker_counts_get(worker, &old), 0);
	assert_int_equal(old.size, offsetof(rp_worker_counts, lost));
	assert_int_equal(old.claimed, 1);
	assert_int_equal(old.lost, 7);
	assert_int_equal(old.cancelled, 7);
	end(worker);
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		CASE(as_many_tasks_are_out_at_once_as_the_options_say),
		CASE(the_verdict_decides_the_state_of_the_job),
		CASE(the_descriptor_says_when_to_call),
		CASE(P2_the_lease_of_a_task_that_is_out_is_renewed),
		CASE(a_pulled_task_may_extend_its_lease_and_commit_what_it_did),
		CASE(P3_a_verdict_on_a_job_that_was_cancelled_is_refused),
		CASE(tasks_that_are_not_finished_at_the_end_are_released),
		CASE(tasks_that_the_program_does_not_take_are_released),
		CASE(jobs_of_a_kind_that_is_not_served_are_for_other_workers),
		CASE(a_worker_is_run_or_pulled_by_one_process),
		CASE(threads_may_pull_together),
		CASE(counts_are_written_only_to_the_fields_that_the_struct_has),
	};

	databases_at(argc, argv);
	return cmocka_run_group_tests_name("pull", tests, NULL, NULL);
}
