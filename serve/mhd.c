/*
 * mhd.c - load libmicrohttpd.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "mhd.h"

#include "cmd.h"
#include "load.h"

struct libmicrohttpd mhd;

static const struct rp_function functions[] = {
#define FUNCTION(name) { "MHD_" #name, offsetof(struct libmicrohttpd, name) },
	MHD_FUNCTIONS(FUNCTION)
#undef FUNCTION
};

static const struct rp_library libmicrohttpd = {
	.file = "libmicrohttpd.so.12",
	.package = "libmicrohttpd12",
	.functions = functions,
	.count = sizeof(functions) / sizeof(*functions),
};

int
mhd_load(const char *user)
{
	char why[256];

	if (rp__load(&libmicrohttpd, user, &mhd, why, sizeof(why)) == 0)
		return 0;
	complain(FAILED, "%s", why);
	return -1;
}
