/*
 * fields.c - read the members of JSON objects into structs. Every member must
 * be known and have the right type and size.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "fields.h"

#include <string.h>

#include "handlers.h"
#include "internal.h"

/* ---- one value ---- */

static int
read_text(struct request *request, const json_t *value, const char *field,
	  const struct want *want, const char **to)
{
	const char *text = json_string_value(value);
	size_t size = json_string_length(value);
	rp_error error;

	if (!text)
		return refuse(request, RP_EINVAL, field, "expected a text");
	if (strlen(text) != size)
		return refuse(request, RP_EINVAL, field,
			      "the text has a NUL character");
	if ((int64_t)size < want->least || (int64_t)size > want->most)
		return refuse(
			request, RP_EINVAL, field,
			"expected %lld to %lld bytes, but the text has %zu",
			(long long)want->least, (long long)want->most, size);
	if (want->type == WANT_NAME && size &&
	    rp__check_name(&error, "the text", text, size) < 0)
		return refuse(request, RP_EINVAL, field, "%s", error.message);
	*to = text;
	return 0;
}

static int
check_range(struct request *request, const char *field, const struct want *want,
	    int64_t n, int64_t *to)
{
	char least[40], most[40];

	if (n >= want->least && n <= want->most) {
		*to = n;
		return 0;
	}
	if (want->type == WANT_DURATION) {
		print_duration(least, sizeof(least), want->least);
		print_duration(most, sizeof(most), want->most);
	} else {
		snprintf(least, sizeof(least), "%lld", (long long)want->least);
		snprintf(most, sizeof(most), "%lld", (long long)want->most);
	}
	return refuse(request, RP_EINVAL, field, "expected %s to %s", least,
		      most);
}

static int
read_count(struct request *request, const json_t *value, const char *field,
	   const struct want *want, int64_t *to)
{
	if (!json_is_integer(value))
		return refuse(request, RP_EINVAL, field,
			      "expected a whole number");
	return check_range(request, field, want, json_integer_value(value), to);
}

static int
read_limit(struct request *request, const json_t *value, const char *field,
	   const struct want *want, int64_t *to)
{
	const char *text = json_string_value(value);

	if (json_is_null(value) || (text && strcmp(text, "none") == 0)) {
		*to = 0;
		return 0;
	}
	if (!json_is_integer(value) || json_integer_value(value) < 1 ||
	    json_integer_value(value) > want->most)
		return refuse(request, RP_EINVAL, field,
			      "expected 1 to %lld, or null for no limit",
			      (long long)want->most);
	*to = json_integer_value(value);
	return 0;
}

/* Read a time, a duration or a size. A string has the form that the command
 * line accepts. */
static int
read_parsed(struct request *request, const json_t *value, const char *field,
	    const struct want *want, int64_t *to)
{
	static const struct {
		int (*parse)(const char *, int64_t *);
		const char *expected;
	} types[] = {
		{ parse_time,
		  "a time with a zone such as \"2026-01-31T18:00:00Z\"" },
		{ rp_duration, "a duration of up to 3650d, such as \"500ms\", "
			       "\"90s\", \"5m\", \"2h\" or \"7d\"" },
		{ parse_size, "a number, or a size such as \"64KiB\"" },
	};
	/* the index in `types` */
	int type = want->type == WANT_SIZE ? 2 : want->type == WANT_DURATION;
	const char *text = json_string_value(value);
	int64_t n;
	int r;

	if (want->type == WANT_SIZE && json_is_integer(value))
		return read_count(request, value, field, want, to);
	r = text && strlen(text) == json_string_length(value)
		    ? types[type].parse(text, &n)
		    : -1;
	if (r < 0 && want->type == WANT_TIME && time_problem(r))
		return refuse(request, RP_EINVAL, field, "%s", time_problem(r));
	if (r < 0)
		return refuse(request, RP_EINVAL, field, "expected %s",
			      types[type].expected);
	return check_range(request, field, want, n, to);
}

