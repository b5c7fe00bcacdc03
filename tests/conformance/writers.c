/*
 * writers.c - test many processes that write to one SQLite file. The library
 * makes them wait in a queue, so that they write one after the other. A process
 * that is killed, is stopped, or does not use this queue does not block the
 * others.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "check.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define STRANGER 65534

/* ---- the write lock, and the queue of processes that wait for it ---- */

/* A process that holds the write lock until the parent orders it to release the
 * lock. The parent cannot hold the lock itself: SQLite in its other child
 * processes would take the parent's locks for locks of their own, because they
 * are forked while the parent has the file open. */
struct holder {
	const struct db *db;
	pid_t pid;
	int has_it[2], give_up[2];
};

static int
hold_lock(void *ctx)
{
	struct holder *holder = ctx;
	sqlite3 *native;
	char order;

	close(holder->give_up[1]);
	assert_int_equal(sqlite3_open(holder->db->path, &native), SQLITE_OK);
	assert_int_equal(
		sqlite3_exec(native, "begin immediate", NULL, NULL, NULL),
		SQLITE_OK);
	assert_int_equal(write(holder->has_it[1], "x", 1), 1);
	assert_int_equal(read(holder->give_up[0], &order, 1), 1);
	assert_int_equal(sqlite3_exec(native, "commit", NULL, NULL, NULL),
			 SQLITE_OK);
	return sqlite3_close(native);
}

static struct holder
lock_file(struct db *db)
{
	struct holder holder = { .db = db };
	char yes;

	rp_close(db->conn);
	db->conn = NULL;
	assert_int_equal(pipe(holder.has_it), 0);
	assert_int_equal(pipe(holder.give_up), 0);
	holder.pid = in_child(hold_lock, &holder);
	assert_int_equal(read(holder.has_it[0], &yes, 1), 1);
	return holder;
}

static void
unlock_file(const struct holder *holder)
{
	assert_int_equal(write(holder->give_up[1], "x", 1), 1);
	expect_success(holder->pid);
	for (int i = 0; i < 2; i++) {
		close(holder->has_it[i]);
		close(holder->give_up[i]);
	}
}

static char *
queue_file(const struct db *db)
{
	static char path[300];

	snprintf(path, sizeof(path), "%s-writers", db->path);
	return path;
}

/* Return whether a process has the first place in the queue of writers. */
static int
has_first(const struct db *db)
{
	struct flock l = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	int fd = open(queue_file(db), O_RDWR);
	int r = fd >= 0 ? fcntl(fd, F_OFD_GETLK, &l) : -1;

	if (fd >= 0)
		close(fd);
	return r == 0 && l.l_type == F_WRLCK;
}

static void
wait_for_first(const struct db *db, int wanted)
{
	for (int64_t end = now_ms() + 20000; has_first(db) != wanted;) {
		assert_true(now_ms() < end);
		sleep_ms(1);
	}
}

/* Return the number of processes that sleep in the queue. The number is read
 * from the queue's file. */
static uint32_t
sleepers(const struct db *db)
{
	uint32_t words[2] = { 0, 0 };
	int fd = open(queue_file(db), O_RDONLY);

	assert_true(fd >= 0);
	assert_true(read(fd, words, sizeof(words)) == sizeof(words));
	close(fd);
	return words[1];
}

static int
enqueue_once(void *ctx)
{
	rp_conn *conn = connect_to(ctx);

	put(conn, "q", "x");
	rp_close(conn);
	return 0;
}

/* Start three processes that wait for the write lock in the queue of writers.
 * The first tries again and again to take the lock, and the other two sleep. */
static void
start_waiters(struct db *db, pid_t pids[3])
{
	pids[0] = in_child(enqueue_once, db);
	wait_for_first(db, 1);
	pids[1] = in_child(enqueue_once, db);
	pids[2] = in_child(enqueue_once, db);
	for (int64_t end = now_ms() + 20000; sleepers(db) < 2;) {
		assert_true(now_ms() < end);
		sleep_ms(1);
	}
}

/* Let three processes wait in the queue of writers. Kill or stop the first
 * process with signal `number`. The other two must be able to enqueue their
 * jobs. Returns the pid of the first process. */
static pid_t
signal_first(struct db *db, int number)
{
	struct holder other = lock_file(db);
	pid_t pids[3];

	start_waiters(db, pids);
	kill(pids[0], number);
	waitpid(pids[0], NULL, WUNTRACED);
	unlock_file(&other);
	expect_success(pids[1]);
	expect_success(pids[2]);
	return pids[0];
}

