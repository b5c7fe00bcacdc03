/*
 * writers.c - a queue of the connections that wait for the write lock of a
 * SQLite file. The queue replaces SQLite's own way of waiting, which is to try
 * again and again.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 *
 * With SQLite alone, connections that wait for the lock sleep and try again.
 * While they sleep, the connection that holds the lock may release it and take
 * it again many times. If the waiting connections sleep only briefly, hundreds
 * of them leave no processor time to the writer.
 *
 * So the waiting connections form a queue. Only the first connection in the
 * queue tries again at short intervals. A connection is the first while it
 * holds a lock on FILE-writers, a file of ours beside the database FILE. The
 * others sleep on a word of FILE-writers (a futex), and the kernel keeps them
 * in order. When the first connection gets the write lock, it wakes the next
 * one, which becomes the first.
 *
 * Passing the lock to another process costs more than a commit, because that
 * process has to read the changed pages again. So for STREAK_MS a connection
 * that has had the lock may take it again without queueing. After STREAK_MS it
 * joins the queue.
 *
 * Correctness does not depend on the queue, because a sleeping connection
 * always wakes up after a while and tries to get SQLite's lock. If the first
 * connection is killed or stopped, the others are delayed a little. If
 * FILE-writers cannot be opened, or other programs do not use it, connections
 * sleep between their tries.
 *
 * Source of the idea: queue locks (Mellor-Crummey and Scott, 1991), where each
 * waiter waits only for its predecessor.
 */
#include "sqlite.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* For this time (ms) a connection that has had the write lock may take it again
 * without joining the queue. */
#define STREAK_MS 8
/* The first connection in the queue tries again and again to get the lock. It
 * pauses for NAP_US between two tries. After waiting for PATIENT_MS it pauses
 * for LONG_NAP_US. */
#define NAP_US 100
#define LONG_NAP_US 1000
#define PATIENT_MS 10
/* A connection in the queue sleeps until another connection wakes it, but for
 * at most SLEEP_MS, plus SLEEP_MORE_MS for each connection that is already
 * asleep. After this time it wakes up by itself and loses its place: when it
 * sleeps again, it is the last in the queue. This is rare, because SLEEP_MS is
 * many times as long as STREAK_MS. */
#define SLEEP_MS 200
#define SLEEP_MORE_MS 20
/* The first connection in the queue normally gets the lock within twice
 * STREAK_MS. If it waits longer, another program writes to the database without
 * using the queue. For LATELY_MS after such a wait we assume that this program
 * still writes. */
#define LATELY_MS 100

/* ---- the file ---- */

/* Returns the permissions of FILE-writers. Only users who may write the
 * database may open it. Any other user could hold a lock on the file or take a
 * wake-up that is meant for a writer. */
static mode_t
mode_for(const struct stat *database)
{
	mode_t writers = database->st_mode & (S_IWUSR | S_IWGRP | S_IWOTH);

	return writers | writers << 1;
}

/* Returns 1 if FILE-writers can be trusted: a user who may write the database
 * made the file, and users who may not write the database cannot open it. */
static int
is_trusted(const struct stat *file, const struct stat *database)
{
	int owner = file->st_uid == database->st_uid || file->st_uid == 0 ||
		    file->st_uid == geteuid();
	int group =
		database->st_mode & S_IWGRP && file->st_gid == database->st_gid;

	return S_ISREG(file->st_mode) && (owner || group) &&
	       !(file->st_mode & 0777 & ~mode_for(database));
}

/* Prepare a new FILE-writers. If root creates the file, give it to the owner of
 * the database, as SQLite does with its own files. Write the first bytes, so
 * that they are allocated on disk. Otherwise, on a full disk, the first write
 * to the mapped file would kill the process. */
static int
make_file(int fd, const struct stat *database)
{
	const struct turns none = { 0, 0, 0 };

	if (geteuid() == 0 &&
	    fchown(fd, database->st_uid, database->st_gid) < 0)
		return -1;
	if (fchmod(fd, mode_for(database)) < 0 && errno != EPERM)
		return -1;
	return pwrite(fd, &none, sizeof(none), 0) == sizeof(none) ? 0 : -1;
}

