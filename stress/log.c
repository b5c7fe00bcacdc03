/*
 * log.c - the log of one process of `readpast stress`. The log is in memory
 * that outlives the process.
 *
 * The log is an unnamed file. One part of the file at a time, the window, is
 * mapped into memory. An entry is written by a store into this memory, without
 * a system call, so it is kept even if SIGKILL follows at once.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "stress.h"

#include <sys/mman.h>
#include <unistd.h>

/* Number of entries in a window. It is a multiple of every page size, so that
 * each window begins at a page of the file, as mmap() requires. */
#define WINDOW 65536

int
log_open(struct stress_log *log, _Atomic int64_t *count)
{
	*log = (struct stress_log){ .fd = memfd_create("log", MFD_CLOEXEC),
				    .count = count };
	return log->fd < 0 ? -1 : 0;
}

static int
next_window(struct stress_log *log, int64_t number)
{
	const size_t bytes = WINDOW * sizeof(struct moment);
	off_t start = (off_t)(number / WINDOW * (int64_t)bytes);
	void *window;

	if (log->window)
		munmap(log->window, bytes);
	log->window = NULL;
	if (ftruncate(log->fd, start + (off_t)bytes) < 0)
		return -1;
	window = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, log->fd,
		      start);
	if (window == MAP_FAILED)
		return -1;
	log->window = window;
	log->from = number / WINDOW * WINDOW;
	return 0;
}

int
log_note(struct stress_log *log, const struct moment *moment)
{
	int64_t number = atomic_load_explicit(log->count, memory_order_relaxed);

	if ((!log->window || number >= log->from + WINDOW) &&
	    next_window(log, number) < 0)
		return -1;
	log->window[number - log->from] = *moment;
	atomic_store_explicit(log->count, number + 1, memory_order_release);
	return 0;
}

static size_t
bytes_of(const struct stress_log *log)
{
	return (size_t)atomic_load(log->count) * sizeof(struct moment);
}

static void
each_of(const struct stress_log *log, const char *client, moment_fn *fn,
	void *ctx)
{
	int64_t count = atomic_load(log->count);
	const struct moment *all;

	if (!count)
		return;
	all = mmap(NULL, bytes_of(log), PROT_READ, MAP_SHARED, log->fd, 0);
	if (all == MAP_FAILED)
		return;
	for (int64_t i = 0; i < count; i++)
		fn(ctx, &all[i], client);
	munmap((void *)(uintptr_t)all, bytes_of(log));
}

void
log_each(const struct stress *stress, moment_fn *fn, void *ctx)
{
	for (int64_t i = 0; i < stress->producers + stress->workers; i++) {
		int makes = i < stress->producers;
		char client[64];

		snprintf(client, sizeof(client), "%s:%lld",
			 makes ? "producer" : "worker",
			 (long long)(makes ? i : i - stress->producers) + 1);
		each_of(&stress->children[i].log, client, fn, ctx);
	}
}
