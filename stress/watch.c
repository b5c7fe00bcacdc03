/*
 * watch.c - the process of `readpast stress` that looks at the database: what a
 * server counts, what its sessions wait for, and when the queue is empty. It
 * holds the old snapshot, too (--pin-snapshot).
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "stress.h"

#include <sqlite3.h>

#include "stress_sqlite.h"

#define EVERY_MS 50

struct watcher {
	struct stress *stress;
	rp_conn *conn, *pinned;
	int64_t last_done;
	int quiet; /* looks in a row that saw nothing become done */
};

static int
fails(struct watcher *w, const char *why)
{
	return child_fails(w->stress, "watching the database", why);
}

/* ---- the server's own statistics ---- */

static int
read_counters(struct watcher *w, struct server *ret)
{
	return w->stress->shared->on_server
		       ? server_counters(w->stress, w->conn, ret)
		       : 0;
}

static int
sample_waits(struct watcher *w)
{
	return w->stress->shared->on_server ? server_waits(w->stress, w->conn)
					    : 0;
}

/* A backend adds up its counts when it ends, which is soon after its client. */
static int
read_last_counters(struct watcher *w, struct server *ret)
{
	for (int i = 0; i < 2000 / EVERY_MS; i++) {
		if (read_counters(w, ret) < 0)
			return -1;
		if (!ret->sessions)
			break;
		sleep_us(EVERY_MS * 1000);
	}
	return 0;
}

/* ---- the old snapshot ---- */

static int
pin(struct watcher *w)
{
	rp_error error;
	char *why = NULL;

	if (rp_open(w->stress->cmd->url, NULL, &w->pinned, &error) < 0)
		return fails(w, error.message);
	if (w->stress->shared->on_server)
		return server_pin(w->stress, w->pinned);
	if (sqlite3_exec(rp_conn_native(w->pinned), sqlite_stress_pin, NULL,
			 NULL, &why) != SQLITE_OK)
		return fails(w, why ? why : "out of memory");
	return 0;
}

/* ---- the end ---- */

/*
 * Is there nothing to do any more? When all jobs were seen to end, nobody need
 * be asked. A worker that was killed may not have lived to tell of some: so the
 * queue is asked when for a while nothing ended.
 */
static int
look_for_the_end(struct watcher *w)
{
	struct shared *s = w->stress->shared;
	int64_t ended = atomic_load(&s->done) + atomic_load(&s->dead);
	const rp_queue_stats *q;
	rp_stats *stats;
	int r;

	w->quiet = ended == w->last_done ? w->quiet + 1 : 0;
	w->last_done = ended;
	if (!atomic_load(&s->made))
		return 0;
	if (ended >= atomic_load(&s->enqueued))
		atomic_store(&s->empty, 1);
	if (w->quiet < 4)
		return 0;
	w->quiet = 0;
	r = rp_stats_get(w->conn, w->stress->queue, &stats);
	if (r == RP_EBUSY || r == RP_ELOST)
		return 0;
	if (r < 0)
		return fails(w, rp_last_error(w->conn)->message);
	q = rp_stats_at(stats, 0);
	if (q->ready + q->scheduled + q->running == 0)
		atomic_store(&s->empty, 1);
	rp_stats_free(stats);
	return 0;
}

static int
look(struct watcher *w)
{
	struct shared *s = w->stress->shared;
	int r = 0;

	if (read_counters(w, &s->before) < 0)
		return FAILED;
	if (w->stress->pin && pin(w))
		return FAILED;
	atomic_store(&s->ready, 1);
	while (!r && !atomic_load(&s->over)) {
		if (sample_waits(w) < 0)
			return FAILED;
		if (!atomic_load(&s->empty))
			r = look_for_the_end(w);
		sleep_us(EVERY_MS * 1000);
	}
	rp_close(w->pinned);
	w->pinned = NULL;
	return r || read_last_counters(w, &s->after) < 0 ? FAILED : DONE;
}

int
watch(struct stress *stress, struct child *child)
{
	struct watcher w = { .stress = stress };
	rp_error error;
	int status;

	(void)child;
	if (rp_open(stress->cmd->url, NULL, &w.conn, &error) < 0)
		return fails(&w, error.message);
	status = look(&w);
	rp_close(w.pinned);
	rp_close(w.conn);
	return status;
}
