/*
 * check.c - small helpers for the tests in C, on top of cmocka; see check.h.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "check.h"

#include <unistd.h>

#include "kinds.h"
#include "process.h"

#define DECLARE(name) extern const struct kind kind_##name;
#define POINT(name) &kind_##name,
KINDS(DECLARE)
static const struct kind *const kinds[] = { KINDS(POINT) };
static const char *place = "/tmp", *kind = "sqlite:";

/* Find the kind of a database by its URL or its scheme. */
static const struct kind *
find_kind(const char *url)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (strncmp(url, kinds[i]->scheme, strlen(kinds[i]->scheme)) ==
		    0)
			return kinds[i];
	fprintf(stderr, "%s: no kind of database that this was built for\n",
		url);
	exit(1);
}

const struct kind *
kind_of(const rp_conn *conn)
{
	return find_kind(rp_conn_scheme(conn));
}

void
databases_at(int argc, char **argv)
{
	if (argc > 1)
		kind = argv[1];
	if (getenv("TMPDIR"))
		place = getenv("TMPDIR");
	if (strncmp(kind, "sqlite:", 7) == 0 && kind[7])
		place = kind + 7;
}

struct db *
make_db(const char *of_kind)
{
	struct db *db = calloc(1, sizeof(*db));
	rp_options options = RP_OPTIONS_INIT;
	rp_error error;

	snprintf(db->dir, sizeof(db->dir), "%.150s/readpast.XXXXXX", place);
	if (!mkdtemp(db->dir))
		return NULL;
	db->kind = find_kind(of_kind);
	db->kind->name(db);
	options.schema = RP_SCHEMA_INSTALL;
	if (rp_open(db->url, &options, &db->conn, &error) < 0) {
		fprintf(stderr, "%s: %s\n", db->url, error.message);
		return NULL;
	}
	return db;
}

int
remove_db(struct db *db)
{
	char command[256];
	int r;

	rp_close(db->conn);
	if (db->kind->drop)
		db->kind->drop(db);
	snprintf(command, sizeof(command), "rm -rf '%s'", db->dir);
	r = system(command);
	free(db);
	return r;
}

int
setup_db(void **state)
{
	*state = make_db(kind);
	return *state ? 0 : -1;
}

int
teardown_db(void **state)
{
	return remove_db(*state);
}

int
run_sql(rp_conn *conn, const char *sql, int64_t *ret)
{
	return kind_of(conn)->run(rp_conn_native(conn), sql, ret);
}

int64_t
ask_sql(rp_conn *conn, const char *sql)
{
	int64_t n = -1;

	assert_int_equal(run_sql(conn, sql, &n), 0);
	return n;
}

rp_conn *
connect_to(const struct db *db)
{
	rp_conn *conn;
	rp_error error;
	int r = rp_open(db->url, NULL, &conn, &error);

	if (r < 0)
		fail_msg("%s: %s", db->url, error.message);
	return conn;
}

int64_t
check_result(int64_t r, rp_conn *conn, const char *call, const char *file,
	     int line)
{
	if (r < 0) {
		print_error("%s:%d: %s: %s\n", file, line, call,
			    rp_last_error(conn)->message);
		_fail(file, line);
	}
	return r;
}

rp_job_spec
job_of(const char *payload)
{
	rp_job_spec job = RP_JOB_SPEC_INIT;

	job.payload = payload;
	job.payload_size = strlen(payload);
	return job;
}

int64_t
put_spec(rp_conn *conn, const char *queue, const rp_job_spec *job)
{
	rp_added added;

	ok(conn, rp_enqueue(conn, queue, job, &added));
	return added.id;
}

int64_t
put(rp_conn *conn, const char *queue, const char *payload)
{
	rp_job_spec job = job_of(payload);

	return put_spec(conn, queue, &job);
}

char *
bytes_of(size_t size, unsigned seed)
{
	char *bytes = malloc(size + 1);

	assert_non_null(bytes);
	for (size_t i = 0; i < size; i++) {
		seed = seed * 1103515245 + 12345;
		bytes[i] = (char)(1 + (seed >> 16) % 127);
	}
	bytes[size] = '\0';
	return bytes;
}

int64_t
put_bytes(rp_conn *conn, rp_job_spec job, size_t size, unsigned seed)
{
	char *bytes = bytes_of(size, seed);
	int64_t id;

	job.payload = bytes;
	job.payload_size = size;
	id = put_spec(conn, "q", &job);
	free(bytes);
	return id;
}

void
expect_bytes(const rp_job *job, size_t size, unsigned seed)
{
	char *bytes = bytes_of(size, seed);

	assert_int_equal(job->payload_size, size);
	assert_int_equal(job->payload_total, size);
	assert_memory_equal(job->payload, bytes, size + 1);
	free(bytes);
}

int64_t
put_sized(rp_conn *conn, size_t size, unsigned seed)
{
	rp_job_spec job = RP_JOB_SPEC_INIT;

	return put_bytes(conn, job, size, seed);
}

rp_batch *
take(rp_conn *conn, const char *queue, size_t n, int64_t lease_ms)
{
	rp_claim_options options = RP_CLAIM_INIT;
	rp_batch *batch;

	options.lease_ms = lease_ms;
	ok(conn, rp_claim(conn, queue, n, &options, &batch));
	return batch;
}

