/*
 * cmd_cron_apply.c - make the schedules what a file says.
 *
 * The file is a JSON array of objects, in the form that `cron list --json`
 * prints. All is done in one transaction.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "cmd.h"

#include <stdlib.h>
#include <string.h>

struct apply {
	struct cmd *cmd;
	const char *file;
	int dry_run, json;
	rp_schedules *before;
	int64_t added, changed, removed, same;
};

/* A schedule as an object of the file describes it. It owns `own`. */
struct wanted {
	rp_schedule schedule;
	char *payload, *headers;
};

static void
clear(struct wanted *w)
{
	free(w->payload);
	free(w->headers);
}

/* ---- the file ---- */

/* `where`: the schedule's name, or its number. */
static int
refuse(const struct apply *a, const char *where, const char *member,
       const char *why)
{
	return complain(USAGE, "%s: %s: %.128s: %s: %s", a->cmd->name, a->file,
			where, member, why);
}

static int
take_text(const struct apply *a, const char *where, const char *member,
	  const json_t *value, const char **ret)
{
	if (json_is_null(value))
		return 0;
	if (!json_is_string(value) ||
	    strlen(json_string_value(value)) != json_string_length(value))
		return refuse(a, where, member, "expected a string");
	*ret = json_string_value(value);
	return 0;
}

static int
take_word(const struct apply *a, const char *where, const char *member,
	  const json_t *value, const char *const *words, int *ret)
{
	const char *word = json_string_value(value);
	int i = 0;

	while (word && words[i] && strcmp(words[i], word) != 0)
		i++;
	if (!word || !words[i])
		return refuse(a, where, member,
			      words == missed_words
				      ? "expected once, all or skip"
				      : "expected allow or skip");
	*ret = i;
	return 0;
}

/* A string is the payload itself, anything else is its JSON. */
static int
take_payload(const struct apply *a, const char *where, const json_t *value,
	     struct wanted *w)
{
	size_t size = json_string_length(value);

	free(w->payload);
	w->payload =
		json_is_string(value)
			? malloc(size + 1)
			: json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY);
	if (!w->payload)
		return refuse(a, where, "payload", "out of memory");
	if (json_is_string(value))
		memcpy(w->payload, json_string_value(value), size + 1);
	w->schedule.payload = w->payload;
	w->schedule.payload_size =
		json_is_string(value) ? size : strlen(w->payload);
	return 0;
}

static int
take_headers(const struct apply *a, const char *where, const json_t *value,
	     struct wanted *w)
{
	if (json_is_null(value))
		return 0;
	if (!json_is_object(value))
		return refuse(a, where, "headers", "expected an object");
	w->headers = json_dumps(value, JSON_COMPACT);
	w->schedule.headers = w->headers;
	return w->headers ? 0 : refuse(a, where, "headers", "out of memory");
}

static int
take_priority(const struct apply *a, const char *where, const json_t *value,
	      struct wanted *w)
{
	json_int_t n = json_integer_value(value);

	if (json_is_null(value))
		return 0;
	if (!json_is_integer(value) || n < 0 || n > RP_MOST_PRIORITY)
		return refuse(a, where, "priority", "expected " PRIORITIES);
	w->schedule.priority = (int)n;
	return 0;
}

/* Members that `cron list` prints, and that are no settings. */
static int
is_for_reading(const char *member)
{
	static const char *const members[] = {
		"next_at",    "last_at",   "last_job_id", "last_state",
		"last_error", "paused_at", "created_at",
	};

	for (size_t i = 0; i < sizeof(members) / sizeof(*members); i++)
		if (strcmp(members[i], member) == 0)
			return 1;
	return 0;
}

static int
take_member(const struct apply *a, const char *where, const char *member,
	    const json_t *value, struct wanted *w)
{
	const struct {
		const char *name;
		const char **to;
	} texts[] = {
		{ "name", &w->schedule.name }, { "queue", &w->schedule.queue },
		{ "spec", &w->schedule.spec }, { "zone", &w->schedule.zone },
		{ "kind", &w->schedule.kind },
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		if (strcmp(texts[i].name, member) == 0)
			return take_text(a, where, member, value, texts[i].to);
	if (strcmp(member, "missed") == 0)
		return take_word(a, where, member, value, missed_words,
				 &w->schedule.missed);
	if (strcmp(member, "overlap") == 0)
		return take_word(a, where, member, value, overlap_words,
				 &w->schedule.overlap);
	if (strcmp(member, "payload") == 0)
		return take_payload(a, where, value, w);
	if (strcmp(member, "headers") == 0)
		return take_headers(a, where, value, w);
	if (strcmp(member, "priority") == 0)
		return take_priority(a, where, value, w);
	return is_for_reading(member)
		       ? 0
		       : refuse(a, where, member, "unknown member");
}

static int
take_schedule(const struct apply *a, size_t number, json_t *object,
	      struct wanted *w)
{
	char where[32];
	const char *name = json_string_value(json_object_get(object, "name"));
	const char *member;
	json_t *value;
	int status = 0;

	*w = (struct wanted){ .schedule = RP_SCHEDULE_INIT };
	snprintf(where, sizeof(where), "schedule %zu", number + 1);
	if (!json_is_object(object))
		return refuse(a, where, "array", "expected objects");
	json_object_foreach(object, member, value)
	{
		status = take_member(a, name ? name : where, member, value, w);
		if (status)
			return status;
	}
	if (!w->schedule.name || !w->schedule.queue || !w->schedule.spec)
		return refuse(a, name ? name : where, "object",
			      "expected name, queue and spec");
	return 0;
}

static json_t *
read_file(const struct apply *a)
{
	json_error_t error;
	size_t flags = JSON_REJECT_DUPLICATES;
	json_t *array = strcmp(a->file, "-") == 0
				? json_loadf(stdin, flags, &error)
				: json_load_file(a->file, flags, &error);

	if (!array)
		complain(USAGE, "%s: %s: line %d: %s", a->cmd->name, a->file,
			 error.line, error.text);
	else if (!json_is_array(array))
		complain(USAGE, "%s: %s: expected an array of schedules",
			 a->cmd->name, a->file);
	if (json_is_array(array))
		return array;
	json_decref(array);
	return NULL;
}

/* ---- the changes ---- */

static int
differs(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) != 0 : a != b;
}

