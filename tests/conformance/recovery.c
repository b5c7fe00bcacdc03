/*
 * recovery.c - test the effects of a crash: which jobs are ready again, and
 * when. Also test that a running worker keeps its own jobs.
 *
 * A suspect is a job whose lease has run out twice in a row. It runs alone at
 * first, because it may have killed its workers.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "check.h"

#include <pthread.h>
#include <stdatomic.h>

#define THREADS 8

struct seen {
	struct db *db;
	atomic_int calls, young_beside_suspect;
	/* when the running suspect started; 0: no suspect is running */
	_Atomic int64_t suspect_since;
	rp_worker *worker;
	pthread_t thread;
};

/* ---- workers ---- */

static void *
run_worker(void *ctx)
{
	struct seen *seen = ctx;

	rp_worker_run(seen->worker, NULL);
	return NULL;
}

static void
start(struct seen *seen, struct db *db, const char *queue, rp_handler *handler,
      rp_worker_options options)
{
	memset(seen, 0, sizeof(*seen));
	seen->db = db;
	assert_int_equal(rp_worker_new(db->url, &options, &seen->worker, NULL),
			 0);
	assert_int_equal(
		rp_worker_handle(seen->worker, queue, NULL, handler, seen), 0);
	assert_int_equal(pthread_create(&seen->thread, NULL, run_worker, seen),
			 0);
}

static rp_worker_counts
join(struct seen *seen)
{
	rp_worker_counts counts = RP_WORKER_COUNTS_INIT;

	pthread_join(seen->thread, NULL);
	assert_int_equal(rp_worker_counts_get(seen->worker, &counts), 0);
	rp_worker_free(seen->worker);
	return counts;
}

static rp_worker_counts
stop(struct seen *seen)
{
	rp_worker_stop(seen->worker);
	return join(seen);
}

/* Run a worker until the queue is empty. Returns how long this takes, in ms.
 * *ret_done becomes the number of jobs that the worker completes. */
static int64_t
drain(struct db *db, rp_handler *handler, int64_t *ret_done)
{
	rp_worker_options options = RP_WORKER_INIT;
	struct seen seen;
	int64_t began = now_ms();

	options.threads = THREADS;
	options.drain = 1;
	start(&seen, db, "q", handler, options);
	*ret_done = join(&seen).done;
	return now_ms() - began;
}

static int
take_50_ms(rp_task *task, const rp_job *job, void *ctx)
{
	(void)task;
	(void)job;
	(void)ctx;
	sleep_ms(50);
	return RP_DONE;
}

static int
take_long(rp_task *task, const rp_job *job, void *ctx)
{
	struct seen *seen = ctx;

	(void)job;
	atomic_fetch_add(&seen->calls, 1);
	while (rp_task_state(task) == RP_TASK_RUNNING)
		sleep_ms(5);
	return RP_RELEASE;
}

/* Simulate a process that claims n jobs and dies. The leases of these jobs end
 * at *ret_end. */
static void
die_with(struct db *db, size_t n, int64_t lease_ms, int64_t *ret_end)
{
	rp_batch *batch = take(db->conn, "q", n, lease_ms);

	assert_int_equal(rp_batch_count(batch), n);
	*ret_end = rp_batch_at(batch, 0)->lease_until;
	rp_batch_free(batch);
}

/* ---- recovered jobs ---- */

static void
P6_jobs_of_a_dead_worker_take_no_longer_than_fresh_ones(void **state)
{
	enum { JOBS = 100 };
	struct db *db = *state;
	int64_t fresh, lost, end, now, done;

	for (int i = 0; i < JOBS; i++)
		put(db->conn, "q", "x");
	fresh = drain(db, take_50_ms, &done);
	assert_int_equal(done, JOBS);
	for (int i = 0; i < JOBS; i++)
		put(db->conn, "q", "x");
	die_with(db, JOBS, 500, &end);
	wait_until(db->conn, end);
	lost = drain(db, take_50_ms, &done);
	assert_int_equal(done, JOBS);
	ok(db->conn, rp_now(db->conn, &now));
	assert_in_range(now - end, 0, fresh + fresh / 2 + 2000);
	assert_in_range(lost, 0, fresh + fresh / 2 + 2000);
}

static void
P6_a_lease_ends_on_time_in_queues_that_no_worker_serves(void **state)
{
	struct db *db = *state;
	rp_worker_options options = RP_WORKER_INIT;
	struct seen seen;
	struct claim c;
	int64_t id, now, end;

	start(&seen, db, "other", take_50_ms, options);
	id = put(db->conn, "q", "x");
	assert_int_equal(take_one(db->conn, "q", 1500, &c), 1);
	ok(db->conn, rp_now(db->conn, &now));
	end = now + 1500;
	while (state_of(db->conn, id) == RP_STATE_RUNNING &&
	       now < end + 10000) {
		sleep_ms(20);
		ok(db->conn, rp_now(db->conn, &now));
	}
	assert_in_range(now, end - 20, end + 2000);
	stop(&seen);
}

