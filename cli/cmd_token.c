/*
 * cmd_token.c - the commands for the tokens of the HTTP server: token add,
 * token list, token remove.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "cmd.h"

#include <stdlib.h>
#include <string.h>

#include "internal.h"
#include "tokens.h"

static int
check_one(const struct cmd *cmd, int argc, char **argv)
{
	if (argc != 1)
		return usage(cmd,
			     argc ? "expected only one token" : "which token?");
	return check_name(cmd, "the token's name", argv[0], TOKEN_NAME);
}

/* ---- token add ---- */

/* Read the scopes of lists such as enqueue:mail,work:mail. Returns 0, or an
 * exit status after printing an error. */
static int
take_scopes(const struct cmd *cmd, const struct texts *lists, json_t *scopes)
{
	for (size_t i = 0; i < lists->count; i++) {
		const char *list = lists->items[i];
		const char *wrong = scopes_split(list, scopes);
		size_t n = wrong ? strcspn(wrong, ",") : 0;

		if (wrong)
			return usage(cmd,
				     "--may %.*s: expected enqueue:QUEUE, "
				     "work:QUEUE, read:QUEUE or admin:QUEUE, "
				     "with one comma and no blank between two "
				     "of them; a * is only at the end, where "
				     "it stands for any text",
				     n ? (int)n : (int)strlen(list),
				     n ? wrong : list);
	}
	return json_array_size(scopes)
		       ? 0
		       : usage(cmd, "what may it do? Give --may, such as --may "
				    "enqueue:mail,work:mail or --may 'read:*'");
}

/* Print a new token. Returns 0, or -1 if the output cannot be written. */
static int
print_new(const char *name, const char *token, const json_t *scopes, int json)
{
	int r = 0;

	if (json) {
		const struct member members[] = {
			{ "name", json_text(name) },
			{ "token", json_text(token) },
			{ "may", json_deep_copy(scopes) },
		};

		r = print_json(JSON_MEMBERS(members));
	} else {
		puts(token);
	}
	return r || fflush(stdout) == EOF || ferror(stdout) ? -1 : 0;
}

/* Remove a token that could not be printed, because nobody knows it. */
static int
take_back(struct cmd *cmd, const char *name)
{
	cmd->output_reported = 1;
	if (rp__token_remove(cmd->conn, name) == 0)
		return complain(FAILED,
				"cannot write to standard output: the token %s "
				"was removed",
				name);
	return complain(FAILED,
			"cannot write to standard output: remove the token "
			"with readpast token remove %s",
			name);
}

static int
add(struct cmd *cmd, const char *name, const json_t *scopes, int json)
{
	char token[TOKEN_SIZE], key[TOKEN_KEY + 1];
	unsigned char hash[HASH_SIZE];
	char *text = json_dumps(scopes, JSON_COMPACT);
	int r;

	if (!text || token_make(token, key) < 0) {
		free(text);
		return complain(FAILED, "cannot make a token");
	}
	hash_of(token, strlen(token), hash);
	r = rp__token_add(cmd->conn, name, key, hash, HASH_SIZE, text);
	free(text);
	if (r < 0)
		return cmd_failed(cmd, r);
	return print_new(name, token, scopes, json) < 0 ? take_back(cmd, name)
							: DONE;
}

int
cmd_token_add(struct cmd *cmd, int argc, char **argv)
{
	struct texts may = { NULL, 0 };
	int json = 0;
	const struct option options[] = {
		{ "--may", TEXTS, &may, "SCOPES",
		  "enqueue:QUEUE, work:QUEUE, read:QUEUE, admin:QUEUE" },
		JSON_OPTION(&json),
		OPTIONS_END,
	};
	int status = parse_options(cmd, &argc, argv, options);
	json_t *scopes = json_array();

	if (!status)
		status = check_one(cmd, argc, argv);
	if (!status)
		status = take_scopes(cmd, &may, scopes);
	if (!status)
		status = cmd_open(cmd);
	if (!status)
		status = add(cmd, argv[0], scopes, json);
	json_decref(scopes);
	free(may.items);
	return status;
}

/* ---- token list ---- */

struct listing {
	int json, status, width;
};

static int
print_token(void *ctx, const struct rp_token *token)
{
	struct listing *listing = ctx;
	json_t *scopes = json_loads(token->scopes, 0, NULL), *one;
	const struct member members[] = {
		{ "name", json_text(token->name) },
		{ "key", json_text(token->key) },
		{ "may", json_incref(scopes) },
		{ "created_at", json_time(token->created_at) },
	};
	json_t *object = JSON_MEMBERS(members);
	size_t i;

	if (listing->json) {
		listing->status = worst(listing->status, print_json(object));
		json_decref(scopes);
		return 0;
	}
	printf("%-20s  %s ", token->name,
	       json_string_value(json_object_get(object, "created_at")));
	json_array_foreach (scopes, i, one)
		printf("%c%s", i ? ',' : ' ', json_string_value(one));
	putchar('\n');
	json_decref(object);
	json_decref(scopes);
	return 0;
}

int
cmd_token_list(struct cmd *cmd, int argc, char **argv)
{
	struct listing listing = { 0 };
	const struct option options[] = { JSON_OPTION(&listing.json),
					  OPTIONS_END };
	int status = parse_options(cmd, &argc, argv, options), r;

	if (!status && argc)
		status = usage(cmd, "takes no arguments");
	if (!status)
		status = cmd_open(cmd);
	if (status)
		return status;
	r = rp__token_list(cmd->conn, print_token, &listing);
	return r < 0 ? cmd_failed(cmd, r) : listing.status;
}

/* ---- token remove ---- */

int
cmd_token_remove(struct cmd *cmd, int argc, char **argv)
{
	int json = 0;
	const struct option options[] = { JSON_OPTION(&json), OPTIONS_END };
	int status = parse_options(cmd, &argc, argv, options), r;

	if (!status)
		status = check_one(cmd, argc, argv);
	if (!status)
		status = cmd_open(cmd);
	if (status)
		return status;
	r = rp__token_remove(cmd->conn, argv[0]);
	if (r < 0)
		return cmd_failed(cmd, r);
	if (json) {
		const struct member members[] = {
			{ "name", json_text(argv[0]) },
			{ "result", json_text("removed") },
		};

		return print_json(JSON_MEMBERS(members));
	}
	return DONE;
}
