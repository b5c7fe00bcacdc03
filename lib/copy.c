/*
 * copy.c - copy queues to another database, or move them there.
 *
 * Both sides of a queue are paused. Then the source is walked until a walk has
 * found every job of it in the target, the same in each field; see
 * copy_slice.c. To move is one walk more, in which each slice that was found
 * there leaves the source. The target notes how far it is, before each step
 * that may not be taken twice: whoever runs the copy again goes on from there.
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

/* ---- small words ---- */

/* The words of a failure, and which side it was. */
int
rp__copy_failed(struct rp_copy *c, const rp_conn *conn, int r)
{
	if (r >= 0)
		return r;
	*c->error = conn->error;
	return rp__fail(c->error, r, "%s: %.220s",
			conn == c->from ? "source" : "target",
			conn->error.message);
}

/* End a transaction; what is wrong already was said. */
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

/* ---- how far it is: a note for each queue ---- */

static const char *const phases[] = { "never", "copying", "copied", "moving",
				      "moved" };
#define PHASES (sizeof(phases) / sizeof(*phases))

static int
note_phase(struct rp_copy *c, const struct rp_copy_queue *q,
	   enum rp_phase phase)
{
	char name[200], value[80];

	snprintf(name, sizeof(name), "copy from %s: %s", c->identity, q->name);
	snprintf(value, sizeof(value), "%s %d %d %s", phases[phase],
		 q->source_paused, q->target_paused, c->run);
	return rp__copy_note_down(c, c->to, name, value);
}

/* Also whose run of the copy it was. */
static int
read_phase(struct rp_copy *c, struct rp_copy_queue *q, char run[40])
{
	char name[200], word[16] = "", *text;
	int r;

	*run = '\0';
	snprintf(name, sizeof(name), "copy from %s: %s", c->identity, q->name);
	r = rp__copy_note(c, c->to, name, &text);
	if (r < 0 || !text)
		return r;
	sscanf(text, "%15s %d %d %39s", word, &q->source_paused,
	       &q->target_paused, run);
	for (size_t i = 0; i < PHASES; i++)
		if (strcmp(word, phases[i]) == 0)
			q->phase = (enum rp_phase)i;
	free(text);
	return 0;
}

/* Whoever runs a copy again, while another run goes on, takes it over. The
 * other must know before it changes the target: what it misses in the source
 * may have been moved. */
int
rp__copy_under_way(struct rp_copy *c)
{
	struct rp_copy_queue q;
	char run[40];
	int r = 0;

	for (size_t i = 0; i < c->queues_count && r == 0; i++) {
		q = c->queues[i];
		r = read_phase(c, &q, run);
		if (r == 0 && strcmp(run, c->run) != 0)
			r = rp__fail(c->error, RP_ETAKEN,
				     "another run of this copy has taken over");
	}
	return r;
}

/* ---- may it be? ---- */

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

/* Has the target any job of the queue? */
static int
find_any(struct rp_copy *c, const char *queue, int64_t *ret)
{
	const char *const one[] = { queue, NULL };
	char *names = rp__list(one, '[', ']');
	struct rp_value params[EXPORT_PARAMS] = {
		[EXPORT_QUEUES] = rp__text(names),
		[EXPORT_AFTER] = rp__int(0),
		[EXPORT_UNTIL] = rp__int(INT64_MAX),
		[EXPORT_MAX] = rp__int(1),
		[EXPORT_SIZE] = rp__int(1),
		[EXPORT_SPARE_MS] = rp__int(0),
	};
	int r;

	if (!names)
		return rp__fail(c->error, RP_ENOMEM, "out of memory");
	r = rp__run(c->to, RP_V_EXPORT, params, 1, rp__count, ret);
	free(names);
	return rp__copy_failed(c, c->to, r);
}

/* What the target has of the queue is ours, or there is none. */
static int
check_queue(struct rp_copy *c, struct rp_copy_queue *q, const rp_queue *theirs)
{
	int paused = theirs && theirs->paused_at;
	int64_t any = 0;
	char run[40];
	int r = 0;

	if (theirs)
		r = read_phase(c, q, run);
	if (r == 0 && q->phase == MOVING && !c->options.move)
		return rp__fail(c->error, RP_ETAKEN,
				"queue %s was being moved there: finish that "
				"first, with --move",
				q->name);
	if (r == 0 && theirs &&
	    (q->phase == COPYING || q->phase == MOVING || q->phase == COPIED)) {
		if (!paused)
			r = find_any(c, q->name, &any);
		if (r == 0 && any)
			return rp__fail(c->error, RP_ETAKEN,
					"queue %s was resumed in the target "
					"since it was copied there: drop it "
					"there, or leave it out",
					q->name);
	} else if (r == 0 && theirs &&
		   !(q->phase == MOVED && c->options.move)) {
		r = find_any(c, q->name, &any);
		if (r == 0 && any)
			return rp__fail(c->error, RP_ETAKEN,
					"queue %s has jobs in the target: "
					"drop it there, or leave it out",
					q->name);
		q->phase = NEVER;
	}
	return r;
}

static int
check_queues(struct rp_copy *c)
{
	rp_queues *theirs;
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
	if (r == 0 || c->queues_count)
		rp_queues_free(theirs);
	return r;
}

/* ---- begin, end ---- */

