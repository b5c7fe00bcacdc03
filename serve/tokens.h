/*
 * tokens.h - the tokens of the HTTP server, and what each of them allows; see
 * tokens.c.
 *
 * A token is a text of the form rp_KEY_SECRET. The database stores the key, and
 * the SHA-256 of the whole token. A scope says what a token allows. For
 * example, work:mail allows work on the queue mail, and work:mail-* allows work
 * on all queues whose names begin with mail-.
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
#define TOKEN_KEY 16   /* number of hex digits of a token's key */
#define TOKEN_SIZE                                                             \
	(3 + TOKEN_KEY + 1 + 64 + 1) /* a token with its NUL byte              \
				      */
#define HASH_SIZE 32                 /* bytes of a SHA-256 */

/* The right that a request needs. */
enum may {
	MAY_ALL, /* no right is needed, and no token */
	MAY_ANY, /* a token, whatever it allows */
	MAY_READ,
	MAY_ENQUEUE,
	MAY_WORK,
	MAY_ADMIN /* includes all other rights */
};

struct scope {
	enum may may;
	const char *queue; /* a queue's name or, if is_prefix is 1, the
			    * beginning of queues' names and a * */
	int is_prefix;
};

/* One token. It is freed when its last reference is given back. */
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
	/* when the last read of the list began (monotonic us); a token that
	 * was made later may be missing */
	_Atomic int64_t read_us;
};

void hash_of(const void *bytes, size_t size, unsigned char to[HASH_SIZE]);
/* Write the hash of two parts that are joined. */
void hash_two(const void *a, size_t a_size, const void *b, size_t b_size,
	      unsigned char to[HASH_SIZE]);
void hex_of(const unsigned char *bytes, size_t size, char *to);

/* Make a token and its key. Returns 0, or -1 if the kernel has no random
 * numbers. */
int token_make(char to[TOKEN_SIZE], char key[TOKEN_KEY + 1]);
/* Parse the text of a scope. ret->queue points into the text. Returns 0, or -1
 * if the text is not a scope. */
int scope_parse(const char *text, struct scope *ret);
/* Add the scopes of a list such as enqueue:mail,work:mail to a JSON array.
 * Returns NULL, or a pointer to the first scope that is not valid. */
const char *scopes_split(const char *list, json_t *scopes);

int tokens_read(struct tokens *tokens, rp_conn *conn); /* 0 or RP_E* */
void tokens_free(struct tokens *tokens);
/* Find the token that has this text. The caller gives the result back with
 * token_unref(). Returns NULL if the token is not in the list. *ret_is_unknown
 * is set to 1 if no token in the list has this token's key. */
struct token *tokens_find(struct tokens *tokens, const char *text,
			  int *ret_is_unknown);
/* Returns whether the token was in the list when it was last read. */
int tokens_have(struct tokens *tokens, const struct token *token);
void token_unref(struct token *token);
/* Returns whether the token gives the right `may` for a queue. queue: NULL for
 * all queues. */
int token_may(const struct token *token, enum may may, const char *queue);
/* Returns whether the token gives the right MAY_WORK for any queue at all. */
int token_may_work(const struct token *token);

#endif
