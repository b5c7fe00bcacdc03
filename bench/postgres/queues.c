/*
 * queues.c - measure many queues: how soon an abandoned job is ready again,
 * what a sweep costs, and how long it takes to create the queues.
 *
 * The clients work in rounds. In a round, a client enqueues, claims and
 * completes one job in a random queue. One process sweeps once a second.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include <readpast.h>

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "pg.h"

#define SCHEMA "readpast"
#define CLIENTS 2
#define ROUNDS 500    /* rounds per second, all clients together */
#define FEW_ROUNDS 50 /* rounds per second if FEW queues are active */
#define FEW 100       /* number of active queues, if most are idle */
#define WARM_S 3      /* seconds of load before jobs are abandoned */
/* how many jobs are abandoned for each length of lease; each of these jobs is
 * in a queue of its own */
#define LEFT 20
/* A job counts as lost if it is not ready again this many seconds after the end
 * of its lease. */
#define GIVE_UP_S 30
#define MOST_SWEEPS 256
#define MOST_WATCHED (3 * LEFT)

static const int64_t leases_s[] = { 2, 6, 60 };
#define LEASES (sizeof(leases_s) / sizeof(*leases_s))

/* Counters in memory that the clients and the sweeping process share. */
struct board {
	_Atomic size_t rounds, sweeps;
	double sweep_ms[MOST_SWEEPS];
};

struct busy {
	struct board *board;
	pid_t clients[CLIENTS], sweeper;
	double began;
};

static double
seconds_since(double from)
{
	return seconds_now() - from;
}

