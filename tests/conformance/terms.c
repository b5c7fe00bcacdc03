/*
 * terms.c - test the settings of a single job: how long it is kept, how long a
 * handler may run, when it expires, its delays after failures, and how long its
 * key stays taken.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "check.h"

#include <time.h>

#define HOUR_MS INT64_C(3600000)

static rp_job_spec
with_terms(const char *payload, const char *key)
{
	rp_job_spec job = job_of(payload);

	job.unique_key = key;
	job.keep_ms = 5;
	job.timeout_ms = 6000;
	job.expire_ms = HOUR_MS;
	job.backoff = "[7,80000]";
	job.group_key = "acme";
	job.unique_for_ms = key ? 9 : 0;
	return job;
}

static rp_added
add(rp_conn *conn, rp_job_spec job)
{
	rp_added added;

	ok(conn, rp_enqueue(conn, "q", &job, &added));
	return added;
}

static void
expect_terms(const rp_job *job, int64_t unique_for_ms)
{
	assert_int_equal(job->keep_ms, 5);
	assert_int_equal(job->timeout_ms, 6000);
	/* On PostgreSQL an enqueue reads the clock twice: first for expire_at,
	 * then for created_at. */
	assert_in_range(job->created_at + HOUR_MS - job->expire_at, 0, 1000);
	assert_string_equal(job->backoff, "[7,80000]");
	assert_string_equal(job->group_key, "acme");
	assert_int_equal(job->unique_for_ms, unique_for_ms);
}

static void
expect_stored(rp_conn *conn, int64_t id, int64_t unique_for_ms)
{
	rp_batch *batch = get(conn, id);

	expect_terms(rp_batch_at(batch, 0), unique_for_ms);
	rp_batch_free(batch);
}

static void
expect_none(rp_conn *conn, int64_t id)
{
	rp_batch *batch = get(conn, id);
	const rp_job *job = rp_batch_at(batch, 0);

	assert_int_equal(job->keep_ms, 0);
	assert_int_equal(job->timeout_ms, 0);
	assert_int_equal(job->expire_at, 0);
	assert_null(job->backoff);
	assert_int_equal(job->unique_for_ms, 0);
	rp_batch_free(batch);
}

static void
each_call_that_shows_a_job_returns_its_terms(void **state)
{
	struct db *db = *state;
	struct claim c = { 0, 0, 0 };
	rp_batch *batch;

	add(db->conn, with_terms("a", "k"));
	expect_stored(db->conn, 1, 9);
	batch = take(db->conn, "q", 1, 60000);
	expect_terms(rp_batch_at(batch, 0), 9);
	c.id = 1;
	c.no = rp_batch_at(batch, 0)->claim_no;
	rp_batch_free(batch);
	settle_one(db->conn, c, RP_FAIL, 0);
	expect_stored(db->conn, 1, 9);
	c = claim_one(db->conn, 60000);
	settle_one(db->conn, c, RP_DEAD, 0);
	expect_stored(db->conn, 1, 9);
	ok(db->conn, rp_job_retry(db->conn, 1, NULL));
	expect_stored(db->conn, 1, 9);
	ok(db->conn, rp_job_cancel(db->conn, 1, NULL));
	expect_stored(db->conn, 1, 9);
}

static void
each_of_many_jobs_has_its_own_terms(void **state)
{
	struct db *db = *state;
	rp_job_spec jobs[6] = { job_of("a"),           with_terms("b", NULL),
				with_terms("c", NULL), job_of("d"),
				with_terms("e", NULL), job_of("f") };
	rp_added added[6];

	jobs[4].backoff = "[ 1 , 2 ]";
	ok(db->conn, rp_enqueue_many(db->conn, "q", jobs, 6, added));
	expect_none(db->conn, added[0].id);
	expect_stored(db->conn, added[1].id, 0);
	expect_stored(db->conn, added[2].id, 0);
	expect_none(db->conn, added[3].id);
	expect_none(db->conn, added[5].id);
}

/* On SQLite, large payloads are in a table of their own, and jobs with large
 * payloads are enqueued by a statement of their own. */
