/*
 * turns.c - test that no deadlock occurs while eight processes settle and claim
 * twenty jobs. They use a database of their own, in which PostgreSQL counts the
 * deadlocks.
 *
 * READPAST_TEST_TURNS sets the number of calls; the default is 20,000.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "check.h"

#include <libpq-fe.h>
#include <unistd.h>

#define CLIENTS 8
#define JOBS 20
#define MOST 5

static char database[40], *server;
static int turns = 20000;

static int64_t
ask(PGconn *pg, const char *sql)
{
	PGresult *res = PQexec(pg, sql);
	int64_t n = PQntuples(res) ? atoll(PQgetvalue(res, 0, 0)) : 0;

	if (PQresultStatus(res) != PGRES_TUPLES_OK &&
	    PQresultStatus(res) != PGRES_COMMAND_OK)
		fail_msg("%s: %s", sql, PQerrorMessage(pg));
	PQclear(res);
	return n;
}

/* Create a database on the test server. */
static void
make_database(int argc, char **argv)
{
	const char *url = getenv("READPAST_TEST_POSTGRES");
	const char *from = url ? strstr(url, "/postgres?") : NULL;
	PGconn *pg;
	char sql[80], own[400];

	databases_at(argc, argv);
	assert_non_null(from);
	server = strdup(url);
	snprintf(database, sizeof(database), "turns_%d", (int)getpid());
	snprintf(sql, sizeof(sql), "create database %s", database);
	pg = PQconnectdb(url);
	ask(pg, sql);
	PQfinish(pg);
	snprintf(own, sizeof(own), "%.*s/%s%s", (int)(from - url), url,
		 database, from + strlen("/postgres"));
	setenv("READPAST_TEST_POSTGRES", own, 1);
	databases_at(argc, argv);
}

static void
drop_database(void)
{
	PGconn *pg = PQconnectdb(server);
	char sql[80];

	snprintf(sql, sizeof(sql), "drop database %s with (force)", database);
	ask(pg, sql);
	PQfinish(pg);
}

/* Return the number of deadlocks in the database. A server process adds its
 * counters when it ends. */
static int64_t
deadlocks(void)
{
	PGconn *pg = PQconnectdb(server);
	char sql[120];
	int64_t n;

	snprintf(sql, sizeof(sql),
		 "select count(*) from pg_stat_activity where datname = '%s'",
		 database);
	while (ask(pg, sql) > 0)
		sleep_ms(10);
	snprintf(sql, sizeof(sql),
		 "select deadlocks from pg_stat_database where datname = '%s'",
		 database);
	n = ask(pg, sql);
	PQfinish(pg);
	return n;
}

/* The state of one client. */
struct client {
	rp_conn *conn;
	struct claim held[MOST + 1];
	size_t count;
	unsigned seed;
};

/* Write a random verdict for each held job to `v`, in reverse order of the
 * claims. Jobs whose lease is extended stay in `held`. Returns the number of
 * verdicts. */
static size_t
judge(struct client *c, rp_verdict *v)
{
	static const int kinds[] = { RP_DONE,    RP_FAIL,    RP_FAIL,
				     RP_RELEASE, RP_RELEASE, RP_EXTEND };
	size_t n = c->count, kept = 0;

	for (size_t i = 0; i < n; i++) {
		struct claim claim = c->held[n - 1 - i];

		v[i] = verdict_on(claim, kinds[rand_r(&c->seed) % 6]);
		v[i].delay_ms = v[i].verdict == RP_EXTEND ? 3600000 : 0;
	}
	for (size_t i = 0; i < n; i++)
		if (v[i].verdict == RP_EXTEND)
			c->held[kept++] =
				(struct claim){ v[i].id, v[i].claim_no, 0 };
	c->count = kept;
	return n;
}

static int
turn(struct client *c)
{
	rp_claim_options o = RP_CLAIM_INIT;
	rp_job_spec job = job_of("x");
	rp_verdict v[MOST + 1];
	rp_batch *batch;
	size_t n = judge(c, v);
	int r;

	o.lease_ms = 3600000;
	o.holding = c->count;
	job.max_attempts = 1000000000;
	r = rp_settle_and_claim(c->conn, v, n, "q", MOST - c->count, &o,
				&batch);
	if (r < 0)
		return r;
	for (size_t i = 0; i < rp_batch_count(batch); i++)
		c->held[c->count++] =
			(struct claim){ rp_batch_at(batch, i)->id,
					rp_batch_at(batch, i)->claim_no, 0 };
	rp_batch_free(batch);
	for (size_t i = 0; i < n && r >= 0; i++)
		r = v[i].result ? v[i].result
		    : v[i].verdict == RP_DONE
			    ? rp_enqueue(c->conn, "q", &job, NULL)
			    : 0;
	return r;
}

static int
take_turns(void *ctx)
{
	const struct db *db = ctx;
	struct client c = { .seed = (unsigned)getpid() };
	int r = rp_open(db->url, NULL, &c.conn, NULL);

	for (int i = 0; i < turns / CLIENTS && r >= 0; i++) {
		r = turn(&c);
		if (r >= 0 && i % 100 == 0)
			r = rp_sweep(c.conn, NULL);
	}
	for (size_t i = 0; i < c.count && r >= 0; i++)
		r = rp_release(c.conn, c.held[i].id, c.held[i].no, 0);
	if (r < 0)
		fprintf(stderr, "# %s: %s\n", rp_error_text(r),
			rp_last_error(c.conn)->message);
	rp_close(c.conn);
	return r < 0;
}

/* Cause one deadlock, to test that the server counts deadlocks. */
static void
deadlock(void)
{
	const char *url = getenv("READPAST_TEST_POSTGRES");
	PGconn *a = PQconnectdb(url), *b = PQconnectdb(url);

	ask(a, "create table one (); create table two ()");
	ask(a, "set deadlock_timeout = 10; begin; lock table one");
	ask(b, "set deadlock_timeout = 10; begin; lock table two");
	assert_true(PQsendQuery(b, "lock table one"));
	PQclear(PQexec(a, "lock table two"));
	PQfinish(a);
	PQfinish(b);
}

static void
turns_never_deadlock(void **state)
{
	struct db *db = *state;
	pid_t pids[CLIENTS];
	rp_queue_stats stats;

	for (int i = 0; i < JOBS; i++) {
		rp_job_spec job = job_of("x");

		job.max_attempts = 1000000000;
		ok(db->conn, rp_enqueue(db->conn, "q", &job, NULL));
	}
	for (int i = 0; i < CLIENTS; i++)
		pids[i] = in_child(take_turns, db);
	for (int i = 0; i < CLIENTS; i++)
		expect_success(pids[i]);
	stats = stats_of(db->conn, "q");
	assert_int_equal(stats.ready, JOBS);
	assert_int_equal(stats.running + stats.dead + stats.scheduled, 0);
	rp_close(db->conn);
	db->conn = NULL;
	assert_int_equal(deadlocks(), 0);
	/* Up to version 14 the server updates the counter with some delay. */
	deadlock();
	for (int tries = 0; tries < 1000 && deadlocks() == 0; tries++)
		sleep_ms(10);
	assert_int_equal(deadlocks(), 1);
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = { CASE(turns_never_deadlock) };
	int failed;

	if (getenv("READPAST_TEST_TURNS"))
		turns = atoi(getenv("READPAST_TEST_TURNS"));
	make_database(argc, argv);
	failed = cmocka_run_group_tests_name("turns", tests, NULL, NULL);
	drop_database();
	free(server);
	return failed;
}
