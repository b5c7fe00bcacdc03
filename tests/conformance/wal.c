/*
 * wal.c - test what happens if the -wal file or the -shm file of a SQLite
 * database is deleted while the database is open.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "check.h"

#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

/* A child process that enqueues two jobs for each byte that the parent writes
 * to `orders`. The child is forked while the parent has the database closed,
 * because an open connection of SQLite must not be carried across a fork. */
struct other {
	struct db *db;
	pid_t pid;
	int orders[2], reports[2];
};

static int
take_orders(void *ctx)
{
	struct other *other = ctx;
	char order;

	close(other->orders[1]);
	while (read(other->orders[0], &order, 1) == 1) {
		rp_conn *conn = connect_to(other->db);

		put(conn, "q", "x");
		put(conn, "q", "x");
		rp_close(conn);
		if (write(other->reports[1], &order, 1) != 1)
			return 1;
	}
	return 0;
}

static struct other
start_other(struct db *db)
{
	struct other other = { .db = db };

	rp_close(db->conn);
	assert_int_equal(pipe(other.orders), 0);
	assert_int_equal(pipe(other.reports), 0);
	other.pid = in_child(take_orders, &other);
	db->conn = connect_to(db);
	return other;
}

static void
put_elsewhere(const struct other *other)
{
	char report;

	assert_int_equal(write(other->orders[1], "x", 1), 1);
	assert_int_equal(read(other->reports[0], &report, 1), 1);
}

static void
end_other(const struct other *other)
{
	close(other->orders[1]);
	expect_success(other->pid);
	close(other->orders[0]);
	close(other->reports[0]);
	close(other->reports[1]);
}

static void
delete_beside(const struct db *db, const char *ending)
{
	char path[300];

	snprintf(path, sizeof(path), "%s%s", db->path, ending);
	assert_int_equal(unlink(path), 0);
}

static void
jobs_of_others_are_kept_after_shm_was_deleted(void **state)
{
	struct db *db = *state;
	struct other other = start_other(db);
	rp_conn *idle = connect_to(db), *looking = connect_to(db);
	rp_job_spec job = job_of("x");

	put(db->conn, "q", "x");
	put(idle, "q", "x");
	delete_beside(db, "-shm");
	put_elsewhere(&other);
	assert_int_equal(rp_enqueue(db->conn, "q", &job, NULL), RP_ENODB);
	assert_non_null(strstr(rp_last_error(db->conn)->message,
			       "-shm was deleted or replaced"));
	put_elsewhere(&other);
	/* closing cannot copy -wal into the file, but reports no error */
	rp_close(looking);
	rp_close(idle);
	rp_close(db->conn);
	db->conn = connect_to(db);
	assert_int_equal(stats_of(db->conn, "q").ready, 6);
	end_other(&other);
}

static void
a_deleted_file_is_noticed_even_if_it_is_old(void **state)
{
	struct db *db = *state;
	static const char *const endings[] = { "-wal", "-shm" };
	rp_job_spec job = job_of("x");

	for (int i = 0; i < 2; i++) {
		put(db->conn, "q", "x");
		/* Wait until the directory's last change is so old that the
		 * library remembers its time. From then on, the library looks
		 * for deleted files only if this time has changed. */
		sleep_ms(50);
		put(db->conn, "q", "x");
		put(db->conn, "q", "x");
		delete_beside(db, endings[i]);
		assert_int_equal(rp_begin(db->conn), RP_ENODB);
		assert_int_equal(rp_enqueue(db->conn, "q", &job, NULL),
				 RP_ENODB);
		rp_close(db->conn);
		db->conn = connect_to(db);
	}
}

static void
a_new_handle_of_a_process_that_has_a_deleted_file_open_is_refused(void **state)
{
	struct db *db = *state;
	rp_error error;
	rp_conn *conn;

	put(db->conn, "q", "x");
	delete_beside(db, "-shm");
	assert_int_equal(rp_open(db->url, NULL, &conn, &error), RP_ENODB);
	rp_close(db->conn);
	db->conn = connect_to(db);
	assert_int_equal(stats_of(db->conn, "q").ready, 1);
}

static int
come_and_go(void *ctx)
{
	for (int i = 0; i < 40; i++) {
		rp_conn *conn = connect_to(ctx);

		put(conn, "q", "x");
		put(conn, "q", "x");
		rp_close(conn);
	}
	return 0;
}

static void
processes_that_come_and_go_are_no_alarm(void **state)
{
	struct db *db = *state;
	pid_t pids[4];

	rp_close(db->conn);
	for (int i = 0; i < 4; i++)
		pids[i] = in_child(come_and_go, db);
	for (int i = 0; i < 4; i++)
		expect_success(pids[i]);
	db->conn = connect_to(db);
	assert_int_equal(stats_of(db->conn, "q").ready, 320);
}

static void
other_journal_and_locking_modes_are_no_alarm(void **state)
{
	struct db *db = *state;
	rp_conn *other;

	put(db->conn, "q", "x");
	run_sql(db->conn, "pragma journal_mode = delete", NULL);
	put(db->conn, "q", "x");
	run_sql(db->conn, "pragma journal_mode = wal", NULL);
	put(db->conn, "q", "x");
	other = connect_to(db);
	put(other, "q", "x");
	put(db->conn, "q", "x");
	rp_close(other);
	run_sql(db->conn, "pragma journal_mode = delete", NULL);
	run_sql(db->conn, "pragma locking_mode = exclusive", NULL);
	put(db->conn, "q", "x");
	run_sql(db->conn, "pragma journal_mode = wal", NULL);
	put(db->conn, "q", "x");
	put(db->conn, "q", "x");
	assert_int_equal(stats_of(db->conn, "q").ready, 8);
}

