/*
 * trace.h - pass a trace (W3C Trace Context and Baggage) from the environment
 * of `enqueue` to the environment of a handler; see trace.c.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#ifndef TRACE_H
#define TRACE_H

#include "cmd.h"

#define TRACES 3

/* Returns 1 if the environment has a trace: variables such as TRACEPARENT,
 * which connect a job with the request that enqueued it. */
int trace_is_set(void);
/* Add the environment's trace to the headers, unless the headers have a trace
 * already. Returns 0, or a negative number if memory ran out. */
int trace_add(json_t *headers);
/* Read the trace from a job's headers, and write it to `ret` as environment
 * variables NAME=VALUE for the job's handler. Returns the number of these
 * variables. The caller frees each text. A value that is too long or not
 * printable ASCII is left out. */
size_t trace_variables(const char *headers, char *ret[TRACES]);
/* Returns 1 if the text NAME=VALUE is a variable of a trace (TRACEPARENT,
 * TRACESTATE or BAGGAGE). */
int trace_is_variable(const char *variable);

#endif