static void
jobs_with_large_payloads_have_terms(void **state)
{
	struct db *db = *state;
	char *bytes = bytes_of(IN_ROW + 1, 1);
	rp_job_spec jobs[3] = { with_terms(bytes, NULL), with_terms("b", NULL),
				with_terms(bytes, NULL) };
	rp_added added[3];

	ok(db->conn, rp_enqueue_many(db->conn, "q", jobs, 3, added));
	for (int i = 0; i < 3; i++)
		expect_stored(db->conn, added[i].id, 0);
	free(bytes);
}

static void
a_replaced_job_has_the_new_terms(void **state)
{
	struct db *db = *state;
	rp_job_spec job = with_terms("a", "k");

	add(db->conn, job);
	job = job_of("b");
	job.unique_key = "k";
	job.replace = 1;
	assert_int_equal(add(db->conn, job).outcome, RP_REPLACED);
	expect_none(db->conn, 1);
	job = with_terms("c", "k");
	job.replace = 1;
	assert_int_equal(add(db->conn, job).outcome, RP_REPLACED);
	sleep_ms(2);
	assert_int_equal(state_of(db->conn, 1), RP_STATE_READY);
}

static void
wrong_terms_are_refused(void **state)
{
	static const char *const lists[] = {
		"",
		"[]",
		"7",
		"[7",
		"[7]x",
		"[7,]",
		"[,7]",
		"[7 8]",
		"[-1]",
		"[\"7\"]",
		"[07]",
		"[7.5]",
		"null",
		"{}",
		"[[7]]",
		"[7]]",
		"[null]",
		"[1e3]",
		"[9999999999999]",
		"[999999999999999999999999999]",
	};
	struct db *db = *state;
	rp_job_spec good = with_terms("a", "k"), job;
	char too_long[RP_MOST_KEY + 2] = { 0 };

	memset(too_long, 'g', sizeof(too_long) - 1);
#define BAD(field, value)                                                      \
	job = good;                                                            \
	job.field = (value);                                                   \
	assert_int_equal(rp_enqueue(db->conn, "q", &job, NULL), RP_EINVAL)
	BAD(keep_ms, -1);
	BAD(timeout_ms, -1);
	BAD(expire_ms, -1);
	BAD(unique_for_ms, -1);
	BAD(keep_ms, RP_MOST_MS + 1);
	BAD(timeout_ms, RP_MOST_MS + 1);
	BAD(expire_ms, RP_MOST_MS + 1);
	BAD(unique_for_ms, RP_MOST_MS + 1);
	BAD(unique_key, NULL);
	BAD(group_key, "");
	BAD(group_key, "a\tb");
	BAD(group_key, too_long);
	BAD(delay_ms, HOUR_MS);
	assert_non_null(strstr(rp_last_error(db->conn)->message,
			       "would expire before it is due"));
	BAD(run_at, time(NULL) * 1000 + 2 * HOUR_MS);
	assert_non_null(strstr(rp_last_error(db->conn)->message,
			       "would expire before it is due"));
	for (size_t i = 0; i < sizeof(lists) / sizeof(*lists); i++) {
		BAD(backoff, lists[i]);
		assert_non_null(strstr(rp_last_error(db->conn)->message,
				       "JSON array of 1..100 delays"));
	}
#undef BAD
	assert_int_equal(rp_queue_list(db->conn, "q", &(rp_queues *){ NULL }),
			 RP_ENOENT);
}

static void
a_list_has_at_most_100_delays(void **state)
{
	struct db *db = *state;
	rp_job_spec job = job_of("a");
	char list[2 * (RP_MOST_BACKOFF + 1) + 2] = "[1";

	for (int i = 1; i < RP_MOST_BACKOFF; i++)
		strcat(list, ",1");
	strcat(list, "]");
	job.backoff = list;
	add(db->conn, job);
	strcpy(list + strlen(list) - 1, ",1]");
	assert_int_equal(rp_enqueue(db->conn, "q", &job, NULL), RP_EINVAL);
}

static int64_t
timeout_of_next(rp_conn *conn)
{
	rp_batch *batch = take(conn, "q", 1, 60000);
	int64_t ms = rp_batch_at(batch, 0)->timeout_ms;
	int64_t id = rp_batch_at(batch, 0)->id;

	rp_batch_free(batch);
	batch = get(conn, id);
	assert_int_equal(rp_batch_at(batch, 0)->timeout_ms, ms);
	rp_batch_free(batch);
	return ms;
}

