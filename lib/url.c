/*
 * url.c - sqlite:PATH?synchronous=normal&busy=10s, postgres://...?schema=NAME
 *
 * Of a server's URL only our own option is ours: it is taken out, and libpq
 * reads the rest, which may also be its `host=... dbname=...`.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "internal.h"

#include <stdlib.h>
#include <string.h>

static int
hex(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

/* Undo %XX in place. 0, or -1: not two hex digits, or a NUL. */
static int
unescape(char *text)
{
	char *to = text;

	for (char *s = text; *s; s++) {
		if (*s != '%') {
			*to++ = *s;
			continue;
		}
		if (hex(s[1]) < 0 || hex(s[2]) < 0 ||
		    (s[1] == '0' && s[2] == '0'))
			return -1;
		*to++ = (char)(hex(s[1]) * 16 + hex(s[2]));
		s += 2;
	}
	*to = '\0';
	return 0;
}

static int
option(struct rp_url *url, const char *name, const char *value,
       rp_error *reterr)
{
	if (strcmp(name, "synchronous") == 0) {
		if (strcmp(value, "full") != 0 && strcmp(value, "normal") != 0)
			return rp__fail(reterr, RP_EINVAL,
					"synchronous=%.40s: full or normal",
					value);
		url->synchronous = value;
		return 0;
	}
	if (strcmp(name, "busy") == 0) {
		if (rp_duration(value, &url->busy_ms) < 0)
			return rp__fail(reterr, RP_EINVAL,
					"busy=%.40s: a duration, such as 10s",
					value);
		return 0;
	}
	return rp__fail(reterr, RP_EINVAL,
			"no such option in a database URL: %.60s "
			"(there are synchronous and busy)",
			name);
}

/* NAME=VALUE&NAME=VALUE, cut up in place. */
static int
options(struct rp_url *url, char *text, rp_error *reterr)
{
	for (char *next; text && *text; text = next) {
		char *value;
		int r;

		next = strchr(text, '&');
		if (next)
			*next++ = '\0';
		value = strchr(text, '=');
		if (!value)
			return rp__fail(reterr, RP_EINVAL,
					"%.60s: options are NAME=VALUE", text);
		*value++ = '\0';
		if (unescape(value) < 0)
			return rp__fail(reterr, RP_EINVAL,
					"bad %% escape in the database URL");
		r = option(url, text, value, reterr);
		if (r < 0)
			return r;
	}
	return 0;
}

static int
parse(struct rp_url *url, rp_error *reterr)
{
	char *colon = strchr(url->text, ':');
	char *query;

	if (!colon || strcspn(url->text, "/.") < (size_t)(colon - url->text))
		return rp__fail(reterr, RP_EINVAL,
				"the database is named by a URL: sqlite:%.150s",
				url->text);
	*colon = '\0';
	url->scheme = url->text;
	url->path = colon + 1;
	query = strpbrk(colon + 1, "?#");
	if (query && *query == '#')
		return rp__fail(reterr, RP_EINVAL,
				"a # in a file name is written %%23");
	if (query)
		*query++ = '\0';
	if (unescape(colon + 1) < 0)
		return rp__fail(reterr, RP_EINVAL,
				"bad %% escape in the database URL "
				"(a %% is written %%25)");
	if (!*url->path)
		return rp__fail(reterr, RP_EINVAL,
				"the database URL names no file: sqlite:PATH");
	return options(url, query, reterr);
}

/* An identifier that needs no quotes: it goes into the SQL as it is. */
int
rp__check_schema_name(const char *name, rp_error *reterr)
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

/* Its user and password end at the @, and libpq looks for none behind. */
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

static int
parse_server(struct rp_url *url, const char *text, rp_error *reterr)
{
	if (has_stray_at(text))
		return rp__fail(reterr, RP_EINVAL,
				"in the database URL an @ or a / in a name or "
				"a password is written %%40, %%2F");
	url->text = malloc(2 * strlen(text) + 2);
	if (!url->text)
		return rp__fail(reterr, RP_ENOMEM, "out of memory");
	take_schema(url, text);
	url->scheme = "postgres";
	url->path = url->text;
	return url->schema ? rp__check_schema_name(url->schema, reterr) : 0;
}

/* A URL that libpq knows, or its `host=... dbname=...`. */
static int
is_server(const char *text)
{
	return strncmp(text, "postgres://", 11) == 0 ||
	       strncmp(text, "postgresql://", 13) == 0 ||
	       text[strcspn(text, "=:/?")] == '=';
}

int
rp__url_parse(const char *text, struct rp_url *ret, rp_error *reterr)
{
	struct rp_url url = { .busy_ms = 10000 };
	int r;

	if (!text || !*text)
		return rp__fail(reterr, RP_EINVAL,
				"no database named: sqlite:PATH or "
				"postgres://HOST/DATABASE");
	if (is_server(text)) {
		r = parse_server(&url, text, reterr);
	} else {
		url.text = strdup(text);
		r = url.text ? parse(&url, reterr)
			     : rp__fail(reterr, RP_ENOMEM, "out of memory");
	}
	if (r < 0)
		rp__url_free(&url);
	else
		*ret = url;
	return r;
}

void
rp__url_free(struct rp_url *url)
{
	free(url->text);
	url->text = NULL;
}
