/*
 * inspect.c - test the calls that read jobs, queues and statistics, and the
 * calls that apply only to jobs of one kind.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "check.h"

static void
a_job_is_shown_as_it_was_enqueued(void **state)
{
	struct db *db = *state;
	rp_job_spec new = RP_JOB_SPEC_INIT;
	const rp_job *job;
	rp_batch *batch;
	rp_added added;
	int64_t now;

	ok(db->conn, rp_now(db->conn, &now));
	new.payload = "a\0b";
	new.payload_size = 3;
	new.priority = 0;
	new.run_at = now + 3600000;
	new.max_attempts = 9;
	new.kind = "gr\xc3\xbc\xc3\x9f";
	new.headers = "{\"a\":1}";
	new.unique_key = "it's \"k\"";
	ok(db->conn, rp_enqueue(db->conn, "a 'queue'", &new, &added));
	batch = get(db->conn, added.id);
	assert_int_equal(rp_batch_count(batch), 1);
	job = rp_batch_at(batch, 0);
	assert_int_equal(job->id, added.id);
	assert_string_equal(job->queue, "a 'queue'");
	assert_int_equal(job->state, RP_STATE_SCHEDULED);
	assert_int_equal(job->priority, 0);
	assert_int_equal(job->attempt, 0);
	assert_int_equal(job->max_attempts, 9);
	assert_int_equal(job->run_at, now + 3600000);
	assert_in_range(job->created_at, now, now + 5000);
	assert_int_equal(job->claimed_at, 0);
	assert_int_equal(job->lease_until, 0);
	assert_int_equal(job->finished_at, 0);
	assert_string_equal(job->kind, new.kind);
	assert_string_equal(job->headers, new.headers);
	assert_string_equal(job->unique_key, new.unique_key);
	assert_int_equal(job->payload_size, 3);
	assert_memory_equal(job->payload, "a\0b", 4);
	assert_null(job->worker);
	assert_null(job->last_error);
	assert_null(job->failures);
	rp_batch_free(batch);
}

static void
expect_run_at(rp_conn *conn, int64_t id, int64_t least, int64_t most)
{
	rp_batch *batch = get(conn, id);

	assert_in_range(rp_batch_at(batch, 0)->run_at, least, most);
	rp_batch_free(batch);
}

static void
an_extension_does_not_change_when_a_job_became_ready(void **state)
{
	struct db *db = *state;
	struct claim c;
	int64_t before, now;

	keep_for(db->conn, 60000, 60000);
	ok(db->conn, rp_now(db->conn, &before));
	put(db->conn, "q", "x");
	assert_int_equal(take_one(db->conn, "q", 60000, &c), 1);
	ok(db->conn, rp_extend(db->conn, c.id, c.no, 3600000));
	ok(db->conn, rp_now(db->conn, &now));
	expect_run_at(db->conn, c.id, before, now);
	ok(db->conn, rp_complete(db->conn, c.id, c.no));
	expect_run_at(db->conn, c.id, before, now);
}

static void
a_finished_job_is_shown_as_it_ended(void **state)
{
	struct db *db = *state;
	rp_job_spec new = job_of("x");
	const rp_job *job;
	rp_batch *batch;
	struct claim c;
	rp_verdict v;

	new.kind = "k";
	new.unique_key = "u";
	new.headers = "{}";
	ok(db->conn, rp_enqueue(db->conn, "q", &new, NULL));
	take_one(db->conn, "q", 60000, &c);
	v = verdict_on(c, RP_DEAD);
	v.error = "no \"way\"";
	ok(db->conn, rp_settle(db->conn, &v, 1));
	batch = get(db->conn, c.id);
	job = rp_batch_at(batch, 0);
	assert_int_equal(job->state, RP_STATE_DEAD);
	assert_int_equal(job->attempt, 1);
	assert_int_equal(job->claim_no, c.no);
	assert_string_equal(job->payload, "x");
	assert_string_equal(job->kind, "k");
	assert_string_equal(job->unique_key, "u");
	assert_string_equal(job->headers, "{}");
	assert_string_equal(job->last_error, "no \"way\"");
	/* Databases differ in the spaces that they put into JSON. */
	assert_non_null(strstr(job->failures, "\"attempt\":"));
	assert_non_null(strstr(job->failures, "\"no \\\"way\\\"\""));
	assert_true(job->finished_at >= job->created_at);
	assert_int_equal(job->lease_until, 0);
	rp_batch_free(batch);
}

