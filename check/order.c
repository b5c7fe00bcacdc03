/*
 * order.c - check that the jobs of a group with the limit 1 ran in their order.
 *
 * Job A of a group surely came before job B of the same group in two cases: the
 * enqueue of A was answered before the enqueue of B was sent, or one call has
 * enqueued both, A before B. If job A surely came first and its priority number
 * is not larger than B's, then A must be finished before B is claimed. With
 * --group-on-failure pass, it is enough that A is claimed before B is claimed.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "limited.h"

#include <stdlib.h>
#include <string.h>

#define PRIORITIES 256

/* The jobs that surely came before the job that is checked. For each priority,
 * only the one that was claimed last is stored. If even that one was claimed
 * before the checked job, all others were, too. */
struct before {
	const struct turn *last[PRIORITIES];
};

struct ordering {
	const struct limits *limits;
	const struct setting *setting;
	struct turn *turns;         /* sorted by group, then by the time when
				     * the enqueue was sent */
	const struct turn **by_end; /* the turns of one group, sorted by the
				     * time when the enqueue was answered */
	struct before surely;       /* the jobs whose enqueue was answered
				     * before the enqueue of the checked job was
				     * sent */
	struct before batch;        /* the jobs ahead of the checked job in the
				     * same enqueue */
	const struct findings *findings;
};

/* Return the time before which no later job of the group may be claimed. This
 * is the time when the last claim of this job was sent. With --group-on-failure
 * pass, it is the time when the claim of the first attempt was sent. */
static int64_t
claimed_until(const struct ordering *o, const struct turn *turn)
{
	return o->setting->pass ? turn->began_asked : turn->last_asked;
}

static void
note(const struct ordering *o, struct before *before, const struct turn *turn)
{
	const struct turn **last = &before->last[turn->priority];

	if (!*last || claimed_until(o, turn) > claimed_until(o, *last))
		*last = turn;
}

/* Return a job of `before` that had to be claimed before the job `turn`, but
 * was claimed after that job. NULL: there is no such job. */
static const struct turn *
passed(const struct ordering *o, const struct before *before,
       const struct turn *turn)
{
	for (int i = 0; i <= turn->priority; i++)
		if (before->last[i] &&
		    claimed_until(o, before->last[i]) > turn->first_at)
			return before->last[i];
	return NULL;
}

static void
check_turn(const struct ordering *o, const struct turn *turn)
{
	const struct turn *first = passed(o, &o->surely, turn);
	char of[500];

	if (!first)
		first = passed(o, &o->batch, turn);
	if (!first)
		return;
	name_write(of, sizeof(of), o->limits->names.items[turn->name]);
	findings_add(o->findings, P11,
		     "job %lld of %s was claimed although job %lld was before "
		     "it and was claimed %lld us later",
		     (long long)turn->id, of, (long long)first->id,
		     (long long)(claimed_until(o, first) - turn->first_at));
}

static int
by_arrival(const void *pa, const void *pb)
{
	const struct turn *a = pa, *b = pb;

	if (a->name != b->name)
		return a->name < b->name ? -1 : 1;
	if (a->asked != b->asked)
		return a->asked < b->asked ? -1 : 1;
	if (a->at != b->at)
		return a->at < b->at ? -1 : 1;
	return (a->id > b->id) - (a->id < b->id);
}

static int
by_answer(const void *pa, const void *pb)
{
	const struct turn *a = *(const struct turn *const *)pa,
			  *b = *(const struct turn *const *)pb;

	return (a->at > b->at) - (a->at < b->at);
}

static void
check_group(struct ordering *o, const struct turn *turns, size_t count)
{
	size_t answered = 0;

	for (size_t i = 0; i < count; i++)
		o->by_end[i] = &turns[i];
	qsort(o->by_end, count, sizeof(*o->by_end), by_answer);
	memset(&o->surely, 0, sizeof(o->surely));
	for (size_t i = 0; i < count; i++) {
		const struct turn *turn = &turns[i], *last = turn - (i > 0);

		if (last == turn || last->asked != turn->asked ||
		    last->at != turn->at)
			memset(&o->batch, 0, sizeof(o->batch));
		while (answered < count &&
		       o->by_end[answered]->at < turn->asked)
			note(o, &o->surely, o->by_end[answered++]);
		check_turn(o, turn);
		note(o, &o->batch, turn);
	}
}

/* Copy to o->turns the jobs for which the setting was surely in force all the
 * time from the enqueue to the last claim. Returns their number. */
static size_t
select_turns(const struct ordering *o)
{
	const struct limits *l = o->limits;
	const struct setting *s = o->setting;
	size_t n = 0;

	for (size_t i = 0; i < l->turns_count; i++) {
		const struct turn *turn = &l->turns[i];

		if (l->names.items[turn->name]->queue == s->queue &&
		    turn->asked >= s->from && turn->first_at <= s->until &&
		    turn->last_asked <= s->until)
			o->turns[n++] = *turn;
	}
	return n;
}

int
order_check(const struct limits *l, const struct setting *setting,
	    const struct findings *findings)
{
	struct ordering o = { .limits = l,
			      .setting = setting,
			      .findings = findings };
	int r = -1;
	size_t count;

	o.turns = calloc(l->turns_count + 1, sizeof(*o.turns));
	o.by_end = calloc(l->turns_count + 1, sizeof(*o.by_end));
	if (!o.turns || !o.by_end)
		goto fail;
	findings->sum->examined[P11] = 1;
	count = select_turns(&o);
	qsort(o.turns, count, sizeof(*o.turns), by_arrival);
	for (size_t i = 0, n; i < count; i += n) {
		for (n = 1;
		     i + n < count && o.turns[i + n].name == o.turns[i].name;)
			n++;
		check_group(&o, &o.turns[i], n);
	}
	r = 0;
fail:
	free(o.turns);
	free(o.by_end);
	return r;
}
