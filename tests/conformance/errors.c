/*
 * errors.c - test invalid input and unusable databases. Each call returns an
 * error with a message, and changes nothing.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "check.h"

#include <signal.h>
#include <sqlite3.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static void
bad_jobs_are_refused(void **state)
{
	struct db *db = *state;
	char long_name[200];
	rp_job_spec bad[] = { job_of("x"), job_of("x"), job_of("x"),
			      job_of("x"), job_of("x"), job_of("x"),
			      job_of("x"), job_of("x"), job_of("x"),
			      job_of("x"), job_of("x") };

	memset(long_name, 'x', sizeof(long_name) - 1);
	long_name[sizeof(long_name) - 1] = '\0';
	bad[0].priority = 256;
	bad[1].priority = -2;
	bad[2].delay_ms = -1;
	bad[3].max_attempts = -1;
	bad[4].kind = "";
	bad[5].kind = long_name;
	bad[6].headers = "no json";
	bad[7].headers = "[1]";
	bad[8].unique_key = "a\nb";
	bad[9].replace = 1;
	bad[10].payload = NULL;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		assert_int_equal(rp_enqueue(db->conn, "q", &bad[i], NULL),
				 RP_EINVAL);
		assert_true(*rp_last_error(db->conn)->message);
	}
	bad[0] = job_of("x");
	assert_int_equal(rp_enqueue(db->conn, "", bad, NULL), RP_EINVAL);
	assert_int_equal(rp_enqueue(db->conn, NULL, bad, NULL), RP_EINVAL);
	assert_int_equal(rp_enqueue(db->conn, long_name, bad, NULL), RP_EINVAL);
	assert_int_equal(rp_enqueue(db->conn, "a\x80", bad, NULL), RP_EINVAL);
	assert_int_equal(rp_enqueue(db->conn, "a\tb", bad, NULL), RP_EINVAL);
	assert_int_equal(rp_enqueue(db->conn, "q", NULL, NULL), RP_EINVAL);
	assert_int_equal(rp_stats_get(db->conn, "q", &(rp_stats *){ 0 }),
			 RP_ENOENT);
}

static void
a_bad_job_is_named_and_no_job_of_its_batch_is_enqueued(void **state)
{
	struct db *db = *state;
	rp_job_spec jobs[3] = { job_of("a"), job_of("b"), job_of("c") };

	put(db->conn, "q", "x");
	jobs[1].priority = 999;
	assert_int_equal(rp_enqueue_many(db->conn, "q", jobs, 3, NULL),
			 RP_EINVAL);
	assert_non_null(strstr(rp_last_error(db->conn)->message, "job 2: "));
	assert_int_equal(stats_of(db->conn, "q").ready, 1);
}

static void
bad_claims_and_verdicts_are_refused(void **state)
{
	struct db *db = *state;
	rp_claim_options o = RP_CLAIM_INIT;
	rp_verdict v = RP_VERDICT_INIT;
	rp_batch *batch = NULL;

	assert_int_equal(rp_claim(db->conn, "q", 0, NULL, &batch), RP_EINVAL);
	assert_int_equal(rp_claim(db->conn, "q", 100001, NULL, &batch),
			 RP_EINVAL);
	assert_int_equal(rp_claim(db->conn, NULL, 1, NULL, &batch), RP_EINVAL);
	assert_int_equal(rp_claim(db->conn, "q", 1, NULL, NULL), RP_EINVAL);
	o.lease_ms = -1;
	assert_int_equal(rp_claim(db->conn, "q", 1, &o, &batch), RP_EINVAL);
	assert_null(batch);
	assert_int_equal(rp_settle(db->conn, &v, 1), RP_EINVAL);
	v.id = v.claim_no = 1;
	v.verdict = 7;
	assert_int_equal(rp_settle(db->conn, &v, 1), RP_EINVAL);
	v.verdict = RP_EXTEND;
	v.delay_ms = 0;
	assert_int_equal(rp_settle(db->conn, &v, 1), RP_EINVAL);
	assert_int_equal(rp_settle(db->conn, NULL, 1), RP_EINVAL);
	assert_int_equal(rp_complete(db->conn, 0, 0), RP_EINVAL);
}

static void
null_handles_are_refused(void **state)
{
	struct db *db = *state;
	rp_batch *batch;

	assert_int_equal(rp_enqueue(NULL, "q", NULL, NULL), RP_EINVAL);
	assert_int_equal(rp_claim(NULL, "q", 1, NULL, &batch), RP_EINVAL);
	assert_int_equal(rp_settle(NULL, NULL, 0), RP_EINVAL);
	assert_int_equal(rp_sweep(NULL, NULL), RP_EINVAL);
	assert_int_equal(rp_job_get(NULL, 1, &batch), RP_EINVAL);
	assert_int_equal(rp_job_get(db->conn, 1, NULL), RP_EINVAL);
	assert_int_equal(rp_job_list(db->conn, "q", 99, 1, &batch), RP_EINVAL);
	assert_int_equal(rp_commit(db->conn), RP_EINVAL);
	assert_int_equal(rp_open(NULL, NULL, &db->conn, NULL), RP_EINVAL);
	assert_non_null(rp_last_error(NULL));
	rp_close(NULL);
	rp_batch_free(NULL);
	rp_stats_free(NULL);
	rp_queues_free(NULL);
	rp_workers_free(NULL);
	rp_worker_free(NULL);
}

static int
use_parents_handle(void *ctx)
{
	struct db *db = ctx;

	if (rp_now(db->conn, &(int64_t){ 0 }) != RP_EINVAL)
		return 1;
	/* closing in the child must not release the parent's locks */
	rp_close(db->conn);
	return 0;
}

