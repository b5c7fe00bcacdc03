/*
 * tally_write.c - write the counts of finished jobs to the database.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "internal.h"

#include <stdlib.h>

/*
 * The table of tallies has rows for each second and queue. A client writes rows
 * about once a second. If a connection of the caller is in a transaction of the
 * caller, the library does not see the end of that transaction. So then each
 * call writes its own counts at once, and they are rolled back together with
 * the jobs.
 *
 * On SQLite the rows are written in the transaction of a round trip (a call
 * that settles and claims). A second transaction after the round trip could
 * fail in the extension for SQLite, because there the call runs inside an SQL
 * statement of the caller. Until that statement ends, the connection keeps its
 * snapshot of the database. SQLite refuses to write from a snapshot if another
 * client has written since then.
 */

/* Write the counts of the open transaction, and also those of earlier ones if
 * `all` is 1. */
static int
write_counts(rp_conn *conn, int all)
{
	struct rp_value *rows =
		calloc(conn->tallies.count, TALLY_PARAMS * sizeof(*rows));
	size_t n;
	int r;

	if (!rows)
		return rp__fail(&conn->error, RP_ENOMEM, "out of memory");
	n = rp__tally_take(conn, all, rows);
	r = n ? rp__run(conn, RP_V_TALLY, rows, n, NULL, NULL) : 0;
	free(rows);
	return r;
}

/* Write the tallies, in the open transaction if there is one. */
int
rp__tally_write(rp_conn *conn)
{
	int r;

	if (conn->tallies.count == 0)
		return 0;
	conn->tallies.written_at = rp__monotonic_ms();
	r = rp__begin(conn, RP_BEGIN_WRITE);
	return r < 0 ? r : rp__end(conn, write_counts(conn, 1));
}

int
rp__tally_write_if_due(rp_conn *conn)
{
	return rp__tally_due_in(conn) == 0 ? rp__tally_write(conn) : 0;
}

/* In a transaction of the caller: write the counts that this call has made. */
int
rp__tally_write_open(rp_conn *conn)
{
	return conn->tallies.count ? write_counts(conn, 0) : 0;
}
