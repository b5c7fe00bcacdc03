/*
 * processes.c - test several processes on one database, some of which are
 * killed with kill -9.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "check.h"

#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "process.h"

#define PROCESSES 8
#define ROUNDS 200

struct shared {
	struct db *db;
	int pipe[2];
	int jobs;
};

static void
start(struct shared *shared, struct db *db)
{
	*shared = (struct shared){ .db = db };
	assert_int_equal(pipe(shared->pipe), 0);
}

static rp_conn *
open_in_child(struct shared *shared)
{
	rp_conn *conn;
	rp_error error;

	if (rp_open(shared->db->url, NULL, &conn, &error) < 0)
		_exit(99);
	return conn;
}

static void
tell(struct shared *shared, int64_t id)
{
	if (write(shared->pipe[1], &id, sizeof(id)) != sizeof(id))
		_exit(98);
}

/* Claim jobs in batches, and complete them, until the queue is empty. Report
 * the id of each claimed job to the parent. */
static int
claim_and_complete(void *ctx)
{
	struct shared *shared = ctx;
	rp_conn *conn = open_in_child(shared);
	rp_verdict verdicts[7];
	rp_batch *batch;
	size_t n = 0;

	do {
		if (rp_settle_and_claim(conn, verdicts, n, "q", 7, NULL,
					&batch) < 0)
			return 1;
		for (size_t i = 0; i < n; i++)
			if (verdicts[i].result)
				return 2;
		n = rp_batch_count(batch);
		for (size_t i = 0; i < n; i++) {
			verdicts[i] = (rp_verdict)RP_VERDICT_INIT;
			verdicts[i].id = rp_batch_at(batch, i)->id;
			verdicts[i].claim_no = rp_batch_at(batch, i)->claim_no;
			tell(shared, verdicts[i].id);
		}
		rp_batch_free(batch);
	} while (n > 0);
	rp_close(conn);
	return 0;
}

static void
P2_eight_processes_never_get_the_same_job(void **state)
{
	enum { JOBS = 2000 };
	static unsigned char seen[JOBS + 1];
	struct db *db = *state;
	struct shared shared;
	pid_t pids[PROCESSES];
	int64_t id;
	int total = 0;

	memset(seen, 0, sizeof(seen));
	start(&shared, db);
	for (int i = 0; i < JOBS; i++)
		put(db->conn, "q", "x");
	for (int i = 0; i < PROCESSES; i++)
		pids[i] = in_child(claim_and_complete, &shared);
	close(shared.pipe[1]);
	while (read(shared.pipe[0], &id, sizeof(id)) == sizeof(id)) {
		assert_in_range(id, 1, JOBS);
		assert_int_equal(seen[id]++, 0);
		total++;
	}
	close(shared.pipe[0]);
	for (int i = 0; i < PROCESSES; i++)
		expect_success(pids[i]);
	assert_int_equal(total, JOBS);
}

static int
enqueue_for_ever(void *ctx)
{
	struct shared *shared = ctx;
	rp_conn *conn = open_in_child(shared);

	for (;;) {
		rp_job_spec jobs[3] = { job_of("a"), job_of("b"), job_of("c") };
		rp_added added[3];

		if (rp_enqueue_many(conn, "q", jobs, 3, added) < 0)
			return 1;
		for (int i = 0; i < 3; i++)
			tell(shared, added[i].id);
	}
}

static int
settle_for_ever(void *ctx)
{
	struct shared *shared = ctx;
	rp_conn *conn = open_in_child(shared);

	for (;;) {
		rp_batch *batch;

		if (rp_claim(conn, "q", 2, NULL, &batch) < 0)
			return 1;
		for (size_t i = 0; i < rp_batch_count(batch); i++) {
			const rp_job *job = rp_batch_at(batch, i);

			if (rp_complete(conn, job->id, job->claim_no) < 0)
				return 2;
			tell(shared, -job->id);
		}
		rp_batch_free(batch);
	}
}

/* Read the children's reports until both children have ended. A report is the
 * id of an enqueued job, or the negative id of a completed job. */
