/*
 * slices.c - test how long calls that change many jobs block other writers.
 * Such a call works in slices, short transactions with a pause after each.
 * SQLite only.
 *
 * Two times are measured. The first is the processor time of a transaction,
 * from `begin immediate` to the end of the commit. Processor time does not
 * depend on other load. The second is the pause until the next transaction, in
 * which the write lock is free.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "check.h"

#include <signal.h>
#include <sqlite3.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* A call splits its work into slices, each with a transaction of its own. A
 * transaction may take up to MOST_US of processor time. MOST_US is much more
 * than a slice needs, and much less than the whole call needs. But one
 * transaction of a call may take up to WORST_US, because the system counts a
 * pause of a virtual machine as processor time. Sanitizers make everything
 * several times slower. */
#ifdef __SANITIZE_ADDRESS__
#define MOST_US 200000
#define WORST_US 600000
#else
#define MOST_US 50000
#define WORST_US 200000
#endif
#define LEAST_GAP_US 1000
#define SHORT_US 2000

/* ---- a connection whose transactions are measured ---- */

struct watch {
	int writing;
	int transactions; /* number of transactions that wrote */
	int64_t worst_us; /* longest processor time of a transaction */
	int64_t next_us;  /* second longest processor time */
	/* shortest pause after a transaction that took at least SHORT_US */
	int64_t shortest_gap_us;
	int64_t began_us, took_us, ended_at_us;
	/* Transaction number `at` calls `then` at its end. If `at` is 0, no
	 * transaction calls `then`. */
	int at;
	void (*then)(void *ctx);
	void *ctx;
};

