/*
 * error.c - fill in an rp_error, and return the text of an error number.
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

/* Fill in `error`, which may be NULL, and return `code`. Invalid UTF-8 and
 * control characters are replaced, because the message may quote text of any
 * origin. So the message is always one line of UTF-8. */
int
rp__fail(rp_error *error, int code, const char *format, ...)
{
	char message[sizeof(error->message)];
	va_list args;

	if (!error)
		return code;
	va_start(args, format);
	vsnprintf(message, sizeof(message), format, args);
	va_end(args);
	memset(error, 0, sizeof(*error));
	error->code = code;
	error->item = -1;
	rp__clean(error->message, sizeof(error->message), message);
	for (char *s = error->message; *s; s++)
		memset(s, '?', rp__control_size(s));
	return code;
}