static void
collect(struct shared *shared, unsigned char *acknowledged, size_t most)
{
	int64_t id;

	close(shared->pipe[1]);
	while (read(shared->pipe[0], &id, sizeof(id)) == sizeof(id)) {
		size_t i = (size_t)(id < 0 ? -id : id);

		assert_true(i < most);
		acknowledged[i] |= id < 0 ? 2 : 1;
	}
	close(shared->pipe[0]);
}

/* Check the jobs that the children reported. Jobs reported as completed must be
 * gone. All other jobs must exist, but in each round a killed child may have
 * completed one more job without reporting it. */
static void
check_acknowledged(struct db *db, const unsigned char *acknowledged,
		   int64_t most)
{
	int missing = 0, enqueued = 0;

	for (int64_t id = 1; id < most; id++) {
		int there = acknowledged[id] ? state_of(db->conn, id) : 0;

		if (acknowledged[id] & 2)
			assert_int_equal(there, 0);
		else if (acknowledged[id])
			missing += there == 0;
		enqueued += acknowledged[id] & 1;
	}
	assert_true(enqueued > ROUNDS);
	assert_in_range(missing, 0, ROUNDS);
}

static void
P1_P3_kill_at_any_moment_loses_and_doubles_nothing(void **state)
{
	enum { MOST = 2000000 };
	unsigned char *acknowledged = calloc(MOST, 1);
	struct db *db = *state;
	unsigned seed = 1;

	for (int round = 0; round < ROUNDS; round++) {
		struct shared shared;
		struct pollfd news = { .events = POLLIN };
		pid_t a, b;

		start(&shared, db);
		news.fd = shared.pipe[0];
		a = in_child(enqueue_for_ever, &shared);
		b = in_child(settle_for_ever, &shared);
		/* In every second round wait for the first report, so that some
		 * jobs are acknowledged even on a slow machine. */
		if (round % 2)
			assert_int_equal(poll(&news, 1, 30000), 1);
		usleep((useconds_t)(rand_r(&seed) % 20000 + 2000));
		kill(rand_r(&seed) % 2 ? a : b, SIGKILL);
		usleep((useconds_t)(rand_r(&seed) % 2000));
		spawn_kill(a);
		spawn_kill(b);
		collect(&shared, acknowledged, MOST);
	}
	check_acknowledged(db, acknowledged, MOST);
	free(acknowledged);
}

static int
stop_and_complete(void *ctx)
{
	struct shared *shared = ctx;
	rp_conn *conn = open_in_child(shared);
	struct claim c;

	if (take_one(conn, "q", 100, &c) != 1)
		return 1;
	tell(shared, c.id);
	raise(SIGSTOP);
	return rp_complete(conn, c.id, c.no) == RP_EGONE ? 0 : 2;
}

static void
P3_a_worker_that_was_stopped_past_its_lease_is_refused(void **state)
{
	struct db *db = *state;
	struct shared shared;
	struct claim c = { 0, 0, 0 };
	int64_t id, claimed;
	int status;
	pid_t pid;

	start(&shared, db);
	put(db->conn, "q", "x");
	pid = in_child(stop_and_complete, &shared);
	assert_int_equal(read(shared.pipe[0], &id, sizeof(id)), sizeof(id));
	assert_int_equal(waitpid(pid, &status, WUNTRACED), pid);
	assert_true(WIFSTOPPED(status));
	ok(db->conn, rp_now(db->conn, &claimed));
	wait_until(db->conn, claimed + 100);
	ok(db->conn, rp_sweep(db->conn, NULL));
	assert_int_equal(take_one(db->conn, "q", 60000, &c), 1);
	assert_int_equal(c.id, id);
	kill(pid, SIGCONT);
	expect_success(pid);
	assert_int_equal(state_of(db->conn, id), RP_STATE_RUNNING);
	ok(db->conn, rp_complete(db->conn, c.id, c.no));
	close(shared.pipe[0]);
	close(shared.pipe[1]);
}

static int
claim_and_die(void *ctx)
{
	struct shared *shared = ctx;
	struct claim c;

	if (take_one(open_in_child(shared), "q", 300, &c) != 1)
		return 1;
	kill(getpid(), SIGKILL);
	return 2;
}

