/*
 * url.c - fuzz the parser of database URLs.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "fuzz.h"

#include "internal.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = text_of(data, size);
	struct rp_url url = { .text = NULL };
	rp_error error;
	int r = rp__url_parse(text, &url, &error);

	if (r < 0) {
		/* RP_EDB: this build does not support the URL's kind of
		 * database. */
		must((r == RP_EINVAL || r == RP_EDB) && !url.text);
		must_be_a_message(&error, r);
	} else {
		/* The path may be longer than the input by two bytes, because
		 * `postgres:` becomes `postgres://`. */
		must(*url.path && strlen(url.path) <= size + 2);
		must(url.busy_ms >= 0);
		rp__url_free(&url);
	}
	free(text);
	return 0;
}