static void
the_failures_kept_are_the_last_ten_oldest_first(void **state)
{
	struct db *db = *state;
	rp_job_spec job = job_of("x");
	const char *at, *failures;
	rp_batch *batch;
	struct claim c;

	job.max_attempts = 100;
	ok(db->conn, rp_enqueue(db->conn, "q", &job, NULL));
	for (int i = 1; i <= 13; i++) {
		rp_verdict v;
		char text[20];

		assert_int_equal(take_one(db->conn, "q", 60000, &c), 1);
		v = verdict_on(c, RP_FAIL);
		snprintf(text, sizeof(text), "failure %d.", i);
		v.error = text;
		v.delay_ms = 0;
		ok(db->conn, rp_settle(db->conn, &v, 1));
	}
	batch = get(db->conn, c.id);
	at = failures = rp_batch_at(batch, 0)->failures;
	for (int i = 1; i <= 13; i++) {
		char text[20];

		snprintf(text, sizeof(text), "failure %d.", i);
		if (i <= 3)
			assert_null(strstr(failures, text));
		else
			assert_non_null(at = strstr(at, text));
	}
	assert_string_equal(rp_batch_at(batch, 0)->last_error, "failure 13.");
	rp_batch_free(batch);
}

/* Make a job in each state. The name of the job's queue is the first letter of
 * the state. */
static void
put_in_every_state(rp_conn *conn)
{
	rp_queue q = RP_QUEUE_INIT;
	rp_job_spec later = job_of("scheduled");
	struct claim c;
	rp_verdict v;

	q.name = "q";
	q.keep_done_ms = 3600000;
	settings(conn, q);
	put(conn, "q", "done");
	take_one(conn, "q", 60000, &c);
	ok(conn, rp_complete(conn, c.id, c.no));
	put(conn, "q", "Dead");
	take_one(conn, "q", 60000, &c);
	v = verdict_on(c, RP_DEAD);
	ok(conn, rp_settle(conn, &v, 1));
	ok(conn, rp_job_cancel(conn, put(conn, "q", "cancelled"), NULL));
	put(conn, "q", "Running");
	take_one(conn, "q", 60000, &c);
	later.delay_ms = 3600000;
	ok(conn, rp_enqueue(conn, "q", &later, NULL));
	put(conn, "q", "ready");
}

static void
expect_list(rp_conn *conn, int which, size_t max, const char *expected)
{
	char got[64] = "";
	rp_batch *batch;
	int64_t r = ok(conn, rp_job_list(conn, "q", which, max, &batch));

	assert_int_equal(r, rp_batch_count(batch));
	for (size_t i = 0; i < rp_batch_count(batch); i++) {
		strncat(got, rp_batch_at(batch, i)->payload, 1);
		if (which)
			assert_int_equal(rp_batch_at(batch, i)->state, which);
	}
	rp_batch_free(batch);
	assert_string_equal(got, expected);
}

static void
a_list_has_the_jobs_of_one_state_or_all_live_jobs(void **state)
{
	struct db *db = *state;

	put_in_every_state(db->conn);
	put(db->conn, "other", "o");
	expect_list(db->conn, RP_STATE_SCHEDULED, 50, "s");
	expect_list(db->conn, RP_STATE_READY, 50, "r");
	expect_list(db->conn, RP_STATE_RUNNING, 50, "R");
	expect_list(db->conn, RP_STATE_DONE, 50, "d");
	expect_list(db->conn, RP_STATE_DEAD, 50, "D");
	expect_list(db->conn, RP_STATE_CANCELLED, 50, "c");
	expect_list(db->conn, 0, 50, "Rrs");
	expect_list(db->conn, 0, 2, "Rr");
	expect_list(db->conn, 0, 1, "R");
	expect_list(db->conn, 0, 0, "");
}

