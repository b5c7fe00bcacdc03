/*
 * doctor.c - run all checks of `readpast doctor`, and write a text for each
 * finding.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "doctor.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"
#include "quote.h"

/* ---- words ---- */

static void
put_span(FILE *to, double ms)
{
	static const struct {
		double factor;
		const char *name;
	} units[] = { { 86400000, "d" },
		      { 3600000, "h" },
		      { 60000, "min" },
		      { 1000, "s" } };
	size_t i = 0;

	while (i < 3 && ms < 2 * units[i].factor)
		i++;
	fprintf(to, "%.*f %s", ms < 10000, ms / units[i].factor, units[i].name);
}

static void
put_size(FILE *to, double bytes)
{
	static const char *const units[] = { "bytes", "KiB", "MiB", "GiB",
					     "TiB" };
	size_t i = 0;

	while (i < 4 && bytes >= 2048) {
		bytes /= 1024;
		i++;
	}
	fprintf(to, "%.0f %s", bytes, units[i]);
}

static int
ends_in(const char *name, const char *end)
{
	size_t n = strlen(name), m = strlen(end);

	return n > m && strcmp(name + n - m, end) == 0;
}

static void
put_value(FILE *to, const json_t *about, const char *name)
{
	const json_t *value = json_object_get(about, name);

	if (json_is_string(value))
		fputs(json_string_value(value), to);
	else if (!json_is_integer(value))
		fputs("-", to);
	else if (ends_in(name, "_ms"))
		put_span(to, (double)json_integer_value(value));
	else if (ends_in(name, "_bytes"))
		put_size(to, (double)json_integer_value(value));
	else
		fprintf(to, "%lld", (long long)json_integer_value(value));
}

/* Write a text quoted for a shell. `is_queue`: it is a queue's name, and is
 * written as the word with which workers serve this queue. */
static void
put_word(FILE *to, const json_t *value, int is_queue)
{
	char word[SHELL_WORD(PATH_MAX)], pattern[RP_PATTERN(RP_MOST_NAME)];
	const char *text =
		json_is_string(value) ? json_string_value(value) : "-";

	if (is_queue)
		text = rp__pattern_escape(pattern, sizeof(pattern), text);
	fputs(shell_word(word, sizeof(word), text), to);
}

/* Write the value that stands for {name}; doctor.h describes the forms of the
 * name. */
static void
put_named(FILE *to, const json_t *about, const char *name)
{
	if (*name == '\'' || *name == '*')
		put_word(to, json_object_get(about, name + 1), *name == '*');
	else
		put_value(to, about, name);
}

/* Replace each {name} in the text by the member of `about` that has this name.
 * Returns NULL if memory is exhausted. */
static json_t *
worded(const char *text, const json_t *about)
{
	char *said = NULL, name[40];
	size_t size = 0;
	FILE *to = open_memstream(&said, &size);
	json_t *ret = NULL;

	if (!to)
		return NULL;
	for (; *text; text++) {
		size_t n = strcspn(text, "}");

		if (*text != '{' || n > sizeof(name)) {
			putc(*text, to);
			continue;
		}
		snprintf(name, sizeof(name), "%.*s", (int)n - 1, text + 1);
		put_named(to, about, name);
		text += n;
	}
	if (fclose(to) == 0)
		ret = json_string(said);
	free(said);
	return ret;
}

/* ---- findings ---- */

static int
add_explained(struct doctor *d, const char *queue)
{
	return json_object_set_new(d->explained, queue, json_true());
}

/* Remember the queues for which a finding explains why jobs wait, so that later
 * findings do not explain the same wait. The finding's row has a column `queue`
 * with the name of one queue, or a column `unserved` with a JSON list of queues
 * that a silent worker served and that no live worker serves. */
static int
explain(struct doctor *d, const json_t *about)
{
	const char *queue = json_string_value(json_object_get(about, "queue"));
	const char *list =
		json_string_value(json_object_get(about, "unserved"));
	json_t *queues = list ? json_loads(list, 0, NULL) : NULL, *each;
	int r = queue ? add_explained(d, queue) : 0;
	size_t i;

	json_array_foreach (queues, i, each)
		if (r == 0)
			r = add_explained(d, json_string_value(each));
	json_decref(queues);
	return r;
}

static int
is_explained(const struct doctor *d, const json_t *about)
{
	const char *queue = json_string_value(json_object_get(about, "queue"));

	return d->blocked || (queue && json_object_get(d->explained, queue));
}

static enum level
level_of(const struct doctor *d, const json_t *about)
{
	const json_t *lasts = json_object_get(about, "lasts_ms");
	enum level level =
		d->check->level == JOBS_WAIT ? TROUBLE : d->check->level;

	return level == TROUBLE && json_is_integer(lasts) &&
			       json_integer_value(lasts) < d->long_ms
		       ? WARNING
		       : level;
}

