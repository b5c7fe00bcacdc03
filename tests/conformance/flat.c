/*
 * flat.c - test that the cost of a call does not grow with the number of jobs.
 *
 * On SQLite, the cost is the number of steps that its virtual machine takes. A
 * scan of a table or an index takes steps for each row. On PostgreSQL, it is
 * the number of pages that are accessed.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "check.h"

#include <sqlite3.h>

#define FEW 1200 /* some calls read up to a thousand jobs of the line */
#define MANY 12000
#define RUNNING 100
#define GROUPS 50
#define LONG_MS 3600000

/* ---- jobs of all states ---- */

static void
fill(rp_conn *conn, const rp_job_spec *like, size_t n)
{
	static rp_job_spec jobs[MANY];
	static char groups[GROUPS][8], keys[MANY][32];
	static int64_t number;

	for (size_t i = 0; i < n; i++) {
		jobs[i] = *like;
		snprintf(groups[i % GROUPS], sizeof(groups[0]), "g%zu",
			 i % GROUPS);
		snprintf(keys[i], sizeof(keys[0]), "key %lld",
			 (long long)number++);
		if (like->group_key)
			jobs[i].group_key = groups[i % GROUPS];
		if (like->unique_key)
			jobs[i].unique_key = keys[i];
	}
	ok(conn, rp_enqueue_many(conn, "q", jobs, n, NULL));
}

/* Claim n jobs, and settle them with the verdict; -1: leave them running. */
static void
run(rp_conn *conn, size_t n, int verdict)
{
	rp_verdict *verdicts = calloc(n, sizeof(*verdicts));
	rp_batch *batch = take(conn, "q", n, LONG_MS);

	assert_non_null(verdicts);
	assert_int_equal(rp_batch_count(batch), n);
	for (size_t i = 0; i < n; i++) {
		const rp_job *job = rp_batch_at(batch, i);

		verdicts[i] = (rp_verdict)RP_VERDICT_INIT;
		verdicts[i].id = job->id;
		verdicts[i].claim_no = job->claim_no;
		verdicts[i].verdict = verdict;
	}
	if (verdict >= 0)
		ok(conn, rp_settle(conn, verdicts, n));
	rp_batch_free(batch);
	free(verdicts);
}

/* Add n jobs of each state to queue q, but only a few running ones: some calls
 * read up to a thousand of these. The queue's group limit is 1, and it keeps
 * done jobs. */
static void
add_jobs(rp_conn *conn, size_t n)
{
	rp_job_spec job = job_of("x"), later = job, grouped = job, keyed = job;

	later.delay_ms = LONG_MS;
	later.expire_ms = 2 * LONG_MS;
	grouped.group_key = "";
	keyed.unique_key = "";
	fill(conn, &job, RUNNING);
	run(conn, RUNNING, -1);
	for (int verdict = RP_DONE; verdict <= RP_DEAD; verdict++) {
		fill(conn, &job, n);
		run(conn, n, verdict);
	}
	fill(conn, &later, n);
	fill(conn, &keyed, n);
	fill(conn, &job, n);
	fill(conn, &grouped, n);
}

/* ---- the calls ---- */

struct call {
	const char *name;
	void (*run)(rp_conn *conn);
};

static void
enqueue(rp_conn *conn)
{
	put(conn, "q", "x");
}

/* A connection reserves ids for jobs that it enqueues one at a time. Two jobs
 * in one call end this, so each of these calls needs new ids. */
static void
enqueue_two_and_one(rp_conn *conn)
{
	rp_job_spec jobs[] = { job_of("x"), job_of("x") };

	ok(conn, rp_enqueue_many(conn, "q", jobs, 2, NULL));
	put(conn, "q", "x");
}

static void
enqueue_later(rp_conn *conn)
{
	rp_job_spec job = job_of("x");

	job.delay_ms = LONG_MS;
	put_spec(conn, "q", &job);
}

static void
enqueue_unique(rp_conn *conn)
{
	rp_job_spec job = job_of("x");

	job.unique_key = "other";
	job.replace = 1;
	put_spec(conn, "q", &job);
}

