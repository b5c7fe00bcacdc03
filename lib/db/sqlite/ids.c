/*
 * ids.c - ids that a connection keeps for the jobs it will put in one at
 * a time.
 *
 * SQLite notes the last id that an autoincrement column was given, in a page of
 * its own: a third of what such a commit writes. So that number is raised by
 * some at once, and they are given to the next jobs. Nobody else is given them;
 * those that are left over are given to nobody.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "sqlite.h"

/* So many are left over at most, and never more than were used. */
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

/* Is nothing but this call in the transaction? Else SQL of the caller's could
 * take back unseen what is reserved. */
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
		ids->left = 0; /* its ids grow from call to call */
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
