/*
 * watch.c - the process of `readpast stress` that looks at the server:
 * what it counts, what its sessions wait for, and when the queue is empty. It
 * holds the old snapshot, too (--pin-snapshot).
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "stress.h"

#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "db/postgres/libpq.h"
#include "stress_sql.h"

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

static void
nap(void)
{
	nanosleep(&(struct timespec){ .tv_nsec = EVERY_MS * 1000000 }, NULL);
}

/* ---- PostgreSQL's own statistics ---- */

/* The rows of a statement; NULL: said why. PQ(clear)() them. */
static PGresult *
rows_of(struct watcher *w, rp_conn *conn, const char *sql)
{
	PGconn *pg = rp_conn_native(conn);
	PGresult *rows = PQ(exec)(pg, sql);

	if (PQ(resultStatus)(rows) == PGRES_TUPLES_OK)
		return rows;
	fails(w, PQ(errorMessage)(pg));
	PQ(clear)(rows);
	return NULL;
}

static int
read_statements(struct watcher *w, int64_t *ret)
{
	PGresult *rows = rows_of(w, w->conn, postgres_stress_statements);

	if (!rows)
		return -1;
	*ret = atoll(PQ(getvalue)(rows, 0, 0));
	PQ(clear)(rows);
	return 0;
}

static int
read_counters(struct watcher *w, struct server *ret)
{
	PGresult *rows;
	int counted;

	if (!w->stress->shared->on_server)
		return 0;
	rows = rows_of(w, w->conn, postgres_stress_counters);
	if (!rows)
		return -1;
	ret->transactions = atoll(PQ(getvalue)(rows, 0, 0));
	ret->buffers = atoll(PQ(getvalue)(rows, 0, 1));
	ret->wal_bytes = atoll(PQ(getvalue)(rows, 0, 2));
	ret->deadlocks = atoll(PQ(getvalue)(rows, 0, 3));
	ret->sessions = atoll(PQ(getvalue)(rows, 0, 4));
	counted = *PQ(getvalue)(rows, 0, 5) == 't';
	PQ(clear)(rows);
	ret->statements = -1;
	return counted ? read_statements(w, &ret->statements) : 0;
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
		nap();
	}
	return 0;
}

static void
count_wait(struct shared *shared, const char *type, const char *event,
	   int64_t sessions)
{
	for (size_t i = 0; i < WAITS; i++) {
		struct wait *wait = &shared->waits[i];

		if (!wait->samples) {
			snprintf(wait->type, sizeof(wait->type), "%s", type);
			snprintf(wait->event, sizeof(wait->event), "%s", event);
		}
		if (strcmp(wait->type, type) == 0 &&
		    strcmp(wait->event, event) == 0) {
			wait->samples += sessions;
			return;
		}
	}
}

static int
sample_waits(struct watcher *w)
{
	PGresult *rows;

	if (!w->stress->shared->on_server)
		return 0;
	rows = rows_of(w, w->conn, postgres_stress_waits);
	if (!rows)
		return -1;
	for (int i = 0; i < PQ(ntuples)(rows); i++)
		count_wait(w->stress->shared, PQ(getvalue)(rows, i, 0),
			   PQ(getvalue)(rows, i, 1),
			   atoll(PQ(getvalue)(rows, i, 2)));
	w->stress->shared->samples++;
	PQ(clear)(rows);
	return 0;
}

/* ---- the old snapshot ---- */

static int
pin(struct watcher *w)
{
	rp_error error;
	PGresult *rows;
	char *why = NULL;

	if (rp_open(w->stress->cmd->url, NULL, &w->pinned, &error) < 0)
		return fails(w, error.message);
	if (w->stress->shared->on_server) {
		rows = rows_of(w, w->pinned, postgres_stress_pin);
		PQ(clear)(rows);
		return rows ? 0 : FAILED;
	}
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
		nap();
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