static void
a_handle_is_refused_after_fork(void **state)
{
	struct db *db = *state;

	put(db->conn, "q", "x");
	expect_success(in_child(use_parents_handle, db));
	put(db->conn, "q", "y");
	assert_int_equal(stats_of(db->conn, "q").ready, 2);
}

static int
open_as(const char *url, int schema, rp_error *error)
{
	rp_options options = RP_OPTIONS_INIT;
	rp_conn *conn;
	int r;

	options.schema = schema;
	r = rp_open(url, &options, &conn, error);
	if (r == 0)
		rp_close(conn);
	return r;
}

static void
bad_urls_are_refused(void **state)
{
	static const char *const bad[] = {
		"",
		"queue.db",
		"./queue.db",
		"oracle:x",
		"sqlite:",
		"sqlite:x?busy=1",
		"sqlite:x?busy=-1s",
		"sqlite:x?synchronous=off",
		"sqlite:x?nonsense=1",
		"sqlite:x?busy",
		"sqlite:a%",
		"sqlite:a%00b",
		"sqlite:a#b",
	};
	rp_error error;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		assert_int_equal(open_as(bad[i], 0, &error), RP_EINVAL);
		assert_true(*error.message);
	}
}

static void
execute(const char *path, const char *sql)
{
	sqlite3 *db;

	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(db);
}

