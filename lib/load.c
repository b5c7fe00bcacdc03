/*
 * load.c - load another library when it is first needed.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "load.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

int
rp__load(const struct rp_library *library, const char *user, void *table,
	 char *why, size_t size)
{
	void *loaded = dlopen(library->file, RTLD_LAZY | RTLD_LOCAL);
	void *function;

	if (!loaded) {
		snprintf(why, size, "%s needs %s (Debian: apt install %s): %s",
			 user, library->file, library->package, dlerror());
		return -1;
	}
	for (size_t i = 0; i < library->count; i++) {
		const struct rp_function *f = &library->functions[i];

		function = dlsym(loaded, f->name);
		if (!function) {
			snprintf(why, size, "%s is too old: it has no %s",
				 library->file, f->name);
			return -1;
		}
		memcpy((char *)table + f->at, &function, sizeof(function));
	}
	return 0;
}
