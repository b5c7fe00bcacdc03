/*
 * pair.c - make two databases for tests of rp_copy(); see pair.h.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "pair.h"

#include <sqlite3.h>

#define DAY_MS INT64_C(86400000)

static const char *kinds[2] = { "sqlite:", "sqlite:" };
static const char *zone = "Europe/Berlin";

void
pairs_of(int argc, char **argv)
{
	databases_at(1, argv);
	for (int i = 0; i < 2 && i + 1 < argc; i++)
		kinds[i] = argv[i + 1];
}

void
schedules_in(const char *of_zone)
{
	zone = of_zone;
}

/* ---- a source with jobs of all kinds ---- */

/* Make a job that is done and not kept, and whose unique key stays taken. */
static void
take_key(rp_conn *conn)
{
	rp_job_spec job = job_of("once a day");
	struct claim claim;

	job.unique_key = "taken";
	job.unique_for_ms = DAY_MS;
	ok(conn, rp_enqueue(conn, "other", &job, NULL));
	assert_int_equal(take_one(conn, "other", 60000, &claim), 1);
	ok(conn, rp_complete(conn, claim.id, claim.no));
}

/* Make two schedules. The first has fired, and the second is paused. */
static void
add_schedules(rp_conn *conn)
{
	rp_schedule s = RP_SCHEDULE_INIT;
	rp_swept swept = RP_SWEPT_INIT;

	s.name = "nightly";
	s.queue = "mail";
	s.spec = "every 1s";
	s.zone = zone;
	s.payload = "a\0b";
	s.payload_size = 3;
	s.kind = "k";
	s.headers = "{\"a\":\"b\"}";
	s.priority = 7;
	s.missed = RP_MISSED_ALL;
	s.overlap = RP_OVERLAP_SKIP;
	ok(conn, rp_schedule_set(conn, &s, 0));
	while (swept.fired == 0)
		ok(conn, rp_sweep(conn, &swept));
	s.spec = "0 0 1 1 *";
	ok(conn, rp_schedule_set(conn, &s, 1));
	s.name = "asleep";
	s.queue = "idle";
	ok(conn, rp_schedule_set(conn, &s, 0));
	ok(conn, rp_schedule_pause(conn, "asleep"));
}

static void
put_all(rp_conn *conn)
{
	rp_job_spec job = RP_JOB_SPEC_INIT;
	char text[20000];

	job.payload = "a\0b\xff";
	job.payload_size = 4;
	ok(conn, rp_enqueue(conn, "mail", &job, NULL));
	job = job_of("\xc3\xbcn\xc3\xaf"
		     "code \"quoted\"");
	job.kind = "k";
	job.headers = "{\"a\":\"b \\\"c\\\"\"}";
	job.unique_key = "key";
	job.keep_ms = 5;
	job.timeout_ms = 6;
	job.expire_ms = DAY_MS;
	job.backoff = "[7,8]";
	job.unique_for_ms = 9;
	job.group_key = "acme";
	ok(conn, rp_enqueue(conn, "mail", &job, NULL));
	job = job_of("later");
	job.delay_ms = DAY_MS;
	job.max_attempts = 2;
	ok(conn, rp_enqueue(conn, "mail", &job, NULL));
	for (int i = 0; i < 15; i++) {
		memset(text, 'x', sizeof(text));
		snprintf(text, sizeof(text), "%d", i);
		job = job_of(text);
		if (i % 4 == 1) /* a large payload, which SQLite stores in a
				 * table of its own */
			job.payload_size = sizeof(text);
		job.priority = i < 10 ? -1 : 5;
		ok(conn,
		   rp_enqueue(conn, i % 5 ? "mail" : "other", &job, NULL));
	}
}

