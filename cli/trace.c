/*
 * trace.c - pass a trace (W3C Trace Context and Baggage) from the environment
 * of `enqueue` to the environment of a handler. The job's headers carry the
 * trace.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "trace.h"

#include <stdlib.h>
#include <string.h>

/* For each part of a trace: its environment variable, its header, and the
 * largest size of its value in bytes. For tracestate and baggage this is the
 * size that the W3C standards require every implementation to support. */
static const struct {
	const char *variable, *header;
	size_t most;
} traces[TRACES] = {
	{ "TRACEPARENT", "traceparent", 128 },
	{ "TRACESTATE", "tracestate", 512 },
	{ "BAGGAGE", "baggage", 8192 },
};

/* Returns NULL, or the reason why a value is not valid. */
static const char *
fault_of(size_t i, const char *value)
{
	for (const char *s = value; *s; s++)
		if (*s < ' ' || *s > '~')
			return "it has a character that is not printable ASCII";
	return strlen(value) > traces[i].most ? "it is too long" : NULL;
}

/* A value that is not valid is left out with a warning. The enqueue continues
 * without it. */
int
trace_add(json_t *headers)
{
	int r = 0;

	for (size_t i = 0; i < TRACES && r == 0; i++) {
		const char *value = getenv(traces[i].variable), *fault;

		if (!value || !*value ||
		    json_object_get(headers, traces[i].header))
			continue;
		fault = fault_of(i, value);
		if (fault)
			complain(0, "%s is not passed on: %s",
				 traces[i].variable, fault);
		else
			r = json_object_set_new(headers, traces[i].header,
						json_string(value));
	}
	return r;
}

int
trace_is_set(void)
{
	for (size_t i = 0; i < TRACES; i++) {
		const char *value = getenv(traces[i].variable);

		if (value && *value)
			return 1;
	}
	return 0;
}

size_t
trace_variables(const char *headers, char *ret[TRACES])
{
	json_t *object = NULL;
	size_t n = 0;

	for (size_t i = 0; headers && !object && i < TRACES; i++)
		if (strstr(headers, traces[i].header))
			object = json_loads(headers, JSON_ALLOW_NUL, NULL);
	for (size_t i = 0; object && i < TRACES; i++) {
		json_t *member = json_object_get(object, traces[i].header);
		const char *value = json_string_value(member);

		if (value && *value && !fault_of(i, value) &&
		    strlen(value) == json_string_length(member) &&
		    asprintf(&ret[n], "%s=%s", traces[i].variable, value) >= 0)
			n++;
	}
	json_decref(object);
	return n;
}

int
trace_is_variable(const char *variable)
{
	for (size_t i = 0; i < TRACES; i++) {
		size_t n = strlen(traces[i].variable);

		if (strncmp(variable, traces[i].variable, n) == 0 &&
		    variable[n] == '=')
			return 1;
	}
	return 0;
}
