/*
 * why.c - explain why a job does not run, or how it runs, as a paragraph and as
 * JSON.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "why.h"
#include "internal.h"

#include <stdlib.h>
#include <string.h>

#define SILENT_MS 30000
#define SHOWN 400 /* how many characters of an error are printed */

void
say_time(const struct answer *a, int64_t at)
{
	char time[48], span[32];
	int64_t ms = at - a->why->now;

	format_time(time, sizeof(time), at);
	print_duration_short(span, sizeof(span), ms < 0 ? -ms : ms);
	fprintf(a->to, ms < 0 ? "%s (%s ago)" : "%s (in %s)", time, span);
}

static void
say_error(const struct answer *a)
{
	const char *error = a->job->last_error;

	if (!error || !*error)
		return;
	fputs(": ", a->to);
	print_text(a->to, error, strlen(error), SHOWN);
}

static void
say_attempt(const struct answer *a)
{
	fprintf(a->to, "attempt %lld of %lld", (long long)a->job->attempt,
		(long long)a->job->max_attempts);
}

/* Print the progress that the handler reported last. The next attempt can
 * read it. */
static void
say_progress(const struct answer *a)
{
	const char *progress = a->job->progress;

	if (!progress)
		return;
	fputs(" Its handler has reported: ", a->to);
	print_text(a->to, progress, strlen(progress), SHOWN);
	fputs(".", a->to);
}

/* Returns 1 if neither a group nor a limit, a rate or a hold has been found
 * that keeps the job from running now. */
static int
is_free(const struct answer *a)
{
	return strcmp(a->reason, "next") == 0 ||
	       strcmp(a->reason, "behind") == 0;
}

/* If no worker can run the job, say so. This is the reason why the job does not
 * run, unless something else keeps it from running, too. */
static void
say_workers(struct answer *a)
{
	const rp_why *why = a->why;
	char pattern[RP_PATTERN(RP_MOST_NAME)],
		word[SHELL_WORD(sizeof(pattern))];
	const char *reason = NULL;

	if (why->queue_workers == 0) {
		reason = "no worker";
		fprintf(a->to,
			" No worker serves queue %s; readpast work %s -- "
			"COMMAND starts one.",
			a->job->queue,
			shell_word(word, sizeof(word),
				   rp__pattern_escape(pattern, sizeof(pattern),
						      a->job->queue)));
	} else if (why->workers == 0) {
		reason = "no worker of its kind";
		fprintf(a->to,
			" Queue %s has %lld worker%s, but none with a handler "
			"for "
			"%s%s.",
			a->job->queue, (long long)why->queue_workers,
			plural(why->queue_workers),
			a->job->kind ? "kind " : "jobs without a kind",
			a->job->kind ? a->job->kind : "");
	}
	if (reason && is_free(a))
		a->reason = reason;
}

static void
say_paused(struct answer *a, int is_reason)
{
	char word[SHELL_WORD(RP_MOST_NAME)];

	if (a->why->paused_at == 0)
		return;
	fprintf(a->to, " Queue %s has been paused since ", a->job->queue);
	say_time(a, a->why->paused_at);
	if (a->why->pause_reason)
		fprintf(a->to, ", \"%s\"", a->why->pause_reason);
	fprintf(a->to, "; readpast resume %s ends the pause.",
		shell_word(word, sizeof(word), a->job->queue));
	if (is_reason) {
		a->reason = "paused";
		a->until = 0;
	}
}

/* Print the time by which a worker must claim the job. After this time the job
 * is cancelled. */
static void
say_expiry(struct answer *a)
{
	int64_t at = a->job->expire_at;

	if (at == 0)
		return;
	if (at > a->why->now) {
		fputs(" If it has not started by ", a->to);
		say_time(a, at);
		fputs(", it is cancelled.", a->to);
		return;
	}
	a->reason = "expired";
	a->until = 0;
	fputs(" It expired at ", a->to);
	say_time(a, at);
	fputs(", so no claim takes it. The next sweep (by any worker, or by "
	      "readpast sweep) cancels it.",
	      a->to);
}

