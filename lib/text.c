/*
 * text.c - names and texts from outside: are they fit to be stored?
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Bytes of the UTF-8 character at `s`, of which `left` bytes are there; 0 if it
 * is none. (RFC 3629: no overlong forms, no surrogates, nothing over 10FFFF.)
 */
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

/* A queue's name, a kind, a key: 1..max bytes of UTF-8, no control characters.
 */
int
rp__check_name(rp_error *error, const char *what, const char *name, size_t max)
{
	size_t n = name ? strnlen(name, max + 1) : 0;

	if (n == 0)
		return rp__fail(error, RP_EINVAL, "%s is missing", what);
	if (n > max)
		return rp__fail(error, RP_EINVAL, "%s is longer than %zu bytes",
				what, max);
	if (!rp__utf8(name, n))
		return rp__fail(error, RP_EINVAL, "%s is not UTF-8", what);
	for (size_t i = 0; i < n; i++)
		if ((unsigned char)name[i] < 0x20 || name[i] == 0x7f)
			return rp__fail(error, RP_EINVAL,
					"%s has a control character", what);
	return 0;
}

/* Copy as much of `text` as `room` bytes and a NUL hold, in whole characters;
 * bytes that are not UTF-8 become '?'. Returns the length. */
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

struct rp_value
rp__text(const char *text)
{
	struct rp_value value = { .type = RP_NULL };

	if (text) {
		value.type = RP_TEXT;
		value.data = text;
		value.size = strlen(text);
	}
	return value;
}

/* Names as a list: open, "a","b", close. JSON's, and that of a server's array,
 * for they have no control characters in them. To be freed. */
char *
rp__list(const char *const *texts, char open, char close)
{
	size_t room = 3, used = 0;
	char *list;

	for (size_t i = 0; texts && texts[i]; i++)
		room += 2 * strlen(texts[i]) + 3;
	list = malloc(room);
	if (!list)
		return NULL;
	list[used++] = open;
	for (size_t i = 0; texts && texts[i]; i++) {
		if (i)
			list[used++] = ',';
		list[used++] = '"';
		for (const char *s = texts[i]; *s; s++) {
			if (*s == '"' || *s == '\\')
				list[used++] = '\\';
			list[used++] = *s;
		}
		list[used++] = '"';
	}
	list[used++] = close;
	list[used] = '\0';
	return list;
}