static int
open_file(struct writers *w, const char *path, int flags)
{
	struct stat database, file;
	char name[4096];
	int fd;

	if (stat(path, &database) < 0 ||
	    (size_t)snprintf(name, sizeof(name), "%s-writers", path) >=
		    sizeof(name))
		return -1;
	fd = open(name, O_RDWR | O_CLOEXEC | O_NOFOLLOW | flags,
		  mode_for(&database));
	if (fd < 0)
		return -1;
	if (fstat(fd, &file) < 0 || !is_trusted(&file, &database) ||
	    (file.st_size < (off_t)sizeof(*w->turns) &&
	     make_file(fd, &database) < 0)) {
		close(fd);
		return -1;
	}
	w->turns = mmap(NULL, sizeof(*w->turns), PROT_READ | PROT_WRITE,
			MAP_SHARED, fd, 0);
	if (w->turns == MAP_FAILED) {
		w->turns = NULL;
		close(fd);
		return -1;
	}
	w->fd = fd;
	return 0;
}

/* Open FILE-writers, unless it is open already. flags: O_CREAT to create the
 * file if it does not exist, otherwise 0. Returns 1 if the file is open. */
static int
have_file(struct sqlite *s, int flags)
{
	const char *path = sqlite3_db_filename(s->db, "main");

	return s->writers.turns ||
	       (path && *path && open_file(&s->writers, path, flags) == 0);
}

void
rp__writers_close(struct sqlite *s)
{
	if (s->writers.turns) {
		munmap(s->writers.turns, sizeof(*s->writers.turns));
		close(s->writers.fd);
	}
	s->writers.turns = NULL;
}

/* ---- the queue ---- */

/* Lock the whole file FILE-writers, unlock it, or ask whether another
 * connection has locked it. how: F_OFD_SETLK or F_OFD_GETLK. These locks belong
 * to a file descriptor and not to a process. Returns the type of the lock
 * (F_UNLCK: unlocked), or -1. */
static int
lock(const struct writers *w, int how, short type)
{
	struct flock l = { .l_type = type, .l_whence = SEEK_SET };
	int r = fcntl(w->fd, how, &l);

	return r < 0 ? r : l.l_type;
}

static int
somebody_is_first(const struct writers *w)
{
	return lock(w, F_OFD_GETLK, F_WRLCK) == F_WRLCK;
}

/* Sleep until this connection is woken to become the first in the queue, but
 * for at most `most_ms`. seen: an earlier value of turns->count. If the value
 * has changed since then, a wake-up has happened, and this call does not
 * sleep. */
static void
sleep_in_queue(const struct writers *w, uint32_t seen, int64_t most_ms)
{
	int64_t ms = SLEEP_MS + SLEEP_MORE_MS * (int64_t)atomic_fetch_add(
							&w->turns->sleepers, 1);
	struct timespec t;
	uint32_t sleepers = 1;

	ms = ms < most_ms ? ms : most_ms;
	t = (struct timespec){ ms / 1000, ms % 1000 * 1000000 };
	syscall(SYS_futex, &w->turns->count, FUTEX_WAIT, seen, &t, NULL, 0);
	while (sleepers &&
	       !atomic_compare_exchange_weak(&w->turns->sleepers, &sleepers,
					     sleepers - 1))
		;
}

static int
wake_one(const struct writers *w)
{
	atomic_fetch_add(&w->turns->count, 1);
	return syscall(SYS_futex, &w->turns->count, FUTEX_WAKE, 1, NULL, NULL,
		       0) > 0;
}

/* Wake the next connection, which becomes the first. Returns 0 if no connection
 * sleeps. */
static int
wake_next(const struct writers *w)
{
	atomic_store(&w->turns->called, 1); /* set before the wake-up, because
					     * the woken connection clears it
					     * when it becomes the first */
	if (wake_one(w))
		return 1;
	atomic_store(&w->turns->sleepers, 0); /* no connection sleeps;
					       * `sleepers` counted only killed
					       * connections */
	atomic_store(&w->turns->called, 0);
	return wake_one(w); /* try again: while `called` was 1, a connection may
			     * have begun to sleep instead of becoming the
			     * first */
}