static void
P6_a_dead_holders_job_is_ready_within_its_lease_and_two_seconds(void **state)
{
	static const char *const queues[] = { "q", NULL };
	struct db *db = *state;
	struct shared shared;
	struct claim c;
	int64_t began = now_ms();
	pid_t pid;

	start(&shared, db);
	put(db->conn, "q", "x");
	pid = in_child(claim_and_die, &shared);
	waitpid(pid, NULL, 0);
	assert_int_equal(rp_wait(db->conn, queues, 5000, -1), 1);
	assert_in_range(now_ms() - began, 290, 2300);
	assert_int_equal(take_one(db->conn, "q", 60000, &c), 1);
	assert_int_equal(c.attempt, 2);
}

static int
create_it(void *ctx)
{
	rp_conn *conn;
	rp_error error;

	if (rp_open(ctx, NULL, &conn, &error) < 0) {
		fprintf(stderr, "%s\n", error.message);
		return 1;
	}
	rp_close(conn);
	return 0;
}

static void
eight_processes_create_one_database(void **state)
{
	struct db *db = *state;
	char url[300];

	for (int round = 0; round < 5; round++) {
		pid_t pids[PROCESSES];

		snprintf(url, sizeof(url), "sqlite:%s/new.%d", db->dir, round);
		for (int i = 0; i < PROCESSES; i++)
			pids[i] = in_child(create_it, url);
		for (int i = 0; i < PROCESSES; i++)
			expect_success(pids[i]);
	}
}

/* After a word of the parent, enqueue a job. Then tell the parent the time. */
static int
enqueue_after_a_word(void *ctx)
{
	struct shared *shared = ctx;
	rp_conn *conn = open_in_child(shared);
	int64_t word;

	if (read(shared->pipe[0], &word, sizeof(word)) != sizeof(word))
		return 1;
	put(conn, "q", "x");
	word = now_ms();
	rp_close(conn);
	return write(shared->pipe[1], &word, sizeof(word)) != sizeof(word);
}

static void
a_waiter_wakes_when_another_process_enqueues(void **state)
{
	static const char *const queues[] = { "q", NULL };
	struct db *db = *state;
	struct shared shared;
	int64_t enqueued, woken;
	struct claim c;
	pid_t pid;

	start(&shared, db);
	put(db->conn, "q", "first");
	take_one(db->conn, "q", 60000, &c);
	assert_int_equal(rp_wait(db->conn, queues, 20, -1), 0);
	pid = in_child(enqueue_after_a_word, &shared);
	tell(&shared, 1);
	assert_int_equal(rp_wait(db->conn, queues, 10000, -1), 1);
	woken = now_ms();
	expect_success(pid);
	assert_int_equal(read(shared.pipe[0], &enqueued, sizeof(enqueued)),
			 sizeof(enqueued));
	assert_true(woken - enqueued < 900);
	close(shared.pipe[0]);
	close(shared.pipe[1]);
}

static void
a_waiter_wakes_when_a_job_is_due_or_its_descriptor_is_readable(void **state)
{
	static const char *const queues[] = { "q", NULL };
	struct db *db = *state;
	struct shared shared;
	rp_job_spec job = job_of("x");
	int64_t began = now_ms();

	start(&shared, db);
	/* On a busy machine the enqueue alone can take half a second. */
	job.delay_ms = 2000;
	ok(db->conn, rp_enqueue(db->conn, "q", &job, NULL));
	tell(&shared, 1);
	assert_int_equal(rp_wait(db->conn, queues, 10000, shared.pipe[0]), 0);
	assert_int_equal(rp_wait(db->conn, queues, 10000, -1), 1);
	assert_in_range(now_ms() - began, 1995, 5000);
	close(shared.pipe[0]);
	close(shared.pipe[1]);
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		CASE(P2_eight_processes_never_get_the_same_job),
		CASE(P1_P3_kill_at_any_moment_loses_and_doubles_nothing),
		CASE(P3_a_worker_that_was_stopped_past_its_lease_is_refused),
		CASE(P6_a_dead_holders_job_is_ready_within_its_lease_and_two_seconds),
		CASE(eight_processes_create_one_database),
		CASE(a_waiter_wakes_when_another_process_enqueues),
		CASE(a_waiter_wakes_when_a_job_is_due_or_its_descriptor_is_readable),
	};

	databases_at(argc, argv);
	return cmocka_run_group_tests_name("processes", tests, NULL, NULL);
}