static void
enqueue_grouped(rp_conn *conn)
{
	put_in_group(conn, "g1", "x");
}

static void
enqueue_two_grouped(rp_conn *conn)
{
	rp_job_spec jobs[] = { job_of("x"), job_of("x") };

	jobs[0].group_key = jobs[1].group_key = "g2";
	ok(conn, rp_enqueue_many(conn, "q", jobs, 2, NULL));
}

static void
settle_one_as(rp_conn *conn, int verdict)
{
	settle_one(conn, claim_one(conn, LONG_MS), verdict, -1);
}

static void
complete(rp_conn *conn)
{
	settle_one_as(conn, RP_DONE);
}

static void
fail_one(rp_conn *conn)
{
	settle_one_as(conn, RP_FAIL);
}

static void
bury(rp_conn *conn)
{
	settle_one_as(conn, RP_DEAD);
}

static void
release(rp_conn *conn)
{
	settle_one_as(conn, RP_RELEASE);
}

static void
extend(rp_conn *conn)
{
	struct claim claim = claim_one(conn, LONG_MS);

	ok(conn, rp_extend(conn, claim.id, claim.no, LONG_MS));
}

static void
complete_grouped(rp_conn *conn)
{
	rp_change change = RP_CHANGE_INIT;
	struct claim claim;

	change.priority = 1;
	ok(conn,
	   rp_job_change(conn, put_in_group(conn, "alone", "x"), &change));
	put_in_group(conn, "alone", "y");
	claim = claim_one(conn, LONG_MS);
	ok(conn, rp_complete(conn, claim.id, claim.no));
	ok(conn, rp_job_change(conn, claim.id + 1, &change));
	claim = claim_one(conn, LONG_MS);
	ok(conn, rp_complete(conn, claim.id, claim.no));
}

static void
complete_limited(rp_conn *conn)
{
	rp_batch *batch;
	const rp_job *job;

	put(conn, "limited", "x");
	batch = take(conn, "limited", 1, LONG_MS);
	job = rp_batch_at(batch, 0);
	ok(conn, rp_complete(conn, job->id, job->claim_no));
	rp_batch_free(batch);
}

static void
cancel(rp_conn *conn)
{
	int64_t id = put(conn, "q", "x");

	ok(conn, rp_job_cancel(conn, id, NULL));
	ok(conn, rp_job_retry(conn, id, NULL));
}

static void
cancel_grouped(rp_conn *conn)
{
	ok(conn, rp_job_cancel(conn, put_in_group(conn, "g3", "x"), NULL));
}

static void
sweep(rp_conn *conn)
{
	ok(conn, rp_sweep(conn, NULL));
}

static void
probe(rp_conn *conn)
{
	const char *const queues[] = { "q", NULL };

	ok(conn, rp_wait(conn, queues, 0, -1));
}

static void
explain(rp_conn *conn)
{
	rp_why *why;

	ok(conn, rp_why_get(conn, put(conn, "q", "x"), &why));
	rp_why_free(why);
}

static void
list(rp_conn *conn)
{
	rp_batch *batch;

	for (int state = RP_STATE_SCHEDULED; state <= RP_STATE_BLOCKED;
	     state++) {
		if (state == RP_STATE_RUNNING)
			continue; /* all running jobs are read */
		ok(conn, rp_job_list(conn, "q", state, 10, &batch));
		rp_batch_free(batch);
	}
}

static void
hold(rp_conn *conn)
{
	ok(conn, rp_queue_hold(conn, "q", "nobody", LONG_MS));
	ok(conn, rp_queue_hold(conn, "q", "nobody", 0));
}

