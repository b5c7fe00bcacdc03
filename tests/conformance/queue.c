/*
 * queue.c - test settings of queues, unique keys, states of jobs, retention,
 * and changes that people make to jobs.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "check.h"

static rp_added
put_unique(rp_conn *conn, const char *payload, const char *key, int replace)
{
	rp_job_spec job = job_of(payload);
	rp_added added;

	job.unique_key = key;
	job.replace = replace;
	ok(conn, rp_enqueue(conn, "q", &job, &added));
	return added;
}

static void
a_live_job_with_the_key_is_answered(void **state)
{
	struct db *db = *state;
	struct claim c;
	rp_added first = put_unique(db->conn, "a", "k", 0);
	rp_added again = put_unique(db->conn, "b", "k", 0);

	assert_int_equal(first.outcome, RP_ADDED);
	assert_int_equal(again.outcome, RP_EXISTED);
	assert_int_equal(first.id, again.id);
	take_one(db->conn, "q", 60000, &c);
	assert_int_equal(put_unique(db->conn, "b", "k", 0).id, first.id);
	ok(db->conn, rp_complete(db->conn, c.id, c.no));
	assert_int_equal(put_unique(db->conn, "b", "k", 0).outcome, RP_ADDED);
}

static void
a_job_that_does_not_run_is_replaced_in_its_place(void **state)
{
	struct db *db = *state;
	rp_added first = put_unique(db->conn, "a", "k", 0), second;
	rp_batch *batch;

	put(db->conn, "q", "later");
	second = put_unique(db->conn, "b", "k", 1);
	assert_int_equal(second.outcome, RP_REPLACED);
	assert_int_equal(second.id, first.id);
	batch = take(db->conn, "q", 1, 60000);
	assert_string_equal(rp_batch_at(batch, 0)->payload, "b");
	rp_batch_free(batch);
	assert_int_equal(put_unique(db->conn, "c", "k", 1).outcome, RP_EXISTED);
}

static void
a_late_holder_cannot_complete_the_job_that_replaced_its_own(void **state)
{
	struct db *db = *state;
	struct claim c;

	put_unique(db->conn, "a", "k", 0);
	take_one(db->conn, "q", 1, &c);
	sleep_ms(3);
	ok(db->conn, rp_sweep(db->conn, NULL));
	assert_int_equal(put_unique(db->conn, "b", "k", 1).outcome,
			 RP_REPLACED);
	assert_int_equal(rp_complete(db->conn, c.id, c.no), RP_EGONE);
}

static void
retry_is_refused_while_a_live_job_has_the_key(void **state)
{
	struct db *db = *state;
	rp_added first = put_unique(db->conn, "a", "k", 0);
	int64_t taken = -1;
	struct claim c;

	take_one(db->conn, "q", 60000, &c);
	ok(db->conn, rp_job_cancel(db->conn, first.id, NULL));
	put_unique(db->conn, "b", "k", 0);
	assert_int_equal(rp_job_retry(db->conn, first.id, NULL), RP_ETAKEN);
	assert_int_equal(state_of(db->conn, first.id), RP_STATE_CANCELLED);
	assert_int_equal(
		ok(db->conn, rp_queue_retry_dead(db->conn, "q", NULL, &taken)),
		0);
	assert_int_equal(taken, 0);
}

static void
cancel_works_on_scheduled_ready_and_running_jobs(void **state)
{
	struct db *db = *state;
	rp_job_spec later = job_of("later");
	struct claim c;
	rp_added added;
	int64_t running, ready;

	later.delay_ms = 3600000;
	ok(db->conn, rp_enqueue(db->conn, "q", &later, &added));
	running = put(db->conn, "q", "running");
	ready = put(db->conn, "q", "ready");
	take_one(db->conn, "q", 60000, &c);
	assert_int_equal(c.id, running);
	ok(db->conn, rp_job_cancel(db->conn, added.id, NULL));
	ok(db->conn, rp_job_cancel(db->conn, running, NULL));
	ok(db->conn, rp_job_cancel(db->conn, ready, NULL));
	assert_int_equal(stats_of(db->conn, "q").cancelled, 3);
	assert_int_equal(rp_extend(db->conn, c.id, c.no, 1000), RP_ECANCELLED);
	assert_int_equal(rp_complete(db->conn, c.id, c.no), RP_ECANCELLED);
	assert_int_equal(rp_job_cancel(db->conn, ready, NULL), RP_EGONE);
	assert_int_equal(rp_job_cancel(db->conn, 999, NULL), RP_ENOENT);
	ok(db->conn, rp_job_retry(db->conn, running, NULL));
	assert_int_equal(rp_complete(db->conn, c.id, c.no), RP_EGONE);
}

static int
fail_one(rp_conn *conn, int64_t delay_ms, int64_t *ret_id)
{
	rp_verdict v = RP_VERDICT_INIT;
	struct claim c;

	assert_int_equal(take_one(conn, "q", 60000, &c), 1);
	*ret_id = v.id = c.id;
	v.claim_no = c.no;
	v.verdict = RP_FAIL;
	v.error = "oh \xff no";
	v.delay_ms = delay_ms;
	assert_int_equal(ok(conn, rp_settle(conn, &v, 1)), 1);
	return v.state;
}

static void
the_backoff_doubles_up_to_its_end(void **state)
{
	static const int64_t expected[] = { 1000, 2000, 4000, 4000 };
	struct db *db = *state;
	rp_queue q = RP_QUEUE_INIT;
	rp_batch *batch;
	int64_t now, wait, id;

	q.name = "q";
	q.max_attempts = 5;
	q.backoff_ms = 1000;
	q.backoff_max_ms = 4000;
	settings(db->conn, q);
	for (int attempt = 0; attempt < 4; attempt++) {
		put(db->conn, "q", "x");
		for (int i = 0; i < attempt; i++)
			fail_one(db->conn, 0, &id);
		assert_int_equal(fail_one(db->conn, -1, &id),
				 RP_STATE_SCHEDULED);
		ok(db->conn, rp_now(db->conn, &now));
		ok(db->conn, rp_job_get(db->conn, id, &batch));
		wait = rp_batch_at(batch, 0)->run_at - now;
		assert_in_range(wait, expected[attempt] * 9 / 10 - 100,
				expected[attempt] * 11 / 10);
		rp_batch_free(batch);
	}
}

static void
the_last_ten_failures_are_remembered(void **state)
{
	struct db *db = *state;
	rp_job_spec job = job_of("x");
	rp_batch *batch;
	int failures = 0;
	int64_t id;

	job.max_attempts = 12;
	ok(db->conn, rp_enqueue(db->conn, "q", &job, NULL));
	for (int i = 1; i <= 12; i++)
		assert_int_equal(fail_one(db->conn, 0, &id),
				 i < 12 ? RP_STATE_READY : RP_STATE_DEAD);
	ok(db->conn, rp_job_get(db->conn, id, &batch));
	for (const char *f = rp_batch_at(batch, 0)->failures;
	     (f = strstr(f, "\"attempt\"")); f++)
		failures++;
	assert_int_equal(failures, 10);
	assert_string_equal(rp_batch_at(batch, 0)->last_error, "oh ? no");
	rp_batch_free(batch);
}

static void
kept_jobs_are_forgotten_when_their_time_is_over(void **state)
{
	struct db *db = *state;
	rp_queue q = RP_QUEUE_INIT;
	struct claim c;
	int64_t kept;
	rp_swept swept = RP_SWEPT_INIT;

	q.name = "q";
	q.keep_done_ms = 3600000;
	settings(db->conn, q);
	kept = put(db->conn, "q", "x");
	take_one(db->conn, "q", 60000, &c);
	ok(db->conn, rp_complete(db->conn, c.id, c.no));
	assert_int_equal(state_of(db->conn, kept), RP_STATE_DONE);
	ok(db->conn, rp_sweep(db->conn, NULL));
	assert_int_equal(state_of(db->conn, kept), RP_STATE_DONE);
	q.keep_done_ms = 1;
	settings(db->conn, q);
	sleep_ms(3);
	ok(db->conn, rp_sweep(db->conn, &swept));
	assert_int_equal(swept.dropped, 1);
	assert_int_equal(state_of(db->conn, kept), 0);
}

static void
a_paused_queue_accepts_jobs_and_no_claim_returns_any(void **state)
{
	struct db *db = *state;
	struct claim c;

	put(db->conn, "q", "a");
	ok(db->conn, rp_queue_pause(db->conn, "q", NULL));
	put(db->conn, "q", "b");
	assert_int_equal(take_one(db->conn, "q", 60000, &c), 0);
	assert_true(stats_of(db->conn, "q").paused);
	ok(db->conn, rp_queue_resume(db->conn, "q"));
	assert_int_equal(take_one(db->conn, "q", 60000, &c), 1);
	assert_int_equal(rp_queue_pause(db->conn, "nowhere", NULL), RP_ENOENT);
}

/* Return the pause reason, which three calls report. Returns NULL if the
 * reasons differ. */
