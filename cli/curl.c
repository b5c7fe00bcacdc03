/*
 * curl.c - load libcurl.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "curl.h"

#include "cmd.h"
#include "load.h"

static const struct rp_function functions[] = {
#define FUNCTION(name) { "curl_" #name, offsetof(struct libcurl, name) },
	CURL_FUNCTIONS(FUNCTION)
#undef FUNCTION
};

static const struct rp_library libcurl = {
	.file = "libcurl.so.4",
	.package = "libcurl4",
	.functions = functions,
	.count = sizeof(functions) / sizeof(*functions),
};

int
libcurl_load(struct libcurl *ret)
{
	char why[256];

	if (rp__load(&libcurl, "work --post", ret, why, sizeof(why)) < 0) {
		complain(FAILED, "%s", why);
		return -1;
	}
	if (ret->global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK)
		return 0;
	complain(FAILED, "libcurl cannot be initialised");
	return -1;
}
