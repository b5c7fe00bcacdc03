/*
 * tally.c - count finished jobs, for the rates and totals that `stats` shows.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "internal.h"

#include <stdlib.h>

#define EVERY_MS 1000 /* counts are written this often */

/*
 * A job is counted only if the transaction that settles it commits. But if one
 * of several calls in the caller's transaction fails, jobs of that call may be
 * counted. If memory runs out, jobs are not counted. tally_write.c writes the
 * counts.
 */

struct counts {
	int64_t done, failed;
};

struct rp_tally {
	int64_t queue_id;
	int64_t counted_at; /* when a job was last counted (monotonic ms) */
	struct counts kept; /* of committed transactions; not written yet */
	struct counts sent; /* those of `kept` that the open transaction has
			     * written */
	struct counts open; /* of the open transaction; not written yet */
};

static void
add(struct counts *to, struct counts n)
{
	to->done += n.done;
	to->failed += n.failed;
}

/* Returns the tally of the queue, or NULL if memory ran out. */
static struct rp_tally *
tally_of(struct rp_tallies *tallies, int64_t queue_id)
{
	struct rp_tally *items = tallies->items;

	for (size_t i = 0; i < tallies->count; i++)
		if (items[i].queue_id == queue_id)
			return &items[i];
	if (tallies->count == tallies->room) {
		size_t room = tallies->room ? 2 * tallies->room : 16;

		items = realloc(items, room * sizeof(*items));
		if (!items)
			return NULL;
		tallies->items = items;
		tallies->room = room;
	}
	items[tallies->count] = (struct rp_tally){ .queue_id = queue_id };
	return &items[tallies->count++];
}

void
rp__tally(rp_conn *conn, int64_t queue_id, int64_t done, int64_t failed)
{
	struct rp_tally *tally;

	if (done == 0 && failed == 0)
		return;
	tally = tally_of(&conn->tallies, queue_id);
	if (!tally)
		return;
	add(&tally->open, (struct counts){ done, failed });
	tally->counted_at = rp__monotonic_ms();
}

/* The transaction has ended. If it was not committed, forget its counts, and
 * keep those that it had written. */
void
rp__tally_end(rp_conn *conn, int is_committed)
{
	struct rp_tallies *tallies = &conn->tallies;
	size_t n = 0;

	for (size_t i = 0; i < tallies->count; i++) {
		struct rp_tally *t = &tallies->items[i];

		add(&t->kept, is_committed ? t->open : t->sent);
		t->open = t->sent = (struct counts){ 0 };
		if (t->kept.done || t->kept.failed)
			tallies->items[n++] = *t;
	}
	tallies->count = n;
}

/* Move the counts of a connection that has no open transaction to other
 * tallies, where they count as not written yet. */
void
rp__tally_move(struct rp_tallies *from, struct rp_tallies *to)
{
	for (size_t i = 0; i < from->count; i++) {
		const struct rp_tally *t = &from->items[i];
		struct rp_tally *its = tally_of(to, t->queue_id);

		if (!its)
			continue;
		add(&its->kept, t->kept);
		if (t->counted_at > its->counted_at)
			its->counted_at = t->counted_at;
	}
	from->count = 0;
}

/* Returns the time in ms until the counts should be written. It is 0 if this
 * handle has written none within the last second. Returns -1 if there is
 * nothing to write. */
int64_t
rp__tally_due_in(const rp_conn *conn)
{
	int64_t spent = rp__monotonic_ms() - conn->tallies.written_at;

	if (conn->tallies.count == 0)
		return -1;
	return conn->tallies.written_at && spent < EVERY_MS ? EVERY_MS - spent
							    : 0;
}

/* Fill in the parameters of the verb `tally`, a row for each queue: the counts
 * of the open transaction, and also those of earlier ones if `all` is 1. They
 * then count as written. `rows` has room for all tallies. Returns the number of
 * rows. */
size_t
rp__tally_take(rp_conn *conn, int all, struct rp_value *rows)
{
	struct rp_tallies *tallies = &conn->tallies;
	int64_t now = rp__monotonic_ms();
	size_t n = 0;

	for (size_t i = 0; i < tallies->count; i++) {
		struct rp_tally *t = &tallies->items[i];
		struct rp_value *row = rows + n * TALLY_PARAMS;

		if (all) {
			add(&t->open, t->kept);
			add(&t->sent, t->kept);
			t->kept = (struct counts){ 0 };
		}
		if (t->open.done == 0 && t->open.failed == 0)
			continue;
		row[TALLY_QUEUE_ID] = rp__int(t->queue_id);
		row[TALLY_DONE] = rp__int(t->open.done);
		row[TALLY_FAILED] = rp__int(t->open.failed);
		row[TALLY_AGO_MS] = rp__int(now - t->counted_at);
		t->open = (struct counts){ 0 };
		n++;
	}
	return n;
}
