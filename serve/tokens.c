/*
 * tokens.c - make, parse and find tokens, and check what a token allows.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "tokens.h"

#include <nettle/sha2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "internal.h"
#include "process.h"

/* ---- making ---- */

void
hash_two(const void *a, size_t a_size, const void *b, size_t b_size,
	 unsigned char to[HASH_SIZE])
{
	struct sha256_ctx ctx;

	sha256_init(&ctx);
	sha256_update(&ctx, a_size, a);
	if (b_size)
		sha256_update(&ctx, b_size, b);
	sha256_digest(&ctx, HASH_SIZE, to);
}

void
hash_of(const void *bytes, size_t size, unsigned char to[HASH_SIZE])
{
	hash_two(bytes, size, NULL, 0, to);
}

void
hex_of(const unsigned char *bytes, size_t size, char *to)
{
	for (size_t i = 0; i < size; i++)
		snprintf(to + 2 * i, 3, "%02x", bytes[i]);
}

int
token_make(char to[TOKEN_SIZE], char key[TOKEN_KEY + 1])
{
	unsigned char random[TOKEN_KEY / 2 + 32];
	char secret[65];

	if (getrandom(random, sizeof(random), 0) != sizeof(random))
		return -1;
	hex_of(random, TOKEN_KEY / 2, key);
	hex_of(random + TOKEN_KEY / 2, 32, secret);
	snprintf(to, TOKEN_SIZE, "rp_%s_%s", key, secret);
	return 0;
}

/* ---- scopes ---- */

/* Returns the queue of a scope, or NULL if the text is not a scope. */
static const char *
queue_of(const char *text, enum may *ret_may)
{
	static const struct {
		const char *word;
		enum may may;
	} words[] = { { "read:", MAY_READ },
		      { "enqueue:", MAY_ENQUEUE },
		      { "work:", MAY_WORK },
		      { "admin:", MAY_ADMIN } };

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
		size_t n = strlen(words[i].word);

		if (strncmp(text, words[i].word, n) == 0) {
			*ret_may = words[i].may;
			return text + n;
		}
	}
	return NULL;
}

int
scope_parse(const char *text, struct scope *ret)
{
	char name[RP_MOST_NAME + 2]; /* of the queue, without the * */
	size_t n;

	ret->queue = queue_of(text, &ret->may);
	if (!ret->queue)
		return -1;
	n = strlen(ret->queue);
	ret->is_prefix = n && ret->queue[n - 1] == '*';
	n -= (size_t)ret->is_prefix;
	if (n == 0)
		return ret->is_prefix ? 0 : -1;
	snprintf(name, sizeof(name), "%.*s", (int)n, ret->queue);
	return rp__check_queue(NULL, name);
}

/* Returns whether a scope very probably names another queue than its author
 * wants: if it has a * that is not at the end, a blank at an end, or a blank
 * before another scope. A queue may have such a name, but few have. */
static int
is_doubtful(const struct scope *scope)
{
	const char *queue = scope->queue;
	size_t n = strlen(queue);
	enum may ignored;

	for (const char *at = queue; (at = strchr(at, ' ')); at++)
		if (queue_of(at + 1, &ignored))
			return 1;
	return strcspn(queue, "*") + 1 < n || *queue == ' ' ||
	       queue[n - 1] == ' ';
}

const char *
scopes_split(const char *list, json_t *scopes)
{
	do {
		size_t n = strcspn(list, ",");
		char text[RP_MOST_NAME + 16] = "";
		struct scope scope;

		if (n < sizeof(text))
			memcpy(text, list, n);
		if (scope_parse(text, &scope) < 0 || is_doubtful(&scope) ||
		    json_array_append_new(scopes, json_string(text)) < 0)
			return list;
		list += n;
	} while (*list++ == ',');
	return NULL;
}

static int
gives(const struct scope *scope, enum may may)
{
	return scope->may == may || scope->may == MAY_ADMIN;
}

static int
allows(const struct scope *scope, enum may may, const char *queue)
{
	size_t n = strlen(scope->queue) - (size_t)scope->is_prefix;

	if (!gives(scope, may))
		return 0;
	if (!queue)
		return scope->is_prefix && n == 0;
	return strncmp(scope->queue, queue, n) == 0 &&
	       (scope->is_prefix || !queue[n]);
}

int
token_may(const struct token *token, enum may may, const char *queue)
{
	if (may == MAY_ALL || may == MAY_ANY)
		return 1;
	for (size_t i = 0; i < token->count; i++)
		if (allows(&token->scopes[i], may, queue))
			return 1;
	return 0;
}

int
token_may_work(const struct token *token)
{
	for (size_t i = 0; i < token->count; i++)
		if (gives(&token->scopes[i], MAY_WORK))
			return 1;
	return 0;
}

