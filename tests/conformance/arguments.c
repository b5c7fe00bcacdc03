/*
 * arguments.c - test that each call refuses invalid arguments with a message,
 * and changes nothing.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "check.h"

/* These texts are not valid as names of queues, as kinds, or as keys. */
static const char *const bad_names[] = {
	"",     "a\nb", "a\x7f",        "\xc2\x9b",
	"\xff", "\xc3", "\xed\xa0\x80", "\x01x",
};
enum { BAD_NAMES = sizeof(bad_names) / sizeof(*bad_names) };

#define refused(call) assert_int_equal((call), RP_EINVAL)

static void
names_are_checked_by_every_call(void **state)
{
	struct db *db = *state;
	rp_conn *c = db->conn;
	int64_t id = put(c, "q", "x");
	rp_job_spec job = job_of("x");

	for (int i = 0; i < BAD_NAMES; i++) {
		const char *const queues[] = { "q", bad_names[i], NULL };
		const char *bad = bad_names[i];
		rp_queue q = RP_QUEUE_INIT;
		rp_claim_options o = RP_CLAIM_INIT;
		rp_batch *batch = NULL;

		q.name = bad;
		o.queues = queues;
		refused(rp_enqueue(c, bad, &job, NULL));
		refused(rp_claim(c, bad, 1, NULL, &batch));
		refused(rp_claim(c, NULL, 1, &o, &batch));
		refused(rp_settle_and_claim(c, NULL, 0, bad, 1, NULL, &batch));
		refused(rp_wait(c, queues, 0, -1));
		refused(rp_queue_set(c, &q));
		refused(rp_queue_pause(c, bad, NULL));
		refused(rp_queue_pause(c, "q", bad));
		refused(rp_queue_resume(c, bad));
		refused(rp_queue_drop(c, bad));
		refused(rp_job_list(c, bad, 0, 1, &batch));
		refused(rp_stats_get(c, bad, &(rp_stats *){ NULL }));
		refused((int)rp_queue_purge(c, bad, 0, NULL));
		refused((int)rp_queue_purge(c, "q", 0, bad));
		refused((int)rp_queue_retry_dead(c, bad, NULL, NULL));
		refused((int)rp_queue_retry_dead(c, "q", bad, NULL));
		refused(rp_job_cancel(c, id, bad));
		refused(rp_job_retry(c, id, bad));
		assert_null(batch);
	}
	assert_int_equal(state_of(c, id), RP_STATE_READY);
}

static void
the_longest_names_are_taken_and_longer_ones_are_not(void **state)
{
	struct db *db = *state;
	rp_job_spec job = job_of("x");
	char name[300];
	rp_batch *batch;

	memset(name, 'n', sizeof(name));
	name[128] = '\0';
	job.kind = name;
	ok(db->conn, rp_enqueue(db->conn, name, &job, NULL));
	batch = take(db->conn, name, 1, 0);
	assert_string_equal(rp_batch_at(batch, 0)->queue, name);
	assert_string_equal(rp_batch_at(batch, 0)->kind, name);
	rp_batch_free(batch);
	name[128] = 'n';
	name[129] = '\0';
	refused(rp_enqueue(db->conn, "q", &job, NULL));
	job.kind = NULL;
	refused(rp_enqueue(db->conn, name, &job, NULL));
	memset(name, 'n', sizeof(name));
	name[255] = '\0';
	job.unique_key = name;
	ok(db->conn, rp_enqueue(db->conn, "q", &job, NULL));
	name[255] = 'n';
	name[256] = '\0';
	refused(rp_enqueue(db->conn, "q", &job, NULL));
}

static void
settings_are_checked_and_a_bad_one_changes_none(void **state)
{
	static const struct {
		size_t offset;
		int64_t bad;
	} settings[] = {
#define BAD(field, value) { offsetof(rp_queue, field), value }
		BAD(max_attempts, 0),
		BAD(max_attempts, 1000000001),
		BAD(lease_ms, 0),
		BAD(lease_ms, INT64_MAX),
		BAD(backoff_ms, INT64_MAX),
		BAD(backoff_max_ms, INT64_MAX),
		BAD(priority, 256),
		BAD(keep_done_ms, INT64_MAX),
		BAD(keep_dead_ms, INT64_MAX),
		BAD(max_payload, 1000000001),
#undef BAD
	};
	struct db *db = *state;

	for (size_t i = 0; i < sizeof(settings) / sizeof(*settings); i++) {
		rp_queue q = RP_QUEUE_INIT;

		q.name = "new";
		q.priority = 5;
		memcpy((char *)&q + settings[i].offset, &settings[i].bad,
		       sizeof(int64_t));
		refused(rp_queue_set(db->conn, &q));
	}
	assert_int_equal(rp_queue_list(db->conn, "new", &(rp_queues *){ NULL }),
			 RP_ENOENT);
	refused(rp_queue_set(db->conn, NULL));
}

