/*
 * progress.c - test the progress that a handler reports, and that the next
 * attempt receives.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "check.h"

static struct claim
claimed(rp_conn *conn)
{
	struct claim c = { 0, 0, 0 };

	assert_int_equal(take_one(conn, "q", 60000, &c), 1);
	return c;
}

static struct claim
put_and_claimed(rp_conn *conn)
{
	put(conn, "q", "x");
	return claimed(conn);
}

static void
expect_progress(rp_conn *conn, int64_t id, const char *text)
{
	rp_batch *batch = get(conn, id);
	const rp_job *job = rp_batch_at(batch, 0);

	if (text)
		assert_string_equal(job->progress ? job->progress : "(none)",
				    text);
	else
		assert_null(job->progress);
	rp_batch_free(batch);
}

static rp_verdict
with_progress(struct claim c, int verdict, const char *text)
{
	rp_verdict v = verdict_on(c, verdict);

	v.progress = text;
	return v;
}

static void
settled(rp_conn *conn, rp_verdict v, int state)
{
	assert_int_equal(ok(conn, rp_settle(conn, &v, 1)), 1);
	assert_int_equal(v.state, state);
}

/* Fail the job without a delay, so that it is ready, and claim it again. */
static struct claim
again(rp_conn *conn, struct claim c)
{
	settle_one(conn, c, RP_FAIL, 0);
	return claimed(conn);
}

static void
progress_is_seen_and_handed_to_the_next_attempt(void **state)
{
	struct db *db = *state;
	struct claim c = put_and_claimed(db->conn);
	rp_batch *batch;

	expect_progress(db->conn, c.id, NULL);
	settled(db->conn, with_progress(c, RP_EXTEND, "{\"page\": 3}\n"),
		RP_STATE_RUNNING);
	expect_progress(db->conn, c.id, "{\"page\": 3}\n");
	settled(db->conn, verdict_on(c, RP_EXTEND), RP_STATE_RUNNING);
	settle_one(db->conn, c, RP_FAIL, 0);
	batch = take(db->conn, "q", 1, 60000);
	assert_string_equal(rp_batch_at(batch, 0)->progress, "{\"page\": 3}\n");
	c.no = rp_batch_at(batch, 0)->claim_no;
	rp_batch_free(batch);
	settled(db->conn, with_progress(c, RP_EXTEND, ""), RP_STATE_RUNNING);
	expect_progress(db->conn, c.id, NULL);
}

static void
every_verdict_except_done_stores_progress(void **state)
{
	struct db *db = *state;
	struct claim c = put_and_claimed(db->conn);
	rp_verdict v = with_progress(c, RP_FAIL, "failed");

	v.delay_ms = 0;
	settled(db->conn, v, RP_STATE_READY);
	expect_progress(db->conn, c.id, "failed");
	c = claimed(db->conn);
	settled(db->conn, with_progress(c, RP_RELEASE, "released"),
		RP_STATE_READY);
	expect_progress(db->conn, c.id, "released");
	c = again(db->conn, claimed(db->conn));
	expect_progress(db->conn, c.id, "released");
	settled(db->conn, with_progress(c, RP_DEAD, "died"), RP_STATE_DEAD);
	expect_progress(db->conn, c.id, "died");
}

static void
a_dead_job_keeps_its_progress_through_a_retry(void **state)
{
	struct db *db = *state;
	struct claim c = put_and_claimed(db->conn);

	settled(db->conn, with_progress(c, RP_EXTEND, "half"),
		RP_STATE_RUNNING);
	settled(db->conn, verdict_on(c, RP_DEAD), RP_STATE_DEAD);
	expect_progress(db->conn, c.id, "half");
	ok(db->conn, rp_job_retry(db->conn, c.id, NULL));
	expect_progress(db->conn, c.id, "half");
	ok(db->conn, rp_job_cancel(db->conn, c.id, NULL));
	expect_progress(db->conn, c.id, "half");
}

