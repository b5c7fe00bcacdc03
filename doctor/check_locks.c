/*
 * check_locks.c - a check of `readpast doctor`: find the process that holds a
 * SQLite lock for too long. Such a process is a writer that does not commit, or
 * a reader that blocks checkpoints.
 *
 * SQLite locks bytes of the database file and of -shm. F_GETLK returns the
 * process that holds a lock on them. A child process opens the files, calls
 * F_GETLK, and exits. The doctor itself must never open these files. POSIX
 * locks belong to a process and a file, so closing any descriptor of the file
 * would release the locks of the doctor's SQLite connection. F_OFD_GETLK would
 * not help, because it also needs a descriptor that must be closed. The child's
 * F_GETLK also reports locks of its parent, the doctor.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "doctor.h"

/* ---- reading the locks ---- */

/* The lock bytes of the -shm file, which https://www.sqlite.org/walformat.html
 * describes. The file begins with two headers of 48 bytes. The checkpoint
 * information follows, and contains the lock bytes. */
#define READERS 5
#define WRITER 120 /* offset of the byte that a writer locks */
/* offset of the first of READERS bytes; each reader locks one of them */
#define FIRST_READER 123
struct shared {
	uint32_t version, unused;
	uint32_t commits; /* number of commits; may wrap around */
	uint8_t is_init, big_endian;
	uint16_t page_size; /* 1 means 65536 */
	uint32_t frames;    /* number of frames in -wal */
	uint32_t rest[7], copy[12];
	/* number of frames already copied into the database file */
	uint32_t in_file;
	uint32_t marks[READERS];
};

/* Without -shm, or in exclusive locking mode, SQLite locks bytes of the
 * database file itself, beginning at the offset PENDING. A writer takes an
 * exclusive lock on these bytes, and a reader takes a shared lock. The commit
 * counter is then in the header of the database file. These locks are described
 * in https://www.sqlite.org/src/file/src/os.h. */
#define PENDING 0x40000000
#define PENDING_AND_ALL_BEHIND 512
#define COMMITS_AT 24

#define NOBODY 0
/* The lock's holder is in another container, so its process id is unknown. */
#define SOMEBODY -1
struct seen {
	int done;
	/* bytes of -wal that are not yet in the database file */
	int64_t waiting_bytes;
	/* the process whose read transaction keeps a checkpoint from copying
	 * waiting_bytes */
	pid_t reader;
	pid_t writer;
	uint32_t commits[2]; /* the commit counter in -shm, and the one in the
			      * database file */
};

/* Return the process whose lock would conflict with a lock of this type, or
 * NOBODY. */
static pid_t
holder_of(int fd, short type, off_t first, off_t count)
{
	struct flock lock = { .l_type = type,
			      .l_whence = SEEK_SET,
			      .l_start = first,
			      .l_len = count };

	if (fcntl(fd, F_GETLK, &lock) < 0 || lock.l_type == F_UNLCK)
		return NOBODY;
	return lock.l_pid > 0 ? lock.l_pid : SOMEBODY;
}

static void
see_file(int fd, struct seen *seen)
{
	seen->writer = holder_of(fd, F_RDLCK, PENDING, PENDING_AND_ALL_BEHIND);
	if (pread(fd, &seen->commits[1], sizeof(seen->commits[1]), COMMITS_AT) <
	    0)
		seen->commits[1] = 0;
}

static void
see_shared(int fd, struct seen *seen)
{
	struct shared s;
	pid_t writer = holder_of(fd, F_WRLCK, WRITER, 1);

	if (writer != NOBODY)
		seen->writer = writer;
	if (pread(fd, &s, sizeof(s), 0) != sizeof(s))
		return;
	seen->commits[0] = s.commits;
	if (s.frames <= s.in_file)
		return;
	seen->waiting_bytes = (int64_t)(s.frames - s.in_file) *
			      (s.page_size == 1 ? 65536 : s.page_size);
	for (int i = 0; i < READERS && seen->reader == NOBODY; i++)
		if (s.marks[i] < s.frames)
			seen->reader =
				holder_of(fd, F_WRLCK, FIRST_READER + i, 1);
}

/* Read the locks. This must run in a child process. In the doctor itself,
 * closing the files would release the locks of its SQLite connection. */
static struct seen
see(const char *path)
{
	struct seen seen = { .done = 1 };
	char shm[PATH_MAX + 8];
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd >= 0)
		see_file(fd, &seen);
	snprintf(shm, sizeof(shm), "%s-shm", path);
	fd = open(shm, O_RDONLY | O_CLOEXEC);
	if (fd >= 0)
		see_shared(fd, &seen);
	return seen;
}