static void
numbers_out_of_range_are_refused(void **state)
{
	static const char *const queues[] = { "q", NULL };
	static const char *const no_queues[] = { NULL };
	struct db *db = *state;
	rp_job_spec job = job_of("x");
	rp_batch *batch = NULL;

	job.delay_ms = INT64_MAX;
	refused(rp_enqueue(db->conn, "q", &job, NULL));
	job.delay_ms = 0;
	job.run_at = -1;
	refused(rp_enqueue(db->conn, "q", &job, NULL));
	job.run_at = INT64_MAX;
	refused(rp_enqueue(db->conn, "q", &job, NULL));
	job.run_at = job.delay_ms = 1;
	refused(rp_enqueue(db->conn, "q", &job, NULL));
	job = job_of("x");
	job.max_attempts = 1000000001;
	refused(rp_enqueue(db->conn, "q", &job, NULL));
	put(db->conn, "q", "x");
	refused(rp_job_list(db->conn, "q", -1, 1, &batch));
	refused(rp_job_list(db->conn, "q", RP_STATE_BLOCKED + 1, 1, &batch));
	refused((int)rp_queue_purge(db->conn, "q", -1, NULL));
	refused((int)rp_queue_purge(db->conn, "q", RP_STATE_BLOCKED + 1, NULL));
	refused(rp_job_cancel(db->conn, 0, NULL));
	refused(rp_job_retry(db->conn, -1, NULL));
	refused(rp_wait(db->conn, queues, -2, -1));
	refused(rp_wait(db->conn, queues, INT64_MAX, -1));
	refused(rp_wait(db->conn, no_queues, 0, -1));
	refused(rp_wait(db->conn, NULL, 0, -1));
	refused(rp_extend(db->conn, 1, 1, INT64_MAX));
	refused(rp_release(db->conn, 1, 1, INT64_MIN));
	refused(rp_fail(db->conn, -1, 1, NULL));
	assert_int_equal(rp_job_get(db->conn, -1, &batch), RP_ENOENT);
	assert_int_equal(rp_job_get(db->conn, INT64_MAX, &batch), RP_ENOENT);
	assert_null(batch);
	assert_int_equal(stats_of(db->conn, "q").ready, 1);
}

static void
a_missing_ret_is_refused(void **state)
{
	struct db *db = *state;

	put(db->conn, "q", "x");
	refused(rp_open(db->url, NULL, NULL, NULL));
	refused(rp_now(db->conn, NULL));
	refused(rp_job_get(db->conn, 1, NULL));
	refused(rp_job_list(db->conn, "q", 0, 1, NULL));
	refused(rp_claim(db->conn, "q", 1, NULL, NULL));
	refused(rp_settle_and_claim(db->conn, NULL, 0, "q", 1, NULL, NULL));
	refused(rp_stats_get(db->conn, NULL, NULL));
	refused(rp_queue_list(db->conn, NULL, NULL));
	refused(rp_worker_list(db->conn, NULL));
	assert_int_equal(stats_of(db->conn, "q").ready, 1);
}

static void
a_missing_handle_is_refused(void **state)
{
	static const char *const queues[] = { "q", NULL };
	rp_job_spec job = job_of("x");
	rp_queue q = RP_QUEUE_INIT;
	rp_verdict v = RP_VERDICT_INIT;
	rp_batch *batch;
	int64_t ms;

	(void)state;
	q.name = "q";
	refused(rp_now(NULL, &ms));
	refused(rp_enqueue(NULL, "q", &job, NULL));
	refused(rp_enqueue_many(NULL, "q", &job, 1, NULL));
	refused(rp_settle_and_claim(NULL, &v, 1, "q", 1, NULL, &batch));
	refused(rp_complete(NULL, 1, 1));
	refused(rp_fail(NULL, 1, 1, NULL));
	refused(rp_release(NULL, 1, 1, 0));
	refused(rp_extend(NULL, 1, 1, 1));
	refused(rp_job_cancel(NULL, 1, NULL));
	refused(rp_job_retry(NULL, 1, NULL));
	refused((int)rp_queue_retry_dead(NULL, "q", NULL, NULL));
	refused((int)rp_queue_purge(NULL, "q", 0, NULL));
	refused(rp_wait(NULL, queues, 0, -1));
	refused(rp_job_list(NULL, "q", 0, 1, &batch));
	refused(rp_stats_get(NULL, NULL, &(rp_stats *){ NULL }));
	refused(rp_worker_list(NULL, &(rp_workers *){ NULL }));
	refused(rp_queue_set(NULL, &q));
	refused(rp_queue_list(NULL, NULL, &(rp_queues *){ NULL }));
	refused(rp_queue_pause(NULL, "q", NULL));
	refused(rp_queue_drop(NULL, "q"));
	assert_int_equal(rp_batch_count(NULL), 0);
	assert_null(rp_batch_at(NULL, 0));
	assert_int_equal(rp_queues_count(NULL), 0);
	assert_int_equal(rp_stats_count(NULL), 0);
	assert_int_equal(rp_workers_count(NULL), 0);
	refused(rp_worker_counts_get(NULL,
				     &(rp_worker_counts)RP_WORKER_COUNTS_INIT));
	refused(rp_worker_run(NULL, NULL));
}

/* A caller that forgets the INIT macro passes a struct whose size is 0. Without
 * this check the library would ignore all fields of the struct, such as the
 * payload. */
