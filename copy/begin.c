/*
 * begin.c - check whether a copy can begin, and begin it.
 *
 * A copy that cannot begin leaves the source unchanged, because all checks
 * precede the first change. First the source is paused in a transaction that is
 * rolled back, as a trial. Then the target is checked and paused in one commit.
 * Then the source is paused in one commit.
 *
 * No transaction is open on one side while another one is open on the other
 * side. Otherwise two copies in opposite directions could wait for each other,
 * and neither database could detect the deadlock.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "copy.h"

#include <stdlib.h>
#include <string.h>

/* ---- the queues, and their jobs in the target ---- */

static const rp_queue *
find_queue(const rp_queues *queues, const char *name)
{
	for (size_t i = 0; i < rp_queues_count(queues); i++)
		if (strcmp(rp_queues_at(queues, i)->name, name) == 0)
			return rp_queues_at(queues, i);
	return NULL;
}

static int
name_queues(struct rp_copy *c)
{
	const char *const *names = c->options.queues;
	size_t n = rp_queues_count(c->settings);
	const char **all = c->list = calloc(n + 1, sizeof(*all));
	int r = 0;

	c->queues = calloc(n + 1, sizeof(*c->queues));
	if (!all || !c->queues)
		return rp__fail(c->error, RP_ENOMEM, "out of memory");
	for (size_t i = 0; names && names[i] && r == 0; i++)
		if (!find_queue(c->settings, names[i]))
			r = rp__fail(c->error, RP_ENOENT,
				     "source: no queue named %.128s", names[i]);
	for (size_t i = 0; i < n && r == 0; i++) {
		const char *name = rp_queues_at(c->settings, i)->name;
		size_t k = 0;

		while (names && names[k] && strcmp(names[k], name) != 0)
			k++;
		if (names && !names[k])
			continue;
		all[c->queues_count] = name;
		c->queues[c->queues_count++].name = name;
	}
	c->names = r == 0 ? rp__list(all, '[', ']') : NULL;
	return r < 0 || c->names
		       ? r
		       : rp__fail(c->error, RP_ENOMEM, "out of memory");
}

/* Try to export one job of these queues, with an id of at most `until`, and set
 * *ret_count to 0 or 1. If `until` is 0, no job matches, but the call still
 * fails if a privilege, table or column is missing. */
static int
export_one(struct rp_copy *c, rp_conn *conn, const char *names, int64_t until,
	   int64_t *ret_count)
{
	struct rp_value params[EXPORT_PARAMS] = {
		[EXPORT_QUEUES] = rp__text(names),
		[EXPORT_AFTER] = rp__int(0),
		[EXPORT_UNTIL] = rp__int(until),
		[EXPORT_MAX] = rp__int(1),
		[EXPORT_SIZE] = rp__int(1),
		[EXPORT_SPARE_MS] = rp__int(0),
	};

	return rp__copy_failed(
		c, conn,
		rp__run(conn, RP_V_EXPORT, params, 1, rp__count, ret_count));
}

/* Set *ret to 1 if the target has a job of this queue, or to 0 if it has none.
 */
static int
find_any(struct rp_copy *c, const char *queue, int64_t *ret)
{
	const char *const one[] = { queue, NULL };
	char *names = rp__list(one, '[', ']');
	int r;

	if (!names)
		return rp__fail(c->error, RP_ENOMEM, "out of memory");
	r = export_one(c, c->to, names, INT64_MAX, ret);
	free(names);
	return r;
}

/* Check that the target has no jobs of the queue except those from an earlier
 * run of this copy. */
static int
check_queue(struct rp_copy *c, struct rp_copy_queue *q, const rp_queue *theirs)
{
	int paused = theirs && theirs->paused_at;
	int64_t any = 0;
	char run[40];
	int r = 0;

	if (theirs)
		r = rp__copy_read_phase(c, q, run);
	if (r == 0 && q->phase == MOVING && !c->options.move)
		return rp__fail(c->error, RP_ETAKEN,
				"a move of queue %s to the target is not "
				"finished: first finish it with --move",
				q->name);
	if (r == 0 && theirs &&
	    (q->phase == COPYING || q->phase == MOVING || q->phase == COPIED)) {
		if (!paused)
			r = find_any(c, q->name, &any);
		if (r == 0 && any)
			return rp__fail(c->error, RP_ETAKEN,
					"queue %s was resumed in the target "
					"after it was copied there: drop the "
					"queue there, or do not copy it",
					q->name);
	} else if (r == 0 && theirs &&
		   !(q->phase == MOVED && c->options.move)) {
		r = find_any(c, q->name, &any);
		if (r == 0 && any)
			return rp__fail(c->error, RP_ETAKEN,
					"queue %s has jobs in the target: drop "
					"the queue there, or do not copy it",
					q->name);
		q->phase = NEVER;
	}
	return r;
}

static int
check_queues(struct rp_copy *c)
{
	rp_queues *theirs = NULL;
	int r = rp__copy_failed(c, c->to, rp_queue_list(c->to, NULL, &theirs));

	for (size_t i = 0; i < c->queues_count && r == 0; i++) {
		struct rp_copy_queue *q = &c->queues[i];
		const rp_queue *their = find_queue(theirs, q->name);
		const rp_queue *our = find_queue(c->settings, q->name);

		r = check_queue(c, q, their);
		if (q->phase == COPYING || q->phase == MOVING)
			continue;
		q->source_paused = our->paused_at != 0;
		q->target_paused = q->phase == MOVED ? their->paused_at != 0
						     : q->source_paused;
	}
	rp_queues_free(theirs);
	return r;
}

/* ---- is each statement allowed? ---- */

