/*
 * dead.c - test a queue's setting dead_to, which names another queue. When a
 * job dies, a copy of the job is enqueued in that other queue.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "check.h"

static int
set_dead_to(struct db *db, const char *queue, const char *dead_to)
{
	rp_queue q = RP_QUEUE_INIT;

	q.name = queue;
	q.dead_to = dead_to;
	return rp_queue_set(db->conn, &q);
}

/* Enqueue a job into queue q, and let it fail until it is dead. */
static int64_t
die(struct db *db, rp_job_spec job)
{
	rp_added added;
	rp_verdict v;

	ok(db->conn, rp_enqueue(db->conn, "q", &job, &added));
	v = verdict_on(claim_one(db->conn, 60000), RP_DEAD);
	v.error = "no such user";
	assert_int_equal(ok(db->conn, rp_settle(db->conn, &v, 1)), 1);
	assert_int_equal(v.state, RP_STATE_DEAD);
	return added.id;
}

/* Claim the only job of a queue. */
static rp_batch *
only(struct db *db, const char *queue)
{
	rp_batch *batch = take(db->conn, queue, 2, 60000);

	assert_int_equal(rp_batch_count(batch), 1);
	return batch;
}

static void
expect_headers(const rp_job *job, int64_t id, const char *queue,
	       const char *error)
{
	char text[100];

	snprintf(text, sizeof(text), "%lld", (long long)id);
	assert_non_null(strstr(job->headers, "\"dead-id\""));
	assert_non_null(strstr(job->headers, text));
	assert_non_null(strstr(job->headers, "\"dead-queue\""));
	assert_non_null(strstr(job->headers, queue));
	assert_non_null(strstr(job->headers, "\"dead-error\""));
	assert_non_null(strstr(job->headers, error));
}

static void
a_job_that_fails_for_good_is_put_into_the_other_queue(void **state)
{
	struct db *db = *state;
	rp_job_spec job = job_of("hello");
	const rp_job *left;
	rp_batch *batch;
	int64_t id;

	job.kind = "welcome";
	job.headers = "{\"from\": \"me\"}";
	ok(db->conn, set_dead_to(db, "q", "dead letters"));
	id = die(db, job);
	batch = only(db, "dead letters");
	left = rp_batch_at(batch, 0);
	assert_int_equal(left->payload_size, 5);
	assert_memory_equal(left->payload, "hello", 5);
	assert_string_equal(left->kind, "welcome");
	assert_non_null(strstr(left->headers, "\"from\""));
	expect_headers(left, id, "\"q\"", "no such user");
	assert_int_equal(state_of(db->conn, id), RP_STATE_DEAD);
	rp_batch_free(batch);
}

static void
a_job_is_put_into_the_other_queue_after_its_last_attempt(void **state)
{
	struct db *db = *state;
	rp_job_spec job = job_of("x");
	rp_batch *batch;

	job.max_attempts = 2;
	ok(db->conn, set_dead_to(db, "q", "dead"));
	ok(db->conn, rp_enqueue(db->conn, "q", &job, NULL));
	settle_one(db->conn, claim_one(db->conn, 60000), RP_FAIL, 0);
	assert_int_equal(stats_of(db->conn, "dead").ready, 0);
	settle_one(db->conn, claim_one(db->conn, 60000), RP_FAIL, 0);
	batch = only(db, "dead");
	rp_batch_free(batch);
}

static void
a_job_that_lost_its_last_lease_is_put_into_the_other_queue(void **state)
{
	struct db *db = *state;
	rp_job_spec job = job_of("x");
	rp_added added;
	rp_swept swept = RP_SWEPT_INIT;
	rp_batch *batch;

	job.max_attempts = 1;
	ok(db->conn, set_dead_to(db, "q", "dead"));
	ok(db->conn, rp_enqueue(db->conn, "q", &job, &added));
	claim_one(db->conn, 1);
	sleep_ms(3);
	ok(db->conn, rp_sweep(db->conn, &swept));
	assert_int_equal(swept.dead, 1);
	batch = only(db, "dead");
	expect_headers(rp_batch_at(batch, 0), added.id, "\"q\"",
		       "lease ran out, attempt 1 of 1");
	rp_batch_free(batch);
}

static void
large_payloads_and_odd_headers_are_copied(void **state)
{
	struct db *db = *state;
	rp_job_spec job = job_of("");
	rp_queue small = RP_QUEUE_INIT;
	char *bytes = bytes_of(100000, 7);
	rp_batch *batch;

	job.payload = bytes;
	job.payload_size = 100000;
	job.headers = " { \"n\": 1e99999, \"u\": \"\\ud800\\u0001\" } ";
	ok(db->conn, set_dead_to(db, "q", "dead"));
	small.name = "dead";
	small.max_payload = 10;
	ok(db->conn, rp_queue_set(db->conn, &small));
	die(db, job);
	batch = only(db, "dead");
	expect_bytes(rp_batch_at(batch, 0), 100000, 7);
	assert_non_null(strstr(rp_batch_at(batch, 0)->headers, "\"u\""));
	rp_batch_free(batch);
	free(bytes);
}

