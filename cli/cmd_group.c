/*
 * cmd_group.c - the commands about groups and holds: hold, groups.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "cmd.h"

#include <string.h>

/* ---- hold ---- */

static int
check_hold(const struct cmd *cmd, const char *group, int64_t for_ms, int clear)
{
	if (clear && for_ms >= 0)
		return usage(cmd, "give either --for or --clear, not both");
	if (!clear && for_ms < 0)
		return usage(cmd, "for how long? Give --for D, such as --for "
				  "30s, or --clear");
	if (for_ms == 0)
		return usage(cmd, "--for 0s: expected at least 1ms; --clear "
				  "ends a hold");
	return group ? check_name(cmd, "the group", group, RP_MOST_KEY) : 0;
}

static int
print_held(const char *queue, const char *group, int clear)
{
	const struct member members[] = {
		{ "queue", json_text(queue) },
		{ "group", json_text(group) },
		{ "result", json_text(clear ? "cleared" : "held") },
	};

	return print_json(JSON_MEMBERS(members));
}

int
cmd_hold(struct cmd *cmd, int argc, char **argv)
{
	const char *group = NULL;
	int64_t for_ms = -1;
	int clear = 0, json = 0;
	const struct option options[] = {
		{ "--group", TEXT, &group, "GROUP",
		  "hold only this group (the whole queue)" },
		{ "--for", DURATION, &for_ms, "D",
		  "length of the hold, from now on" },
		{ "--clear", FLAG, &clear, NULL, "end the hold now" },
		JSON_OPTION(&json),
		OPTIONS_END,
	};
	int status = parse_options(cmd, &argc, argv, options), r;

	if (!status)
		status = check_hold(cmd, group, for_ms, clear);
	if (!status)
		status = open_for_queue(cmd, argc);
	if (status)
		return status;
	r = rp_queue_hold(cmd->conn, argv[0], group, clear ? 0 : for_ms);
	if (r < 0)
		return cmd_failed(cmd, r);
	return json ? print_held(argv[0], group, clear) : DONE;
}

/* ---- groups ---- */

static void
print_group(const rp_group *group)
{
	char waiting[32], limit[32] = "none", until[48] = "-";

	format_count(waiting, sizeof(waiting), group->waiting,
		     group->waiting_at_least);
	if (group->limit)
		snprintf(limit, sizeof(limit), "%lld", (long long)group->limit);
	if (group->held_until)
		format_time(until, sizeof(until), group->held_until);
	printf("%7s %7lld %7lld %6s  %-24s  ", waiting, (long long)group->ready,
	       (long long)group->running, limit, until);
	print_text(stdout, group->name, strlen(group->name), SIZE_MAX);
	putchar('\n');
}

static int
print_groups(const char *queue, const rp_groups *groups, int json)
{
	int status = 0;

	if (!json && rp_groups_count(groups))
		printf("%7s %7s %7s %6s  %-24s  %s\n", "BLOCKED", "READY",
		       "RUNNING", "LIMIT", "HELD UNTIL", "GROUP");
	for (size_t i = 0; i < rp_groups_count(groups) && !status; i++) {
		const rp_group *group = rp_groups_at(groups, i);

		if (json)
			status = print_json(json_group(queue, group));
		else
			print_group(group);
	}
	return status;
}

int
cmd_groups(struct cmd *cmd, int argc, char **argv)
{
	const char *after = NULL;
	int64_t most = LISTED;
	int blocked = 0, json = 0;
	const struct option options[] = {
		{ "--blocked", FLAG, &blocked, NULL,
		  "only groups with jobs that wait" },
		{ "--after", TEXT, &after, "GROUP",
		  "only groups whose names come after this one" },
		{ "-n", COUNT, &most, "N",
		  "at most this many (" DIGITS(LISTED) ")" },
		JSON_OPTION(&json),
		OPTIONS_END,
	};
	int status = parse_options(cmd, &argc, argv, options), r;
	rp_groups *groups;

	if (!status && (most < 1 || most > INT32_MAX))
		status = usage(cmd, "-n %lld: expected 1 to %d",
			       (long long)most, INT32_MAX);
	if (!status && after)
		status = check_name(cmd, "the group", after, RP_MOST_KEY);
	if (!status)
		status = open_for_queue(cmd, argc);
	if (status)
		return status;
	r = rp_group_list(cmd->conn, argv[0], blocked, after, (size_t)most,
			  &groups);
	if (r < 0)
		return cmd_failed(cmd, r);
	status = print_groups(argv[0], groups, json);
	if (!status && most == LISTED && rp_groups_count(groups) == LISTED)
		complain(0,
			 "listed %d groups; --after GROUP lists the next ones, "
			 "-n N lists more",
			 LISTED);
	rp_groups_free(groups);
	return status;
}
