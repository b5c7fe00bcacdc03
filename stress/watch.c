/*
 * watch.c - the process of `readpast stress` that watches the server. It reads
 * the server's counters, samples what sessions wait for, and notices when the
 * queue is empty. With --pin-snapshot it also keeps a snapshot open.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "stress.h"

#include <string.h>

#include "internal.h"
#include "queries.h"

#define EVERY_MS 50
#define STUCK_MS 5000

struct watcher {
	struct stress *stress;
	rp_conn *conn, *pinned;
	int64_t last_done;
	int quiet;        /* number of calls of look_for_the_end() since a job
			   * ended, or since the last query */
	int64_t stuck_at; /* time (us) since which all jobs that are left have
			   * been blocked; 0: not all are, or none is left */
};

static int
fails(struct watcher *w, const char *why)
{
	return child_fails(w->stress, "watching the database", why);
}

/* ---- statistics of the server ---- */

/* Run a query of sql/<dialect>/stress/. All these queries only read, except the
 * query that pins a snapshot. */
static int
ask(struct watcher *w, rp_conn *conn, const char *name, int flags,
    int (*take_row)(void *ctx, const struct rp_row *row), void *ctx)
{
	const struct rp_query query = { .sql = find_query(rp_conn_scheme(conn),
							  "stress", name),
					.flags = flags,
					.row = take_row,
					.ctx = ctx };

	return rp__query(conn, &query) < 0
		       ? fails(w, rp_last_error(conn)->message)
		       : 0;
}

/* Return the number in a column, or 0 if there is no such column. */
static int64_t
number(const struct rp_row *row, const char *name)
{
	for (size_t i = 0; i < row->count; i++)
		if (strcmp(row->names[i], name) == 0)
			return row->columns[i].i;
	return 0;
}

static int
take_counters(void *ctx, const struct rp_row *row)
{
	*(struct server *)ctx = (struct server){
		.transactions = number(row, "transactions"),
		.buffers = number(row, "buffers"),
		.wal_bytes = number(row, "wal_bytes"),
		.deadlocks = number(row, "deadlocks"),
		.sessions = number(row, "sessions"),
		.statements = number(row, "counts_statements") ? 0 : -1,
	};
	return 0;
}

/* Store the column `statements`. The query returns two rows, and this function
 * is called for each. The first row is the result of set_config(): it has no
 * such column, so 0 is stored. The second row has the number. */
static int
take_statements(void *ctx, const struct rp_row *row)
{
	*(int64_t *)ctx = number(row, "statements");
	return 0;
}

static int
read_counters(struct watcher *w, struct server *ret)
{
	int r;

	if (!w->stress->shared->has_counters)
		return 0;
	r = ask(w, w->conn, "counters", RP_QUERY_READ, take_counters, ret);
	if (r == 0 && ret->statements == 0)
		r = ask(w, w->conn, "statements", RP_QUERY_READ,
			take_statements, &ret->statements);
	return r ? -1 : 0;
}

/* Read the counters after the run. A server process adds its last counts when
 * it ends, which is shortly after its client. So first wait until the sessions
 * of this run have ended. */
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
take_wait(void *ctx, const struct rp_row *row)
{
	char type[24], event[40];

	snprintf(type, sizeof(type), "%.*s", (int)row->columns[0].size,
		 (const char *)row->columns[0].data);
	snprintf(event, sizeof(event), "%.*s", (int)row->columns[1].size,
		 (const char *)row->columns[1].data);
	count_wait(ctx, type, event, row->columns[2].i);
	return 0;
}

static int
sample_waits(struct watcher *w)
{
	if (!w->stress->shared->has_counters)
		return 0;
	w->stress->shared->samples++;
	return ask(w, w->conn, "waits", RP_QUERY_READ, take_wait,
		   w->stress->shared)
		       ? -1
		       : 0;
}

/* ---- the pinned snapshot ---- */

static int
pin(struct watcher *w)
{
	rp_error error;

	if (rp_open(w->stress->cmd->url, NULL, &w->pinned, &error) < 0)
		return fails(w, error.message);
	return ask(w, w->pinned, "pin", 0, NULL, NULL);
}

/* ---- the end ---- */

/* Return whether the queue is stuck: all of its jobs have been blocked for
 * longer than any limit or rate can block them. In that case the run ends, and
 * the check of the history reports the groups of these jobs. */
static int
is_stuck(struct watcher *w, const rp_queue_stats *q)
{
	const struct stress *s = w->stress;
	int64_t most_ms = STUCK_MS + s->lease_ms + 2 * s->rate_ms;
	int64_t now = monotonic_us();

	if (q->ready + q->scheduled + q->running > 0 || q->blocked == 0)
		w->stuck_at = 0;
	else if (!w->stuck_at)
		w->stuck_at = now;
	return w->stuck_at && now - w->stuck_at > most_ms * 1000;
}

/* Set `empty` if no job is left, or if the queue is stuck (see is_stuck()).
 * Usually no query is needed, because the workers count the jobs that have
 * ended. But a worker that was killed may have finished a job without counting
 * it. So if no job has ended for a while, query the database. */
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
	if (q->ready + q->scheduled + q->running + q->blocked == 0 ||
	    is_stuck(w, q))
		atomic_store(&s->empty, 1);
	rp_stats_free(stats);
	return 0;
}

static int
look(struct watcher *w)
{
	struct shared *s = w->stress->shared;
	int r = 0;

	s->has_counters = find_query(rp_conn_scheme(w->conn), "stress",
				     "counters") != NULL;
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