static void
a_waiter_that_is_killed_holds_up_nobody(void **state)
{
	struct db *db = *state;

	signal_first(db, SIGKILL);
	db->conn = connect_to(db);
	assert_int_equal(stats_of(db->conn, "q").ready, 2);
}

static void
a_waiter_that_is_stopped_holds_up_nobody(void **state)
{
	struct db *db = *state;
	pid_t first = signal_first(db, SIGSTOP);

	kill(first, SIGCONT);
	expect_success(first);
	db->conn = connect_to(db);
	assert_int_equal(stats_of(db->conn, "q").ready, 3);
}

/* ---- deadlines ---- */

struct impatient {
	char url[600];
	int64_t took_ms;
	int result;
};

static void *
ask_with_deadline(void *ctx)
{
	struct impatient *i = ctx;
	int64_t from = now_ms();
	rp_job_spec job = job_of("x");
	rp_conn *conn;
	rp_error error;

	i->result = rp_open(i->url, NULL, &conn, &error);
	if (i->result < 0)
		return NULL;
	i->result = rp_enqueue(conn, "q", &job, NULL);
	i->took_ms = now_ms() - from;
	rp_close(conn);
	return NULL;
}

static void
a_wait_ends_at_its_deadline_even_if_many_wait(void **state)
{
	struct db *db = *state;
	struct holder other = lock_file(db);
	struct impatient them[40];
	pthread_t threads[40];

	for (int i = 0; i < 40; i++) {
		/* The threads with the longer deadline begin to wait first. The
		 * other threads come later in the queue. Each of them must stop
		 * waiting at its own deadline, although threads before it still
		 * wait. */
		snprintf(them[i].url, sizeof(them[i].url), "%s?busy=%s",
			 db->url, i < 20 ? "4s" : "300ms");
		pthread_create(&threads[i], NULL, ask_with_deadline, &them[i]);
	}
	for (int i = 0; i < 40; i++)
		pthread_join(threads[i], NULL);
	unlock_file(&other);
	db->conn = connect_to(db);
	for (int i = 0; i < 40; i++) {
		assert_int_equal(them[i].result, RP_EBUSY);
		assert_in_range(them[i].took_ms, i < 20 ? 4000 : 300,
				i < 20 ? 9000 : 3900);
	}
}

/* ---- the file ---- */

/* Let a process wait for the lock, so that the file of the queue of writers is
 * created. */
static void
make_wait(struct db *db)
{
	struct holder other;
	pid_t pid;

	other = lock_file(db);
	pid = in_child(enqueue_once, db);
	wait_for_first(db, 1);
	unlock_file(&other);
	expect_success(pid);
	db->conn = connect_to(db);
}

static void
a_user_who_may_only_read_cannot_lock_out_others(void **state)
{
	static const mode_t modes[][2] = {
		{ 0644, 0600 }, { 0664, 0660 }, { 0600, 0600 }, { 0666, 0666 }
	};
	struct db *db = *state;
	struct stat found;

	for (size_t i = 0; i < sizeof(modes) / sizeof(*modes); i++) {
		chmod(db->path, modes[i][0]);
		unlink(queue_file(db));
		make_wait(db);
		assert_int_equal(stat(queue_file(db), &found), 0);
		assert_int_equal(found.st_mode & 0777, modes[i][1]);
	}
}

static void
a_file_that_root_makes_belongs_to_the_owner(void **state)
{
	struct db *db = *state;
	struct stat found;

	if (geteuid() != 0)
		skip();
	assert_int_equal(chown(db->path, STRANGER, STRANGER), 0);
	make_wait(db);
	assert_int_equal(stat(queue_file(db), &found), 0);
	assert_int_equal(found.st_uid, STRANGER);
	assert_int_equal(found.st_gid, STRANGER);
}

static void
a_file_that_a_stranger_made_is_not_used(void **state)
{
	struct flock l = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	struct db *db = *state;
	struct holder other;
	pid_t pids[4];
	int fd;

	if (geteuid() != 0)
		skip();
	fd = open(queue_file(db), O_RDWR | O_CREAT, 0666);
	assert_int_equal(fchown(fd, STRANGER, STRANGER), 0);
	assert_int_equal(fchmod(fd, 0666), 0);
	assert_int_equal(fcntl(fd, F_OFD_SETLK, &l), 0);
	other = lock_file(db);
	for (int i = 0; i < 4; i++)
		pids[i] = in_child(enqueue_once, db);
	sleep_ms(50); /* by now all four children must be waiting */
	unlock_file(&other);
	for (int i = 0; i < 4; i++)
		expect_success(pids[i]);
	assert_int_equal(lseek(fd, 0, SEEK_END), 0);
	close(fd);
	db->conn = connect_to(db);
}

