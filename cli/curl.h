/*
 * curl.h - libcurl, which is loaded only when a worker needs it, see
 * lib/load.h.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#ifndef READPAST_CURL_H
#define READPAST_CURL_H

#include <curl/curl.h>

/* All functions of libcurl that the program calls, without `curl_`. */
#define CURL_FUNCTIONS(X)                                                      \
	X(easy_cleanup)                                                        \
	X(easy_getinfo)                                                        \
	X(easy_header)                                                         \
	X(easy_init)                                                           \
	X(easy_perform)                                                        \
	X(easy_reset)                                                          \
	X(easy_setopt)                                                         \
	X(easy_strerror)                                                       \
	X(global_init)                                                         \
	X(slist_append)                                                        \
	X(slist_free_all)                                                      \
	X(url)                                                                 \
	X(url_cleanup)                                                         \
	X(url_set)                                                             \
	X(url_strerror)

struct libcurl {
#define POINTER(name) __typeof__(curl_##name) *name;
	CURL_FUNCTIONS(POINTER)
#undef POINTER
};

/* Load libcurl. Returns 0, or -1 after printing an error. */
int libcurl_load(struct libcurl *ret);

#endif
