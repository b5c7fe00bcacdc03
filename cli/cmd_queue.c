/*
 * cmd_queue.c - the commands for queues and their settings: queue set, queue
 * list, queue drop, pause, resume.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "settings.h"

#include <string.h>

#include "history.h"

const struct setting settings[] = {
	{ "--max-attempts", COUNT, offsetof(rp_queue, max_attempts), "N",
	  "attempts before a job is dead", 1, RP_MOST_ATTEMPTS },
	{ "--lease", DURATION, offsetof(rp_queue, lease_ms), "D",
	  "how long a claim holds", 1, RP_MOST_MS },
	{ "--backoff", DURATION, offsetof(rp_queue, backoff_ms), "D",
	  "delay before the second attempt; it doubles each time", 0,
	  RP_MOST_MS },
	{ "--backoff-max", DURATION, offsetof(rp_queue, backoff_max_ms), "D",
	  "the longest backoff", 0, RP_MOST_MS },
	{ "--priority", PRIORITY, offsetof(rp_queue, priority), "N",
	  "priority of jobs that are enqueued without one", 0,
	  RP_MOST_PRIORITY },
	{ "--keep-done", DURATION, offsetof(rp_queue, keep_done_ms), "D",
	  "how long done jobs are kept", 0, RP_MOST_MS },
	{ "--keep-dead", DURATION, offsetof(rp_queue, keep_dead_ms), "D",
	  "how long dead and cancelled jobs are kept", 0, RP_MOST_MS },
	{ "--max-payload", SIZE, offsetof(rp_queue, max_payload), "SIZE",
	  "the largest payload", 0, RP_MOST_PAYLOAD },
	{ "--timeout", DURATION, offsetof(rp_queue, timeout_ms), "D",
	  "a handler may run for at most this long", 0, RP_MOST_MS },
	{ "--limit", LIMIT, offsetof(rp_queue, run_limit), "N",
	  "how many jobs may run at once, or none", 0, RP_MOST_LIMIT },
};
#define SETTINGS (sizeof(settings) / sizeof(*settings))
const size_t settings_count = SETTINGS;

static int64_t
value_of(const rp_queue *queue, const struct setting *setting)
{
	int64_t value;

	memcpy(&value, (const char *)queue + setting->offset, sizeof(value));
	return value;
}

/* Format a size in the largest unit that gives a whole number. */
static void
format_size(char *to, size_t room, int64_t bytes)
{
	static const char *const units[] = { "", "KiB", "MiB", "GiB" };
	int unit = 0;

	for (; bytes && bytes % 1024 == 0 && unit < 3; unit++)
		bytes /= 1024;
	snprintf(to, room, "%lld%s", (long long)bytes, units[unit]);
}

static void
format_value(char *to, size_t room, const struct setting *setting,
	     int64_t value)
{
	if (setting->type == DURATION)
		print_duration(to, room, value);
	else if (setting->type == SIZE)
		format_size(to, room, value);
	else if (setting->type == LIMIT && value == 0)
		snprintf(to, room, "none");
	else
		snprintf(to, room, "%lld", (long long)value);
}