static const struct call calls[] = {
	{ "enqueue", enqueue },
	{ "enqueue two jobs, then one", enqueue_two_and_one },
	{ "enqueue with a delay", enqueue_later },
	{ "enqueue with a unique key", enqueue_unique },
	{ "enqueue into a group", enqueue_grouped },
	{ "enqueue two into a group", enqueue_two_grouped },
	{ "complete", complete },
	{ "fail", fail_one },
	{ "fail for good", bury },
	{ "release", release },
	{ "extend", extend },
	{ "complete in a group", complete_grouped },
	{ "complete in a queue with a limit", complete_limited },
	{ "cancel and retry", cancel },
	{ "cancel in a group", cancel_grouped },
	{ "sweep", sweep },
	{ "probe", probe },
	{ "why", explain },
	{ "list", list },
	{ "hold a group", hold },
};
#define CALLS (sizeof(calls) / sizeof(*calls))

/* ---- counting ---- */

static int
count_step(void *steps)
{
	++*(int64_t *)steps;
	return 0;
}

/* Returns the steps of SQLite's virtual machine that a call takes. */
static int64_t
steps_of(rp_conn *conn, const struct call *call)
{
	int64_t steps = 0;

	sqlite3_progress_handler(rp_conn_native(conn), 1, count_step, &steps);
	call->run(conn);
	sqlite3_progress_handler(rp_conn_native(conn), 0, NULL, NULL);
	return steps;
}

/* PostgreSQL 14 and older only count pages some time after the access. */
static int
counts_at_once(const struct db *db)
{
	return *db->path ||
	       ask_sql(db->conn,
		       "select current_setting('server_version_num')::int") >=
		       150000;
}

/* Returns how many pages of the tables and their indexes PostgreSQL has
 * accessed. */
static int64_t
pages_accessed(rp_conn *conn)
{
	char sql[400];

	ask_sql(conn, "select 1 from pg_stat_force_next_flush()");
	snprintf(sql, sizeof(sql),
		 "select sum(heap_blks_hit + heap_blks_read"
		 " + coalesce(idx_blks_hit + idx_blks_read, 0)"
		 " + coalesce(toast_blks_hit + toast_blks_read, 0))"
		 " from pg_statio_user_tables where schemaname = '%s'",
		 rp_conn_schema(conn));
	return ask_sql(conn, sql);
}

static void
measure(struct db *db, int64_t costs[CALLS])
{
	/* On a server, a sweep reads the places of the line that claims have
	 * passed since the last sweeps. */
	for (int i = 0; i < 2 && !*db->path; i++) {
		wait_until(db->conn, now_ms() + 1100);
		sweep(db->conn);
	}
	for (size_t i = 0; i < CALLS; i++) {
		calls[i].run(db->conn);
		if (*db->path) {
			costs[i] = steps_of(db->conn, &calls[i]);
		} else {
			costs[i] = -pages_accessed(db->conn);
			calls[i].run(db->conn);
			costs[i] += pages_accessed(db->conn);
		}
	}
}

static void
P8_no_call_costs_more_if_there_are_more_jobs(void **state)
{
	struct db *db = *state;
	rp_queue queue = RP_QUEUE_INIT, limited = RP_QUEUE_INIT;
	int64_t few[CALLS], many[CALLS];
	int failures = 0;

	if (!counts_at_once(db))
		return;
	queue.name = "q";
	queue.group_limit = 1;
	queue.keep_done_ms = LONG_MS;
	ok(db->conn, rp_queue_set(db->conn, &queue));
	limited.name = "limited";
	limited.run_limit = 10;
	limited.rate_count = 1000;
	limited.rate_ms = LONG_MS;
	ok(db->conn, rp_queue_set(db->conn, &limited));
	add_jobs(db->conn, FEW);
	measure(db, few);
	add_jobs(db->conn, MANY);
	measure(db, many);
	for (size_t i = 0; i < CALLS; i++) {
		if (many[i] <= few[i] * 3 / 2 + 50)
			continue;
		print_error("%s costs %lld with few jobs, %lld with many\n",
			    calls[i].name, (long long)few[i],
			    (long long)many[i]);
		failures++;
	}
	assert_int_equal(failures, 0);
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		CASE(P8_no_call_costs_more_if_there_are_more_jobs),
	};

	databases_at(argc, argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
