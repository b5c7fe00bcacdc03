/*
 * curl.h - libcurl, which is loaded only when a worker needs it, see load.h.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#ifndef READPAST_CURL_H
#define READPAST_CURL_H

#include <curl/curl.h>

/* The functions of libcurl that we use. Each line has the type of the result,
 * the name without `curl_`, and the parameters. */
#define CURL_FUNCTIONS(F)                                                      \
	F(CURLcode, global_init, (long flags))                                 \
	F(CURL *, easy_init, (void))                                           \
	F(void, easy_reset, (CURL * easy))                                     \
	F(CURLcode, easy_setopt, (CURL * easy, CURLoption option, ...))        \
	F(CURLcode, easy_perform, (CURL * easy))                               \
	F(CURLcode, easy_getinfo, (CURL * easy, CURLINFO info, ...))           \
	F(void, easy_cleanup, (CURL * easy))                                   \
	F(const char *, easy_strerror, (CURLcode code))                        \
	F(struct curl_slist *, slist_append,                                   \
	  (struct curl_slist * list, const char *text))                        \
	F(void, slist_free_all, (struct curl_slist * list))

struct libcurl {
#define MEMBER(type, name, parameters) type(*name) parameters;
	CURL_FUNCTIONS(MEMBER)
#undef MEMBER
};

/* Load libcurl. Returns 0, or -1 after printing an error. */
int libcurl_load(struct libcurl *ret);

#endif
