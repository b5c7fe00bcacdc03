/*
 * flat.c - test that the cost of a call does not grow with the number of jobs,
 * and on SQLite also not with the number of queues.
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
#define QUEUES 300
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

static void
put_and_complete(rp_conn *conn, const char *queue, const rp_job_spec *spec)
{
	int64_t id = put_spec(conn, queue, spec);
	rp_batch *batch = take(conn, queue, 1, LONG_MS);
	const rp_job *job = rp_batch_at(batch, 0);

	assert_int_equal(job->id, id);
	ok(conn, rp_complete(conn, id, job->claim_no));
	rp_batch_free(batch);
}

/* Add n queues in each of which a job was completed, and n schedules. */
static void
add_queues(const struct db *db, int n)
{
	rp_conn *conn = connect_to(db);
	rp_schedule schedule = RP_SCHEDULE_INIT;
	rp_job_spec job = job_of("x");
	static int number;
	char name[16];

	schedule.name = schedule.queue = name;
	schedule.spec = "every 1h";
	for (int i = 0; i < n; i++) {
		snprintf(name, sizeof(name), "q%d", number++);
		put_and_complete(conn, name, &job);
		ok(conn, rp_schedule_set(conn, &schedule, 0));
	}
	rp_close(conn); /* this writes the tally */
}

/* ---- the calls ---- */

struct call {
	const char *name;
	void (*run)(rp_conn *conn);
	/* 1: on a server, the cost depends on what has happened since the last
	 * sweeps */
	int depends_on_sweeps;
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
	rp_job_spec job = job_of("x");

	put_and_complete(conn, "limited", &job);
}

/* SQLite deletes a large payload after the commit. */
static void
complete_large(rp_conn *conn)
{
	static char payload[2 * IN_ROW];
	rp_job_spec job = job_of(payload);

	job.payload_size = sizeof(payload);
	put_and_complete(conn, "limited", &job);
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
list_one_queue(rp_conn *conn)
{
	rp_queues *queues;

	ok(conn, rp_queue_list(conn, "limited", &queues));
	rp_queues_free(queues);
}

static void
count_one_queue(rp_conn *conn)
{
	rp_stats *stats;

	ok(conn, rp_stats_get(conn, "limited", &stats));
	rp_stats_free(stats);
}

static void
set_schedule(rp_conn *conn)
{
	rp_schedule schedule = RP_SCHEDULE_INIT;

	schedule.name = schedule.queue = "limited";
	schedule.spec = "every 1h";
	ok(conn, rp_schedule_set(conn, &schedule, 1));
	ok(conn, rp_schedule_pause(conn, "limited"));
	ok(conn, rp_schedule_resume(conn, "limited"));
}

static void
hold(rp_conn *conn)
{
	ok(conn, rp_queue_hold(conn, "q", "nobody", LONG_MS));
	ok(conn, rp_queue_hold(conn, "q", "nobody", 0));
}

static const struct call calls[] = {
	{ "enqueue", enqueue, 0 },
	{ "enqueue two jobs, then one", enqueue_two_and_one, 0 },
	{ "enqueue with a delay", enqueue_later, 0 },
	{ "enqueue with a unique key", enqueue_unique, 0 },
	{ "enqueue into a group", enqueue_grouped, 0 },
	{ "enqueue two into a group", enqueue_two_grouped, 0 },
	{ "complete", complete, 0 },
	{ "fail", fail_one, 0 },
	{ "fail for good", bury, 0 },
	{ "release", release, 0 },
	{ "extend", extend, 0 },
	{ "complete in a group", complete_grouped, 0 },
	{ "complete in a queue with a limit", complete_limited, 0 },
	{ "complete a job with a large payload", complete_large, 0 },
	{ "cancel and retry", cancel, 0 },
	{ "cancel in a group", cancel_grouped, 0 },
	{ "sweep", sweep, 1 },
	{ "probe", probe, 0 },
	{ "why", explain, 0 },
	{ "list", list, 0 },
	{ "list one queue", list_one_queue, 0 },
	{ "count the jobs of one queue", count_one_queue, 1 },
	{ "set, pause and resume a schedule", set_schedule, 0 },
	{ "hold a group", hold, 0 },
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

/* Autovacuum accesses pages, too. Without it, the plans also remain those for
 * tables without statistics. */
static void
stop_autovacuum(rp_conn *conn)
{
	char sql[400];

	snprintf(sql, sizeof(sql),
		 "do $$declare t regclass; begin"
		 " for t in select oid from pg_class where relkind = 'r'"
		 " and relnamespace = '%s'::regnamespace loop"
		 " execute format('alter table %%s"
		 " set (autovacuum_enabled = off)', t);"
		 " end loop; end$$",
		 rp_conn_schema(conn));
	ask_sql(conn, sql);
}

static void
measure(struct db *db, int64_t costs[CALLS])
{
	for (size_t i = 0; i < CALLS; i++) {
		calls[i].run(db->conn);
		if (*db->path) {
			costs[i] = steps_of(db->conn, &calls[i]);
		} else if (calls[i].depends_on_sweeps) {
			costs[i] = 0;
		} else {
			costs[i] = -pages_accessed(db->conn);
			calls[i].run(db->conn);
			costs[i] += pages_accessed(db->conn);
		}
	}
}

static void
expect_flat(const int64_t few[CALLS], const int64_t many[CALLS])
{
	int failures = 0;

	for (size_t i = 0; i < CALLS; i++) {
		if (many[i] <= few[i] * 3 / 2 + 50)
			continue;
		print_error("%s costs %lld with few, %lld with many\n",
			    calls[i].name, (long long)few[i],
			    (long long)many[i]);
		failures++;
	}
	assert_int_equal(failures, 0);
}

static void
make_queues(rp_conn *conn)
{
	rp_queue queue = RP_QUEUE_INIT, limited = RP_QUEUE_INIT;

	queue.name = "q";
	queue.group_limit = 1;
	queue.keep_done_ms = LONG_MS;
	ok(conn, rp_queue_set(conn, &queue));
	limited.name = "limited";
	limited.run_limit = 10;
	limited.rate_count = 1000;
	limited.rate_ms = LONG_MS;
	ok(conn, rp_queue_set(conn, &limited));
}

static void
P8_no_call_costs_more_if_there_are_more_jobs(void **state)
{
	struct db *db = *state;
	int64_t few[CALLS], many[CALLS];

	if (!counts_at_once(db))
		return;
	if (!*db->path) /* on a server */
		stop_autovacuum(db->conn);
	make_queues(db->conn);
	add_jobs(db->conn, FEW);
	measure(db, few);
	add_jobs(db->conn, MANY);
	measure(db, many);
	expect_flat(few, many);
}

/* Only a sweep looks at each queue. */
static void
P8_no_call_but_a_sweep_costs_more_if_there_are_more_queues(void **state)
{
	struct db *db = *state;
	int64_t few[CALLS], many[CALLS];

	if (!*db->path) /* on a server */
		return;
	make_queues(db->conn);
	add_jobs(db->conn, FEW);
	measure(db, few);
	add_queues(db, QUEUES);
	measure(db, many);
	for (size_t i = 0; i < CALLS; i++)
		if (calls[i].run == sweep)
			many[i] = few[i];
	expect_flat(few, many);
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		CASE(P8_no_call_costs_more_if_there_are_more_jobs),
		CASE(P8_no_call_but_a_sweep_costs_more_if_there_are_more_queues),
	};

	databases_at(argc, argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
