/*
 * cmd_schedule.c - the commands for the schedules of a database: cron add,
 * list, run, pause, resume, remove.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "schedules.h"

#include <stdlib.h>
#include <string.h>

#include "history.h"
#include "schedule.h"

/* ---- cron add ---- */

/* Return the index of `word` in `words`, or 0 if `word` is NULL. If `word` is
 * not in `words`, print an error message and return -1. */
static int
number_of(const struct cmd *cmd, const char *option, const char *word,
	  const char *const *words)
{
	int i = word ? rp__word_index(words, word) : 0;

	if (i < 0)
		usage(cmd, "%s %.40s: expected %s%s%s or %s", option, word,
		      words[0], words[2] ? ", " : "", words[2] ? words[1] : "",
		      words[2] ? words[2] : words[1]);
	return i;
}

/* the state of the command `cron add` */
struct adding {
	struct cmd *cmd;
	rp_schedule schedule;
	/* options that are converted before they are stored in `schedule` */
	const char *payload, *missed, *overlap;
	int64_t priority;
	struct texts headers;
	int replace, json;
	int is_new;            /* not 0: the command has added a schedule under
				* a new name */
	char changes[CHANGES]; /* names of the settings that differ from those
				* of the replaced schedule */
};

/* Store the schedule, and read it again. Record whether it is new, and which
 * settings differ from the schedule that it replaces. */
static int
store(struct adding *a, rp_schedules **ret)
{
	rp_conn *conn = a->cmd->conn;
	rp_schedules *before = NULL;
	const rp_schedule *old;
	int r = rp_begin(conn);

	if (r < 0)
		return r;
	r = rp_schedule_list(conn, NULL, &before);
	old = find_schedule(before, a->schedule.name);
	a->is_new = !old;
	if (old)
		list_changes(a->changes, sizeof(a->changes), old, &a->schedule);
	rp_schedules_free(before);
	if (r == 0)
		r = rp_schedule_set(conn, &a->schedule, a->replace);
	if (r == 0)
		r = rp_schedule_list(conn, a->schedule.name, ret);
	if (r == 0)
		return rp_commit(conn);
	rp_rollback(conn);
	return r;
}

static int
print_added(const struct adding *a, const rp_schedule *stored)
{
	const char *result = a->is_new     ? "added"
			     : *a->changes ? "replaced"
					   : "unchanged";
	char next[48], word[SHELL_WORD(RP_MOST_NAME)];

	if (a->json) {
		json_t *object = json_schedule(stored);

		json_object_set_new(object, "result", json_text(result));
		json_object_set_new(object, "changes",
				    json_text(*a->changes ? a->changes : NULL));
		return print_json(object);
	}
	if (!a->is_new)
		printf("%s %s%s%s\n", result, stored->name,
		       *a->changes ? ": " : "", a->changes);
	format_time(next, sizeof(next), stored->next_at);
	if (stored->paused_at)
		printf("%s is paused: readpast cron resume %s resumes it\n",
		       stored->name,
		       shell_word(word, sizeof(word), stored->name));
	else
		printf("%s fires next at %s\n", stored->name, next);
	return DONE;
}

static int
add(struct adding *a)
{
	rp_schedules *list = NULL;
	int status = cmd_open(a->cmd), r;

	if (status)
		return status;
	r = store(a, &list);
	if (r == RP_ETAKEN)
		status = complain(REFUSED, "%s: %s (--replace changes it)",
				  a->cmd->name,
				  rp_last_error(a->cmd->conn)->message);
	else
		status = r < 0 ? cmd_failed(a->cmd, r)
			       : print_added(a, rp_schedules_at(list, 0));
	rp_schedules_free(list);
	return status;
}

/* Convert the options, and check the schedule before the command creates the
 * database. `headers` is memory that the caller frees when the schedule is no
 * longer used. */
