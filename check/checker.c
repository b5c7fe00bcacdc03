/*
 * checker.c - check from the records of all clients that the promises of
 * docs/design.md were kept.
 *
 * The events are sorted by job, and each job is examined alone. Its claims are
 * examined in the order of their numbers, each with its verdicts. If a client
 * was killed during a call, the history does not show whether the call took
 * effect. Such a call is never reported as a violation. If the call's effect
 * would explain an event of another client, that event is not reported either.
 * docs/history.md describes the events.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "checker.h"

#include <search.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "fires.h"
#include "line.h"
#include "readpast.h"

/* A lease may end this many microseconds early without being a violation,
 * because the database stores whole milliseconds. */
#define SLACK_US 2000

const char *const promise_names[PROMISES] = { "P1", "P2", "P3", "P6", "P7" };

enum kind {
	ENQUEUED,
	CLAIMED,
	STARTED,
	SETTLING,
	SETTLED,
	LOST,
	CANCELLED,
	RETRIED,
	CHANGED,
	PURGED,
	LEFT,
	AUDITED,
	KINDS
};
static const char *const kinds[KINDS] = {
	"enqueued",  "claimed", "started", "settling", "settled", "lost",
	"cancelled", "retried", "changed", "purged",   "left",    "audited",
};

enum verdict { V_DONE, V_FAIL, V_DEAD, V_RELEASE, V_EXTEND, VERDICTS };
static const char *const verdicts[VERDICTS] = { "done", "fail", "dead",
						"release", "extend" };

/* One event of the history. The struct is small, because a history may have ten
 * million events. */
struct event {
	int64_t id, claim, at, asked, lease_us;
	int32_t attempt, max_attempts;
	unsigned char kind, verdict;
	unsigned char ok;   /* SETTLED: not 0 if the verdict was accepted */
	unsigned char dead; /* SETTLED: not 0 if the job is dead now */
	unsigned char replaced, existed;
};

struct checker {
	struct fires fires;
	struct event *events;
	size_t count, room;
	void *clients; /* search tree of the clients' names */
	/* name of the client of the last line, which is often that of the next
	 * line, too */
	char *client;
	size_t clients_count;
	int purged, audited;
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
	free(c->events);
	free(c);
}

/* ---- reading ---- */

static int
add(struct checker *c, const struct event *event)
{
	if (c->count == c->room) {
		size_t room = c->room ? c->room * 2 : 1024;
		struct event *events =
			realloc(c->events, room * sizeof(*events));

		if (!events)
			return -1;
		c->events = events;
		c->room = room;
	}
	c->events[c->count++] = *event;
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
		[AT] = INT64_C(1) << 60,    [ASKED] = INT64_C(1) << 60,
		[ID] = INT64_MAX,           [CLAIM] = INT64_MAX,
		[LEASE_MS] = RP_MOST_MS,    [ATTEMPT] = INT32_MAX,
		[MAX_ATTEMPTS] = INT32_MAX, [LATE_MS] = RP_MOST_TIME,
	};

	for (int i = 0; i < NUMBERS; i++)
		if (line->numbers[i] > most[i] ||
		    (line->numbers[i] < 0 && most[i] < INT64_MAX))
			return 0;
	return 1;
}

/* Add the event of a line. Returns NULL, or a text that says what is wrong with
 * the line. */