static void
finished_jobs_are_listed_newest_first(void **state)
{
	struct db *db = *state;

	for (int i = 0; i < 3; i++) {
		const char payload[] = { (char)('a' + i), '\0' };

		ok(db->conn,
		   rp_job_cancel(db->conn, put(db->conn, "q", payload), NULL));
	}
	expect_list(db->conn, RP_STATE_CANCELLED, 50, "cba");
	expect_list(db->conn, RP_STATE_CANCELLED, 2, "cb");
}

static void
a_job_that_is_due_is_ready_before_any_sweep(void **state)
{
	struct db *db = *state;
	rp_job_spec job = job_of("x");
	rp_added added;

	job.delay_ms = 1;
	ok(db->conn, rp_enqueue(db->conn, "q", &job, &added));
	sleep_ms(4);
	assert_int_equal(state_of(db->conn, added.id), RP_STATE_READY);
	expect_list(db->conn, RP_STATE_READY, 50, "x");
	expect_list(db->conn, RP_STATE_SCHEDULED, 50, "");
	assert_int_equal(stats_of(db->conn, "q").ready, 1);
	assert_int_equal(stats_of(db->conn, "q").scheduled, 0);
}

static void
stats_count_every_state_and_say_what_is_absent(void **state)
{
	struct db *db = *state;
	rp_queue q = RP_QUEUE_INIT;
	rp_queue_stats s;

	put_in_every_state(db->conn);
	s = stats_of(db->conn, "q");
	assert_int_equal(s.scheduled, 1);
	assert_int_equal(s.ready, 1);
	assert_int_equal(s.running, 1);
	assert_int_equal(s.done, 1);
	assert_int_equal(s.dead, 1);
	assert_int_equal(s.cancelled, 1);
	assert_int_equal(s.paused, 0);
	assert_int_equal(s.workers, 0);
	assert_int_equal(s.done_10s, 1);
	assert_int_equal(s.done_total, 1);
	assert_int_equal(s.dead_total, 1);
	assert_in_range(s.oldest_ready_ms, 0, 5000);
	assert_in_range(s.longest_running_ms, 0, 5000);
	q.name = "empty";
	settings(db->conn, q);
	s = stats_of(db->conn, "empty");
	assert_int_equal(s.oldest_ready_ms, -1);
	assert_int_equal(s.longest_running_ms, -1);
	assert_int_equal(s.ready + s.running + s.done + s.done_10s, 0);
}

static void
failures_count_whether_they_were_for_good_or_not(void **state)
{
	static const int failures[] = { RP_FAIL, RP_DEAD };
	struct db *db = *state;
	rp_conn *conn = connect_to(db);

	for (int i = 0; i < 2; i++) {
		struct claim c;
		rp_verdict v;

		put(conn, "q", "x");
		take_one(conn, "q", 60000, &c);
		v = verdict_on(c, failures[i]);
		assert_int_equal(ok(conn, rp_settle(conn, &v, 1)), 1);
	}
	rp_close(conn); /* closing writes the counts that are still in memory */
	assert_int_equal(stats_of(db->conn, "q").failed_10s, 2);
	assert_int_equal(stats_of(db->conn, "q").done_10s, 0);
	assert_int_equal(stats_of(db->conn, "q").failed_total, 2);
	assert_int_equal(stats_of(db->conn, "q").dead_total, 1);
}

static void
a_lease_that_ran_out_for_the_last_time_counts_as_dead(void **state)
{
	struct db *db = *state;
	rp_job_spec job = job_of("x");
	rp_conn *conn = connect_to(db);
	rp_queue_stats s;
	rp_batch *batch;

	job.max_attempts = 1;
	put_spec(conn, "q", &job);
	batch = take(conn, "q", 1, 1);
	wait_until(conn, rp_batch_at(batch, 0)->lease_until);
	rp_batch_free(batch);
	ok(conn, rp_sweep(conn, NULL));
	rp_close(conn);
	s = stats_of(db->conn, "q");
	assert_int_equal(s.dead_total, 1);
	assert_int_equal(s.failed_total, 0);
}

