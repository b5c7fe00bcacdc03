/*
 * url.c - postgres://...?schema=NAME
 *
 * Only the option `schema` is ours: it is taken out, and libpq reads the rest,
 * which may also be its `host=... dbname=...`.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "postgres.h"

#include <string.h>

/* An identifier that needs no quotes: it goes into the SQL as it is. */
int
rp__postgres_check_name(const char *name, rp_error *reterr)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz_";
	size_t n = strlen(name);

	if (n > 0 && n < 64 && strchr(letters, *name) &&
	    strspn(name, "abcdefghijklmnopqrstuvwxyz_0123456789") == n)
		return 0;
	return rp__fail(reterr, RP_EINVAL,
			"schema=%.60s: small letters, digits and _, 63 at most",
			name);
}

/* Copy the URL without our option; that goes behind it. The room is enough. */
static void
take_schema(struct rp_url *url, const char *text)
{
	size_t before = strcspn(text, "?");
	char *to = mempcpy(url->text, text, before);
	char *schema = url->text + strlen(text) + 1;
	char mark = '?';

	for (text += before; *text;) {
		size_t n = strcspn(++text, "&");

		if (n >= 7 && strncmp(text, "schema=", 7) == 0) {
			*(char *)mempcpy(schema, text + 7, n - 7) = '\0';
			url->schema = schema;
		} else {
			*to++ = mark;
			to = mempcpy(to, text, n);
			mark = '&';
		}
		text += n;
	}
	*to = '\0';
}

/* The user and the password end at the @, and libpq looks for none behind. */
static int
has_stray_at(const char *text)
{
	const char *s = strstr(text, "://"), *at;
	size_t n;

	if (!s)
		return 0;
	n = strcspn(s + 3, "?");
	at = memchr(s + 3, '@', n);
	return at && (at > s + 3 + strcspn(s + 3, "/") ||
		      memchr(at + 1, '@', n - (size_t)(at + 1 - (s + 3))));
}

int
rp__postgres_read_url(struct rp_url *url, const char *text, rp_error *reterr)
{
	if (has_stray_at(text))
		return rp__fail(reterr, RP_EINVAL,
				"in the database URL an @ or a / in a name or "
				"a password is written %%40, %%2F");
	take_schema(url, text);
	url->path = url->text;
	return url->schema ? rp__postgres_check_name(url->schema, reterr) : 0;
}

/* libpq's `host=... dbname=...` */
int
rp__postgres_names(const char *text)
{
	return text[strcspn(text, "=:/?")] == '=';
}
