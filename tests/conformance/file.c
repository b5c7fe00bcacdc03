/*
 * file.c - test what happens if the SQLite file is deleted, replaced, damaged
 * or write-protected while it is open, or if its disk is full.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "check.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <unistd.h>

/* The context of a handler that damages the file of its own worker. `do_it`
 * does the damage. */
struct harm {
	struct db *db;
	void (*do_it)(const struct db *db);
	rp_worker *worker;
	int calls;
};

static int
do_harm(rp_task *task, const rp_job *job, void *ctx)
{
	struct harm *harm = ctx;

	(void)task;
	(void)job;
	if (harm->calls++ == 0)
		harm->do_it(harm->db);
	return RP_DONE;
}

static int
work_and(struct db *db, void (*do_it)(const struct db *), rp_error *reterr)
{
	struct harm harm = { .db = db, .do_it = do_it };
	rp_worker_options options = RP_WORKER_INIT;
	int r;

	options.drain = 1;
	assert_int_equal(rp_worker_new(db->url, &options, &harm.worker, NULL),
			 0);
	assert_int_equal(
		rp_worker_handle(harm.worker, "q", NULL, do_harm, &harm), 0);
	r = rp_worker_run(harm.worker, reterr);
	rp_worker_free(harm.worker);
	return r;
}

static void
delete_it(const struct db *db)
{
	unlink(db->path);
}

/* Rename the file, together with -wal and -shm. */
static void
move(const struct db *db, const char *from, const char *to)
{
	char command[900];

	snprintf(command, sizeof(command),
		 "mkdir -p '%s/away'; cd '%s/%s' && mv test.db* '%s/%s/'",
		 db->dir, db->dir, from, db->dir, to);
	if (system(command) != 0)
		print_error("%s: failed\n", command);
}

static void
move_it_away(const struct db *db)
{
	move(db, ".", "away");
}

static void
a_worker_ends_when_its_file_is_deleted(void **state)
{
	struct db *db = *state;
	rp_job_spec job = job_of("x");
	rp_error error;

	put(db->conn, "q", "x");
	assert_int_equal(work_and(db, delete_it, &error), RP_ENODB);
	assert_non_null(strstr(error.message, "deleted or replaced"));
	assert_int_equal(rp_enqueue(db->conn, "q", &job, NULL), RP_ENODB);
}

static void
reads_fail_when_the_file_is_deleted(void **state)
{
	struct db *db = *state;
	rp_outcome outcome = { 0 };
	int64_t id = put(db->conn, "q", "x"), now;
	rp_stats *stats;
	rp_batch *batch;

	move_it_away(db);
	assert_int_equal(rp_stats_get(db->conn, NULL, &stats), RP_ENODB);
	assert_non_null(strstr(rp_last_error(db->conn)->message,
			       "deleted or replaced"));
	assert_int_equal(rp_job_get(db->conn, id, &batch), RP_ENODB);
	assert_int_equal(
		rp_job_wait(db->conn, &id, 1, RP_WAIT_ANY, 0, -1, &outcome),
		RP_ENODB);
	assert_int_equal(rp_now(db->conn, &now), RP_ENODB);
	move(db, "away", ".");
	assert_int_equal(stats_of(db->conn, "q").ready, 1);
}

static void
a_file_that_was_moved_is_intact_and_the_new_file_is_not_changed(void **state)
{
	struct db *db = *state;
	rp_error error;
	rp_conn *other;

	for (int i = 0; i < 5; i++)
		put(db->conn, "q", "x");
	assert_int_equal(work_and(db, move_it_away, &error), RP_ENODB);
	rp_close(db->conn);
	other = connect_to(db); /* this makes a new file with the same name */
	put(other, "q", "new");
	assert_int_equal(stats_of(other, "q").ready, 1);
	rp_close(other);
	move(db, "away", ".");
	db->conn = connect_to(db);
	assert_int_equal(stats_of(db->conn, "q").ready +
				 stats_of(db->conn, "q").running,
			 5);
}

/* A job's handler that opens its connection while the file is away. */
static int
extend_without_file(rp_task *task, const rp_job *job, void *ctx)
{
	struct harm *harm = ctx;
	rp_conn *conn;

	(void)job;
	move_it_away(harm->db);
	harm->calls = rp_task_extend(task, 60000) == RP_ENODB &&
		      rp_task_begin(task, &conn) == RP_ENODB &&
		      access(harm->db->path, F_OK) != 0;
	move(harm->db, "away", ".");
	rp_worker_stop(harm->worker);
	return RP_DONE;
}

static void
a_handler_makes_no_new_file_when_its_file_was_moved(void **state)
{
	struct db *db = *state;
	struct harm harm = { .db = db };
	rp_error error;
	int r;

	put(db->conn, "q", "x");
	assert_int_equal(rp_worker_new(db->url, NULL, &harm.worker, NULL), 0);
	assert_int_equal(rp_worker_handle(harm.worker, "q", NULL,
					  extend_without_file, &harm),
			 0);
	r = rp_worker_run(harm.worker, &error);
	rp_worker_free(harm.worker);
	/* The worker may look at the file at the same time. */
	assert_true(r == 0 || r == RP_ENODB);
	assert_int_equal(harm.calls, 1);
}