/* ---- a large -wal ---- */

#define SMALL (INT64_C(16) << 20)

static int64_t
size_of_wal(const struct db *db)
{
	char path[300];
	struct stat file;

	snprintf(path, sizeof(path), "%s-wal", db->path);
	assert_int_equal(stat(path, &file), 0);
	return file.st_size;
}

/* Enqueue until -wal is three times as large as SMALL. The library never
 * truncates a -wal of up to SMALL bytes, see lib/db/sqlite/wal.c. */
static void
fill_wal(struct db *db)
{
	rp_job_spec job = job_of("x");
	char *payload = calloc(1, 1 << 20);

	assert_non_null(payload);
	job.payload = payload;
	job.payload_size = 1 << 20;
	while (size_of_wal(db) < 3 * SMALL)
		ok(db->conn, rp_enqueue(db->conn, "q", &job, NULL));
	free(payload);
}

static sqlite3 *
begin_to_read(const struct db *db)
{
	sqlite3 *reader;

	assert_int_equal(sqlite3_open(db->path, &reader), SQLITE_OK);
	assert_int_equal(sqlite3_exec(reader,
				      "begin; select * from readpast_meta",
				      NULL, NULL, NULL),
			 SQLITE_OK);
	return reader;
}

static void
a_wal_that_grew_beside_a_reader_is_cut_when_the_reader_has_ended(void **state)
{
	struct db *db = *state;
	sqlite3 *reader;
	int64_t size, ready;

	put(db->conn, "q", "x");
	reader = begin_to_read(db);
	fill_wal(db);
	size = size_of_wal(db);
	ready = stats_of(db->conn, "q").ready;
	ok(db->conn, rp_sweep(db->conn, NULL));
	assert_int_equal(size_of_wal(db), size);
	assert_int_equal(sqlite3_exec(reader, "commit", NULL, NULL, NULL),
			 SQLITE_OK);
	/* A sweep may cut only a part of -wal, so several sweeps may be
	 * needed. */
	for (int i = 0; i < 1000 && size_of_wal(db) > SMALL; i++)
		ok(db->conn, rp_sweep(db->conn, NULL));
	assert_true(size_of_wal(db) <= SMALL);
	sqlite3_close(reader);
	assert_int_equal(stats_of(db->conn, "q").ready, ready);
}

static void
no_commit_cuts_more_than_a_step(void **state)
{
	struct db *db = *state;
	sqlite3 *reader = begin_to_read(db);
	int64_t before;

	fill_wal(db);
	sqlite3_close(reader);
	before = size_of_wal(db);
	for (int i = 0; i < 1000 && before > SMALL; i++) {
		put(db->conn, "q", "x");
		assert_true(size_of_wal(db) >= before - SMALL);
		before = size_of_wal(db);
	}
	assert_true(before <= SMALL);
}

static void
the_wal_is_cut_while_others_write(void **state)
{
	struct db *db = *state;
	struct other other = start_other(db);
	sqlite3 *reader;

	put(db->conn, "q", "x");
	reader = begin_to_read(db);
	fill_wal(db);
	assert_int_equal(sqlite3_exec(reader, "commit", NULL, NULL, NULL),
			 SQLITE_OK);
	for (int i = 0; i < 1000 && size_of_wal(db) > SMALL; i++) {
		put_elsewhere(&other);
		ok(db->conn, rp_sweep(db->conn, NULL));
	}
	assert_true(size_of_wal(db) <= SMALL);
	sqlite3_close(reader);
	end_other(&other);
}

static void
the_first_to_open_a_file_in_another_mode_switches_it(void **state)
{
	struct db *db = *state;
	int64_t wal = 0;

	put(db->conn, "q", "x");
	run_sql(db->conn, "pragma journal_mode = delete", NULL);
	rp_close(db->conn);
	db->conn = connect_to(db);
	put(db->conn, "q", "x");
	run_sql(db->conn,
		"select journal_mode = 'wal' from pragma_journal_mode", &wal);
	assert_int_equal(wal, 1);
	assert_int_equal(stats_of(db->conn, "q").ready, 2);
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		CASE(jobs_of_others_are_kept_after_shm_was_deleted),
		CASE(a_deleted_file_is_noticed_even_if_it_is_old),
		CASE(a_new_handle_of_a_process_that_has_a_deleted_file_open_is_refused),
		CASE(processes_that_come_and_go_are_no_alarm),
		CASE(other_journal_and_locking_modes_are_no_alarm),
		CASE(a_wal_that_grew_beside_a_reader_is_cut_when_the_reader_has_ended),
		CASE(no_commit_cuts_more_than_a_step),
		CASE(the_wal_is_cut_while_others_write),
		CASE(the_first_to_open_a_file_in_another_mode_switches_it),
	};

	databases_at(argc, argv);
	return cmocka_run_group_tests_name("wal", tests, NULL, NULL);
}
