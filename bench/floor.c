/*
 * floor.c - the raw floor: a queue written by hand against SQLite. It does only
 * what a correct queue must do. The benchmarks compare the library with this
 * queue.
 *
 * The floor has the library's own tables and indexes, statements that are
 * prepared once, and one BEGIN IMMEDIATE ... COMMIT per batch. Where a loop can
 * be written in two ways, the way that was faster in measurements is used. Each
 * statement that changes jobs opens five indexes, and this costs more than to
 * insert a row. So one statement inserts all rows of a batch. Batches of at
 * least WIDE jobs are also updated and deleted by one statement, under one
 * claim number. For smaller batches a statement for each job is faster.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "floor.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench.h"

#define WIDE 32
#define LEASE_MS 60000
#define FILL 100000

/* A claimed job. */
struct job {
	sqlite3_int64 id, claim_no;
	int attempt, max_attempts;
	char *kind, *headers;
	size_t payload_size;
	char payload[PAYLOAD];
};

struct floor {
	sqlite3 *db;
	/* a readpast handle on `db`, with which the benchmark reads the cost of
	 * the hand-written statements; NULL until it is needed */
	rp_conn *conn;
	size_t n, held;
	struct job *jobs;
	sqlite3_stmt *begin, *commit, *last, *insert, *line, *lease, *delete;
};

/* ---- opening ---- */

static void
check(sqlite3 *db, int rc)
{
	if (rc != SQLITE_OK && rc != SQLITE_DONE)
		die("floor: %s", sqlite3_errmsg(db));
}

static void
execute(sqlite3 *db, const char *sql)
{
	check(db, sqlite3_exec(db, sql, NULL, NULL, NULL));
}

static sqlite3_stmt *
prepare(sqlite3 *db, const char *sql)
{
	sqlite3_stmt *stmt;

	check(db, sqlite3_prepare_v3(db, sql, -1, SQLITE_PREPARE_PERSISTENT,
				     &stmt, NULL));
	return stmt;
}

/* Prepare a statement that consists of `head`, `n` copies of `item`, and
 * `tail`. The first %d in `item` becomes the number of a parameter of the
 * statement: `parameter` in the first copy, and one more in each further copy.
 * A second %d becomes the number of the copy, counted from 1. */
static sqlite3_stmt *
prepare_many(sqlite3 *db, const char *head, const char *item, int parameter,
	     const char *tail, size_t n)
{
	sqlite3_str *sql = sqlite3_str_new(db);
	sqlite3_stmt *stmt;
	char *text;

	sqlite3_str_appendall(sql, head);
	for (size_t i = 0; i < n; i++) {
		sqlite3_str_appendall(sql, i ? "," : "");
		sqlite3_str_appendf(sql, item, parameter + (int)i, (int)i + 1);
	}
	sqlite3_str_appendall(sql, tail);
	text = sqlite3_str_finish(sql);
	stmt = prepare(db, text);
	sqlite3_free(text);
	return stmt;
}

static sqlite3 *
open_raw(const char *path, const char *synchronous)
{
	char sql[80];
	sqlite3 *db;

	check(NULL, sqlite3_open_v2(path, &db,
				    SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX,
				    NULL));
	check(db, sqlite3_busy_timeout(db, 10000));
	snprintf(sql, sizeof(sql),
		 "pragma journal_mode = wal; pragma synchronous = %s",
		 synchronous);
	execute(db, sql);
	return db;
}

static void
prepare_claim(struct floor *f)
{
	f->line = prepare(f->db,
			  "select id, claim_no, attempt, max_attempts, kind,"
			  " headers, payload"
			  " from readpast_job"
			  " where queue_id = 1 and seq is not null"
			  " order by priority, class, seq limit ?1");
	if (f->n < WIDE) {
		f->lease =
			prepare(f->db, "update readpast_job set seq = null,"
				       " lease_until = ?1, claim_no = ?2,"
				       " attempt = attempt + 1, worker_id = 0"
				       " where id = ?3");
		f->delete = prepare(f->db, "delete from readpast_job"
					   " where claim_no = ?1 and id = ?2");
		return;
	}
	f->lease = prepare_many(f->db,
				"update readpast_job set seq = null,"
				" lease_until = ?1, claim_no = ?2,"
				" attempt = attempt + 1, worker_id = 0"
				" where id in (",
				"?%d", 3, ")", f->n);
	f->delete = prepare_many(f->db,
				 "delete from readpast_job"
				 " where claim_no = ?1 and id in (",
				 "?%d", 2, ")", f->n);
}