static void
delete_beside(const struct db *db, const char *ending)
{
	char path[300];

	snprintf(path, sizeof(path), "%s%s", db->path, ending);
	assert_int_equal(unlink(path), 0);
}

static void
delete_wal(const struct db *db)
{
	delete_beside(db, "-wal");
}

static void
delete_shm(const struct db *db)
{
	delete_beside(db, "-shm");
}

static void
a_worker_ends_when_its_wal_or_shm_is_deleted(void **state)
{
	struct db *db = *state;
	rp_error error;

	put(db->conn, "q", "x");
	assert_int_equal(work_and(db, delete_shm, &error), RP_ENODB);
	assert_non_null(strstr(error.message, "-shm was deleted or replaced"));
	rp_close(db->conn);
	db->conn = connect_to(db);
	put(db->conn, "q", "x");
	assert_int_equal(work_and(db, delete_wal, &error), RP_ENODB);
	assert_non_null(strstr(error.message, "-wal was deleted or replaced"));
}

static void
overwrite_it(const struct db *db)
{
	FILE *file = fopen(db->path, "r+");

	for (int i = 0; i < 60000; i++)
		fputs("not a page ", file);
	fclose(file);
}

static void
a_damaged_file_is_an_error_and_not_a_loop(void **state)
{
	struct db *db = *state;
	rp_error error;
	rp_conn *conn;

	for (int i = 0; i < 2000; i++)
		put(db->conn, "q", "x");
	rp_close(db->conn); /* closing copies -wal into the file */
	db->conn = NULL;
	overwrite_it(db);
	assert_int_equal(rp_open(db->url, NULL, &conn, &error), RP_EDAMAGED);
	assert_non_null(strstr(error.message, db->path));
	assert_int_equal(work_and(db, overwrite_it, &error), RP_EDAMAGED);
}

/* ---- a full or read-only disk ---- */

/* the errno with which SQLite's writes fail; 0: the writes succeed */
static atomic_int failing;

static ssize_t
write_or_fail(int fd, const void *data, size_t size, off_t offset)
{
	if (atomic_load(&failing)) {
		errno = atomic_load(&failing);
		return -1;
	}
	return pwrite(fd, data, size, offset);
}

static int
may_or_fail(const char *path, int mode)
{
	if (atomic_load(&failing) == EROFS && (mode & W_OK)) {
		errno = EROFS;
		return -1;
	}
	return access(path, mode);
}

static void
watch_writes(int really)
{
	static const struct {
		const char *name;
		sqlite3_syscall_ptr call;
	} calls[] = {
		{ "pwrite", (sqlite3_syscall_ptr)write_or_fail },
		{ "pwrite64", (sqlite3_syscall_ptr)write_or_fail },
		{ "access", (sqlite3_syscall_ptr)may_or_fail },
	};
	sqlite3_vfs *vfs = sqlite3_vfs_find(NULL);

	for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++)
		assert_int_equal(
			vfs->xSetSystemCall(vfs, calls[i].name,
					    really ? calls[i].call : NULL),
			SQLITE_OK);
}

struct trouble {
	int calls, seen, code, errno_then;
};

static int
hit_the_end_of_the_disk(rp_task *task, const rp_job *job, void *ctx)
{
	struct trouble *trouble = ctx;

	(void)task;
	(void)job;
	if (trouble->calls++ == 0)
		atomic_store(&failing, trouble->errno_then);
	return RP_DONE;
}

static void
make_room(const rp_event *event, void *ctx)
{
	struct trouble *trouble = ctx;

	if (event->what != RP_EVENT_TROUBLE)
		return;
	trouble->seen++;
	trouble->code = event->result;
	atomic_store(&failing, 0);
}

static int
work_until(struct db *db, struct trouble *trouble, rp_worker_counts *ret,
	   rp_error *reterr)
{
	rp_worker_options options = RP_WORKER_INIT;
	rp_worker *worker;
	int r;

	options.drain = 1;
	options.observer = make_room;
	options.observer_ctx = trouble;
	assert_int_equal(rp_worker_new(db->url, &options, &worker, NULL), 0);
	assert_int_equal(rp_worker_handle(worker, "q", NULL,
					  hit_the_end_of_the_disk, trouble),
			 0);
	watch_writes(1);
	r = rp_worker_run(worker, reterr);
	atomic_store(&failing, 0);
	watch_writes(0);
	assert_int_equal(rp_worker_counts_get(worker, ret), 0);
	rp_worker_free(worker);
	return r;
}

