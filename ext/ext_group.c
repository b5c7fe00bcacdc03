/*
 * ext_group.c - the SQL functions that hold queues and groups, and list groups.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "ext.h"

/* How many groups readpast_groups() lists if its caller gives no number. */
#define LISTED 1000

int
ext_do_hold(struct ext_call *call, struct rp_value *ret)
{
	const struct ext_argument *a = call->arguments;

	(void)ret;
	return rp_queue_hold(call->conn, a[P_QUEUE].text, a[P_GROUP_KEY].text,
			     a[P_DURATION].number);
}

int
ext_do_clear_hold(struct ext_call *call, struct rp_value *ret)
{
	const struct ext_argument *a = call->arguments;

	(void)ret;
	return rp_queue_hold(call->conn, a[P_QUEUE].text, a[P_GROUP_KEY].text,
			     0);
}

/* Read the arguments hold and hold_for of a verdict. */
int
ext_take_hold(struct ext_call *call, rp_verdict *verdict)
{
	const struct ext_argument *a = call->arguments;
	const char *what = a[P_HOLD].given ? a[P_HOLD].text : NULL;

	if (!what && !a[P_HOLD_FOR].given)
		return 0;
	if (!what || !a[P_HOLD_FOR].given)
		return rp__fail(&call->error, RP_EINVAL, "%s is missing",
				ext_words(what ? P_HOLD_FOR : P_HOLD));
	verdict->hold = rp__hold_number(what);
	verdict->hold_ms = a[P_HOLD_FOR].number;
	return verdict->hold ? 0
			     : rp__fail(&call->error, RP_EINVAL,
					"hold must be group or queue");
}

static void
read_group(const void *data, size_t row, struct rp_value *columns)
{
	const rp_group *g = rp_groups_at(data, row);

	*columns++ = rp__text(g->name);
	*columns++ = rp__int(g->waiting);
	*columns++ = rp__int(g->ready);
	*columns++ = rp__int(g->running);
	*columns++ = ext_time(g->held_until);
	*columns = rp__int(g->waiting_at_least);
}

static void
free_groups(void *groups)
{
	rp_groups_free(groups);
}

/* Return the groups of a queue, one row each. If the queue does not exist,
 * there are no rows, and the call does not fail. */
int
ext_groups_rows(struct ext_call *call, struct ext_rows *ret)
{
	const struct ext_argument *a = call->arguments;
	rp_groups *groups = NULL;
	int r = rp_group_list(
		call->conn, a[P_QUEUE].text, a[P_BLOCKED].number != 0,
		a[P_AFTER].text,
		a[P_MOST].given ? (size_t)a[P_MOST].number : LISTED, &groups);

	if (r == 0)
		*ret = (struct ext_rows){ rp_groups_count(groups), groups,
					  free_groups, read_group };
	return r == RP_ENOENT ? 0 : r;
}
