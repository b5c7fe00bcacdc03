/*
 * page.h - the files of the web page, and the description of the API, which are
 * parts of the program; tools/embed_page.py makes the table.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#ifndef PAGE_H
#define PAGE_H

#include <stddef.h>

struct file {
	const char *path, *type, *etag; /* a NULL path ends the table */
	const unsigned char *bytes;
	size_t size;
	const unsigned char *packed; /* compressed by gzip */
	size_t packed_size;
};
extern const struct file files[];

#endif