/* ---- the list ---- */

void
token_unref(struct token *token)
{
	if (!token || atomic_fetch_sub(&token->references, 1) > 1)
		return;
	free(token->memory);
	free(token->scopes);
	free(token);
}

/* Read the scopes from a JSON array. The scopes point into one text, in which
 * NUL bytes separate them. */
static int
take_scopes(struct token *token, const char *json)
{
	json_t *list = json_loads(json, 0, NULL);
	size_t n = json_array_size(list), at = 0, room = strlen(json) + n + 1;

	token->memory = calloc(1, room);
	token->scopes = calloc(n + 1, sizeof(*token->scopes));
	for (size_t i = 0; i < n && token->memory && token->scopes; i++) {
		const char *text = json_string_value(json_array_get(list, i));
		char *copy = token->memory + at;

		if (!text || at + strlen(text) + 1 > room)
			continue;
		strcpy(copy, text);
		if (scope_parse(copy, &token->scopes[token->count]) == 0) {
			token->count++;
			at += strlen(text) + 1;
		}
	}
	json_decref(list);
	return token->memory && token->scopes ? 0 : -1;
}

static int
take(void *ctx, const struct rp_token *row)
{
	struct tokens *tokens = ctx;
	struct token **list =
		realloc(tokens->list, (tokens->count + 1) * sizeof(*list));
	struct token *token = list ? calloc(1, sizeof(*token)) : NULL;

	if (list)
		tokens->list = list;
	if (!token)
		return -1;
	atomic_init(&token->references, 1);
	snprintf(token->name, sizeof(token->name), "%s", row->name);
	snprintf(token->key, sizeof(token->key), "%s", row->key);
	if (row->hash_size == HASH_SIZE)
		memcpy(token->hash, row->hash, HASH_SIZE);
	if (take_scopes(token, row->scopes) < 0) {
		token_unref(token);
		return -1;
	}
	list[tokens->count++] = token;
	return 0;
}

static void
free_list(struct token **list, size_t count)
{
	for (size_t i = 0; i < count; i++)
		token_unref(list[i]);
	free(list);
}

int
tokens_read(struct tokens *tokens, rp_conn *conn)
{
	struct tokens new = { .count = 0 };
	struct token **old;
	size_t count;
	int64_t began_us = monotonic_us();
	int r = rp__token_list(conn, take, &new);

	if (r < 0) {
		free_list(new.list, new.count);
		return r;
	}
	/* If two threads read at the same time, keep the list of the thread
	 * that began later, and free the other list. */
	pthread_mutex_lock(&tokens->lock);
	if (began_us >= atomic_load(&tokens->read_us)) {
		old = tokens->list;
		count = tokens->count;
		tokens->list = new.list;
		tokens->count = new.count;
		atomic_store(&tokens->read_us, began_us);
	} else {
		old = new.list;
		count = new.count;
	}
	pthread_mutex_unlock(&tokens->lock);
	free_list(old, count);
	return 0;
}

void
tokens_free(struct tokens *tokens)
{
	free_list(tokens->list, tokens->count);
}

/* Compare two hashes. The time that this takes does not depend on where they
 * differ, so it reveals nothing to an attacker. */
static int
is_equal(const unsigned char *a, const unsigned char *b)
{
	unsigned char differs = 0;

	for (size_t i = 0; i < HASH_SIZE; i++)
		differs |= a[i] ^ b[i];
	return !differs;
}

struct token *
tokens_find(struct tokens *tokens, const char *text, int *ret_is_unknown)
{
	struct token *found = NULL;
	unsigned char hash[HASH_SIZE];

	*ret_is_unknown = 0;
	if (strlen(text) != TOKEN_SIZE - 1 || strncmp(text, "rp_", 3) != 0)
		return NULL;
	hash_of(text, strlen(text), hash);
	*ret_is_unknown = 1;
	pthread_mutex_lock(&tokens->lock);
	for (size_t i = 0; i < tokens->count && !found; i++) {
		struct token *token = tokens->list[i];

		if (strncmp(token->key, text + 3, TOKEN_KEY) != 0)
			continue;
		*ret_is_unknown = 0;
		if (is_equal(token->hash, hash)) {
			atomic_fetch_add(&token->references, 1);
			found = token;
		}
	}
	pthread_mutex_unlock(&tokens->lock);
	return found;
}

int
tokens_have(struct tokens *tokens, const struct token *token)
{
	int has = 0;

	pthread_mutex_lock(&tokens->lock);
	for (size_t i = 0; i < tokens->count && !has; i++)
		has = strcmp(tokens->list[i]->key, token->key) == 0;
	pthread_mutex_unlock(&tokens->lock);
	return has;
}
