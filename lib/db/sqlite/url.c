/*
 * url.c - parse the URL of a SQLite file:
 * sqlite:PATH?synchronous=normal&busy=10s
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "sqlite.h"

#include <string.h>

static int
option(struct rp_url *url, const char *name, const char *value,
       rp_error *reterr)
{
	if (strcmp(name, "synchronous") == 0) {
		if (strcmp(value, "full") != 0 && strcmp(value, "normal") != 0)
			return rp__fail(reterr, RP_EINVAL,
					"synchronous=%.40s: use full or normal",
					value);
		url->synchronous = value;
		return 0;
	}
	if (strcmp(name, "busy") == 0) {
		if (rp_duration(value, &url->busy_ms) < 0)
			return rp__fail(
				reterr, RP_EINVAL,
				"busy=%.40s: use a duration, such as 10s",
				value);
		return 0;
	}
	return rp__fail(reterr, RP_EINVAL,
			"no such option in a database URL: %.60s (use"
			" synchronous or busy)",
			name);
}

int
rp__sqlite_read_url(struct rp_url *url, const char *text, rp_error *reterr)
{
	char *path = strchr(strcpy(url->text, text), ':') + 1, *query;

	url->path = path;
	url->is_file = 1;
	query = strpbrk(path, "?#");
	if (query && *query == '#')
		return rp__fail(reterr, RP_EINVAL,
				"the database URL has a #: write %%23 "
				"for a # in a file name");
	if (query)
		*query++ = '\0';
	if (rp__url_unescape(path) < 0)
		return rp__fail(reterr, RP_EINVAL,
				"bad %% escape in the database URL "
				"(a %% is written %%25)");
	if (strncmp(path, "//", 2) == 0 && path[2] && path[2] != '/')
		return rp__fail(reterr, RP_EINVAL,
				"a file has no host: write sqlite:%.80s, or "
				"sqlite:%.80s for a path from the root",
				path + 2, path + 1);
	/* The URL sqlite:///PATH has an empty host before the path. */
	if (strncmp(path, "//", 2) == 0)
		url->path = path += 2;
	if (!*path)
		return rp__fail(reterr, RP_EINVAL,
				"the database URL names no file: write "
				"sqlite:PATH");
	return rp__url_options(url, query, option, reterr);
}
