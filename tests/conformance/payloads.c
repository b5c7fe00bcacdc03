/*
 * payloads.c - test that large payloads are written once, and read only when
 * they are needed. SQLite only.
 *
 * The cases count the pages that a transaction writes or reads.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "check.h"

#include <sqlite3.h>

#define PAGE 4096
#define LITTLE (64 << 10)

/* ---- how many bytes are written ---- */

/* Return the bytes that were written since the last call. */
static int64_t
bytes_written(rp_conn *conn)
{
	int pages, highest;

	sqlite3_db_status(rp_conn_native(conn), SQLITE_DBSTATUS_CACHE_WRITE,
			  &pages, &highest, 1);
	return (int64_t)pages * PAGE;
}

#define expect_little(conn, call)                                              \
	do {                                                                   \
		bytes_written(conn);                                           \
		call;                                                          \
		expect_little_of(conn, #call);                                 \
	} while (0)

static void
expect_little_of(rp_conn *conn, const char *call)
{
	int64_t bytes = bytes_written(conn);

	if (bytes >= LITTLE)
		fail_msg("%s: %lld bytes", call, (long long)bytes);
}

static void
no_verdict_on_a_large_job_writes_its_payload(void **state)
{
	rp_conn *conn = ((struct db *)*state)->conn;
	struct claim c;
	rp_swept swept = RP_SWEPT_INIT;

	keep_for(conn, 60000, 60000);
	put_sized(conn, EIGHT_MIB, 1);
	expect_little(conn, c = claim_one(conn, 60000));
	expect_little(conn, settle_one(conn, c, RP_EXTEND, 60000));
	expect_little(conn, settle_one(conn, c, RP_RELEASE, 0));
	c = claim_one(conn, 60000);
	expect_little(conn, settle_one(conn, c, RP_FAIL, 1));
	sleep_ms(3);
	expect_little(conn, ok(conn, rp_sweep(conn, &swept)));
	assert_int_equal(swept.due, 1);
	c = claim_one(conn, 1);
	sleep_ms(3);
	expect_little(conn, ok(conn, rp_sweep(conn, &swept)));
	assert_int_equal(swept.recovered, 1);
	c = claim_one(conn, 60000);
	expect_little(conn, settle_one(conn, c, RP_DEAD, -1));
	expect_little(conn, ok(conn, rp_job_retry(conn, c.id, NULL)));
	expect_little(conn, ok(conn, rp_job_cancel(conn, c.id, NULL)));
	expect_little(conn, ok(conn, rp_job_retry(conn, c.id, NULL)));
	c = claim_one(conn, 60000);
	expect_little(conn, settle_one(conn, c, RP_DONE, -1));
	expect_little(conn,
		      ok(conn, rp_queue_purge(conn, "q", RP_STATE_DONE, NULL)));
	keep_for(conn, 0, 0);
	put_sized(conn, EIGHT_MIB, 2);
	c = claim_one(conn, 60000);
	expect_little(conn, settle_one(conn, c, RP_DONE, -1));
	assert_int_equal(ask_sql(conn, "select count(*) from readpast_payload"),
			 0);
}

/* ---- how many pages are read while the database is locked ---- */

struct under_lock {
	sqlite3 *db;
	int writing;
	/* largest number of pages that one transaction has read */
	int64_t most;
	void (*committed)(void *ctx);
	void *ctx;
};

static int64_t
pages_read(sqlite3 *db)
{
	int hits, misses, highest;

	sqlite3_db_status(db, SQLITE_DBSTATUS_CACHE_HIT, &hits, &highest, 1);
	sqlite3_db_status(db, SQLITE_DBSTATUS_CACHE_MISS, &misses, &highest, 1);
	return (int64_t)hits + misses;
}

static int
trace(unsigned what, void *ctx, void *stmt, void *ignored)
{
	struct under_lock *u = ctx;
	const char *sql = sqlite3_sql(stmt);
	int ends = what == SQLITE_TRACE_PROFILE;
	int64_t pages;

	(void)ignored;
	if (sql && ends && strcmp(sql, "begin immediate") == 0) {
		pages_read(u->db);
		u->writing = 1;
	} else if (u->writing && sql && ends && strcmp(sql, "commit") == 0) {
		u->writing = 0;
		pages = pages_read(u->db);
		u->most = pages > u->most ? pages : u->most;
		if (u->committed)
			u->committed(u->ctx);
		u->committed = NULL;
	}
	return 0;
}

static void
watch(struct under_lock *u, rp_conn *conn)
{
	*u = (struct under_lock){ .db = rp_conn_native(conn) };
	sqlite3_trace_v2(u->db, SQLITE_TRACE_STMT | SQLITE_TRACE_PROFILE, trace,
			 u);
}

static void
a_claim_reads_large_payloads_after_it_has_released_the_lock(void **state)
{
	rp_conn *conn = ((struct db *)*state)->conn;
	struct under_lock u;
	rp_batch *batch;

	for (unsigned i = 0; i < 16; i++)
		put_sized(conn, 1 << 20, i);
	watch(&u, conn);
	batch = take(conn, "q", 16, 60000);
	assert_int_equal(rp_batch_count(batch), 16);
	for (unsigned i = 0; i < 16; i++)
		expect_bytes(rp_batch_at(batch, i), 1 << 20, i);
	assert_in_range(u.most, 1, 500);
	rp_batch_free(batch);
}

static void
cancel_and_purge(void *ctx)
{
	ok(ctx, rp_job_cancel(ctx, 2, NULL));
	ok(ctx, rp_queue_purge(ctx, "q", RP_STATE_CANCELLED, NULL));
}

static void
a_job_that_is_purged_before_its_payload_is_read_is_not_returned(void **state)
{
	struct db *db = *state;
	struct under_lock u;
	rp_batch *batch;

	for (unsigned i = 1; i <= 3; i++)
		put_sized(db->conn, IN_ROW + i, i);
	watch(&u, db->conn);
	u.ctx = connect_to(db);
	u.committed = cancel_and_purge;
	batch = take(db->conn, "q", 3, 60000);
	assert_null(u.committed);
	assert_int_equal(rp_batch_count(batch), 2);
	expect_bytes(rp_batch_at(batch, 0), IN_ROW + 1, 1);
	expect_bytes(rp_batch_at(batch, 1), IN_ROW + 3, 3);
	rp_batch_free(batch);
	rp_close(u.ctx);
}

/* ---- readers ---- */

static const size_t sizes[] = { 0,          1,       IN_ROW - 1, IN_ROW,
				IN_ROW + 1, 1 << 20, EIGHT_MIB };
#define SIZES (sizeof(sizes) / sizeof(*sizes))

static void
expect_heads(rp_conn *conn, int state)
{
	rp_batch *batch;

	assert_int_equal(ok(conn, rp_job_list(conn, "q", state, 100, &batch)),
			 SIZES);
	for (size_t i = 0; i < SIZES; i++) {
		const rp_job *job = rp_batch_at(batch, i);
		size_t size = sizes[job->id - 1];
		char *bytes = bytes_of(size, (unsigned)job->id);

		assert_int_equal(job->payload_total, size);
		assert_int_equal(job->payload_size, size < RP_LIST_PAYLOAD
							    ? size
							    : RP_LIST_PAYLOAD);
		assert_memory_equal(job->payload, bytes, job->payload_size);
		free(bytes);
	}
	rp_batch_free(batch);
}

static void
expect_everywhere(rp_conn *conn, int state)
{
	expect_heads(conn, state);
	for (size_t i = 0; i < SIZES; i++) {
		rp_batch *batch = get(conn, (int64_t)i + 1);

		expect_bytes(rp_batch_at(batch, 0), sizes[i], (unsigned)i + 1);
		rp_batch_free(batch);
	}
	assert_int_equal(ask_sql(conn, "select sum(length(payload))"
				       " from readpast_jobs"),
			 3 * IN_ROW + 1 + (1 << 20) + EIGHT_MIB);
	assert_int_equal(ask_sql(conn, "select count(*) from readpast_payload"),
			 3);
}

static void
every_reader_finds_a_payload_of_any_size(void **state)
{
	rp_conn *conn = ((struct db *)*state)->conn;
	rp_job_spec jobs[SIZES];
	rp_batch *batch;

	for (size_t i = 0; i < SIZES; i++) {
		jobs[i] = (rp_job_spec)RP_JOB_SPEC_INIT;
		jobs[i].payload = bytes_of(sizes[i], (unsigned)i + 1);
		jobs[i].payload_size = sizes[i];
	}
	ok(conn, rp_enqueue_many(conn, "q", jobs, SIZES, NULL));
	expect_everywhere(conn, RP_STATE_READY);
	batch = take(conn, "q", SIZES, 60000);
	assert_int_equal(rp_batch_count(batch), SIZES);
	for (size_t i = 0; i < SIZES; i++) {
		expect_bytes(rp_batch_at(batch, i), sizes[i], (unsigned)i + 1);
		free((void *)(uintptr_t)jobs[i].payload);
	}
	expect_everywhere(conn, RP_STATE_RUNNING);
	for (size_t i = 0; i < SIZES; i++)
		ok(conn, rp_job_cancel(conn, rp_batch_at(batch, i)->id, NULL));
	rp_batch_free(batch);
	expect_everywhere(conn, RP_STATE_CANCELLED);
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		CASE(no_verdict_on_a_large_job_writes_its_payload),
		CASE(a_claim_reads_large_payloads_after_it_has_released_the_lock),
		CASE(a_job_that_is_purged_before_its_payload_is_read_is_not_returned),
		CASE(every_reader_finds_a_payload_of_any_size),
	};

	databases_at(argc, argv);
	return cmocka_run_group_tests_name("payloads", tests, NULL, NULL);
}
