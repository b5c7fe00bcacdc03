/*
 * race.c - test eight processes on one database, with all kinds of verdicts.
 *
 * Each process reports its claims and its accepted verdicts. At the end, these
 * reports are checked against the promises of docs/design.md.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "check.h"

#include <unistd.h>

enum { PROCESSES = 8, JOBS = 300, MOST_EVENTS = 100000 };

struct event {
	int64_t id, no;
	int verdict; /* -1: this event is a claim */
};

struct child {
	const struct db *db;
	int pipe[2];
	unsigned seed;
};

static void
tell(const struct child *child, struct event event)
{
	if (write(child->pipe[1], &event, sizeof(event)) != sizeof(event))
		_exit(98);
}

static rp_conn *
open_here(const struct child *child)
{
	rp_conn *conn;

	if (rp_open(child->db->url, NULL, &conn, NULL) < 0)
		_exit(99);
	return conn;
}

static int
settle_at_random(struct child *child, rp_conn *conn, struct claim claim)
{
	static const int verdicts[] = { RP_DONE, RP_DONE, RP_FAIL, RP_RELEASE,
					RP_EXTEND };
	rp_verdict v = verdict_on(claim, verdicts[rand_r(&child->seed) % 5]);
	int r;

	if (rand_r(&child->seed) % 8 == 0)
		sleep_ms(8); /* this pause is longer than the lease */
	v.delay_ms = v.verdict == RP_EXTEND ? 5 : 0;
	r = rp_settle(conn, &v, 1);
	if (r == 1)
		tell(child, (struct event){ v.id, v.claim_no, v.verdict });
	return r;
}

static int
nothing_is_left(rp_conn *conn)
{
	rp_queue_stats s = stats_of(conn, "q");

	return s.scheduled + s.ready + s.running == 0;
}

/* Claim and settle at random. Leases are so short that many run out before the
 * verdict. */
static int
work_at_random(void *ctx)
{
	static const char *const queues[] = { "q", NULL };
	struct child *child = ctx;
	rp_conn *conn = open_here(child);
	rp_claim_options o = RP_CLAIM_INIT;
	rp_batch *batch;
	int r = 0, over = 0;

	child->seed = (unsigned)getpid();
	o.lease_ms = 5;
	while (r >= 0 && !over) {
		r = rp_claim(conn, "q", 4, &o, &batch);
		if (r < 0)
			break;
		for (size_t i = 0; i < rp_batch_count(batch); i++) {
			const rp_job *job = rp_batch_at(batch, i);

			tell(child,
			     (struct event){ job->id, job->claim_no, -1 });
		}
		for (size_t i = 0; r >= 0 && i < rp_batch_count(batch); i++) {
			const rp_job *job = rp_batch_at(batch, i);
			struct claim c = { job->id, job->claim_no, 0 };

			r = settle_at_random(child, conn, c);
		}
		if (r == 0 && rp_batch_count(batch) == 0)
			r = rp_wait(conn, queues, 150, -1);
		over = r == 0 && nothing_is_left(conn);
		rp_batch_free(batch);
	}
	rp_close(conn);
	return r < 0;
}

static int
by_claim(const void *a, const void *b)
{
	const struct event *x = a, *y = b;

	if (x->id != y->id)
		return x->id < y->id ? -1 : 1;
	if (x->no != y->no)
		return x->no < y->no ? -1 : 1;
	return x->verdict - y->verdict;
}

/* Check that no claim number is given twice, and that each accepted verdict has
 * the number of a claim. A claim has at most one accepted verdict other than
 * RP_EXTEND. Only the last claim of a job completes the job. */
static void
check_events(const struct event *e, size_t n)
{
	int jobs = 0;

	for (size_t i = 0; i < n; i++) {
		int same_claim =
			i && e[i].id == e[i - 1].id && e[i].no == e[i - 1].no;
		int last_of_job = i + 1 == n || e[i].id != e[i + 1].id;

		if (e[i].verdict == -1)
			assert_false(same_claim);
		else
			assert_true(same_claim);
		if (same_claim && e[i - 1].verdict >= RP_DONE)
			assert_int_equal(e[i].verdict, RP_EXTEND);
		if (e[i].verdict == RP_DONE)
			assert_true(last_of_job);
		jobs += e[i].verdict == RP_DONE;
	}
	assert_int_equal(jobs, JOBS);
}

static void
P2_P3_each_claim_is_given_once_and_each_job_completed_once(void **state)
{
	static struct event events[MOST_EVENTS];
	struct db *db = *state;
	struct child child = { .db = db };
	rp_queue q = RP_QUEUE_INIT;
	pid_t pids[PROCESSES];
	size_t n = 0;

	q.name = "q";
	q.max_attempts = 1000000;
	settings(db->conn, q);
	for (int i = 0; i < JOBS; i++)
		put(db->conn, "q", "x");
	assert_int_equal(pipe(child.pipe), 0);
	for (int i = 0; i < PROCESSES; i++)
		pids[i] = in_child(work_at_random, &child);
	close(child.pipe[1]);
	while (n < MOST_EVENTS && read(child.pipe[0], &events[n],
				       sizeof(*events)) == sizeof(*events))
		n++;
	close(child.pipe[0]);
	for (int i = 0; i < PROCESSES; i++)
		expect_success(pids[i]);
	assert_true(n > 2 * JOBS);
	qsort(events, n, sizeof(*events), by_claim);
	check_events(events, n);
	assert_int_equal(stats_of(db->conn, "q").ready, 0);
	assert_int_equal(stats_of(db->conn, "q").running, 0);
}

static int
enqueue_twenty_keys(void *ctx)
{
	struct child *child = ctx;
	rp_conn *conn = open_here(child);

	for (int i = 0; i < 20; i++) {
		rp_job_spec job = job_of("x");
		rp_added added;
		char key[20];

		snprintf(key, sizeof(key), "key %d", i);
		job.unique_key = key;
		if (rp_enqueue(conn, "nobody created it", &job, &added) < 0) {
			fprintf(stderr, "# %s\n", rp_last_error(conn)->message);
			return 1;
		}
		tell(child, (struct event){ added.id, i, added.outcome });
	}
	rp_close(conn);
	return 0;
}

static void
eight_processes_with_one_key_make_one_job(void **state)
{
	struct db *db = *state;
	struct child child = { .db = db };
	pid_t pids[PROCESSES];
	int64_t ids[20] = { 0 };
	int added[20] = { 0 };
	struct event e;

	assert_int_equal(pipe(child.pipe), 0);
	for (int i = 0; i < PROCESSES; i++)
		pids[i] = in_child(enqueue_twenty_keys, &child);
	close(child.pipe[1]);
	while (read(child.pipe[0], &e, sizeof(e)) == sizeof(e)) {
		assert_true(ids[e.no] == 0 || ids[e.no] == e.id);
		ids[e.no] = e.id;
		added[e.no] += e.verdict == RP_ADDED;
	}
	close(child.pipe[0]);
	for (int i = 0; i < PROCESSES; i++)
		expect_success(pids[i]);
	for (int i = 0; i < 20; i++)
		assert_int_equal(added[i], 1);
	assert_int_equal(stats_of(db->conn, "nobody created it").ready, 20);
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		CASE(P2_P3_each_claim_is_given_once_and_each_job_completed_once),
		CASE(eight_processes_with_one_key_make_one_job),
	};

	databases_at(argc, argv);
	return cmocka_run_group_tests_name("race", tests, NULL, NULL);
}
