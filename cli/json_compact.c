/*
 * json_compact.c - write JSON without white space, and numbers with as few
 * digits as they need.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "cmd.h"

#include <stdio.h>
#include <stdlib.h>

/* Returns how many digits the real numbers in the value need. 17 digits are
 * always enough, but they make 0.10000000000000001 of 0.1. */
static int
digits_of(json_t *value)
{
	int most = 15;
	const char *name;
	json_t *one;
	size_t i;

	json_object_foreach (value, name, one) {
		int digits = digits_of(one);

		most = digits > most ? digits : most;
	}
	json_array_foreach (value, i, one) {
		int digits = digits_of(one);

		most = digits > most ? digits : most;
	}
	for (; json_is_real(value) && most < 17; most++) {
		char text[32];

		snprintf(text, sizeof(text), "%.*g", most,
			 json_real_value(value));
		if (strtod(text, NULL) == json_real_value(value))
			break;
	}
	return most;
}

char *
json_compact(json_t *value)
{
	return json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY |
					 JSON_REAL_PRECISION(digits_of(value)));
}
