/*
 * url.c - parse the URL of a PostgreSQL server: postgres://...?schema=NAME
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 *
 * The option `schema` is readpast's own. It is removed, and libpq parses the
 * rest, which may also have the form `host=... dbname=...`.
 */
#include "postgres.h"

#include <string.h>

/* The longest schema name, in bytes. A notification channel is named SCHEMA.ID,
 * where ID is a worker's id of up to 19 digits, and PostgreSQL allows 63 bytes
 * for the name of a channel. */
enum { MOST_SCHEMA = 43 };

/* Check that the name needs no quotes, because our SQL does not quote it. */
int
rp__postgres_check_name(const char *name, rp_error *reterr)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz_";
	size_t n = strlen(name);

	if (n > 0 && n <= MOST_SCHEMA && strchr(letters, *name) &&
	    strspn(name, "abcdefghijklmnopqrstuvwxyz_0123456789") == n)
		return 0;
	return rp__fail(reterr, RP_EINVAL,
			"schema=%.60s: use at most %d lower-case letters, "
			"digits and _, and no digit at the start",
			name, MOST_SCHEMA);
}

/* Returns 1 if the URL has only a scheme and options. Then libpq's defaults,
 * for example the variable PGHOST, name the database. */
static int
is_only_scheme(const char *text)
{
	size_t n = strcspn(text, "=:/?");

	return text[n] == ':' && (!text[n + 1] || text[n + 1] == '?');
}

/* Copy the URL without the option `schema`, and then the value of that option.
 * url->text has room for both. */
static void
take_schema(struct rp_url *url, const char *text)
{
	size_t before = strcspn(text, "?");
	char *to = mempcpy(url->text, text, before);
	char *schema = url->text + strlen(text) + 1;
	char mark = '?';

	/* libpq accepts a URL only if two slashes follow the scheme. */
	if (is_only_scheme(text))
		to = mempcpy(to, "//", 2);
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

/* Returns 1 if a user name or password has an @ or / that should have been
 * escaped. libpq would take the rest of the password for a part of the host or
 * database, and print it in error messages. */
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
	const char *colon = strchr(text, ':');

	if (!rp__postgres_names(text) && !is_only_scheme(text) &&
	    strncmp(colon, "://", 3) != 0)
		return rp__fail(reterr, RP_EINVAL,
				"%.80s: write postgres://HOST/DATABASE, or "
				"postgres:///DATABASE for a server on this "
				"host",
				text);
	if (has_stray_at(text))
		return rp__fail(reterr, RP_EINVAL,
				"in a database URL, write an @ or / of a name"
				" or password as %%40 or %%2F");
	take_schema(url, text);
	url->path = url->text;
	return url->schema ? rp__postgres_check_name(url->schema, reterr) : 0;
}

/* Returns 1 if the text has libpq's form `host=... dbname=...`. */
int
rp__postgres_names(const char *text)
{
	return text[strcspn(text, "=:/?")] == '=';
}
