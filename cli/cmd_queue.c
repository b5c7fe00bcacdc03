/*
 * cmd_queue.c - the commands that act on a queue: pause, resume, queue drop.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "cmd.h"

#include <string.h>

#include "history.h"

int
open_for_queue(struct cmd *cmd, int argc)
{
	if (argc != 1)
		return usage(cmd,
			     argc ? "expected only one queue" : "which queue?");
	return cmd_open(cmd);
}

static int
say_done(const char *queue, const char *done, int json)
{
	if (json) {
		const struct member members[] = {
			{ "queue", json_text(queue) },
			{ "result", json_text(done) },
		};

		return print_json(JSON_MEMBERS(members));
	}
	return DONE;
}

/* Call `one` for the queue that the user has named. `done` is the participle
 * for the message, such as "resumed". */
static int
one_queue(struct cmd *cmd, int argc, char **argv,
	  int (*one)(rp_conn *, const char *), const char *done, int json)
{
	int status = open_for_queue(cmd, argc), r;

	if (status)
		return status;
	r = one(cmd->conn, argv[0]);
	return r < 0 ? cmd_failed(cmd, r) : say_done(argv[0], done, json);
}

int
cmd_pause(struct cmd *cmd, int argc, char **argv)
{
	const char *reason = NULL;
	int json = 0;
	const struct option options[] = {
		{ "--reason", TEXT, &reason, "TEXT",
		  "the reason, shown wherever the queue is shown as paused" },
		JSON_OPTION(&json),
		OPTIONS_END,
	};
	int status = parse_options(cmd, &argc, argv, options), r;

	if (!status && reason)
		status = check_name(cmd, "the reason", reason, RP_MOST_REASON);
	if (!status)
		status = open_for_queue(cmd, argc);
	if (status)
		return status;
	r = rp_queue_pause(cmd->conn, argv[0], reason);
	return r < 0 ? cmd_failed(cmd, r) : say_done(argv[0], "paused", json);
}

int
cmd_resume(struct cmd *cmd, int argc, char **argv)
{
	int json = 0;
	const struct option options[] = { JSON_OPTION(&json), OPTIONS_END };
	int status = parse_options(cmd, &argc, argv, options);

	return status ? status
		      : one_queue(cmd, argc, argv, rp_queue_resume, "resumed",
				  json);
}

/* Write the names of the queue's schedules to `to`, as far as there is room. */
static int
name_schedules(struct cmd *cmd, const char *queue, char *to, size_t room)
{
	rp_schedules *list;
	size_t used = 0;
	int r = rp_schedule_list(cmd->conn, NULL, &list);

	if (r < 0)
		return r;
	*to = '\0';
	for (size_t i = 0; i < rp_schedules_count(list) && used < room; i++) {
		const rp_schedule *s = rp_schedules_at(list, i);

		if (strcmp(s->queue, queue) == 0)
			used += (size_t)snprintf(to + used, room - used, "%s%s",
						 used ? ", " : "", s->name);
	}
	if (used >= room)
		memcpy(to + room - 4, "...", 4);
	rp_schedules_free(list);
	return 0;
}

/* Refuse to drop a queue, and say what would be deleted. */
static int
want_yes(struct cmd *cmd, const char *queue)
{
	char names[160], also[200] = "";
	rp_queues *queues;
	int status = cmd_open(cmd), r;

	if (status)
		return status;
	r = rp_queue_list(cmd->conn, queue, &queues);
	if (r < 0)
		return cmd_failed(cmd, r);
	rp_queues_free(queues);
	r = name_schedules(cmd, queue, names, sizeof(names));
	if (r < 0)
		return cmd_failed(cmd, r);
	if (*names)
		snprintf(also, sizeof(also), ", and its schedules (%s),",
			 names);
	return usage(cmd,
		     "this deletes all jobs of %s%s for good: confirm with "
		     "--yes",
		     queue, also);
}

int
cmd_queue_drop(struct cmd *cmd, int argc, char **argv)
{
	int yes = 0, json = 0;
	const struct option options[] = {
		{ "--yes", FLAG, &yes, NULL,
		  "confirm that the jobs are deleted for good" },
		JSON_OPTION(&json),
		OPTIONS_END,
	};
	int status = parse_options(cmd, &argc, argv, options);

	if (status)
		return status;
	if (argc == 1 && !yes)
		return want_yes(cmd, argv[0]);
	status = one_queue(cmd, argc, argv, rp_queue_drop, "dropped", json);
	if (!status)
		history_purged(cmd->history, argv[0]);
	return status;
}