static void
a_lease_that_runs_out_keeps_the_progress(void **state)
{
	struct db *db = *state;
	rp_queue q = RP_QUEUE_INIT;
	struct claim c;
	rp_verdict v;

	q.name = "q";
	q.max_attempts = 2;
	settings(db->conn, q);
	c = put_and_claimed(db->conn);
	for (int i = 1; i <= 2; i++) {
		v = with_progress(c, RP_EXTEND, i == 1 ? "one" : "two");
		v.delay_ms = 1;
		settled(db->conn, v, RP_STATE_RUNNING);
		sleep_ms(20);
		ok(db->conn, rp_sweep(db->conn, NULL));
		expect_progress(db->conn, c.id, i == 1 ? "one" : "two");
		if (i == 1)
			c = claimed(db->conn);
	}
	assert_int_equal(state_of(db->conn, c.id), RP_STATE_DEAD);
}

static void
a_late_workers_progress_changes_nothing(void **state)
{
	struct db *db = *state;
	struct claim late = put_and_claimed(db->conn), c;
	rp_verdict v;

	settled(db->conn, with_progress(late, RP_EXTEND, "first"),
		RP_STATE_RUNNING);
	c = again(db->conn, late);
	for (int verdict = RP_FAIL; verdict <= RP_EXTEND; verdict++) {
		v = with_progress(late, verdict, "late");
		assert_int_equal(ok(db->conn, rp_settle(db->conn, &v, 1)), 0);
		assert_int_equal(v.result, RP_EGONE);
	}
	expect_progress(db->conn, c.id, "first");
	assert_int_equal(state_of(db->conn, c.id), RP_STATE_RUNNING);
}

static void
progress_that_cannot_be_stored_is_refused(void **state)
{
	struct db *db = *state;
	struct claim c = put_and_claimed(db->conn);
	char *large = bytes_of(RP_MOST_PROGRESS + 1, 1);
	rp_verdict v;

	memset(large, 'x', RP_MOST_PROGRESS + 1);
	large[RP_MOST_PROGRESS + 1] = '\0';
	v = with_progress(c, RP_EXTEND, large);
	assert_int_equal(rp_settle(db->conn, &v, 1), RP_EFBIG);
	assert_string_equal(rp_last_error(db->conn)->message,
			    "the progress has 4097 bytes, more than 4096");
	v.progress = "\xff";
	assert_int_equal(rp_settle(db->conn, &v, 1), RP_EINVAL);
	expect_progress(db->conn, c.id, NULL);
	v.progress = large + 1;
	settled(db->conn, v, RP_STATE_RUNNING);
	expect_progress(db->conn, c.id, large + 1);
	free(large);
}

static void
progress_alone_makes_no_lease_shorter(void **state)
{
	struct db *db = *state;
	struct claim c = put_and_claimed(db->conn); /* for 60 s */
	rp_queue q = RP_QUEUE_INIT;
	rp_batch *batch;
	int64_t now;

	q.name = "q";
	q.lease_ms = 1000;
	settings(db->conn, q);
	settled(db->conn, with_progress(c, RP_EXTEND, "x"), RP_STATE_RUNNING);
	ok(db->conn, rp_now(db->conn, &now));
	batch = get(db->conn, c.id);
	assert_true(rp_batch_at(batch, 0)->lease_until > now + 30000);
	rp_batch_free(batch);
	settled(db->conn, verdict_on(c, RP_EXTEND), RP_STATE_RUNNING);
	batch = get(db->conn, c.id);
	assert_true(rp_batch_at(batch, 0)->lease_until < now + 30000);
	rp_batch_free(batch);
}

static void
progress_after_the_end_of_the_lease_renews_it(void **state)
{
	struct db *db = *state;
	struct claim c, other;
	int64_t now;

	put(db->conn, "q", "x");
	assert_int_equal(take_one(db->conn, "q", 1, &c), 1);
	ok(db->conn, rp_now(db->conn, &now));
	wait_until(db->conn, now + 2);
	ok(db->conn, rp_sweep(db->conn, NULL));
	settled(db->conn, with_progress(c, RP_EXTEND, "x"), RP_STATE_RUNNING);
	assert_int_equal(state_of(db->conn, c.id), RP_STATE_RUNNING);
	ok(db->conn, rp_sweep(db->conn, NULL));
	assert_int_equal(take_one(db->conn, "q", 60000, &other), 0);
}

