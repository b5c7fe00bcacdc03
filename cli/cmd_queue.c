/*
 * cmd_queue.c - queues and their settings.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "cmd.h"

#include <string.h>

#include "history.h"

/* Every setting: its option, and how people write it. */
struct setting {
	const char *option;
	enum option_type type;
	size_t offset;
	const char *arg, *help;
};
static const struct setting settings[] = {
	{ "--max-attempts", COUNT, offsetof(rp_queue, max_attempts), "N",
	  "attempts before a job is dead" },
	{ "--lease", DURATION, offsetof(rp_queue, lease_ms), "D",
	  "how long a claim holds" },
	{ "--backoff", DURATION, offsetof(rp_queue, backoff_ms), "D",
	  "before the second attempt, doubling" },
	{ "--backoff-max", DURATION, offsetof(rp_queue, backoff_max_ms), "D",
	  "where the doubling ends" },
	{ "--priority", PRIORITY, offsetof(rp_queue, priority), "N",
	  "of jobs that name none" },
	{ "--keep-done", DURATION, offsetof(rp_queue, keep_done_ms), "D",
	  "how long done jobs are kept" },
	{ "--keep-dead", DURATION, offsetof(rp_queue, keep_dead_ms), "D",
	  "how long dead and cancelled ones are kept" },
	{ "--max-payload", SIZE, offsetof(rp_queue, max_payload), "SIZE",
	  "the largest payload" },
};
#define SETTINGS (sizeof(settings) / sizeof(*settings))

static int64_t
value_of(const rp_queue *queue, const struct setting *setting)
{
	int64_t value;

	memcpy(&value, (const char *)queue + setting->offset, sizeof(value));
	return value;
}

static void
format_value(char *to, size_t room, const struct setting *setting,
	     int64_t value)
{
	if (setting->type == DURATION)
		print_duration(to, room, value);
	else if (setting->type == SIZE && value && value % 1048576 == 0)
		snprintf(to, room, "%lldMiB", (long long)value / 1048576);
	else if (setting->type == SIZE && value && value % 1024 == 0)
		snprintf(to, room, "%lldKiB", (long long)value / 1024);
	else
		snprintf(to, room, "%lld", (long long)value);
}

/* Print each setting: all of one, or where two differ. Their number. */
static int
print_settings(const rp_queue *before, const rp_queue *after)
{
	char old[32], new[32];
	int n = 0;

	for (size_t i = 0; i < SETTINGS; i++) {
		const struct setting *s = &settings[i];

		format_value(new, sizeof(new), s, value_of(after, s));
		if (!before) {
			printf("  %-13s %s\n", s->option + 2, new);
		} else if (value_of(before, s) != value_of(after, s)) {
			format_value(old, sizeof(old), s, value_of(before, s));
			printf("%s: %s -> %s\n", s->option + 2, old, new);
		} else {
			continue;
		}
		n++;
	}
	return n;
}

static int
set(struct cmd *cmd, const rp_queue *wanted)
{
	rp_queues *before = NULL, *after = NULL;
	int r = rp_queue_list(cmd->conn, wanted->name, &before);

	if (r == 0 || r == RP_ENOENT)
		r = rp_queue_set(cmd->conn, wanted);
	if (r == 0)
		r = rp_queue_list(cmd->conn, wanted->name, &after);
	if (r < 0) {
		rp_queues_free(before);
		return cmd_failed(cmd, r);
	}
	if (!before)
		printf("queue %s is new\n", wanted->name);
	if (!print_settings(rp_queues_at(before, 0), rp_queues_at(after, 0)))
		printf("queue %s: nothing changed\n", wanted->name);
	rp_queues_free(before);
	rp_queues_free(after);
	return DONE;
}

int
cmd_queue_set(struct cmd *cmd, int argc, char **argv)
{
	struct option options[SETTINGS + 1];
	rp_queue wanted = RP_QUEUE_INIT;
	int status;

	for (size_t i = 0; i < SETTINGS; i++)
		options[i] = (struct option){
			settings[i].option,
			settings[i].type,
			(char *)&wanted + settings[i].offset,
			settings[i].arg,
			settings[i].help,
		};
	options[SETTINGS] = (struct option)OPTIONS_END;
	status = parse_options(cmd, &argc, argv, options);
	if (status)
		return status;
	if (argc != 1)
		return usage(cmd,
			     argc ? "one queue at a time" : "which queue?");
	wanted.name = argv[0];
	status = cmd_open(cmd);
	return status ? status : set(cmd, &wanted);
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
		return usage(cmd, "one queue, or none");
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
		print_settings(NULL, queue);
	}
	rp_queues_free(queues);
	return status;
}

/* Do `one` to a queue. */
static int
one_queue(struct cmd *cmd, int argc, char **argv,
	  int (*one)(rp_conn *, const char *))
{
	int status, r;

	if (argc != 1)
		return usage(cmd,
			     argc ? "one queue at a time" : "which queue?");
	status = cmd_open(cmd);
	if (status)
		return status;
	r = one(cmd->conn, argv[0]);
	return r < 0 ? cmd_failed(cmd, r) : DONE;
}

int
cmd_pause(struct cmd *cmd, int argc, char **argv)
{
	const struct option options[] = { OPTIONS_END };
	int status = parse_options(cmd, &argc, argv, options);

	return status ? status : one_queue(cmd, argc, argv, rp_queue_pause);
}

int
cmd_resume(struct cmd *cmd, int argc, char **argv)
{
	const struct option options[] = { OPTIONS_END };
	int status = parse_options(cmd, &argc, argv, options);

	return status ? status : one_queue(cmd, argc, argv, rp_queue_resume);
}

int
cmd_queue_drop(struct cmd *cmd, int argc, char **argv)
{
	int yes = 0;
	const struct option options[] = {
		{ "--yes", FLAG, &yes, NULL, "really" },
		OPTIONS_END,
	};
	int status = parse_options(cmd, &argc, argv, options);

	if (status)
		return status;
	if (argc == 1 && !yes)
		return usage(cmd, "this forgets all jobs of %s: say --yes",
			     argv[0]);
	status = one_queue(cmd, argc, argv, rp_queue_drop);
	if (!status)
		history_purged(cmd->history, argv[0]);
	return status;
}