/* Run each statement that the copy will need on this connection (the source or
 * the target), with parameters that match no job. If a privilege, table or
 * column is missing, a statement fails here, before the copy begins. */
static int
rehearse(struct rp_copy *c, rp_conn *conn)
{
	static const enum rp_verb verbs[] = {
		RP_V_ERASE,       RP_V_SAME_LIVE,   RP_V_SAME_KEPT,
		RP_V_IMPORT_LIVE, RP_V_IMPORT_KEPT, RP_V_KEY_IMPORT,
	};
	struct rp_value no_job[ROW_COLUMNS] = { { .type = RP_NULL } };
	const struct rp_value no_queue[STATS_PARAMS] = {
		[STATS_QUEUE] = rp__text(""),
	};
	size_t count = conn == c->to     ? sizeof(verbs) / sizeof(*verbs)
		       : c->options.move ? 1
					 : 0;
	int64_t none = 0;
	int r = export_one(c, conn, c->names, 0, &none);

	if (r == 0 && conn == c->from)
		r = rp__copy_failed(c, conn,
				    rp__run(conn, RP_V_STATS, no_queue, 1,
					    rp__count, &none));
	for (size_t i = 0; i < count && r == 0; i++)
		r = rp__copy_failed(
			c, conn,
			rp__run(conn, verbs[i], no_job, 1, rp__count, &none));
	return r;
}

/* ---- the beginning ---- */

/* Pause the source. With `trial`, only find out whether it can be paused, and
 * roll the transaction back. */
static int
begin_source(struct rp_copy *c, int trial)
{
	int r = rp__copy_failed(c, c->from, rp__begin(c->from, RP_BEGIN_WRITE));

	if (r < 0)
		return r;
	r = rp__copy_identify(c, trial);
	for (size_t i = 0; i < c->queues_count && r == 0; i++)
		r = rp__copy_failed(
			c, c->from,
			rp_queue_pause(c->from, c->queues[i].name, NULL));
	if (r < 0 || !trial)
		return rp__copy_end(c, c->from, r);
	r = rehearse(c, c->from);
	if (r == 0 && c->options.move)
		r = rp__copy_leave_schedules(c);
	if (r == 0 && c->options.move)
		r = rp__copy_remove_schedules(c);
	if (r == 0 && c->options.move)
		r = rp__copy_forget_moves(c);
	rp__end(c->from, RP_ECANCELLED);
	return r;
}

static int
begin_queue(struct rp_copy *c, const struct rp_copy_queue *q)
{
	enum rp_phase phase =
		q->phase == MOVING || q->phase == MOVED ? MOVING : COPYING;
	const rp_queue *our = find_queue(c->settings, q->name);
	int r = 0;

	/* A move has written the settings before its phase became MOVING. Since
	 * then users may have changed them in the target. */
	if (phase == COPYING)
		r = rp__copy_failed(c, c->to, rp_queue_set(c->to, our));
	if (r == 0)
		r = rp__copy_failed(c, c->to,
				    rp_queue_pause(c->to, q->name,
						   phase == COPYING
							   ? our->pause_reason
							   : NULL));
	return r < 0 ? r : rp__copy_note_phase(c, q, phase);
}

/* Write the schedules to the target and roll back. If the target refuses one of
 * them, the copy fails now and not after all jobs were copied. */
static int
try_schedules(struct rp_copy *c)
{
	int r = rp__copy_failed(c, c->to, rp__begin(c->to, RP_BEGIN_WRITE));

	if (r < 0)
		return r;
	r = rp__copy_write_schedules(c, 0);
	rp__end(c->to, RP_ECANCELLED);
	return r;
}

/* Load the ids that earlier runs of this copy have recorded. Start a new record
 * if there is none, or if the earlier runs were moves that have ended. */
static int
begin_ranges(struct rp_copy *c)
{
	int r = rp__copy_load_ranges(c), goes_on = 0;

	for (size_t i = 0; i < c->queues_count; i++)
		goes_on |= c->queues[i].phase != NEVER &&
			   c->queues[i].phase != MOVED;
	if (r == RP_ENOENT || (r == 0 && !goes_on))
		r = rp__copy_start_ranges(c);
	return r;
}

static int
begin_target(struct rp_copy *c)
{
	int r = rp__copy_failed(c, c->to, rp__sweep_dropped(c->to));

	if (r == 0)
		r = try_schedules(c);
	if (r == 0)
		r = rp__copy_lock(c);
	if (r < 0)
		return r;
	r = check_queues(c);
	if (r == 0)
		r = rehearse(c, c->to);
	if (r == 0)
		r = begin_ranges(c);
	for (size_t i = 0; i < c->queues_count && r == 0; i++)
		r = begin_queue(c, &c->queues[i]);
	return rp__copy_end(c, c->to, r);
}

int
rp__copy_begin(struct rp_copy *c)
{
	int r = name_queues(c);

	if (r == 0)
		r = rp__copy_check_different(c);
	if (r == 0)
		r = rp__copy_make_names(c);
	if (r == 0)
		r = begin_source(c, 1);
	if (r == 0)
		r = rp__copy_read_schedules(c, 0);
	if (r == 0)
		r = begin_target(c);
	if (r == 0)
		r = begin_source(c, 0);
	if (r == 0)
		r = rp__copy_progress(c, c->options.leave_running
						 ? RP_COPY_COPYING
						 : RP_COPY_WAITING);
	/* Sweep the source before jobs are read. Then jobs that are due are
	 * copied as ready, and jobs whose lease ran out no longer count as
	 * running. */
	if (r == 0)
		r = rp__copy_failed(c, c->from, rp_sweep(c->from, NULL));
	return r < 0 ? r : 0;
}
