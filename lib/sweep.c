/*
 * sweep.c - the maintenance: what is due, what ran out, what is kept too long.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "internal.h"

/* So many jobs of a queue in one transaction: a few milliseconds each, so that
 * nobody waits long for the write lock. */
#define SLICE 500

#define BEHIND_MS 1000
#define SWEEP_MS 60000

static int
died(void *ctx, size_t row, const struct rp_value *c)
{
	rp_swept *swept = ctx;

	(void)row;
	if (c[SWEEP_EXPIRED_OUT_DEAD].i)
		swept->dead++;
	else
		swept->recovered++;
	return RP_ROW_TAKE;
}

static int
slice(rp_conn *conn, rp_swept *swept)
{
	struct rp_value max[] = { rp__int(SLICE) };
	int r = rp__begin(conn, RP_BEGIN_WRITE);

	if (r < 0)
		return r;
	r = rp__run(conn, RP_V_SWEEP_EXPIRED, max, 1, died, swept);
	if (r == 0)
		r = rp__run(conn, RP_V_SWEEP_DUE, max, 1, rp__count,
			    &swept->due);
	if (r == 0)
		r = rp__run(conn, RP_V_SWEEP_KEPT, max, 1, rp__count,
			    &swept->dropped);
	if (r == 0)
		r = rp__run(conn, RP_V_SWEEP_REST, NULL, 1, NULL, NULL);
	return rp__end(conn, r);
}

static int64_t
total(const rp_swept *swept)
{
	return swept->due + swept->recovered + swept->dead + swept->dropped;
}

enum rp_duty
rp__duty(const rp_conn *conn)
{
	return conn->backend->duty ? conn->backend->duty(conn->db)
				   : RP_DUTY_QUEUES;
}

/* What is due or over is swept at once; what claims have left behind them, and
 * what is in queues of others who leave that to us, once a second; and now and
 * then all is. */
int
rp__sweep_is_due(const rp_conn *conn, const struct rp_look *look)
{
	int64_t ago = rp__monotonic_ms() - conn->swept_at;

	return look->due_in_ms == 0 || look->expires_in_ms == 0 ||
	       (ago >= BEHIND_MS &&
		(look->behind || rp__duty(conn) == RP_DUTY_ALL)) ||
	       ago >= SWEEP_MS;
}

int
rp_sweep(rp_conn *conn, rp_swept *ret)
{
	rp_swept swept = { 0, 0, 0, 0 };
	int64_t before;
	int r = rp__enter(conn);

	if (r < 0)
		return r;
	conn->swept_at = rp__monotonic_ms();
	do {
		before = total(&swept);
		r = slice(conn, &swept);
	} while (r == 0 && total(&swept) - before >= SLICE);
	if (r < 0)
		return r;
	if (ret)
		*ret = swept;
	return total(&swept) > INT32_MAX ? INT32_MAX : (int)total(&swept);
}