static void
a_verdict_that_is_rolled_back_is_not_counted(void **state)
{
	struct db *db = *state;
	rp_conn *conn = connect_to(db);
	struct claim c[4];
	int64_t now;

	for (int i = 0; i < 4; i++) {
		put(conn, "q", "x");
		take_one(conn, "q", 60000, &c[i]);
	}
	/* These counts are written at once, and so the next ones wait. */
	ok(conn, rp_complete(conn, c[0].id, c[0].no));
	ok(conn, rp_complete(conn, c[1].id, c[1].no));
	ok(conn, rp_begin(conn));
	ok(conn, rp_complete(conn, c[2].id, c[2].no));
	ok(conn, rp_rollback(conn));
	/* A transaction that is rolled back takes no earlier counts along. */
	ok(conn, rp_now(conn, &now));
	wait_until(conn, now + 1100);
	ok(conn, rp_begin(conn));
	ok(conn, rp_complete(conn, c[2].id, c[2].no));
	ok(conn, rp_rollback(conn));
	ok(conn, rp_begin(conn));
	ok(conn, rp_complete(conn, c[3].id, c[3].no));
	ok(conn, rp_commit(conn));
	rp_close(conn);
	assert_int_equal(stats_of(db->conn, "q").done_total, 3);
}

/* One call settles jobs of all these queues. */
static void
jobs_of_many_queues_are_counted(void **state)
{
	enum { QUEUES = 40 };
	struct db *db = *state;
	rp_conn *conn = connect_to(db);
	rp_verdict verdicts[QUEUES];
	char queue[8];

	for (int i = 0; i < QUEUES; i++) {
		struct claim c;

		snprintf(queue, sizeof(queue), "q%d", i);
		put(conn, queue, "x");
		take_one(conn, queue, 60000, &c);
		verdicts[i] = verdict_on(c, RP_DONE);
	}
	ok(conn, rp_settle(conn, verdicts, QUEUES));
	rp_close(conn);
	for (int i = 0; i < QUEUES; i++) {
		snprintf(queue, sizeof(queue), "q%d", i);
		assert_int_equal(stats_of(db->conn, queue).done_total, 1);
	}
}

static void
all_queues_are_listed_by_name(void **state)
{
	static const char *const names[] = { "a", "b", "c" };
	struct db *db = *state;
	rp_queues *queues;
	rp_stats *stats;

	put(db->conn, "b", "x");
	put(db->conn, "c", "x");
	put(db->conn, "a", "x");
	ok(db->conn, rp_stats_get(db->conn, NULL, &stats));
	ok(db->conn, rp_queue_list(db->conn, NULL, &queues));
	assert_int_equal(rp_stats_count(stats), 3);
	assert_int_equal(rp_queues_count(queues), 3);
	for (size_t i = 0; i < 3; i++) {
		assert_string_equal(rp_stats_at(stats, i)->queue, names[i]);
		assert_int_equal(rp_stats_at(stats, i)->ready, 1);
		assert_string_equal(rp_queues_at(queues, i)->name, names[i]);
	}
	assert_null(rp_stats_at(stats, 3));
	assert_null(rp_queues_at(queues, 3));
	rp_stats_free(stats);
	rp_queues_free(queues);
}

static void
a_new_queue_has_the_defaults_and_a_change_leaves_the_rest(void **state)
{
	struct db *db = *state;
	rp_queue q = RP_QUEUE_INIT;
	rp_queues *queues;
	const rp_queue *got;

	q.name = "q";
	q.priority = 0;
	settings(db->conn, q);
	ok(db->conn, rp_queue_list(db->conn, "q", &queues));
	got = rp_queues_at(queues, 0);
	assert_int_equal(got->priority, 0);
	assert_int_equal(got->paused_at, 0);
	assert_int_equal(got->max_attempts, 3);
	assert_int_equal(got->lease_ms, 60000);
	assert_int_equal(got->backoff_ms, 10000);
	assert_int_equal(got->backoff_max_ms, 3600000);
	assert_int_equal(got->keep_done_ms, 0);
	assert_int_equal(got->keep_dead_ms, INT64_C(30) * 86400000);
	assert_int_equal(got->max_payload, 16 * 1024 * 1024);
	rp_queues_free(queues);
	assert_int_equal(rp_queue_list(db->conn, "nowhere", &queues),
			 RP_ENOENT);
}

