/*
 * why_limits.c - explain why a job is blocked: its queue or its group runs as
 * many jobs as it may, has started as many as its rate allows, or is held.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "why.h"

#include <string.h>

/* ---- the group ---- */

int
waits_for_group(const struct answer *a)
{
	const rp_why *why = a->why;

	return a->job->state == RP_STATE_BLOCKED &&
	       (why->group_next || why->group_ahead ||
		(why->group_held_until > why->now && why->group_waiting));
}

void
say_place(const struct answer *a)
{
	int64_t place = a->why->group_ahead + 1, last = place % 10;
	int is_teen = place % 100 / 10 == 1;

	if (place > RP_MOST_AHEAD) {
		fprintf(a->to, "; more than %d jobs of the group are ahead",
			RP_MOST_AHEAD);
		return;
	}
	fprintf(a->to, "; %lld%s of %s%lld", (long long)place,
		is_teen     ? "th"
		: last == 1 ? "st"
		: last == 2 ? "nd"
		: last == 3 ? "rd"
			    : "th",
		a->why->group_waiting >= RP_MOST_AHEAD ? "at least " : "",
		(long long)a->why->group_waiting);
}

/* Print which job runs in the group, or will run next. `next` is the JSON
 * object rp_why.group_next. */
static void
say_next(const struct answer *a, const json_t *next)
{
	const char *state = json_string_value(json_object_get(next, "state"));
	const char *worker = json_string_value(json_object_get(next, "worker"));
	const char *host = json_string_value(json_object_get(next, "host"));
	int scheduled = state && rp_state_number(state) == RP_STATE_SCHEDULED;

	fprintf(a->to, "job %lld of group ",
		(long long)json_integer_value(json_object_get(next, "id")));
	print_text(a->to, a->job->group_key, strlen(a->job->group_key),
		   SIZE_MAX);
	fprintf(a->to, ", %s ",
		scheduled ? "which waits for its next attempt until"
		: state   ? state
			  : "which is");
	if (!scheduled)
		fputs("since ", a->to);
	say_time(a, json_integer_value(json_object_get(next, "since")));
	if (host && !*host)
		host = NULL; /* a client in SQL */
	if (host || worker)
		fprintf(a->to, " on %s%s", host ? "host " : "worker ",
			host ? host : worker);
}

void
say_group(struct answer *a)
{
	const rp_why *why = a->why;
	json_t *next = json_loads(why->group_next, 0, NULL);

	fputs("waits behind ", a->to);
	if (why->group_busy > 1)
		fprintf(a->to, "%lld jobs of its group, such as ",
			(long long)why->group_busy);
	say_next(a, next);
	say_place(a);
	fputs(". It has waited since ", a->to);
	say_time(a, a->job->run_at);
	fputs(".", a->to);
	a->reason = "group";
	json_decref(next);
}

/* ---- limit, rate and holds ---- */

/* If the queue already runs as many jobs as its limit allows, print this as the
 * reason why the job waits. */
static void
say_limit(struct answer *a)
{
	const rp_why *why = a->why;

	if (why->run_limit == 0 || why->running < why->run_limit)
		return;
	fprintf(a->to,
		" Queue %s runs at most %lld job%s at once, and %lld run%s "
		"now.",
		a->job->queue, (long long)why->run_limit,
		plural(why->run_limit), (long long)why->running,
		why->running == 1 ? "s" : "");
	a->reason = "limit";
}

static void
say_rate(struct answer *a)
{
	const rp_why *why = a->why;
	char window[32], in[32];

	if (why->rate_count == 0 || why->rate_in_ms <= 0)
		return;
	print_duration(window, sizeof(window), why->rate_ms);
	print_duration_short(in, sizeof(in), why->rate_in_ms);
	fprintf(a->to,
		" Queue %s starts at most %lld job%s in %s; the next may start "
		"in %s.",
		a->job->queue, (long long)why->rate_count,
		plural(why->rate_count), window, in);
	a->reason = "rate";
	a->until = why->now + why->rate_in_ms;
}

/* Print a hold, unless it has ended. `group`: NULL for a hold of the queue. */
static void
say_held(struct answer *a, int64_t until, const char *group)
{
	char queue[SHELL_WORD(RP_MOST_NAME)], word[SHELL_WORD(RP_MOST_KEY)];
	const char *name = group ? group : a->job->queue;

	if (until <= a->why->now)
		return;
	fputs(group ? " Group " : " Queue ", a->to);
	print_text(a->to, name, strlen(name), SIZE_MAX);
	fputs(" is held until ", a->to);
	say_time(a, until);
	fprintf(a->to, "; readpast hold %s %s%s%s--clear ends the hold.",
		shell_word(queue, sizeof(queue), a->job->queue),
		group ? "--group " : "",
		group ? shell_word(word, sizeof(word), group) : "",
		group ? " " : "");
	a->reason = "held";
	if (until > a->until)
		a->until = until;
}

void
say_limits(struct answer *a)
{
	say_limit(a);
	say_rate(a);
	if (a->job->group_key)
		say_held(a, a->why->group_held_until, a->job->group_key);
	say_held(a, a->why->held_until, NULL);
}
