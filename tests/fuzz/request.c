/*
 * request.c - check what the parsers of the HTTP server answer.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "request.h"

#include "fuzz.h"

void
must_be_refused(const struct request *request, int status)
{
	const struct answer *a = &request->answer;
	json_t *problem;

	must(a->status == status);
	must(strcmp(a->type, "application/problem+json") == 0);
	problem = json_loadb(a->bytes, a->size, JSON_REJECT_DUPLICATES, NULL);
	must(json_integer_value(json_object_get(problem, "status")) == status);
	must(json_string_length(json_object_get(problem, "detail")) > 0);
	json_decref(problem);
}

void
forget_request(struct request *request)
{
	answer_clear(&request->answer);
	free(request->decoded);
	json_decref(request->json);
}