static void
without_workers_the_list_of_workers_is_empty(void **state)
{
	struct db *db = *state;
	rp_workers *workers;

	put(db->conn, "q", "x");
	rp_batch_free(take(db->conn, "q", 1, 60000));
	ok(db->conn, rp_worker_list(db->conn, &workers));
	assert_int_equal(rp_workers_count(workers), 0);
	assert_null(rp_workers_at(workers, 0));
	rp_workers_free(workers);
}

static void
kinds_narrow_cancel_retry_and_purge(void **state)
{
	struct db *db = *state;
	rp_job_spec job = job_of("x");
	rp_added a;
	int64_t plain = put(db->conn, "q", "y");

	job.kind = "k";
	ok(db->conn, rp_enqueue(db->conn, "q", &job, &a));
	assert_int_equal(rp_job_cancel(db->conn, a.id, "other"), RP_ENOENT);
	assert_int_equal(rp_job_cancel(db->conn, plain, "k"), RP_ENOENT);
	assert_int_equal(state_of(db->conn, a.id), RP_STATE_READY);
	ok(db->conn, rp_job_cancel(db->conn, a.id, "k"));
	assert_int_equal(rp_job_retry(db->conn, a.id, "other"), RP_ENOENT);
	assert_int_equal(rp_queue_purge(db->conn, "q", 0, "other"), 0);
	ok(db->conn, rp_job_retry(db->conn, a.id, "k"));
	assert_int_equal(rp_queue_purge(db->conn, "q", 0, "k"), 1);
	assert_int_equal(state_of(db->conn, plain), RP_STATE_READY);
}

static void
purge_takes_the_state_that_is_named(void **state)
{
	static const int states[] = { RP_STATE_SCHEDULED, RP_STATE_READY,
				      RP_STATE_DONE, RP_STATE_DEAD,
				      RP_STATE_CANCELLED };
	struct db *db = *state;
	rp_queue_stats s;

	put_in_every_state(db->conn);
	for (int i = 0; i < 5; i++) {
		assert_int_equal(rp_queue_purge(db->conn, "q", states[i], NULL),
				 1);
		assert_int_equal(rp_queue_purge(db->conn, "q", states[i], NULL),
				 0);
		expect_list(db->conn, states[i], 50, "");
		s = stats_of(db->conn, "q");
		assert_int_equal(s.scheduled + s.ready + s.running + s.done +
					 s.dead + s.cancelled,
				 5 - i);
	}
	assert_int_equal(s.running, 1);
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		CASE(a_job_is_shown_as_it_was_enqueued),
		CASE(an_extension_does_not_change_when_a_job_became_ready),
		CASE(a_finished_job_is_shown_as_it_ended),
		CASE(the_failures_kept_are_the_last_ten_oldest_first),
		CASE(a_list_has_the_jobs_of_one_state_or_all_live_jobs),
		CASE(finished_jobs_are_listed_newest_first),
		CASE(a_job_that_is_due_is_ready_before_any_sweep),
		CASE(stats_count_every_state_and_say_what_is_absent),
		CASE(failures_count_whether_they_were_for_good_or_not),
		CASE(a_lease_that_ran_out_for_the_last_time_counts_as_dead),
		CASE(a_verdict_that_is_rolled_back_is_not_counted),
		CASE(jobs_of_many_queues_are_counted),
		CASE(all_queues_are_listed_by_name),
		CASE(a_new_queue_has_the_defaults_and_a_change_leaves_the_rest),
		CASE(without_workers_the_list_of_workers_is_empty),
		CASE(kinds_narrow_cancel_retry_and_purge),
		CASE(purge_takes_the_state_that_is_named),
	};

	databases_at(argc, argv);
	return cmocka_run_group_tests_name("inspect", tests, NULL, NULL);
}
