/*
 * text.c - check names before they are stored, and make text parameters for the
 * database.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "internal.h"

#include <stdlib.h>
#include <string.h>

/* Check a queue's name, a kind or a key. The name must have 1 to max bytes of
 * UTF-8, without control characters. The error message begins with `what`. */
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
		if (rp__control_size(name + i))
			return rp__fail(error, RP_EINVAL,
					"%s has a control character", what);
	return 0;
}

int
rp__check_queue(rp_error *error, const char *name)
{
	return rp__check_name(error, "the queue's name", name, RP_MOST_NAME);
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

struct rp_value
rp__blob(const void *bytes, size_t size)
{
	return (struct rp_value){ .type = RP_BLOB,
				  .data = bytes,
				  .size = size };
}

/* Join names to a list: `open`, "a","b", `close`. With brackets the list is
 * JSON, with braces it is a PostgreSQL array literal. Both formats escape
 * quotes and backslashes in the same way. Control characters, which only JSON
 * would escape, do not occur in names. The caller frees the list. NULL: out of
 * memory. */
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