static int64_t
clock_us(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

static void
transaction_ends(struct watch *w)
{
	w->writing = 0;
	w->took_us = clock_us(CLOCK_THREAD_CPUTIME_ID) - w->began_us;
	if (w->took_us > w->worst_us) {
		w->next_us = w->worst_us;
		w->worst_us = w->took_us;
	} else if (w->took_us > w->next_us) {
		w->next_us = w->took_us;
	}
	w->ended_at_us = clock_us(CLOCK_MONOTONIC);
	if (++w->transactions == w->at)
		w->then(w->ctx);
}

/* Called before a transaction locks the database. */
static void
transaction_begins(struct watch *w)
{
	int64_t gap = clock_us(CLOCK_MONOTONIC) - w->ended_at_us;

	if (w->took_us >= SHORT_US && gap < w->shortest_gap_us)
		w->shortest_gap_us = gap;
}

static int
trace(unsigned what, void *ctx, void *stmt, void *ignored)
{
	const char *sql = sqlite3_sql(stmt);
	int ends = what == SQLITE_TRACE_PROFILE;
	struct watch *w = ctx;

	(void)ignored;
	if (sql && strcmp(sql, "begin immediate") == 0) {
		if (!ends)
			transaction_begins(w);
		w->began_us = clock_us(CLOCK_THREAD_CPUTIME_ID);
		w->writing = 1;
	} else if (sql && ends && w->writing && strcmp(sql, "commit") == 0) {
		transaction_ends(w);
	}
	return 0;
}

static void
watch_handle(struct watch *w, rp_conn *conn)
{
	*w = (struct watch){ .shortest_gap_us = INT64_MAX };
	sqlite3_trace_v2(rp_conn_native(conn),
			 SQLITE_TRACE_STMT | SQLITE_TRACE_PROFILE, trace, w);
}

static void
expect_slices(const struct watch *w, int least)
{
	print_message("# %d transactions, %lld us at the most, %lld us "
		      "between two at the least\n",
		      w->transactions, (long long)w->worst_us,
		      (long long)w->shortest_gap_us);
	assert_true(w->transactions >= least);
	assert_true(w->next_us < MOST_US);
	assert_true(w->worst_us < WORST_US);
	assert_true(w->shortest_gap_us >= LEAST_GAP_US);
}

/* ---- many jobs ---- */

static void
sql(rp_conn *conn, const char *text)
{
	if (run_sql(conn, text, NULL) != 0)
		fail_msg("%s: %s", text, sqlite3_errmsg(rp_conn_native(conn)));
}

#define NUMBERS(n)                                                             \
	"with recursive n(i) as (select 1 union all select i + 1 from n"       \
	" where i < " #n ") "

/* Create queue q and fill it. */
static void
fill_line(rp_conn *conn)
{
	rp_queue q = RP_QUEUE_INIT;

	q.name = "q";
	settings(conn, q);
	sql(conn, NUMBERS(50000) "insert into readpast_job (queue_id, seq, "
				 "run_at, kind, payload)"
				 " select (select id from readpast_queue "
				 "where name = 'q'), i, 0,"
				 " 'common', x'61' from n");
}

#define KEPT(n, state, size)                                                   \
	NUMBERS(n)                                                             \
	"insert into readpast_archive (id, queue_id, state, finished_at,"      \
	" priority, run_at, claim_no, attempt, max_attempts, created_at,"      \
	" payload)"                                                            \
	" select 1000000 + i, (select id from readpast_queue"                  \
	" where name = 'q'), " #state ", 1, 100, 0, 1, 1, 3, 0,"               \
	" zeroblob(" #size ") from n"

static void
make_queue(rp_conn *conn)
{
	rp_queue q = RP_QUEUE_INIT;

	q.name = "q";
	q.keep_done_ms = 1;
	settings(conn, q);
}

/* Put LARGE kept (finished) jobs into the archive. Their payloads are so large
 * that SQLite stores the payloads in the table readpast_payload, and that a
 * fast machine, too, needs several slices to delete them all. */
#define LARGE 120

static void
keep_large(rp_conn *conn)
{
	make_queue(conn);
	sql(conn, KEPT(LARGE, 4, 1));
	sql(conn, "update readpast_archive set payload = 1048576;"
		  "insert into readpast_payload select id, zeroblob(payload)"
		  " from readpast_archive");
}

/* ---- the cases ---- */

static void
a_drop_lets_others_write_every_few_milliseconds(void **state)
{
	struct db *db = *state;
	struct watch w;

	fill_line(db->conn);
	watch_handle(&w, db->conn);
	ok(db->conn, rp_queue_drop(db->conn, "q"));
	expect_slices(&w, 4);
	assert_int_equal(ask_sql(db->conn, "select count(*) from readpast_job"),
			 0);
	assert_int_equal(
		ask_sql(db->conn, "select count(*) from readpast_dropped"), 0);
}

static void
a_purge_of_large_jobs_ends_each_slice_by_time(void **state)
{
	struct db *db = *state;
	struct watch w;

	keep_large(db->conn);
	watch_handle(&w, db->conn);
	assert_int_equal(rp_queue_purge(db->conn, "q", RP_STATE_DONE, NULL),
			 LARGE);
	expect_slices(&w, 2);
}

static void
a_purge_of_a_rare_kind_reads_past_the_others_without_the_lock(void **state)
{
	struct db *db = *state;
	rp_job_spec job = job_of("rare");
	struct watch w;

	job.kind = "rare";
	fill_line(db->conn);
	ok(db->conn, rp_enqueue(db->conn, "q", &job, NULL));
	watch_handle(&w, db->conn);
	assert_int_equal(rp_queue_purge(db->conn, "q", RP_STATE_READY, "rare"),
			 1);
	assert_int_equal(w.transactions, 1);
	assert_true(w.worst_us < MOST_US);
}

static void
retention_of_large_jobs_ends_each_slice_by_time(void **state)
{
	struct db *db = *state;
	struct watch w;

	keep_large(db->conn);
	watch_handle(&w, db->conn);
	assert_int_equal(ok(db->conn, rp_sweep(db->conn, NULL)), LARGE);
	expect_slices(&w, 2);
}

static void
a_sweep_of_many_queues_lets_others_write(void **state)
{
	struct db *db = *state;
	rp_swept swept = RP_SWEPT_INIT;
	struct watch w;

	sql(db->conn, NUMBERS(2000) "insert into readpast_queue (name)"
				    " select 'q' || i from n");
	sql(db->conn, NUMBERS(4) "insert into readpast_job (queue_id, run_at) "
				 "select q.id, 1"
				 " from n cross join readpast_queue q");
	watch_handle(&w, db->conn);
	ok(db->conn, rp_sweep(db->conn, &swept));
	assert_int_equal(swept.due, 8000);
	expect_slices(&w, 4);
	/* A slice may go on from one queue to the next. If each queue needed
	 * slices of its own, there would be more transactions. */
	assert_true(w.transactions < 2000);
}

/* The group uses fewer slots than the new limit. */
static void
lowering_a_limit_does_not_compare_all_jobs_with_each_other(void **state)
{
	enum { JOBS = 2000 };
	static rp_job_spec jobs[JOBS];
	struct db *db = *state;
	struct watch w;

	limit_groups(db->conn, JOBS + 2);
	for (int i = 0; i < JOBS; i++) {
		jobs[i] = job_of("x");
		jobs[i].group_key = "g";
	}
	ok(db->conn, rp_enqueue_many(db->conn, "q", jobs, JOBS, NULL));
	watch_handle(&w, db->conn);
	limit_groups(db->conn, JOBS + 1);
	assert_int_equal(w.transactions, 1);
	assert_true(w.worst_us < MOST_US);
}

/* Every second tally is of a queue that does not exist. */
static void
a_sweep_adds_up_old_tallies_in_slices(void **state)
{
	struct db *db = *state;
	struct watch w;

	make_queue(db->conn);
	sql(db->conn,
	    NUMBERS(50000) "insert into readpast_tally (queue_id, second, "
			   "done, dead) select i % 2 + 1, i, 1, 2 from n");
	watch_handle(&w, db->conn);
	ok(db->conn, rp_sweep(db->conn, NULL));
	expect_slices(&w, 4);
	assert_int_equal(
		ask_sql(db->conn, "select count(*) from readpast_tally"), 1);
	assert_int_equal(stats_of(db->conn, "q").done_total, 25000);
	assert_int_equal(stats_of(db->conn, "q").dead_total, 50000);
	assert_int_equal(stats_of(db->conn, "q").done_10s, 0);
}

static void
retrying_all_dead_jobs_lets_others_write(void **state)
{
	struct db *db = *state;
	struct watch w;

	make_queue(db->conn);
	sql(db->conn, KEPT(10000, 5, 20));
	watch_handle(&w, db->conn);
	assert_int_equal(rp_queue_retry_dead(db->conn, "q", NULL, NULL), 10000);
	expect_slices(&w, 4);
	assert_int_equal(ask_sql(db->conn, "select sum(seq = id - 1000000)"
					   " from readpast_job"),
			 10000);
}

static void
in_a_transaction_of_the_callers_nothing_is_committed_before_its_end(
	void **state)
{
	struct db *db = *state;
	struct watch w;

	fill_line(db->conn);
	sql(db->conn, KEPT(10000, 5, 20));
	watch_handle(&w, db->conn);
	ok(db->conn, rp_begin(db->conn));
	assert_int_equal(rp_queue_retry_dead(db->conn, "q", NULL, NULL), 10000);
	assert_int_equal(
		rp_queue_purge(db->conn, "q", RP_STATE_READY, "common"), 50000);
	ok(db->conn, rp_queue_drop(db->conn, "q"));
	assert_int_equal(w.transactions, 0);
	ok(db->conn, rp_rollback(db->conn));
	assert_int_equal(ask_sql(db->conn, "select count(*) from readpast_job"),
			 50000);
	assert_int_equal(stats_of(db->conn, "q").dead, 10000);
}

/* A worker sweeps while it waits for jobs. The worker interrupts a long sweep
 * after some time, so that it can serve its jobs. The next wait continues the
 * sweep. */
static void
retention_goes_on_at_a_workers_next_look(void **state)
{
	struct db *db = *state;
	const char *const queues[] = { "other", NULL };
	int looks = 0;

	make_queue(db->conn);
	put(db->conn, "other", "x");
	rp_batch_free(take(db->conn, "other", 1, 60000));
	sql(db->conn, KEPT(100000, 4, 1));
	while (ask_sql(db->conn, "select exists (select 1 from"
				 " readpast_archive)")) {
		assert_true(looks++ < 1000);
		ok(db->conn, rp_wait(db->conn, queues, 10, -1));
	}
	assert_true(looks > 1);
}

static void
a_copy_holds_neither_lock_for_long(void **state)
{
	struct db *from = *state, *to = make_db("sqlite:");
	rp_copy_options options = RP_COPY_INIT;
	struct watch read, written;
	rp_error error = { 0 };

	fill_line(from->conn);
	watch_handle(&read, from->conn);
	watch_handle(&written, to->conn);
	options.move = 1;
	if (rp_copy(from->conn, to->conn, &options, NULL, &error) < 0)
		fail_msg("%s", error.message);
	expect_slices(&read, 4);
	expect_slices(&written, 4);
	assert_int_equal(ask_sql(to->conn, "select count(*) from readpast_job"),
			 50000);
	assert_int_equal(
		ask_sql(from->conn, "select count(*) from readpast_job"), 0);
	remove_db(to);
}

/* ---- drop ---- */

static void
kill_us(void *ctx)
{
	(void)ctx;
	raise(SIGKILL);
}

static int
drop_and_die(void *ctx)
{
	rp_conn *conn = connect_to(ctx);
	struct watch w;

	watch_handle(&w, conn);
	w.at = 3;
	w.then = kill_us;
	rp_queue_drop(conn, "q");
	return 0;
}

static void
drop_and_be_killed(struct db *db)
{
	int status;
	pid_t pid;

	rp_close(db->conn);
	pid = in_child(drop_and_die, db);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status));
	db->conn = connect_to(db);
	assert_true(ask_sql(db->conn, "select count(*) from readpast_job") > 0);
}