/* Print how many jobs are ahead of the job, in its group or in the ready
 * line. */
static void
say_ahead(struct answer *a)
{
	const rp_why *why = a->why;
	int in_group = waits_for_group(a);
	int64_t ahead = in_group ? why->group_ahead : why->ahead;

	a->reason = ahead ? "behind" : "next";
	if (in_group) {
		say_place(a);
		fputs(ahead < RP_MOST_AHEAD ? " of its group" : "", a->to);
	} else if (ahead == 0) {
		fputs(", with no other job ahead of it", a->to);
	} else {
		fprintf(a->to,
			", behind %s%lld job%s of higher priority or earlier "
			"in line",
			ahead >= RP_MOST_AHEAD ? "at least " : "",
			(long long)ahead, plural(ahead));
	}
}

/* Print since when the job has been ready, and how many jobs are ahead. */
static void
say_line(struct answer *a)
{
	fputs(a->job->state == RP_STATE_READY ? "has been ready since "
					      : "is blocked, and has waited "
						"since ",
	      a->to);
	say_time(a, a->job->run_at);
	say_ahead(a);
	fputs(".", a->to);
}

/* If a blocked job is the next of its group, and nothing holds it back any
 * more, say who lets it into the ready line. */
static void
say_room(struct answer *a)
{
	const rp_why *why = a->why;
	int has_room = why->group_limit == 0 ||
		       why->group_busy + why->group_ahead < why->group_limit;

	if (a->job->state == RP_STATE_BLOCKED && a->job->group_key &&
	    is_free(a) && has_room && why->paused_at == 0)
		fputs(" Its group has room: the next sweep (by any worker, or "
		      "by readpast sweep) lets it into the ready line.",
		      a->to);
}

/* Explain a job that is ready or blocked. */
static void
say_waiting(struct answer *a)
{
	const rp_why *why = a->why;

	if (waits_for_group(a) && why->group_next)
		say_group(a);
	else
		say_line(a);
	if (print_came_back(a->to, " It ", a->job))
		fprintf(a->to, " (%lld of %lld).", (long long)a->job->attempt,
			(long long)a->job->max_attempts);
	if (why->suspect)
		fputs(" It may have killed its worker, so only a worker that "
		      "holds no other job can claim it.",
		      a->to);
	say_limits(a);
	say_room(a);
	say_workers(a);
	say_paused(a, 1);
	say_expiry(a);
	if (strcmp(a->reason, "next") == 0 && why->workers)
		fprintf(a->to,
			" It starts as soon as a worker is free; %lld worker%s "
			"can run it.",
			(long long)why->workers, plural(why->workers));
}

static void
say_scheduled(struct answer *a)
{
	if (has_failed(a->job)) {
		a->reason = "backoff";
		fputs("is in backoff until ", a->to);
		say_time(a, a->job->run_at);
		fputs(", because ", a->to);
		say_attempt(a);
		fputs(" failed", a->to);
		say_error(a);
	} else {
		a->reason = "not due";
		fputs("is not due until ", a->to);
		say_time(a, a->job->run_at);
	}
	fputs(".", a->to);
	a->until = a->job->run_at;
	say_workers(a);
	say_paused(a, 0);
	say_expiry(a);
}

/* Print what happens to the job if its worker has died. */
static void
say_afterwards(struct answer *a, const char *when)
{
	int last = a->job->attempt >= a->job->max_attempts;

	fprintf(a->to,
		last ? " %sthe job becomes dead, because this is its last "
		       "attempt."
		     : " %sthe job becomes ready again.",
		when);
}

