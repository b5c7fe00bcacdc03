/*
 * stuck.c - find the stuck groups of a queue. In a stuck group jobs wait,
 * although no job of the group runs, is ready, or waits for its retry, and the
 * group is not held.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "check.h"

#include <stdlib.h>
#include <string.h>

/* A group may look stuck only because no sweep has yet carried out its recheck
 * request (a request to look at the group again). So a group is reported only
 * if it still looks stuck after this number of sweeps, one a second. */
#define SWEEPS 5
#define GROUPS 1000

struct search {
	struct cmd *cmd;
	const char *queue;
	/* the blocked jobs that have a group, sorted by the bytes of its name,
	 * as rp_group_list() sorts groups */
	const rp_job **blocked;
	size_t blocked_count;
	size_t at; /* place in `blocked` where the jobs of the present group
		    * begin, if it has any */
	struct checker *checker; /* gets the stuck groups; NULL: only count */
	int count;
};

static int
has_group_limit(struct cmd *cmd, const char *queue, int *ret)
{
	rp_queues *queues;
	int r = rp_queue_list(cmd->conn, queue, &queues);

	*ret = 0;
	if (r == RP_ENOENT)
		return 0;
	if (r < 0)
		return cmd_failed(cmd, r);
	*ret = rp_queues_at(queues, 0)->group_limit > 0;
	rp_queues_free(queues);
	return 0;
}

/* Compare the group of the blocked job at this place with a group. Behind the
 * last job, the result is 1. */
static int
compare_group(const struct search *s, size_t at, const rp_group *group)
{
	return at == s->blocked_count
		       ? 1
		       : strcmp(s->blocked[at]->group_key, group->name);
}

/* Set *ret to 1 if the group is stuck: its jobs wait, although none of them has
 * a slot (the right to run). rp_why_get() for one of the waiting jobs returns
 * the number of used slots. Returns 0 or an exit status. */
static int
is_stuck(struct search *s, const rp_group *group, int *ret)
{
	*ret = 0;
	if (group->ready || group->running || group->held_until)
		return 0;
	for (size_t i = s->at; compare_group(s, i, group) == 0; i++) {
		rp_why *why;
		int r = rp_why_get(s->cmd->conn, s->blocked[i]->id, &why);

		if (r == RP_ENOENT)
			continue;
		if (r < 0)
			return cmd_failed(s->cmd, r);
		*ret = why->group_busy == 0;
		rp_why_free(why);
		return 0;
	}
	return 0;
}

static int
search_page(struct search *s, const rp_groups *groups)
{
	for (size_t i = 0; i < rp_groups_count(groups); i++) {
		const rp_group *group = rp_groups_at(groups, i);
		int stuck, status;

		while (compare_group(s, s->at, group) < 0)
			s->at++;
		status = is_stuck(s, group, &stuck);
		if (status)
			return status;
		s->count += stuck;
		if (stuck && s->checker &&
		    checker_group(s->checker, group->name) < 0)
			return complain(FAILED, "out of memory");
	}
	return 0;
}

static int
search_groups(struct search *s)
{
	char after[RP_MOST_KEY + 1] = "";
	int status = 0, more = 1;

	while (!status && more) {
		rp_groups *groups;
		int r = rp_group_list(s->cmd->conn, s->queue, 1,
				      *after ? after : NULL, GROUPS, &groups);

		if (r < 0)
			return cmd_failed(s->cmd, r);
		status = search_page(s, groups);
		more = rp_groups_count(groups) == GROUPS;
		if (more)
			snprintf(after, sizeof(after), "%s",
				 rp_groups_at(groups, GROUPS - 1)->name);
		rp_groups_free(groups);
	}
	return status;
}

static int
by_group(const void *a, const void *b)
{
	const rp_job *const *one = a, *const *other = b;

	return strcmp((*one)->group_key, (*other)->group_key);
}

static int
search_blocked(struct search *s, const rp_batch *batch)
{
	size_t count = rp_batch_count(batch);
	int status;

	s->blocked = malloc((count + 1) * sizeof(const rp_job *));
	if (!s->blocked)
		return complain(FAILED, "out of memory");
	s->blocked_count = s->at = 0;
	for (size_t i = 0; i < count; i++)
		if (rp_batch_at(batch, i)->group_key)
			s->blocked[s->blocked_count++] = rp_batch_at(batch, i);
	qsort(s->blocked, s->blocked_count, sizeof(const rp_job *), by_group);
	status = search_groups(s);
	free(s->blocked);
	return status;
}

static int
search(struct search *s)
{
	rp_batch *batch;
	int status, r = rp_job_list(s->cmd->conn, s->queue, RP_STATE_BLOCKED,
				    INT32_MAX, &batch);

	if (r < 0)
		return cmd_failed(s->cmd, r);
	s->count = 0;
	status = search_blocked(s, batch);
	rp_batch_free(batch);
	return status;
}

int
check_groups(struct cmd *cmd, struct checker *checker, const char *queue)
{
	struct search s = { .cmd = cmd, .queue = queue };
	int limited, status = has_group_limit(cmd, queue, &limited);

	if (status || !limited)
		return status;
	status = search(&s);
	for (int i = 0; i < SWEEPS && s.count && !status; i++) {
		if (rp_sweep(cmd->conn, NULL) < 0)
			return cmd_failed(cmd, rp_last_error(cmd->conn)->code);
		sleep_us(1000000);
		status = search(&s);
	}
	s.checker = checker;
	if (s.count && !status)
		status = search(&s);
	checker_groups_audited(checker);
	return status;
}
