/*
 * copy.c - copy queues to another database, or move them there.
 *
 * A queue is paused on both sides. Then the copy reads all jobs of the source
 * several times. Each such reading is called a walk; see slice.c. The copy is
 * complete when a walk has found each job in the target, equal in every field.
 * A move makes one more walk, which compares each slice and then deletes it
 * from the source. Some steps must not be done twice. Before such a step, the
 * copy records in the target how far it is, so that a later run of the same
 * copy can continue after that step.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "copy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAP_MS 100
#define MOST_WALKS 20

/* ---- helpers ---- */

/* Copy a connection's error to the copy's error, with the name of the side
 * (source or target) that failed. */
int
rp__copy_failed(struct rp_copy *c, const rp_conn *conn, int r)
{
	if (r >= 0)
		return r;
	rp__fail(c->error, r, "%s: %.220s",
		 conn == c->from ? "source" : "target", conn->error.message);
	c->error->native = conn->error.native;
	memcpy(c->error->sqlstate, conn->error.sqlstate,
	       sizeof(c->error->sqlstate));
	return r;
}

/* End a transaction. `r` is the result of its statements. If `r` is an error,
 * the transaction is rolled back and `r` is returned. */
int
rp__copy_end(struct rp_copy *c, rp_conn *conn, int r)
{
	int ended = rp__end(conn, r);

	return r < 0 ? r : rp__copy_failed(c, conn, ended);
}

int
rp__copy_progress(struct rp_copy *c, int what)
{
	if (what >= 0)
		c->counts.doing = what;
	if (!c->options.progress ||
	    c->options.progress(&c->counts, c->options.progress_ctx) == 0)
		return 0;
	return rp__fail(c->error, RP_ECANCELLED, "the copy was interrupted");
}

/* ---- the end ---- */

static int
note_all(struct rp_copy *c, enum rp_phase phase)
{
	int r = rp__copy_lock(c);

	if (r < 0)
		return r;
	r = rp__copy_under_way(c);
	for (size_t i = 0; i < c->queues_count && r == 0; i++) {
		r = rp__copy_note_phase(c, &c->queues[i], phase);
		if (r == 0 && phase == MOVED && !c->queues[i].target_paused)
			r = rp__copy_failed(
				c, c->to,
				rp_queue_resume(c->to, c->queues[i].name));
	}
	if (r == 0 && phase == MOVED)
		r = rp__copy_start_schedules(c);
	return rp__copy_end(c, c->to, r);
}

/* Tell the users of the source why its queues are paused. All jobs are in the
 * target, so a move back to the source would be a new move. */
static int
say_moved(struct rp_copy *c)
{
	int r = rp__copy_forget_moves(c);

	for (size_t i = 0; i < c->queues_count && r == 0; i++)
		if (!c->queues[i].source_paused)
			r = rp__copy_failed(
				c, c->from,
				rp_queue_pause(c->from, c->queues[i].name,
					       "its jobs were moved to another "
					       "database"));
	return r;
}

/* Resume the queues that were not paused before the copy: in the source after a
 * copy, in the target after a move. The other side stays paused, so that no job
 * is run twice. */
static int
finish(struct rp_copy *c)
{
	int r;

	if (c->options.move) {
		r = say_moved(c);
		if (r == 0)
			r = note_all(c, MOVED);
		/* Jobs that waited for their group take their places in it, so
		 * that jobs of later moves come after them. */
		if (r == 0)
			r = rp__copy_failed(c, c->to, rp_sweep(c->to, NULL));
		return r < 0 ? r : 0;
	}
	r = rp__copy_put_schedules(c, 0);
	for (size_t i = 0; i < c->queues_count && r == 0; i++)
		if (!c->queues[i].source_paused)
			r = rp__copy_failed(
				c, c->from,
				rp_queue_resume(c->from, c->queues[i].name));
	return r < 0 ? r : note_all(c, COPIED);
}

/* ---- the walks ---- */

/* Count all running jobs. The functions for stats and lists cannot be used,
 * because they stop counting at 10,000. */
static int
look_for_running(struct rp_copy *c, int *ret)
{
	int r = rp__copy_failed(c, c->from, rp__begin(c->from, 0));
	rp_batch *running;

	*ret = 0;
	if (r < 0)
		return r;
	for (size_t i = 0; i < c->queues_count && r == 0; i++) {
		int n = rp__list_jobs(c->from, c->queues[i].name,
				      RP_STATE_RUNNING | RP_LIST_ALL, INT32_MAX,
				      0, &running);

		r = rp__copy_failed(c, c->from, n < 0 ? n : 0);
		if (r < 0)
			break;
		*ret += n;
		rp_batch_free(running);
	}
	return rp__copy_end(c, c->from, r);
}

/* Wait until no job runs. Sweep during the wait, because jobs whose leases ran
 * out would stay running if no other client sweeps. */
