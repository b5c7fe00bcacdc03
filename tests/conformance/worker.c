/*
 * worker.c - test the worker in C: threads, settling in groups, renewal of
 * leases, and ending after the last job.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "check.h"

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "process.h"

struct seen {
	atomic_int calls, lost, cancelled;
	atomic_int starts[5000];
	rp_worker *worker;
	struct db *db;
};

static int
count_and_complete(rp_task *task, const rp_job *job, void *ctx)
{
	struct seen *seen = ctx;

	(void)task;
	atomic_fetch_add(&seen->calls, 1);
	atomic_fetch_add(&seen->starts[job->id], 1);
	return RP_DONE;
}

static rp_worker *
make_draining(struct db *db, struct seen *seen, rp_handler *handler,
	      int threads, int64_t lease_ms, int drain)
{
	rp_worker_options options = RP_WORKER_INIT;
	rp_worker *worker;

	memset(seen, 0, sizeof(*seen));
	options.threads = threads;
	options.lease_ms = lease_ms;
	options.drain = drain;
	assert_int_equal(rp_worker_new(db->url, &options, &worker, NULL), 0);
	assert_int_equal(rp_worker_handle(worker, "q", NULL, handler, seen), 0);
	seen->worker = worker;
	seen->db = db;
	return worker;
}

static rp_worker *
make(struct db *db, struct seen *seen, rp_handler *handler, int threads,
     int64_t lease_ms)
{
	return make_draining(db, seen, handler, threads, lease_ms,
			     RP_DRAIN_READY);
}

static rp_worker_counts
run(rp_worker *worker)
{
	rp_worker_counts counts = RP_WORKER_COUNTS_INIT;
	rp_error error;

	if (rp_worker_run(worker, &error) < 0)
		fail_msg("%s", error.message);
	assert_int_equal(rp_worker_counts_get(worker, &counts), 0);
	rp_worker_free(worker);
	return counts;
}

static void
a_worker_drains_a_queue_and_runs_each_job_once(void **state)
{
	static struct seen seen;
	struct db *db = *state;
	rp_worker_counts counts;

	for (int i = 0; i < 3000; i++)
		put(db->conn, "q", "x");
	counts = run(make(db, &seen, count_and_complete, 4, 0));
	assert_int_equal(counts.done, 3000);
	assert_int_equal(counts.claimed, 3000);
	assert_int_equal(atomic_load(&seen.calls), 3000);
	for (int i = 1; i <= 3000; i++)
		assert_int_equal(atomic_load(&seen.starts[i]), 1);
	assert_int_equal(stats_of(db->conn, "q").ready, 0);
	assert_int_equal(stats_of(db->conn, "q").running, 0);
}

static int
say_by_payload(rp_task *task, const rp_job *job, void *ctx)
{
	const char *what = job->payload;

	(void)ctx;
	rp_task_error(task, "because");
	rp_task_delay(task, 3600000);
	return strcmp(what, "done") == 0      ? RP_DONE
	       : strcmp(what, "fail") == 0    ? RP_FAIL
	       : strcmp(what, "dead") == 0    ? RP_DEAD
	       : strcmp(what, "release") == 0 ? RP_RELEASE
					      : 77;
}

static void
the_return_value_of_a_handler_is_the_verdict(void **state)
{
	static struct seen seen;
	struct db *db = *state;
	rp_worker_counts counts;
	int64_t dead;
	rp_batch *batch;

	put(db->conn, "q", "done");
	put(db->conn, "q", "fail");
	dead = put(db->conn, "q", "dead");
	put(db->conn, "q", "release");
	put(db->conn, "q", "nonsense");
	counts = run(make(db, &seen, say_by_payload, 2, 0));
	assert_int_equal(counts.done, 1);
	assert_int_equal(counts.failed, 2);
	assert_int_equal(counts.dead, 1);
	assert_int_equal(counts.released, 1);
	assert_int_equal(stats_of(db->conn, "q").scheduled, 3);
	ok(db->conn, rp_job_get(db->conn, dead, &batch));
	assert_string_equal(rp_batch_at(batch, 0)->last_error, "because");
	assert_non_null(rp_batch_at(batch, 0)->worker);
	rp_batch_free(batch);
}

#define RENEWED_LEASE_MS 3000 /* much longer than a commit on a slow disk */

