/*
 * watch.c - wait until another process has committed to a SQLite file.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 *
 * A commit appends to the -wal file, and inotify reports that as an event. But
 * the event comes before the commit is visible, and no further event follows.
 * So after an event we poll `pragma data_version`, which shows commits of other
 * connections, at growing intervals. Without events we poll it once a second.
 * Thus an event only makes us notice a commit sooner.
 */
#include "internal.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <time.h>
#include <unistd.h>

#include "watch.h"

#define POLL_US 1000000

struct watch {
	sqlite3 *db;
	sqlite3_stmt *version_stmt;
	int64_t version;
	int inotify;      /* -1: inotify is not available, so we only poll */
	int on_wal;       /* 1: the -wal file exists and is watched */
	int64_t event_at; /* when the last events were read, monotonic us */
	size_t look;      /* index in looks_us (see below) of the next interval
			   * between polls */
};

/* Intervals between the polls that follow an event, in microseconds. We poll
 * like this for 0.7 s in total, because a commit becomes visible only after it
 * has been synced to disk, which may take that long. After these polls, we poll
 * once a second, as without events. */
static const int64_t looks_us[] = { 100,    100,    300,   500,   1000,
				    3000,   5000,   10000, 30000, 50000,
				    100000, 200000, 300000 };
#define LOOKS (sizeof(looks_us) / sizeof(*looks_us))

/* An eager call waits for one particular commit, not for any new job. It polls
 * more often than looks_us says. Its interval is the time since the last event,
 * divided by EAGER_PART. So a commit that becomes visible 60 ms after its event
 * is noticed at most 10 ms later. */
#define EAGER_PART 6
/* After this time (in us) without an event, an eager call polls only once a
 * second. */
#define EAGER_US 700000

/* A sleep of up to this time (in us) ignores events. A single commit causes one
 * event for each page that it writes, and each event would interrupt the
 * sleep. */
#define DEAF_US 3000

static void
watch_wal(struct watch *w)
{
	const char *path = sqlite3_db_filename(w->db, "main");
	size_t room = path ? strlen(path) + 5 : 0;
	char *wal = path ? malloc(room) : NULL;

	if (!wal)
		return;
	strcpy(wal, path);
	strcat(wal, "-wal");
	w->on_wal = inotify_add_watch(w->inotify, wal,
				      IN_MODIFY | IN_DELETE_SELF |
					      IN_MOVE_SELF) >= 0;
	free(wal);
}

/* Watch the folder, too, because the -wal file may not exist yet, or may be
 * removed and created again. */
static void
watch_folder(struct watch *w)
{
	const char *path = sqlite3_db_filename(w->db, "main");
	char *folder = path ? strdup(path) : NULL;
	char *slash = folder ? strrchr(folder, '/') : NULL;

	if (slash) {
		slash[slash == folder] = '\0';
		inotify_add_watch(w->inotify, folder, IN_CREATE | IN_MOVED_TO);
	}
	free(folder);
}

struct watch *
rp__watch_new(sqlite3 *db)
{
	struct watch *w = calloc(1, sizeof(*w));

	if (!w)
		return NULL;
	w->db = db;
	w->look = LOOKS;
	w->event_at = -EAGER_US;
	w->inotify = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	if (w->inotify >= 0) {
		watch_folder(w);
		watch_wal(w);
	}
	return w;
}

void
rp__watch_free(struct watch *w)
{
	if (!w)
		return;
	sqlite3_finalize(w->version_stmt);
	if (w->inotify >= 0)
		close(w->inotify);
	free(w);
}

/* Look whether another connection has committed since the last call, and return
 * 1 if so. An error counts as a commit, because the caller's next verb then
 * reports the error. */
static int
look_for_change(struct watch *w)
{
	int64_t version = -1;

	if (!w->version_stmt)
		sqlite3_prepare_v2(w->db, "pragma data_version", -1,
				   &w->version_stmt, NULL);
	if (w->version_stmt && sqlite3_step(w->version_stmt) == SQLITE_ROW)
		version = sqlite3_column_int64(w->version_stmt, 0);
	sqlite3_reset(w->version_stmt);
	if (version == w->version && version >= 0)
		return 0;
	w->version = version;
	return 1;
}

/* Read all pending events. Returns 1 if there was an event. */
static int
take_events(struct watch *w)
{
	char events[4096] __attribute__((aligned(8)));
	int any = 0;

	while (w->inotify >= 0 && read(w->inotify, events, sizeof(events)) > 0)
		any = 1;
	if (any)
		watch_wal(w); /* -wal may have been replaced */
	return any;
}

/* Sleep for `us` microseconds, until an event (unless `deaf` is 1), or until
 * `fd` is readable. Returns 1 if `fd` is readable. */
static int
sleep_us(const struct watch *w, int64_t us, int fd, int deaf)
{
	struct timespec t = { us / 1000000, us % 1000000 * 1000 };
	struct pollfd fds[2] = { { .fd = fd, .events = POLLIN },
				 { .fd = deaf ? -1 : w->inotify,
				   .events = POLLIN } };

	return ppoll(fds, 2, &t, NULL) > 0 && fds[0].revents;
}

static int64_t
next_sleep(struct watch *w, int eager)
{
	int64_t since = rp__monotonic_us() - w->event_at;

	if (!eager)
		return w->look < LOOKS ? looks_us[w->look++] : POLL_US;
	if (since >= EAGER_US)
		return POLL_US;
	since /= EAGER_PART;
	return since > looks_us[0] ? since : looks_us[0];
}

/* The events of two commits may arrive before the first commit is visible. Then
 * this call returns at the first commit, and no event announces the second
 * commit. So w->look is kept, and the next call still polls often. */
int
rp__watch_wait(struct watch *w, int64_t timeout_ms, int fd, int eager)
{
	int64_t end = rp__monotonic_us() + timeout_ms * 1000;

	for (;;) {
		int64_t left =
			timeout_ms < 0 ? POLL_US : end - rp__monotonic_us();
		int64_t us;

		if (take_events(w)) {
			w->look = 0;
			w->event_at = rp__monotonic_us();
		}
		if (look_for_change(w))
			return 1;
		if (left <= 0)
			return 0;
		us = next_sleep(w, eager);
		if (sleep_us(w, us < left ? us : left, fd, us <= DEAF_US))
			return 0;
	}
}

void
rp__watch_stay_quiet(int64_t until_us, int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	int64_t us = until_us - rp__monotonic_us();

	if (us > 0)
		poll(&p, 1, (int)(us / 1000));
}
