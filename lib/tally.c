/*
 * tally.c - count recently finished jobs, for the rates that `stats` shows.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "internal.h"

/*
 * The table of tallies has a row for each second and queue. A client writes
 * rows at most once a second. After a rollback some jobs are not counted, or
 * counted twice. That does no harm, because the counts are only shown to people
 * as a rate.
 *
 * On SQLite the rows are written in the transaction of a round trip (a call
 * that settles and claims). A second transaction after the round trip could
 * fail in the extension for SQLite, because there the call runs inside an SQL
 * statement of the caller. Until that statement ends, the connection keeps its
 * snapshot of the database. SQLite refuses to write from a snapshot if another
 * client has written since then.
 */

void
rp__tally(rp_conn *conn, int64_t queue_id, int64_t done, int64_t failed)
{
	struct rp_tally *t = conn->tallies;
	struct rp_tally *end = t + conn->tallies_count;

	if (done == 0 && failed == 0)
		return;
	while (t < end && t->queue_id != queue_id)
		t++;
	if (t == end) {
		if (conn->tallies_count == RP_TALLIES)
			return;
		*t = (struct rp_tally){ .queue_id = queue_id };
		conn->tallies_count++;
	}
	t->done += done;
	t->failed += failed;
}

/* Returns 1 unless a tally was written within the last second. */
int
rp__tally_is_due(const rp_conn *conn)
{
	return !conn->tallied_at ||
	       rp__monotonic_ms() - conn->tallied_at >= 1000;
}

/* Write the tallies, in the open transaction if there is one. */
int
rp__tally_write(rp_conn *conn)
{
	struct rp_value rows[RP_TALLIES * TALLY_PARAMS];
	size_t n = conn->tallies_count;
	int r;

	if (n == 0)
		return 0;
	for (size_t i = 0; i < n; i++) {
		struct rp_value *row = rows + i * TALLY_PARAMS;

		row[TALLY_QUEUE_ID] = rp__int(conn->tallies[i].queue_id);
		row[TALLY_DONE] = rp__int(conn->tallies[i].done);
		row[TALLY_FAILED] = rp__int(conn->tallies[i].failed);
	}
	conn->tallies_count = 0;
	conn->tallied_at = rp__monotonic_ms();
	r = rp__begin(conn, RP_BEGIN_WRITE);
	if (r < 0)
		return r;
	return rp__end(conn, rp__run(conn, RP_V_TALLY, rows, n, NULL, NULL));
}