static void
a_claim_returns_the_timeout_of_the_job_or_its_queue(void **state)
{
	struct db *db = *state;
	rp_queue q = RP_QUEUE_INIT;
	rp_job_spec job = job_of("own");

	q.name = "q";
	put(db->conn, "q", "none");
	assert_int_equal(timeout_of_next(db->conn), 0);
	q.timeout_ms = 7000;
	settings(db->conn, q);
	put(db->conn, "q", "the queue's");
	assert_int_equal(timeout_of_next(db->conn), 7000);
	job.timeout_ms = 1;
	add(db->conn, job);
	assert_int_equal(timeout_of_next(db->conn), 1);
	q.timeout_ms = 0;
	settings(db->conn, q);
	put(db->conn, "q", "none again");
	assert_int_equal(timeout_of_next(db->conn), 0);
}

/* Return the time of this host's clock. The database uses the same clock. */
static int64_t
wall_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return now.tv_sec * INT64_C(1000) + now.tv_nsec / 1000000;
}

/* Fail the job. Returns the delay until its next attempt. */
static int64_t
delay_after_failure(rp_conn *conn, int64_t id)
{
	struct claim c = claim_one(conn, 60000);
	int64_t before = wall_ms(), delay;
	rp_batch *batch;

	settle_one(conn, c, RP_FAIL, -1);
	batch = get(conn, id);
	delay = rp_batch_at(batch, 0)->run_at - before;
	rp_batch_free(batch);
	return delay;
}

static void
the_delays_after_failures_are_those_of_the_list(void **state)
{
	struct db *db = *state;
	rp_job_spec job = job_of("a");
	int64_t id, delay;

	job.backoff = "[0, 1, 3600000, 7200000]";
	job.max_attempts = 9;
	id = add(db->conn, job).id;
	delay_after_failure(db->conn, id);
	/* The first delay is 0, so no sweep is needed. */
	delay_after_failure(db->conn, id);
	sleep_ms(2);
	ok(db->conn, rp_sweep(db->conn, NULL));
	delay = delay_after_failure(db->conn, id);
	assert_in_range(delay, HOUR_MS, HOUR_MS + 60000);
}

/* The delays are those of job.backoff. A release does not count as an attempt,
 * so the first failure after a release gets the first of these delays. */
static void
the_last_delay_repeats(void **state)
{
	struct db *db = *state;
	rp_job_spec job = job_of("a");
	int64_t id, delay;

	job.backoff = "[2,3]";
	job.max_attempts = 9;
	id = add(db->conn, job).id;
	settle_one(db->conn, claim_one(db->conn, 60000), RP_RELEASE, 0);
	for (int i = 0; i < 4; i++) {
		delay = delay_after_failure(db->conn, id);
		assert_in_range(delay, i == 0 ? 2 : 3, 60000);
		sleep_ms(4);
		ok(db->conn, rp_sweep(db->conn, NULL));
	}
}

static void
a_verdict_with_a_delay_overrides_the_list(void **state)
{
	struct db *db = *state;
	rp_job_spec job = job_of("a");
	rp_batch *batch;
	int64_t id;

	job.backoff = "[1]";
	id = add(db->conn, job).id;
	settle_one(db->conn, claim_one(db->conn, 60000), RP_FAIL, HOUR_MS);
	batch = get(db->conn, id);
	assert_true(rp_batch_at(batch, 0)->run_at > wall_ms() + HOUR_MS / 2);
	rp_batch_free(batch);
}

static rp_job_spec
expiring(const char *payload, int64_t ms)
{
	rp_job_spec job = job_of(payload);

	job.expire_ms = ms;
	return job;
}

static void
expect_cancelled(rp_conn *conn, int64_t id)
{
	rp_batch *batch = get(conn, id);
	const rp_job *job = rp_batch_at(batch, 0);

	assert_int_equal(job->state, RP_STATE_CANCELLED);
	assert_string_equal(job->last_error, "expired");
	assert_true(job->finished_at >= job->expire_at);
	rp_batch_free(batch);
}

