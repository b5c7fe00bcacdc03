/*
 * check.h - small helpers on top of cmocka.
 *
 * A conformance program takes the kind of database, "sqlite:" or "postgres:",
 * and gives every case one of its own: a file, or a schema on the server that
 * READPAST_TEST_POSTGRES names. "sqlite:DIR" says where.
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

/* A database of this case's own, and a connection to it. */
struct db {
	const struct kind *kind;
	char dir[200];
	char path[240];  /* of the file; "": on a server */
	char schema[64]; /* on a server */
	char url[512];
	rp_conn *conn;
};

void databases_at(int argc, char **argv); /* main() calls it first */
int setup_db(void **state);
int teardown_db(void **state);

/* For who needs two, of this kind and of that. */
struct db *make_db(const char *of_kind);
int remove_db(struct db *db); /* frees it */

/* SQL on the handle's own connection: 0, and the first number it answers. */
int run_sql(rp_conn *conn, const char *sql, int64_t *ret);
int64_t ask_sql(rp_conn *conn, const char *sql); /* it cannot fail */

/* For another thread, another process or a second look. */
rp_conn *connect_to(const struct db *db);

/* 0 or more is expected; the handle's message is shown otherwise. */
#define ok(conn, call) check_result((call), (conn), #call, __FILE__, __LINE__)
int64_t check_result(int64_t r, rp_conn *conn, const char *call,
		     const char *file, int line);

int64_t put(rp_conn *conn, const char *queue, const char *payload);
rp_job_spec job_of(const char *payload);
/* Bytes without a zero among them, others for each seed. Free them. */
char *bytes_of(size_t size, unsigned seed);
/* A job of queue q with such a payload; and is it that? */
int64_t put_bytes(rp_conn *conn, rp_job_spec job, size_t size, unsigned seed);
void expect_bytes(const rp_job *job, size_t size, unsigned seed);
int64_t put_sized(rp_conn *conn, size_t size, unsigned seed);
#define IN_ROW 16384 /* bytes of a payload that SQLite keeps in a job's row */
#define EIGHT_MIB (8 << 20)
/* Claim up to n with this lease; free the batch. */
rp_batch *take(rp_conn *conn, const char *queue, size_t n, int64_t lease_ms);
/* Claim one: 1, and its claim; or 0. */
struct claim {
	int64_t id, no, attempt;
};
int take_one(rp_conn *conn, const char *queue, int64_t lease_ms,
	     struct claim *ret);
/* ... one job of queue q, which must be there, and what becomes of it. */
struct claim claim_one(rp_conn *conn, int64_t lease_ms);
rp_verdict verdict_on(struct claim claim, int verdict);
void settle_one(rp_conn *conn, struct claim claim, int verdict,
		int64_t delay_ms);
rp_batch *get(rp_conn *conn, int64_t id); /* free it */
int state_of(rp_conn *conn, int64_t id);  /* 0: there is no such job */
rp_queue_stats stats_of(rp_conn *conn, const char *queue);
void settings(rp_conn *conn, rp_queue queue);
void keep_for(rp_conn *conn, int64_t done_ms, int64_t dead_ms); /* in queue q */

int64_t now_ms(void);
void sleep_ms(int64_t ms);
/* Until the database's clock is past this time. */
void wait_until(rp_conn *conn, int64_t at);

/* Run `body` in a forked child; 0 from it is success. */
pid_t in_child(int (*body)(void *), void *ctx);
void expect_success(pid_t pid);

#define CASE(function)                                                         \
	cmocka_unit_test_setup_teardown(function, setup_db, teardown_db)

#endif
