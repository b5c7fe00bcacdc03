/*
 * ids.c - reserve ids for jobs that a connection enqueues one at a time.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 *
 * SQLite stores the last id of an autoincrement column in a page of its own.
 * That page is a third of what the commit of one job writes. So a connection
 * raises the last id by several in one step, and its next jobs get these ids.
 * No other connection can get these ids. Ids that are left over are never used.
 */
#include "sqlite.h"

/* The largest number of ids that a connection reserves in one step. A
 * connection begins with one id and doubles the number each time. So it never
 * leaves more ids unused than it has used. */
#define MOST 64

static int
reserve(struct sqlite *s, rp_error *error)
{
	struct ids *ids = &s->ids;
	struct rp_value params[RESERVE_PARAMS];
	int64_t last = 0;
	int r = rp__sqlite_run(s, RP_V_LAST_ID, NULL, 1, rp__first_int, &last,
			       error);

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

/* Returns 1 if the current call is the whole transaction. Only then may ids be
 * reserved. In a longer transaction the caller could roll back to a savepoint
 * with its own SQL. That would undo the reservation, and this connection would
 * not notice. */
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
		ids->left = 0; /* do not use the reserved ids any more: SQLite
				* gives larger ids to these jobs, and the ids of
				* a connection must grow from call to call */
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
rp__ids_pass(struct sqlite *s)
{
	struct ids *ids = &s->ids;

	ids->left = 0;
	if (ids->more)
		ids->more = 1;
}

void
rp__ids_forget(struct sqlite *s)
{
	s->ids.left = 0;
}