static void
a_drop_that_was_killed_leaves_no_queue_and_the_next_sweep_the_rest(void **state)
{
	struct db *db = *state;
	rp_job_spec job = job_of("new");
	struct claim late;
	int64_t id, dead;

	fill_line(db->conn);
	sql(db->conn, "update readpast_queue set priority = 1");
	id = put(db->conn, "q", "x");
	take_one(db->conn, "q", 1, &late);
	sleep_ms(3);
	ok(db->conn, rp_sweep(db->conn, NULL));
	sql(db->conn, KEPT(1, 5, 20));
	dead = 1000001;
	drop_and_be_killed(db);
	assert_int_equal(rp_job_cancel(db->conn, id - 1, NULL), RP_ENOENT);
	assert_int_equal(rp_job_retry(db->conn, dead, NULL), RP_ENOENT);
	assert_int_equal(rp_release(db->conn, late.id, late.no, 0), RP_EGONE);
	assert_int_equal(rp_complete(db->conn, late.id, late.no), RP_EGONE);
	ok(db->conn, rp_enqueue(db->conn, "q", &job, NULL));
	assert_int_equal(stats_of(db->conn, "q").ready, 1);
	ok(db->conn, rp_sweep(db->conn, NULL));
	assert_int_equal(ask_sql(db->conn, "select count(*) from readpast_job"),
			 1);
	assert_int_equal(
		ask_sql(db->conn, "select count(*) from readpast_archive"), 0);
	assert_int_equal(
		ask_sql(db->conn, "select count(*) from readpast_dropped"), 0);
}