static void
a_job_that_expired_is_not_claimed_but_cancelled(void **state)
{
	struct db *db = *state;
	rp_job_spec job = expiring("late", 1);
	rp_swept swept = RP_SWEPT_INIT;
	struct claim c;

	job.unique_key = "k";
	add(db->conn, expiring("in time", HOUR_MS));
	add(db->conn, job);
	sleep_ms(3);
	assert_int_equal(claim_one(db->conn, 60000).id, 1);
	assert_int_equal(take_one(db->conn, "q", 60000, &c), 0);
	ok(db->conn, rp_sweep(db->conn, &swept));
	assert_int_equal(swept.expired, 1);
	assert_int_equal(swept.due + swept.recovered + swept.dead, 0);
	expect_cancelled(db->conn, 2);
	assert_int_equal(state_of(db->conn, 1), RP_STATE_RUNNING);
	job.expire_ms = 0;
	assert_int_equal(add(db->conn, job).outcome, RP_ADDED);
	ok(db->conn, rp_sweep(db->conn, &swept));
	assert_int_equal(swept.expired, 0);
}

static void
the_key_of_a_job_that_expired_is_free_before_the_sweep(void **state)
{
	struct db *db = *state;
	rp_job_spec job = RP_JOB_SPEC_INIT;
	rp_added first, second;

	job.unique_key = "k";
	job.expire_ms = 1;
	ok(db->conn, rp_enqueue(db->conn, "q", &job, &first));
	sleep_ms(5);
	job.expire_ms = 0;
	ok(db->conn, rp_enqueue(db->conn, "q", &job, &second));
	assert_int_equal(second.outcome, RP_ADDED);
	ok(db->conn, rp_sweep(db->conn, NULL));
	assert_int_equal(state_of(db->conn, first.id), RP_STATE_CANCELLED);
	assert_int_equal(state_of(db->conn, second.id), RP_STATE_READY);
	ok(db->conn, rp_enqueue(db->conn, "q", &job, &first));
	assert_int_equal(first.outcome, RP_EXISTED);
	assert_int_equal(first.id, second.id);
}

static void
a_scheduled_job_expires_too(void **state)
{
	struct db *db = *state;
	rp_job_spec job = expiring("never", 500);
	rp_change later = RP_CHANGE_INIT;
	rp_swept swept = RP_SWEPT_INIT;

	job.delay_ms = 499;
	add(db->conn, job);
	ok(db->conn, rp_job_change(db->conn, add(db->conn, job).id,
				   (later.delay_ms = 100, &later)));
	sleep_ms(510);
	ok(db->conn, rp_sweep(db->conn, &swept));
	assert_int_equal(swept.expired, 2);
	assert_int_equal(swept.due, 0);
	expect_cancelled(db->conn, 1);
	expect_cancelled(db->conn, 2);
}

static void
a_change_to_a_time_after_the_expiry_is_refused(void **state)
{
	struct db *db = *state;
	int64_t id = add(db->conn, expiring("a", HOUR_MS)).id;
	int64_t other = add(db->conn, expiring("b", 0)).id;
	rp_change later = RP_CHANGE_INIT, at = RP_CHANGE_INIT;
	int64_t now;

	ok(db->conn, rp_now(db->conn, &now));
	later.delay_ms = HOUR_MS;
	later.priority = 7;
	at.run_at = now + 2 * HOUR_MS;
	assert_int_equal(rp_job_change(db->conn, id, &later), RP_EINVAL);
	assert_non_null(strstr(rp_last_error(db->conn)->message,
			       "would expire before it is due"));
	assert_int_equal(rp_job_change(db->conn, id, &at), RP_EINVAL);
	assert_int_equal(state_of(db->conn, id), RP_STATE_READY);
	later.delay_ms = HOUR_MS / 2;
	ok(db->conn, rp_job_change(db->conn, id, &later));
	assert_int_equal(state_of(db->conn, id), RP_STATE_SCHEDULED);
	ok(db->conn, rp_job_change(db->conn, other, &at));
}

static void
a_job_that_runs_does_not_expire_before_it_fails(void **state)
{
	struct db *db = *state;
	struct claim c;
	rp_batch *batch;

	add(db->conn, expiring("a", 200));
	add(db->conn, expiring("b", 200));
	c = claim_one(db->conn, 60000);
	settle_one(db->conn, claim_one(db->conn, 60000), RP_FAIL, 0);
	batch = get(db->conn, 1);
	wait_until(db->conn, rp_batch_at(batch, 0)->expire_at + 10);
	rp_batch_free(batch);
	ok(db->conn, rp_sweep(db->conn, NULL));
	assert_int_equal(state_of(db->conn, 1), RP_STATE_RUNNING);
	expect_cancelled(db->conn, 2);
	settle_one(db->conn, c, RP_FAIL, HOUR_MS);
	ok(db->conn, rp_sweep(db->conn, NULL));
	expect_cancelled(db->conn, 1);
}

