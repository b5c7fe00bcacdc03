/*
 * load.h - load another library when it is first needed. If the program were
 * linked with such a library, every command would take at least twice as long
 * to start, because the library loads many others.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#ifndef RP_LOAD_H
#define RP_LOAD_H

#include <stddef.h>

/* A library, and the functions of it that we call. */
struct rp_library {
	const char *file;    /* name of the file, with its version */
	const char *package; /* Debian's package */
	const struct rp_function {
		const char *name;
		size_t at; /* offset of its pointer in the table */
	} * functions;
	size_t count;
};

/* Load a library, and store pointers to its functions in `table`. `user` is
 * what needs the library. If the program has already loaded a library of this
 * name, that library is used. It is never unloaded, because some libraries use
 * OpenSSL, which does not support unloading. Returns 0, or -1 if the library
 * cannot be loaded or lacks a function. Then `why` has the reason, as one line.
 */
int rp__load(const struct rp_library *library, const char *user, void *table,
	     char *why, size_t size);

#endif