static void
say_running(struct answer *a)
{
	const rp_why *why = a->why;
	const rp_job *job = a->job;
	int over = job->lease_until <= why->now;

	a->reason = "running";
	a->until = job->lease_until;
	fprintf(a->to, "is running: %s%s",
		job->worker      ? "worker "
		: why->worker_id ? "a worker that has not been seen for an hour"
				 : "a client that is not a worker",
		job->worker ? job->worker : "");
	if (why->host && why->pid) { /* the process is not known if the client
				      * uses SQL */
		fputs(" on host ", a->to);
		print_text(a->to, why->host, strlen(why->host), SIZE_MAX);
		fprintf(a->to, " (process %lld)", (long long)why->pid);
	}
	fputs(" has held it since ", a->to);
	say_time(a, job->claimed_at);
	fputs(", ", a->to);
	say_attempt(a);
	fprintf(a->to, ". Its lease %s ", over ? "ran out at" : "lasts until");
	say_time(a, job->lease_until);
	if (why->renewed)
		fprintf(a->to, ", renewed %lld time%s", (long long)why->renewed,
			plural(why->renewed));
	fputs(".", a->to);
	if (why->host && why->silent_ms >= SILENT_MS) {
		char span[32];

		a->reason = "silent";
		print_duration_short(span, sizeof(span), why->silent_ms);
		fprintf(a->to, " That worker has not been heard from for %s.",
			span);
	}
	if (over) {
		a->reason = "lease over";
		say_afterwards(a, "At the next sweep (by any worker, or by "
				  "readpast sweep) ");
	} else if (strcmp(a->reason, "silent") == 0) {
		say_afterwards(a, "If that worker is gone, then at the end of "
				  "the lease ");
	}
}

/* Return whether the job was cancelled because it was not claimed in time. */
static int
has_expired(const rp_job *job)
{
	return job->state == RP_STATE_CANCELLED && job->expire_at &&
	       job->last_error && strcmp(job->last_error, "expired") == 0;
}

static void
say_finished(struct answer *a)
{
	const rp_job *job = a->job;
	int dead = job->state == RP_STATE_DEAD;

	a->reason = rp_state_text(job->state);
	fprintf(a->to, dead ? "has been %s since " : "was %s at ", a->reason);
	say_time(a, job->finished_at);
	if (dead) {
		fputs(job->attempt < job->max_attempts ? ": failed for good, "
						       : ": ",
		      a->to);
		say_attempt(a);
		if (job->worker)
			fprintf(a->to, ", worker %s", job->worker);
		say_error(a);
	}
	if (has_expired(job)) {
		fputs(": it expired, because no worker claimed it before ",
		      a->to);
		say_time(a, job->expire_at);
	}
	fputs(".", a->to);
	if (job->state != RP_STATE_DONE)
		fprintf(a->to, " readpast retry %lld makes it ready again.",
			(long long)job->id);
}

/* Print which schedule made the job, and for which instant. */
static void
say_schedule(const struct answer *a)
{
	const struct fired *fired = &a->fired;
	int64_t at;

	if (!fired->schedule)
		return;
	fputs(fired->manual ? " readpast cron run made it for schedule "
			    : " It was made by schedule ",
	      a->to);
	print_text(a->to, fired->schedule, strlen(fired->schedule), SHOWN);
	if (parse_time(fired->at, &at) == 0) {
		fputs(fired->manual ? ", at " : " for ", a->to);
		say_time(a, at);
	}
	if (fired->missed)
		fprintf(a->to, "; instants missed: %s", fired->missed);
	fputs(".", a->to);
}

static void
explain(struct answer *a)
{
	fprintf(a->to, "Job %lld of queue %s ", (long long)a->job->id,
		a->job->queue);
	switch (a->job->state) {
	case RP_STATE_SCHEDULED:
		say_scheduled(a);
		break;
	case RP_STATE_READY:
	case RP_STATE_BLOCKED:
		say_waiting(a);
		break;
	case RP_STATE_RUNNING:
		say_running(a);
		break;
	default:
		say_finished(a);
		break;
	}
	say_progress(a);
	say_schedule(a);
}

static json_t *
integer_if(int condition, int64_t n)
{
	return condition ? json_integer(n) : json_null();
}

