/*
 * fuzz.h - any bytes, handed to something that parses.
 *
 * A target is linked with libFuzzer, which makes the bytes up, or with
 * replay.c, which reads those that have been interesting before.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#ifndef FUZZ_H
#define FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "readpast.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What no input may make untrue. */
static inline void
must(int holds)
{
	if (!holds)
		abort();
}

/* The bytes, ended by a NUL. Free it. */
static inline char *
text_of(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);

	must(text != NULL);
	if (size)
		memcpy(text, data, size);
	text[size] = '\0';
	return text;
}

/* One line of UTF-8, and not an empty one. */
void must_be_a_message(const rp_error *error, int code);

#endif
