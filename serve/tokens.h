/*
 * tokens.h - tokens, and what their holders may do; see tokens.c.
 *
 * A token is the text rp_KEY_SECRET. The database has the key, and the SHA-256
 * of the whole token. A scope is a text such as work:mail, or work:mail-* for
 * all queues whose names begin so.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#ifndef TOKENS_H
#define TOKENS_H

#include <jansson.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "readpast.h"

#define TOKEN_NAME 128 /* most bytes of a token's name */
#define TOKEN_KEY 16   /* hex digits of its key */
#define TOKEN_SIZE                                                             \
	(3 + TOKEN_KEY + 1 + 64 + 1) /* a token with its NUL byte              \
				      */
#define HASH_SIZE 32                 /* of SHA-256 */

/* The right that a request needs. */
enum may {
	MAY_ALL, /* nothing: it may come without a token */
	MAY_ANY, /* any token */
	MAY_READ,
	MAY_ENQUEUE,
	MAY_WORK,
	MAY_ADMIN /* includes all others */
};

struct scope {
	enum may may;
	const char *queue; /* a name, or the beginning of names */
	int is_prefix;
};

/* One token. It is freed with the last reference to it. */
struct token {
	atomic_int references;
	char name[TOKEN_NAME + 1], key[TOKEN_KEY + 1];
	unsigned char hash[HASH_SIZE];
	char *memory;
	struct scope *scopes;
	size_t count;
};

/* The tokens as they were last read from the database. */
struct tokens {
	pthread_mutex_t lock;
	struct token **list;
	size_t count;
	/* when the last read began (monotonic); a token that was made later
	 * may be missing */
	_Atomic int64_t read_us;
};

void hash_of(const void *bytes, size_t size, unsigned char to[HASH_SIZE]);
/* The hash of two parts as one. */
void hash_two(const void *a, size_t a_size, const void *b, size_t b_size,
	      unsigned char to[HASH_SIZE]);
void hex_of(const unsigned char *bytes, size_t size, char *to);

/* Make a token. Returns 0, or -1 if the kernel has no random numbers. */
int token_make(char to[TOKEN_SIZE], char key[TOKEN_KEY + 1]);
/* Parse one scope, which the scope then points to. Returns 0, or -1 if the text
 * is not one. */
int scope_parse(const char *text, struct scope *ret);
/* Add the scopes of a list such as enqueue:mail,work:mail to a JSON array.
 * Returns NULL, or where the first scope that is not valid begins. */
const char *scopes_split(const char *list, json_t *scopes);

int tokens_read(struct tokens *tokens, rp_conn *conn); /* 0 or RP_E* */
void tokens_free(struct tokens *tokens);
/* Find a token by its text. Returns NULL if there is none. *ret_is_unknown is
 * set to 1 if the key is not known. Give it back with token_unref(). */
struct token *tokens_find(struct tokens *tokens, const char *text,
			  int *ret_is_unknown);
void token_unref(struct token *token);
/* Whether the token allows this for a queue; NULL: for all queues. */
int token_may(const struct token *token, enum may may, const char *queue);

#endif
