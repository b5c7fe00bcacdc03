/*
 * copy_later.c - test moves of queues that were moved before.
 *
 * The two arguments are the kinds of the source and of the target.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "kinds.h"
#include "pair.h"

static rp_error error;

static int
move(struct db *from, struct db *to)
{
	rp_copy_options o = RP_COPY_INIT;

	o.move = 1;
	return rp_copy(from->conn, to->conn, &o, NULL, &error);
}

static void
expect_moved_to(struct db *from, struct db *to)
{
	if (move(from, to) < 0)
		fail_msg("%s", error.message);
}

/* Enqueue n jobs, one after the other. */
static void
put_in_line(rp_conn *conn, const char *queue, const char *group, int n)
{
	rp_job_spec job = job_of("x");

	job.group_key = group;
	for (int i = 0; i < n; i++)
		put_spec(conn, queue, &job);
}

/* Run n jobs. They must run in the order of their ids. */
static void
expect_in_order(rp_conn *conn, const char *queue, int n)
{
	struct claim c;
	int64_t last = 0;

	while (n-- > 0) {
		assert_int_equal(take_one(conn, queue, 60000, &c), 1);
		assert_true(c.id > last);
		last = c.id;
		ok(conn, rp_complete(conn, c.id, c.no));
	}
}

/* The source begins to count the places in its line again, because all its jobs
 * were moved. */
static void
P5_P11_jobs_of_a_later_move_come_after_those_of_the_first(void **state)
{
	struct pair *pair = *state;
	rp_conn *from = pair->from->conn, *to = pair->to->conn;
	rp_queue grouped = RP_QUEUE_INIT;
	int64_t now;

	grouped.name = "grouped";
	grouped.group_limit = 1;
	ok(from, rp_queue_set(from, &grouped));
	put_in_line(from, "line", NULL, 5);
	put_in_line(from, "grouped", "g", 3);
	expect_moved_to(pair->from, pair->to);
	/* A copied job comes to its group in the millisecond in which it became
	 * ready, and not later within this millisecond. */
	ok(from, rp_now(from, &now));
	wait_until(from, now + 3);
	put_in_line(from, "line", NULL, 3);
	put_in_line(from, "grouped", "g", 1);
	expect_moved_to(pair->from, pair->to);
	ok(to, rp_sweep(to, NULL));
	expect_in_order(to, "line", 8);
	expect_in_order(to, "grouped", 4);
}

static void
set_limit(rp_conn *conn, int limit)
{
	rp_queue queue = RP_QUEUE_INIT;

	queue.name = "line";
	queue.run_limit = limit;
	ok(conn, rp_queue_set(conn, &queue));
}

static void
expect_queue(rp_conn *conn, int limit, const char *reason)
{
	rp_queues *queues;
	const rp_queue *queue;

	ok(conn, rp_queue_list(conn, "line", &queues));
	queue = rp_queues_at(queues, 0);
	assert_int_equal(queue->run_limit, limit);
	if (reason)
		assert_string_equal(queue->pause_reason, reason);
	else
		assert_int_equal(queue->paused_at, 0);
	rp_queues_free(queues);
}

/* The later move is refused after it has begun, and is run again. */
static void
a_later_move_changes_no_setting_of_the_target(void **state)
{
	struct pair *pair = *state;
	rp_conn *from = pair->from->conn, *to = pair->to->conn;
	rp_job_spec job = job_of("here and there");

	put(from, "line", "x");
	expect_moved_to(pair->from, pair->to);
	set_limit(to, 7);
	ok(to, rp_queue_pause(to, "line", "maintenance"));
	job.unique_key = "both";
	put_spec(from, "line", &job);
	put_spec(to, "line", &job);
	assert_int_equal(move(pair->from, pair->to), RP_ETAKEN);
	assert_string_equal(error.message,
			    "a job in the target has the unique key of a job "
			    "of the source: cancel one of them, and run the "
			    "command again");
	expect_queue(to, 7, "maintenance");
	ok(to, rp_queue_purge(to, "line", 0, NULL));
	expect_moved_to(pair->from, pair->to);
	expect_queue(to, 7, "maintenance");
}

/* When a queue has moved away, the database forgets that the queue was moved
 * into it. So the queue can come back with its new settings. */
static void
a_queue_can_be_moved_there_and_back_and_there_again(void **state)
{
	struct pair *pair = *state;
	rp_conn *from = pair->from->conn, *to = pair->to->conn;

	put(from, "line", "x");
	for (int limit = 1; limit < 4; limit++) {
		set_limit(from, limit);
		expect_moved_to(pair->from, pair->to);
		expect_queue(to, limit, NULL);
		set_limit(to, 10 * limit);
		expect_moved_to(pair->to, pair->from);
		expect_queue(from, 10 * limit, NULL);
	}
	expect_in_order(from, "line", 1);
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		PAIR(P5_P11_jobs_of_a_later_move_come_after_those_of_the_first),
		PAIR(a_later_move_changes_no_setting_of_the_target),
		PAIR(a_queue_can_be_moved_there_and_back_and_there_again),
	};

	pairs_of(argc, argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
