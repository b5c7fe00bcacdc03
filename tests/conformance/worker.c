/*
 * worker.c - the worker in C: threads, grouped settling, renewal, drain.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "check.h"

#include <pthread.h>
#include <stdatomic.h>

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
make(struct db *db, struct seen *seen, rp_handler *handler, int threads,
     int64_t lease_ms)
{
	rp_worker_options options = RP_WORKER_INIT;
	rp_worker *worker;

	memset(seen, 0, sizeof(*seen));
	options.threads = threads;
	options.lease_ms = lease_ms;
	options.drain = 1;
	assert_int_equal(rp_worker_new(db->url, &options, &worker, NULL), 0);
	assert_int_equal(rp_worker_handle(worker, "q", NULL, handler, seen), 0);
	seen->worker = worker;
	seen->db = db;
	return worker;
}

static rp_worker_counts
run(rp_worker *worker)
{
	rp_worker_counts counts;
	rp_error error;

	if (rp_worker_run(worker, &error) < 0)
		fail_msg("%s", error.message);
	counts = rp_worker_counts_get(worker);
	rp_worker_free(worker);
	return counts;
}

static void
it_drains_a_queue_each_job_once(void **state)
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
what_a_handler_returns_becomes_the_verdict(void **state)
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

#define RENEWED_LEASE_MS                                                       \
	3000 /* long beside what a slow disk takes to commit                   \
	      */

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
a_cancelled_job_is_known_to_its_handler(void **state)
{
	static struct seen seen;
	struct db *db = *state;
	int64_t id = put(db->conn, "q", "x");
	rp_worker_counts counts = run(make(db, &seen, cancel_oneself, 1, 150));

	assert_int_equal(atomic_load(&seen.cancelled), 1);
	assert_int_equal(counts.done, 0);
	assert_int_equal(counts.lost, 1);
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
a_stopped_worker_gives_back_what_it_did_not_start(void **state)
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

/* Looks from within at jobs that nobody has a handler for, and at one that
 * somebody has. */
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
it_says_which_kinds_it_has_handlers_for(void **state)
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

static void
bad_options_are_refused(void **state)
{
	struct db *db = *state;
	rp_worker_options options = RP_WORKER_INIT;
	rp_worker *worker = NULL;
	rp_error error;

	options.threads = -1;
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

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		CASE(it_drains_a_queue_each_job_once),
		CASE(what_a_handler_returns_becomes_the_verdict),
		CASE(P2_leases_are_renewed_while_handlers_run),
		CASE(a_cancelled_job_is_known_to_its_handler),
		CASE(a_stopped_worker_gives_back_what_it_did_not_start),
		CASE(two_workers_share_a_queue_and_end_together),
		CASE(a_kind_may_have_a_handler_of_its_own),
		CASE(it_says_which_kinds_it_has_handlers_for),
		CASE(a_suspect_among_many_is_done_too),
		CASE(bad_options_are_refused),
	};

	databases_at(argc, argv);
	return cmocka_run_group_tests_name("worker", tests, NULL, NULL);
}
