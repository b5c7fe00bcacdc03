/*
 * doctor.c - do all checks, and put what they find into words.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "doctor.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

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

/* The text with what is about it in its {places}. NULL: no memory. */
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
		put_value(to, about, name);
		text += n;
	}
	if (fclose(to) == 0)
		ret = json_string(said);
	free(said);
	return ret;
}

int
doctor_found(struct doctor *d, json_t *about)
{
	const struct check *c = d->check;
	json_t *reason = json_object_get(about, "not_done");
	int r;

	if (json_is_string(reason)) {
		r = doctor_undone(d, "%s", json_string_value(reason));
		json_decref(about);
		return r;
	}
	return json_array_append_new(
		d->findings[c->level],
		json_pack("{ss ss so so so}", "check", c->name, "level",
			  level_words[c->level], "finding",
			  worded(c->finding, about), "fix",
			  worded(c->fix, about), "about", about));
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

/* ---- all of them ---- */

/* Where the file is, if it is one; its URL was good enough to open it. */
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
	for (int level = 0; level < LEVELS; level++)
		if (!(d->findings[level] = json_array()))
			return -1;
	return d->undone ? 0 : -1;
}

static int
ask(struct doctor *d, const char *sql)
{
	json_t *rows = json_array(), *row;
	size_t i;
	int r = rows ? doctor_ask(d, sql, rows) : -1;

	json_array_foreach(rows, i, row) if (r == 0) r =
		doctor_found(d, json_incref(row));
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

static void
choose(struct doctor *d, const char *name)
{
	d->check = checks;
	while (strcmp(d->check->name, name) != 0)
		d->check++;
	d->done++;
}

int
doctor_not_opened(struct doctor *d, int code, const rp_error *error)
{
	int r = begin(d);

	if (r == 0 && d->is_file) {
		choose(d, "owner");
		r = look_owner(d);
	}
	if (r == 0 && (code == RP_ESCHEMA || code == RP_EDAMAGED)) {
		choose(d, "schema");
		r = doctor_found(d,
				 json_pack("{ss}", "message", error->message));
	}
	return r < 0 ? r : json_array_size(d->findings[TROUBLE]) > 0;
}

void
doctor_free(struct doctor *d)
{
	for (int level = 0; level < LEVELS; level++)
		json_decref(d->findings[level]);
	json_decref(d->undone);
	free(d->path);
}
