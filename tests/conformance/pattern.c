/*
 * pattern.c - test a worker that serves all queues whose names match a pattern.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "check.h"

#include <pthread.h>
#include <stdatomic.h>

/* A worker must serve a new queue within 2 s. The test allows 5 s, because the
 * machine may be busy. */
#define LATE_MS 5000

struct seen {
	atomic_int calls;
	rp_worker *worker;
	int stop_after;
};

static int
count(rp_task *task, const rp_job *job, void *ctx)
{
	struct seen *seen = ctx;

	(void)task;
	(void)job;
	if (atomic_fetch_add(&seen->calls, 1) + 1 == seen->stop_after)
		rp_worker_stop(seen->worker);
	return RP_DONE;
}

static rp_worker *
make(struct db *db, int drain)
{
	rp_worker_options options = RP_WORKER_INIT;
	rp_worker *worker;

	options.drain = drain ? RP_DRAIN_READY : 0;
	assert_int_equal(rp_worker_new(db->url, &options, &worker, NULL), 0);
	return worker;
}

static void
serve(rp_worker *worker, const char *pattern, const char *kind,
      struct seen *seen)
{
	assert_int_equal(
		rp_worker_handle_pattern(worker, pattern, kind, count, seen),
		0);
}

static void
run_only(rp_worker *worker)
{
	rp_error error;

	if (rp_worker_run(worker, &error) < 0)
		fail_msg("%s", error.message);
}

static void
run(rp_worker *worker)
{
	run_only(worker);
	rp_worker_free(worker);
}

static void
all_queues_that_match_are_served_and_no_other(void **state)
{
	struct db *db = *state;
	struct seen seen = { 0 };
	rp_worker *worker = make(db, 1);

	put(db->conn, "tenant.a", "x");
	put(db->conn, "tenant.b", "x");
	put(db->conn, "tenants", "x");
	serve(worker, "tenant.*", NULL, &seen);
	run(worker);
	assert_int_equal(seen.calls, 2);
	assert_int_equal(stats_of(db->conn, "tenants").ready, 1);
}

static void
a_name_goes_before_a_pattern_and_a_kind_before_all(void **state)
{
	struct db *db = *state;
	struct seen any = { 0 }, kind = { 0 }, name = { 0 };
	rp_worker *worker = make(db, 1);
	rp_job_spec job = job_of("x");

	put(db->conn, "t.a", "x");
	put(db->conn, "t.b", "x");
	job.kind = "k";
	ok(db->conn, rp_enqueue(db->conn, "t.b", &job, NULL));
	ok(db->conn, rp_enqueue(db->conn, "t.a", &job, NULL));
	serve(worker, "t.?", NULL, &any);
	serve(worker, "*", "k", &kind);
	assert_int_equal(rp_worker_handle(worker, "t.a", NULL, count, &name),
			 0);
	run(worker);
	assert_int_equal(name.calls, 2);
	assert_int_equal(kind.calls, 1);
	assert_int_equal(any.calls, 1);
}

static void
a_star_in_a_name_is_reached(void **state)
{
	struct db *db = *state;
	struct seen named = { 0 }, escaped = { 0 };
	rp_worker *worker = make(db, 1);

	put(db->conn, "a*", "x");
	put(db->conn, "b*", "x");
	put(db->conn, "ab", "x");
	put(db->conn, "bb", "x");
	assert_int_equal(rp_worker_handle(worker, "a*", NULL, count, &named),
			 0);
	serve(worker, "b\\*", NULL, &escaped);
	run(worker);
	assert_int_equal(named.calls, 1);
	assert_int_equal(escaped.calls, 1);
	assert_int_equal(stats_of(db->conn, "ab").ready, 1);
	assert_int_equal(stats_of(db->conn, "bb").ready, 1);
}

static void
a_pattern_need_not_match_and_makes_no_queue(void **state)
{
	struct db *db = *state;
	struct seen seen = { 0 };
	rp_worker *worker = make(db, 1);
	rp_queues *queues;

	serve(worker, "none*", NULL, &seen);
	run(worker);
	ok(db->conn, rp_queue_list(db->conn, NULL, &queues));
	assert_int_equal(rp_queues_count(queues), 0);
	rp_queues_free(queues);
}

static void *
run_thread(void *worker)
{
	run_only(worker);
	return NULL;
}

/* Wait for the thread that runs the worker, then free the worker. The thread
 * does not free it, because rp_worker_run() may return while the caller is
 * still in rp_worker_stop(), which uses the worker. */
static void
join(pthread_t thread, rp_worker *worker)
{
	pthread_join(thread, NULL);
	rp_worker_free(worker);
}

static int
calls_reach(struct seen *seen, int n)
{
	int64_t end = now_ms() + LATE_MS;

	while (atomic_load(&seen->calls) < n && now_ms() < end)
		sleep_ms(5);
	return atomic_load(&seen->calls) >= n;
}

/* Wait until the statistics count one worker for this queue. Returns 0 if this
 * takes longer than LATE_MS. */
static int
is_counted(struct db *db, const char *queue)
{
	int64_t end = now_ms() + LATE_MS;

	while (stats_of(db->conn, queue).workers != 1 && now_ms() < end)
		sleep_ms(5);
	return stats_of(db->conn, queue).workers == 1;
}

