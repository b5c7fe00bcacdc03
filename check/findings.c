/*
 * findings.c - count and report the violations of promises that the checks
 * find.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "findings.h"

#include <stdarg.h>

void
findings_add(const struct findings *findings, enum promise promise,
	     const char *format, ...)
{
	char text[700];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	findings->sum->broken[promise]++;
	findings->found(findings->ctx, promise, text);
}
