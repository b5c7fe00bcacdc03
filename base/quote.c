/*
 * quote.c - quote a text for a shell, so that a message can contain a command
 * that users paste into a terminal.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "quote.h"

#include <stdio.h>
#include <string.h>

static int
is_plain(const char *text)
{
	return *text && text[strspn(text, "abcdefghijklmnopqrstuvwxyz"
					  "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
					  "0123456789._/@:+-")] == '\0';
}

const char *
shell_word(char *to, size_t room, const char *text)
{
	char *at = to, *end = to + room;

	if (is_plain(text)) {
		snprintf(to, room, "%s", text);
		return to;
	}
	/* Between single quotes only the single quote has a meaning. */
	at += snprintf(at, (size_t)(end - at), "'");
	for (; *text && end - at >= 6; text++)
		at += snprintf(at, (size_t)(end - at), "%s%.1s",
			       *text == '\'' ? "'\\'" : "", text);
	snprintf(at, (size_t)(end - at), "'");
	return to;
}
