/*
 * schedule_file.c - read schedules from a file. The file is a JSON array of
 * objects, in the form that `cron list --json` prints.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "schedules.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "schedule.h"

/* ---- the members of one schedule ---- */

/* Print an error about one member of a schedule. `where` is the schedule's
 * name, or its number. */
static int
refuse(const struct schedule_file *f, const char *where, const char *member,
       const char *why)
{
	return complain(USAGE, "%s: %s: %.128s: %s: %s", f->cmd->name, f->path,
			where, member, why);
}

static int
take_text(const struct schedule_file *f, const char *where, const char *member,
	  const json_t *value, const char **ret)
{
	if (json_is_null(value))
		return 0;
	if (!json_is_string(value) ||
	    strlen(json_string_value(value)) != json_string_length(value))
		return refuse(f, where, member, "expected a string");
	*ret = json_string_value(value);
	return 0;
}

static int
take_word(const struct schedule_file *f, const char *where, const char *member,
	  const json_t *value, const char *const *words, int *ret)
{
	const char *word = json_string_value(value);
	int i = word ? rp__word_index(words, word) : -1;

	if (i < 0)
		return refuse(f, where, member,
			      words == rp__missed_words
				      ? "expected once, all or skip"
				      : "expected allow or skip");
	*ret = i;
	return 0;
}

/* Take a payload. If the value is a string, its text is the payload. If not,
 * the payload is the value as JSON. */
static int
take_payload(const struct schedule_file *f, const char *where, json_t *value,
	     struct wanted *w)
{
	size_t size = json_string_length(value);

	if (w->payload)
		return refuse(f, where, "payload",
			      "the payload is given twice");
	w->payload =
		json_is_string(value) ? malloc(size + 1) : json_compact(value);
	if (!w->payload)
		return refuse(f, where, "payload", "out of memory");
	if (json_is_string(value))
		memcpy(w->payload, json_string_value(value), size + 1);
	w->schedule.payload = w->payload;
	w->schedule.payload_size =
		json_is_string(value) ? size : strlen(w->payload);
	return 0;
}

/* Take a payload in base64. `cron list --json` prints payloads in this form if
 * they are not text. */
static int
take_base64(const struct schedule_file *f, const char *where,
	    const json_t *value, struct wanted *w)
{
	const char *text = json_string_value(value);
	size_t size = json_string_length(value);

	if (w->payload)
		return refuse(f, where, "payload_base64",
			      "the payload is given twice");
	w->payload = malloc(size + 1);
	if (!w->payload)
		return refuse(f, where, "payload_base64", "out of memory");
	if (!text || decode_base64(text, size, w->payload, &size) < 0)
		return refuse(f, where, "payload_base64",
			      "expected a string in base64");
	w->schedule.payload = w->payload;
	w->schedule.payload_size = size;
	return 0;
}

static int
take_headers(const struct schedule_file *f, const char *where,
	     const json_t *value, struct wanted *w)
{
	if (json_is_null(value))
		return 0;
	if (!json_is_object(value))
		return refuse(f, where, "headers", "expected an object");
	w->headers = json_compact((json_t *)value);
	w->schedule.headers = w->headers;
	return w->headers ? 0 : refuse(f, where, "headers", "out of memory");
}

static int
take_priority(const struct schedule_file *f, const char *where,
	      const json_t *value, struct wanted *w)
{
	json_int_t n = json_integer_value(value);

	if (json_is_null(value))
		return 0;
	if (!json_is_integer(value) || n < 0 || n > RP_MOST_PRIORITY)
		return refuse(f, where, "priority", "expected " PRIORITIES);
	w->schedule.priority = (int)n;
	return 0;
}

/* Return whether `cron list` prints this member although it is not a
 * setting. */
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
take_member(const struct schedule_file *f, const char *where,
	    const char *member, json_t *value, struct wanted *w)
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
			return take_text(f, where, member, value, texts[i].to);
	if (strcmp(member, "missed") == 0)
		return take_word(f, where, member, value, rp__missed_words,
				 &w->schedule.missed);
	if (strcmp(member, "overlap") == 0)
		return take_word(f, where, member, value, rp__overlap_words,
				 &w->schedule.overlap);
	if (strcmp(member, "payload") == 0)
		return take_payload(f, where, value, w);
	if (strcmp(member, "payload_base64") == 0)
		return take_base64(f, where, value, w);
	if (strcmp(member, "headers") == 0)
		return take_headers(f, where, value, w);
	if (strcmp(member, "priority") == 0)
		return take_priority(f, where, value, w);
	return is_for_reading(member)
		       ? 0
		       : refuse(f, where, member, "unknown member");
}