static void
P6_a_delay_ends_on_time_in_queues_that_no_worker_serves(void **state)
{
	struct db *db = *state;
	rp_worker_options options = RP_WORKER_INIT;
	rp_job_spec later = job_of("x");
	struct seen seen;
	rp_added added;
	int64_t now, end;

	start(&seen, db, "other", take_50_ms, options);
	later.delay_ms = 1500;
	ok(db->conn, rp_enqueue(db->conn, "q", &later, &added));
	ok(db->conn, rp_now(db->conn, &now));
	end = now + 1500;
	while (take_one(db->conn, "q", 60000, &(struct claim){ 0 }) == 0 &&
	       now < end + 10000) {
		sleep_ms(20);
		ok(db->conn, rp_now(db->conn, &now));
	}
	assert_in_range(now, end - 20, end + 2000);
	stop(&seen);
}

/* ---- suspects ---- */

/* A handler. The suspect runs for 4 s. Other jobs end immediately. */
static int
watch_the_suspect(rp_task *task, const rp_job *job, void *ctx)
{
	struct seen *seen = ctx;
	int64_t since = atomic_load(&seen->suspect_since);

	(void)task;
	atomic_fetch_add(&seen->calls, 1);
	if (!job->suspect) {
		if (since && now_ms() - since < 1900)
			atomic_fetch_add(&seen->young_beside_suspect, 1);
		return RP_DONE;
	}
	assert_int_equal(since, 0);
	atomic_store(&seen->suspect_since, now_ms());
	sleep_ms(4000);
	atomic_store(&seen->suspect_since, 0);
	return RP_DONE;
}

static void
make_suspects(struct db *db, int n)
{
	int64_t end;

	for (int i = 0; i < n; i++)
		put(db->conn, "q", "suspect");
	for (int i = 0; i < 2; i++) {
		die_with(db, (size_t)n, 1, &end);
		wait_until(db->conn, end);
		ok(db->conn, rp_sweep(db->conn, NULL));
	}
}

static void
P6_a_suspect_is_alone_until_it_has_lived_for_two_seconds(void **state)
{
	struct db *db = *state;
	rp_worker_options options = RP_WORKER_INIT;
	struct seen seen;
	int64_t end = now_ms() + 20000;
	int beside = 0;

	make_suspects(db, 1);
	for (int i = 0; i < 100; i++)
		put(db->conn, "q", "x");
	options.threads = THREADS;
	start(&seen, db, "q", watch_the_suspect, options);
	while (atomic_load(&seen.calls) < 101 && now_ms() < end) {
		beside |= atomic_load(&seen.suspect_since) &&
			  atomic_load(&seen.calls) > 1;
		sleep_ms(5);
	}
	assert_int_equal(atomic_load(&seen.young_beside_suspect), 0);
	assert_int_equal(stop(&seen).done, 101);
	assert_true(beside);
}

/* A handler that counts the other jobs that start before ten of the twenty
 * suspects have ended. The worker runs suspects and other jobs in turn, and a
 * suspect takes 50 ms. So the worker must start all other jobs before the tenth
 * suspect ends. */
static int
count_before_the_last_suspect(rp_task *task, const rp_job *job, void *ctx)
{
	struct seen *seen = ctx;

	(void)task;
	if (job->suspect)
		sleep_ms(50);
	else if (atomic_load(&seen->calls) < 10)
		atomic_fetch_add(&seen->young_beside_suspect, 1);
	if (job->suspect)
		atomic_fetch_add(&seen->calls, 1);
	return RP_DONE;
}

static void
P6_suspects_leave_other_jobs_their_turn(void **state)
{
	enum { SUSPECTS = 20, OTHERS = 40 };
	struct db *db = *state;
	rp_worker_options options = RP_WORKER_INIT;
	struct seen seen;

	make_suspects(db, SUSPECTS);
	for (int i = 0; i < OTHERS; i++)
		put(db->conn, "q", "x");
	options.threads = 4;
	options.drain = 1;
	start(&seen, db, "q", count_before_the_last_suspect, options);
	assert_int_equal(join(&seen).done, SUSPECTS + OTHERS);
	assert_int_equal(atomic_load(&seen.young_beside_suspect), OTHERS);
}

/* A handler. The job `long` runs until the job `x` has started. While `long`
 * runs, a suspect (a job that may have killed its worker) and `x` become ready.
 * The worker must run the suspect alone, so it claims nothing and waits for the
 * end of `long`. After some time it must stop waiting and run `x`. Otherwise
 * `long` fails after 20 s. */
