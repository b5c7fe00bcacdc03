/*
 * tally.c - count recently finished jobs, for the rates that `stats` shows.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "internal.h"

#include <stdlib.h>

#define EVERY_MS 1000 /* tallies are written this often */

/*
 * The table of tallies has rows for each second and queue. A client writes rows
 * at most once a second. After a rollback, or if memory runs out, some jobs are
 * not counted, or counted twice. That does no harm, because the counts are only
 * shown to people.
 *
 * On SQLite the rows are written in the transaction of a round trip (a call
 * that settles and claims). A second transaction after the round trip could
 * fail in the extension for SQLite, because there the call runs inside an SQL
 * statement of the caller. Until that statement ends, the connection keeps its
 * snapshot of the database. SQLite refuses to write from a snapshot if another
 * client has written since then.
 */

/* Returns the row of the queue's counts, or NULL if memory ran out. */
static struct rp_value *
row_of(struct rp_tallies *tallies, int64_t queue_id)
{
	struct rp_value *rows = tallies->rows, *row;

	for (size_t i = 0; i < tallies->count; i++)
		if (rows[i * TALLY_PARAMS + TALLY_QUEUE_ID].i == queue_id)
			return rows + i * TALLY_PARAMS;
	if (tallies->count == tallies->room) {
		size_t room = tallies->room ? 2 * tallies->room : 16;

		rows = realloc(rows, room * TALLY_PARAMS * sizeof(*rows));
		if (!rows)
			return NULL;
		tallies->rows = rows;
		tallies->room = room;
	}
	row = rows + tallies->count++ * TALLY_PARAMS;
	row[TALLY_QUEUE_ID] = rp__int(queue_id);
	row[TALLY_DONE] = row[TALLY_FAILED] = rp__int(0);
	return row;
}

void
rp__tally(rp_conn *conn, int64_t queue_id, int64_t done, int64_t failed)
{
	struct rp_value *row;

	if (done == 0 && failed == 0)
		return;
	row = row_of(&conn->tallies, queue_id);
	if (!row)
		return;
	row[TALLY_DONE].i += done;
	row[TALLY_FAILED].i += failed;
}

/* Returns in how many ms the tallies should be written: 0 unless some were
 * written within the last second. Returns -1 if there are none. */
int64_t
rp__tally_due_in(const rp_conn *conn)
{
	int64_t spent = rp__monotonic_ms() - conn->tallies.written_at;

	if (conn->tallies.count == 0)
		return -1;
	return conn->tallies.written_at && spent < EVERY_MS ? EVERY_MS - spent
							    : 0;
}

/* Write the tallies, in the open transaction if there is one. */
int
rp__tally_write(rp_conn *conn)
{
	struct rp_tallies *tallies = &conn->tallies;
	size_t n = tallies->count;
	int r;

	if (n == 0)
		return 0;
	tallies->count = 0;
	tallies->written_at = rp__monotonic_ms();
	r = rp__begin(conn, RP_BEGIN_WRITE);
	if (r < 0)
		return r;
	return rp__end(conn,
		       rp__run(conn, RP_V_TALLY, tallies->rows, n, NULL, NULL));
}

int
rp__tally_write_if_due(rp_conn *conn)
{
	return rp__tally_due_in(conn) == 0 ? rp__tally_write(conn) : 0;
}