/* ---- many ---- */

#define CLIENTS 100
#define FOR_MS 500

struct crowd {
	struct db *db;
	/* 1: wait for the write lock with SQLite's busy timeout; 0: wait in the
	 * library's queue of writers */
	int timeout;
	atomic_int ready, go;
	atomic_long served[CLIENTS], failed;
};

struct client {
	struct crowd *crowd;
	int number;
};

static rp_conn *
open_client(const struct crowd *crowd, sqlite3 **native)
{
	rp_conn *conn;
	rp_error error;

	if (!crowd->timeout)
		return connect_to(crowd->db);
	assert_int_equal(sqlite3_open(crowd->db->path, native), SQLITE_OK);
	sqlite3_busy_timeout(*native, 10000);
	assert_int_equal(rp_attach("sqlite", *native, NULL, &conn, &error), 0);
	return conn;
}

static void *
be_busy(void *ctx)
{
	const struct client *client = ctx;
	struct crowd *crowd = client->crowd;
	sqlite3 *native = NULL;
	rp_conn *conn = open_client(crowd, &native);
	rp_job_spec job = job_of("x");
	int64_t end;

	atomic_fetch_add(&crowd->ready, 1);
	while (!atomic_load(&crowd->go))
		sleep_ms(1);
	for (end = now_ms() + FOR_MS; now_ms() < end;)
		if (rp_enqueue(conn, "q", &job, NULL) < 0)
			atomic_fetch_add(&crowd->failed, 1);
		else
			atomic_fetch_add(&crowd->served[client->number], 1);
	rp_close(conn);
	sqlite3_close(native);
	return NULL;
}

/* Let CLIENTS threads enqueue jobs for FOR_MS. */
static void
be_crowded(struct crowd *crowd)
{
	struct client clients[CLIENTS];
	pthread_t threads[CLIENTS];

	atomic_store(&crowd->ready, 0);
	atomic_store(&crowd->go, 0);
	for (int i = 0; i < CLIENTS; i++) {
		clients[i] = (struct client){ crowd, i };
		pthread_create(&threads[i], NULL, be_busy, &clients[i]);
	}
	while (atomic_load(&crowd->ready) < CLIENTS)
		sleep_ms(1);
	atomic_store(&crowd->go, 1);
	for (int i = 0; i < CLIENTS; i++)
		pthread_join(threads[i], NULL);
}

static long
all_served(struct crowd *crowd)
{
	long total = 0;

	for (int i = 0; i < CLIENTS; i++)
		total += atomic_load(&crowd->served[i]);
	return total;
}

static void
a_hundred_writers_are_as_fast_as_with_sqlites_own_timeout(void **state)
{
	struct crowd ours = { .db = *state };
	struct crowd theirs = { .db = *state, .timeout = 1 };
	long with_queue, with_timeout;

	/* Take turns, so that a machine that is busy for a moment slows both.
	 */
	for (int round = 0; round < 4; round++) {
		be_crowded(&ours);
		be_crowded(&theirs);
	}
	with_queue = all_served(&ours);
	with_timeout = all_served(&theirs);
	assert_int_equal(atomic_load(&ours.failed), 0);
	/* Compare with connections that use SQLite's own timeout. On a busy
	 * machine, connections that use the library's queue may do only half as
	 * many jobs as connections with the timeout. If connections in the
	 * queue slept for a millisecond between two tries, they would do only a
	 * tenth as many. So the limit is three tenths. */
	if (with_queue * 10 < with_timeout * 3)
		fail_msg("%ld jobs, and %ld with a timeout", with_queue,
			 with_timeout);
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		CASE(a_waiter_that_is_killed_holds_up_nobody),
		CASE(a_waiter_that_is_stopped_holds_up_nobody),
		CASE(a_wait_ends_at_its_deadline_even_if_many_wait),
		CASE(a_user_who_may_only_read_cannot_lock_out_others),
		CASE(a_file_that_root_makes_belongs_to_the_owner),
		CASE(a_file_that_a_stranger_made_is_not_used),
		CASE(a_hundred_writers_are_as_fast_as_with_sqlites_own_timeout),
	};

	databases_at(argc, argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