static int
wait_for_running(struct rp_copy *c)
{
	int running, r;

	if (c->options.leave_running)
		return 0;
	for (;;) {
		r = look_for_running(c, &running);
		c->counts.running = running;
		if (r == 0)
			r = rp__copy_progress(c, RP_COPY_WAITING);
		if (r < 0 || !running)
			return r;
		r = rp_sweep(c->from, NULL);
		if (r >= 0)
			r = rp_wait(c->from, c->list, NAP_MS, -1);
		if (r < 0)
			return rp__copy_failed(c, c->from, r);
	}
}

/* Repeat the walk over the jobs of the source, until a walk finds no change in
 * the jobs that the previous walk has read. */
static int
walk_until_same(struct rp_copy *c, int doing)
{
	int r = rp__copy_progress(c, doing);

	for (int i = 0; i < MOST_WALKS && r == 0; i++) {
		if (!c->removing)
			c->counts.live = c->counts.kept = 0;
		r = rp__copy_walk(c);
		if (r == 0 && c->counts.running && !c->options.leave_running) {
			r = wait_for_running(c);
			c->changed = 1;
		}
		if (r == 0 && c->checked_to && !c->changed)
			return 0;
		c->checked_to = c->source_end ? c->source_end : 1;
		/* A move needs no extra walk that verifies the copy, because
		 * its next walks compare each slice with the target again, just
		 * before they remove the slice from the source. */
		if (r == 0 && c->options.move && !c->removing && !c->changed)
			return 0;
		if (r == 0)
			r = rp__copy_progress(c, c->removing
							 ? RP_COPY_REMOVING
							 : RP_COPY_VERIFYING);
	}
	return r < 0 ? r
		     : rp__fail(c->error, RP_EBUSY,
				"the source changes faster than it is copied: "
				"jobs of these queues are cancelled, retried "
				"or purged there; run the command again");
}

static int
move(struct rp_copy *c)
{
	int r = note_all(c, MOVING);

	c->removing = 1;
	c->counts.live = c->counts.kept = 0;
	if (r == 0)
		r = rp__copy_progress(c, RP_COPY_REMOVING);
	/* If a copied job has ended in the source, the first walk erases it
	 * from the target. Later walks erase nothing from the target. They
	 * remove moved jobs from the source, so a job that is missing from the
	 * source may be a moved job. */
	if (r == 0)
		r = rp__copy_walk(c);
	c->mirror = 0;
	if (r == 0)
		r = walk_until_same(c, RP_COPY_REMOVING);
	if (r == 0)
		r = rp__copy_hand_over_schedules(c);
	/* Until the call above, the schedules fired in the source. Move the
	 * jobs that they have added there during the move. */
	return r < 0 ? r : walk_until_same(c, RP_COPY_REMOVING);
}

static int
copy(struct rp_copy *c)
{
	int r = rp__copy_failed(c, c->from,
				rp_queue_list(c->from, NULL, &c->settings));

	if (r == 0)
		r = rp__copy_begin(c);
	if (r == 0)
		r = wait_for_running(c);
	if (r == 0)
		r = rp__copy_open_first(c);
	c->mirror = 1;
	for (size_t i = 0; i < c->queues_count; i++)
		if (c->queues[i].phase == MOVING || c->queues[i].phase == MOVED)
			c->mirror = 0;
	if (r == 0)
		r = walk_until_same(c, RP_COPY_COPYING);
	if (r == 0 && c->options.move)
		r = move(c);
	if (r == 0)
		r = rp__copy_keys(c);
	return r < 0 ? r : finish(c);
}

int
rp_copy(rp_conn *from, rp_conn *to, const rp_copy_options *options,
	rp_copied *ret, rp_error *reterr)
{
	rp_error ignored;
	struct rp_copy c = { .from = from,
			     .to = to,
			     .options = RP_COPY_INIT,
			     .counts = RP_COPIED_INIT,
			     .error = reterr ? reterr : &ignored };
	int r = 0;

	if (rp__enter(from) < 0 || rp__enter(to) < 0 || from == to)
		return rp__fail(c.error, RP_EINVAL,
				"rp_copy: from and to must be two different "
				"handles that this thread may use");
	if (from->depth || to->depth)
		return rp__fail(c.error, RP_EINVAL,
				"rp_copy: a transaction is open on a handle: "
				"end the transaction first");
	if (ret && ret->size < offsetof(rp_copied, doing))
		return rp__fail(c.error, RP_EINVAL,
				"rp_copy: ret is not made by RP_COPIED_INIT");
	if (options)
		rp__copy_struct(&c.options, options, options->size,
				sizeof(c.options));
	c.parts = to->backend->one_writer ? RP_COPY_PARTS_FIRST : RP_COPY_PARTS;
	r = copy(&c);
	if (r == 0 && ret) {
		for (size_t i = 0; i < c.ranges_count; i++)
			if (i == 0 || c.ranges[i].shift != c.counts.shift)
				c.counts.shift = i ? -1 : c.ranges[i].shift;
		c.counts.queues = (int64_t)c.queues_count;
		c.counts.size = ret->size;
		rp__copy_struct(ret, &c.counts, ret->size, sizeof(*ret));
	}
	rp_queues_free(c.settings);
	rp__copy_clear_schedules(&c);
	free(c.queues);
	free(c.list);
	free(c.names);
	free(c.ranges);
	return r;
}
