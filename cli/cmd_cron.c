/*
 * cmd_cron.c - schedules: when they fire.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "cmd.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cron/cron.h"

#define MOST_FIRES 10000000 /* a year has 525,600 minutes */

/* ---- times ----------------------------------------------------------- */

/* A point in time, or a local time that is written as one of UTC. */
static void
format_as(char *to, size_t room, const char *format, int64_t ms)
{
	time_t seconds = (time_t)(ms >= 0 ? ms / 1000 : -((999 - ms) / 1000));
	struct tm tm;

	gmtime_r(&seconds, &tm);
	*to = '\0';
	strftime(to, room, format, &tm);
}

/* 2026-03-28T01:30:00, with milliseconds only if there are any. */
static void
format_seconds(char *to, size_t room, int64_t ms)
{
	char text[32];
	int rest = (int)((ms % 1000 + 1000) % 1000);

	format_as(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", ms);
	if (rest)
		snprintf(to, room, "%s.%03d", text, rest);
	else
		snprintf(to, room, "%s", text);
}

/* +01:00; with seconds only if there are any, as before 1972. */
static void
format_offset(char *to, size_t room, int64_t offset_s)
{
	int s = (int)(offset_s < 0 ? -offset_s : offset_s), n;

	n = snprintf(to, room, "%c%02d:%02d", offset_s < 0 ? '-' : '+',
		     s / 3600, s / 60 % 60);
	if (s % 60 && n > 0 && (size_t)n < room)
		snprintf(to + n, room - (size_t)n, ":%02d", s % 60);
}

static int64_t
local_ms(const rp_fire *fire)
{
	return fire->at_ms + fire->offset_s * 1000;
}

/* ---- cron next ------------------------------------------------------- */

/* Print ` (2026-03-29 02:30 and 3 more WHAT)`. */
static void
print_remark(int64_t ms, int64_t count, const char *what)
{
	char time[32], more[40] = "";

	format_as(time, sizeof(time), "%Y-%m-%d %H:%M", ms);
	if (count > 1)
		snprintf(more, sizeof(more), " and %lld more",
			 (long long)count - 1);
	printf("  (%s%s %s)", time, more, what);
}

static int
print_fire(const rp_fire *fire)
{
	char at[40], local[40];

	format_seconds(at, sizeof(at), fire->at_ms);
	format_as(local, sizeof(local), "%a %Y-%m-%d %H:%M:%S", local_ms(fire));
	printf("%sZ  %s %s", at, local, fire->zone);
	if (fire->skipped)
		print_remark(fire->skipped_local_ms, fire->skipped,
			     "skipped: the clock went forward");
	if (fire->doubled && fire->doubled_local_ms == local_ms(fire))
		printf("  (for the second time: the clock went back)");
	else if (fire->doubled)
		print_remark(fire->doubled_local_ms, fire->doubled,
			     "came twice, fired once: the clock went back");
	putchar('\n');
	return DONE;
}

/* Set the members `name` and, if there are several, `name`_count. */
static void
put_local(json_t *object, const char *name, int64_t ms, int64_t count)
{
	char text[40], counter[32];

	if (count == 0)
		return;
	format_seconds(text, sizeof(text), ms);
	json_object_set_new(object, name, json_string(text));
	snprintf(counter, sizeof(counter), "%s_count", name);
	if (count > 1)
		json_object_set_new(object, counter, json_integer(count));
}

static int
print_fire_json(const rp_fire *fire)
{
	char at[40], local[60], offset[16];
	json_t *object = json_object();

	format_seconds(at, sizeof(at) - 1, fire->at_ms);
	strcat(at, "Z");
	format_seconds(local, sizeof(local) - sizeof(offset), local_ms(fire));
	format_offset(offset, sizeof(offset), fire->offset_s);
	strcat(local, offset);
	json_object_set_new(object, "at", json_string(at));
	json_object_set_new(object, "local", json_string(local));
	json_object_set_new(object, "abbreviation", json_text(fire->zone));
	put_local(object, "skipped", fire->skipped_local_ms, fire->skipped);
	put_local(object, "doubled", fire->doubled_local_ms, fire->doubled);
	return print_json(object);
}

static int
refuse(const struct cmd *cmd, const rp_error *error)
{
	return status_of(error->code) == USAGE
		       ? usage(cmd, "%s", error->message)
		       : complain(status_of(error->code), "%s", error->message);
}

static int
print_next(const struct cmd *cmd, const struct rp_spec *spec,
	   const struct rp_zone *zone, int64_t anchor, int64_t from, int64_t n,
	   int json)
{
	int64_t after = from;
	int status = DONE;

	for (int64_t i = 0; i < n && !status; i++) {
		rp_fire fire = RP_FIRE_INIT;

		if (rp__schedule_next(spec, zone, anchor, after, &fire) == 0)
			return i ? DONE
				 : complain(NOTHING,
					    "%s: no such time within 400 years "
					    "in this zone",
					    cmd->name);
		status = json ? print_fire_json(&fire) : print_fire(&fire);
		after = fire.at_ms;
	}
	return status;
}

static int64_t
clock_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* A SPEC has several words, or begins with @. */
static int
is_name(const char *text)
{
	return *text != '@' && !strpbrk(text, " \t");
}

/* Replace a schedule's name by its spec. `*ret` has the texts. */
static int
look_up(struct cmd *cmd, char **spec, const char **zone, int64_t *anchor,
	rp_schedules **ret)
{
	const rp_schedule *found;
	int status = cmd_open(cmd), r;

	if (status)
		return status;
	r = rp_schedule_list(cmd->conn, *spec, ret);
	if (r < 0)
		return cmd_failed(cmd, r);
	found = rp_schedules_at(*ret, 0);
	*spec = (char *)found->spec;
	if (!*zone)
		*zone = found->zone;
	*anchor = found->anchor_at;
	return DONE;
}

int
cmd_cron_next(struct cmd *cmd, int argc, char **argv)
{
	const char *zone_name = NULL;
	int64_t from = -1, anchor = -1, n = 5;
	rp_schedules *found = NULL;
	int json = 0;
	const struct option options[] = {
		{ "--zone", TEXT, &zone_name, "ZONE",
		  "time zone, such as Europe/Berlin; default UTC" },
		{ "--from", TIME, &from, "TIME",
		  "fires after this time, not now" },
		{ "-n", COUNT, &n, "N", "how many; default 5" },
		JSON_OPTION(&json),
		OPTIONS_END,
	};
	struct rp_spec spec;
	struct rp_zone *zone = NULL;
	rp_error error;
	int status = parse_options(cmd, &argc, argv, options);

	if (status)
		return status;
	if (argc != 1)
		return usage(cmd, argc ? "one SPEC: put it in quotes"
				       : "which SPEC or NAME?");
	if (n < 1 || n > MOST_FIRES)
		return usage(cmd, "-n %lld: expected 1 to %d", (long long)n,
			     MOST_FIRES);
	if (is_name(argv[0]))
		status = look_up(cmd, &argv[0], &zone_name, &anchor, &found);
	from = from < 0 ? clock_ms() : from;
	anchor = anchor < 0 ? from : anchor;
	if (!status && (rp__spec_parse(argv[0], &spec, &error) < 0 ||
			rp__zone_open(NULL, zone_name, &zone, &error) < 0))
		status = refuse(cmd, &error);
	if (!status)
		status = print_next(cmd, &spec, zone, anchor, from, n, json);
	rp__zone_free(zone);
	rp_schedules_free(found);
	return status;
}
