/*
 * curl.c - load libcurl.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "curl.h"

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

#include "cmd.h"

#define LIBCURL "libcurl.so.4"

static const struct {
	const char *name;
	size_t at; /* offset in struct libcurl */
} functions[] = {
#define FUNCTION(type, name, parameters)                                       \
	{ "curl_" #name, offsetof(struct libcurl, name) },
	CURL_FUNCTIONS(FUNCTION)
#undef FUNCTION
};

/* The library stays loaded, because OpenSSL does not support unloading. */
int
libcurl_load(struct libcurl *ret)
{
	void *library = dlopen(LIBCURL, RTLD_LAZY | RTLD_LOCAL);

	if (!library) {
		complain(FAILED,
			 "work --post needs " LIBCURL
			 " (Debian: apt install libcurl4): %s",
			 dlerror());
		return -1;
	}
	for (size_t i = 0; i < sizeof(functions) / sizeof(*functions); i++) {
		void *function = dlsym(library, functions[i].name);

		if (!function) {
			complain(FAILED, LIBCURL " is too old: it has no %s",
				 functions[i].name);
			return -1;
		}
		memcpy((char *)ret + functions[i].at, &function,
		       sizeof(function));
	}
	if (ret->global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK)
		return 0;
	complain(FAILED, "libcurl cannot be initialised");
	return -1;
}
