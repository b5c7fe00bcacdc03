/*
 * url.c - parse a database's URL, and find the kind of database that it names.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "internal.h"

#include <stdlib.h>
#include <string.h>

#include "db/databases.h"

/* Find the database that accepts a text without a scheme, such as libpq's
 * `host=...`. */
static const struct rp_database *
find_by_form(const char *text)
{
	for (const struct rp_database *d = rp__databases; d->title; d++)
		if (d->backend && d->backend->names && d->backend->names(text))
			return d;
	return NULL;
}

/* Find the database that the URL names. Returns NULL on failure, with the
 * message in `reterr`. */
static const struct rp_database *
find_database(const char *text, rp_error *reterr)
{
	size_t scheme = strcspn(text, ":/.?#");
	const struct rp_database *ret = find_by_form(text);
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
			 urls, rp__databases->schemes[0], text);
	return NULL;
}

int
rp__url_parse(const char *text, struct rp_url *ret, rp_error *reterr)
{
	struct rp_url url = { .busy_ms = 10000 };
	char urls[RP_URLS];
	int r;

	if (!text || !*text)
		return rp__fail(reterr, RP_EINVAL,
				"no database was named: use %s",
				rp__database_urls(urls));
	url.database = find_database(text, reterr);
	if (!url.database)
		return RP_EINVAL;
	r = rp__database_check(url.database, reterr);
	if (r < 0)
		return r;
	/* The backend may split the URL into two texts, each with a NUL at its
	 * end, and may add two slashes to one of them. Twice the size is
	 * enough. */
	url.text = malloc(2 * strlen(text) + 2);
	if (!url.text)
		return rp__fail(reterr, RP_ENOMEM, "out of memory");
	r = url.database->backend->read_url(&url, text, reterr);
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
