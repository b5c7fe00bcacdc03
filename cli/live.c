/*
 * live.c - write to the terminal while a worker runs. The last line is a status
 * line. Above it are messages and the output of handlers.
 *
 * All output to the terminal is written by this file, so that the status line
 * can be erased before other output. The status line is drawn only when the
 * cursor is at the start of a line. Otherwise the status line would split a
 * line of a handler's output.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "work.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdarg.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define DRAW_EVERY_MS 200
/* the interval at which a blocked write checks whether it must give up */
#define LOOK_EVERY_MS 200

/* ---- the status line (functions are called with the lock held) ---- */

static void
put(const char *text)
{
	ssize_t written = write(STDERR_FILENO, text, strlen(text));

	(void)written; /* errors of writing to the terminal cannot be
			* reported */
}

/* Erase the last line. Without a status line this erases what the terminal has
 * echoed there, such as "^C". */
static void
take_away(struct live *live)
{
	if (!live->mid_line)
		put("\r\033[K");
	*live->line = '\0';
}

/* Returns the width of the terminal. The status line must not be longer,
 * because a wrapped line could not be erased. */
static size_t
columns(void)
{
	struct winsize size;

	return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col
		       ? size.ws_col
		       : 80;
}

/* Write the counts of jobs in words. Cancelled and lost jobs are rare, so their
 * counts are left out if they are 0. */
void
format_counts(char *to, size_t room, const rp_worker_counts *counts)
{
	const struct {
		int64_t n;
		const char *word;
		int is_rare;
	} parts[] = {
		{ counts->done, "done", 0 },
		{ counts->failed, "failed", 0 },
		{ counts->dead, "dead", 0 },
		{ counts->released, "released", 0 },
		{ counts->cancelled, "cancelled", 1 },
		{ counts->lost, "lost", 1 },
	};
	size_t used = 0;

	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++)
		if (used < room && (parts[i].n || !parts[i].is_rare))
			used += (size_t)snprintf(to + used, room - used,
						 "%s%lld %s", i ? ", " : "",
						 (long long)parts[i].n,
						 parts[i].word);
}

/* Draw the status line, unless the terminal is paused or not read: a write
 * would wait then, and keep the lock. */
static void
draw(struct work *work)
{
	struct pollfd terminal = { .fd = STDERR_FILENO, .events = POLLOUT };
	rp_worker_counts n = RP_WORKER_COUNTS_INIT;
	struct live *live = &work->live;
	double seconds = (double)(monotonic_us() - live->began_us) / 1e6;
	char line[LIVE_LINE], counts[COUNTS];
	size_t most = columns();

	rp_worker_counts_get(work->worker, &n);
	format_counts(counts, sizeof(counts), &n);
	snprintf(line, most < sizeof(line) ? most : sizeof(line),
		 "%s; %lld running; %.0f/s", counts,
		 (long long)atomic_load(&work->running),
		 seconds > 0 ? (double)n.done / seconds : 0);
	if (strcmp(line, live->line) == 0 || poll(&terminal, 1, 0) == 0)
		return;
	take_away(live);
	strcpy(live->line, line);
	put(line);
}

static void
add_ms(struct timespec *at, int64_t ms)
{
	at->tv_nsec += ms * 1000000;
	at->tv_sec += at->tv_nsec / 1000000000;
	at->tv_nsec %= 1000000000;
}

/* ---- the thread that draws the status line ---- */

static void *
draw_now_and_then(void *arg)
{
	struct work *work = arg;
	struct live *live = &work->live;
	struct timespec at;

	pthread_mutex_lock(&live->lock);
	clock_gettime(CLOCK_MONOTONIC, &at);
	while (!live->ended) {
		if (!live->mid_line)
			draw(work);
		add_ms(&at, DRAW_EVERY_MS);
		while (!live->ended &&
		       pthread_cond_timedwait(&live->changed, &live->lock,
					      &at) == 0)
			;
	}
	take_away(live);
	pthread_mutex_unlock(&live->lock);
	return NULL;
}

void
live_begin(struct work *work)
{
	struct live *live = &work->live;
	pthread_condattr_t monotonic;
	int wanted = isatty(STDERR_FILENO) && !work->quiet && !work->log_json;

	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&live->changed, &monotonic);
	pthread_condattr_destroy(&monotonic);
	pthread_mutex_init(&live->lock, NULL);
	live->began_us = monotonic_us();
	live->on = wanted && pthread_create(&live->thread, NULL,
					    draw_now_and_then, work) == 0;
	live->has_output = live->on && isatty(STDOUT_FILENO);
}

void
live_end(struct work *work)
{
	struct live *live = &work->live;

	if (live->on) {
		pthread_mutex_lock(&live->lock);
		live->ended = 1;
		pthread_cond_signal(&live->changed);
		pthread_mutex_unlock(&live->lock);
		pthread_join(live->thread, NULL);
	}
	live->on = live->has_output = 0;
}

/* ---- output above the status line ---- */

/* Write the text in pieces of at most PIPE_BUF bytes. A pipe that is ready
 * accepts such a piece without blocking. Returns 0, an errno, or ECANCELED if
 * `stop` returns true. */
static int
write_all(int fd, const char *text, size_t n, live_stop_fn *stop, void *ctx)
{
	struct pollfd p = { .fd = fd, .events = POLLOUT };
	ssize_t written;

	while (n > 0) {
		if (poll(&p, 1, 0) == 0) {
			if (stop(ctx))
				return ECANCELED;
			poll(&p, 1, LOOK_EVERY_MS);
			continue;
		}
		written = write(fd, text, n < PIPE_BUF ? n : PIPE_BUF);
		if (written < 0 && errno != EINTR && errno != EAGAIN)
			return errno;
		if (written > 0) {
			text += written;
			n -= (size_t)written;
		}
	}
	return 0;
}

/* Take the lock, which another thread keeps while it waits for the terminal.
 * Returns 0, or ECANCELED if `stop` returns true. */
static int
lock_unless(struct live *live, live_stop_fn *stop, void *ctx)
{
	struct timespec at;

	do {
		clock_gettime(CLOCK_REALTIME, &at);
		add_ms(&at, LOOK_EVERY_MS);
		if (pthread_mutex_timedlock(&live->lock, &at) == 0)
			return 0;
	} while (!stop(ctx));
	return ECANCELED;
}

int
live_write(struct work *work, int fd, const char *text, size_t n,
	   live_stop_fn *stop, void *ctx)
{
	struct live *live = &work->live;
	int errnum;

	if (!(fd == STDERR_FILENO ? live->on : live->has_output))
		return write_all(fd, text, n, stop, ctx);
	errnum = lock_unless(live, stop, ctx);
	if (errnum)
		return errnum;
	take_away(live);
	errnum = write_all(fd, text, n, stop, ctx);
	live->mid_line = n > 0 && text[n - 1] != '\n';
	pthread_mutex_unlock(&live->lock);
	return errnum;
}

void
live_say(struct work *work, const char *format, ...)
{
	struct live *live = &work->live;
	char text[1024];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	pthread_mutex_lock(&live->lock);
	if (live->on)
		take_away(live);
	/* Write the line with one fprintf() call, so that the output of other
	 * processes that share standard error does not split it. */
	fprintf(stderr, "%sreadpast: %s\n", live->mid_line ? "\n" : "", text);
	live->mid_line = 0;
	pthread_mutex_unlock(&live->lock);
}