static char *
reason_of(rp_conn *conn, int64_t id)
{
	rp_queues *queues;
	rp_stats *stats;
	rp_why *why;
	const char *a, *b, *c;
	char *ret = NULL;

	ok(conn, rp_queue_list(conn, "q", &queues));
	ok(conn, rp_stats_get(conn, "q", &stats));
	ok(conn, rp_why_get(conn, id, &why));
	a = rp_queues_at(queues, 0)->pause_reason;
	b = rp_stats_at(stats, 0)->pause_reason;
	c = why->pause_reason;
	if (a && b && c && strcmp(a, b) == 0 && strcmp(a, c) == 0)
		ret = strdup(a);
	else if (!a && !b && !c)
		ret = strdup("none");
	rp_queues_free(queues);
	rp_stats_free(stats);
	rp_why_free(why);
	return ret;
}

static void
expect_reason(rp_conn *conn, int64_t id, const char *expected)
{
	char *reason = reason_of(conn, id);

	assert_non_null(reason);
	assert_string_equal(reason, expected);
	free(reason);
}

static void
a_pause_has_a_reason_until_it_ends(void **state)
{
	struct db *db = *state;
	char longest[RP_MOST_REASON + 2] = "";
	int64_t id = put(db->conn, "q", "a");

	expect_reason(db->conn, id, "none");
	ok(db->conn, rp_queue_pause(db->conn, "q", "no mail"));
	expect_reason(db->conn, id, "no mail");
	ok(db->conn, rp_queue_pause(db->conn, "q", NULL));
	expect_reason(db->conn, id, "no mail");
	ok(db->conn, rp_queue_pause(db->conn, "q", "an \"other\" ü"));
	expect_reason(db->conn, id, "an \"other\" ü");
	ok(db->conn, rp_queue_resume(db->conn, "q"));
	expect_reason(db->conn, id, "none");
	memset(longest, 'x', RP_MOST_REASON);
	ok(db->conn, rp_queue_pause(db->conn, "q", longest));
	expect_reason(db->conn, id, longest);
	longest[RP_MOST_REASON] = 'x';
	assert_int_equal(rp_queue_pause(db->conn, "q", longest), RP_EINVAL);
	assert_int_equal(rp_queue_pause(db->conn, "q", ""), RP_EINVAL);
}

