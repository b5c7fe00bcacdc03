/*
 * token.c - the tokens of the HTTP server, and its answers to requests that
 * have an idempotency key.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "internal.h"

#include <string.h>

#define FORGOTTEN 1000 /* the most answers that one call deletes */

int
rp__token_add(rp_conn *conn, const char *name, const char *key,
	      const void *hash, size_t size, const char *scopes)
{
	const struct rp_value p[TOKEN_ADD_PARAMS] = {
		[TOKEN_ADD_NAME] = rp__text(name),
		[TOKEN_ADD_KEY] = rp__text(key),
		[TOKEN_ADD_HASH] = rp__blob(hash, size),
		[TOKEN_ADD_SCOPES] = rp__text(scopes),
	};
	int64_t added = 0;
	int r = rp__enter(conn);

	if (r == 0)
		r = rp__run_once(conn, RP_V_TOKEN_ADD, p, rp__count, &added);
	if (r < 0 || added)
		return r;
	return rp__fail(&conn->error, RP_ETAKEN,
			"there is a token named %s already", name);
}

int
rp__token_remove(rp_conn *conn, const char *name)
{
	const struct rp_value p[TOKEN_REMOVE_PARAMS] = {
		[TOKEN_REMOVE_NAME] = rp__text(name),
	};
	int64_t removed = 0;
	int r = rp__enter(conn);

	if (r == 0)
		r = rp__run_once(conn, RP_V_TOKEN_REMOVE, p, rp__count,
				 &removed);
	if (r < 0 || removed)
		return r;
	return rp__fail(&conn->error, RP_ENOENT, "there is no token named %s",
			name);
}

struct tokens {
	rp_token_fn *token;
	void *ctx;
};

static int
take_token(void *ctx, size_t row, const struct rp_value *c)
{
	const struct tokens *tokens = ctx;
	const struct rp_token token = {
		.name = c[TOKEN_LIST_OUT_NAME].data,
		.key = c[TOKEN_LIST_OUT_KEY].data,
		.hash = c[TOKEN_LIST_OUT_HASH].data,
		.hash_size = c[TOKEN_LIST_OUT_HASH].size,
		.scopes = c[TOKEN_LIST_OUT_SCOPES].data,
		.created_at = c[TOKEN_LIST_OUT_CREATED_AT].i,
	};

	(void)row;
	return tokens->token(tokens->ctx, &token) < 0 ? RP_ENOMEM : RP_ROW_TAKE;
}

int
rp__token_list(rp_conn *conn, rp_token_fn *token, void *ctx)
{
	struct tokens tokens = { token, ctx };
	int r = rp__enter(conn);

	return r < 0 ? r
		     : rp__read_once(conn, RP_V_TOKEN_LIST, NULL, 1, take_token,
				     &tokens);
}

/* ---- answers ---- */

static int
take_answer(void *ctx, size_t row, const struct rp_value *c)
{
	struct rp_answer *ret = ctx;

	(void)row;
	ret->is_found = 1;
	ret->is_same =
		c[ANSWER_GET_OUT_HASH].size == ret->size &&
		memcmp(c[ANSWER_GET_OUT_HASH].data, ret->hash, ret->size) == 0;
	ret->text = strdup(c[ANSWER_GET_OUT_ANSWER].data);
	return ret->text ? RP_ROW_TAKE : RP_ENOMEM;
}

int
rp__answer_get(rp_conn *conn, const char *name, struct rp_answer *ret)
{
	const struct rp_value p[ANSWER_GET_PARAMS] = {
		[ANSWER_GET_NAME] = rp__text(name),
	};
	int r = rp__enter(conn);

	return r < 0 ? r
		     : rp__read_once(conn, RP_V_ANSWER_GET, p, 1, take_answer,
				     ret);
}

int
rp__answer_put(rp_conn *conn, const char *name, const void *hash, size_t size,
	       const char *text)
{
	const struct rp_value p[ANSWER_PUT_PARAMS] = {
		[ANSWER_PUT_NAME] = rp__text(name),
		[ANSWER_PUT_HASH] = rp__blob(hash, size),
		[ANSWER_PUT_ANSWER] = rp__text(text),
	};
	int64_t stored = 0;
	int r = rp__enter(conn);

	if (r == 0)
		r = rp__run_once(conn, RP_V_ANSWER_PUT, p, rp__count, &stored);
	if (r < 0 || stored)
		return r;
	return rp__fail(&conn->error, RP_EBUSY,
			"another request has the same idempotency key");
}

int
rp__answers_forget(rp_conn *conn)
{
	const struct rp_value p[ANSWERS_FORGET_PARAMS] = {
		[ANSWERS_FORGET_MAX] = rp__int(FORGOTTEN),
	};
	int64_t forgotten = 0;
	int r = rp__enter(conn);

	if (r == 0)
		r = rp__run_once(conn, RP_V_ANSWERS_FORGET, p, rp__count,
				 &forgotten);
	return r < 0 ? r : forgotten == FORGOTTEN;
}
