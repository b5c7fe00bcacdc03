/*
 * load.c - load a library that only some commands need.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "load.h"

#include <dlfcn.h>
#include <string.h>

#include "cmd.h"

int
library_load(const struct library *library, const char *user, void *ret)
{
	void *loaded = dlopen(library->file, RTLD_LAZY | RTLD_LOCAL);

	if (!loaded) {
		complain(FAILED, "%s needs %s (Debian: apt install %s): %s",
			 user, library->file, library->package, dlerror());
		return -1;
	}
	for (size_t i = 0; i < library->count; i++) {
		const struct function *f = &library->functions[i];
		void *function = dlsym(loaded, f->name);

		if (!function) {
			complain(FAILED, "%s is too old: it has no %s",
				 library->file, f->name);
			return -1;
		}
		memcpy((char *)ret + f->at, &function, sizeof(function));
	}
	return 0;
}
