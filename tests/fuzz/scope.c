/*
 * scope.c - fuzz the lists of scopes that make a token, and what they allow
 * when the token is read from the database.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "fuzz.h"

#include <stdio.h>

#include "internal.h"
#include "tokens.h"

#define KEY "0123456789abcdef"
#define SECRET KEY KEY KEY KEY

/* The linker option --wrap lets this function replace rp__token_list(). `conn`
 * is not a connection: it points to the only token of the list. */
int __wrap_rp__token_list(rp_conn *conn, rp_token_fn *token, void *ctx);

int
__wrap_rp__token_list(rp_conn *conn, rp_token_fn *token, void *ctx)
{
	return token(ctx, (const struct rp_token *)(void *)conn);
}

/* Check that a scope allows the queue that its text names, and no other
 * queue. */
static void
one_scope(const char *text)
{
	char other[RP_MOST_NAME + 16];
	struct scope scope;
	struct token token = { .scopes = &scope, .count = 1 };

	must(scope_parse(text, &scope) == 0);
	must(scope.may >= MAY_READ && scope.may <= MAY_ADMIN);
	must(scope.queue > text && scope.queue < text + strlen(text));
	snprintf(other, sizeof(other), "%sx", scope.queue);
	if (!scope.is_prefix) {
		must(token_may(&token, scope.may, scope.queue));
		must(!token_may(&token, scope.may, other));
		must(!token_may(&token, scope.may, NULL));
	}
	if (scope.may != MAY_ADMIN)
		must(!token_may(&token, MAY_ADMIN, "queue"));
}

/* Read a token with these scopes, as a server does. */
static void
read_token(const char *text, const json_t *scopes)
{
	static const char secret[] = "rp_" KEY "_" SECRET;
	unsigned char hash[HASH_SIZE];
	struct rp_token row = { "name", KEY, text, hash, HASH_SIZE, 0 };
	struct tokens tokens = { .count = 0 };
	struct token *token;
	int is_unknown;

	pthread_mutex_init(&tokens.lock, NULL);
	hash_of(secret, strlen(secret), hash);
	must(tokens_read(&tokens, (rp_conn *)(void *)&row) == 0);
	token = tokens_find(&tokens, secret, &is_unknown);
	must(token && !is_unknown);
	must(!scopes || token->count == json_array_size(scopes));
	for (size_t i = 0; i < token->count && scopes; i++) {
		const char *one = json_string_value(json_array_get(scopes, i));

		must(strcmp(strchr(one, ':') + 1, token->scopes[i].queue) == 0);
		one_scope(one);
	}
	token_unref(token);
	tokens_free(&tokens);
	pthread_mutex_destroy(&tokens.lock);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = text_of(data, size), *stored;
	json_t *scopes = json_array();
	const char *wrong = scopes_split(text, scopes);

	must(!wrong || (wrong >= text && wrong <= text + size));
	stored = json_dumps(scopes, JSON_COMPACT);
	must(stored != NULL);
	read_token(stored, scopes);
	/* Another program may have written anything to the database. */
	read_token(text, NULL);
	json_decref(scopes);
	free(stored);
	free(text);
	return 0;
}