static void
settle_all(rp_conn *conn)
{
	static const int verdicts[] = { RP_FAIL, RP_FAIL, RP_DEAD, RP_RELEASE,
					RP_DONE };
	rp_batch *batch = take(conn, "mail", 6, 60000);

	for (size_t i = 0; i < 5; i++) {
		rp_verdict v = RP_VERDICT_INIT;

		v.id = rp_batch_at(batch, i)->id;
		v.claim_no = rp_batch_at(batch, i)->claim_no;
		v.verdict = verdicts[i];
		v.delay_ms = i == 0 ? DAY_MS : i == 1 ? 0 : -1;
		v.error = verdicts[i] == RP_DONE ? NULL : "a \"failure\"";
		if (verdicts[i] == RP_DONE) {
			v.result_bytes = "r\0s";
			v.result_size = 3;
		} else {
			v.progress = "half";
		}
		assert_int_equal(ok(conn, rp_settle(conn, &v, 1)), 1);
	}
	ok(conn, rp_job_cancel(conn, rp_batch_at(batch, 5)->id, NULL));
	rp_batch_free(batch);
}

/* Let a job's lease run out. */
static void
recover_one(rp_conn *conn)
{
	rp_swept swept = RP_SWEPT_INIT;
	struct claim claim;

	assert_int_equal(take_one(conn, "mail", 1, &claim), 1);
	while (!swept.recovered)
		ok(conn, rp_sweep(conn, &swept));
}

static void
fill(rp_conn *conn)
{
	rp_queue mail = RP_QUEUE_INIT, other = RP_QUEUE_INIT;
	rp_queue idle = RP_QUEUE_INIT;

	mail.name = "mail";
	mail.max_attempts = 7;
	mail.lease_ms = 90000;
	mail.keep_done_ms = DAY_MS;
	mail.max_payload = 1 << 20;
	settings(conn, mail);
	other.name = "other";
	other.backoff_ms = 3000;
	other.priority = 250;
	settings(conn, other);
	idle.name = "idle";
	settings(conn, idle);
	ok(conn, rp_queue_pause(conn, "idle", "not yet"));
	take_key(conn);
	put_all(conn);
	settle_all(conn);
	recover_one(conn);
	add_schedules(conn);
}

/* ---- a pair ---- */

struct pair *
make_pair(void)
{
	struct pair *pair = calloc(1, sizeof(*pair));

	pair->from = make_db(kinds[0]);
	pair->to = make_db(kinds[1]);
	assert_non_null(pair->from);
	assert_non_null(pair->to);
	fill(pair->from->conn);
	pair->rows = rows_of(pair->from->conn);
	pair->jobs = jobs_of(pair->from->conn);
	ok(pair->from->conn,
	   rp_schedule_list(pair->from->conn, NULL, &pair->schedules));
	return pair;
}

void
free_pair(struct pair *pair)
{
	sqlite3_close(pair->model_from);
	sqlite3_close(pair->model_to);
	remove_db(pair->from);
	remove_db(pair->to);
	free(pair->rows);
	free_jobs(pair->jobs);
	rp_schedules_free(pair->schedules);
	free(pair);
}

int
setup_pair(void **state)
{
	*state = make_pair();
	return 0;
}

int
teardown_pair(void **state)
{
	free_pair(*state);
	return 0;
}

/* ---- save and restore the databases ---- */

static void
copy_file(sqlite3 *to, sqlite3 *from)
{
	sqlite3_backup *backup = sqlite3_backup_init(to, "main", from, "main");

	assert_non_null(backup);
	assert_int_equal(sqlite3_backup_step(backup, -1), SQLITE_DONE);
	assert_int_equal(sqlite3_backup_finish(backup), SQLITE_OK);
}

/* Run one statement for each table of the schema, and another statement for
 * each sequence. */
