/*
 * count.c - test the numbers of jobs in the statistics. Finished jobs are
 * always counted exactly. Live jobs are counted up to a limit, and a number
 * that reaches this limit is marked.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "check.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define MANY 20000

static int64_t
finished(const rp_queue_stats *s, int state)
{
	return state == RP_STATE_DONE   ? s->done
	       : state == RP_STATE_DEAD ? s->dead
					: s->cancelled;
}

/* Check that the number of finished jobs equals the length of their list. The
 * server may still commit the last change of a killed process. So the list is
 * compared only if the number was the same before and after the list was
 * read. */
static void
expect_exact(rp_conn *conn, const char *queue)
{
	for (int state = RP_STATE_DONE; state <= RP_STATE_CANCELLED; state++) {
		rp_queue_stats before, after = stats_of(conn, queue);
		rp_batch *batch;
		int64_t n;

		do {
			before = after;
			n = ok(conn, rp_job_list(conn, queue, state, INT32_MAX,
						 &batch));
			rp_batch_free(batch);
			after = stats_of(conn, queue);
		} while (finished(&before, state) != finished(&after, state));
		assert_int_equal(finished(&after, state), n);
	}
}

static void
expect_counts(rp_conn *conn, int64_t done, int64_t dead, int64_t cancelled)
{
	rp_queue_stats s = stats_of(conn, "q");

	assert_int_equal(s.done, done);
	assert_int_equal(s.dead, dead);
	assert_int_equal(s.cancelled, cancelled);
	expect_exact(conn, "q");
}

/* ---- finished jobs ---- */

static void
kept_jobs_are_counted_as_they_come_and_go(void **state)
{
	rp_conn *conn = ((struct db *)*state)->conn;
	int64_t cancelled, dead;
	struct claim c;

	keep_for(conn, 3600000, 3600000);
	for (int i = 0; i < 3; i++) {
		put(conn, "q", "x");
		settle_one(conn, claim_one(conn, 60000), RP_DONE, 0);
	}
	put(conn, "q", "x");
	c = claim_one(conn, 60000);
	dead = c.id;
	settle_one(conn, c, RP_DEAD, 0);
	cancelled = put(conn, "q", "x");
	ok(conn, rp_job_cancel(conn, cancelled, NULL));
	ok(conn, rp_job_cancel(conn, put(conn, "q", "x"), NULL));
	expect_counts(conn, 3, 1, 2);
	ok(conn, rp_job_retry(conn, cancelled, NULL));
	expect_counts(conn, 3, 1, 1);
	ok(conn, rp_queue_retry_dead(conn, "q", NULL, NULL));
	expect_counts(conn, 3, 0, 1);
	ok(conn, rp_job_cancel(conn, dead, NULL));
	expect_counts(conn, 3, 0, 2);
	/* a sweep adds up the parts of a count */
	ok(conn, rp_sweep(conn, NULL));
	expect_counts(conn, 3, 0, 2);
	ok(conn, rp_queue_purge(conn, "q", RP_STATE_DONE, NULL));
	expect_counts(conn, 0, 0, 2);
	keep_for(conn, 3600000, 0);
	ok(conn, rp_sweep(conn, NULL));
	expect_counts(conn, 0, 0, 0);
}

static void
jobs_whose_last_lease_ran_out_are_counted(void **state)
{
	rp_conn *conn = ((struct db *)*state)->conn;
	rp_job_spec job = job_of("x");
	int64_t now;

	job.max_attempts = 1;
	for (int i = 0; i < 3; i++) {
		ok(conn, rp_enqueue(conn, "q", &job, NULL));
		claim_one(conn, 1);
	}
	ok(conn, rp_now(conn, &now));
	wait_until(conn, now + 2);
	ok(conn, rp_sweep(conn, NULL));
	expect_counts(conn, 0, 3, 0);
}

static void
changes_that_are_rolled_back_are_not_counted(void **state)
{
	rp_conn *conn = ((struct db *)*state)->conn;
	int64_t id = put(conn, "q", "x");

	ok(conn, rp_begin(conn));
	ok(conn, rp_job_cancel(conn, id, NULL));
	ok(conn, rp_rollback(conn));
	expect_counts(conn, 0, 0, 0);
	ok(conn, rp_job_cancel(conn, id, NULL));
	expect_counts(conn, 0, 0, 1);
}

static void
a_queue_made_again_has_no_job_of_the_dropped_queue(void **state)
{
	rp_conn *conn = ((struct db *)*state)->conn;

	ok(conn, rp_job_cancel(conn, put(conn, "q", "x"), NULL));
	ok(conn, rp_queue_drop(conn, "q"));
	put(conn, "q", "y");
	expect_counts(conn, 0, 0, 0);
	ok(conn, rp_sweep(conn, NULL));
	expect_counts(conn, 0, 0, 0);
}

static int
cancel_until_killed(void *ctx)
{
	rp_conn *conn = connect_to(ctx);

	while (rp_job_cancel(conn, put(conn, "q", "x"), NULL) == 0)
		continue;
	return 1;
}

/* A process is killed with kill -9 while it works. Jobs and counts must agree
 * afterwards. */
static void
a_process_that_is_killed_leaves_counts_that_are_exact(void **state)
{
	struct db *db = *state;

	put(db->conn, "q", "x");
	for (int i = 1; i <= 3; i++) {
		int64_t before = stats_of(db->conn, "q").cancelled;
		pid_t pid = in_child(cancel_until_killed, db);

		while (stats_of(db->conn, "q").cancelled < before + 5 * i)
			sleep_ms(1);
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
		expect_exact(db->conn, "q");
	}
}

