/*
 * trace.h - see trace.c.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#ifndef TRACE_H
#define TRACE_H

#include "cmd.h"

#define TRACES 3

/* Does the environment have a trace? */
int trace_is_set(void);
/* Add the environment's trace to the headers that do not have one yet. 0, or
 * less: out of memory. */
int trace_add(json_t *headers);
/* Make the variables of a handler from its job's headers: up to TRACES texts,
 * which the caller frees. Values that are not one printable line are left out.
 * Returns their number. */
size_t trace_variables(const char *headers, char *ret[TRACES]);
/* Is it, with its value, one of these variables? */
int trace_is_variable(const char *variable);

#endif