int
take_one(rp_conn *conn, const char *queue, int64_t lease_ms, struct claim *ret)
{
	rp_batch *batch = take(conn, queue, 1, lease_ms);
	const rp_job *job = rp_batch_at(batch, 0);
	int n = (int)rp_batch_count(batch);

	if (job)
		*ret = (struct claim){ job->id, job->claim_no, job->attempt };
	rp_batch_free(batch);
	return n;
}

struct claim
claim_one(rp_conn *conn, int64_t lease_ms)
{
	struct claim claim;

	assert_int_equal(take_one(conn, "q", lease_ms, &claim), 1);
	return claim;
}

rp_verdict
verdict_on(struct claim claim, int verdict)
{
	rp_verdict v = RP_VERDICT_INIT;

	v.id = claim.id;
	v.claim_no = claim.no;
	v.verdict = verdict;
	return v;
}

void
settle_one(rp_conn *conn, struct claim claim, int verdict, int64_t delay_ms)
{
	rp_verdict v = verdict_on(claim, verdict);

	v.delay_ms = delay_ms;
	assert_int_equal(ok(conn, rp_settle(conn, &v, 1)), 1);
}

rp_batch *
get(rp_conn *conn, int64_t id)
{
	rp_batch *batch;

	ok(conn, rp_job_get(conn, id, &batch));
	return batch;
}

int
state_of(rp_conn *conn, int64_t id)
{
	rp_batch *batch;
	int state, r = rp_job_get(conn, id, &batch);

	if (r == RP_ENOENT)
		return 0;
	ok(conn, r);
	state = rp_batch_at(batch, 0)->state;
	rp_batch_free(batch);
	return state;
}

rp_queue_stats
stats_of(rp_conn *conn, const char *queue)
{
	rp_queue_stats copy;
	rp_stats *stats;

	ok(conn, rp_stats_get(conn, queue, &stats));
	copy = *rp_stats_at(stats, 0);
	copy.queue = queue;
	rp_stats_free(stats);
	return copy;
}

int64_t
held_until(rp_conn *conn)
{
	rp_queues *queues;
	int64_t until;

	ok(conn, rp_queue_list(conn, "q", &queues));
	until = rp_queues_at(queues, 0)->held_until;
	rp_queues_free(queues);
	return until;
}

void
settings(rp_conn *conn, rp_queue queue)
{
	ok(conn, rp_queue_set(conn, &queue));
}

void
limit_groups(rp_conn *conn, int64_t limit)
{
	rp_queue q = RP_QUEUE_INIT;

	q.name = "q";
	q.group_limit = limit;
	settings(conn, q);
}

int64_t
put_in_group(rp_conn *conn, const char *group, const char *payload)
{
	rp_job_spec job = job_of(payload);

	job.group_key = group;
	return put_spec(conn, "q", &job);
}

void
put_n(rp_conn *conn, const char *group, int64_t *ids, int n)
{
	for (int i = 0; i < n; i++)
		ids[i] = put_in_group(conn, group, "x");
}

struct claim
next_claim(rp_conn *conn)
{
	struct claim c;
	int tries = 0;

	while (!take_one(conn, "q", 60000, &c))
		assert_true(++tries < 1000);
	return c;
}

int
is_empty(rp_conn *conn)
{
	struct claim c;

	return !take_one(conn, "q", 60000, &c);
}

void
run_one_by_one(rp_conn *conn, const int64_t *ids, int n)
{
	for (int i = 0; i < n; i++) {
		struct claim c = next_claim(conn);

		assert_int_equal(c.id, ids[i]);
		assert_true(is_empty(conn));
		settle_one(conn, c, RP_DONE, 0);
	}
}

void
expect_states(rp_conn *conn, const int64_t *ids, const char *states)
{
	static const char letters[] = "-srRdDcb";
	char got[100];
	size_t n = strlen(states);

	for (size_t i = 0; i < n; i++)
		got[i] = letters[state_of(conn, ids[i])];
	got[n] = 0;
	assert_string_equal(got, states);
}

void
keep_for(rp_conn *conn, int64_t done_ms, int64_t dead_ms)
{
	rp_queue q = RP_QUEUE_INIT;

	q.name = "q";
	q.keep_done_ms = done_ms;
	q.keep_dead_ms = dead_ms;
	settings(conn, q);
}

void
work_until_settled(const struct db *db, rp_handler *handler, void *ctx)
{
	rp_worker_options options = RP_WORKER_INIT;
	rp_worker *worker;
	rp_error error;

	options.drain = RP_DRAIN_SETTLED;
	assert_int_equal(rp_worker_new(db->url, &options, &worker, NULL), 0);
	assert_int_equal(rp_worker_handle(worker, "q", NULL, handler, ctx), 0);
	if (rp_worker_run(worker, &error) < 0)
		fail_msg("%s", error.message);
	rp_worker_free(worker);
}

int64_t
now_ms(void)
{
	return monotonic_us() / 1000;
}

void
sleep_ms(int64_t ms)
{
	sleep_us(ms * 1000);
}

void
wait_until(rp_conn *conn, int64_t at)
{
	int64_t now;

	for (;;) {
		ok(conn, rp_now(conn, &now));
		if (now > at)
			return;
		sleep_ms(at - now + 1);
	}
}

pid_t
in_child(int (*body)(void *), void *ctx)
{
	pid_t pid = spawn();

	if (pid == 0)
		_exit(body(ctx));
	assert_true(pid > 0);
	return pid;
}

void
expect_success(pid_t pid)
{
	assert_int_equal(spawn_wait(pid), 0);
}
