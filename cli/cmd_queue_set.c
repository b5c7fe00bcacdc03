/*
 * cmd_queue_set.c - the commands that change and show a queue's settings: queue
 * set, queue list.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "cmd.h"

#include <string.h>

#include "history.h"
#include "settings.h"

#define VALUE 160 /* bytes of a setting's value as text */

/* ---- settings that are not one number ---- */

static int
refuse_dead_loop(const struct cmd *cmd, const char *dead_to)
{
	return usage(cmd,
		     "--dead-to %.80s: expected another queue, because dead "
		     "jobs would come back to this one",
		     dead_to);
}

static int
parse_dead_to(const struct cmd *cmd, const char *text, rp_queue *queue)
{
	queue->dead_to = text;
	if (!*text)
		return usage(cmd, "--dead-to: expected a queue's name, or "
				  "the word none");
	if (queue->name && strcmp(text, queue->name) == 0)
		return refuse_dead_loop(cmd, text);
	if (strcmp(text, "none") != 0)
		return check_new_queue(cmd, text);
	queue->dead_to = "";
	return 0;
}

static void
format_dead_to(char *to, size_t room, const rp_queue *queue)
{
	snprintf(to, room, "%s", queue->dead_to ? queue->dead_to : "none");
}

int
parse_on_failure(const struct cmd *cmd, const char *text, rp_queue *queue)
{
	queue->group_pass = strcmp(text, "pass") == 0;
	if (queue->group_pass || strcmp(text, "block") == 0)
		return 0;
	return usage(cmd, "--group-on-failure %.80s: expected block or pass",
		     text);
}

static void
format_on_failure(char *to, size_t room, const rp_queue *queue)
{
	snprintf(to, room, "%s", on_failure(queue));
}

int
rate_of(const char *text, rp_queue *queue)
{
	const char *slash = strchr(text, '/');
	char count[24];

	queue->rate_count = queue->rate_ms = 0;
	if (strcmp(text, "none") == 0)
		return 0;
	snprintf(count, sizeof(count), "%.*s", slash ? (int)(slash - text) : 0,
		 text);
	if (slash && slash - text < (int)sizeof(count) &&
	    parse_count(count, &queue->rate_count) == 0 &&
	    rp_duration(slash + 1, &queue->rate_ms) == 0 &&
	    queue->rate_count >= 1 && queue->rate_count <= RP_MOST_RATE &&
	    queue->rate_ms >= 1)
		return 0;
	return -1;
}

int
parse_rate(const struct cmd *cmd, const char *text, rp_queue *queue)
{
	if (rate_of(text, queue) == 0)
		return 0;
	return usage(cmd, "--rate %.80s: expected " EXPECTED_RATE, text);
}

static void
format_rate_or_none(char *to, size_t room, const rp_queue *queue)
{
	if (queue->rate_count)
		format_rate(to, room, queue->rate_count, queue->rate_ms);
	else
		snprintf(to, room, "none");
}

/* ---- the table ---- */

#define NUMBER(field, least, most)                                             \
	offsetof(rp_queue, field), (least), (most), NULL, NULL
#define WORD(parse, format) 0, 0, 0, (parse), (format)