static void
a_drop_that_was_killed_is_finished_by_the_next_drop(void **state)
{
	struct db *db = *state;

	fill_line(db->conn);
	drop_and_be_killed(db);
	assert_int_equal(rp_queue_drop(db->conn, "q"), RP_ENOENT);
	assert_int_equal(ask_sql(db->conn, "select count(*) from readpast_job"),
			 0);
	assert_int_equal(
		ask_sql(db->conn, "select count(*) from readpast_dropped"), 0);
}

/* Copied jobs keep their ids. So a copied job may have the id of a job that the
 * killed drop has left in the target. */
static void
a_copy_succeeds_beside_the_rest_of_a_killed_drop(void **state)
{
	struct db *from = make_db("sqlite:"), *to = *state;
	rp_error error = { 0 };

	fill_line(from->conn);
	if (rp_copy(from->conn, to->conn, NULL, NULL, &error) < 0)
		fail_msg("%s", error.message);
	drop_and_be_killed(to);
	if (rp_copy(from->conn, to->conn, NULL, NULL, &error) < 0)
		fail_msg("%s", error.message);
	assert_int_equal(ask_sql(to->conn, "select count(*) from readpast_job"),
			 50000);
	remove_db(from);
}

static void
put_one(void *ctx)
{
	put(ctx, "q", "while it is dropped");
}

static void
P1_jobs_enqueued_while_their_queue_is_dropped_are_in_a_new_one(void **state)
{
	struct db *db = *state;
	struct watch w;

	fill_line(db->conn);
	watch_handle(&w, db->conn);
	w.at = 3;
	w.then = put_one;
	w.ctx = connect_to(db);
	ok(db->conn, rp_queue_drop(db->conn, "q"));
	assert_true(w.transactions > 3);
	assert_int_equal(stats_of(db->conn, "q").ready, 1);
	rp_close(w.ctx);
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		CASE(a_drop_lets_others_write_every_few_milliseconds),
		CASE(a_purge_of_large_jobs_ends_each_slice_by_time),
		CASE(a_purge_of_a_rare_kind_reads_past_the_others_without_the_lock),
		CASE(retention_of_large_jobs_ends_each_slice_by_time),
		CASE(a_sweep_of_many_queues_lets_others_write),
		CASE(lowering_a_limit_does_not_compare_all_jobs_with_each_other),
		CASE(a_sweep_adds_up_old_tallies_in_slices),
		CASE(retrying_all_dead_jobs_lets_others_write),
		CASE(in_a_transaction_of_the_callers_nothing_is_committed_before_its_end),
		CASE(retention_goes_on_at_a_workers_next_look),
		CASE(a_copy_holds_neither_lock_for_long),
		CASE(a_drop_that_was_killed_leaves_no_queue_and_the_next_sweep_the_rest),
		CASE(a_drop_that_was_killed_is_finished_by_the_next_drop),
		CASE(a_copy_succeeds_beside_the_rest_of_a_killed_drop),
		CASE(P1_jobs_enqueued_while_their_queue_is_dropped_are_in_a_new_one),
	};

	databases_at(argc, argv);
	return cmocka_run_group_tests_name("slices", tests, NULL, NULL);
}