static void
a_chain_ends_where_dead_to_is_not_set(void **state)
{
	struct db *db = *state;
	struct claim c;
	rp_batch *batch;

	ok(db->conn, set_dead_to(db, "q", "second"));
	ok(db->conn, set_dead_to(db, "second", "third"));
	die(db, job_of("x"));
	take_one(db->conn, "second", 60000, &c);
	settle_one(db->conn, c, RP_DEAD, -1);
	batch = only(db, "third");
	assert_non_null(strstr(rp_batch_at(batch, 0)->headers, "\"second\""));
	c = (struct claim){ rp_batch_at(batch, 0)->id,
			    rp_batch_at(batch, 0)->claim_no, 1 };
	rp_batch_free(batch);
	settle_one(db->conn, c, RP_DEAD, -1);
	assert_int_equal(stats_of(db->conn, "third").dead, 1);
	assert_int_equal(stats_of(db->conn, "third").ready, 0);
}

static void
queues_cannot_send_dead_jobs_in_a_circle(void **state)
{
	struct db *db = *state;

	assert_int_equal(set_dead_to(db, "q", "q"), RP_EINVAL);
	ok(db->conn, set_dead_to(db, "a", "b"));
	ok(db->conn, set_dead_to(db, "b", "c"));
	assert_int_equal(set_dead_to(db, "c", "a"), RP_EINVAL);
	assert_non_null(strstr(rp_last_error(db->conn)->message, "queue c"));
	assert_int_equal(set_dead_to(db, "c", "\n"), RP_EINVAL);
}

static void
the_queue_is_made_and_made_again(void **state)
{
	struct db *db = *state;
	rp_batch *batch;

	ok(db->conn, set_dead_to(db, "q", "dead"));
	assert_int_equal(stats_of(db->conn, "dead").ready, 0);
	ok(db->conn, rp_queue_drop(db->conn, "dead"));
	die(db, job_of("x"));
	batch = only(db, "dead");
	rp_batch_free(batch);
}

static void
the_setting_is_read_kept_and_ended(void **state)
{
	struct db *db = *state;
	rp_queue q = RP_QUEUE_INIT;
	rp_queues *queues;

	ok(db->conn, set_dead_to(db, "q", "dead"));
	q.name = "q";
	q.priority = 3;
	ok(db->conn, rp_queue_set(db->conn, &q));
	ok(db->conn, rp_queue_list(db->conn, "q", &queues));
	assert_string_equal(rp_queues_at(queues, 0)->dead_to, "dead");
	rp_queues_free(queues);
	ok(db->conn, set_dead_to(db, "q", ""));
	ok(db->conn, rp_queue_list(db->conn, "q", &queues));
	assert_null(rp_queues_at(queues, 0)->dead_to);
	rp_queues_free(queues);
	die(db, job_of("x"));
	assert_int_equal(stats_of(db->conn, "dead").ready, 0);
}

static void
the_verdict_and_the_new_job_are_undone_together(void **state)
{
	struct db *db = *state;
	struct claim c;
	rp_verdict v;

	ok(db->conn, set_dead_to(db, "q", "dead"));
	put(db->conn, "q", "x");
	c = claim_one(db->conn, 60000);
	v = verdict_on(c, RP_DEAD);
	ok(db->conn, rp_begin(db->conn));
	ok(db->conn, rp_settle(db->conn, &v, 1));
	ok(db->conn, rp_rollback(db->conn));
	assert_int_equal(state_of(db->conn, c.id), RP_STATE_RUNNING);
	assert_int_equal(stats_of(db->conn, "dead").ready, 0);
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		CASE(a_job_that_fails_for_good_is_put_into_the_other_queue),
		CASE(a_job_is_put_into_the_other_queue_after_its_last_attempt),
		CASE(a_job_that_lost_its_last_lease_is_put_into_the_other_queue),
		CASE(large_payloads_and_odd_headers_are_copied),
		CASE(a_chain_ends_where_dead_to_is_not_set),
		CASE(queues_cannot_send_dead_jobs_in_a_circle),
		CASE(the_queue_is_made_and_made_again),
		CASE(the_setting_is_read_kept_and_ended),
		CASE(the_verdict_and_the_new_job_are_undone_together),
	};

	databases_at(argc, argv);
	return cmocka_run_group_tests_name("dead", tests, NULL, NULL);
}
