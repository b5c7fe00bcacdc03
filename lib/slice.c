/*
 * slice.c - divide a long change into short transactions.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 *
 * On SQLite a writing transaction keeps all other writers out. So a call that
 * changes many jobs works in slices, and each slice is a transaction of its
 * own. A slice is limited by time, not by a number of jobs, because a job with
 * a payload of 16 MiB may cost a thousand times as much as another job. Each
 * slice changes at least one job.
 *
 * Between two slices the call pauses, so that other writers can take the lock.
 * The pause is a quarter of the time that the last slice took, without its
 * commit. Commits are slow on a slow disk. If commits counted, a sweep would
 * spend most of its time in pauses there. The pause is at least 1 ms, because
 * writers that poll the lock sleep for less than 1 ms between two tries. If the
 * caller has a transaction open, a slice is a savepoint, and there are no
 * pauses.
 */
#include "internal.h"

#include <string.h>

/* Limits of the pause. A single large job may make a slice long, but the pause
 * stays short. */
#define LEAST_PAUSE_US 1000
#define MOST_PAUSE_US 20000
/* On a server, a verb changes this many rows in one run, because each run costs
 * a round trip. */
#define AT_ONCE 100

static void
let_others_in(const struct rp_slice *last)
{
	int64_t us = last->worked_us / 4;

	us = us < LEAST_PAUSE_US  ? LEAST_PAUSE_US
	     : us > MOST_PAUSE_US ? MOST_PAUSE_US
				  : us;
	rp__nap_us(us - (rp__monotonic_us() - (last->began + last->took_us)));
}

int
rp__slice_begin(rp_conn *conn, struct rp_slice *slice, int how)
{
	int joins = conn->depth > 0 || conn->backend->joins(conn->db);
	int r;

	if (slice->took_us && conn->backend->one_writer && !joins)
		let_others_in(slice);
	r = rp__begin(conn, RP_BEGIN_WRITE | how);
	slice->began = rp__monotonic_us();
	slice->left = RP_SLICE;
	return r;
}

int
rp__slice_is_over(const struct rp_slice *slice)
{
	return slice->left <= 0 ||
	       (slice->left < RP_SLICE &&
		rp__monotonic_us() - slice->began >= RP_SLICE_US);
}

/* Returns RP_ROW_TAKE if another row may be changed in this slice, otherwise
 * RP_ROW_STOP. On a server always returns RP_ROW_TAKE, because the verb may
 * have changed a row before it returns the row. There a slice need not be
 * short, because other clients can write at the same time. */
int
rp__slice_take(const rp_conn *conn, struct rp_slice *slice)
{
	int over = rp__slice_is_over(slice);

	slice->left = over ? 0 : slice->left - 1;
	return over && conn->backend->one_writer ? RP_ROW_STOP : RP_ROW_TAKE;
}

int
rp__slice_end(rp_conn *conn, struct rp_slice *slice, int r)
{
	slice->worked_us = rp__monotonic_us() - slice->began;
	r = rp__end(conn, r);
	slice->took_us = rp__monotonic_us() - slice->began;
	return r;
}

int
rp__each_id(rp_conn *conn, enum rp_verb verb, const int64_t *ids, size_t n,
	    const struct rp_value *rest, size_t width, rp_row_fn *row,
	    void *ctx, size_t ctx_size)
{
	struct rp_value params[AT_ONCE * EACH_MOST_PARAMS];
	char before[EACH_MOST_CTX];
	size_t most = conn->backend->one_writer ? 1 : AT_ONCE;
	struct rp_slice slice = { 0 };
	int r = 0;

	while (n && r == 0) {
		r = rp__slice_begin(conn, &slice, 0);
		if (r < 0)
			return r;
		if (ctx_size)
			memcpy(before, ctx, ctx_size);
		while (n && r == 0 && !rp__slice_is_over(&slice)) {
			size_t rows = n < most ? n : most;

			for (size_t i = 0; i < rows; i++) {
				struct rp_value *to = &params[i * width];

				for (size_t k = 0; k < width; k++)
					to[k] = rest[k];
				to[EACH_ID] = rp__int(ids[i]);
			}
			r = rp__run(conn, verb, params, rows, row, ctx);
			slice.left -= (int64_t)rows;
			ids += rows;
			n -= rows;
		}
		r = rp__slice_end(conn, &slice, r);
		/* The slice was rolled back, except if the answer to its commit
		 * was lost. */
		if (r < 0 && r != RP_ELOST && ctx_size)
			memcpy(ctx, before, ctx_size);
	}
	return r;
}
