/*
 * schedules.c - check a schedule that `cron add` or a file describes, and
 * compare it with a stored schedule.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "schedules.h"

#include <string.h>
#include <time.h>

#include "schedule.h"

int
check_schedule(const rp_schedule *schedule, rp_error *reterr)
{
	int64_t now = (int64_t)time(NULL) * 1000;
	rp_fire fire = RP_FIRE_INIT;
	int r = rp__schedule_check(schedule, reterr);

	if (r == 0)
		r = rp_schedule_next(schedule->spec, schedule->zone, now, now,
				     &fire, reterr);
	if (r == 0)
		return rp__fail(reterr, RP_EINVAL,
				"schedule \"%s\": never fires: the time zone "
				"%s has no such time",
				schedule->spec,
				schedule->zone ? schedule->zone : "UTC");
	return r < 0 ? r : 0;
}

int
wrong_schedule(const struct cmd *cmd, const rp_error *error)
{
	return status_of(error->code) == USAGE
		       ? usage(cmd, "%s", error->message)
		       : complain(status_of(error->code), "%s", error->message);
}

/* ---- comparing ---- */

static int
differs(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) != 0 : a != b;
}

/* Compare headers as JSON, because the same headers may differ as text. */
static int
headers_differ(const char *a, const char *b)
{
	json_t *left = a ? json_loads(a, JSON_ALLOW_NUL, NULL) : NULL;
	json_t *right = b ? json_loads(b, JSON_ALLOW_NUL, NULL) : NULL;
	int ret = left && right ? !json_equal(left, right) : differs(a, b);

	json_decref(left);
	json_decref(right);
	return ret;
}

static int
payloads_differ(const rp_schedule *a, const rp_schedule *b)
{
	return a->payload_size != b->payload_size ||
	       (a->payload_size &&
		memcmp(a->payload, b->payload, a->payload_size) != 0);
}

void
list_changes(char *to, size_t room, const rp_schedule *a, const rp_schedule *b)
{
	const struct {
		const char *name;
		int differs;
	} members[] = {
		{ "queue", differs(a->queue, b->queue) },
		{ "spec", differs(a->spec, b->spec) },
		{ "zone", differs(a->zone, b->zone ? b->zone : "UTC") },
		{ "payload", payloads_differ(a, b) },
		{ "kind", differs(a->kind, b->kind) },
		{ "headers", headers_differ(a->headers, b->headers) },
		{ "priority", a->priority != b->priority },
		{ "missed", a->missed != b->missed },
		{ "overlap", a->overlap != b->overlap },
	};

	*to = '\0';
	for (size_t i = 0; i < sizeof(members) / sizeof(*members); i++)
		if (members[i].differs)
			snprintf(to + strlen(to), room - strlen(to), "%s%s",
				 *to ? ", " : "", members[i].name);
}

const rp_schedule *
find_schedule(const rp_schedules *list, const char *name)
{
	for (size_t i = 0; name && i < rp_schedules_count(list); i++)
		if (strcmp(rp_schedules_at(list, i)->name, name) == 0)
			return rp_schedules_at(list, i);
	return NULL;
}