static void
for_each_table(struct db *db, const char *table, const char *sequence)
{
	char sql[2000];

	snprintf(sql, sizeof(sql),
		 "do $$ declare t record; begin"
		 " set local session_replication_role = replica;"
		 " for t in select c.oid::regclass as its, c.relname as name,"
		 "   c.relkind as kind,"
		 "   (select string_agg(quote_ident(a.attname), ', ')"
		 "      from pg_attribute a where a.attrelid = c.oid"
		 "       and a.attnum > 0 and not a.attisdropped"
		 "       and a.attgenerated = '') as columns"
		 "  from pg_class c where c.relkind in ('r', 'S')"
		 "   and c.relnamespace = '%s'::regnamespace loop"
		 " if t.kind = 'r' then execute %s;"
		 " else execute %s; end if; end loop; end $$",
		 db->schema, table, sequence);
	assert_int_equal(run_sql(db->conn, sql, NULL), 0);
}

static void
save(struct db *db, void **model)
{
	/* Do not wait for the disk. There are many copies, and no test cuts the
	 * power. */
	assert_int_equal(run_sql(db->conn,
				 *db->schema ? "set synchronous_commit = off"
					     : "pragma synchronous = off",
				 NULL),
			 0);
	if (!*db->schema) {
		sqlite3_open(":memory:", (sqlite3 **)model);
		copy_file(*model, rp_conn_native(db->conn));
		return;
	}
	for_each_table(db,
		       "format('create temp table \"model %s\" as"
		       " select * from %s', t.name, t.its)",
		       "format('create temp table \"model %s\" as"
		       " select * from %s', t.name, t.its)");
}

static void
restore(struct db *db, void *model)
{
	if (!*db->schema) {
		copy_file(rp_conn_native(db->conn), model);
		return;
	}
	for_each_table(
		db,
		"format('delete from %s; insert into %1$s (%s)"
		" overriding system value select %2$s from \"model %s\"',"
		" t.its, t.columns, t.name)",
		"format('select setval(''%s'', last_value, is_called)"
		" from \"model %s\"', t.its, t.name)");
}

void
save_pair(struct pair *pair)
{
	save(pair->from, &pair->model_from);
	save(pair->to, &pair->model_to);
}

void
restore_pair(struct pair *pair)
{
	restore(pair->from, pair->model_from);
	restore(pair->to, pair->model_to);
}

/* ---- expected results of a copy ---- */

int
is_paused(rp_conn *conn, const char *queue)
{
	rp_queues *queues;
	int paused;

	ok(conn, rp_queue_list(conn, queue, &queues));
	paused = rp_queues_at(queues, 0)->paused_at != 0;
	rp_queues_free(queues);
	return paused;
}

void
expect_source_untouched(const struct pair *pair)
{
	char *rows = rows_of(pair->from->conn);

	assert_string_equal(rows, pair->rows);
	free(rows);
}

static void
expect_jobs(const struct pair *pair, rp_conn *conn, int64_t shift)
{
	struct jobs *jobs = jobs_of(conn);

	expect_same_jobs(pair->jobs, jobs, shift);
	free_jobs(jobs);
}

static void
expect_same_settings(const struct pair *pair)
{
	rp_queues *ours, *theirs;

	ok(pair->from->conn, rp_queue_list(pair->from->conn, NULL, &ours));
	for (size_t i = 0; i < rp_queues_count(ours); i++) {
		rp_queue a = *rp_queues_at(ours, i), b;

		ok(pair->to->conn,
		   rp_queue_list(pair->to->conn, a.name, &theirs));
		b = *rp_queues_at(theirs, 0);
		b.name = a.name;
		/* A move pauses the source's queue with this reason. The
		 * target's queue does not have this reason. */
		if (a.pause_reason && strstr(a.pause_reason, "were moved"))
			a.pause_reason = b.pause_reason;
		assert_string_equal(a.pause_reason ? a.pause_reason : "-",
				    b.pause_reason ? b.pause_reason : "-");
		a.pause_reason = b.pause_reason = NULL;
		a.paused_at = b.paused_at = 0;
		assert_memory_equal(&a, &b, sizeof(a));
		rp_queues_free(theirs);
	}
	rp_queues_free(ours);
}