static int
outlast_the_lease(rp_task *task, const rp_job *job, void *ctx)
{
	struct seen *seen = ctx;

	rp_conn *conn = connect_to(seen->db);

	atomic_fetch_add(&seen->calls, 1);
	for (int64_t end = now_ms() + RENEWED_LEASE_MS + 500; now_ms() < end;
	     sleep_ms(10)) {
		if (rp_task_state(task) == RP_TASK_LOST)
			atomic_fetch_add(&seen->lost, 1);
		ok(conn, rp_sweep(conn, NULL));
		if (state_of(conn, job->id) != RP_STATE_RUNNING)
			atomic_fetch_add(&seen->lost, 1);
	}
	rp_close(conn);
	return RP_DONE;
}

static void
P2_leases_are_renewed_while_handlers_run(void **state)
{
	static struct seen seen;
	struct db *db = *state;
	rp_worker_counts counts;

	put(db->conn, "q", "x");
	counts = run(make(db, &seen, outlast_the_lease, 1, RENEWED_LEASE_MS));
	assert_int_equal(counts.done, 1);
	assert_int_equal(atomic_load(&seen.calls), 1);
	assert_int_equal(atomic_load(&seen.lost), 0);
}

static int
cancel_oneself(rp_task *task, const rp_job *job, void *ctx)
{
	struct seen *seen = ctx;
	rp_conn *conn = connect_to(seen->db);

	ok(conn, rp_job_cancel(conn, job->id, NULL));
	rp_close(conn);
	for (int64_t end = now_ms() + 5000; now_ms() < end; sleep_ms(5))
		if (rp_task_state(task) == RP_TASK_CANCELLED) {
			atomic_fetch_add(&seen->cancelled, 1);
			break;
		}
	return RP_DONE;
}

static void
a_handler_can_see_that_its_job_was_cancelled(void **state)
{
	static struct seen seen;
	struct db *db = *state;
	int64_t id = put(db->conn, "q", "x");
	rp_worker_counts counts = run(make(db, &seen, cancel_oneself, 1, 150));

	assert_int_equal(atomic_load(&seen.cancelled), 1);
	assert_int_equal(counts.done, 0);
	assert_int_equal(counts.cancelled, 1);
	assert_int_equal(counts.lost, 0);
	assert_int_equal(state_of(db->conn, id), RP_STATE_CANCELLED);
}

static int
stop_the_worker(rp_task *task, const rp_job *job, void *ctx)
{
	struct seen *seen = ctx;

	(void)job;
	if (atomic_fetch_add(&seen->calls, 1) < 50)
		return RP_DONE;
	rp_worker_stop(seen->worker);
	return rp_task_state(task) == RP_TASK_STOPPING ? RP_DONE : RP_DEAD;
}

static void
a_stopped_worker_releases_the_jobs_that_it_did_not_start(void **state)
{
	static struct seen seen;
	struct db *db = *state;
	rp_worker_counts counts;
	rp_batch *batch;

	for (int i = 0; i < 2000; i++)
		put(db->conn, "q", "x");
	counts = run(make(db, &seen, stop_the_worker, 2, 0));
	assert_int_equal(counts.dead, 0);
	assert_int_equal(counts.done, atomic_load(&seen.calls));
	assert_int_equal(stats_of(db->conn, "q").running, 0);
	assert_int_equal(stats_of(db->conn, "q").ready, 2000 - counts.done);
	ok(db->conn, rp_job_list(db->conn, "q", 0, 2000, &batch));
	for (size_t i = 0; i < rp_batch_count(batch); i++)
		assert_int_equal(rp_batch_at(batch, i)->attempt, 0);
	rp_batch_free(batch);
}

static void *
run_thread(void *worker)
{
	run(worker);
	return NULL;
}

static void
two_workers_share_a_queue_and_end_together(void **state)
{
	static struct seen a, b;
	struct db *db = *state;
	pthread_t threads[2];

	for (int i = 0; i < 2000; i++)
		put(db->conn, "q", "x");
	pthread_create(&threads[0], NULL, run_thread,
		       make(db, &a, count_and_complete, 2, 0));
	pthread_create(&threads[1], NULL, run_thread,
		       make(db, &b, count_and_complete, 2, 0));
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
	for (int i = 1; i <= 2000; i++)
		assert_int_equal(atomic_load(&a.starts[i]) +
					 atomic_load(&b.starts[i]),
				 1);
}

static int
the_kinds_own(rp_task *task, const rp_job *job, void *ctx)
{
	struct seen *seen = ctx;

	(void)task;
	atomic_fetch_add(&seen->lost, strcmp(job->kind, "special") != 0);
	atomic_fetch_add(&seen->cancelled, 1);
	return RP_DONE;
}