const struct setting settings[] = {
	{ "--max-attempts", COUNT, "N", "attempts before a job is dead",
	  NUMBER(max_attempts, 1, RP_MOST_ATTEMPTS) },
	{ "--lease", DURATION, "D", "how long a claim holds a job",
	  NUMBER(lease_ms, 1, RP_MOST_MS) },
	{ "--backoff", DURATION, "D",
	  "delay before the second attempt; it doubles each time",
	  NUMBER(backoff_ms, 0, RP_MOST_MS) },
	{ "--backoff-max", DURATION, "D", "the longest backoff",
	  NUMBER(backoff_max_ms, 0, RP_MOST_MS) },
	{ "--priority", PRIORITY, "N",
	  "priority of jobs that are enqueued without one",
	  NUMBER(priority, 0, RP_MOST_PRIORITY) },
	{ "--keep-done", DURATION, "D", "how long done jobs are kept",
	  NUMBER(keep_done_ms, 0, RP_MOST_MS) },
	{ "--keep-dead", DURATION, "D",
	  "how long dead and cancelled jobs are kept",
	  NUMBER(keep_dead_ms, 0, RP_MOST_MS) },
	{ "--max-payload", SIZE, "SIZE", "the largest payload",
	  NUMBER(max_payload, 0, RP_MOST_PAYLOAD) },
	{ "--timeout", DURATION, "D", "a handler may run for at most this long",
	  NUMBER(timeout_ms, 0, RP_MOST_MS) },
	{ "--limit", LIMIT, "N", "how many jobs may run at once, or none",
	  NUMBER(run_limit, 0, RP_MOST_LIMIT) },
	{ "--group-limit", LIMIT, "N",
	  "how many jobs of one group may run at once, or none",
	  NUMBER(group_limit, 0, RP_MOST_LIMIT) },
	{ "--group-on-failure", TEXT, "block|pass",
	  "while a failed job waits for its retry, its group\n"
	  "waits too (block), or goes on (pass)",
	  WORD(parse_on_failure, format_on_failure) },
	{ "--rate", TEXT, "N/D",
	  "at most N jobs start in any interval D, as in 100/1m;\n"
	  "none: no limit",
	  WORD(parse_rate, format_rate_or_none) },
	{ "--dead-to", TEXT, "QUEUE",
	  "queue that gets a new job when a job dies, or none",
	  WORD(parse_dead_to, format_dead_to) },
};
#define SETTINGS (sizeof(settings) / sizeof(*settings))
const size_t settings_count = SETTINGS;