static const char *
read_event(struct checker *c, const struct line *line)
{
	const struct word *words = line->words;
	int kind = index_of(&words[EVENT], kinds, KINDS);
	int verdict = index_of(&words[VERDICT], verdicts, VERDICTS);
	struct event event = {
		.id = line->numbers[ID],
		.claim = line->numbers[CLAIM],
		.at = line->numbers[AT],
		.asked = line->numbers[ASKED],
		.lease_us = line->numbers[LEASE_MS] * 1000,
		.attempt = (int32_t)line->numbers[ATTEMPT],
		.max_attempts = (int32_t)line->numbers[MAX_ATTEMPTS],
		.kind = (unsigned char)kind,
		.verdict = verdict < 0 ? V_DONE : (unsigned char)verdict,
		.ok = word_is(&words[RESULT], "ok"),
		.dead = word_is(&words[STATE], "dead"),
		.existed = word_is(&words[OUTCOME], "existed"),
		.replaced = word_is(&words[OUTCOME], "replaced"),
	};

	if (kind < 0)
		return "no such event";
	if ((kind == SETTLING || kind == SETTLED) && verdict < 0)
		return "no such verdict";
	if (kind == PURGED)
		c->purged = 1;
	if (kind == AUDITED)
		c->audited = 1;
	if (kind == PURGED || kind == AUDITED)
		return NULL;
	if (event.id < 1)
		return "the id is missing";
	if (kind == CLAIMED && (event.claim < 1 || event.lease_us < 1))
		return "a claim without its number or its lease";
	if (add_client(c, &words[CLIENT]) < 0)
		return "out of memory";
	if (kind == CLAIMED && words[SCHEDULE].text &&
	    words[SCHEDULED_FOR].text && fires_add(&c->fires, line) < 0)
		return "out of memory";
	return add(c, &event) < 0 ? "out of memory" : NULL;
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

/* ---- checking ---- */

/* The events of one job: first its claims, by claim number, and then all other
 * events. */
struct life {
	const struct event *events;
	size_t count, claims;
	finding_fn *found;
	void *ctx;
	struct verdicts *sum;
};

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
	return a->kind - b->kind;
}

__attribute__((format(printf, 3, 4))) static void
broken(const struct life *life, enum promise promise, const char *format, ...)
{
	char line[300];
	va_list args;
	int n = snprintf(line, sizeof(line),
			 "job %lld: ", (long long)life->events->id);

	va_start(args, format);
	vsnprintf(line + n, sizeof(line) - (size_t)n, format, args);
	va_end(args);
	life->sum->broken[promise]++;
	life->found(life->ctx, promise, line);
}

/* Return the event that says that a verdict was accepted, or NULL if the
 * verdict was refused. If the history does not show whether it was accepted,
 * returns NULL and sets *unknown. In one such case no answer was recorded. In
 * another, the answer was lost and the verdict was sent again and refused: the
 * verdict that was sent first may have been accepted. */
static const struct event *
answer_to(const struct life *life, const struct event *settling, int *unknown)
{
	int again = 0;

	for (size_t i = life->claims; i < life->count; i++) {
		const struct event *e = &life->events[i];

		if (e->claim != settling->claim ||
		    e->verdict != settling->verdict || e->at < settling->at)
			continue;
		again |= e->kind == SETTLING && e->at > settling->at;
		if (e->kind == SETTLED) {
			*unknown = again && !e->ok;
			return e->ok ? e : NULL;
		}
	}
	*unknown = 1;
	return NULL;
}

/* how a claim ended, as far as the history shows */
struct end {
	const struct event
		*accepted; /* an accepted verdict other than extend */
	int unknown;       /* not 0: a verdict was sent, and no answer
			    * recorded */
	/* not 0: a release was accepted, or may have been accepted */
	int released;
	int64_t lease_end;
};

static struct end
end_of(const struct life *life, const struct event *claim)
{
	struct end end = { NULL, 0, 0, claim->asked + claim->lease_us };

	for (size_t i = life->claims; i < life->count; i++) {
		const struct event *e = &life->events[i];
		int unknown = 0;

		if (e->claim != claim->claim)
			continue;
		if (e->kind == SETTLED && e->ok && e->verdict == V_EXTEND &&
		    e->asked + e->lease_us > end.lease_end)
			end.lease_end = e->asked + e->lease_us;
		if (e->kind == SETTLED && e->ok && e->verdict != V_EXTEND) {
			end.accepted = e;
			end.released |= e->verdict == V_RELEASE;
		}
		if (e->kind == SETTLING && e->verdict != V_EXTEND) {
			answer_to(life, e, &unknown);
			end.unknown |= unknown;
			end.released |= unknown && e->verdict == V_RELEASE;
		}
	}
	return end;
}

/* Return whether the job was cancelled, retried or replaced between two
 * moments. */
static int
changed_between(const struct life *life, int64_t from, int64_t to)
{
	for (size_t i = life->claims; i < life->count; i++) {
		const struct event *e = &life->events[i];

		if ((e->kind == CANCELLED || e->kind == RETRIED ||
		     (e->kind == ENQUEUED && e->replaced)) &&
		    e->at >= from - SLACK_US && e->at <= to + SLACK_US)
			return 1;
	}
	return 0;
}

