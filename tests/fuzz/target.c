/*
 * target.c - fuzz the parser of the path and the query of a request.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "fuzz.h"

#include "internal.h"
#include "request.h"

static void
check(const struct request *request)
{
	static const char *const none[] = { NULL };

	must(request->depth > 0 && request->depth <= MOST_SEGMENTS);
	for (size_t i = 0; i < request->depth; i++)
		must(rp__utf8(request->segments[i],
			      strlen(request->segments[i])));
	must(request->parameters_count <= MOST_PARAMETERS);
	for (size_t i = 0; i < request->parameters_count; i++) {
		const struct parameter *p = &request->parameters[i];

		must(rp__utf8(p->name, strlen(p->name)));
		must(rp__utf8(p->value, strlen(p->value)));
		must(parameter(request, p->name) == p->value);
	}
	if (request->parameters_count) {
		struct request copy = *request;

		must(check_parameters(&copy, none) < 0);
		must_be_refused(&copy, 400);
		answer_clear(&copy.answer);
	}
}

static void
parse(char *text, const char *prefix)
{
	struct options options = { .prefix = prefix };
	struct server server = { .options = &options };
	struct request request = { .server = &server, .target = text };

	if (target_parse(&request) == 0) {
		must(request.answer.status == 0);
		check(&request);
	} else if (request.answer.status != 308) {
		must_be_refused(&request,
				request.answer.status == 404 ? 404 : 400);
	}
	forget_request(&request);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = text_of(data, size);

	parse(text, "");
	parse(text, "/my/queue");
	free(text);
	return 0;
}
