/*
 * url.c - which database a URL names, and what is alike in the URLs of several.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "internal.h"

#include <stdlib.h>
#include <string.h>

#include "db/databases.h"

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

int
rp__url_unescape(char *text)
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

int
rp__url_options(struct rp_url *url, char *text, rp_url_option_fn *option,
		rp_error *reterr)
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
		if (rp__url_unescape(value) < 0)
			return rp__fail(reterr, RP_EINVAL,
					"bad %% escape in the database URL");
		r = option(url, text, value, reterr);
		if (r < 0)
			return r;
	}
	return 0;
}

/* Some databases have a way of their own to be named, without a scheme. */
static const struct rp_backend *
find_by_form(const char *text)
{
	for (size_t i = 0; rp__databases[i]; i++)
		if (rp__databases[i]->names && rp__databases[i]->names(text))
			return rp__databases[i];
	return NULL;
}

/* NULL: failed, and said why. */
static const struct rp_backend *
find_backend(const char *text, rp_error *reterr)
{
	size_t scheme = strcspn(text, ":/.?#");
	const struct rp_backend *ret = find_by_form(text);
	char urls[RP_URLS];

	if (!ret && text[scheme] == ':')
		ret = rp__database_find(text, scheme);
	if (ret)
		return ret;
	rp__database_urls(urls);
	if (text[scheme] == ':')
		rp__fail(reterr, RP_EINVAL,
			 "unknown database scheme \"%.*s\": use %s",
			 scheme > 40 ? 40 : (int)scheme, text, urls);
	else
		rp__fail(reterr, RP_EINVAL,
			 "a database is named by a URL, %s: did you mean "
			 "%s:%.100s?",
			 urls, rp__databases[0]->schemes[0], text);
	return NULL;
}

int
rp__url_parse(const char *text, struct rp_url *ret, rp_error *reterr)
{
	struct rp_url url = { .busy_ms = 10000 };
	char urls[RP_URLS];
	int r;

	if (!text || !*text)
		return rp__fail(reterr, RP_EINVAL, "no database named: use %s",
				rp__database_urls(urls));
	url.backend = find_backend(text, reterr);
	if (!url.backend)
		return RP_EINVAL;
	/* Where a backend copies it, in parts, each ends with a NUL. */
	url.text = malloc(2 * strlen(text) + 2);
	if (!url.text)
		return rp__fail(reterr, RP_ENOMEM, "out of memory");
	r = url.backend->read_url(&url, text, reterr);
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