static void
a_queue_is_not_dropped_while_jobs_run(void **state)
{
	struct db *db = *state;
	struct claim c;

	put(db->conn, "q", "a");
	put(db->conn, "q", "b");
	put(db->conn, "other", "c");
	take_one(db->conn, "q", 60000, &c);
	assert_int_equal(rp_queue_drop(db->conn, "q"), RP_ETAKEN);
	assert_int_equal(stats_of(db->conn, "q").ready, 1);
	ok(db->conn, rp_complete(db->conn, c.id, c.no));
	ok(db->conn, rp_queue_drop(db->conn, "q"));
	assert_int_equal(rp_queue_drop(db->conn, "q"), RP_ENOENT);
	assert_int_equal(stats_of(db->conn, "other").ready, 1);
}

static void
purge_forgets_one_state_and_never_running_jobs(void **state)
{
	struct db *db = *state;
	rp_job_spec later = job_of("later"), kind = job_of("kind");
	struct claim c;

	later.delay_ms = 3600000;
	kind.kind = "k";
	put(db->conn, "q", "running");
	take_one(db->conn, "q", 60000, &c);
	for (int i = 0; i < 1200; i++)
		put(db->conn, "q", "ready");
	ok(db->conn, rp_enqueue(db->conn, "q", &later, NULL));
	ok(db->conn, rp_enqueue(db->conn, "q", &kind, NULL));
	assert_int_equal(rp_queue_purge(db->conn, "q", RP_STATE_READY, "k"), 1);
	assert_int_equal(rp_queue_purge(db->conn, "q", RP_STATE_READY, NULL),
			 1200);
	assert_int_equal(stats_of(db->conn, "q").scheduled, 1);
	assert_int_equal(rp_queue_purge(db->conn, "q", RP_STATE_RUNNING, NULL),
			 RP_EINVAL);
	assert_int_equal(
		rp_queue_purge(db->conn, "q", RP_STATE_BLOCKED + 1, NULL),
		RP_EINVAL);
	assert_int_equal(rp_queue_purge(db->conn, "q", 0, NULL), 1);
	assert_int_equal(stats_of(db->conn, "q").running, 1);
	assert_int_equal(rp_queue_purge(db->conn, "nowhere", 0, NULL),
			 RP_ENOENT);
}