static int64_t
number_of(const rp_queue *queue, const struct setting *setting)
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
format_number(char *to, size_t room, const struct setting *setting,
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

static void
format_value(char to[VALUE], const struct setting *setting,
	     const rp_queue *queue)
{
	if (setting->format)
		setting->format(to, VALUE, queue);
	else
		format_number(to, VALUE, setting, number_of(queue, setting));
}

/* ---- printing ---- */

/* Print the settings that differ. Returns their number. With `quiet`, only
 * count them. */
static int
print_changes(const rp_queue *before, const rp_queue *after, int quiet)
{
	char old[VALUE], new[VALUE];
	int changed = 0;

	for (size_t i = 0; i < SETTINGS; i++) {
		format_value(old, &settings[i], before);
		format_value(new, &settings[i], after);
		if (strcmp(old, new) == 0)
			continue;
		changed++;
		if (!quiet)
			printf("%s: %s -> %s\n", settings[i].option + 2, old,
			       new);
	}
	return changed;
}

static void
print_settings(const rp_queue *queue)
{
	char value[VALUE];

	for (size_t i = 0; i < SETTINGS; i++) {
		format_value(value, &settings[i], queue);
		printf("  %-16s %s\n", settings[i].option + 2, value);
	}
}

/* Print the outcome of `queue set`. `before` is NULL if the queue is new. */
static int
print_set(const rp_queue *before, const rp_queue *after, int json)
{
	int changed = before ? print_changes(before, after, json) : 0;
	json_t *object;

	if (json) {
		object = json_queue(after);
		json_object_set_new(object, "result",
				    json_text(!before   ? "added"
					      : changed ? "changed"
							: "unchanged"));
		return print_json(object);
	}
	if (!before) {
		printf("queue %s is new\n", after->name);
		print_settings(after);
	} else if (!changed) {
		printf("queue %s: nothing changed\n", after->name);
	}
	return DONE;
}

/* ---- the commands ---- */

static int
set(struct cmd *cmd, const rp_queue *wanted, int json)
{
	rp_queues *before = NULL, *after = NULL;
	int status, r = rp_queue_list(cmd->conn, wanted->name, &before);
	int64_t asked = monotonic_us();

	if (r == 0 || r == RP_ENOENT)
		r = rp_queue_set(cmd->conn, wanted);
	if (r == 0)
		r = rp_queue_list(cmd->conn, wanted->name, &after);
	if (r < 0) {
		rp_queues_free(before);
		/* All other wrong values were refused before this call. So
		 * dead_to is part of a cycle. */
		return r == RP_EINVAL && wanted->dead_to && *wanted->dead_to
			       ? refuse_dead_loop(cmd, wanted->dead_to)
			       : cmd_failed(cmd, r);
	}
	history_limits(cmd->history, rp_queues_at(after, 0), asked);
	status = print_set(rp_queues_at(before, 0), rp_queues_at(after, 0),
			   json);
	rp_queues_free(before);
	rp_queues_free(after);
	return status;
}

/* Check the limits of the numbers. The library checks them, too, but its
 * messages have milliseconds instead of the units that the user has typed. */
static int
check_number(const struct cmd *cmd, const struct setting *s, int64_t n)
{
	char value[32], least[32], most[32];

	if (n < 0 || (n >= s->least && n <= s->most))
		return 0;
	format_number(value, sizeof(value), s, n);
	format_number(least, sizeof(least), s, s->least);
	format_number(most, sizeof(most), s, s->most);
	return usage(cmd, "%s %s: expected %s to %s", s->option, value, least,
		     most);
}

/* Check the settings that the user has given. `words`: the values of the
 * settings of the type TEXT; NULL: not given. */
static int
check_settings(const struct cmd *cmd, const char *const *words,
	       rp_queue *wanted)
{
	int status = 0;

	for (size_t i = 0; i < SETTINGS && !status; i++) {
		const struct setting *s = &settings[i];

		if (!s->parse)
			status = check_number(cmd, s, number_of(wanted, s));
		else if (words[i])
			status = s->parse(cmd, words[i], wanted);
	}
	return status;
}

int
cmd_queue_set(struct cmd *cmd, int argc, char **argv)
{
	const char *words[SETTINGS] = { NULL };
	struct option options[SETTINGS + 2];
	rp_queue wanted = RP_QUEUE_INIT;
	int json = 0, status;

	for (size_t i = 0; i < SETTINGS; i++)
		options[i] = (struct option){
			settings[i].option,
			settings[i].type,
			settings[i].parse
				? (void *)&words[i]
				: (char *)&wanted + settings[i].offset,
			settings[i].arg,
			settings[i].help,
		};
	options[SETTINGS] = (struct option)JSON_OPTION(&json);
	options[SETTINGS + 1] = (struct option)OPTIONS_END;
	status = parse_options(cmd, &argc, argv, options);
	if (status)
		return status;
	wanted.name = argv[0];
	status = argc == 1 ? check_new_queue(cmd, wanted.name) : 0;
	if (!status)
		status = check_settings(cmd, words, &wanted);
	if (!status)
		status = open_for_queue(cmd, argc);
	return status ? status : set(cmd, &wanted, json);
}

static void
print_queue(const rp_queue *queue)
{
	char until[48];

	printf("%s%s%s\n", queue->name, queue->paused_at ? " (paused)" : "",
	       queue->held_until ? " (held)" : "");
	if (queue->pause_reason)
		printf("  %-16s %s\n", "paused", queue->pause_reason);
	if (queue->held_until) {
		format_time(until, sizeof(until), queue->held_until);
		printf("  %-16s until %s\n", "held", until);
	}
	print_settings(queue);
}

int
cmd_queue_list(struct cmd *cmd, int argc, char **argv)
{
	int json = 0;
	const struct option options[] = {
		JSON_OPTION(&json),
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
		if (json)
			status =
				print_json(json_queue(rp_queues_at(queues, i)));
		else
			print_queue(rp_queues_at(queues, i));
	}
	rp_queues_free(queues);
	return status;
}