static int
hold_on(rp_task *task, const rp_job *job, void *ctx)
{
	struct seen *seen = ctx;
	int64_t end = now_ms() + 20000;

	(void)task;
	if (strcmp(job->payload, "long") == 0) {
		atomic_fetch_add(&seen->calls, 1);
		while (!atomic_load(&seen->young_beside_suspect) &&
		       now_ms() < end)
			sleep_ms(5);
	} else if (!job->suspect) {
		atomic_fetch_add(&seen->young_beside_suspect, 1);
	}
	return now_ms() < end ? RP_DONE : RP_FAIL;
}

static void
P6_a_long_job_beside_a_suspect_does_not_stop_the_worker(void **state)
{
	struct db *db = *state;
	rp_worker_options options = RP_WORKER_INIT;
	struct seen seen;

	make_suspects(db, 1);
	ok(db->conn, rp_queue_pause(db->conn, "q", NULL));
	put(db->conn, "first", "long");
	options.threads = 2;
	options.drain = 1;
	memset(&seen, 0, sizeof(seen));
	seen.db = db;
	assert_int_equal(rp_worker_new(db->url, &options, &seen.worker, NULL),
			 0);
	rp_worker_handle(seen.worker, "first", NULL, hold_on, &seen);
	rp_worker_handle(seen.worker, "q", NULL, hold_on, &seen);
	assert_int_equal(pthread_create(&seen.thread, NULL, run_worker, &seen),
			 0);
	while (atomic_load(&seen.calls) == 0)
		sleep_ms(5);
	put(db->conn, "q", "x");
	ok(db->conn, rp_queue_resume(db->conn, "q"));
	assert_int_equal(join(&seen).done, 3);
}

/* ---- a running worker keeps its leases ---- */

/* Return by how many ms the job's lease has been extended since the claim. */
static int64_t
renewed_by(struct db *db, int64_t id, int64_t lease_ms)
{
	rp_batch *batch = get(db->conn, id);
	const rp_job *job = rp_batch_at(batch, 0);
	int64_t by = job->lease_until - job->claimed_at - lease_ms;

	rp_batch_free(batch);
	return by;
}

static void
P2_the_first_renewal_comes_at_a_third_of_the_lease(void **state)
{
	enum { LEASE = 1500, WORKERS = 4 };
	static const char *const queues[] = { "a", "b", "c", "d" };
	static struct seen seen[WORKERS];
	struct db *db = *state;
	rp_worker_options options = RP_WORKER_INIT;
	int64_t ids[WORKERS];

	options.lease_ms = LEASE;
	for (int i = 0; i < WORKERS; i++)
		start(&seen[i], db, queues[i], take_long, options);
	sleep_ms(1200); /* after this pause, idle workers poll less often */
	for (int i = 0; i < WORKERS; i++)
		ids[i] = put(db->conn, queues[i], "x");
	for (int i = 0; i < WORKERS; i++) {
		int64_t by;

		while ((by = renewed_by(db, ids[i], LEASE)) < LEASE / 6)
			sleep_ms(5);
		assert_in_range(by, LEASE / 3 - 50, LEASE / 3 + 400);
	}
	for (int i = 0; i < WORKERS; i++)
		stop(&seen[i]);
}

/* A handler whose first 8 calls are fast, so that the worker prefetches many
 * jobs. The later calls are so slow that the worker releases most of these jobs
 * before it can start them. */
static int
slow_down(rp_task *task, const rp_job *job, void *ctx)
{
	struct seen *seen = ctx;

	(void)task;
	(void)job;
	if (atomic_fetch_add(&seen->calls, 1) >= 8)
		sleep_ms(700);
	return RP_DONE;
}

static void
max_jobs_counts_the_jobs_that_were_started(void **state)
{
	enum { MOST = 20 };
	struct db *db = *state;
	rp_worker_options options = RP_WORKER_INIT;
	struct seen seen;

	for (int i = 0; i < 200; i++)
		put(db->conn, "q", "x");
	options.threads = 2;
	options.max_jobs = MOST;
	start(&seen, db, "q", slow_down, options);
	assert_int_equal(join(&seen).done, MOST);
	assert_int_equal(atomic_load(&seen.calls), MOST);
	assert_int_equal(stats_of(db->conn, "q").ready, 200 - MOST);
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		CASE(P6_jobs_of_a_dead_worker_take_no_longer_than_fresh_ones),
		CASE(P6_a_lease_ends_on_time_in_queues_that_no_worker_serves),
		CASE(P6_a_delay_ends_on_time_in_queues_that_no_worker_serves),
		CASE(P6_a_suspect_is_alone_until_it_has_lived_for_two_seconds),
		CASE(P6_suspects_leave_other_jobs_their_turn),
		CASE(P6_a_long_job_beside_a_suspect_does_not_stop_the_worker),
		CASE(P2_the_first_renewal_comes_at_a_third_of_the_lease),
		CASE(max_jobs_counts_the_jobs_that_were_started),
	};

	databases_at(argc, argv);
	return cmocka_run_group_tests_name("recovery", tests, NULL, NULL);
}
