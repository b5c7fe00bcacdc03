/*
 * mhd.c - load libmicrohttpd.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "mhd.h"

#include "load.h"

struct libmicrohttpd mhd;

static const struct function functions[] = {
#define FUNCTION(type, name, parameters)                                       \
	{ "MHD_" #name, offsetof(struct libmicrohttpd, name) },
	MHD_FUNCTIONS(FUNCTION)
#undef FUNCTION
};

static const struct library libmicrohttpd = {
	.file = "libmicrohttpd.so.12",
	.package = "libmicrohttpd12",
	.functions = functions,
	.count = sizeof(functions) / sizeof(*functions),
};

int
mhd_load(const char *user)
{
	return library_load(&libmicrohttpd, user, &mhd);
}