static void
other_databases_are_refused(void **state)
{
	struct db *db = *state;
	char path[300], url[320];
	rp_error error;
	FILE *file;

	snprintf(path, sizeof(path), "%s/other", db->dir);
	snprintf(url, sizeof(url), "sqlite:%s", path);
	assert_int_equal(open_as(url, RP_SCHEMA_REQUIRE, &error), RP_ENODB);
	execute(path, "create table theirs (x)");
	assert_int_equal(open_as(url, RP_SCHEMA_REQUIRE, &error), RP_ESCHEMA);
	assert_int_equal(open_as(url, RP_SCHEMA_CREATE, &error), RP_ESCHEMA);
	assert_int_equal(open_as(url, RP_SCHEMA_INSTALL, &error), 0);
	assert_int_equal(open_as(url, RP_SCHEMA_REQUIRE, &error), 0);
	execute(path, "update readpast_meta set value = 99 "
		      "where name = 'schema'");
	assert_int_equal(open_as(url, RP_SCHEMA_INSTALL, &error), RP_ESCHEMA);
	assert_non_null(strstr(error.message, "newer"));

	file = fopen(path, "w");
	for (int i = 0; i < 200; i++)
		fputs("this is no database\n", file);
	fclose(file);
	assert_int_equal(open_as(url, RP_SCHEMA_CREATE, &error), RP_EDAMAGED);
	assert_non_null(strstr(error.message, "not a SQLite database"));
	snprintf(url, sizeof(url), "sqlite:%s", db->dir);
	assert_true(open_as(url, RP_SCHEMA_CREATE, &error) < 0);
}

static void
a_locked_file_is_an_error_at_the_deadline(void **state)
{
	struct db *db = *state;
	char url[540];
	rp_error error;
	rp_conn *conn;
	sqlite3 *holder;
	int64_t began;
	rp_job_spec job = job_of("x");

	put(db->conn, "q", "x");
	snprintf(url, sizeof(url), "%s?busy=150ms", db->url);
	assert_int_equal(rp_open(url, NULL, &conn, &error), 0);
	assert_int_equal(sqlite3_open(db->path, &holder), SQLITE_OK);
	assert_int_equal(
		sqlite3_exec(holder, "begin immediate", NULL, NULL, NULL),
		SQLITE_OK);
	began = now_ms();
	assert_int_equal(rp_enqueue(conn, "q", &job, NULL), RP_EBUSY);
	assert_in_range(now_ms() - began, 150, 5000);
	sqlite3_close(holder);
	ok(conn, rp_enqueue(conn, "q", &job, NULL));
	rp_close(conn);
	assert_int_equal(stats_of(db->conn, "q").ready, 2);
}

/* Simulate a full disk: limit the file to a little more than its present
 * size. */
static int
fill_up(void *ctx)
{
	struct db *db = ctx;
	struct rlimit limit = { 300000, 300000 };
	static char payload[20000];
	rp_job_spec job = RP_JOB_SPEC_INIT;
	rp_conn *conn;
	rp_error error;
	int done = 0, r = 0;

	signal(SIGXFSZ, SIG_IGN);
	setrlimit(RLIMIT_FSIZE, &limit);
	if (rp_open(db->url, NULL, &conn, &error) < 0)
		return 1;
	job.payload = payload;
	job.payload_size = sizeof(payload);
	while (done < 100 && (r = rp_enqueue(conn, "q", &job, NULL)) == 0)
		done++;
	rp_close(conn);
	return r == RP_EFULL ? done : 255;
}

static void
a_full_disk_is_an_error_and_loses_nothing(void **state)
{
	struct db *db = *state;
	int status;
	pid_t pid;

	put(db->conn, "q", "x");
	rp_close(db->conn);
	pid = in_child(fill_up, db);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) < 100);
	assert_true(WEXITSTATUS(status) > 0);
	db->conn = connect_to(db);
	assert_int_equal(stats_of(db->conn, "q").ready,
			 1 + WEXITSTATUS(status));
	put(db->conn, "q", "y");
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		CASE(bad_jobs_are_refused),
		CASE(a_bad_job_is_named_and_no_job_of_its_batch_is_enqueued),
		CASE(bad_claims_and_verdicts_are_refused),
		CASE(null_handles_are_refused),
		CASE(a_handle_is_refused_after_fork),
		CASE(bad_urls_are_refused),
		CASE(other_databases_are_refused),
		CASE(a_locked_file_is_an_error_at_the_deadline),
		CASE(a_full_disk_is_an_error_and_loses_nothing),
	};

	databases_at(argc, argv);
	return cmocka_run_group_tests_name("errors", tests, NULL, NULL);
}