static int
is_same_text(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

static int
is_changed(const rp_queue *before, const rp_queue *after)
{
	for (size_t i = 0; before && i < SETTINGS; i++)
		if (value_of(before, &settings[i]) !=
		    value_of(after, &settings[i]))
			return 1;
	return before && !is_same_text(before->dead_to, after->dead_to);
}

static const char *
or_none(const char *queue)
{
	return queue ? queue : "none";
}

/* Print the settings of `after`. If `before` is not NULL, print only those that
 * differ from `before`. */
static void
print_settings(const rp_queue *before, const rp_queue *after)
{
	char old[32], new[32];

	for (size_t i = 0; i < SETTINGS; i++) {
		const struct setting *s = &settings[i];

		format_value(new, sizeof(new), s, value_of(after, s));
		if (!before) {
			printf("  %-13s %s\n", s->option + 2, new);
		} else if (value_of(before, s) != value_of(after, s)) {
			format_value(old, sizeof(old), s, value_of(before, s));
			printf("%s: %s -> %s\n", s->option + 2, old, new);
		}
	}
	if (!before)
		printf("  %-13s %s\n", "dead-to", or_none(after->dead_to));
	if (before && !is_same_text(before->dead_to, after->dead_to))
		printf("dead-to: %s -> %s\n", or_none(before->dead_to),
		       or_none(after->dead_to));
}

/* Print the outcome of `queue set`. `before` is NULL if the queue is new. */
static int
print_set(const rp_queue *before, const rp_queue *after, int json)
{
	int changed = is_changed(before, after);
	json_t *object;

	if (json) {
		object = json_queue(after);
		json_object_set_new(object, "result",
				    json_text(!before   ? "added"
					      : changed ? "changed"
							: "unchanged"));
		return print_json(object);
	}
	if (!before)
		printf("queue %s is new\n", after->name);
	else if (!changed)
		printf("queue %s: nothing changed\n", after->name);
	print_settings(before, after);
	return DONE;
}

static int
set(struct cmd *cmd, const rp_queue *wanted, int json)
{
	rp_queues *before = NULL, *after = NULL;
	int status, r = rp_queue_list(cmd->conn, wanted->name, &before);

	if (r == 0 || r == RP_ENOENT)
		r = rp_queue_set(cmd->conn, wanted);
	if (r == 0)
		r = rp_queue_list(cmd->conn, wanted->name, &after);
	if (r < 0) {
		rp_queues_free(before);
		return cmd_failed(cmd, r);
	}
	status = print_set(rp_queues_at(before, 0), rp_queues_at(after, 0),
			   json);
	rp_queues_free(before);
	rp_queues_free(after);
	return status;
}

/* Check the limits of the settings. The library checks them, too, but its
 * messages have milliseconds instead of the units that the user has typed. */
static int
check_settings(const struct cmd *cmd, const rp_queue *wanted)
{
	char value[32], least[32], most[32];

	for (size_t i = 0; i < SETTINGS; i++) {
		const struct setting *s = &settings[i];
		int64_t n = value_of(wanted, s);

		if (n < 0 || (n >= s->least && n <= s->most))
			continue;
		format_value(value, sizeof(value), s, n);
		format_value(least, sizeof(least), s, s->least);
		format_value(most, sizeof(most), s, s->most);
		return usage(cmd, "%s %s: expected %s to %s", s->option, value,
			     least, most);
	}
	return 0;
}

static int
check_dead_to(const struct cmd *cmd, rp_queue *wanted)
{
	if (!*wanted->dead_to)
		return usage(cmd, "--dead-to: expected a queue's name, or "
				  "the word none");
	if (wanted->name && strcmp(wanted->dead_to, wanted->name) == 0)
		return usage(cmd,
			     "--dead-to %.80s: expected another queue, because "
			     "dead jobs would come back to this one",
			     wanted->dead_to);
	if (strcmp(wanted->dead_to, "none") != 0)
		return check_new_queue(cmd, wanted->dead_to);
	wanted->dead_to = "";
	return 0;
}

static int
open_for_one(struct cmd *cmd, int argc)
{
	if (argc != 1)
		return usage(cmd,
			     argc ? "expected only one queue" : "which queue?");
	return cmd_open(cmd);
}

int
cmd_queue_set(struct cmd *cmd, int argc, char **argv)
{
	struct option options[SETTINGS + 3];
	rp_queue wanted = RP_QUEUE_INIT;
	int json = 0, status;

	for (size_t i = 0; i < SETTINGS; i++)
		options[i] = (struct option){
			settings[i].option,
			settings[i].type,
			(char *)&wanted + settings[i].offset,
			settings[i].arg,
			settings[i].help,
		};
	options[SETTINGS] = (struct option){
		"--dead-to",
		TEXT,
		&wanted.dead_to,
		"QUEUE",
		"queue that gets a new job when a job dies, or none",
	};
	options[SETTINGS + 1] = (struct option)JSON_OPTION(&json);
	options[SETTINGS + 2] = (struct option)OPTIONS_END;
	status = parse_options(cmd, &argc, argv, options);
	if (status)
		return status;
	wanted.name = argv[0];
	status = argc == 1 ? check_new_queue(cmd, wanted.name) : 0;
	if (!status && wanted.dead_to)
		status = check_dead_to(cmd, &wanted);
	if (!status)
		status = check_settings(cmd, &wanted);
	if (!status)
		status = open_for_one(cmd, argc);
	return status ? status : set(cmd, &wanted, json);
}

int
cmd_queue_list(struct cmd *cmd, int argc, char **argv)
{
	int json = 0;
	const struct option options[] = {
		{ "--json", FLAG, &json, NULL, "JSON lines" },
		OPTIONS_END,
	};
	int status = parse_options(cmd, &argc, argv, options), r;
	rp_queues *queues;

	if (status)
		return status;
	if (argc > 1)
		return usage(cmd, "name one queue, or none for all queues");
	status = cmd_open(cmd);
	if (status)
		return status;
	r = rp_queue_list(cmd->conn, argc ? argv[0] : NULL, &queues);
	if (r < 0)
		return cmd_failed(cmd, r);
	for (size_t i = 0; i < rp_queues_count(queues) && !status; i++) {
		const rp_queue *queue = rp_queues_at(queues, i);

		if (json) {
			status = print_json(json_queue(queue));
			continue;
		}
		printf("%s%s\n", queue->name,
		       queue->paused_at ? " (paused)" : "");
		if (queue->pause_reason)
			printf("  %-13s %s\n", "paused", queue->pause_reason);
		print_settings(NULL, queue);
	}
	rp_queues_free(queues);
	return status;
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
	int status = open_for_one(cmd, argc), r;

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

	if (!status)
		status = open_for_one(cmd, argc);
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

/* Refuse to drop a queue, and say what would be deleted. */
static int
want_yes(struct cmd *cmd, const char *queue)
{
	char names[160] = "", also[200] = "";
	rp_schedules *list;
	size_t used = 0;
	int status = cmd_open(cmd), r;

	if (status)
		return status;
	r = rp_schedule_list(cmd->conn, NULL, &list);
	if (r < 0)
		return cmd_failed(cmd, r);
	for (size_t i = 0; i < rp_schedules_count(list); i++) {
		const rp_schedule *s = rp_schedules_at(list, i);

		if (strcmp(s->queue, queue) != 0 || used >= sizeof(names))
			continue;
		used += (size_t)snprintf(names + used, sizeof(names) - used,
					 "%s%s", used ? ", " : "", s->name);
	}
	rp_schedules_free(list);
	if (used >= sizeof(names))
		memcpy(names + sizeof(names) - 4, "...", 4);
	if (used)
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
