/*
 * wait.c - test waiting until a queue may have work.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "check.h"

#include <unistd.h>

static const char *const q[] = { "q", NULL };

static void
a_wait_for_nothing_lasts_its_time(void **state)
{
	static const char *const nowhere[] = { "nobody created it", NULL };
	struct db *db = *state;
	int64_t began = now_ms();

	assert_int_equal(rp_wait(db->conn, nowhere, 0, -1), 0);
	assert_int_equal(rp_wait(db->conn, nowhere, 60, -1), 0);
	assert_in_range(now_ms() - began, 60, 2000);
}

static void
a_job_that_is_ready_ends_a_wait_at_once(void **state)
{
	static const char *const both[] = { "empty", "q", NULL };
	struct db *db = *state;
	int64_t began = now_ms();

	put(db->conn, "q", "x");
	assert_int_equal(rp_wait(db->conn, both, -1, -1), 1);
	assert_true(now_ms() - began < 2000);
}

static void
a_paused_queue_ends_no_wait(void **state)
{
	struct db *db = *state;
	rp_job_spec job = job_of("x");

	put(db->conn, "q", "x");
	job.delay_ms = 1;
	ok(db->conn, rp_enqueue(db->conn, "q", &job, NULL));
	ok(db->conn, rp_queue_pause(db->conn, "q", NULL));
	assert_int_equal(rp_wait(db->conn, q, 50, -1), 0);
	ok(db->conn, rp_queue_resume(db->conn, "q"));
	assert_int_equal(rp_wait(db->conn, q, 50, -1), 1);
}

static void
P6_a_lease_that_runs_out_ends_a_wait(void **state)
{
	struct db *db = *state;
	int64_t began = now_ms();
	struct claim c;

	put(db->conn, "q", "x");
	take_one(db->conn, "q", 100, &c);
	assert_int_equal(rp_wait(db->conn, q, 10000, -1), 1);
	assert_in_range(now_ms() - began, 100, 1100);
	assert_int_equal(take_one(db->conn, "q", 60000, &c), 1);
	assert_int_equal(c.attempt, 2);
}

/* A child process waits until the parent writes to the pipe. Then the child
 * acts as `what` says. 0: resume the queue; 1: release the job; 2: retry it. */
struct doing {
	const struct db *db;
	int open[2]; /* the child writes here when its database is open, and
		      * then the time at which it had acted */
	int pipe[2];
	int64_t id, no;
	int what;
};

static int
do_it(void *ctx)
{
	struct doing *doing = ctx;
	int64_t done_at;
	rp_conn *conn;
	char c;
	int r;

	if (rp_open(doing->db->url, NULL, &conn, NULL) < 0 ||
	    write(doing->open[1], "x", 1) != 1 ||
	    read(doing->pipe[0], &c, 1) != 1)
		return 1;
	if (doing->what == 0)
		r = rp_queue_resume(conn, "q");
	else if (doing->what == 1)
		r = rp_release(conn, doing->id, doing->no, 0);
	else
		r = rp_job_retry(conn, doing->id, NULL);
	done_at = now_ms();
	return r != 0 || write(doing->open[1], &done_at, sizeof(done_at)) !=
				 sizeof(done_at);
}

static void
expect_wake(struct doing *doing, int what)
{
	int64_t done_at, woken;
	pid_t pid;
	char c;

	doing->what = what;
	assert_int_equal(pipe(doing->open), 0);
	assert_int_equal(pipe(doing->pipe), 0);
	assert_int_equal(rp_wait(doing->db->conn, q, 0, -1), 0);
	pid = in_child(do_it, doing);
	assert_int_equal(read(doing->open[0], &c, 1), 1);
	assert_int_equal(write(doing->pipe[1], "x", 1), 1);
	assert_int_equal(rp_wait(doing->db->conn, q, 10000, -1), 1);
	woken = now_ms();
	expect_success(pid);
	assert_int_equal(read(doing->open[0], &done_at, sizeof(done_at)),
			 sizeof(done_at));
	assert_true(woken - done_at < 900);
	close(doing->open[0]);
	close(doing->open[1]);
	close(doing->pipe[0]);
	close(doing->pipe[1]);
}

static void
resume_release_and_retry_elsewhere_end_a_wait(void **state)
{
	struct db *db = *state;
	struct doing doing = { .db = db };
	struct claim c;

	put(db->conn, "q", "x");
	ok(db->conn, rp_queue_pause(db->conn, "q", NULL));
	expect_wake(&doing, 0);
	take_one(db->conn, "q", 60000, &c);
	doing.id = c.id;
	doing.no = c.no;
	expect_wake(&doing, 1);
	take_one(db->conn, "q", 60000, &c);
	ok(db->conn, rp_job_cancel(db->conn, c.id, NULL));
	expect_wake(&doing, 2);
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		CASE(a_wait_for_nothing_lasts_its_time),
		CASE(a_job_that_is_ready_ends_a_wait_at_once),
		CASE(a_paused_queue_ends_no_wait),
		CASE(P6_a_lease_that_runs_out_ends_a_wait),
		CASE(resume_release_and_retry_elsewhere_end_a_wait),
	};

	databases_at(argc, argv);
	return cmocka_run_group_tests_name("wait", tests, NULL, NULL);
}
