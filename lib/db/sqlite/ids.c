/*
 * ids.c - ids that a connection reserves for jobs that it enqueues one at a
 * time.
 *
 * SQLite stores the last id of an autoincrement column in a page of its own,
 * and that page is a third of what the commit of one job writes. So we raise
 * the last id by several at once, and the connection's next jobs get these ids.
 * No other connection can get them; those that are left over are never used.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "sqlite.h"

/* The most ids that a connection reserves at once. It begins with one and
 * doubles the number each time, so it never leaves more ids unused than it
 * has used. */
#define MOST 64

static int
take_last(void *ctx, size_t row, const struct rp_value *c)
{
	(void)row;
	*(int64_t *)ctx = c[ENDS_OUT_LAST_ID].i;
	return RP_ROW_TAKE;
}

static int
reserve(struct sqlite *s, rp_error *error)
{
	struct ids *ids = &s->ids;
	struct rp_value params[RESERVE_PARAMS];
	int64_t last = 0;
	int r = rp__sqlite_run(s, RP_V_ENDS, NULL, 1, take_last, &last, error);

	if (r < 0 || last > INT64_MAX - MOST)
		return r;
	params[RESERVE_ID] = rp__int(last + ids->more);
	params[RESERVE_SEQ] = rp__int(0);
	r = rp__sqlite_run(s, RP_V_RESERVE, params, 1, NULL, NULL, error);
	if (r < 0)
		return r;
	ids->last = last;
	ids->left = ids->more;
	ids->more = ids->more < MOST ? ids->more * 2 : MOST;
	return 0;
}

/* Is this call the whole transaction? If not, SQL of the caller could roll
 * the reservation back without our knowledge. */
static int
is_alone(const struct sqlite *s)
{
	return !s->attached && s->base == OWN && s->depth == 1;
}

int
rp__ids_find(struct sqlite *s, size_t jobs, struct rp_value *ret,
	     rp_error *error)
{
	struct ids *ids = &s->ids;
	int r = 0;

	*ret = (struct rp_value){ .type = RP_NULL };
	if (jobs > 1)
		ids->left = 0; /* SQLite chooses larger ids for these jobs,
				* and a connection's ids must grow from call
				* to call */
	else if (!ids->left && ids->more && is_alone(s))
		r = reserve(s, error);
	if (ids->left)
		*ret = rp__int(ids->last);
	return r;
}

void
rp__ids_given(struct sqlite *s, size_t jobs)
{
	struct ids *ids = &s->ids;

	if (jobs == 1 && ids->left) {
		ids->left--;
		ids->last++;
	} else if (!ids->more) {
		ids->more = 1;
	}
}

void
rp__ids_forget(struct sqlite *s)
{
	s->ids.left = 0;
}