static void
check_claims(const struct life *life)
{
	for (size_t i = 0; i < life->claims; i++) {
		const struct event *a = &life->events[i], *b = a + 1;
		struct end end;
		int64_t next;

		if (a->attempt > a->max_attempts && a->max_attempts > 0)
			broken(life, P6, "attempt %lld of %lld",
			       (long long)a->attempt,
			       (long long)a->max_attempts);
		if (i + 1 == life->claims)
			break;
		if (a->claim == b->claim) {
			broken(life, P2, "claim %lld was handed out twice",
			       (long long)a->claim);
			continue;
		}
		end = end_of(life, a);
		if (changed_between(life, a->asked, b->at))
			continue;
		if (b->at < end.lease_end - SLACK_US && !end.unknown &&
		    !(end.accepted && end.accepted->asked <= b->at))
			broken(life, P2,
			       "claim %lld was answered %lld us before the "
			       "lease of claim %lld was over",
			       (long long)b->claim,
			       (long long)(end.lease_end - b->at),
			       (long long)a->claim);
		next = a->attempt + 1;
		if (b->attempt > next)
			life->sum->gaps += b->attempt - next;
		else if (b->attempt < next && !end.released)
			broken(life, P6,
			       "attempt %lld is followed by attempt %lld",
			       (long long)a->attempt, (long long)b->attempt);
	}
}

static void
check_verdict(const struct life *life, const struct event *v)
{
	for (size_t i = 0; i < life->claims; i++) {
		const struct event *b = &life->events[i];

		if (b->claim > v->claim && b->at < v->asked)
			broken(life, P3,
			       "a verdict (%s) on claim %lld was accepted "
			       "after claim %lld was handed out",
			       verdicts[v->verdict], (long long)v->claim,
			       (long long)b->claim);
	}
	for (size_t i = life->claims; i < life->count; i++) {
		const struct event *e = &life->events[i];

		if (e == v || e->kind != SETTLED || !e->ok ||
		    e->claim != v->claim || e->verdict == V_EXTEND)
			continue;
		if (v->verdict == V_EXTEND ? e->at < v->asked : e < v)
			broken(life, P3,
			       "claim %lld had a verdict (%s), and another "
			       "(%s) was accepted",
			       (long long)v->claim, verdicts[e->verdict],
			       verdicts[v->verdict]);
	}
}

static int
is_final(const struct life *life, const struct event *e)
{
	int unknown = 0;

	if (e->kind == LEFT || e->kind == CANCELLED)
		return 1;
	if (e->kind == SETTLED && e->ok)
		return e->verdict == V_DONE || e->dead;
	if (e->kind != SETTLING || e->verdict == V_EXTEND ||
	    e->verdict == V_RELEASE)
		return 0;
	answer_to(life, e, &unknown);
	return unknown;
}

static void
check_life(struct life *life, int audited)
{
	int enqueued = 0, final = 0;

	while (life->claims < life->count &&
	       life->events[life->claims].kind == CLAIMED)
		life->claims++;
	life->sum->jobs++;
	life->sum->claims += (int64_t)life->claims;
	check_claims(life);
	for (size_t i = life->claims; i < life->count; i++) {
		const struct event *e = &life->events[i];

		/* If an enqueue only found a job with the same unique key, that
		 * job may have been done before the history began. */
		enqueued |= e->kind == ENQUEUED && !e->existed;
		final |= is_final(life, e);
		life->sum->settled +=
			e->kind == SETTLED && e->verdict != V_EXTEND;
		if (e->kind == SETTLED && e->ok)
			check_verdict(life, e);
	}
	if (audited && enqueued && !final)
		broken(life, P1,
		       "was enqueued and never finished, and is no longer in "
		       "the database");
}

void
checker_run(struct checker *c, finding_fn *found, void *ctx,
	    struct verdicts *ret)
{
	int audited = c->audited && !c->purged;

	*ret = (struct verdicts){ .events = (int64_t)c->count,
				  .clients = (int64_t)c->clients_count,
				  .audited = audited };
	if (c->count)
		qsort(c->events, c->count, sizeof(*c->events),
		      by_job_and_claim);
	fires_check(&c->fires, found, ctx, ret);
	for (size_t i = 0; i < c->count;) {
		struct life life = { .events = &c->events[i],
				     .found = found,
				     .ctx = ctx,
				     .sum = ret };

		while (i < c->count && c->events[i].id == life.events->id) {
			life.count++;
			i++;
		}
		check_life(&life, audited);
	}
}