static void
structs_without_their_size_are_refused(void **state)
{
	struct db *db = *state;
	rp_job_spec job = job_of("x");
	rp_worker_counts counts = { 0 };
	rp_worker *worker;
	rp_verdict v;
	struct claim c;

	assert_int_equal(rp_worker_new(db->url, NULL, &worker, NULL), 0);
	refused(rp_worker_counts_get(worker, &counts));
	refused(rp_worker_counts_get(worker, NULL));
	rp_worker_free(worker);
	put(db->conn, "q", "x");
	job.size = 0;
	refused(rp_enqueue(db->conn, "q", &job, NULL));
	take_one(db->conn, "q", 60000, &c);
	v = verdict_on(c, RP_DONE);
	v.size = 0;
	refused(rp_settle(db->conn, &v, 1));
	assert_int_equal(stats_of(db->conn, "q").running, 1);
	assert_int_equal(stats_of(db->conn, "q").ready, 0);
}

static void
a_refused_verdict_is_named_by_its_index(void **state)
{
	static const struct {
		int64_t id, claim_no, delay_ms;
		int verdict;
	} bad[] = {
		{ 0, 1, -1, RP_DONE },  { 1, 0, -1, RP_DONE },
		{ 1, 1, -1, 4711 },     { 1, 1, -2, RP_RELEASE },
		{ 1, 1, 0, RP_EXTEND },
	};
	struct db *db = *state;
	rp_verdict v[2];
	struct claim c;

	put(db->conn, "q", "x");
	take_one(db->conn, "q", 60000, &c);
	v[0] = v[1] = verdict_on(c, RP_DONE);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		v[1].id = bad[i].id;
		v[1].claim_no = bad[i].claim_no;
		v[1].verdict = bad[i].verdict;
		v[1].delay_ms = bad[i].delay_ms;
		refused(rp_settle(db->conn, v, 2));
		assert_int_equal(rp_last_error(db->conn)->item, 1);
	}
	assert_int_equal(stats_of(db->conn, "q").running, 1);
}

static void
headers_are_a_json_object(void **state)
{
	static const char *const bad[] = {
		"",     "x", "[]",  "1",       "\"a\"",
		"null", "{", "{}x", "{\"a\"}", "{\"a\":\"\xff\"}"
	};
	struct db *db = *state;
	rp_job_spec job = job_of("x");
	rp_batch *batch;

	put(db->conn, "q", "x");
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		job.headers = bad[i];
		refused(rp_enqueue(db->conn, "q", &job, NULL));
		assert_non_null(
			strstr(rp_last_error(db->conn)->message, "headers"));
	}
	assert_int_equal(stats_of(db->conn, "q").ready, 1);
	job.headers = "{\"a\": [1, {}]}";
	ok(db->conn, rp_enqueue(db->conn, "q", &job, NULL));
	batch = take(db->conn, "q", 2, 0);
	assert_string_equal(rp_batch_at(batch, 1)->headers, job.headers);
	rp_batch_free(batch);
}

static void
payloads_end_where_the_queue_says(void **state)
{
	struct db *db = *state;
	rp_queue q = RP_QUEUE_INIT;
	rp_job_spec job = job_of("12345");

	q.name = "q";
	q.max_payload = 5;
	settings(db->conn, q);
	ok(db->conn, rp_enqueue(db->conn, "q", &job, NULL));
	job = job_of("123456");
	assert_int_equal(rp_enqueue(db->conn, "q", &job, NULL), RP_EFBIG);
	/* The payload does not really have that many bytes, so the library must
	 * refuse the job before it reads the payload. */
	job.payload_size = 1000000001;
	assert_int_equal(rp_enqueue(db->conn, "q", &job, NULL), RP_EFBIG);
	q.max_payload = 0;
	settings(db->conn, q);
	job = job_of("");
	ok(db->conn, rp_enqueue(db->conn, "q", &job, NULL));
	assert_int_equal(stats_of(db->conn, "q").ready, 2);
}

static void
an_empty_batch_does_nothing(void **state)
{
	struct db *db = *state;

	assert_int_equal(rp_enqueue_many(db->conn, "q", NULL, 0, NULL), 0);
	assert_int_equal(rp_settle(db->conn, NULL, 0), 0);
	refused(rp_enqueue_many(db->conn, "q", NULL, 2, NULL));
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		CASE(names_are_checked_by_every_call),
		CASE(the_longest_names_are_taken_and_longer_ones_are_not),
		CASE(settings_are_checked_and_a_bad_one_changes_none),
		CASE(numbers_out_of_range_are_refused),
		CASE(a_missing_ret_is_refused),
		CASE(a_missing_handle_is_refused),
		CASE(structs_without_their_size_are_refused),
		CASE(a_refused_verdict_is_named_by_its_index),
		CASE(headers_are_a_json_object),
		CASE(payloads_end_where_the_queue_says),
		CASE(an_empty_batch_does_nothing),
	};

	databases_at(argc, argv);
	return cmocka_run_group_tests_name("arguments", tests, NULL, NULL);
}