static int
take_schedule(struct adding *a, char **argv, char **headers)
{
	rp_schedule *schedule = &a->schedule;
	rp_error error;

	if (check_new_queue(a->cmd, argv[0]))
		return USAGE;
	schedule->queue = argv[0];
	schedule->name = argv[1];
	schedule->spec = argv[2];
	schedule->payload = a->payload;
	schedule->payload_size = strlen(a->payload);
	schedule->priority = (int)a->priority;
	schedule->missed =
		number_of(a->cmd, "--missed", a->missed, rp__missed_words);
	schedule->overlap =
		number_of(a->cmd, "--overlap", a->overlap, rp__overlap_words);
	if (schedule->missed < 0 || schedule->overlap < 0)
		return USAGE;
	if (a->headers.count &&
	    !(*headers = make_headers(a->cmd, &a->headers, 0)))
		return USAGE;
	schedule->headers = *headers;
	if (check_schedule(schedule, &error) < 0)
		return wrong_schedule(a->cmd, &error);
	return 0;
}

int
cmd_cron_add(struct cmd *cmd, int argc, char **argv)
{
	struct adding a = { .cmd = cmd,
			    .schedule = RP_SCHEDULE_INIT,
			    .payload = "",
			    .priority = -1 };
	char *headers = NULL;
	int status;
	const struct option options[] = {
		{ "--zone", TEXT, &a.schedule.zone, "ZONE",
		  "time zone, such as Europe/Berlin; default UTC" },
		{ "--payload", TEXT, &a.payload, "TEXT",
		  "the payload of its jobs" },
		{ "--kind", TEXT, &a.schedule.kind, "K",
		  "what sort of jobs they are" },
		{ "--header", TEXTS, &a.headers, "K=V",
		  "a header of its jobs; may be given several times" },
		{ "--priority", PRIORITY, &a.priority, "N",
		  PRIORITIES ", lower first (default: the queue's)" },
		{ "--missed", TEXT, &a.missed, "once|all|skip",
		  "after missed times: one job for all of them (the\n"
		  "default), a job for each, or no job" },
		{ "--overlap", TEXT, &a.overlap, "allow|skip",
		  "if its last job has not ended: add another job (the\n"
		  "default), or no job" },
		{ "--replace", FLAG, &a.replace, NULL,
		  "replace all settings of the schedule of this name, if\n"
		  "there is one; a paused schedule stays paused" },
		JSON_OPTION(&a.json),
		OPTIONS_END,
	};

	status = parse_options(cmd, &argc, argv, options);
	if (!status && argc != 3)
		status = usage(cmd,
			       argc > 3 ? "too many words: put SPEC in quotes"
					: "expected QUEUE NAME SPEC");
	if (!status)
		status = take_schedule(&a, argv, &headers);
	if (!status)
		status = add(&a);
	free(headers);
	free(a.headers.items);
	return status;
}

/* ---- cron list ---- */

#define SHOWN 60 /* how many characters of a payload are printed */

static void
print_last(const rp_schedule *s)
{
	char at[48];

	if (!s->last_at) {
		printf("  last      never%s%s\n", s->last_error ? ": " : "",
		       s->last_error ? s->last_error : "");
		return;
	}
	format_time(at, sizeof(at), s->last_at);
	if (!s->last_error && !s->last_job_id)
		printf("  last      %s: its job is no longer stored\n", at);
	else if (s->last_error)
		printf("  last      %s: %s\n", at, s->last_error);
	else
		printf("  last      %s: job %lld, %s\n", at,
		       (long long)s->last_job_id,
		       s->last_state ? rp_state_text(s->last_state)
				     : "finished and not kept");
}

/* Print a setting, unless it has its default value. */
static void
print_setting(const char *name, const char *value, const char *usual)
{
	if (value && strcmp(value, usual) != 0)
		printf("  %-8s  %s\n", name, value);
}

static void
print_settings(const rp_schedule *s)
{
	char priority[16];

	snprintf(priority, sizeof(priority), "%d", s->priority);
	print_setting("kind", s->kind, "");
	print_setting("priority", priority, "-1");
	print_setting("missed", rp__missed_words[s->missed],
		      rp__missed_words[0]);
	print_setting("overlap", rp__overlap_words[s->overlap],
		      rp__overlap_words[0]);
	if (s->payload_size) {
		printf("  %-8s  ", "payload");
		print_text(stdout, s->payload, s->payload_size, SHOWN);
		putchar('\n');
	}
	if (s->headers) {
		printf("  %-8s  ", "headers");
		print_text(stdout, s->headers, strlen(s->headers), SHOWN);
		putchar('\n');
	}
}