struct floor *
floor_open(const char *path, const char *synchronous, size_t n)
{
	struct floor *f = allocate(sizeof(*f));

	f->db = open_raw(path, synchronous);
	f->n = n;
	f->jobs = allocate(n * sizeof(*f->jobs));
	f->begin = prepare(f->db, "begin immediate");
	f->commit = prepare(f->db, "commit");
	f->last = prepare(f->db, "select seq from readpast_job"
				 " where queue_id = 1 and priority = 100"
				 " and class = 2 and seq is not null"
				 " order by seq desc limit 1");
	f->insert = prepare_many(
		f->db,
		"insert into readpast_job (payload, seq, queue_id, run_at,"
		" created_at) values ",
		"(?%d, ?1 + %d, 1, ?2, ?2)", 3, "", n);
	prepare_claim(f);
	return f;
}

static void
forget(struct floor *f)
{
	for (size_t i = 0; i < f->held; i++) {
		free(f->jobs[i].kind);
		free(f->jobs[i].headers);
	}
	f->held = 0;
}

void
floor_close(struct floor *f)
{
	forget(f);
	rp_close(f->conn);
	sqlite3_finalize(f->begin);
	sqlite3_finalize(f->commit);
	sqlite3_finalize(f->last);
	sqlite3_finalize(f->insert);
	sqlite3_finalize(f->line);
	sqlite3_finalize(f->lease);
	sqlite3_finalize(f->delete);
	check(f->db, sqlite3_close(f->db));
	free(f->jobs);
	free(f);
}

rp_conn *
floor_conn(struct floor *f)
{
	rp_error error;

	if (!f->conn && rp_attach("sqlite", f->db, NULL, &f->conn, &error) < 0)
		die("rp_attach: %s", error.message);
	return f->conn;
}

void *
floor_connect(const char *path, const char *synchronous)
{
	char *pragma = text("pragma synchronous = %s", synchronous);
	sqlite3 *db;

	if (sqlite3_open(path, &db) != SQLITE_OK ||
	    sqlite3_busy_timeout(db, 10000) != SQLITE_OK ||
	    sqlite3_exec(db, pragma, NULL, NULL, NULL) != SQLITE_OK)
		die("%s: %s", path, sqlite3_errmsg(db));
	free(pragma);
	return db;
}

void
floor_disconnect(void *native)
{
	sqlite3_close(native);
}

/* ---- the loops ---- */

static void
run(struct floor *f, sqlite3_stmt *stmt)
{
	check(f->db, sqlite3_step(stmt));
	sqlite3_reset(stmt);
}

static sqlite3_int64
now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return t.tv_sec * INT64_C(1000000) + t.tv_nsec / 1000;
}

size_t
floor_enqueue(struct floor *f, const void *payload, size_t size)
{
	sqlite3_int64 seq = 0;

	run(f, f->begin);
	if (sqlite3_step(f->last) == SQLITE_ROW)
		seq = sqlite3_column_int64(f->last, 0);
	sqlite3_reset(f->last);
	sqlite3_bind_int64(f->insert, 1, seq);
	sqlite3_bind_int64(f->insert, 2, now_us() / 1000);
	for (size_t i = 0; i < f->n; i++)
		sqlite3_bind_blob(f->insert, (int)i + 3, payload, (int)size,
				  SQLITE_STATIC);
	run(f, f->insert);
	run(f, f->commit);
	return f->n;
}

static char *
copy_text(sqlite3_stmt *stmt, int column)
{
	const char *text = (const char *)sqlite3_column_text(stmt, column);

	return text ? strdup(text) : NULL;
}

static void
read_job(struct floor *f, struct job *job)
{
	const void *payload = sqlite3_column_blob(f->line, 6);

	job->id = sqlite3_column_int64(f->line, 0);
	job->claim_no = sqlite3_column_int64(f->line, 1) + 1;
	job->attempt = sqlite3_column_int(f->line, 2) + 1;
	job->max_attempts = sqlite3_column_int(f->line, 3);
	job->kind = copy_text(f->line, 4);
	job->headers = copy_text(f->line, 5);
	job->payload_size = (size_t)sqlite3_column_bytes(f->line, 6);
	if (job->payload_size > sizeof(job->payload))
		die("floor: a payload of another size");
	memcpy(job->payload, payload, job->payload_size);
}

/* Lease all held jobs under one new claim number. It is larger than the claim
 * number that any of these jobs had before. */
