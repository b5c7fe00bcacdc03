/*
 * lost.c - test a worker whose connection is cut. Its running jobs are settled
 * later, and the jobs of a claim whose answer was lost are released.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "check.h"

#include <pthread.h>
#include <stdatomic.h>

struct work {
	rp_worker *worker;
	atomic_int done;
	rp_error error;
	int r;
};

static int
count(rp_task *task, const rp_job *job, void *ctx)
{
	struct work *work = ctx;

	(void)task;
	(void)job;
	atomic_fetch_add(&work->done, 1);
	return RP_DONE;
}

static void *
run(void *ctx)
{
	struct work *work = ctx;

	work->r = rp_worker_run(work->worker, &work->error);
	return NULL;
}

static int
eventually_done(struct work *work, int n)
{
	int64_t end = now_ms() + 20000;

	while (atomic_load(&work->done) < n && now_ms() < end)
		sleep_ms(5);
	return atomic_load(&work->done) == n;
}

/* Kill the worker's sessions, which are all sessions in this schema except the
 * test's own. */
static void
cut(struct db *db)
{
	char sql[300];
	int64_t n = 0;

	snprintf(sql, sizeof(sql),
		 "select count(pg_terminate_backend(pid))"
		 "  from pg_stat_activity"
		 " where pid <> pg_backend_pid() and application_name = '%s'",
		 db->schema);
	assert_int_equal(run_sql(db->conn, sql, &n), 0);
	assert_true(n > 0);
}

static void
jobs_of_a_claim_whose_answer_was_lost_are_released_at_once(void **state)
{
	struct db *db = *state;
	struct work work = { 0 };
	rp_worker_counts counts = RP_WORKER_COUNTS_INIT;
	pthread_t thread;
	int64_t id = 0, claimed = 0;
	char sql[300];

	assert_int_equal(rp_worker_new(db->url, NULL, &work.worker, NULL), 0);
	assert_int_equal(rp_worker_handle(work.worker, "q", NULL, count, &work),
			 0);
	put(db->conn, "q", "x");
	assert_int_equal(pthread_create(&thread, NULL, run, &work), 0);
	assert_true(eventually_done(&work, 1));
	while (stats_of(db->conn, "q").running)
		sleep_ms(5);

	/* Claim jobs in the worker's name, without telling the worker. The
	 * database then records that the worker holds these jobs, as if the
	 * answer to the worker's own claim had been lost. */
	assert_int_equal(run_sql(db->conn, "select max(id) from worker", &id),
			 0);
	ok(db->conn, rp_begin(db->conn));
	for (int i = 0; i < 5; i++)
		put(db->conn, "q", "x");
	snprintf(sql, sizeof(sql),
		 "select count(*) from %s.claim('q', 5, worker_id => %lld)",
		 db->schema, (long long)id);
	assert_int_equal(run_sql(db->conn, sql, &claimed), 0);
	assert_int_equal(claimed, 5);
	ok(db->conn, rp_commit(db->conn));
	assert_int_equal(stats_of(db->conn, "q").running, 5);

	/* The worker must release these jobs when it has reconnected. Otherwise
	 * they would be ready again only after their lease of a minute. */
	cut(db);
	assert_true(eventually_done(&work, 6));
	rp_worker_stop(work.worker);
	pthread_join(thread, NULL);
	assert_true(work.r >= 0);
	assert_int_equal(rp_worker_counts_get(work.worker, &counts), 0);
	assert_int_equal(counts.done, 6);
	assert_int_equal(counts.lost, 0);
	rp_worker_free(work.worker);
}

static void
a_task_that_was_pulled_outlives_the_connection(void **state)
{
	struct db *db = *state;
	rp_worker_counts counts = RP_WORKER_COUNTS_INIT;
	rp_worker *worker;
	rp_task *task;

	assert_int_equal(rp_worker_new(db->url, NULL, &worker, NULL), 0);
	assert_int_equal(rp_worker_serve(worker, "q", NULL), 0);
	put(db->conn, "q", "x");
	assert_int_equal(rp_worker_next(worker, 20000, &task, NULL),
			 RP_NEXT_TASK);
	cut(db);
	put(db->conn, "q", "x");
	assert_int_equal(rp_task_finish(task, RP_DONE), 0);
	assert_int_equal(rp_worker_next(worker, 20000, &task, NULL),
			 RP_NEXT_TASK);
	assert_int_equal(rp_task_finish(task, RP_DONE), 0);
	rp_worker_stop(worker);
	assert_int_equal(rp_worker_next(worker, 20000, &task, NULL),
			 RP_NEXT_END);
	assert_int_equal(rp_worker_counts_get(worker, &counts), 0);
	assert_int_equal(counts.done, 2);
	assert_int_equal(counts.lost, 0);
	rp_worker_free(worker);
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		CASE(jobs_of_a_claim_whose_answer_was_lost_are_released_at_once),
		CASE(a_task_that_was_pulled_outlives_the_connection),
	};

	databases_at(argc, argv);
	return cmocka_run_group_tests_name("lost", tests, NULL, NULL);
}
