/*
 * url_text.c - parse the parts that the URLs of several databases have in
 * common, and escape a path for a URL.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "internal.h"

#include <stdio.h>
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

char *
rp__url_escape(char *to, const char *path)
{
	for (; *path; path++)
		to += sprintf(to, strchr("%?#", *path) ? "%%%02X" : "%c",
			      (unsigned char)*path);
	return to;
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
					"bad option %.60s in the database URL: "
					"write NAME=VALUE",
					text);
		*value++ = '\0';
		if (rp__url_unescape(value) < 0)
			return rp__fail(reterr, RP_EINVAL,
					"bad %% escape in the database URL "
					"(a %% is written %%25)");
		r = option(url, text, value, reterr);
		if (r < 0)
			return r;
	}
	return 0;
}