static int
add_finding(struct doctor *d, json_t *about)
{
	const struct check *c = d->check;
	enum level level = level_of(d, about);

	return json_array_append_new(
		d->findings[level],
		json_pack("{ss ss so so so}", "check", c->name, "level",
			  level_words[level], "finding",
			  worded(c->finding, about), "fix",
			  worded(c->fix, about), "about", about));
}

int
doctor_found(struct doctor *d, json_t *about)
{
	json_t *reason = json_object_get(about, "not_done");
	int r = 0;

	if (json_is_string(reason)) {
		r = doctor_undone(d, "%s", json_string_value(reason));
		json_decref(about);
		return r;
	}
	if (d->check->level == JOBS_WAIT) {
		if (is_explained(d, about)) {
			json_decref(about);
			return 0;
		}
		r = explain(d, about);
	}
	if (r == 0)
		return add_finding(d, about);
	json_decref(about);
	return r;
}

int
doctor_undone(struct doctor *d, const char *format, ...)
{
	char text[400];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	return json_array_append_new(d->undone, json_pack("{ss ss}", "check",
							  d->check->name,
							  "not_done", text));
}

int
doctor_no_file(struct doctor *d)
{
	return doctor_undone(
		d, "the database file was not found or is not accessible");
}

/* ---- run all checks ---- */

/* If the database is a file, find its real path. If the URL is wrong, do
 * nothing: the database was not opened, and the caller reports this. */
static void
locate(struct doctor *d)
{
	struct rp_url url;

	if (rp__url_parse(d->url, &url, NULL) < 0)
		return;
	d->is_file = url.is_file;
	d->path = url.is_file ? realpath(url.path, NULL) : NULL;
	rp__url_free(&url);
}

static int
begin(struct doctor *d)
{
	locate(d);
	d->undone = json_array();
	d->explained = json_object();
	for (int level = 0; level < LEVELS; level++)
		if (!(d->findings[level] = json_array()))
			return -1;
	return d->undone && d->explained ? 0 : -1;
}

static int
ask(struct doctor *d, const char *sql)
{
	json_t *rows = json_array(), *row;
	size_t i;
	int r = rows ? doctor_ask(d, sql, rows) : -1;

	json_array_foreach (rows, i, row)
		if (r == 0)
			r = doctor_found(d, json_incref(row));
	json_decref(rows);
	return r;
}

int
doctor_run(struct doctor *d)
{
	int r = begin(d);

	for (d->check = checks; d->check->name && r == 0; d->check++) {
		const char *sql = doctor_question(d, d->check->name);

		r = d->check->look ? d->check->look(d)
		    : sql          ? ask(d, sql)
				   : DOCTOR_NOT_HERE;
		d->done += r != DOCTOR_NOT_HERE;
		r = r == DOCTOR_NOT_HERE ? 0 : r;
	}
	return r;
}

static const struct check *
find_check(const char *name)
{
	const struct check *c = checks;

	while (strcmp(c->name, name) != 0)
		c++;
	return c;
}

static int
has_found(const struct doctor *d, const char *check)
{
	const json_t *one;
	size_t i;

	for (int level = 0; level < LEVELS; level++)
		json_array_foreach (d->findings[level], i, one)
			if (strcmp(json_string_value(
					   json_object_get(one, "check")),
				   check) == 0)
				return 1;
	return 0;
}

int
doctor_found_too(struct doctor *d, const char *check, json_t *about)
{
	const struct check *now = d->check;
	int r;

	if (has_found(d, check)) {
		json_decref(about);
		return 0;
	}
	d->check = find_check(check);
	r = doctor_found(d, about);
	d->check = now;
	return r;
}

/* Run the checks that need no connection. */
static int
check_from_outside(struct doctor *d)
{
	static const char *const names[] = { "format", "owner", "disk",
					     "lock" };
	int r = 0;

	for (size_t i = 0; i < sizeof(names) / sizeof(*names) && r == 0; i++) {
		d->check = find_check(names[i]);
		r = d->check->look(d);
		d->done++;
	}
	return r;
}

int
doctor_not_opened(struct doctor *d, int code, const rp_error *error)
{
	size_t found = 0;
	int r = begin(d);

	if (r == 0 && d->is_file)
		r = check_from_outside(d);
	if (r == 0 && code == RP_EDAMAGED && !has_found(d, "format"))
		r = doctor_found_too(
			d, "integrity",
			json_pack("{ss}", "problem", error->message));
	if (r == 0 && code == RP_ESCHEMA)
		r = doctor_found_too(
			d, "schema",
			json_pack("{ss}", "message", error->message));
	for (int level = 0; level < LEVELS && r == 0; level++)
		found += json_array_size(d->findings[level]);
	return r < 0 ? r : found > 0;
}

void
doctor_free(struct doctor *d)
{
	for (int level = 0; level < LEVELS; level++)
		json_decref(d->findings[level]);
	json_decref(d->undone);
	json_decref(d->explained);
	free(d->path);
}