static void
a_worker_outlasts_a_full_disk(void **state)
{
	struct db *db = *state;
	struct trouble trouble = { .errno_then = ENOSPC };
	rp_worker_counts counts = RP_WORKER_COUNTS_INIT;
	rp_error error;

	for (int i = 0; i < 20; i++)
		put(db->conn, "q", "x");
	assert_true(work_until(db, &trouble, &counts, &error) >= 0);
	assert_int_equal(trouble.code, RP_EFULL);
	assert_true(trouble.seen > 0);
	assert_int_equal(trouble.calls, 20);
	assert_int_equal(counts.done, 20);
	assert_int_equal(stats_of(db->conn, "q").ready, 0);
	assert_int_equal(stats_of(db->conn, "q").running, 0);
}

static void
a_worker_ends_when_its_disk_is_read_only_and_loses_nothing(void **state)
{
	struct db *db = *state;
	struct trouble trouble = { .errno_then = EROFS };
	rp_worker_counts counts = RP_WORKER_COUNTS_INIT;
	rp_error error;

	for (int i = 0; i < 20; i++)
		put(db->conn, "q", "x");
	assert_int_equal(work_until(db, &trouble, &counts, &error),
			 RP_EREADONLY);
	assert_non_null(strstr(error.message, db->path));
	assert_int_equal(stats_of(db->conn, "q").ready +
				 stats_of(db->conn, "q").running,
			 20 - counts.done);
}

/* ---- SQLite only ---- */

static void
P8_an_idle_sweep_writes_nothing(void **state)
{
	struct db *db = *state;
	char wal[300];
	FILE *file;
	long before, after;

	put(db->conn, "q", "x");
	snprintf(wal, sizeof(wal), "%s-wal", db->path);
	file = fopen(wal, "r");
	assert_non_null(file);
	fseek(file, 0, SEEK_END);
	before = ftell(file);
	for (int i = 0; i < 5; i++)
		ok(db->conn, rp_sweep(db->conn, NULL));
	fseek(file, 0, SEEK_END);
	after = ftell(file);
	fclose(file);
	assert_int_equal(before, after);
}

static void
P4_other_writers_wait_for_an_open_transaction_and_readers_do_not(void **state)
{
	struct db *db = *state;
	rp_job_spec job = job_of("x");
	char url[540];
	rp_conn *other;
	int64_t began;

	put(db->conn, "q", "x");
	snprintf(url, sizeof(url), "%s?busy=100ms", db->url);
	assert_int_equal(rp_open(url, NULL, &other, NULL), 0);
	ok(db->conn, rp_begin(db->conn));
	put(db->conn, "q", "y");
	began = now_ms();
	assert_int_equal(stats_of(other, "q").ready, 1);
	assert_int_equal(rp_enqueue(other, "q", &job, NULL), RP_EBUSY);
	assert_true(now_ms() - began >= 100);
	assert_int_equal(rp_begin(other), RP_EBUSY);
	assert_int_equal(rp_commit(other), RP_EINVAL);
	ok(db->conn, rp_commit(db->conn));
	ok(other, rp_enqueue(other, "q", &job, NULL));
	assert_int_equal(stats_of(other, "q").ready, 3);
	rp_close(other);
}

static int
count_steps(void *steps)
{
	return ++*(int *)steps < 0;
}

/* A probe must not read the whole index of ready jobs. Without statistics about
 * the tables, SQLite could choose to read this index. */
static void
P8_a_probe_does_not_scan_the_ready_line(void **state)
{
	struct db *db = *state;
	const char *const queues[] = { "q", NULL };
	int few = 0, many = 0;

	put(db->conn, "q", "x");
	ok(db->conn, rp_wait(db->conn, queues, 0, -1));
	sqlite3_progress_handler(rp_conn_native(db->conn), 1, count_steps,
				 &few);
	ok(db->conn, rp_wait(db->conn, queues, 0, -1));
	sqlite3_progress_handler(rp_conn_native(db->conn), 0, NULL, NULL);
	for (int i = 0; i < 2000; i++)
		put(db->conn, "q", "x");
	sqlite3_progress_handler(rp_conn_native(db->conn), 1, count_steps,
				 &many);
	ok(db->conn, rp_wait(db->conn, queues, 0, -1));
	sqlite3_progress_handler(rp_conn_native(db->conn), 0, NULL, NULL);
	assert_true(few > 0);
	assert_in_range(many, 1, few + 20);
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		CASE(a_worker_ends_when_its_file_is_deleted),
		CASE(reads_fail_when_the_file_is_deleted),
		CASE(a_file_that_was_moved_is_intact_and_the_new_file_is_not_changed),
		CASE(a_handler_makes_no_new_file_when_its_file_was_moved),
		CASE(a_worker_ends_when_its_wal_or_shm_is_deleted),
		CASE(a_damaged_file_is_an_error_and_not_a_loop),
		CASE(a_worker_outlasts_a_full_disk),
		CASE(a_worker_ends_when_its_disk_is_read_only_and_loses_nothing),
		CASE(P8_an_idle_sweep_writes_nothing),
		CASE(P8_a_probe_does_not_scan_the_ready_line),
		CASE(P4_other_writers_wait_for_an_open_transaction_and_readers_do_not),
	};

	databases_at(argc, argv);
	return cmocka_run_group_tests_name("file", tests, NULL, NULL);
}