static int
compare(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double
median_of(double *each, size_t n)
{
	qsort(each, n, sizeof(*each), compare);
	return n ? (each[(n - 1) / 2] + each[n / 2]) / 2 : 0;
}

/* ---- the clients and the process that sweeps ---- */

static void
do_round(rp_conn *conn, const char *queue)
{
	static const char payload[PAYLOAD];
	rp_job_spec job = RP_JOB_SPEC_INIT;
	rp_verdict verdict;
	rp_batch *batch;
	rp_added added;
	int r;

	job.payload = payload;
	job.payload_size = sizeof(payload);
	r = rp_enqueue(conn, queue, &job, &added);
	if (r >= 0)
		r = rp_claim(conn, queue, 1, NULL, &batch);
	/* If another client has claimed the job, the batch is empty, and there
	 * is nothing to settle. */
	if (r >= 0 && verdicts_on(batch, &verdict) == 1)
		r = rp_settle(conn, &verdict, 1);
	if (r < 0)
		die("library: %s", rp_last_error(conn)->message);
}

/* Open a connection whose commits do not wait for the disk. The rate of rounds
 * is fixed and is not measured, so a slow disk must not reduce the rate. */
static rp_conn *
open_client(const struct bench *b)
{
	char *plain = server_library_url(b, SCHEMA);
	char *url = text("%s&options=-csynchronous_commit%%3Doff", plain);
	rp_conn *conn;
	rp_error error;

	if (rp_open(url, NULL, &conn, &error) < 0)
		die("rp_open: %s", error.message);
	free(url);
	free(plain);
	return conn;
}

static void
do_rounds(const struct bench *b, struct board *board, size_t me, size_t queues,
	  double per_second)
{
	rp_conn *conn = open_client(b);
	unsigned int seed = (unsigned int)me + 1;
	double from = seconds_now();

	for (size_t i = 0;; i++) {
		char *queue =
			text("queue-%zu", (size_t)rand_r(&seed) % queues + 1);
		double ahead = (double)i / per_second - seconds_since(from);

		if (ahead > 0)
			sleep_us((int64_t)(ahead * 1e6));
		do_round(conn, queue);
		atomic_fetch_add(&board->rounds, 1);
		free(queue);
	}
}

static void
sweep_on(const struct bench *b, struct board *board)
{
	rp_conn *conn = server_connect(b, SCHEMA);

	for (;;) {
		double from = seconds_now(), took;
		size_t n = atomic_load(&board->sweeps);

		server_execute(conn, "select * from sweep()");
		took = seconds_since(from);
		if (n < MOST_SWEEPS) {
			board->sweep_ms[n] = took * 1e3;
			atomic_store(&board->sweeps, n + 1);
		}
		if (took < 1)
			sleep_us((int64_t)((1 - took) * 1e6));
	}
}

static void
start_busy(const struct bench *b, struct busy *ret, size_t queues,
	   double rounds)
{
	ret->board = allocate_shared(sizeof(*ret->board));
	ret->began = seconds_now();
	for (size_t i = 0; i < CLIENTS; i++) {
		ret->clients[i] = fork_child();
		if (ret->clients[i] == 0)
			do_rounds(b, ret->board, i, queues, rounds / CLIENTS);
	}
	ret->sweeper = fork_child();
	if (ret->sweeper == 0)
		sweep_on(b, ret->board);
}

/* End the load. Returns the median duration of a sweep, in ms. */
static double
end_busy(struct busy *busy, double *rounds)
{
	double ret;

	*rounds = (double)atomic_load(&busy->board->rounds) /
		  seconds_since(busy->began);
	for (size_t i = 0; i < CLIENTS; i++)
		spawn_kill(busy->clients[i]);
	spawn_kill(busy->sweeper);
	ret = median_of(busy->board->sweep_ms, busy->board->sweeps);
	munmap(busy->board, sizeof(*busy->board));
	return ret;
}

/* ---- abandoned jobs ---- */

struct watched {
	int64_t id, lease_s, until_us;
	/* seconds from the end of the lease until the job was ready again;
	 * negative while the job is still held */
	double late;
};

/* Enqueue and claim a job, and abandon it. If another client claims the job
 * first, enqueue a new one. */
static void
leave_behind(rp_conn *conn, size_t queue, struct watched *ret)
{
	char *enqueue =
		text("select enqueue('queue-%zu', 'left'::text)", queue);
	char *claim =
		text("select id || ' ' ||"
		     "       (extract(epoch from lease_until) * 1e6)::int8"
		     "  from claim('queue-%zu', 1, interval '%lld s')",
		     queue, (long long)ret->lease_s);
	char *got = NULL, *end;

	do {
		free(got);
		server_execute(conn, enqueue);
		got = server_text(conn, claim);
	} while (!*got);
	ret->id = strtoll(got, &end, 10);
	ret->until_us = strtoll(end, NULL, 10);
	ret->late = -1;
	free(got);
	free(enqueue);
	free(claim);
}

/* Build a query that returns the server's time and the ids of the jobs that are
 * still held. A job that is missing from the result has become ready since it
 * was claimed. It may even be finished. */
static char *
ask_which_are_held(const struct watched *all, size_t n)
{
	char ids[MOST_WATCHED * 24] = "0";
	size_t end = 1;

	for (size_t i = 0; i < n; i++)
		end += (size_t)snprintf(ids + end, sizeof(ids) - end, ",%lld",
					(long long)all[i].id);
	return text("select (extract(epoch from clock_timestamp()) * 1e6)::int8"
		    "       || coalesce(string_agg(' ' || id, ''), '')"
		    "  from job where id in (%s) and attempt = 1"
		    "   and lease_until is not null",
		    ids);
}

static int
is_listed(const char *list, int64_t id)
{
	char *end;

	for (; *list; list = end)
		if (strtoll(list, &end, 10) == id)
			return 1;
	return 0;
}

/* Wait until all jobs are ready again, but no longer than GIVE_UP_S. */
static void
watch(rp_conn *conn, struct watched *all, size_t n)
{
	char *question = ask_which_are_held(all, n);
	size_t left;

	do {
		char *answer, *held;
		int64_t now_us;

		sleep_us(10000);
		answer = server_text(conn, question);
		now_us = strtoll(answer, &held, 10);
		left = 0;
		for (size_t i = 0; i < n; i++) {
			double late = (double)(now_us - all[i].until_us) / 1e6;

			if (all[i].late >= 0)
				continue;
			if (late < GIVE_UP_S && is_listed(held, all[i].id))
				left++;
			else if (late < 0)
				die("a job was ready before its lease's end");
			else
				all[i].late = late;
		}
		free(answer);
	} while (left > 0);
	free(question);
}

static void
report_lease(const struct bench *b, int64_t lease_s, const struct watched *all,
	     size_t n)
{
	char *most = text("queues.late.%llds", (long long)lease_s);
	char *middle = text("queues.late.%llds.p50", (long long)lease_s);
	double late[MOST_WATCHED];
	size_t count = 0;

	for (size_t i = 0; i < n; i++)
		if (all[i].lease_s == lease_s)
			late[count++] = all[i].late;
	row_add(b, most, "s", NULL, "<=", 2);
	row_add(b, middle, "s", NULL, NULL, 0);
	report_sample(b->report, middle, median_of(late, count));
	report_sample(b->report, most, late[count - 1]);
	free(most);
	free(middle);
}

static void
active_queues(const struct bench *b)
{
	rp_conn *conn = server_connect(b, SCHEMA);
	struct watched all[MOST_WATCHED];
	struct busy busy;
	double sweep_ms, rounds;
	size_t n = 0;

	progress("active queues", -1, 0);
	start_busy(b, &busy, b->queues, ROUNDS);
	sleep_us(WARM_S * INT64_C(1000000));
	for (size_t i = 0; i < LEFT; i++)
		for (size_t j = 0; j < LEASES; j++)
			if (leases_s[j] <= b->lease_s) {
				all[n].lease_s = leases_s[j];
				leave_behind(conn, i * b->queues / LEFT + j + 1,
					     &all[n++]);
			}
	watch(conn, all, n);
	sweep_ms = end_busy(&busy, &rounds);
	report_sample(b->report, "queues", (double)b->queues);
	report_sample(b->report, "queues.rounds", rounds);
	report_sample(b->report, "queues.sweep", sweep_ms);
	for (size_t j = 0; j < LEASES; j++)
		if (leases_s[j] <= b->lease_s)
			report_lease(b, leases_s[j], all, n);
	rp_close(conn);
}

/* ---- idle queues ---- */

/* Create the idle queues by enqueueing one job into each of them.
 * `transactions`: how many transactions share this work. Returns how many
 * seconds this took. */
static double
make_queues(const struct bench *b, size_t transactions)
{
	size_t each = b->idle_queues / transactions;
	rp_conn *conn;
	double from;

	library_side.create(b, SCHEMA);
	conn = server_connect(b, SCHEMA);
	from = seconds_now();
	for (size_t i = 0; i < transactions; i++) {
		char *make = text("select count(enqueue('queue-' || n,"
				  "                     'first'::text))"
				  "  from generate_series(%zu, %zu) n",
				  i * each + 1, (i + 1) * each);

		server_execute(conn, make);
		free(make);
	}
	rp_close(conn);
	return seconds_since(from);
}

static void
finish_all(const struct bench *b)
{
	rp_conn *conn = server_connect(b, SCHEMA);

	server_execute(conn, "select count(complete(c.id, c.claim_no))"
			     "  from queue q, claim(q.name, 1) c");
	rp_close(conn);
}

static void
idle_queues(const struct bench *b)
{
	struct busy busy;
	double sweep_ms, rounds;

	progress("idle queues", -1, 0);
	report_sample(b->report, "idle-queues", (double)b->idle_queues);
	report_sample(b->report, "idle-queues.made-in-100",
		      make_queues(b, 100));
	report_sample(b->report, "idle-queues.made-in-1", make_queues(b, 1));
	finish_all(b);
	start_busy(b, &busy, FEW, FEW_ROUNDS);
	sleep_us((int64_t)b->sweeps * INT64_C(1000000));
	sweep_ms = end_busy(&busy, &rounds);
	report_sample(b->report, "idle-queues.sweep", sweep_ms);
}

void
queues_part(const struct bench *b)
{
	row_add(b, "queues", "-", NULL, NULL, 0);
	row_add(b, "queues.rounds", "/s", NULL, NULL, 0);
	row_add(b, "queues.sweep", "ms", NULL, NULL, 0);
	library_side.create(b, SCHEMA);
	active_queues(b);
	row_add(b, "idle-queues", "-", NULL, NULL, 0);
	row_add(b, "idle-queues.made-in-1", "s", NULL, "<=", 10);
	row_add(b, "idle-queues.made-in-100", "s", NULL, "<=", 10);
	row_add(b, "idle-queues.sweep", "ms", NULL, "<=", 50);
	idle_queues(b);
}
