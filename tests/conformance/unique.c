/*
 * unique.c - test that at most one live job of a queue has a given unique key.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "check.h"

static rp_job_spec
keyed(const char *payload, const char *key, int replace)
{
	rp_job_spec job = job_of(payload);

	job.unique_key = key;
	job.replace = replace;
	return job;
}

static rp_added
add(rp_conn *conn, const char *queue, rp_job_spec job)
{
	rp_added added;

	ok(conn, rp_enqueue(conn, queue, &job, &added));
	return added;
}

static int
outcome(rp_conn *conn)
{
	return add(conn, "q", keyed("again", "k", 0)).outcome;
}

static void
a_key_belongs_to_its_queue(void **state)
{
	struct db *db = *state;
	rp_added a = add(db->conn, "q", keyed("a", "k", 0));
	rp_added b = add(db->conn, "r", keyed("b", "k", 0));
	rp_added c = add(db->conn, "q", keyed("c", "K", 0));

	assert_int_equal(b.outcome, RP_ADDED);
	assert_int_equal(c.outcome, RP_ADDED);
	assert_true(a.id != b.id && b.id != c.id);
}

static void
a_key_is_taken_as_long_as_its_job_lives(void **state)
{
	struct db *db = *state;
	rp_job_spec later = keyed("a", "k", 0);
	struct claim c;
	rp_verdict v;

	later.delay_ms = 20;
	add(db->conn, "q", later);
	assert_int_equal(outcome(db->conn), RP_EXISTED); /* scheduled */
	sleep_ms(22);
	ok(db->conn, rp_sweep(db->conn, NULL));
	assert_int_equal(outcome(db->conn), RP_EXISTED); /* ready */
	assert_int_equal(take_one(db->conn, "q", 1, &c), 1);
	assert_int_equal(outcome(db->conn), RP_EXISTED); /* running */
	sleep_ms(3);
	ok(db->conn, rp_sweep(db->conn, NULL));
	assert_int_equal(outcome(db->conn), RP_EXISTED); /* a suspect */
	assert_int_equal(take_one(db->conn, "q", 60000, &c), 1);
	v = verdict_on(c, RP_FAIL);
	v.delay_ms = 3600000;
	ok(db->conn, rp_settle(db->conn, &v, 1));
	assert_int_equal(outcome(db->conn),
			 RP_EXISTED); /* the job is waiting for its retry */
	assert_int_equal(stats_of(db->conn, "q").scheduled, 1);
}

static void
a_key_is_free_when_its_job_is_done_dead_cancelled_or_purged(void **state)
{
	struct db *db = *state;
	rp_queue q = RP_QUEUE_INIT;
	struct claim c;
	rp_verdict v;

	q.name = "q";
	q.keep_done_ms = 3600000;
	settings(db->conn, q);
	assert_int_equal(outcome(db->conn), RP_ADDED);
	take_one(db->conn, "q", 60000, &c);
	ok(db->conn, rp_complete(db->conn, c.id, c.no));
	assert_int_equal(outcome(db->conn), RP_ADDED);
	take_one(db->conn, "q", 60000, &c);
	v = verdict_on(c, RP_DEAD);
	ok(db->conn, rp_settle(db->conn, &v, 1));
	assert_int_equal(outcome(db->conn), RP_ADDED);
	take_one(db->conn, "q", 60000, &c);
	ok(db->conn, rp_job_cancel(db->conn, c.id, NULL));
	assert_int_equal(outcome(db->conn), RP_ADDED);
	assert_int_equal(rp_queue_purge(db->conn, "q", RP_STATE_READY, NULL),
			 1);
	assert_int_equal(outcome(db->conn), RP_ADDED);
}

static void
an_existing_job_with_the_key_is_not_changed(void **state)
{
	struct db *db = *state;
	rp_job_spec other = keyed("other", "k", 0);
	int64_t id = add(db->conn, "q", keyed("first", "k", 0)).id;
	rp_batch *batch;

	other.priority = 1;
	other.kind = "other";
	other.delay_ms = 3600000;
	assert_int_equal(add(db->conn, "q", other).id, id);
	batch = get(db->conn, id);
	assert_string_equal(rp_batch_at(batch, 0)->payload, "first");
	assert_int_equal(rp_batch_at(batch, 0)->priority, 100);
	assert_int_equal(rp_batch_at(batch, 0)->state, RP_STATE_READY);
	assert_null(rp_batch_at(batch, 0)->kind);
	rp_batch_free(batch);
}

static void
a_scheduled_job_becomes_all_of_the_one_that_replaces_it(void **state)
{
	struct db *db = *state;
	rp_job_spec first = keyed("first", "k", 0),
		    other = keyed("other", "k", 1);
	const rp_job *job;
	rp_batch *batch;
	rp_added added;

	first.delay_ms = 3600000;
	first.headers = "{\"a\":1}";
	added = add(db->conn, "q", first);
	other.priority = 7;
	other.kind = "other";
	other.max_attempts = 9;
	assert_int_equal(add(db->conn, "q", other).outcome, RP_REPLACED);
	batch = get(db->conn, added.id);
	job = rp_batch_at(batch, 0);
	assert_string_equal(job->payload, "other");
	assert_string_equal(job->kind, "other");
	assert_string_equal(job->unique_key, "k");
	assert_null(job->headers);
	assert_int_equal(job->priority, 7);
	assert_int_equal(job->max_attempts, 9);
	assert_int_equal(job->state, RP_STATE_READY);
	rp_batch_free(batch);
	assert_int_equal(stats_of(db->conn, "q").scheduled, 0);
}

