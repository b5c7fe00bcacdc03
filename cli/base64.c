/*
 * base64.c - convert bytes to base64 text, as RFC 4648 defines it, and back.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "cmd.h"

#include <stdlib.h>
#include <string.h>

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmn"
			     "opqrstuvwxyz0123456789+/";

char *
encode_base64(const void *data, size_t size)
{
	const unsigned char *from = data;
	char *text = malloc((size + 2) / 3 * 4 + 1), *to = text;

	if (!text)
		return NULL;
	for (size_t i = 0; i < size; i += 3) {
		unsigned b = (unsigned)from[i] << 16;

		b |= i + 1 < size ? (unsigned)from[i + 1] << 8 : 0;
		b |= i + 2 < size ? (unsigned)from[i + 2] : 0;
		*to++ = digits[b >> 18];
		*to++ = digits[b >> 12 & 63];
		*to++ = i + 1 < size ? digits[b >> 6 & 63] : '=';
		*to++ = i + 2 < size ? digits[b & 63] : '=';
	}
	*to = '\0';
	return text;
}

int
decode_base64(const char *text, size_t size, char *to, size_t *ret)
{
	size_t pads = 0, n = 0;
	unsigned bits = 0;

	while (pads < 2 && pads < size && text[size - pads - 1] == '=')
		pads++;
	if (size % 4)
		return -1;
	for (size_t i = 0; i < size - pads; i++) {
		const char *digit = text[i] ? strchr(digits, text[i]) : NULL;

		if (!digit)
			return -1;
		bits = bits << 6 | (unsigned)(digit - digits);
		if (i % 4)
			to[n++] = (char)(bits >> (6 - i % 4 * 2) & 255);
	}
	*ret = n;
	return 0;
}