/* The job expires while a worker holds it. Then the worker's lease runs out. */
static void
a_lost_job_that_expired_is_cancelled(void **state)
{
	struct db *db = *state;
	struct claim c;

	add(db->conn, expiring("a", 500));
	assert_int_equal(take_one(db->conn, "q", 501, &c), 1);
	sleep_ms(505);
	for (int i = 0; i < 3000 && state_of(db->conn, 1) != RP_STATE_CANCELLED;
	     i++) {
		ok(db->conn, rp_sweep(db->conn, NULL));
		assert_int_equal(take_one(db->conn, "q", 60000, &c), 0);
	}
	expect_cancelled(db->conn, 1);
}

static void
an_expired_job_that_is_retried_runs(void **state)
{
	struct db *db = *state;

	add(db->conn, expiring("a", 1));
	sleep_ms(3);
	ok(db->conn, rp_sweep(db->conn, NULL));
	expect_cancelled(db->conn, 1);
	ok(db->conn, rp_job_retry(db->conn, 1, NULL));
	ok(db->conn, rp_sweep(db->conn, NULL));
	assert_int_equal(claim_one(db->conn, 60000).id, 1);
}

/* If expired jobs counted as ready, a worker would try to claim them again and
 * again. */
static void
a_queue_with_expired_jobs_only_has_nothing_ready(void **state)
{
	struct db *db = *state;
	const char *const queues[] = { "q", NULL };

	add(db->conn, expiring("a", 1));
	sleep_ms(3);
	assert_int_equal(ok(db->conn, rp_wait(db->conn, queues, 20, -1)), 0);
	put(db->conn, "q", "b");
	assert_int_equal(ok(db->conn, rp_wait(db->conn, queues, 20, -1)), 1);
}

static rp_job_spec
unique_for(const char *payload, int64_t ms)
{
	rp_job_spec job = job_of(payload);

	job.unique_key = "k";
	job.unique_for_ms = ms;
	return job;
}

static void
a_key_stays_taken_after_its_job_is_done(void **state)
{
	struct db *db = *state;
	rp_job_spec plain = unique_for("plain", 0), replacing = plain;
	rp_added added;

	replacing.replace = 1;
	add(db->conn, unique_for("first", HOUR_MS));
	settle_one(db->conn, claim_one(db->conn, 60000), RP_DONE, 0);
	assert_int_equal(state_of(db->conn, 1), 0);
	added = add(db->conn, plain);
	assert_int_equal(added.outcome, RP_EXISTED);
	assert_int_equal(added.id, 1);
	added = add(db->conn, replacing);
	assert_int_equal(added.outcome, RP_EXISTED);
	assert_int_equal(added.id, 1);
	added = add(db->conn, unique_for("again", 5));
	assert_int_equal(added.outcome, RP_EXISTED);
	assert_int_equal(stats_of(db->conn, "q").ready, 0);
	/* Other keys are free, and so is this key in other queues. */
	plain.unique_key = "K";
	assert_int_equal(add(db->conn, plain).outcome, RP_ADDED);
	plain.unique_key = "k";
	ok(db->conn, rp_enqueue(db->conn, "r", &plain, &added));
	assert_int_equal(added.outcome, RP_ADDED);
	ok(db->conn, rp_sweep(db->conn, NULL));
	assert_int_equal(add(db->conn, plain).outcome, RP_EXISTED);
}

static void
the_key_is_free_when_its_time_is_over(void **state)
{
	struct db *db = *state;
	rp_added added;

	for (int i = 0; i < 3; i++) {
		added = add(db->conn, unique_for("a", 20));
		assert_int_equal(added.outcome, RP_ADDED);
		settle_one(db->conn, claim_one(db->conn, 60000), RP_DONE, 0);
		sleep_ms(22);
		/* in one round, let a sweep delete the row that keeps the
		 * key */
		if (i == 1)
			ok(db->conn, rp_sweep(db->conn, NULL));
	}
	assert_int_equal(add(db->conn, unique_for("a", 0)).outcome, RP_ADDED);
}

