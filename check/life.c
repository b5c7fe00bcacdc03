/*
 * life.c - check the events of one job.
 *
 * The job's claims are examined in the order of their numbers, each with its
 * verdicts. If a client was killed during a call, the history does not show
 * whether the call took effect. Such a call is never reported as a violation.
 * An event of another client is reported only if it is a violation in both
 * cases: if the call took effect, and if it did not.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "life.h"

#include <stdarg.h>
#include <stdio.h>

/* A lease may end this many microseconds early without counting as a violation,
 * because the database stores whole milliseconds. */
#define SLACK_US 2000

const char *const verdict_names[VERDICTS] = { "done", "fail", "dead", "release",
					      "extend" };

__attribute__((format(printf, 3, 4))) static void
broken(const struct life *life, enum promise promise, const char *format, ...)
{
	char text[300];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	findings_add(life->findings, promise, "job %lld: %s",
		     (long long)life->events->id, text);
}

/* Return the event that says that a verdict was accepted, or NULL if the
 * history has no such event. *unknown becomes 1 if the verdict may have been
 * accepted nevertheless. This is possible in two cases. In the first case the
 * history has no answer. In the second case the client got no answer and sent
 * the verdict again, and the second message was refused: the first message may
 * have been accepted. */
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
	int unknown;       /* not 0: a verdict was sent, and may have been
			    * accepted */
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
			broken(life, P6,
			       "attempt %lld was claimed, but max_attempts is "
			       "%lld",
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
			life->findings->sum->gaps += b->attempt - next;
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
			       verdict_names[v->verdict], (long long)v->claim,
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
			       (long long)v->claim, verdict_names[e->verdict],
			       verdict_names[v->verdict]);
	}
}

int64_t
life_held_until(const struct life *life, const struct event *claim)
{
	int64_t until = claim->asked + claim->lease_us - SLACK_US;

	for (size_t i = life->claims; i < life->count; i++) {
		const struct event *e = &life->events[i];
		int extends = e->verdict == V_EXTEND;

		/* The job was cancelled or retried, and may have lost this
		 * claim at any time before that. So it is sure only that the
		 * claim held the job when the claim was answered. */
		if (e->kind == CANCELLED || e->kind == RETRIED)
			return claim->at;
		if (e->claim != claim->claim)
			continue;
		if (e->kind == LOST || (e->kind == SETTLED && !e->ok))
			return claim->at;
		/* Ignore an extension that was answered after the end of the
		 * lease, because the job may have been ready again before the
		 * extension. */
		if (extends && e->kind == SETTLED && e->at <= until &&
		    e->asked + e->lease_us - SLACK_US > until)
			until = e->asked + e->lease_us - SLACK_US;
		if (!extends && e->kind == SETTLING && e->at < until)
			until = e->at;
		if (!extends && e->kind == SETTLED && e->asked < until)
			until = e->asked;
	}
	return until;
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

void
life_check(struct life *life, int audited)
{
	struct verdicts *sum = life->findings->sum;
	int enqueued = 0, final = 0;

	while (life->claims < life->count &&
	       life->events[life->claims].kind == CLAIMED)
		life->claims++;
	sum->jobs++;
	sum->claims += (int64_t)life->claims;
	check_claims(life);
	for (size_t i = life->claims; i < life->count; i++) {
		const struct event *e = &life->events[i];

		/* Ignore an enqueue that added no job, because it found a job
		 * with the same unique key. That job may have been done before
		 * the history began. */
		enqueued |= e->kind == ENQUEUED && !e->existed;
		final |= is_final(life, e);
		sum->settled += e->kind == SETTLED && e->verdict != V_EXTEND;
		if (e->kind == SETTLED && e->ok)
			check_verdict(life, e);
	}
	if (audited && enqueued && !final)
		broken(life, P1,
		       "was enqueued and never finished, and is no longer in "
		       "the database");
}
