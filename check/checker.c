/*
 * checker.c - check from the records of all clients that the promises of
 * docs/design.md were kept.
 *
 * The events are sorted by job, and life.c checks the events of each job.
 * docs/history.md describes the events.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "checker.h"

#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "fires.h"
#include "grow.h"
#include "limited.h"
#include "readpast.h"

const char *const promise_names[PROMISES] = { "P1",  "P2",  "P3",  "P6", "P7",
					      "P10", "P11", "P12", "P13" };

static const char *const kinds[KINDS] = {
	"enqueued", "claimed",   "started", "settling", "settled",
	"lost",     "cancelled", "retried", "changed",  "purged",
	"left",     "audited",   "limits",
};

struct checker {
	struct fires fires;
	struct limits limits;
	char **stuck; /* groups whose jobs wait without a reason; see
		       * checker_group() */
	size_t stuck_count, stuck_room;
	struct event *events;
	size_t count, room;
	void *clients; /* search tree of the clients' names */
	/* The client's name in the previous line of the history. The name in a
	 * line is compared with `client` before `clients` is searched, because
	 * successive lines often have the same name. */
	char *client;
	size_t clients_count;
	int purged, audited, groups_audited;
	int64_t incomplete; /* number of lines that end with GIVEN_UP */
};

struct checker *
checker_new(void)
{
	return calloc(1, sizeof(struct checker));
}

void
checker_free(struct checker *c)
{
	if (!c)
		return;
	tdestroy(c->clients, free);
	fires_clear(&c->fires);
	limits_clear(&c->limits);
	for (size_t i = 0; i < c->stuck_count; i++)
		free(c->stuck[i]);
	free(c->stuck);
	free(c->events);
	free(c);
}

/* ---- reading ---- */

static int
add(struct checker *c, const struct event *event)
{
	struct event *events =
		grow(c->events, c->count, &c->room, sizeof(*events));

	if (!events)
		return -1;
	c->events = events;
	events[c->count++] = *event;
	return 0;
}

static int
compare_names(const void *a, const void *b)
{
	return strcmp(a, b);
}

static int
add_client(struct checker *c, const struct word *name)
{
	char *copy, **found;

	if (!name->text || (c->client && word_is(name, c->client)))
		return 0;
	copy = strndup(name->text, name->size);
	found = copy ? tsearch(copy, &c->clients, compare_names) : NULL;
	if (found)
		c->client = *found;
	if (found && *found == copy)
		c->clients_count++;
	else
		free(copy);
	return found ? 0 : -1;
}

static int
index_of(const struct word *word, const char *const *words, int count)
{
	for (int i = 0; i < count; i++)
		if (word_is(word, words[i]))
			return i;
	return -1;
}

/* Return whether the line's numbers are small enough for arithmetic. Ids and
 * claim numbers may have any value, because they are only compared. */
static int
in_range(const struct line *line)
{
	static const int64_t most[NUMBERS] = {
		[AT] = INT64_C(1) << 60,
		[ASKED] = INT64_C(1) << 60,
		[ID] = INT64_MAX,
		[CLAIM] = INT64_MAX,
		[LEASE_MS] = RP_MOST_MS,
		[ATTEMPT] = INT32_MAX,
		[MAX_ATTEMPTS] = INT32_MAX,
		[LATE_MS] = RP_MOST_TIME,
		[PRIORITY] = RP_MOST_PRIORITY,
		[DELAY_MS] = RP_MOST_TIME,
		[LIMIT] = RP_MOST_LIMIT,
		[GROUP_LIMIT] = RP_MOST_LIMIT,
		[RATE] = RP_MOST_RATE,
		[RATE_MS] = RP_MOST_MS,
	};

	for (int i = 0; i < NUMBERS; i++)
		if (line->numbers[i] > most[i] ||
		    (line->numbers[i] < 0 && most[i] < INT64_MAX))
			return 0;
	return 1;
}

