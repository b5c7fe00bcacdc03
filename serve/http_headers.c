/*
 * http_headers.c - the HTTP headers of a request that say something about the
 * job that it enqueues.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "fields.h"

#include <ctype.h>
#include <string.h>

#define MOST_HEADER 63 /* bytes of the name of a header that is taken */

struct reader {
	struct request *request;
	json_t *job;              /* the members of the job */
	const struct want *wants; /* the members that headers may set; NULL for
				   * a JSON request */
	json_t *headers;          /* the headers of the job */
	int failed;
};

/* Returns the value of a header as the JSON value that the member `want` has in
 * a JSON request. NULL: the text is not UTF-8, or not JSON. */
static json_t *
member_value(const struct want *want, const char *value)
{
	int64_t n;

	if (want->type == WANT_JSON)
		return json_loads(
			value, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, NULL);
	if (want->type == WANT_COUNT && parse_whole(value, &n) == 0)
		return json_integer(n);
	if (want->type == WANT_FLAG &&
	    (strcmp(value, "true") == 0 || strcmp(value, "false") == 0))
		return json_boolean(*value == 't');
	return json_string(value);
}

/* Take a header such as Readpast-Max-Attempts as the member max_attempts of the
 * job. name: the header's name without the prefix Readpast-. */
static void
take_member(struct reader *reader, const char *name, const char *value)
{
	const struct want *want = reader->wants;
	char member[32];
	size_t i = 0;

	for (; name[i] && i + 1 < sizeof(member); i++)
		member[i] = name[i] == '-'
				    ? '_'
				    : (char)tolower((unsigned char)name[i]);
	member[i] = '\0';
	while (want->name && strcmp(want->name, member) != 0)
		want++;
	if (!want->name || strncmp(member, "payload", 7) == 0)
		reader->failed = refuse(reader->request, RP_EINVAL, member,
					"no such header Readpast-%.40s", name);
	else if (json_object_get(reader->job, member))
		reader->failed = refuse(reader->request, RP_EINVAL, member,
					"the header is given twice");
	else if (json_object_set_new(reader->job, member,
				     member_value(want, value)) < 0)
		reader->failed =
			refuse(reader->request, RP_EINVAL, member,
			       "the header is not %s",
			       want->type == WANT_JSON ? "JSON" : "UTF-8");
}

/* Take a header that becomes a header of the job. name: in lower case. */
static void
take_job_header(struct reader *reader, const char *name, const char *value)
{
	json_t *before = json_object_get(reader->headers, name), *text;

	/* A client may split the list in tracestate among several headers. */
	if (before && strcmp(name, "tracestate") == 0)
		text = json_sprintf("%s,%s", json_string_value(before), value);
	else
		text = json_string(value);
	if (before && strcmp(name, "tracestate") != 0)
		reader->failed = refuse(reader->request, RP_EINVAL, name,
					"the header is given twice");
	else if (!text)
		reader->failed = refuse(reader->request, RP_EINVAL, name,
					"the header is not UTF-8");
	else
		json_object_set(reader->headers, name, text);
	json_decref(text);
}

static int
is_of_trace(const char *name)
{
	return strcmp(name, "traceparent") == 0 ||
	       strcmp(name, "tracestate") == 0;
}

static enum MHD_Result
take_header(void *ctx, enum MHD_ValueKind kind, const char *name,
	    const char *value)
{
	static const char own[] = "readpast-";
	struct reader *reader = ctx;
	char lower[MOST_HEADER + 1];
	size_t i = 0;

	(void)kind;
	value = value ? value : "";
	for (; name[i] && i < MOST_HEADER; i++)
		lower[i] = (char)tolower((unsigned char)name[i]);
	lower[i] = '\0';
	/* The headers of a trace become headers of the job. If the body is the
	 * payload, so do the headers of a CloudEvent and the content type. */
	if (is_of_trace(lower))
		take_job_header(reader, lower, value);
	else if (!reader->wants)
		return MHD_YES;
	else if (strncmp(lower, own, strlen(own)) == 0)
		take_member(reader, name + strlen(own), value);
	else if (strncmp(lower, "ce-", 3) == 0 && name[i])
		reader->failed = refuse(reader->request, RP_EINVAL, name,
					"the header's name is longer than %d "
					"bytes",
					MOST_HEADER);
	else if (strncmp(lower, "ce-", 3) == 0 ||
		 strcmp(lower, "content-type") == 0)
		take_job_header(reader, lower, value);
	return reader->failed ? MHD_NO : MHD_YES;
}

int
http_headers_take(struct request *request, json_t *job,
		  const struct want *wants)
{
	struct reader reader = { .request = request,
				 .job = job,
				 .wants = wants };
	json_t *given;

	reader.headers = json_object();
	if (!reader.headers)
		return refuse_memory(request);
	mhd.get_connection_values(request->connection, MHD_HEADER_KIND,
				  take_header, &reader);
	given = json_object_get(job, "headers");
	if (given && !json_is_null(given))
		json_object_update_missing(given, reader.headers);
	else if (json_object_size(reader.headers))
		json_object_set(job, "headers", reader.headers);
	json_decref(reader.headers);
	return reader.failed ? -1 : 0;
}