static struct seen
see_apart(const char *path)
{
	struct seen seen = { 0 };
	int pipes[2];
	pid_t child;

	if (pipe(pipes) < 0)
		return seen;
	child = fork();
	if (child == 0) {
		seen = see(path);
		_exit(write(pipes[1], &seen, sizeof(seen)) != sizeof(seen));
	}
	close(pipes[1]);
	if (child < 0 || read(pipes[0], &seen, sizeof(seen)) != sizeof(seen))
		seen.done = 0;
	close(pipes[0]);
	if (child > 0)
		waitpid(child, NULL, 0);
	return seen;
}

static json_t *
name_process(pid_t pid)
{
	char path[48], name[64] = "";
	FILE *file;

	if (pid == SOMEBODY)
		return json_string("a process in another container");
	snprintf(path, sizeof(path), "/proc/%ld/comm", (long)pid);
	file = fopen(path, "re");
	if (file) {
		if (!fgets(name, sizeof(name), file))
			*name = '\0';
		fclose(file);
	}
	name[strcspn(name, "\n")] = '\0';
	return json_sprintf("process %ld%s%s%s", (long)pid, *name ? " (" : "",
			    name, *name ? ")" : "");
}

/* ---- does a write transaction stay open? ---- */

/* The lock is examined LOOKS times, with pauses of NAP_MS ms. Transactions of
 * readpast itself are shorter than the sum of the pauses. So a process that
 * holds the lock all the time has left a transaction open. */
#define LOOKS 5
#define NAP_MS 100

/* Return the time since the last commit in ms. SQLite does not record that
 * time, so use the modification time of -wal, or of the database file if there
 * is no -wal. A large transaction writes to -wal before it commits, so the
 * result may be too small. */
static int64_t
since_commit_ms(const char *path)
{
	char wal[PATH_MAX + 8];
	struct timespec now;
	struct stat file;

	snprintf(wal, sizeof(wal), "%s-wal", path);
	clock_gettime(CLOCK_REALTIME, &now);
	if (stat(wal, &file) < 0 && stat(path, &file) < 0)
		return 0;
	return (now.tv_sec - file.st_mtim.tv_sec) * INT64_C(1000) +
	       (now.tv_nsec - file.st_mtim.tv_nsec) / 1000000;
}

static json_t *
advise_to_end(pid_t pid)
{
	return pid == SOMEBODY
		       ? json_string("let that process commit or roll back; "
				     "lslocks, run by root outside of "
				     "containers, shows which process it is")
		       : json_sprintf("let that process commit or roll back "
				      "the transaction that it left open, or "
				      "end it: kill %ld",
				      (long)pid);
}

static int
is_same_writer(const struct seen *first, const struct seen *now)
{
	return now->done && now->writer != NOBODY &&
	       now->writer == first->writer &&
	       memcmp(now->commits, first->commits, sizeof(now->commits)) == 0;
}

/* Examine the write lock up to LOOKS times. Return 1 if the same process holds
 * it each time and the commit counters do not change in between. Then that
 * process has held the lock all the time. *now receives the result of the last
 * examination. */
static int
holds_on(const char *path, struct seen *now)
{
	const struct timespec nap = { 0, NAP_MS * 1000000 };
	const struct seen first = see_apart(path);

	*now = first;
	for (int i = 1; i < LOOKS && is_same_writer(&first, now); i++) {
		nanosleep(&nap, NULL);
		*now = see_apart(path);
	}
	return is_same_writer(&first, now);
}

static int
no_process(struct doctor *d)
{
	return doctor_undone(d, "cannot start a process for this check");
}

int
check_lock(struct doctor *d)
{
	struct seen now;

	if (!d->is_file)
		return DOCTOR_NOT_HERE;
	if (!d->path)
		return doctor_no_file(d);
	if (!holds_on(d->path, &now))
		return now.done ? 0 : no_process(d);
	d->blocked = 1;
	return doctor_found(d,
			    json_pack("{ss sI so sI so}", "file", d->path,
				      "pid", (json_int_t)now.writer, "holder",
				      name_process(now.writer), "lasts_ms",
				      (json_int_t)since_commit_ms(d->path),
				      "fix", advise_to_end(now.writer)));
}

/* ---- does a reader block checkpoints? ---- */

#define STARVED_BYTES (16 << 20)

int
check_checkpoint(struct doctor *d)
{
	struct seen seen;

	if (!d->is_file)
		return DOCTOR_NOT_HERE;
	if (!d->path)
		return doctor_no_file(d);
	seen = see_apart(d->path);
	if (!seen.done)
		return no_process(d);
	if (seen.waiting_bytes < STARVED_BYTES || seen.reader == NOBODY)
		return 0;
	return doctor_found(d, json_pack("{sI sI so}", "waiting_bytes",
					 (json_int_t)seen.waiting_bytes, "pid",
					 (json_int_t)seen.reader, "holder",
					 name_process(seen.reader)));
}
