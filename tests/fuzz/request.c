/*
 * request.c - what the parsers of the HTTP server call to refuse a request.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "request.h"

#include <stdarg.h>

#include "fuzz.h"

int
refuse(struct request *request, int code, const char *field, const char *format,
       ...)
{
	char text[1024];
	va_list args;
	int n;

	must(code == RP_EINVAL || code == RP_ENOENT);
	must(!field || strlen(field) < SIZE_MAX);
	va_start(args, format);
	n = vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	must(n > 0);
	/* A request is refused once. */
	must(request->answer.status == 0);
	request->answer.status = code == RP_ENOENT ? 404 : 400;
	return -1;
}

void
answer_bytes(struct request *request, int status, const char *type, char *bytes,
	     size_t size)
{
	must(status == 308 && type && bytes && strlen(bytes) == size);
	must(request->answer.status == 0);
	request->answer.status = status;
	request->answer.bytes = bytes;
}

int
status_of_answer(const struct request *request)
{
	return request->answer.status;
}

void
forget_request(struct request *request)
{
	free(request->answer.bytes);
	free(request->decoded);
	json_decref(request->json);
}