static void
a_running_job_is_not_replaced(void **state)
{
	struct db *db = *state;
	struct claim c;
	rp_batch *batch;
	rp_added added;

	add(db->conn, "q", keyed("first", "k", 0));
	take_one(db->conn, "q", 60000, &c);
	added = add(db->conn, "q", keyed("other", "k", 1));
	assert_int_equal(added.outcome, RP_EXISTED);
	assert_int_equal(added.id, c.id);
	batch = get(db->conn, c.id);
	assert_string_equal(rp_batch_at(batch, 0)->payload, "first");
	rp_batch_free(batch);
	ok(db->conn, rp_complete(db->conn, c.id, c.no));
}

static void
a_replacement_starts_with_no_attempt_and_no_failure(void **state)
{
	struct db *db = *state;
	struct claim c;
	rp_verdict v;
	rp_batch *batch;

	add(db->conn, "q", keyed("first", "k", 0));
	take_one(db->conn, "q", 60000, &c);
	v = verdict_on(c, RP_FAIL);
	v.delay_ms = 3600000;
	ok(db->conn, rp_settle(db->conn, &v, 1));
	add(db->conn, "q", keyed("other", "k", 1));
	batch = get(db->conn, c.id);
	assert_int_equal(rp_batch_at(batch, 0)->attempt, 0);
	assert_null(rp_batch_at(batch, 0)->last_error);
	assert_null(rp_batch_at(batch, 0)->failures);
	assert_true(rp_batch_at(batch, 0)->claim_no > c.no);
	rp_batch_free(batch);
}

static void
a_batch_keeps_its_order_and_answers_each_of_its_jobs(void **state)
{
	static const int outcomes[] = { RP_ADDED, RP_ADDED, RP_EXISTED,
					RP_REPLACED, RP_ADDED };
	struct db *db = *state;
	rp_job_spec jobs[] = { job_of("a"), keyed("b", "k", 0),
			       keyed("c", "k", 0), keyed("d", "k", 1),
			       job_of("e") };
	rp_added added[5];
	rp_batch *batch;

	ok(db->conn, rp_enqueue_many(db->conn, "q", jobs, 5, added));
	for (int i = 0; i < 5; i++)
		assert_int_equal(added[i].outcome, outcomes[i]);
	assert_int_equal(added[1].id, added[2].id);
	assert_int_equal(added[1].id, added[3].id);
	assert_true(added[0].id < added[1].id && added[1].id < added[4].id);
	batch = take(db->conn, "q", 9, 60000);
	assert_int_equal(rp_batch_count(batch), 3);
	assert_string_equal(rp_batch_at(batch, 0)->payload, "a");
	assert_string_equal(rp_batch_at(batch, 1)->payload, "d");
	assert_string_equal(rp_batch_at(batch, 2)->payload, "e");
	rp_batch_free(batch);
}

static void
a_replacement_that_is_too_large_changes_nothing(void **state)
{
	struct db *db = *state;
	rp_queue q = RP_QUEUE_INIT;
	rp_job_spec jobs[] = { job_of("x"), keyed("too large", "k", 1) };
	rp_batch *batch;
	int64_t id;

	q.name = "q";
	q.max_payload = 5;
	settings(db->conn, q);
	id = add(db->conn, "q", keyed("first", "k", 0)).id;
	assert_int_equal(rp_enqueue(db->conn, "q", &jobs[1], NULL), RP_EFBIG);
	assert_int_equal(rp_enqueue_many(db->conn, "q", jobs, 2, NULL),
			 RP_EFBIG);
	assert_non_null(strstr(rp_last_error(db->conn)->message, "job 2: "));
	batch = get(db->conn, id);
	assert_string_equal(rp_batch_at(batch, 0)->payload, "first");
	rp_batch_free(batch);
	assert_int_equal(stats_of(db->conn, "q").ready, 1);
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		CASE(a_key_belongs_to_its_queue),
		CASE(a_key_is_taken_as_long_as_its_job_lives),
		CASE(a_key_is_free_when_its_job_is_done_dead_cancelled_or_purged),
		CASE(an_existing_job_with_the_key_is_not_changed),
		CASE(a_scheduled_job_becomes_all_of_the_one_that_replaces_it),
		CASE(a_running_job_is_not_replaced),
		CASE(a_replacement_starts_with_no_attempt_and_no_failure),
		CASE(a_batch_keeps_its_order_and_answers_each_of_its_jobs),
		CASE(a_replacement_that_is_too_large_changes_nothing),
	};

	databases_at(argc, argv);
	return cmocka_run_group_tests_name("unique", tests, NULL, NULL);
}