static void
a_kind_may_have_a_handler_of_its_own(void **state)
{
	static struct seen seen;
	struct db *db = *state;
	rp_job_spec job = job_of("x");
	rp_worker *worker = make(db, &seen, count_and_complete, 2, 0);

	job.kind = "special";
	put(db->conn, "q", "x");
	ok(db->conn, rp_enqueue(db->conn, "q", &job, NULL));
	rp_worker_handle(worker, "q", "special", the_kinds_own, &seen);
	run(worker);
	assert_int_equal(atomic_load(&seen.calls), 1);
	assert_int_equal(atomic_load(&seen.cancelled), 1);
	assert_int_equal(atomic_load(&seen.lost), 0);
}

/* A handler. It calls rp_why_get() for the three jobs after its own, and counts
 * the correct answers. An answer has two numbers: how many workers can run the
 * job, and how many workers serve the job's queue. */
static int
ask_why(rp_task *task, const rp_job *job, void *ctx)
{
	struct seen *seen = ctx;
	rp_conn *conn = connect_to(seen->db);
	const struct {
		int64_t id;
		int workers, queue_workers;
	} expected[] = { { job->id + 1, 0, 1 },
			 { job->id + 2, 1, 1 },
			 { job->id + 3, 0, 0 } };
	rp_why *why;

	(void)task;
	for (size_t i = 0; i < sizeof(expected) / sizeof(*expected); i++) {
		if (rp_why_get(conn, expected[i].id, &why) < 0)
			break;
		seen->calls += why->workers == expected[i].workers &&
			       why->queue_workers == expected[i].queue_workers;
		rp_why_free(why);
	}
	rp_close(conn);
	rp_worker_stop(seen->worker);
	return RP_DONE;
}

static void
a_worker_lists_the_kinds_for_which_it_has_handlers(void **state)
{
	static struct seen seen;
	struct db *db = *state;
	rp_job_spec job = job_of("x");
	rp_worker *worker;

	job.kind = "mine";
	ok(db->conn, rp_enqueue(db->conn, "k\"q", &job, NULL));
	job.delay_ms = 3600000;
	job.kind = "other";
	ok(db->conn, rp_enqueue(db->conn, "k\"q", &job, NULL));
	job.kind = "mine";
	ok(db->conn, rp_enqueue(db->conn, "k\"q", &job, NULL));
	ok(db->conn, rp_enqueue(db->conn, "elsewhere", &job, NULL));
	worker = make(db, &seen, count_and_complete, 1, 0);
	rp_worker_handle(worker, "k\"q", "mine", ask_why, &seen);
	run(worker);
	assert_int_equal(atomic_load(&seen.calls), 3);
}

static void
a_suspect_among_many_is_done_too(void **state)
{
	static struct seen seen;
	struct db *db = *state;
	rp_worker_counts counts;
	struct claim c;

	put(db->conn, "q", "suspect");
	take_one(db->conn, "q", 1, &c);
	for (int i = 0; i < 500; i++)
		put(db->conn, "q", "x");
	sleep_ms(3);
	counts = run(make(db, &seen, count_and_complete, 3, 0));
	assert_int_equal(counts.done, 501);
}

/* ---- --drain=settled: a worker that waits until all jobs are settled ---- */

static int
succeed_at_the_fourth_call(rp_task *task, const rp_job *job, void *ctx)
{
	struct seen *seen = ctx;
	int call = atomic_fetch_add(&seen->calls, 1);

	(void)job;
	rp_task_delay(task, 60);
	return call < 2 ? RP_FAIL : call == 2 ? RP_RELEASE : RP_DONE;
}

static void
a_worker_drains_until_each_job_that_it_ran_is_settled(void **state)
{
	static struct seen seen;
	struct db *db = *state;
	rp_worker_counts counts;

	put(db->conn, "q", "x");
	counts = run(make_draining(db, &seen, succeed_at_the_fourth_call, 2, 0,
				   RP_DRAIN_SETTLED));
	assert_int_equal(counts.failed, 2);
	assert_int_equal(counts.released, 1);
	assert_int_equal(counts.done, 1);
}

/* A handler. The first job fails, and is scheduled for its retry. Then the
 * second job cancels the first job, so this worker need not wait for the
 * retry. */
static int
cancel_the_first(rp_task *task, const rp_job *job, void *ctx)
{
	struct seen *seen = ctx;
	int64_t first = job->id - 1;
	rp_conn *conn;

	rp_task_delay(task, 3600000);
	if (strcmp(job->payload, "first") == 0)
		return RP_FAIL;
	conn = connect_to(seen->db);
	while (state_of(conn, first) != RP_STATE_SCHEDULED)
		sleep_ms(5);
	ok(conn, rp_job_cancel(conn, first, NULL));
	rp_close(conn);
	return RP_DONE;
}

