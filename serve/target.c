/*
 * target.c - split the target of a request into its path and its query.
 *
 * A queue's name in a path is one segment. The path is split into segments
 * before they are decoded, because a name may contain an escaped slash.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "serve.h"

#include <string.h>
#include <strings.h>

#include "internal.h"

/* Decode the escapes %XX of a text in place. Returns 0, or -1 if an escape is
 * wrong, is %00, or the result is not UTF-8. */
static int
decode(char *text)
{
	if (rp__url_unescape(text) < 0)
		return -1;
	return rp__utf8(text, strlen(text)) ? 0 : -1;
}

static int
split_path(struct request *request, char *path)
{
	char *rest = path + 1; /* the path begins with a slash */

	while (rest) {
		char *segment = strsep(&rest, "/");

		if (request->depth == MOST_SEGMENTS)
			return refuse(request, RP_ENOENT, NULL,
				      "the path has too many parts");
		if (decode(segment) < 0)
			return refuse(request, RP_EINVAL, NULL,
				      "the path is not valid: %% must begin "
				      "two hex digits, and the text must be "
				      "UTF-8");
		request->segments[request->depth++] = segment;
	}
	return 0;
}

static int
split_query(struct request *request, char *query)
{
	/* a plus sign stands for a space */
	for (char *s = query; s && (s = strchr(s, '+'));)
		*s = ' ';
	while (query && *query) {
		char *value = strsep(&query, "&");
		char *name = strsep(&value, "=");
		size_t n = request->parameters_count;

		if (!*name && !value) /* nothing between two & */
			continue;
		if (n == MOST_PARAMETERS)
			return refuse(request, RP_EINVAL, NULL,
				      "the query has more than %d parameters",
				      MOST_PARAMETERS);
		if (decode(name) < 0 || (value && decode(value) < 0))
			return refuse(request, RP_EINVAL, NULL,
				      "the query is not valid: %% must begin "
				      "two hex digits, and the text must be "
				      "UTF-8");
		if (parameter(request, name))
			return refuse(request, RP_EINVAL, name,
				      "the parameter is given twice");
		request->parameters[n].name = name;
		request->parameters[n].value = value ? value : "";
		request->parameters_count++;
	}
	return 0;
}

const char *
after_scheme(const char *url)
{
	if (strncasecmp(url, "http://", 7) == 0)
		return url + 7;
	return strncasecmp(url, "https://", 8) == 0 ? url + 8 : NULL;
}

const char *
target_authority(const struct request *request, size_t *ret_size)
{
	const char *authority = after_scheme(request->target);

	*ret_size = authority ? strcspn(authority, "/?") : 0;
	return authority;
}

/* Returns the target without scheme and authority. If it then has no path, its
 * path is "/" (RFC 9110, 4.2.3). */
static char *
without_authority(const struct request *request, char *target)
{
	size_t n;
	const char *authority = target_authority(request, &n);

	if (!authority)
		return target;
	target += (size_t)(authority - request->target) + n;
	if (*target != '/')
		*--target = '/';
	return target;
}

/* Returns the part of the path after the prefix, or NULL if the path does not
 * begin with the prefix. (A proxy may show the server under a prefix.) */
static char *
without_prefix(const struct request *request, char *path)
{
	const char *prefix = request->server->options->prefix;
	size_t n = strlen(prefix);

	if (strncmp(path, prefix, n) != 0 || path[n] != '/')
		return NULL;
	return path + n;
}

/* Redirect a request for the prefix to the same path with a slash at the end,
 * because the links of the web page are relative to that path. */
static int
redirect(struct request *request, const char *query)
{
	char *target;

	if (asprintf(&target, "%s/%s%s", request->server->options->prefix,
		     query ? "?" : "", query ? query : "") < 0)
		return refuse_memory(request);
	answer_bytes(request, 308, "text/plain", target, strlen(target));
	request->answer.location = target;
	return -1;
}

int
target_parse(struct request *request)
{
	char *path, *query;

	request->decoded = strdup(request->target);
	if (!request->decoded)
		return refuse_memory(request);
	query = without_authority(request, request->decoded);
	path = strsep(&query, "?");
	if (*path && strcmp(path, request->server->options->prefix) == 0)
		return redirect(request, query);
	path = without_prefix(request, path);
	if (!path)
		return refuse(request, RP_ENOENT, NULL, "no such path");
	if (split_path(request, path) < 0)
		return -1;
	return split_query(request, query);
}

const char *
parameter(const struct request *request, const char *name)
{
	for (size_t i = 0; i < request->parameters_count; i++)
		if (strcmp(request->parameters[i].name, name) == 0)
			return request->parameters[i].value;
	return NULL;
}

int
check_parameters(struct request *request, const char *const *names)
{
	for (size_t i = 0; i < request->parameters_count; i++) {
		const char *name = request->parameters[i].name;
		size_t n = 0;

		while (names[n] && strcmp(names[n], name) != 0)
			n++;
		if (!names[n])
			return refuse(request, RP_EINVAL, name,
				      "no such parameter");
	}
	return 0;
}
