/*
 * load.h - load a library that only some commands need. If readpast were linked
 * with such a library, every command would take several times as long to start.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#ifndef READPAST_LOAD_H
#define READPAST_LOAD_H

#include <stddef.h>

/* A library, and the functions of it that we use. */
struct library {
	const char *file;    /* the name of the file, with its version */
	const char *package; /* Debian's package */
	const struct function {
		const char *name;
		size_t at; /* where library_load() stores the pointer: an offset
			    * in the caller's struct */
	} * functions;
	size_t count;
};

/* Load the library and store pointers to its functions in `ret`. `user` is what
 * needs the library, for messages. The library stays loaded. Returns 0, or -1
 * after printing an error. */
int library_load(const struct library *library, const char *user, void *ret);

#endif