static void
lease_all(struct floor *f, sqlite3_int64 now)
{
	sqlite3_int64 claim_no = now;

	for (size_t i = 0; i < f->held; i++)
		if (f->jobs[i].claim_no > claim_no)
			claim_no = f->jobs[i].claim_no;
	sqlite3_bind_int64(f->lease, 2, claim_no);
	for (size_t i = 0; i < f->n; i++)
		if (i < f->held) {
			f->jobs[i].claim_no = claim_no;
			sqlite3_bind_int64(f->lease, (int)i + 3, f->jobs[i].id);
		} else {
			sqlite3_bind_null(f->lease, (int)i + 3);
		}
	run(f, f->lease);
}

static void
claim(struct floor *f)
{
	sqlite3_int64 now = now_us();

	forget(f);
	sqlite3_bind_int64(f->line, 1, (sqlite3_int64)f->n);
	while (sqlite3_step(f->line) == SQLITE_ROW)
		read_job(f, &f->jobs[f->held++]);
	sqlite3_reset(f->line);
	sqlite3_bind_int64(f->lease, 1, now / 1000 + LEASE_MS);
	if (f->n >= WIDE && f->held) {
		lease_all(f, now);
		return;
	}
	for (size_t i = 0; i < f->held; i++) {
		struct job *job = &f->jobs[i];

		if (job->claim_no < now)
			job->claim_no = now;
		sqlite3_bind_int64(f->lease, 2, job->claim_no);
		sqlite3_bind_int64(f->lease, 3, job->id);
		run(f, f->lease);
	}
}

static void
complete(struct floor *f)
{
	size_t deleted = 0;

	if (f->n >= WIDE && f->held) {
		sqlite3_bind_int64(f->delete, 1, f->jobs[0].claim_no);
		for (size_t i = 0; i < f->n; i++)
			if (i < f->held)
				sqlite3_bind_int64(f->delete, (int)i + 2,
						   f->jobs[i].id);
			else
				sqlite3_bind_null(f->delete, (int)i + 2);
		run(f, f->delete);
		deleted = (size_t)sqlite3_changes(f->db);
	} else {
		for (size_t i = 0; i < f->held; i++) {
			sqlite3_bind_int64(f->delete, 1, f->jobs[i].claim_no);
			sqlite3_bind_int64(f->delete, 2, f->jobs[i].id);
			run(f, f->delete);
			deleted += (size_t)sqlite3_changes(f->db);
		}
	}
	if (deleted != f->held)
		die("floor: %zu of %zu jobs completed", deleted, f->held);
}

size_t
floor_claim(struct floor *f)
{
	run(f, f->begin);
	claim(f);
	run(f, f->commit);
	return f->held;
}

size_t
floor_complete(struct floor *f)
{
	size_t held = f->held;

	run(f, f->begin);
	complete(f);
	run(f, f->commit);
	forget(f);
	return held;
}

size_t
floor_turn(struct floor *f)
{
	run(f, f->begin);
	complete(f);
	claim(f);
	run(f, f->commit);
	return f->held;
}

/* ---- filling ---- */

void
floor_fill(const char *path, size_t n, int clear)
{
	sqlite3 *db = open_raw(path, "off");
	sqlite3_stmt *stmt;

	if (clear)
		execute(db, "delete from readpast_job");
	stmt = prepare(db,
		       "with recursive number (i) as"
		       " (select 1 union all"
		       "  select i + 1 from number where i < ?1)"
		       " insert into readpast_job (queue_id, seq, run_at,"
		       "  created_at, payload)"
		       " select 1, i + coalesce((select seq from readpast_job"
		       "  where queue_id = 1 and priority = 100 and class = 2"
		       "  and seq is not null order by seq desc limit 1), 0),"
		       "  ?2, ?2, cast(printf('%0*d', ?3, 0) as blob)"
		       " from number");
	sqlite3_bind_int64(stmt, 2, now_us() / 1000);
	sqlite3_bind_int(stmt, 3, PAYLOAD);
	for (size_t left = n; left;) {
		size_t some = left < FILL ? left : FILL;

		sqlite3_bind_int64(stmt, 1, (sqlite3_int64)some);
		check(db, sqlite3_step(stmt));
		sqlite3_reset(stmt);
		left -= some;
	}
	sqlite3_finalize(stmt);
	execute(db, "pragma wal_checkpoint(truncate)");
	check(db, sqlite3_close(db));
}