/* Headers may be written in several ways. */
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

/* List the members in which the two schedules differ; "" if they are equal. */
static void
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

static int
say(const struct apply *a, const char *name, const char *result,
    const char *what)
{
	if (a->json) {
		const struct member members[] = {
			{ "name", json_text(name) },
			{ "result", json_text(result) },
			{ "changes", json_text(*what ? what : NULL) },
		};

		return print_json(JSON_MEMBERS(members));
	}
	printf("%s %s%s%s\n", result, name, *what ? ": " : "", what);
	return 0;
}

static const rp_schedule *
find(const rp_schedules *list, const char *name)
{
	for (size_t i = 0; name && i < rp_schedules_count(list); i++)
		if (strcmp(rp_schedules_at(list, i)->name, name) == 0)
			return rp_schedules_at(list, i);
	return NULL;
}

static int
set_one(struct apply *a, const rp_schedule *wanted)
{
	const rp_schedule *old = find(a->before, wanted->name);
	char what[128] = "";
	int r;

	if (old)
		list_changes(what, sizeof(what), old, wanted);
	if (old && !*what) {
		a->same++;
		return 0;
	}
	r = rp_schedule_set(a->cmd->conn, wanted, 1);
	if (r < 0)
		return complain(status_of(r), "%s: %s: %.128s: %s",
				a->cmd->name, a->file, wanted->name,
				rp_last_error(a->cmd->conn)->message);
	*(old ? &a->changed : &a->added) += 1;
	return say(a, wanted->name, old ? "changed" : "added", what);
}

static int
is_in(const json_t *array, const char *name, size_t before)
{
	size_t i;
	json_t *object;

	json_array_foreach(array, i, object)
	{
		const char *its =
			json_string_value(json_object_get(object, "name"));

		if (i < before && its && strcmp(its, name) == 0)
			return 1;
	}
	return 0;
}

static int
change_all(struct apply *a, const json_t *array)
{
	size_t n = json_array_size(array);
	int status = 0, r;

	for (size_t i = 0; i < n && !status; i++) {
		struct wanted w;

		status = take_schedule(a, i, json_array_get(array, i), &w);
		if (!status && is_in(array, w.schedule.name, i))
			status = refuse(a, w.schedule.name, "name",
					"there are two of this name");
		if (!status)
			status = set_one(a, &w.schedule);
		clear(&w);
	}
	for (size_t i = 0; i < rp_schedules_count(a->before) && !status; i++) {
		const char *name = rp_schedules_at(a->before, i)->name;

		if (is_in(array, name, n))
			continue;
		r = rp_schedule_remove(a->cmd->conn, name);
		status = r < 0 ? cmd_failed(a->cmd, r)
			       : say(a, name, "removed", "");
		a->removed++;
	}
	return status;
}

static int
apply(struct apply *a, const json_t *array)
{
	int r = rp_begin(a->cmd->conn), status;

	if (r == 0)
		r = rp_schedule_list(a->cmd->conn, NULL, &a->before);
	if (r < 0)
		return cmd_failed(a->cmd, r);
	status = change_all(a, array);
	rp_schedules_free(a->before);
	if (status || a->dry_run)
		rp_rollback(a->cmd->conn);
	else
		r = rp_commit(a->cmd->conn);
	if (status || r < 0)
		return status ? status : cmd_failed(a->cmd, r);
	if (!a->json)
		printf("%lld added, %lld changed, %lld removed, %lld "
		       "unchanged%s\n",
		       (long long)a->added, (long long)a->changed,
		       (long long)a->removed, (long long)a->same,
		       a->dry_run ? " (dry run: nothing was done)" : "");
	return DONE;
}

int
cmd_cron_apply(struct cmd *cmd, int argc, char **argv)
{
	struct apply a = { .cmd = cmd };
	const struct option options[] = {
		{ "--dry-run", FLAG, &a.dry_run, NULL,
		  "say what would be done, and do nothing" },
		JSON_OPTION(&a.json),
		OPTIONS_END,
	};
	int status = parse_options(cmd, &argc, argv, options);
	json_t *array;

	if (status)
		return status;
	if (argc != 1)
		return usage(cmd, "which FILE? (- is standard input)");
	a.file = argv[0];
	array = read_file(&a);
	if (!array)
		return USAGE;
	status = cmd_open(cmd);
	if (!status)
		status = apply(&a, array);
	json_decref(array);
	return status;
}