static int
claim_the_first(rp_task *task, const rp_job *job, void *ctx)
{
	struct seen *seen = ctx;
	struct claim claim;
	rp_conn *conn;

	/* When the failed job is due again, all threads are still busy. */
	rp_task_delay(task, 300);
	if (strcmp(job->payload, "first") == 0)
		return RP_FAIL;
	atomic_fetch_add(&seen->calls, 1);
	conn = connect_to(seen->db);
	while (atomic_load(&seen->calls) < 2)
		sleep_ms(5);
	if (strcmp(job->payload, "second") == 0) {
		while (!take_one(conn, "q", 60000, &claim)) {
			sleep_ms(5);
			ok(conn, rp_sweep(conn, NULL));
		}
		settle_one(conn, claim, RP_FAIL, 3600000);
		atomic_fetch_add(&seen->calls, 1);
	}
	while (atomic_load(&seen->calls) < 3)
		sleep_ms(5);
	rp_close(conn);
	return RP_DONE;
}

static void
a_worker_does_not_wait_for_cancelled_jobs_or_those_of_others(void **state)
{
	static struct seen seen;
	struct db *db = *state;

	put(db->conn, "q", "first");
	put(db->conn, "q", "second");
	run(make_draining(db, &seen, cancel_the_first, 2, 0, RP_DRAIN_SETTLED));
	assert_int_equal(stats_of(db->conn, "q").scheduled, 0);
	put(db->conn, "q", "first");
	put(db->conn, "q", "second");
	put(db->conn, "q", "third");
	run(make_draining(db, &seen, claim_the_first, 2, 0, RP_DRAIN_SETTLED));
	assert_int_equal(stats_of(db->conn, "q").scheduled, 1);
}

struct pulse {
	atomic_int beats;
	int last; /* number of the heartbeat that stops the worker */
	rp_worker *worker;
};

static void
feel_pulse(const rp_event *e, void *ctx)
{
	struct pulse *pulse = ctx;

	if (e->what == RP_EVENT_HEARTBEAT &&
	    atomic_fetch_add(&pulse->beats, 1) + 1 == pulse->last)
		rp_worker_stop(pulse->worker);
}

static int
live_for_five_beats(rp_task *task, const rp_job *job, void *ctx)
{
	struct pulse *pulse = ctx;
	int last = atomic_load(&pulse->beats) + 5;
	int64_t end = now_ms() + 30000;

	(void)task;
	(void)job;
	while (atomic_load(&pulse->beats) < last && now_ms() < end)
		sleep_ms(5);
	return atomic_load(&pulse->beats) < last ? RP_FAIL : RP_DONE;
}

/* Count the heartbeats of a worker with one thread. */
static int
beats(struct db *db, int64_t heartbeat_ms, int last)
{
	struct pulse pulse = { .last = last };
	rp_worker_options options = RP_WORKER_INIT;

	options.observer = feel_pulse;
	options.observer_ctx = &pulse;
	options.heartbeat_ms = heartbeat_ms;
	options.drain = !last;
	assert_int_equal(rp_worker_new(db->url, &options, &pulse.worker, NULL),
			 0);
	assert_int_equal(rp_worker_handle(pulse.worker, "q", NULL,
					  live_for_five_beats, &pulse),
			 0);
	assert_int_equal(run(pulse.worker).failed, 0);
	return atomic_load(&pulse.beats);
}

static void
the_observer_gets_heartbeats_of_idle_and_busy_workers(void **state)
{
	struct db *db = *state;
	int64_t began = now_ms();

	assert_int_equal(beats(db, 0, 0), 1);
	put(db->conn, "q", "busy for five, idle from then on");
	assert_true(beats(db, 20, 50) >= 50);
	assert_in_range(now_ms() - began, 0, 20000);
	assert_int_equal(stats_of(db->conn, "q").ready, 0);
}

static void
bad_options_are_refused(void **state)
{
	struct db *db = *state;
	rp_worker_options options = RP_WORKER_INIT;
	rp_worker *worker = NULL;
	rp_error error;

	options.drain = 3;
	assert_int_equal(rp_worker_new(db->url, &options, &worker, &error),
			 RP_EINVAL);
	options.drain = 0;
	options.threads = -1;
	assert_int_equal(rp_worker_new(db->url, &options, &worker, &error),
			 RP_EINVAL);
	options.threads = 1;
	options.heartbeat_ms = -1;
	assert_int_equal(rp_worker_new(db->url, &options, &worker, &error),
			 RP_EINVAL);
	assert_null(worker);
	assert_int_equal(rp_worker_new(db->url, NULL, &worker, &error), 0);
	assert_int_equal(
		rp_worker_handle(worker, "", NULL, count_and_complete, NULL),
		RP_EINVAL);
	assert_int_equal(rp_worker_handle(worker, "q", NULL, NULL, NULL),
			 RP_EINVAL);
	assert_int_equal(rp_worker_run(worker, &error), RP_EINVAL);
	rp_worker_free(worker);
}