static struct event
event_of(const struct line *line, int kind, int verdict)
{
	const struct word *words = line->words;

	return (struct event){
		.id = line->numbers[ID],
		.claim = line->numbers[CLAIM],
		.at = line->numbers[AT],
		.asked = line->numbers[ASKED],
		.lease_us = line->numbers[LEASE_MS] * 1000,
		.attempt = (int32_t)line->numbers[ATTEMPT],
		.max_attempts = (int32_t)line->numbers[MAX_ATTEMPTS],
		.kind = (unsigned)kind & 15,
		.verdict = verdict < 0 ? V_DONE : (unsigned)verdict & 7,
		.ok = word_is(&words[RESULT], "ok") & 1,
		.dead = word_is(&words[STATE], "dead") & 1,
		.existed = word_is(&words[OUTCOME], "existed") & 1,
		.replaced = word_is(&words[OUTCOME], "replaced") & 1,
		.delayed = line->numbers[DELAY_MS] > 0,
		.priority = (unsigned)line->numbers[PRIORITY] & 255,
	};
}

static const char *
add_event(struct checker *c, const struct line *line, struct event event)
{
	const struct word *words = line->words;
	int64_t name = 0;

	if (add_client(c, &words[CLIENT]) < 0)
		return "out of memory";
	if (event.kind == CLAIMED && words[SCHEDULE].text &&
	    words[SCHEDULED_FOR].text && fires_add(&c->fires, line) < 0)
		return "out of memory";
	if (event.kind == CLAIMED || event.kind == ENQUEUED)
		name = names_add(&c->limits.names, &words[QUEUE],
				 &words[GROUP]);
	if (name < 0)
		return "out of memory";
	event.name = (uint32_t)name;
	return add(c, &event) < 0 ? "out of memory" : NULL;
}

static const char *
add_limits(struct checker *c, const struct line *line)
{
	if (!line->words[QUEUE].text)
		return "the limits have no queue";
	if (line->numbers[RATE] && !line->numbers[RATE_MS])
		return "the rate has no rate_ms";
	return limits_add(&c->limits, line) < 0 ? "out of memory" : NULL;
}

/* The words that a field may have, in events of some kinds. */
#define STATE_WORD(name, number, text) text,
static const struct {
	int field;
	unsigned kinds; /* bits 1 << kind */
	const char *wrong;
	const char *words[8]; /* ends with a NULL */
} vocabulary[] = {
	{ RESULT,
	  1 << SETTLED | 1 << LOST,
	  "no such result",
	  { "ok", "gone", "cancelled", "unknown" } },
	{ STATE,
	  1 << SETTLED | 1 << LEFT,
	  "no such state",
	  { RP_STATES(STATE_WORD) } },
	{ OUTCOME,
	  1 << ENQUEUED,
	  "no such outcome",
	  { "added", "existed", "replaced" } },
	{ GROUP_ON_FAILURE,
	  1 << LIMITS,
	  "no such group_on_failure",
	  { "block", "pass" } },
};

/* Returns NULL, or a text that says which field has an unknown word. A field
 * may be missing. */
static const char *
check_words(const struct line *line, int kind)
{
	for (size_t i = 0; i < sizeof(vocabulary) / sizeof(*vocabulary); i++) {
		const struct word *word = &line->words[vocabulary[i].field];
		const char *const *known = vocabulary[i].words;

		if (!word->text || !(vocabulary[i].kinds & 1U << kind))
			continue;
		while (*known && !word_is(word, *known))
			known++;
		if (!*known)
			return vocabulary[i].wrong;
	}
	return NULL;
}

/* Add the event of a line. Returns NULL, or a text that says what is wrong with
 * the line. */
static const char *
read_event(struct checker *c, const struct line *line)
{
	int kind = index_of(&line->words[EVENT], kinds, KINDS);
	int verdict = index_of(&line->words[VERDICT], verdict_names, VERDICTS);
	struct event event = event_of(line, kind, verdict);
	const char *wrong;

	if (kind < 0)
		return "no such event";
	wrong = check_words(line, kind);
	if (wrong)
		return wrong;
	if ((kind == SETTLING || kind == SETTLED) && verdict < 0)
		return "no such verdict";
	if (kind == PURGED)
		c->purged = 1;
	if (kind == AUDITED)
		c->audited = 1;
	if (kind == PURGED || kind == AUDITED)
		return NULL;
	if (kind == LIMITS)
		return add_limits(c, line);
	if (event.id < 1)
		return "the id is missing";
	if (kind == CLAIMED && (event.claim < 1 || event.lease_us < 1))
		return "the claim has no claim number or no lease";
	return add_event(c, line, event);
}