static void
retry_dead_takes_all_of_them(void **state)
{
	struct db *db = *state;
	rp_batch *batch;

	for (int i = 0; i < 700; i++)
		put(db->conn, "q", "x");
	batch = take(db->conn, "q", 700, 60000);
	for (size_t i = 0; i < rp_batch_count(batch); i++) {
		rp_verdict v = RP_VERDICT_INIT;

		v.id = rp_batch_at(batch, i)->id;
		v.claim_no = rp_batch_at(batch, i)->claim_no;
		v.verdict = RP_DEAD;
		ok(db->conn, rp_settle(db->conn, &v, 1));
	}
	rp_batch_free(batch);
	assert_int_equal(stats_of(db->conn, "q").dead, 700);
	assert_int_equal(rp_queue_retry_dead(db->conn, "q", NULL, NULL), 700);
	assert_int_equal(stats_of(db->conn, "q").ready, 700);
}

static void
lists_are_in_claim_order_running_first(void **state)
{
	struct db *db = *state;
	rp_job_spec first = job_of("2"), later = job_of("5");
	struct claim c;
	rp_batch *batch;
	char got[16] = "";

	first.priority = 1;
	later.delay_ms = 3600000;
	put(db->conn, "q", "1");
	take_one(db->conn, "q", 60000, &c);
	ok(db->conn, rp_enqueue(db->conn, "q", &later, NULL));
	put(db->conn, "q", "3");
	put(db->conn, "q", "4");
	ok(db->conn, rp_enqueue(db->conn, "q", &first, NULL));
	ok(db->conn, rp_job_list(db->conn, "q", 0, 50, &batch));
	for (size_t i = 0; i < rp_batch_count(batch); i++)
		strncat(got, rp_batch_at(batch, i)->payload, 1);
	assert_string_equal(got, "12345");
	rp_batch_free(batch);
	assert_int_equal(rp_job_list(db->conn, "nowhere", 0, 1, &batch),
			 RP_ENOENT);
}

static void
stats_count_the_jobs_of_each_state(void **state)
{
	struct db *db = *state;
	rp_queue_stats s;
	struct claim c;

	for (int i = 0; i < 5; i++)
		put(db->conn, "q", "x");
	put_unique(db->conn, "y", "k", 0);
	take_one(db->conn, "q", 60000, &c);
	ok(db->conn, rp_complete(db->conn, c.id, c.no));
	take_one(db->conn, "q", 60000, &c);
	s = stats_of(db->conn, "q");
	assert_int_equal(s.ready, 4);
	assert_int_equal(s.running, 1);
	assert_int_equal(s.done_10s, 1);
	assert_in_range(s.oldest_ready_ms, 0, 5000);
	assert_in_range(s.longest_running_ms, 0, 5000);
	assert_int_equal(rp_stats_get(db->conn, "nowhere", &(rp_stats *){ 0 }),
			 RP_ENOENT);
}

