/*
 * check.h - small helpers for the tests in C, on top of cmocka.
 *
 * A conformance program takes the kind of database as its argument, "sqlite:"
 * or "postgres:". Each case gets a database of its own: a file, or a schema on
 * the server that READPAST_TEST_POSTGRES names. "sqlite:DIR" chooses the
 * directory of the files.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#ifndef CHECK_H
#define CHECK_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#include <cmocka.h>

#include "readpast.h"

/* The database of one test case, and a connection to it. */
struct db {
	const struct kind *kind;
	char dir[200];
	char path[240];  /* path of the file; "" on a server */
	char schema[64]; /* name of the schema; "" for a file */
	char url[512];
	rp_conn *conn;
};

/* reads the kind of database from the arguments; call this first in main() */
void databases_at(int argc, char **argv);
int setup_db(void **state);
int teardown_db(void **state);

/* Make a second database for a test case that needs two. `of_kind` is its kind,
 * such as "sqlite:". */
struct db *make_db(const char *of_kind);
int remove_db(struct db *db); /* remove the database and free `db` */

/* Run SQL on the connection. Returns 0 on success. *ret becomes the first
 * number of the result. */
int run_sql(rp_conn *conn, const char *sql, int64_t *ret);
/* Run SQL that must not fail. Returns the first number of its result. */
int64_t ask_sql(rp_conn *conn, const char *sql);

/* Open another connection, for use in another thread or process. */
rp_conn *connect_to(const struct db *db);

/* Assert that the result is not negative. If it is, print the connection's
 * error message. */
#define ok(conn, call) check_result((call), (conn), #call, __FILE__, __LINE__)
int64_t check_result(int64_t r, rp_conn *conn, const char *call,
		     const char *file, int line);

/* Enqueue a job. Returns its id. */
int64_t put(rp_conn *conn, const char *queue, const char *payload);
int64_t put_spec(rp_conn *conn, const char *queue, const rp_job_spec *job);
rp_job_spec job_of(const char *payload);
/* Return `size` bytes that the seed determines. None of them is zero. The
 * caller frees them. */
char *bytes_of(size_t size, unsigned seed);
/* put_bytes() enqueues a job into queue q. The job's payload is bytes_of(size,
 * seed). expect_bytes() asserts that a job has that payload. */
int64_t put_bytes(rp_conn *conn, rp_job_spec job, size_t size, unsigned seed);
void expect_bytes(const rp_job *job, size_t size, unsigned seed);
int64_t put_sized(rp_conn *conn, size_t size, unsigned seed);
#define IN_ROW 16384 /* largest payload that SQLite stores in the job's row */
#define EIGHT_MIB (8 << 20)
/* Claim up to n jobs with this lease. The caller frees the batch. */
rp_batch *take(rp_conn *conn, const char *queue, size_t n, int64_t lease_ms);
/* Claim one job. Returns 1 and the claim, or 0 if no job is ready. */
struct claim {
	int64_t id, no, attempt;
};
int take_one(rp_conn *conn, const char *queue, int64_t lease_ms,
	     struct claim *ret);
/* claim_one() claims a job of queue q, which must have a ready job.
 * settle_one() settles the job. */
struct claim claim_one(rp_conn *conn, int64_t lease_ms);
rp_verdict verdict_on(struct claim claim, int verdict);
void settle_one(rp_conn *conn, struct claim claim, int verdict,
		int64_t delay_ms);
rp_batch *get(rp_conn *conn, int64_t id); /* the caller frees it */
/* the state of the job, or 0 if there is no such job */
int state_of(rp_conn *conn, int64_t id);
rp_queue_stats stats_of(rp_conn *conn, const char *queue);
/* Until when queue q is held, as the list of queues says; 0: it is not. */
int64_t held_until(rp_conn *conn);
void settings(rp_conn *conn, rp_queue queue);
/* limit_groups() sets the group limit of queue q; 0: no limit. put_in_group()
 * enqueues a job of a group into queue q, and put_n() several. next_claim()
 * claims the next job of queue q. It tries again, because a claim gets nothing
 * while jobs are still moved out of the line, and on a slow machine this takes
 * several claims. is_empty() returns 1 if no job of queue q can be claimed.
 * run_one_by_one() completes the next n jobs. It asserts that they are these
 * jobs, and that no other job can be claimed while one of them runs.
 * expect_states() asserts the states of
 * jobs. `states` has a letter for each job: "s" scheduled, "r" ready, "R"
 * running, "b" blocked, "d" done, "D" dead, "c" cancelled, "-" no live or kept
 * job. */
void limit_groups(rp_conn *conn, int64_t limit);
int64_t put_in_group(rp_conn *conn, const char *group, const char *payload);
void put_n(rp_conn *conn, const char *group, int64_t *ids, int n);
struct claim next_claim(rp_conn *conn);
int is_empty(rp_conn *conn);
void run_one_by_one(rp_conn *conn, const int64_t *ids, int n);
void expect_states(rp_conn *conn, const int64_t *ids, const char *states);
/* Set how long queue q keeps done jobs and dead jobs. */
void keep_for(rp_conn *conn, int64_t done_ms, int64_t dead_ms);

/* Run a worker with one thread on queue q until all jobs that it ran are
 * settled. */
void work_until_settled(const struct db *db, rp_handler *handler, void *ctx);

int64_t now_ms(void);
void sleep_ms(int64_t ms);
/* Wait until the database's clock is past this time. */
void wait_until(rp_conn *conn, int64_t at);

/* Run `body` in a forked child. `body` must return 0 on success. */
pid_t in_child(int (*body)(void *), void *ctx);
void expect_success(pid_t pid);

#define CASE(function)                                                         \
	cmocka_unit_test_setup_teardown(function, setup_db, teardown_db)

#endif
