/*
 * fuzz.h - pass arbitrary bytes to a parser, to find inputs that break it.
 *
 * A fuzz target, the code for one parser, is linked with libFuzzer or with
 * replay.c. libFuzzer generates inputs, and replay.c reads saved inputs.
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

/* Abort unless the condition holds. */
static inline void
must(int holds)
{
	if (!holds)
		abort();
}

/* Return the input as a string that ends with NUL. Free the result. */
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

/* Abort unless the message is a single line of UTF-8, and not empty. */
void must_be_a_message(const rp_error *error, int code);

#endif
