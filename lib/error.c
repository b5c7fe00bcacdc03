/*
 * error.c - the words of every failure.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "internal.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char *
rp_error_text(int code)
{
	switch (code) {
#define WORDS(name, number, outcome, text)                                     \
	case number:                                                           \
		return text;
		RP_ERRORS(WORDS)
#undef WORDS
	default:
		return code < 0 ? "unknown error" : "no error";
	}
}

const char *
rp_version(void)
{
	return RP_VERSION;
}

/* Fill in `error` (if there is one) and return `code`. */
int
rp__fail(rp_error *error, int code, const char *format, ...)
{
	va_list args;

	if (!error)
		return code;
	memset(error, 0, sizeof(*error));
	error->code = code;
	va_start(args, format);
	vsnprintf(error->message, sizeof(error->message), format, args);
	va_end(args);
	return code;
}