static void
a_new_queue_is_served_soon_and_then_at_once(void **state)
{
	struct db *db = *state;
	struct seen seen = { .stop_after = 4 };
	pthread_t thread;

	put(db->conn, "t.first", "x");
	seen.worker = make(db, 0);
	serve(seen.worker, "t.*", NULL, &seen);
	pthread_create(&thread, NULL, run_thread, seen.worker);
	assert_true(calls_reach(&seen, 1));
	put(db->conn, "t.second", "x");
	assert_true(calls_reach(&seen, 2));
	assert_true(is_counted(db, "t.second"));
	put(db->conn, "t.second", "x");
	assert_true(calls_reach(&seen, 3));
	put(db->conn, "t.first", "x");
	join(thread, seen.worker);
	assert_int_equal(atomic_load(&seen.calls), 4);
}

static void
a_worker_that_began_without_a_queue_finds_a_new_queue(void **state)
{
	struct db *db = *state;
	struct seen seen = { .stop_after = 1 };
	pthread_t thread;

	seen.worker = make(db, 0);
	serve(seen.worker, "t.*", NULL, &seen);
	pthread_create(&thread, NULL, run_thread, seen.worker);
	sleep_ms(100);
	put(db->conn, "t.first", "x");
	join(thread, seen.worker);
	assert_int_equal(atomic_load(&seen.calls), 1);
}

/* ---- queues are found while another client holds the write lock ---- */

static void
count_troubles(const rp_event *event, void *ctx)
{
	if (event->what == RP_EVENT_TROUBLE)
		atomic_fetch_add((atomic_int *)ctx, 1);
}

/* Start a worker on the pattern t.* in a new thread, which is stored in *ret.
 * On SQLite the worker waits only 1 ms for a lock. */
static rp_worker *
start_impatient(struct db *db, struct seen *seen, atomic_int *troubles,
		pthread_t *ret)
{
	rp_worker_options options = RP_WORKER_INIT;
	char url[600];

	snprintf(url, sizeof(url), "%s%s", db->url,
		 *db->path ? "?busy=1ms" : "");
	options.observer = count_troubles;
	options.observer_ctx = troubles;
	assert_int_equal(rp_worker_new(url, &options, &seen->worker, NULL), 0);
	serve(seen->worker, "t.*", NULL, seen);
	pthread_create(ret, NULL, run_thread, seen->worker);
	assert_true(calls_reach(seen, 1));
	return seen->worker;
}

static void
looking_for_new_queues_needs_no_write_lock(void **state)
{
	struct db *db = *state;
	struct seen seen = { 0 };
	atomic_int troubles = 0;
	pthread_t thread;

	put(db->conn, "t.first", "x");
	start_impatient(db, &seen, &troubles, &thread);
	sleep_ms(200);
	ok(db->conn, rp_begin(db->conn));
	sleep_ms(2500);
	ok(db->conn, rp_rollback(db->conn));
	assert_int_equal(atomic_load(&troubles), 0);
	rp_worker_stop(seen.worker);
	join(thread, seen.worker);
}

static void
a_registration_that_failed_is_repeated(void **state)
{
	struct db *db = *state;
	struct seen seen = { 0 };
	atomic_int troubles = 0;
	pthread_t thread;
	int64_t end = now_ms() + LATE_MS;

	put(db->conn, "t.first", "x");
	start_impatient(db, &seen, &troubles, &thread);
	put(db->conn, "t.second", "x");
	ok(db->conn, rp_begin(db->conn));
	while (*db->path && atomic_load(&troubles) == 0 && now_ms() < end)
		sleep_ms(5);
	assert_true(!*db->path || atomic_load(&troubles) > 0);
	ok(db->conn, rp_rollback(db->conn));
	assert_true(is_counted(db, "t.second"));
	rp_worker_stop(seen.worker);
	join(thread, seen.worker);
}

static void
a_task_is_pulled_from_a_queue_that_matches(void **state)
{
	struct db *db = *state;
	rp_worker *worker = make(db, 1);
	rp_error error;
	rp_task *task;

	put(db->conn, "t.a", "x");
	assert_int_equal(rp_worker_serve_pattern(worker, "t*", NULL), 0);
	assert_int_equal(rp_worker_next(worker, 5000, &task, &error),
			 RP_NEXT_TASK);
	assert_string_equal(rp_task_job(task)->queue, "t.a");
	assert_int_equal(rp_task_finish(task, RP_DONE), 0);
	rp_worker_free(worker);
}

static void
bad_patterns_are_refused(void **state)
{
	rp_worker *worker = make(*state, 1);

	assert_int_equal(
		rp_worker_handle_pattern(worker, "", NULL, count, NULL),
		RP_EINVAL);
	assert_int_equal(
		rp_worker_handle_pattern(worker, NULL, NULL, count, NULL),
		RP_EINVAL);
	assert_int_equal(
		rp_worker_handle_pattern(worker, "*", NULL, NULL, NULL),
		RP_EINVAL);
	rp_worker_free(worker);
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		CASE(all_queues_that_match_are_served_and_no_other),
		CASE(a_name_goes_before_a_pattern_and_a_kind_before_all),
		CASE(a_star_in_a_name_is_reached),
		CASE(a_pattern_need_not_match_and_makes_no_queue),
		CASE(a_new_queue_is_served_soon_and_then_at_once),
		CASE(a_worker_that_began_without_a_queue_finds_a_new_queue),
		CASE(looking_for_new_queues_needs_no_write_lock),
		CASE(a_registration_that_failed_is_repeated),
		CASE(a_task_is_pulled_from_a_queue_that_matches),
		CASE(bad_patterns_are_refused),
	};

	databases_at(argc, argv);
	return cmocka_run_group_tests_name("pattern", tests, NULL, NULL);
}