/* Returns rp_why.group_next with its time as text, like all times in JSON. */
static json_t *
json_group_next(const char *text)
{
	json_t *next = text ? json_loads(text, 0, NULL) : NULL;
	json_t *since = json_object_get(next, "since");

	if (!next)
		return json_null();
	json_object_set_new(next, "since",
			    json_time(json_integer_value(since)));
	return next;
}

static json_t *
as_json(const struct answer *a, const char *text)
{
	const rp_why *why = a->why;
	const rp_job *job = a->job;
	int runs = job->state == RP_STATE_RUNNING;
	int waits = !runs && !job->finished_at;
	int in_line = job->state != RP_STATE_SCHEDULED && waits &&
		      !waits_for_group(a);
	int in_group = waits_for_group(a);
	char rate[48];

	format_rate(rate, sizeof(rate), why->rate_count, why->rate_ms);
	const struct member members[] = {
		{ "id", json_integer(job->id) },
		{ "queue", json_text(job->queue) },
		{ "state", json_text(rp_state_text(job->state)) },
		{ "reason", json_text(a->reason) },
		{ "text", json_text(text) },
		{ "until", json_time(a->until) },
		{ "ahead", integer_if(in_line, why->ahead) },
		{ "ahead_at_least", json_boolean(why->ahead >= RP_MOST_AHEAD) },
		{ "paused_at", json_time(why->paused_at) },
		{ "pause_reason", json_text(why->pause_reason) },
		{ "workers", integer_if(waits, why->workers) },
		{ "worker", json_text(job->worker) },
		{ "host", json_text(why->host) },
		{ "pid", integer_if(why->host != NULL, why->pid) },
		{ "silent_ms", integer_if(why->host != NULL, why->silent_ms) },
		{ "claimed_at", json_time(job->claimed_at) },
		{ "attempt", json_integer(job->attempt) },
		{ "max_attempts", json_integer(job->max_attempts) },
		{ "renewed", integer_if(runs, why->renewed) },
		{ "last_error", json_text(job->last_error) },
		{ "progress", json_text(job->progress) },
		{ "schedule", json_text(a->fired.schedule) },
		{ "scheduled_for", json_text(a->fired.at) },
		{ "missed",
		  integer_if(a->fired.missed != NULL,
			     a->fired.missed ? atoll(a->fired.missed) : 0) },
		{ "manual", json_boolean(a->fired.manual) },
		{ "held_until", json_time(why->held_until) },
		{ "limit", integer_if(why->run_limit > 0, why->run_limit) },
		{ "running", integer_if(why->run_limit > 0, why->running) },
		{ "rate", json_text(why->rate_count ? rate : NULL) },
		{ "rate_in_ms",
		  integer_if(why->rate_count > 0, why->rate_in_ms) },
		{ "group_held_until", json_time(why->group_held_until) },
		{ "group_limit",
		  integer_if(why->group_limit > 0, why->group_limit) },
		{ "group_busy", integer_if(in_group, why->group_busy) },
		{ "group_ahead", integer_if(in_group, why->group_ahead) },
		{ "group_waiting", integer_if(in_group, why->group_waiting) },
		{ "group_next",
		  in_group ? json_group_next(why->group_next) : json_null() },
	};

	return JSON_MEMBERS(members);
}

char *
explain_why(const rp_why *why, json_t **ret)
{
	struct answer a = { .why = why, .job = why->job };
	char *text = NULL;
	size_t size;

	a.to = open_memstream(&text, &size);
	if (!a.to)
		return NULL;
	fired_read(&a.fired, a.job);
	explain(&a);
	if (fclose(a.to) == EOF) {
		free(text);
		text = NULL;
	} else if (ret) {
		*ret = as_json(&a, text);
	}
	fired_clear(&a.fired);
	return text;
}

json_t *
json_why(const rp_why *why)
{
	json_t *object = NULL;

	free(explain_why(why, &object));
	return object;
}