static void
a_job_that_replaces_another_starts_without_progress(void **state)
{
	struct db *db = *state;
	rp_job_spec job = job_of("x");
	struct claim c;
	rp_added added;

	job.unique_key = "k";
	ok(db->conn, rp_enqueue(db->conn, "q", &job, &added));
	c = claimed(db->conn);
	settled(db->conn, with_progress(c, RP_RELEASE, "old"), RP_STATE_READY);
	job.replace = 1;
	ok(db->conn, rp_enqueue(db->conn, "q", &job, &added));
	assert_int_equal(added.outcome, RP_REPLACED);
	expect_progress(db->conn, c.id, NULL);
}

/* ---- in a worker ---- */

struct seen {
	struct db *db;
	int r[4];
	int64_t renewed_in_ms;
	char checkpoint[16];
};

/* A handler. In the first attempt, it reports progress and waits until other
 * connections see the report. Then it reports again, and fails before this
 * second report is sent. */
static int
report(rp_task *task, const rp_job *job, void *ctx)
{
	struct seen *seen = ctx;
	int64_t began = now_ms();
	rp_conn *conn;

	if (job->attempt > 1) {
		snprintf(seen->checkpoint, sizeof(seen->checkpoint), "%s",
			 job->progress ? job->progress : "");
		return RP_DONE;
	}
	conn = connect_to(seen->db);
	seen->r[0] = rp_task_progress(task, "\xff");
	seen->r[1] = rp_task_progress(task, NULL);
	seen->r[2] = rp_task_progress(task, "half");
	for (int found = 0; !found && now_ms() - began < 20000; sleep_ms(5)) {
		rp_batch *batch = get(conn, job->id);
		const char *text = rp_batch_at(batch, 0)->progress;

		found = text && strcmp(text, "half") == 0;
		rp_batch_free(batch);
	}
	seen->renewed_in_ms = now_ms() - began;
	rp_close(conn);
	rp_task_progress(task, "more");
	seen->r[3] = rp_task_progress(task, "most");
	rp_task_delay(task, 0);
	return RP_FAIL;
}

static void
the_worker_sends_progress_soon_and_the_rest_with_the_verdict(void **state)
{
	static struct seen seen;
	struct db *db = *state;

	/* The lease of this job is 60 s, so the worker would renew it after 20
	 * s. The worker must send the progress earlier than that. */
	put(db->conn, "q", "x");
	seen = (struct seen){ .db = db };
	work_until_settled(db, report, &seen);
	assert_int_equal(seen.r[0], RP_EINVAL);
	assert_int_equal(seen.r[1], RP_EINVAL);
	assert_int_equal(seen.r[2], 0);
	assert_int_equal(seen.r[3], 0);
	assert_in_range(seen.renewed_in_ms, 0, 15000);
	assert_string_equal(seen.checkpoint, "most");
}

static int
report_often(rp_task *task, const rp_job *job, void *ctx)
{
	struct seen *seen = ctx;
	rp_conn *conn = connect_to(seen->db);
	int64_t end = now_ms() + 1500;
	rp_why *why;
	char text[32];

	for (int i = 0; now_ms() < end; i++, sleep_ms(2)) {
		snprintf(text, sizeof(text), "%d", i);
		rp_task_progress(task, text);
	}
	if (rp_why_get(conn, job->id, &why) == 0)
		seen->r[0] = (int)why->renewed;
	rp_why_free(why);
	rp_close(conn);
	return RP_DONE;
}

static void
the_worker_sends_progress_at_most_once_a_second(void **state)
{
	static struct seen seen;
	struct db *db = *state;

	put(db->conn, "q", "x");
	seen = (struct seen){ .db = db };
	work_until_settled(db, report_often, &seen);
	assert_in_range(seen.r[0], 1, 3);
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		CASE(progress_is_seen_and_handed_to_the_next_attempt),
		CASE(every_verdict_except_done_stores_progress),
		CASE(a_dead_job_keeps_its_progress_through_a_retry),
		CASE(a_lease_that_runs_out_keeps_the_progress),
		CASE(a_late_workers_progress_changes_nothing),
		CASE(progress_that_cannot_be_stored_is_refused),
		CASE(progress_alone_makes_no_lease_shorter),
		CASE(progress_after_the_end_of_the_lease_renews_it),
		CASE(a_job_that_replaces_another_starts_without_progress),
		CASE(the_worker_sends_progress_soon_and_the_rest_with_the_verdict),
		CASE(the_worker_sends_progress_at_most_once_a_second),
	};

	databases_at(argc, argv);
	return cmocka_run_group_tests_name("progress", tests, NULL, NULL);
}