static void
expect_text(const char *expected, const char *got)
{
	assert_string_equal(got ? got : "-", expected ? expected : "-");
}

/* Compare the schedules of a copy with those of its source. `paused` means that
 * all copied schedules must be paused. */
static void
expect_schedules(const struct pair *pair, rp_conn *conn, int paused,
		 int64_t shift)
{
	rp_schedules *got;

	ok(conn, rp_schedule_list(conn, NULL, &got));
	assert_int_equal(rp_schedules_count(got), 2);
	for (size_t i = 0; i < rp_schedules_count(got); i++) {
		const rp_schedule *a = rp_schedules_at(pair->schedules, i);
		const rp_schedule *b = rp_schedules_at(got, i);

		expect_text(a->name, b->name);
		expect_text(a->queue, b->queue);
		expect_text(a->spec, b->spec);
		expect_text(a->zone, b->zone);
		assert_int_equal(a->payload_size, b->payload_size);
		assert_memory_equal(a->payload, b->payload, a->payload_size);
		expect_text(a->kind, b->kind);
		expect_text(a->headers, b->headers);
		assert_int_equal(a->priority, b->priority);
		assert_int_equal(a->missed, b->missed);
		assert_int_equal(a->overlap, b->overlap);
		assert_int_equal(a->next_at, b->next_at);
		assert_int_equal(a->last_at, b->last_at);
		assert_int_equal(a->last_job_id ? a->last_job_id + shift : 0,
				 b->last_job_id);
		expect_text(a->last_error, b->last_error);
		assert_int_equal(a->paused_at != 0 || paused,
				 b->paused_at != 0);
		assert_int_equal(a->created_at, b->created_at);
		assert_int_equal(a->anchor_at, b->anchor_at);
	}
	rp_schedules_free(got);
}

/* Check that the key of the done job is still taken, although the job is not
 * kept. */
static void
expect_key_taken(rp_conn *conn)
{
	rp_job_spec job = job_of("again");
	rp_added added = { 0, 0 };

	job.unique_key = "taken";
	ok(conn, rp_enqueue(conn, "other", &job, &added));
	assert_int_equal(added.outcome, RP_EXISTED);
	assert_int_equal(state_of(conn, added.id), 0);
}

void
expect_copied(const struct pair *pair, int64_t shift)
{
	expect_schedules(pair, pair->from->conn, 0, 0);
	expect_schedules(pair, pair->to->conn, 1, shift);
	expect_key_taken(pair->from->conn);
	expect_key_taken(pair->to->conn);
	expect_jobs(pair, pair->to->conn, shift);
	expect_jobs(pair, pair->from->conn, 0);
	expect_same_settings(pair);
	assert_false(is_paused(pair->from->conn, "mail"));
	assert_false(is_paused(pair->from->conn, "other"));
	assert_true(is_paused(pair->from->conn, "idle"));
	assert_true(is_paused(pair->to->conn, "mail"));
	assert_true(is_paused(pair->to->conn, "other"));
}

void
expect_moved(const struct pair *pair, int64_t shift)
{
	struct jobs *left = jobs_of(pair->from->conn);
	rp_schedules *stayed;

	assert_int_equal(left->count, 0);
	free_jobs(left);
	ok(pair->from->conn, rp_schedule_list(pair->from->conn, NULL, &stayed));
	assert_int_equal(rp_schedules_count(stayed), 0);
	rp_schedules_free(stayed);
	expect_schedules(pair, pair->to->conn, 0, shift);
	expect_key_taken(pair->from->conn);
	expect_key_taken(pair->to->conn);
	expect_jobs(pair, pair->to->conn, shift);
	expect_same_settings(pair);
	assert_true(is_paused(pair->from->conn, "mail"));
	assert_true(is_paused(pair->from->conn, "other"));
	assert_false(is_paused(pair->to->conn, "mail"));
	assert_false(is_paused(pair->to->conn, "other"));
	assert_true(is_paused(pair->to->conn, "idle"));
}