static int
become_first(struct writers *w)
{
	w->first = lock(w, F_OFD_SETLK, F_WRLCK) >= 0;
	if (w->first)
		atomic_store(&w->turns->called, 0);
	return w->first;
}

/* Join the queue. Returns 1 if this connection became the first in the queue
 * without sleeping, 0 if it has slept. */
static int
stand_in_queue(struct writers *w, int64_t most_ms)
{
	uint32_t seen = atomic_load(&w->turns->count);

	if (!atomic_load(&w->turns->called) && become_first(w))
		return 1;
	sleep_in_queue(w, seen, most_ms);
	become_first(w);
	return 0;
}

/* Wait before the next try to get the lock. If another connection is the first
 * in the queue, sleep until this connection is woken to become the first. If
 * this connection is the first already, or if FILE-writers cannot be opened,
 * sleep only for a moment. */
static void
wait_a_little(struct sqlite *s, int64_t waited_ms, int64_t left_ms)
{
	struct writers *w = &s->writers;

	if (!w->first && have_file(s, O_CREAT) && !stand_in_queue(w, left_ms))
		return;
	rp__nap_us(waited_ms < PATIENT_MS ? NAP_US : LONG_NAP_US);
}

/* SQLite's busy handler, which SQLite calls each time a lock is not free. Waits
 * a little and returns 1, so that SQLite tries again. Returns 0 if the time for
 * waiting is over. */
static int
busy(void *ctx, int count)
{
	struct sqlite *s = ctx;
	struct writers *w = &s->writers;
	int64_t now = rp__monotonic_ms();
	int64_t left;

	if (count == 0)
		w->since = now;
	w->streak_at = now;
	w->offered = 0;
	left = w->since + (w->asks ? w->most_ms : s->busy_ms) - now;
	if (left <= 0)
		return 0;
	if (w->first && now - w->since > 2 * STREAK_MS)
		w->strangers_at = now;
	if (w->asks)
		wait_a_little(s, now - w->since, left);
	else
		rp__nap_us(LONG_NAP_US);
	return 1;
}

void
rp__writers_be_patient(struct sqlite *s)
{
	sqlite3_busy_handler(s->db, busy, s);
}

/* Leave the lock free until the first connection in the queue has taken it, but
 * for at most STREAK_MS. If the first connection did not take the lock the last
 * time, wait only for NAP_US, and also wake the next connection. Returns 0 if
 * no connection waits. */
static int
offer(struct writers *w)
{
	int there = somebody_is_first(w) || atomic_load(&w->turns->called);
	int64_t us = w->offered ? NAP_US : STREAK_MS * INT64_C(1000);
	uint32_t count;

	if (!there || w->offered)
		there |= wake_next(w);
	count = atomic_load(&w->turns->count);
	for (; there && us > 0 && atomic_load(&w->turns->count) == count;
	     us -= NAP_US)
		rp__nap_us(NAP_US);
	w->offered = there;
	return there;
}

/* Join the queue before the lock is requested on a caller's connection. On such
 * a connection, SQLite's own timeout or the caller's busy handler waits for the
 * lock. Both try so rarely that another writer would nearly always hold the
 * lock. But while this connection is the first in the queue, other writers
 * leave the lock free long enough for the next try. */
static void
queue_for_caller(struct sqlite *s)
{
	if (have_file(s, 0))
		stand_in_queue(
			&s->writers,
			rp__sqlite_pragma_int(s->db, "pragma busy_timeout"));
}

void
rp__writers_ask(struct sqlite *s, int64_t most_ms)
{
	struct writers *w = &s->writers;
	int64_t now = rp__monotonic_ms();

	w->asks = 1;
	w->most_ms = most_ms;
	if (now - w->streak_at < STREAK_MS)
		return;
	if (s->attached)
		queue_for_caller(s);
	else if (!(have_file(s, 0) && offer(w)) && w->strangers_at &&
		 now - w->strangers_at < LATELY_MS)
		rp__nap_us(LONG_NAP_US);
	w->streak_at = rp__monotonic_ms();
}

void
rp__writers_answered(struct sqlite *s)
{
	struct writers *w = &s->writers;

	w->asks = 0;
	if (!w->first)
		return;
	w->first = 0;
	lock(w, F_OFD_SETLK, F_UNLCK);
	wake_next(w);
}