static void
only_a_job_that_is_done_keeps_its_key(void **state)
{
	struct db *db = *state;

	add(db->conn, unique_for("dead", HOUR_MS));
	settle_one(db->conn, claim_one(db->conn, 60000), RP_DEAD, 0);
	add(db->conn, unique_for("cancelled", HOUR_MS));
	ok(db->conn, rp_job_cancel(db->conn, 2, NULL));
	assert_int_equal(add(db->conn, unique_for("c", 0)).outcome, RP_ADDED);
	settle_one(db->conn, claim_one(db->conn, 60000), RP_DONE, 0);
	assert_int_equal(add(db->conn, unique_for("d", 0)).outcome, RP_ADDED);
}

/* Complete several jobs in one call. Their queue keeps done jobs. */
static void
kept_jobs_keep_their_keys(void **state)
{
	static const char *const keys[] = { "c", "a", "b" };
	struct db *db = *state;
	rp_job_spec again = unique_for("a", 0);
	rp_verdict v[4];
	rp_batch *batch;

	keep_for(db->conn, HOUR_MS, HOUR_MS);
	for (int i = 0; i < 3; i++) {
		rp_job_spec job = unique_for("a", HOUR_MS);

		job.unique_key = keys[i];
		add(db->conn, job);
	}
	put(db->conn, "q", "plain");
	batch = take(db->conn, "q", 4, 60000);
	assert_int_equal(rp_batch_count(batch), 4);
	for (size_t i = 0; i < 4; i++) {
		v[i] = (rp_verdict)RP_VERDICT_INIT;
		v[i].id = rp_batch_at(batch, i)->id;
		v[i].claim_no = rp_batch_at(batch, i)->claim_no;
	}
	rp_batch_free(batch);
	assert_int_equal(ok(db->conn, rp_settle(db->conn, v, 4)), 4);
	for (int i = 0; i < 3; i++) {
		rp_job_spec job = unique_for("a", 0);

		job.unique_key = keys[i];
		assert_int_equal(add(db->conn, job).id, i + 1);
	}
	assert_int_equal(state_of(db->conn, 1), RP_STATE_DONE);
	ok(db->conn, rp_queue_purge(db->conn, "q", RP_STATE_DONE, NULL));
	again.unique_key = "a";
	assert_int_equal(add(db->conn, again).id, 2);
}

static void
a_transaction_that_is_rolled_back_takes_no_key(void **state)
{
	struct db *db = *state;
	struct claim c;

	add(db->conn, unique_for("a", HOUR_MS));
	c = claim_one(db->conn, 60000);
	ok(db->conn, rp_begin(db->conn));
	settle_one(db->conn, c, RP_DONE, 0);
	ok(db->conn, rp_rollback(db->conn));
	assert_int_equal(state_of(db->conn, 1), RP_STATE_RUNNING);
	ok(db->conn, rp_job_cancel(db->conn, 1, NULL));
	assert_int_equal(add(db->conn, unique_for("b", 0)).outcome, RP_ADDED);
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		CASE(each_call_that_shows_a_job_returns_its_terms),
		CASE(each_of_many_jobs_has_its_own_terms),
		CASE(jobs_with_large_payloads_have_terms),
		CASE(a_replaced_job_has_the_new_terms),
		CASE(wrong_terms_are_refused),
		CASE(a_list_has_at_most_100_delays),
		CASE(a_claim_returns_the_timeout_of_the_job_or_its_queue),
		CASE(the_delays_after_failures_are_those_of_the_list),
		CASE(the_last_delay_repeats),
		CASE(a_verdict_with_a_delay_overrides_the_list),
		CASE(a_job_that_expired_is_not_claimed_but_cancelled),
		CASE(the_key_of_a_job_that_expired_is_free_before_the_sweep),
		CASE(a_scheduled_job_expires_too),
		CASE(a_change_to_a_time_after_the_expiry_is_refused),
		CASE(a_job_that_runs_does_not_expire_before_it_fails),
		CASE(a_lost_job_that_expired_is_cancelled),
		CASE(an_expired_job_that_is_retried_runs),
		CASE(a_queue_with_expired_jobs_only_has_nothing_ready),
		CASE(a_key_stays_taken_after_its_job_is_done),
		CASE(the_key_is_free_when_its_time_is_over),
		CASE(only_a_job_that_is_done_keeps_its_key),
		CASE(kept_jobs_keep_their_keys),
		CASE(a_transaction_that_is_rolled_back_takes_no_key),
	};

	databases_at(argc, argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
