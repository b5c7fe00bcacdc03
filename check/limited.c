/*
 * limited.c - collect from a history the limits of queues, and the claims from
 * queues with limits. Check that no limit was exceeded.
 *
 * The history shows when a call was sent and when it was answered. The call
 * took effect at an unknown moment between these two times. So for each claim,
 * only the time is used during which the claim surely held its job.
 *
 * A limit is checked for the claims that were sent and answered while the limit
 * was surely in force. Each of these claims counted all jobs that were running
 * when the claim took effect. So the number of these claims that overlap can
 * never exceed the limit, even if the limit was different before.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "limited.h"

#include <stdlib.h>
#include <string.h>

#include "grow.h"

/* A claim number is the time of the claim in microseconds. If this time is not
 * larger than the job's last claim number, the number is the last claim number
 * + 1. So a claim number may be up to SLACK_US later than the claim. */
#define SLACK_US 1000

/* ---- collecting ---- */

int
limits_add(struct limits *l, const struct line *line)
{
	const struct word none = { NULL, 0 };
	const int64_t *n = line->numbers;
	int64_t queue = names_add(&l->names, &line->words[QUEUE], &none);
	struct setting *settings;

	if (queue < 0)
		return -1;
	settings = grow(l->settings, l->settings_count, &l->settings_room,
			sizeof(*settings));
	if (!settings)
		return -1;
	l->settings = settings;
	settings[l->settings_count++] = (struct setting){
		.queue = (uint32_t)queue,
		.asked = n[ASKED] ? n[ASKED] : n[AT],
		.from = n[AT],
		.until = INT64_MAX,
		.limit = n[LIMIT],
		.group_limit = n[GROUP_LIMIT],
		.rate = n[RATE],
		.window_us = n[RATE_MS] * 1000,
		.pass = word_is(&line->words[GROUP_ON_FAILURE], "pass"),
	};
	return 0;
}

static int
is_limited(const struct limits *l, uint32_t name)
{
	uint32_t queue = name ? l->names.items[name]->queue : 0;

	for (size_t i = 0; i < l->settings_count && queue; i++)
		if (l->settings[i].queue == queue)
			return 1;
	return 0;
}

static int
take_run(struct limits *l, const struct life *life, const struct event *claim)
{
	struct run *runs =
		grow(l->runs, l->runs_count, &l->runs_room, sizeof(*runs));

	if (!runs)
		return -1;
	l->runs = runs;
	runs[l->runs_count++] =
		(struct run){ .name = claim->name,
			      .id = claim->id,
			      .claim = claim->claim,
			      .asked = claim->asked,
			      .from = claim->at,
			      .until = life_held_until(life, claim) };
	return 0;
}

/* Return the event of the enqueue that put the job into its group. Returns NULL
 * in three cases: the history does not show this event; the job had a delay; or
 * the job was changed, replaced or retried later. */
static const struct event *
find_enqueue(const struct limits *l, const struct life *life)
{
	const struct event *found = NULL;

	for (size_t i = life->claims; i < life->count; i++) {
		const struct event *e = &life->events[i];

		if (e->kind == RETRIED || e->kind == CHANGED || e->replaced)
			return NULL;
		if (e->kind == ENQUEUED && !e->existed)
			found = e;
	}
	if (!found || !found->asked || found->delayed || !found->name ||
	    l->names.items[found->name]->queue == found->name)
		return NULL;
	return found;
}

static int
take_turn(struct limits *l, const struct life *life)
{
	const struct event *enqueue = find_enqueue(l, life);
	struct turn turn, *turns;

	if (!enqueue || !life->claims)
		return 0;
	turn = (struct turn){ .name = enqueue->name,
			      .priority = (int)life->events->priority,
			      .id = enqueue->id,
			      .asked = enqueue->asked,
			      .at = enqueue->at,
			      .first_at = INT64_MAX };
	for (size_t i = 0; i < life->claims; i++) {
		const struct event *claim = &life->events[i];

		if (claim->name != turn.name)
			return 0;
		if (claim->at < turn.first_at)
			turn.first_at = claim->at;
		if (claim->asked > turn.last_asked)
			turn.last_asked = claim->asked;
		if (claim->attempt == 1 && !turn.began_asked)
			turn.began_asked = claim->asked;
	}
	turns = grow(l->turns, l->turns_count, &l->turns_room, sizeof(*turns));
	if (!turns)
		return -1;
	l->turns = turns;
	turns[l->turns_count++] = turn;
	return 0;
}

int
limits_take(struct limits *l, const struct life *life)
{
	for (size_t i = 0; i < life->claims; i++)
		if (is_limited(l, life->events[i].name) &&
		    take_run(l, life, &life->events[i]) < 0)
			return -1;
	if (life->claims && is_limited(l, life->events->name))
		return take_turn(l, life);
	return 0;
}

/* ---- checking ---- */

static int
by_queue_and_time(const void *pa, const void *pb)
{
	const struct setting *a = pa, *b = pb;

	if (a->queue != b->queue)
		return a->queue < b->queue ? -1 : 1;
	return (a->from > b->from) - (a->from < b->from);
}

static int
by_start(const void *pa, const void *pb)
{
	const struct run *a = pa, *b = pb;

	return (a->from > b->from) - (a->from < b->from);
}

static int
by_name_and_start(const void *pa, const void *pb)
{
	const struct run *a = pa, *b = pb;

	if (a->name != b->name)
		return a->name < b->name ? -1 : 1;
	return by_start(pa, pb);
}