static void
settle_and_claim_reports_good_and_bad_verdicts(void **state)
{
	struct db *db = *state;
	rp_verdict v[3] = { RP_VERDICT_INIT, RP_VERDICT_INIT, RP_VERDICT_INIT };
	rp_batch *batch;
	struct claim a, b;

	for (int i = 0; i < 4; i++)
		put(db->conn, "q", "x");
	take_one(db->conn, "q", 60000, &a);
	take_one(db->conn, "q", 60000, &b);
	v[0].id = a.id;
	v[0].claim_no = a.no;
	v[1].id = b.id;
	v[1].claim_no = b.no - 1;
	v[2].id = b.id;
	v[2].claim_no = b.no;
	v[2].verdict = RP_FAIL;
	v[2].delay_ms = 3600000;
	assert_int_equal(ok(db->conn, rp_settle_and_claim(db->conn, v, 3, "q",
							  10, NULL, &batch)),
			 2);
	assert_int_equal(v[0].result, 0);
	assert_int_equal(v[0].state, RP_STATE_DONE);
	assert_int_equal(v[1].result, RP_EGONE);
	assert_int_equal(v[2].result, 0);
	assert_int_equal(v[2].state, RP_STATE_SCHEDULED);
	rp_batch_free(batch);
}

static void
payloads_are_any_bytes(void **state)
{
	struct db *db = *state;
	char bytes[300];
	rp_job_spec job = RP_JOB_SPEC_INIT;
	rp_batch *batch;

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (char)i;
	job.payload = bytes;
	job.payload_size = sizeof(bytes);
	ok(db->conn, rp_enqueue(db->conn, "q", &job, NULL));
	job.payload_size = 0;
	ok(db->conn, rp_enqueue(db->conn, "q", &job, NULL));
	batch = take(db->conn, "q", 2, 60000);
	assert_int_equal(rp_batch_at(batch, 0)->payload_size, sizeof(bytes));
	assert_memory_equal(rp_batch_at(batch, 0)->payload, bytes,
			    sizeof(bytes));
	assert_int_equal(rp_batch_at(batch, 1)->payload_size, 0);
	assert_non_null(rp_batch_at(batch, 1)->payload);
	rp_batch_free(batch);
}

static void
only_the_handle_that_made_the_database_says_it_is_new(void **state)
{
	struct db *db = *state;
	rp_conn *second = connect_to(db);

	assert_int_equal(rp_conn_is_new(db->conn), 1);
	assert_int_equal(rp_conn_is_new(second), 0);
	assert_int_equal(rp_conn_is_new(NULL), 0);
	rp_close(second);
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		CASE(only_the_handle_that_made_the_database_says_it_is_new),
		CASE(a_live_job_with_the_key_is_answered),
		CASE(a_job_that_does_not_run_is_replaced_in_its_place),
		CASE(a_late_holder_cannot_complete_the_job_that_replaced_its_own),
		CASE(retry_is_refused_while_a_live_job_has_the_key),
		CASE(cancel_works_on_scheduled_ready_and_running_jobs),
		CASE(the_backoff_doubles_up_to_its_end),
		CASE(the_last_ten_failures_are_remembered),
		CASE(kept_jobs_are_forgotten_when_their_time_is_over),
		CASE(a_paused_queue_accepts_jobs_and_no_claim_returns_any),
		CASE(a_pause_has_a_reason_until_it_ends),
		CASE(a_queue_is_not_dropped_while_jobs_run),
		CASE(purge_forgets_one_state_and_never_running_jobs),
		CASE(retry_dead_takes_all_of_them),
		CASE(lists_are_in_claim_order_running_first),
		CASE(stats_count_the_jobs_of_each_state),
		CASE(settle_and_claim_reports_good_and_bad_verdicts),
		CASE(payloads_are_any_bytes),
	};

	databases_at(argc, argv);
	return cmocka_run_group_tests_name("queue", tests, NULL, NULL);
}
