/*
 * session.c - the session of the web page: what the client may do, and the
 * cookie that keeps its token.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "handlers.h"

/* Begin a session of the web page. The page sends its token in this request
 * only. The browser then keeps the token in a cookie that no script can
 * read. */
void
session_begin(struct request *request, rp_conn *conn)
{
	const char *token = guard_token_text(request);

	session_run(request, conn);
	if (request->token && token)
		request->answer.cookie = guard_cookie(request, token);
}

void
session_end(struct request *request, rp_conn *conn)
{
	(void)conn;
	answer_json(request, 200, json_pack("{s:s}", "result", "ended"));
	request->answer.cookie = guard_cookie(request, NULL);
}

/* List the queues that the client may change, with their jobs and schedules. As
 * in a scope, a * at the end of a name stands for any text. */
static json_t *
changeable_queues(const struct request *request)
{
	const struct options *o = request->server->options;
	const struct token *token = request->token;
	json_t *list = json_array();

	if (o->read_only)
		return list;
	if (!o->tokens)
		json_array_append_new(list, json_string("*"));
	for (size_t i = 0; token && i < token->count; i++)
		if (token->scopes[i].may == MAY_ADMIN)
			json_array_append_new(
				list, json_text(token->scopes[i].queue));
	return list;
}

void
session_run(struct request *request, rp_conn *conn)
{
	const struct options *o = request->server->options;
	const struct token *token = request->token;
	char name[DATABASE_NAME];

	(void)conn;
	name_database(name, sizeof(name), o->url);
	answer_json(request, 200,
		    json_pack("{s:s, s:s, s:b, s:b, s:s?, s:o}", "version",
			      rp_version(), "database", name, "read_only",
			      o->read_only, "hide_payloads", o->hide_payloads,
			      "token", token ? token->name : NULL, "admin",
			      changeable_queues(request)));
}