static int
by_claim(const void *pa, const void *pb)
{
	const struct run *a = pa, *b = pb;

	return (a->claim > b->claim) - (a->claim < b->claim);
}

/* The claims of one queue that are checked against one setting. */
struct checking {
	const struct limits *limits;
	const struct setting *setting;
	struct run *runs; /* claims made while the setting was in force */
	size_t count;
	int64_t *ends; /* a heap of times; it has room for all runs */
	const struct findings *findings;
};

/* In a heap of `n` times, move the time at `i` down until no time below it is
 * earlier. */
static void
sink(int64_t *ends, size_t n, size_t i)
{
	for (;;) {
		size_t least = i, left = 2 * i + 1;
		int64_t end = ends[i];

		if (left < n && ends[left] < ends[least])
			least = left;
		if (left + 1 < n && ends[left + 1] < ends[least])
			least = left + 1;
		if (least == i)
			return;
		ends[i] = ends[least];
		ends[least] = end;
		i = least;
	}
}

static void
push(int64_t *ends, size_t n, int64_t end)
{
	size_t i = n;

	for (; i > 0 && ends[(i - 1) / 2] > end; i = (i - 1) / 2)
		ends[i] = ends[(i - 1) / 2];
	ends[i] = end;
}

/* Check that at most `most` of these runs overlap. The runs are sorted by their
 * start. */
static void
check_overlap(const struct checking *c, const struct run *runs, size_t count,
	      int64_t most, uint32_t name)
{
	char of[500];
	size_t n = 0;

	for (size_t i = 0; i < count; i++) {
		if (runs[i].until <= runs[i].from)
			continue;
		while (n && c->ends[0] <= runs[i].from) {
			c->ends[0] = c->ends[--n];
			sink(c->ends, n, 0);
		}
		push(c->ends, n++, runs[i].until);
		if ((int64_t)n <= most)
			continue;
		name_write(of, sizeof(of), c->limits->names.items[name]);
		findings_add(c->findings, P10,
			     "job %lld: claim %lld was given while %zu other "
			     "jobs of %s ran, and the limit is %lld",
			     (long long)runs[i].id, (long long)runs[i].claim,
			     n - 1, of, (long long)most);
	}
}

static void
check_groups(const struct checking *c)
{
	qsort(c->runs, c->count, sizeof(*c->runs), by_name_and_start);
	for (size_t i = 0, n; i < c->count; i += n) {
		uint32_t name = c->runs[i].name;

		for (n = 1; i + n < c->count && c->runs[i + n].name == name;)
			n++;
		if (name != c->setting->queue)
			check_overlap(c, &c->runs[i], n,
				      c->setting->group_limit, name);
	}
}

static void
check_rate(const struct checking *c)
{
	int64_t window = c->setting->window_us - SLACK_US;
	size_t n = (size_t)c->setting->rate;
	char of[500];

	qsort(c->runs, c->count, sizeof(*c->runs), by_claim);
	for (size_t i = 0; i + n < c->count; i++) {
		int64_t took = c->runs[i + n].claim - c->runs[i].claim;

		if (took >= window)
			continue;
		name_write(of, sizeof(of),
			   c->limits->names.items[c->setting->queue]);
		findings_add(c->findings, P12,
			     "job %lld: claim %lld is start number %zu of %s "
			     "within %lld us, but the rate allows %zu in %lld "
			     "us",
			     (long long)c->runs[i + n].id,
			     (long long)c->runs[i + n].claim, n + 1, of,
			     (long long)took, n,
			     (long long)c->setting->window_us);
	}
}

static void
check_setting(struct checking *c, const struct setting *setting)
{
	const struct limits *l = c->limits;

	c->setting = setting;
	c->count = 0;
	for (size_t i = 0; i < l->runs_count; i++) {
		const struct run *run = &l->runs[i];

		if (l->names.items[run->name]->queue == setting->queue &&
		    run->asked >= setting->from && run->from <= setting->until)
			c->runs[c->count++] = *run;
	}
	if (setting->limit || setting->group_limit)
		c->findings->sum->examined[P10] = 1;
	if (setting->rate)
		c->findings->sum->examined[P12] = 1;
	if (!c->count)
		return;
	qsort(c->runs, c->count, sizeof(*c->runs), by_start);
	if (setting->limit)
		check_overlap(c, c->runs, c->count, setting->limit,
			      setting->queue);
	if (setting->group_limit)
		check_groups(c);
	if (setting->rate)
		check_rate(c);
}

int
limits_check(struct limits *l, const struct findings *findings)
{
	struct checking c = { .limits = l, .findings = findings };
	int r = 0;

	if (!l->settings_count)
		return 0;
	qsort(l->settings, l->settings_count, sizeof(*l->settings),
	      by_queue_and_time);
	c.runs = calloc(l->runs_count + 1, sizeof(*c.runs));
	c.ends = calloc(l->runs_count + 1, sizeof(*c.ends));
	if (!c.runs || !c.ends)
		r = -1;
	for (size_t i = 0; i < l->settings_count && r == 0; i++) {
		struct setting *s = &l->settings[i];

		if (i + 1 < l->settings_count && s[1].queue == s->queue)
			s->until = s[1].asked;
		check_setting(&c, s);
		if (s->group_limit == 1)
			r = order_check(l, s, findings);
	}
	free(c.runs);
	free(c.ends);
	return r;
}

void
limits_clear(struct limits *l)
{
	names_clear(&l->names);
	free(l->settings);
	free(l->runs);
	free(l->turns);
}