/* A handler that runs its own worker again. The worker would wait for itself,
 * so the call is refused. */
static int
run_again(rp_task *task, const rp_job *job, void *ctx)
{
	struct seen *seen = ctx;
	rp_error error;
	int refused = rp_worker_run(seen->worker, &error) == RP_EINVAL &&
		      strstr(error.message, "already running") &&
		      rp_worker_handle(seen->worker, "other", NULL, run_again,
				       seen) == RP_EINVAL;

	(void)task;
	(void)job;
	atomic_fetch_add(&seen->calls, refused != 0);
	return RP_DONE;
}

static void
a_handler_cannot_run_its_worker_again(void **state)
{
	static struct seen seen;
	struct db *db = *state;
	rp_worker *worker;
	rp_error error;

	put(db->conn, "q", "x");
	worker = make(db, &seen, run_again, 1, 0);
	assert_int_equal(rp_worker_run(worker, &error), 0);
	assert_int_equal(atomic_load(&seen.calls), 1);
	put(db->conn, "q", "x");
	assert_int_equal(run(worker).done, 2);
}

/* Make each call on the worker of the parent. In the parent, its other thread
 * waits for a task. */
static int
use_parents_worker(void *ctx)
{
	struct seen *seen = ctx;
	rp_worker_counts counts = RP_WORKER_COUNTS_INIT;
	rp_worker *worker = seen->worker;
	rp_error error;
	rp_task *task;

	alarm(20); /* ends the child if a call hangs */
	if (rp_worker_run(worker, &error) != RP_EINVAL ||
	    !strstr(error.message, "before fork()") ||
	    rp_worker_next(worker, 0, &task, &error) != RP_EINVAL ||
	    rp_worker_handle(worker, "r", NULL, count_and_complete, seen) !=
		    RP_EINVAL ||
	    rp_worker_serve(worker, "r", NULL) != RP_EINVAL ||
	    rp_worker_counts_get(worker, &counts) != RP_EINVAL ||
	    rp_worker_fd(worker) != RP_EINVAL)
		return 1;
	rp_worker_stop(worker);
	rp_worker_free(worker);
	return 0;
}

static int
fork_child(rp_task *task, const rp_job *job, void *ctx)
{
	struct seen *seen = ctx;
	pid_t pid = spawn();

	(void)job;
	if (pid == 0)
		_exit(rp_task_state(task) != RP_EINVAL ||
		      rp_task_error(task, "x") != RP_EINVAL ||
		      use_parents_worker(seen));
	return spawn_wait(pid) == 0 ? RP_DONE : RP_DEAD;
}

static void
a_worker_is_refused_after_fork(void **state)
{
	static struct seen seen;
	struct db *db = *state;

	put(db->conn, "q", "x");
	assert_int_equal(run(make(db, &seen, fork_child, 2, 0)).done, 1);
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		CASE(a_worker_drains_a_queue_and_runs_each_job_once),
		CASE(the_return_value_of_a_handler_is_the_verdict),
		CASE(P2_leases_are_renewed_while_handlers_run),
		CASE(a_handler_can_see_that_its_job_was_cancelled),
		CASE(a_stopped_worker_releases_the_jobs_that_it_did_not_start),
		CASE(two_workers_share_a_queue_and_end_together),
		CASE(a_kind_may_have_a_handler_of_its_own),
		CASE(a_worker_lists_the_kinds_for_which_it_has_handlers),
		CASE(a_suspect_among_many_is_done_too),
		CASE(a_worker_drains_until_each_job_that_it_ran_is_settled),
		CASE(a_worker_does_not_wait_for_cancelled_jobs_or_those_of_others),
		CASE(the_observer_gets_heartbeats_of_idle_and_busy_workers),
		CASE(bad_options_are_refused),
		CASE(a_handler_cannot_run_its_worker_again),
		CASE(a_worker_is_refused_after_fork),
	};

	databases_at(argc, argv);
	return cmocka_run_group_tests_name("worker", tests, NULL, NULL);
}
