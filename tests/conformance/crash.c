/*
 * crash.c - test processes that are killed with kill -9 at any moment.
 * Acknowledged changes stay, and all other changes are complete or absent.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "check.h"

#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#define ROUNDS 100

struct child {
	const struct db *db;
	int pipe[2];
};

static void
tell(const struct child *child, int64_t id)
{
	if (write(child->pipe[1], &id, sizeof(id)) != sizeof(id))
		_exit(98);
}

/* Open the database, and send 0 to the parent when it is open. */
static rp_conn *
open_here(const struct child *child)
{
	rp_conn *conn;

	if (rp_open(child->db->url, NULL, &conn, NULL) < 0)
		_exit(99);
	tell(child, 0);
	return conn;
}

/* Start `body`, and kill it after a random time. In every second round the time
 * starts at the first report of `body`. All reports fit into the pipe's buffer,
 * so the caller reads them after the kill. */
static void
run_and_kill(struct child *child, int (*body)(void *), int round,
	     unsigned *seed)
{
	struct pollfd told = { .events = POLLIN };
	int64_t ready = -1;
	int status;
	pid_t pid;

	assert_int_equal(pipe(child->pipe), 0);
	pid = in_child(body, child);
	close(child->pipe[1]);
	assert_int_equal(read(child->pipe[0], &ready, sizeof(ready)),
			 sizeof(ready));
	assert_int_equal(ready, 0);
	told.fd = child->pipe[0];
	if (round % 2)
		assert_int_equal(poll(&told, 1, 30000), 1);
	usleep((useconds_t)(rand_r(seed) % 8000));
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

static int
next_told(const struct child *child, int64_t *ret)
{
	return read(child->pipe[0], ret, sizeof(*ret)) == sizeof(*ret);
}

/* Enqueue jobs, using each way of enqueueing in turn. */
static int
enqueue_in_every_way(void *ctx)
{
	struct child *child = ctx;
	rp_conn *conn = open_here(child);

	for (int i = 0;; i++) {
		rp_job_spec jobs[3] = { job_of("x"), job_of("x"), job_of("x") };
		rp_added added[3];
		size_t n = i % 4 == 0 ? 1 : 3;
		char key[40];

		snprintf(key, sizeof(key), "%d.%d", (int)getpid(), i);
		jobs[0].unique_key = i % 4 == 2 ? key : NULL;
		if (i % 4 == 3 && rp_begin(conn) < 0)
			return 1;
		if (rp_enqueue_many(conn, "q", jobs, n, added) < 0)
			return 2;
		if (i % 4 == 3 && rp_commit(conn) < 0)
			return 3;
		for (size_t k = 0; k < n; k++)
			tell(child, added[k].id);
	}
}

static void
P1_jobs_acknowledged_to_a_killed_client_exist(void **state)
{
	struct db *db = *state;
	unsigned seed = 1;
	int told = 0;

	for (int round = 0; round < ROUNDS; round++) {
		struct child child = { .db = db };
		int64_t id;

		run_and_kill(&child, enqueue_in_every_way, round, &seed);
		while (next_told(&child, &id)) {
			assert_int_equal(state_of(db->conn, id),
					 RP_STATE_READY);
			told++;
		}
		close(child.pipe[0]);
	}
	assert_true(told >= ROUNDS / 2);
}

static int
complete_for_ever(void *ctx)
{
	struct child *child = ctx;
	rp_conn *conn = open_here(child);
	struct claim c;

	for (;;) {
		if (take_one(conn, "q", 60000, &c) != 1)
			return 1;
		tell(child, c.id);
		if (rp_complete(conn, c.id, c.no) < 0)
			return 2;
		tell(child, -c.id);
	}
}

/* Enqueue more jobs than the child can complete before it is killed. */
static void
refill(rp_conn *conn)
{
	enum { ENOUGH = 2000 };
	static rp_job_spec jobs[ENOUGH];

	for (int i = 0; i < ENOUGH; i++)
		jobs[i] = job_of("x");
	if (stats_of(conn, "q").ready < ENOUGH)
		ok(conn, rp_enqueue_many(conn, "q", jobs, ENOUGH, NULL));
}

static void
P1_jobs_that_a_killed_worker_completed_stay_completed(void **state)
{
	struct db *db = *state;
	unsigned seed = 2;
	int completed = 0, round = 0;

	put(db->conn, "q", "x");
	/* On a slow machine the first children may complete no job. */
	for (; round < ROUNDS || (completed == 0 && round < 10 * ROUNDS);
	     round++) {
		struct child child = { .db = db };
		int64_t held = 0, told;

		refill(db->conn);
		run_and_kill(&child, complete_for_ever, round, &seed);
		while (next_told(&child, &told)) {
			held = told > 0 ? told : 0;
			if (told < 0)
				assert_int_equal(state_of(db->conn, -told), 0);
			completed += told < 0;
		}
		/* The killed child held the last job, or completed the last job
		 * without reporting this. A server may still be completing the
		 * job now. */
		held = held ? state_of(db->conn, held) : 0;
		assert_true(held == 0 || held == RP_STATE_RUNNING);
		close(child.pipe[0]);
	}
	assert_true(completed > 0);
}

static int
die_in_a_transaction(void *ctx)
{
	struct child *child = ctx;
	rp_conn *conn = open_here(child);
	struct claim c;

	if (rp_begin(conn) < 0 || take_one(conn, "q", 60000, &c) != 1 ||
	    rp_complete(conn, c.id, c.no) < 0)
		return 1;
	tell(child, put(conn, "q", "y"));
	kill(getpid(), SIGKILL);
	return 2;
}

static void
P7_a_transaction_dies_with_its_process_and_holds_up_nobody(void **state)
{
	struct db *db = *state;
	struct child child = { .db = db };
	int64_t id = put(db->conn, "q", "x"), lost = 0, began;
	pid_t pid;

	assert_int_equal(pipe(child.pipe), 0);
	pid = in_child(die_in_a_transaction, &child);
	waitpid(pid, NULL, 0);
	/* the child's first report says that the database is open */
	assert_true(next_told(&child, &lost));
	assert_true(next_told(&child, &lost));
	began = now_ms();
	assert_int_equal(state_of(db->conn, lost), 0);
	assert_int_equal(state_of(db->conn, id), RP_STATE_READY);
	put(db->conn, "q", "z");
	assert_true(now_ms() - began < 2000);
	close(child.pipe[0]);
	close(child.pipe[1]);
}

static int
enqueue_sevens(void *ctx)
{
	struct child *child = ctx;
	rp_conn *conn = open_here(child);

	for (;;) {
		rp_job_spec jobs[7] = { job_of("x"), job_of("x"), job_of("x"),
					job_of("x"), job_of("x"), job_of("x"),
					job_of("x") };

		if (rp_enqueue_many(conn, "q", jobs, 7, NULL) < 0)
			return 1;
		tell(child, 7);
	}
}

static void
P1_a_batch_that_was_cut_short_is_whole_or_absent(void **state)
{
	struct db *db = *state;
	unsigned seed = 3;

	put(db->conn, "q", "x");
	assert_int_equal(rp_queue_purge(db->conn, "q", 0, NULL), 1);
	for (int round = 0; round < ROUNDS / 4; round++) {
		struct child child = { .db = db };

		run_and_kill(&child, enqueue_sevens, round, &seed);
		close(child.pipe[0]);
		assert_int_equal(stats_of(db->conn, "q").ready % 7, 0);
	}
	assert_true(stats_of(db->conn, "q").ready > 0);
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		CASE(P1_jobs_acknowledged_to_a_killed_client_exist),
		CASE(P1_jobs_that_a_killed_worker_completed_stay_completed),
		CASE(P7_a_transaction_dies_with_its_process_and_holds_up_nobody),
		CASE(P1_a_batch_that_was_cut_short_is_whole_or_absent),
	};

	databases_at(argc, argv);
	return cmocka_run_group_tests_name("crash", tests, NULL, NULL);
}
