/*
 * databases.h - see databases.c.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#ifndef RP_DATABASES_H
#define RP_DATABASES_H

#include "backend.h"

extern const struct rp_backend *const rp__databases[]; /* ended by a NULL */

/* The one that a scheme names; NULL: none does. */
const struct rp_backend *rp__database_find(const char *scheme, size_t size);

/* How URLs look, for a message. Returns `ret`. */
#define RP_URLS 120
const char *rp__database_urls(char ret[RP_URLS]);

#endif
