/*
 * observe.c - write a worker's events to the history and to the log, and print
 * messages about them for the user.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "work.h"

#include <stdlib.h>

#include "history.h"

#define SHOWN 200 /* characters of an error that a message shows */

/* The text may come from a handler or from an application, so it is escaped. */
static void
say(struct work *work, const rp_event *e, const char *what, const char *text)
{
	char *escaped;

	if (work->log_json)
		return;
	escaped = text ? escape_text(text, SHOWN) : NULL;
	live_say(work, "job %lld %s, attempt %lld of %lld%s%s",
		 (long long)e->job->id, what, (long long)e->job->attempt,
		 (long long)e->job->max_attempts, escaped ? ": " : "",
		 escaped ? escaped : "");
	free(escaped);
}

static void
say_trouble(struct work *work, const char *text)
{
	char *escaped = escape_text(text, SIZE_MAX);

	live_say(work, "%s; trying again", escaped ? escaped : "out of memory");
	free(escaped);
}

static void
say_settled(struct work *work, const rp_event *e)
{
	if (e->verdict == RP_EXTEND)
		return;
	if (e->result == RP_ECANCELLED)
		say(work, e, "was cancelled", NULL);
	else if (e->result < 0 && !e->state && e->verdict != RP_DONE)
		say(work, e, "is no longer ours", NULL);
	else if (e->result < 0 && e->state != RP_STATE_DEAD && e->text)
		say(work, e, "failed", e->text);
	else if (e->state == RP_STATE_DEAD)
		say(work, e, "is dead", e->text);
	else if (e->result == 0 && e->verdict == RP_FAIL)
		say(work, e, "failed", e->text);
}

static void
record(struct history *h, const rp_event *e)
{
	int64_t lease;

	if (!e->job)
		return;
	lease = e->job->lease_until - e->job->claimed_at;
	switch (e->what) {
	case RP_EVENT_CLAIM:
		history_claimed(h, e->job, e->asked_us);
		break;
	case RP_EVENT_START:
		history_started(h, e->job);
		break;
	case RP_EVENT_SETTLE:
		history_settling(h, e->job->id, e->job->claim_no, e->verdict,
				 lease);
		break;
	case RP_EVENT_SETTLED:
		history_settled(h, e->job->id, e->job->claim_no, e->verdict,
				lease, e->result, e->state, e->asked_us);
		break;
	case RP_EVENT_LOST:
		history_lost(h, e->job, e->result);
		break;
	default:
		break;
	}
}

void
observe_work(const rp_event *e, void *ctx)
{
	struct work *work = ctx;

	record(work->cmd->history, e);
#ifdef RP_HAVE_SERVE
	work_metrics_count(work->metrics, e);
#endif
	if (e->job)
		history_about(work->log_json, e->job->queue,
			      e->what == RP_EVENT_SETTLED ? e->text : NULL);
	record(work->log_json, e);
	if (e->what == RP_EVENT_SETTLED)
		say_settled(work, e);
	else if (e->what == RP_EVENT_LOST)
		say(work, e,
		    e->result == RP_ECANCELLED ? "was cancelled"
					       : "lost its lease",
		    NULL);
	else if (e->what == RP_EVENT_HEARTBEAT)
		notify_alive();
	else if (e->what == RP_EVENT_TROUBLE)
		say_trouble(work, e->text);
}