static int
is_given_up(const char *text, size_t size)
{
	return size >= GIVEN_UP_SIZE && memcmp(text + size - GIVEN_UP_SIZE,
					       GIVEN_UP, GIVEN_UP_SIZE) == 0;
}

int
checker_read(struct checker *c, FILE *file, const char *name, char *why,
	     size_t room)
{
	char *text = NULL;
	size_t text_room = 0, number_of_line = 0;
	struct line line;
	int r = 0;
	ssize_t n;

	while (r == 0 && (n = getline(&text, &text_room, file)) > 0) {
		int bad = line_read(&line, text, (size_t)n);
		const char *wrong;

		number_of_line++;
		/* The last line may be incomplete, because the program that
		 * wrote it may have been killed. */
		if (bad && text[n - 1] != '\n')
			break;
		/* If the line has nothing else, the line before it was complete
		 * after all. */
		if (is_given_up(text, (size_t)n)) {
			c->incomplete += (size_t)n > GIVEN_UP_SIZE;
			continue;
		}
		wrong = bad == LINE_NUMBER
				? "a number is not whole, or too large"
			: bad              ? "not a JSON object"
			: !in_range(&line) ? "a number is out of range"
					   : read_event(c, &line);
		if (wrong) {
			snprintf(why, room, "%s:%zu: %s", name, number_of_line,
				 wrong);
			r = -1;
		}
	}
	free(text);
	if (r == 0 && ferror(file)) {
		snprintf(why, room, "%s: cannot be read", name);
		r = -1;
	}
	return r;
}

int
checker_left(struct checker *c, int64_t id)
{
	return add(c, &(struct event){ .id = id, .kind = LEFT });
}

void
checker_audited(struct checker *c)
{
	c->audited = 1;
}

int
checker_group(struct checker *c, const char *name)
{
	char **stuck =
		grow(c->stuck, c->stuck_count, &c->stuck_room, sizeof(*stuck));

	if (!stuck)
		return -1;
	c->stuck = stuck;
	stuck[c->stuck_count] = strdup(name);
	if (!stuck[c->stuck_count])
		return -1;
	c->stuck_count++;
	return 0;
}

void
checker_groups_audited(struct checker *c)
{
	c->groups_audited = 1;
}

/* ---- checking ---- */

static int
by_job_and_claim(const void *pa, const void *pb)
{
	const struct event *a = pa, *b = pb;

	if (a->id != b->id)
		return a->id < b->id ? -1 : 1;
	if ((a->kind == CLAIMED) != (b->kind == CLAIMED))
		return a->kind == CLAIMED ? -1 : 1;
	if (a->kind == CLAIMED && a->claim != b->claim)
		return a->claim < b->claim ? -1 : 1;
	if (a->at != b->at)
		return a->at < b->at ? -1 : 1;
	return (int)a->kind - (int)b->kind;
}

static void
check_groups(const struct checker *c, const struct findings *findings)
{
	for (size_t i = 0; i < c->stuck_count; i++)
		findings_add(findings, P13,
			     "group %.255s waits, although no job of the group "
			     "runs or may run",
			     c->stuck[i]);
}

int
checker_run(struct checker *c, finding_fn *found, void *ctx,
	    struct verdicts *ret)
{
	const struct findings findings = { found, ctx, ret };
	int audited = c->audited && !c->purged;

	*ret = (struct verdicts){ .events = (int64_t)c->count,
				  .clients = (int64_t)c->clients_count,
				  .incomplete = c->incomplete,
				  .audited = audited,
				  .examined = { [P1] = 1,
						[P2] = 1,
						[P3] = 1,
						[P6] = 1,
						[P7] = c->fires.count > 0,
						[P13] = c->groups_audited } };
	if (c->count)
		qsort(c->events, c->count, sizeof(*c->events),
		      by_job_and_claim);
	fires_check(&c->fires, &findings);
	for (size_t i = 0; i < c->count;) {
		struct life life = { .events = &c->events[i],
				     .findings = &findings };

		while (i < c->count && c->events[i].id == life.events->id) {
			life.count++;
			i++;
		}
		life_check(&life, audited);
		if (limits_take(&c->limits, &life) < 0)
			return -1;
	}
	check_groups(c, &findings);
	return limits_check(&c->limits, &findings);
}
