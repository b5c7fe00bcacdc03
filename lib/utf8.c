/*
 * utf8.c - validate UTF-8, and replace bytes that are not UTF-8.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "internal.h"

#include <string.h>

/* Returns the size of the UTF-8 character at `s`. `left` is the number of bytes
 * from `s` to the end of the text. Returns 0 if the bytes are not valid UTF-8
 * as defined by RFC 3629. (It forbids overlong forms, surrogates and everything
 * over 10FFFF.) */
static size_t
character(const unsigned char *s, size_t left)
{
	unsigned char low = 0x80, high = 0xbf;
	size_t n;

	if (s[0] < 0x80)
		return 1;
	if (s[0] < 0xc2 || s[0] > 0xf4)
		return 0;
	n = s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : 4;
	if (s[0] == 0xe0)
		low = 0xa0;
	else if (s[0] == 0xed)
		high = 0x9f;
	else if (s[0] == 0xf0)
		low = 0x90;
	else if (s[0] == 0xf4)
		high = 0x8f;
	if (left < n || s[1] < low || s[1] > high)
		return 0;
	for (size_t i = 2; i < n; i++)
		if (s[i] < 0x80 || s[i] > 0xbf)
			return 0;
	return n;
}

int
rp__utf8(const void *text, size_t size)
{
	const unsigned char *s = text;

	for (size_t i = 0, n; i < size; i += n)
		if (!(n = character(s + i, size - i)))
			return 0;
	return 1;
}

/* Returns the size of the control character with which a text in UTF-8 begins,
 * or 0 if it begins with another character. The control characters are U+0000
 * to U+001F and U+007F to U+009F. */
size_t
rp__control_size(const char *text)
{
	const unsigned char *s = (const unsigned char *)text;

	if (*s < 0x20 || *s == 0x7f)
		return 1;
	return *s == 0xc2 && s[1] < 0xa0 ? 2 : 0;
}

/* Copy `text` to `to`, which has `room` bytes, and add a NUL. A text that is
 * too long is cut between two characters. Bytes that are not UTF-8 become '?'.
 * Returns the length of the copy. */
size_t
rp__clean(char *to, size_t room, const char *text)
{
	size_t left = strlen(text), used = 0;

	while (left > 0) {
		size_t n = character((const unsigned char *)text, left);
		size_t step = n ? n : 1;

		if (used + step >= room)
			break;
		if (n)
			memcpy(to + used, text, n);
		else
			to[used] = '?';
		used += step;
		text += step;
		left -= step;
	}
	to[used] = '\0';
	return used;
}
