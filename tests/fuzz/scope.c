/*
 * scope.c - fuzz the parser of a token's scopes, and what they allow.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "fuzz.h"

#include <stdio.h>

#include "tokens.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = text_of(data, size), other[RP_MOST_NAME + 16];
	struct scope scope;
	struct token token = { .scopes = &scope, .count = 1 };

	if (scope_parse(text, &scope) == 0) {
		must(scope.may >= MAY_READ && scope.may <= MAY_ADMIN);
		must(scope.queue >= text && scope.queue <= text + size);
		snprintf(other, sizeof(other), "%sx", scope.queue);
		/* A scope allows what its text names, and no other queue. */
		if (!scope.is_prefix) {
			must(token_may(&token, scope.may, scope.queue));
			must(!token_may(&token, scope.may, other));
			must(!token_may(&token, scope.may, NULL));
		}
		if (scope.may != MAY_ADMIN)
			must(!token_may(&token, MAY_ADMIN, "queue"));
	}
	free(text);
	return 0;
}
