/*
 * curl.c - load libcurl.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "curl.h"

#include "cmd.h"
#include "load.h"

static const struct function functions[] = {
#define FUNCTION(type, name, parameters)                                       \
	{ "curl_" #name, offsetof(struct libcurl, name) },
	CURL_FUNCTIONS(FUNCTION)
#undef FUNCTION
};

static const struct library libcurl = {
	.file = "libcurl.so.4",
	.package = "libcurl4",
	.functions = functions,
	.count = sizeof(functions) / sizeof(*functions),
};

int
libcurl_load(struct libcurl *ret)
{
	if (library_load(&libcurl, "work --post", ret) < 0)
		return -1;
	if (ret->global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK)
		return 0;
	complain(FAILED, "libcurl cannot be initialised");
	return -1;
}