static void
print_schedule(const rp_schedule *s)
{
	char at[48];

	printf("%s%s\n", s->name, s->paused_at ? " (paused)" : "");
	printf("  queue     %s\n", s->queue);
	printf("  spec      %s  %s\n", s->spec, s->zone);
	print_settings(s);
	print_last(s);
	format_time(at, sizeof(at), s->next_at);
	printf("  next      %s\n", s->paused_at ? "none while it is paused"
				   : s->next_at ? at
						: "never");
}

int
cmd_cron_list(struct cmd *cmd, int argc, char **argv)
{
	int json = 0;
	const struct option options[] = { JSON_OPTION(&json), OPTIONS_END };
	int status = parse_options(cmd, &argc, argv, options), r;
	rp_schedules *list;

	if (status)
		return status;
	if (argc > 1)
		return usage(cmd, "give one NAME, or none");
	status = cmd_open(cmd);
	if (status)
		return status;
	r = rp_schedule_list(cmd->conn, argc ? argv[0] : NULL, &list);
	if (r < 0)
		return cmd_failed(cmd, r);
	for (size_t i = 0; i < rp_schedules_count(list) && !status; i++)
		if (json)
			status = print_json(
				json_schedule(rp_schedules_at(list, i)));
		else
			print_schedule(rp_schedules_at(list, i));
	rp_schedules_free(list);
	return status;
}

/* ---- one schedule ---- */

static int
open_for_one(struct cmd *cmd, int argc)
{
	if (argc != 1)
		return usage(cmd, argc ? "give only one schedule"
				       : "which schedule?");
	return cmd_open(cmd);
}

static int
one_schedule(struct cmd *cmd, int argc, char **argv,
	     int (*one)(rp_conn *, const char *), const char *done)
{
	int json = 0;
	const struct option options[] = { JSON_OPTION(&json), OPTIONS_END };
	int status = parse_options(cmd, &argc, argv, options), r;

	if (!status)
		status = open_for_one(cmd, argc);
	if (status)
		return status;
	r = one(cmd->conn, argv[0]);
	if (r < 0)
		return cmd_failed(cmd, r);
	if (json) {
		const struct member members[] = {
			{ "name", json_text(argv[0]) },
			{ "result", json_text(done) },
		};

		return print_json(JSON_MEMBERS(members));
	}
	return DONE;
}

int
cmd_cron_pause(struct cmd *cmd, int argc, char **argv)
{
	return one_schedule(cmd, argc, argv, rp_schedule_pause, "paused");
}

int
cmd_cron_resume(struct cmd *cmd, int argc, char **argv)
{
	return one_schedule(cmd, argc, argv, rp_schedule_resume, "resumed");
}

int
cmd_cron_remove(struct cmd *cmd, int argc, char **argv)
{
	return one_schedule(cmd, argc, argv, rp_schedule_remove, "removed");
}

int
cmd_cron_run(struct cmd *cmd, int argc, char **argv)
{
	int json = 0;
	const struct option options[] = { JSON_OPTION(&json), OPTIONS_END };
	int status = parse_options(cmd, &argc, argv, options), r;
	rp_schedules *list = NULL;
	rp_added added = { 0, 0 };
	int64_t asked = monotonic_us();

	if (!status)
		status = open_for_one(cmd, argc);
	if (status)
		return status;
	r = rp_schedule_list(cmd->conn, argv[0], &list);
	if (r == 0)
		r = rp_schedule_run(cmd->conn, argv[0], &added);
	if (r < 0) {
		rp_schedules_free(list);
		return cmd_failed(cmd, r);
	}
	history_enqueued(cmd->history, rp_schedules_at(list, 0)->queue, NULL,
			 &added, asked);
	if (json)
		status = print_json(
			json_added(rp_schedules_at(list, 0)->queue, &added));
	if (added.outcome == RP_EXISTED)
		status = worst(status,
			       complain(REFUSED,
					"%s was not run: it has --overlap "
					"skip, and its job %lld is still live",
					argv[0], (long long)added.id));
	else if (!json)
		printf("%lld\n", (long long)added.id);
	rp_schedules_free(list);
	return status;
}
