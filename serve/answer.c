/*
 * answer.c - answers, and errors as `application/problem+json` (RFC 9457).
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "serve.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

/* The HTTP status and the problem type for each error of the library. */
static const struct {
	int code, status;
	const char *type;
	int retry; /* 1: the same request may succeed later */
} errors[] = {
	{ RP_EINVAL, 400, "invalid", 0 },
	{ RP_ENOMEM, 503, "out-of-memory", 1 },
	{ RP_EBUSY, 503, "busy", 1 },
	{ RP_ELOST, 502, "lost", 1 },
	{ RP_EGONE, 409, "gone", 0 },
	{ RP_ESCHEMA, 500, "schema", 0 },
	{ RP_EDB, 500, "database", 0 },
	{ RP_ECANCELLED, 409, "cancelled", 0 },
	{ RP_ENOENT, 404, "not-found", 0 },
	{ RP_EFBIG, 413, "too-large", 0 },
	{ RP_EREADONLY, 403, "read-only", 0 },
	{ RP_ENODB, 502, "no-database", 1 },
	{ RP_EFULL, 507, "full", 1 },
	{ RP_ETAKEN, 409, "taken", 0 },
	{ RP_EDAMAGED, 500, "damaged", 0 },
};
#define ERRORS (sizeof(errors) / sizeof(*errors))

#define PROBLEM "application/problem+json"

void
answer_clear(struct answer *answer)
{
	if (!answer->is_static)
		free(answer->bytes);
	free(answer->cookie);
	*answer = (struct answer){ 0 };
}

void
answer_bytes(struct request *request, int status, const char *type, char *bytes,
	     size_t size)
{
	/* The request may have had its effect before memory ran out. */
	static char no_memory[] =
		"{\"type\":\"urn:readpast:error:out-of-memory\",\"status\":503,"
		"\"detail\":\"out of memory\",\"outcome\":\"unknown\","
		"\"retry\":true}\n";

	answer_clear(&request->answer);
	request->stage = STAGE_ANSWER;
	request->answer.status = bytes ? status : 503;
	request->answer.type = bytes ? type : PROBLEM;
	request->answer.bytes = bytes ? bytes : no_memory;
	request->answer.is_static = !bytes;
	request->answer.size = bytes ? size : strlen(no_memory);
	request->answer.retry_after_s = !bytes;
}

void
answer_text(struct request *request, int status, const char *type, char *text)
{
	size_t n = text ? strlen(text) : 0;
	char *line = text ? realloc(text, n + 2) : NULL;

	if (line)
		memcpy(line + n, "\n", 2);
	else
		free(text);
	answer_bytes(request, status, type, line, n + 1);
}

static void
answer_typed(struct request *request, int status, const char *type,
	     json_t *object)
{
	char *text = object ? json_compact(object) : NULL;

	json_decref(object);
	answer_text(request, status, type, text);
}

void
answer_json(struct request *request, int status, json_t *object)
{
	answer_typed(request, status, "application/json", object);
}

static size_t
find_error(int code)
{
	size_t i = 0;

	while (i + 1 < ERRORS && errors[i].code != code)
		i++;
	return i;
}

static json_t *
problem_json(int code, int status, const char *type, const char *detail,
	     const char *field, int unknown)
{
	const int retry = code ? errors[find_error(code)].retry : 0;
	char name[64], clean[1024];
	json_t *object;

	/* A detail may quote bytes of the request. jansson refuses bytes that
	 * are not UTF-8, so replace them. */
	rp__clean(clean, sizeof(clean), detail);
	snprintf(name, sizeof(name), "urn:readpast:error:%s", type);
	object = json_pack("{s:s, s:i, s:s, s:s, s:b}", "type", name, "status",
			   status, "detail", clean, "outcome",
			   unknown ? "unknown" : "none", "retry", retry);
	if (field) {
		rp__clean(clean, sizeof(clean), field);
		json_object_set_new(object, "field", json_string(clean));
	}
	return object;
}

static int
answer_problem(struct request *request, int code, const char *detail,
	       const char *field, int unknown)
{
	size_t i = find_error(code);
	json_t *object = problem_json(code, errors[i].status, errors[i].type,
				      detail, field, unknown);

	if (request->id)
		json_object_set_new(object, "job", json_integer(request->id));
	answer_typed(request, errors[i].status, PROBLEM, object);
	if (errors[i].status == 503)
		request->answer.retry_after_s = 1;
	return -1;
}

int
refuse(struct request *request, int code, const char *field, const char *format,
       ...)
{
	char text[512], named[700];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	snprintf(named, sizeof(named), "%.160s%s%s", field ? field : "",
		 field ? ": " : "", text);
	return answer_problem(request, code, named, field, 0);
}

int
refuse_gone(struct request *request)
{
	return refuse_status(request, 408, "client-gone",
			     "the client has closed the connection");
}

int
refuse_memory(struct request *request)
{
	return refuse(request, RP_ENOMEM, NULL, "out of memory");
}

int
refuse_status(struct request *request, int status, const char *type,
	      const char *format, ...)
{
	char text[512];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	answer_typed(request, status, PROBLEM,
		     problem_json(status == 503 ? RP_EBUSY : 0, status, type,
				  text, NULL, 0));
	if (status == 503)
		request->answer.retry_after_s = 1;
	return -1;
}

int
is_lock_timeout(int code, const rp_error *error)
{
	return code == RP_EBUSY && strcmp(error->sqlstate, "55P03") == 0;
}

static const char *
text_of(int code, const rp_error *error)
{
	if (is_lock_timeout(code, error))
		return "another transaction has locked a row that this "
		       "request needs; try again";
	return *error->message ? error->message : rp_error_text(code);
}

static int
refuse_as(struct request *request, int code, const rp_error *error,
	  const char *field, int unknown)
{
	return answer_problem(request, code, text_of(code, error), field,
			      unknown);
}

int
refuse_error(struct request *request, int code, const rp_error *error)
{
	return refuse_as(request, code, error, NULL, code == RP_ELOST);
}

int
refuse_partly(struct request *request, int code, const rp_error *error,
	      int64_t most)
{
	char text[512];

	snprintf(text, sizeof(text),
		 "%s; before this, up to %lld jobs were changed",
		 text_of(code, error), (long long)most);
	return answer_problem(request, code, text, NULL, 1);
}

int
refuse_undone(struct request *request, int code, const rp_error *error,
	      const char *field)
{
	const char *why = strchr(error->message, ':');

	/* The library says that the outcome of a lost connection is unknown. */
	if (code == RP_ELOST)
		return refuse(request, code, field,
			      "connection lost, nothing was changed%s",
			      why ? why : "");
	return refuse_as(request, code, error, field, 0);
}
