/*
 * cmd_cron.c - the command `cron next`: print when a schedule fires.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "schedules.h"

#include <string.h>
#include <time.h>

#include "cron/cron.h"

#define MOST_FIRES 10000000 /* largest -n: one fire a minute for 19 years */

/* ---- times ----------------------------------------------------------- */

/* Format `ms`, milliseconds since 1970, as a time in UTC. To format a local
 * time, the caller adds the zone's offset to `ms`. */
static void
format_as(char *to, size_t room, const char *format, int64_t ms)
{
	time_t seconds = (time_t)(ms >= 0 ? ms / 1000 : -((999 - ms) / 1000));
	struct tm tm;

	gmtime_r(&seconds, &tm);
	*to = '\0';
	strftime(to, room, format, &tm);
}

/* Write a time as 2026-03-28T01:30:00, with milliseconds unless they are 0. */
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

/* Write an offset as +01:00, with seconds unless they are 0. Some offsets
 * before 1972 have seconds. */
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

/* Print a remark about local times, such as ` (2026-03-29 02:30 and 3 more
 * WHAT)`. WHAT is the text `what`. */
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

/* Add the member `name`: a local time that the clock skipped or showed twice.
 * `count`: how many such times there are; `ms` is the first of them. If `count`
 * is more than 1, add the member `name`_count, too. */
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
print_fire_json(const rp_fire *fire, int is_paused)
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
	if (is_paused)
		json_object_set_new(object, "paused", json_true());
	return print_json(object);
}

/* the times that the command prints */
struct fires {
	const char *spec, *zone_name;
	int64_t anchor; /* for a spec `every D`: the time from which the
			 * intervals D count; -1: use the value of `from` */
	int64_t from, n;
	int is_paused, json;
};

/* Print that the search for the next time has found none, and where it ended:
 * after 400 years, or at RP_MOST_TIME. */
static int
say_none(const struct cmd *cmd, int64_t from)
{
	const int64_t calendar_ms = INT64_C(146097) * 86400000;

	return complain(NOTHING, "%s: no such time %s in this zone", cmd->name,
			from > RP_MOST_TIME - calendar_ms
				? "before the year 10000"
				: "within 400 years");
}

static int
print_next(const struct cmd *cmd, const struct fires *f,
	   const struct rp_spec *spec, const struct rp_zone *zone)
{
	int64_t after = f->from;
	int status = DONE;

	for (int64_t i = 0; i < f->n && !status; i++) {
		rp_fire fire = RP_FIRE_INIT;

		if (rp__schedule_next(spec, zone, f->anchor, after, &fire) == 0)
			return i ? DONE : say_none(cmd, after);
		status = f->json ? print_fire_json(&fire, f->is_paused)
				 : print_fire(&fire);
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

/* Return whether the text is a NAME, not a SPEC. A SPEC has several words, or
 * begins with @. */
static int
is_name(const char *text)
{
	return *text != '@' && !strpbrk(text, " \t");
}

/* Read the schedule with the name f->spec, and store its spec, zone and anchor
 * in `f`. The texts belong to `*ret`. */
static int
look_up(struct cmd *cmd, struct fires *f, rp_schedules **ret)
{
	const rp_schedule *found;
	int status = cmd_open(cmd), r;

	if (status)
		return status;
	r = rp_schedule_list(cmd->conn, f->spec, ret);
	if (r < 0)
		return cmd_failed(cmd, r);
	found = rp_schedules_at(*ret, 0);
	f->spec = found->spec;
	if (!f->zone_name)
		f->zone_name = found->zone;
	f->anchor = found->anchor_at;
	f->is_paused = found->paused_at != 0;
	if (f->is_paused)
		complain(DONE,
			 "%s is paused: it does not fire at these times unless "
			 "it is resumed",
			 found->name);
	return DONE;
}

static int
print_fires(struct cmd *cmd, struct fires *f)
{
	struct rp_spec spec;
	struct rp_zone *zone = NULL;
	rp_schedules *found = NULL;
	rp_error error;
	int status = is_name(f->spec) ? look_up(cmd, f, &found) : 0;

	f->from = f->from < 0 ? clock_ms() : f->from;
	f->anchor = f->anchor < 0 ? f->from : f->anchor;
	if (!status && (rp__spec_parse(f->spec, &spec, &error) < 0 ||
			rp__zone_open(NULL, f->zone_name, &zone, &error) < 0))
		status = wrong_schedule(cmd, &error);
	if (!status)
		status = print_next(cmd, f, &spec, zone);
	rp__zone_free(zone);
	rp_schedules_free(found);
	return status;
}

int
cmd_cron_next(struct cmd *cmd, int argc, char **argv)
{
	struct fires f = { .anchor = -1, .from = -1, .n = 5 };
	const struct option options[] = {
		{ "--zone", TEXT, &f.zone_name, "ZONE",
		  "time zone, such as Europe/Berlin; default UTC" },
		{ "--from", TIME, &f.from, "TIME",
		  "print fires after this time; default now" },
		{ "-n", COUNT, &f.n, "N",
		  "how many fires to print; default 5" },
		JSON_OPTION(&f.json),
		OPTIONS_END,
	};
	int status = parse_options(cmd, &argc, argv, options);

	if (status)
		return status;
	if (argc != 1 || !*argv[0])
		return usage(cmd, argc > 1 ? "give one SPEC, in quotes"
					   : "which SPEC or NAME?");
	if (f.n < 1 || f.n > MOST_FIRES)
		return usage(cmd, "-n %lld: expected 1 to %d", (long long)f.n,
			     MOST_FIRES);
	f.spec = argv[0];
	return print_fires(cmd, &f);
}