static int
read_flag(struct request *request, const json_t *value, const char *field,
	  int *to)
{
	if (!json_is_boolean(value))
		return refuse(request, RP_EINVAL, field,
			      "expected true or false");
	*to = json_is_true(value);
	return 0;
}

int
field_read(struct request *request, json_t *value, const char *field,
	   const struct want *want, void *to)
{
	switch (want->type) {
	case WANT_TEXT:
	case WANT_NAME:
		return read_text(request, value, field, want, to);
	case WANT_COUNT:
		return read_count(request, value, field, want, to);
	case WANT_LIMIT:
		return read_limit(request, value, field, want, to);
	case WANT_FLAG:
		return read_flag(request, value, field, to);
	case WANT_JSON:
	case WANT_VALUE:
		*(json_t **)to = value;
		return 0;
	default:
		return read_parsed(request, value, field, want, to);
	}
}

/* ---- objects ---- */

static const struct want *
find_want(const struct want *wants, const char *name)
{
	while (wants->name && strcmp(wants->name, name) != 0)
		wants++;
	return wants->name ? wants : NULL;
}

void
member_path(char to[FIELD_PATH], const char *where, const char *member)
{
	snprintf(to, FIELD_PATH, "%s%s%s", where, *where ? "." : "", member);
}

int
fields_read(struct request *request, json_t *object, const char *where,
	    const struct want *wants, void *to)
{
	const char *name;
	json_t *value;

	if (!json_is_object(object))
		return refuse(request, RP_EINVAL, *where ? where : NULL,
			      "expected an object");
	json_object_foreach (object, name, value) {
		const struct want *want = find_want(wants, name);
		char field[FIELD_PATH], cut[101];

		rp__clean(cut, sizeof(cut), name);
		member_path(field, where, cut);
		if (!want)
			return refuse(request, RP_EINVAL, field,
				      "unknown field");
		if (json_is_null(value) && want->type != WANT_VALUE &&
		    want->type != WANT_LIMIT)
			continue;
		if (field_read(request, value, field, want,
			       (char *)to + want->offset) < 0)
			return -1;
	}
	return 0;
}

int
refuse_member(struct request *request, const char *where, const char *member,
	      const char *why)
{
	char field[FIELD_PATH];

	member_path(field, where, member);
	return refuse(request, RP_EINVAL, field, "%s", why);
}

/* ---- the body ---- */

int
body_parse(struct request *request)
{
	json_error_t error;

	request->json = json_loadb(
		request->body ? request->body : "", request->body_size,
		JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &error);
	if (!request->json)
		return refuse(request, RP_EINVAL, "body",
			      "line %d, column %d: %s", error.line,
			      error.column, error.text);
	if (!json_is_object(request->json))
		return refuse(request, RP_EINVAL, "body",
			      "expected a JSON object");
	return 0;
}

int
body_parse_optional(struct request *request)
{
	if (request->body_size)
		return body_parse(request);
	request->json = json_object();
	return request->json ? 0 : refuse_memory(request);
}

int
no_members(struct request *request)
{
	static const struct want wants[] = { WANTS_END };

	return fields_read(request, request->json, "", wants, NULL);
}

/* ---- parameters ---- */

#define MOST_LISTED 200

int
limit_read(struct request *request)
{
	const char *text = parameter(request, "limit");

	request->limit = LISTED;
	if (!text || (parse_whole(text, &request->limit) == 0 &&
		      request->limit >= 1 && request->limit <= MOST_LISTED))
		return 0;
	return refuse(request, RP_EINVAL, "limit", "expected 1 to %d",
		      MOST_LISTED);
}

int
nothing_prepare(struct request *request)
{
	static const char *const none[] = { NULL };

	return check_parameters(request, none);
}

int
empty_body_prepare(struct request *request)
{
	if (nothing_prepare(request) < 0 || body_parse_optional(request) < 0)
		return -1;
	return no_members(request);
}
