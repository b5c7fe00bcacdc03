/*
 * pattern.c - match names of queues against shell-like patterns. fnmatch() is
 * not used, because it depends on the locale.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "internal.h"

#include <string.h>

static const char *
next_character(const char *s)
{
	do
		s++;
	while (((unsigned char)*s & 0xC0) == 0x80);
	return s;
}

/* Returns the character with which the pattern begins, without the backslash
 * that may precede it. */
static const char *
literal(const char *pattern)
{
	return *pattern == '\\' && pattern[1] ? pattern + 1 : pattern;
}

int
rp__pattern_matches(const char *pattern, const char *name)
{
	const char *star = NULL, *retry = NULL;

	while (*name) {
		if (*pattern == '*') {
			star = ++pattern;
			retry = name;
		} else if (*pattern == '?') {
			pattern++;
			name = next_character(name);
		} else if (*literal(pattern) == *name) {
			pattern = literal(pattern) + 1;
			name++;
		} else if (star) {
			/* Let the last star take one more character. */
			pattern = star;
			name = retry = next_character(retry);
		} else {
			return 0;
		}
	}
	while (*pattern == '*')
		pattern++;
	return !*pattern;
}

int
rp__is_pattern(const char *word)
{
	for (; *word; word = literal(word) + 1)
		if (*word == '*' || *word == '?')
			return 1;
	return 0;
}

void
rp__pattern_unescape(char *word)
{
	char *to = word;

	if (!strpbrk(word, "*?"))
		return;
	for (const char *from = word; *from;) {
		const char *c = literal(from);

		from = c + 1;
		*to++ = *c;
	}
	*to = '\0';
}

const char *
rp__pattern_escape(char *to, size_t room, const char *name)
{
	const char *special = strpbrk(name, "*?") ? "*?\\" : "";
	size_t n = 0;

	for (; *name && n + 2 < room; name++) {
		if (strchr(special, *name))
			to[n++] = '\\';
		to[n++] = *name;
	}
	to[n] = '\0';
	return to;
}
