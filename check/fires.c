/*
 * fires.c - collect from a history the jobs that schedules enqueued, and check
 * that each instant, a time that a schedule names, has one job.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "fires.h"

#include <stdlib.h>
#include <string.h>

#include "grow.h"

struct fire {
	char *schedule; /* the schedule's name; owned */
	const char *at; /* the instant; points into the memory at `schedule` */
	int64_t id, late_ms;
};

static char *
put_word(char *to, const struct word *word)
{
	memcpy(to, word->text, word->size);
	to[word->size] = '\0';
	return to + word->size + 1;
}

int
fires_add(struct fires *fires, const struct line *line)
{
	const struct word *name = &line->words[SCHEDULE];
	const struct word *at = &line->words[SCHEDULED_FOR];
	struct fire *fire, *items = grow(fires->items, fires->count,
					 &fires->room, sizeof(*items));

	if (!items)
		return -1;
	fires->items = items;
	fire = &items[fires->count];
	fire->schedule = malloc(name->size + at->size + 2);
	if (!fire->schedule)
		return -1;
	fire->at = put_word(fire->schedule, name);
	put_word(fire->schedule + name->size + 1, at);
	fire->id = line->numbers[ID];
	fire->late_ms = line->numbers[LATE_MS];
	fires->count++;
	return 0;
}

static int
by_instant(const void *pa, const void *pb)
{
	const struct fire *a = pa, *b = pb;
	int order = strcmp(a->schedule, b->schedule);

	if (order == 0)
		order = strcmp(a->at, b->at);
	return order ? order : (a->id > b->id) - (a->id < b->id);
}

void
fires_check(struct fires *fires, const struct findings *findings)
{
	struct verdicts *sum = findings->sum;
	const struct fire *last = NULL;

	if (fires->count)
		qsort(fires->items, fires->count, sizeof(*fires->items),
		      by_instant);
	for (size_t i = 0; i < fires->count; i++) {
		const struct fire *a = &fires->items[i];
		int same = last && strcmp(a->schedule, last->schedule) == 0;

		sum->schedules += !same;
		same = same && strcmp(a->at, last->at) == 0;
		sum->instants += !same;
		if (a->late_ms > sum->latest_ms)
			sum->latest_ms = a->late_ms;
		if (same && a->id != last->id)
			findings_add(findings, P7,
				     "schedule %.128s fired twice for %.32s: "
				     "jobs %lld and %lld",
				     a->schedule, a->at, (long long)last->id,
				     (long long)a->id);
		last = a;
	}
}

void
fires_clear(struct fires *fires)
{
	for (size_t i = 0; i < fires->count; i++)
		free(fires->items[i].schedule);
	free(fires->items);
}
