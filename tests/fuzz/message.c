/*
 * message.c - check for all fuzz targets that a message about invalid input can
 * be printed safely.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "fuzz.h"

#include "internal.h"

void
must_be_a_message(const rp_error *error, int code)
{
	size_t n = strnlen(error->message, sizeof(error->message));

	must(error->code == code);
	must(n > 0 && n < sizeof(error->message));
	must(rp__utf8(error->message, n));
	for (size_t i = 0; i < n; i++)
		must((unsigned char)error->message[i] >= 0x20);
}