/* Write the schedule's name, or its number in the file if it has no name. */
static void
name_schedule(char *to, size_t room, const json_t *object, size_t number)
{
	const char *name = json_string_value(json_object_get(object, "name"));

	if (name)
		snprintf(to, room, "%s", name);
	else
		snprintf(to, room, "schedule %zu", number + 1);
}

/* Check a schedule that was read from the file. `number` is how many schedules
 * precede this one in the file. */
static int
check_taken(const struct schedule_file *f, const char *where,
	    const rp_schedule *schedule, size_t number)
{
	rp_error error;

	if (!schedule->name || !schedule->queue || !schedule->spec)
		return refuse(f, where, "object",
			      "expected name, queue and spec");
	for (size_t i = 0; i < number; i++)
		if (strcmp(f->wanted[i].schedule.name, schedule->name) == 0)
			return refuse(f, where, "name",
				      "two schedules have this name");
	if (check_schedule(schedule, &error) < 0)
		return complain(status_of(error.code), "%s: %s: %.128s: %s",
				f->cmd->name, f->path, where, error.message);
	return 0;
}

static int
take_schedule(const struct schedule_file *f, size_t number)
{
	const json_t *object = json_array_get(f->array, number);
	struct wanted *w = &f->wanted[number];
	char where[RP_MOST_NAME + 1];
	const char *member;
	json_t *value;
	int status = 0;

	w->schedule = (rp_schedule)RP_SCHEDULE_INIT;
	name_schedule(where, sizeof(where), object, number);
	if (!json_is_object(object))
		return refuse(f, where, "array", "expected objects");
	json_object_foreach ((json_t *)object, member, value) {
		status = take_member(f, where, member, value, w);
		if (status)
			return status;
	}
	return check_taken(f, where, &w->schedule, number);
}

/* ---- the file ---- */

static int
is_standard(const struct schedule_file *f)
{
	return strcmp(f->path, "-") == 0;
}

static int
cannot_read(const struct schedule_file *f, int errnum)
{
	return complain(USAGE, "%s: cannot read %s: %s", f->cmd->name,
			is_standard(f) ? "standard input" : f->path,
			strerror(errnum));
}

/* Parse the file. Returns 0, or an exit status after printing an error. */
static int
parse(struct schedule_file *f, FILE *from)
{
	json_error_t error;
	int errnum;

	f->array = json_loadf(from, JSON_REJECT_DUPLICATES, &error);
	errnum = errno;
	if (ferror(from))
		return cannot_read(f, errnum);
	if (!f->array)
		return complain(USAGE, "%s: %s: line %d: %s", f->cmd->name,
				f->path, error.line, error.text);
	if (!json_is_array(f->array))
		return complain(USAGE, "%s: %s: expected an array of schedules",
				f->cmd->name, f->path);
	return 0;
}

static int
load(struct schedule_file *f)
{
	FILE *from = is_standard(f) ? stdin : fopen(f->path, "re");
	int status = from ? parse(f, from) : cannot_read(f, errno);

	if (from && from != stdin)
		fclose(from);
	return status;
}

int
read_schedules(struct schedule_file *f)
{
	size_t n;
	int status = load(f);

	if (status)
		return status;
	n = json_array_size(f->array);
	f->wanted = calloc(n + 1, sizeof(*f->wanted));
	if (!f->wanted)
		return complain(FAILED, "out of memory");
	for (; f->count < n && !status; f->count++)
		status = take_schedule(f, f->count);
	return status;
}

void
free_schedules(struct schedule_file *f)
{
	for (size_t i = 0; i < f->count; i++) {
		free(f->wanted[i].payload);
		free(f->wanted[i].headers);
	}
	free(f->wanted);
	json_decref(f->array);
}