static void
do_something(rp_conn *conn, unsigned *seed)
{
	static const int verdicts[] = { RP_DONE, RP_DEAD, RP_FAIL };
	struct claim c;
	rp_batch *batch;

	switch (rand_r(seed) % 8) {
	case 0:
	case 1:
		if (take_one(conn, "q", 60000, &c))
			settle_one(conn, c, verdicts[rand_r(seed) % 3], 0);
		break;
	case 2:
		ok(conn, rp_job_list(conn, "q", RP_STATE_READY, 3, &batch));
		for (size_t i = 0; i < rp_batch_count(batch); i++)
			ok(conn, rp_job_cancel(conn, rp_batch_at(batch, i)->id,
					       NULL));
		rp_batch_free(batch);
		break;
	case 3:
		ok(conn, rp_job_list(conn, "q", RP_STATE_CANCELLED, 2, &batch));
		for (size_t i = 0; i < rp_batch_count(batch); i++)
			ok(conn,
			   rp_job_retry(conn, rp_batch_at(batch, i)->id, NULL));
		rp_batch_free(batch);
		break;
	case 4:
		if (rand_r(seed) % 10 == 0)
			ok(conn,
			   rp_queue_purge(conn, "q",
					  RP_STATE_DONE + (int)rand_r(seed) % 3,
					  NULL));
		break;
	case 5:
		if (rand_r(seed) % 5 == 0)
			ok(conn, rp_sweep(conn, NULL));
		break;
	default:
		put(conn, "q", "x");
	}
}

static void
counts_are_exact_after_anything(void **state)
{
	rp_conn *conn = ((struct db *)*state)->conn;
	unsigned seed = (unsigned)getpid();

	print_message("# seed %u\n", seed);
	keep_for(conn, 3600000, 3600000);
	for (int i = 0; i < 300; i++) {
		do_something(conn, &seed);
		if (i % 50 == 49)
			expect_exact(conn, "q");
	}
}

/* ---- live jobs ---- */

static void
put_many(rp_conn *conn, int64_t delay_ms)
{
	rp_job_spec *jobs = calloc(MANY, sizeof(*jobs));

	assert_non_null(jobs);
	for (size_t i = 0; i < MANY; i++) {
		jobs[i] = job_of("x");
		jobs[i].delay_ms = delay_ms;
	}
	ok(conn, rp_enqueue_many(conn, "q", jobs, MANY, NULL));
	free(jobs);
}

static void
more_than_ten_thousand_jobs_are_counted_as_a_lower_limit(void **state)
{
	rp_conn *conn = ((struct db *)*state)->conn;
	rp_queue_stats s;

	put(conn, "q", "x");
	s = stats_of(conn, "q");
	assert_int_equal(s.ready, 1);
	assert_false(s.ready_at_least || s.scheduled_at_least ||
		     s.running_at_least);
	put_many(conn, 0);
	put_many(conn, 3600000);
	s = stats_of(conn, "q");
	assert_int_equal(s.ready, RP_MOST_COUNTED);
	assert_true(s.ready_at_least);
	assert_int_equal(s.scheduled, RP_MOST_COUNTED);
	assert_true(s.scheduled_at_least);
	assert_int_equal(s.running, 0);
	assert_in_range(s.oldest_ready_ms, 0, 600000);
	ok(conn, rp_queue_purge(conn, "q", RP_STATE_SCHEDULED, NULL));
	ok(conn, rp_queue_purge(conn, "q", RP_STATE_READY, NULL));
	s = stats_of(conn, "q");
	assert_int_equal(s.ready + s.scheduled, 0);
	assert_false(s.ready_at_least || s.scheduled_at_least);
}

static int64_t
count_running(rp_conn *conn, int flag, int *ret_partial)
{
	rp_batch *batch;
	int64_t n = ok(conn, rp_job_list(conn, "q", RP_STATE_RUNNING | flag, 50,
					 &batch));

	*ret_partial = rp_batch_is_partial(batch);
	rp_batch_free(batch);
	return n;
}

static void
a_list_does_not_examine_all_of_many_running_jobs_by_itself(void **state)
{
	rp_conn *conn = ((struct db *)*state)->conn;
	rp_queue_stats s;
	int partial;

	put_many(conn, 0);
	rp_batch_free(take(conn, "q", 100, 600000));
	s = stats_of(conn, "q");
	assert_int_equal(s.running, 100);
	assert_false(s.running_at_least);
	assert_int_equal(count_running(conn, 0, &partial), 50);
	assert_false(partial);
	rp_batch_free(take(conn, "q", MANY - 200, 600000));
	s = stats_of(conn, "q");
	assert_int_equal(s.running, RP_MOST_COUNTED);
	assert_true(s.running_at_least);
	assert_in_range(s.longest_running_ms, 0, 600000);
	assert_int_equal(count_running(conn, 0, &partial), 50);
	assert_true(partial);
	assert_int_equal(count_running(conn, RP_LIST_ALL, &partial), 50);
	assert_false(partial);
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		CASE(kept_jobs_are_counted_as_they_come_and_go),
		CASE(jobs_whose_last_lease_ran_out_are_counted),
		CASE(changes_that_are_rolled_back_are_not_counted),
		CASE(a_queue_made_again_has_no_job_of_the_dropped_queue),
		CASE(a_process_that_is_killed_leaves_counts_that_are_exact),
		CASE(counts_are_exact_after_anything),
		CASE(more_than_ten_thousand_jobs_are_counted_as_a_lower_limit),
		CASE(a_list_does_not_examine_all_of_many_running_jobs_by_itself),
	};

	databases_at(argc, argv);
	return cmocka_run_group_tests_name("count", tests, NULL, NULL);
}