static int
begin_queue(struct rp_copy *c, const struct rp_copy_queue *q)
{
	enum rp_phase phase =
		q->phase == MOVING || q->phase == MOVED ? MOVING : COPYING;
	int r = 0;

	if (q->phase != MOVED)
		r = rp__copy_failed(
			c, c->to,
			rp_queue_set(c->to, find_queue(c->settings, q->name)));
	if (r == 0)
		r = rp__copy_failed(c, c->to, rp_queue_pause(c->to, q->name));
	return r < 0 ? r : note_phase(c, q, phase);
}

/* All in one commit; and then no more is handed out at the source. */
static int
begin(struct rp_copy *c)
{
	int r = rp__copy_begin(c);

	if (r < 0)
		return r;
	r = check_queues(c);
	if (r == 0)
		r = rp__copy_load_ranges(c);
	if (r == RP_ENOENT)
		r = rp__copy_start_ranges(c);
	for (size_t i = 0; i < c->queues_count && r == 0; i++)
		r = begin_queue(c, &c->queues[i]);
	r = rp__copy_end(c, c->to, r);
	for (size_t i = 0; i < c->queues_count && r == 0; i++)
		r = rp__copy_failed(c, c->from,
				    rp_queue_pause(c->from, c->queues[i].name));
	/* What is due or over is so on both sides from the start. */
	if (r == 0)
		r = rp__copy_failed(c, c->from, rp_sweep(c->from, NULL));
	return r < 0 ? r : 0;
}

static int
note_all(struct rp_copy *c, enum rp_phase phase)
{
	int r = rp__copy_begin(c);

	if (r < 0)
		return r;
	r = rp__copy_under_way(c);
	for (size_t i = 0; i < c->queues_count && r == 0; i++) {
		r = note_phase(c, &c->queues[i], phase);
		if (r == 0 && phase == MOVED && !c->queues[i].target_paused)
			r = rp__copy_failed(
				c, c->to,
				rp_queue_resume(c->to, c->queues[i].name));
	}
	return rp__copy_end(c, c->to, r);
}

/* A copied queue goes on at the source, a moved one in the target. The other
 * side stays paused: no job is to be done twice. */
static int
finish(struct rp_copy *c)
{
	int r = 0;

	if (c->options.move)
		return note_all(c, MOVED);
	for (size_t i = 0; i < c->queues_count && r == 0; i++)
		if (!c->queues[i].source_paused)
			r = rp__copy_failed(
				c, c->from,
				rp_queue_resume(c->from, c->queues[i].name));
	return r < 0 ? r : note_all(c, COPIED);
}

/* ---- the walks ---- */

static int
look_for_running(struct rp_copy *c, int *ret)
{
	int r = rp__copy_failed(c, c->from, rp__begin(c->from, 0));
	rp_stats *stats;

	*ret = 0;
	if (r < 0)
		return r;
	for (size_t i = 0; i < c->queues_count && r == 0; i++) {
		r = rp__copy_failed(
			c, c->from,
			rp_stats_get(c->from, c->queues[i].name, &stats));
		if (r < 0)
			break;
		*ret += (int)rp_stats_at(stats, 0)->running;
		rp_stats_free(stats);
	}
	return rp__copy_end(c, c->from, r);
}

/* Until no job runs. Leases that ran out end by our sweep, if by no other. */
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

/* Walk until nothing that an earlier walk had looked at was found changed. */
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
		/* What is removed is compared right before. */
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
				"or purged there; run this again");
}

static int
move(struct rp_copy *c)
{
	int r = note_all(c, MOVING);

	c->removing = 1;
	c->counts.live = c->counts.kept = 0;
	if (r == 0)
		r = rp__copy_progress(c, RP_COPY_REMOVING);
	/* The first walk still sees what has left the source by itself. */
	if (r == 0)
		r = rp__copy_walk(c);
	c->mirror = 0;
	return r < 0 ? r : walk_until_same(c, RP_COPY_REMOVING);
}

static int
copy(struct rp_copy *c)
{
	int r = rp__copy_failed(c, c->from,
				rp_queue_list(c->from, NULL, &c->settings));

	if (r == 0)
		r = name_queues(c);
	if (r == 0)
		r = rp__copy_identify(c);
	if (r == 0)
		r = begin(c);
	if (r == 0)
		r = wait_for_running(c);
	c->mirror = 1;
	for (size_t i = 0; i < c->queues_count; i++)
		if (c->queues[i].phase == MOVING || c->queues[i].phase == MOVED)
			c->mirror = 0;
	if (r == 0)
		r = walk_until_same(c, RP_COPY_COPYING);
	if (r == 0 && c->options.move)
		r = move(c);
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
			     .error = reterr ? reterr : &ignored };
	int r = 0;

	if (rp__enter(from) < 0 || rp__enter(to) < 0 || from == to)
		return rp__fail(c.error, RP_EINVAL,
				"rp_copy: two handles of this thread are "
				"needed");
	if (from->depth || to->depth)
		return rp__fail(c.error, RP_EINVAL,
				"rp_copy: a transaction is open");
	if (options)
		memcpy(&c.options, options,
		       options->size < sizeof(c.options) ? options->size
							 : sizeof(c.options));
	r = copy(&c);
	if (r == 0 && ret) {
		for (size_t i = 0; i < c.ranges_count; i++)
			if (i == 0 || c.ranges[i].shift != c.counts.shift)
				c.counts.shift = i ? -1 : c.ranges[i].shift;
		c.counts.queues = (int64_t)c.queues_count;
		*ret = c.counts;
	}
	rp_queues_free(c.settings);
	free(c.queues);
	free(c.list);
	free(c.names);
	free(c.ranges);
	return r;
}
