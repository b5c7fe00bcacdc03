/*
 * database.c - open or create the database that a command works on, and print
 * its name.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "cmd.h"

#include <string.h>
#include <unistd.h>

#include "internal.h"

int
is_file(const char *url)
{
	struct rp_url parsed;
	int ret;

	if (rp__url_parse(url, &parsed, NULL) < 0)
		return 0;
	ret = parsed.is_file;
	rp__url_free(&parsed);
	return ret;
}

/* ---- its name ---- */

static void
name_file(char *to, size_t room, const char *path)
{
	char cwd[1024];

	path += strncmp(path, "./", 2) == 0 ? 2 : 0;
	if (*path == '/' || !getcwd(cwd, sizeof(cwd)))
		snprintf(to, room, "%s", path);
	else
		snprintf(to, room, "%s/%s", strcmp(cwd, "/") ? cwd : "", path);
}

/* Name the schema and the server. The URL's query part is left out, because the
 * query part may have a password. */
static void
name_schema(char *to, size_t room, const struct rp_url *url)
{
	const char *schema = url->schema ? url->schema : "readpast";
	const char *at = strrchr(url->path, '@');
	const char *server = at ? at + 1 : url->path;

	if (strstr(server, "password"))
		snprintf(to, room, "schema %s", schema);
	else
		snprintf(to, room, "schema %s in %.*s", schema,
			 (int)strcspn(server, "?"), server);
}

void
name_database(char *to, size_t room, const char *url)
{
	struct rp_url parsed;

	if (rp__url_parse(url, &parsed, NULL) < 0) {
		snprintf(to, room, "the database");
		return;
	}
	if (parsed.is_file)
		name_file(to, room, parsed.path);
	else
		name_schema(to, room, &parsed);
	rp__url_free(&parsed);
}

/* ---- opening ---- */

/* Print the error, and tell the user how to name another database. The
 * library's message cannot do this, because only the command line has --db and
 * READPAST_DB. */
int
not_opened(const char *url, int code, const rp_error *error)
{
	char where[DATABASE_NAME];

	if (code != RP_ENODB)
		return complain(status_of(code), "%s", error->message);
	if (!is_file(url))
		return complain(FAILED,
				"%s (name another server, database or user "
				"with --db; put the password into ~/.pgpass)",
				error->message);
	name_database(where, sizeof(where), url);
	return complain(FAILED,
			"no database at %s (readpast init or the first enqueue "
			"creates it; --db or READPAST_DB names another one)",
			where);
}

int
open_database(const char *url, int schema, rp_conn **ret, rp_error *error)
{
	rp_options options = RP_OPTIONS_INIT;
	char where[DATABASE_NAME];
	int was_there, r;

	name_database(where, sizeof(where), url);
	was_there = access(where, F_OK) == 0;
	options.schema = schema;
	r = rp_open(url, &options, ret, error);
	if (r == 0 && rp_conn_is_new(*ret))
		complain(DONE, "%s %s",
			 is_file(url) && !was_there
				 ? "made the database"
				 : "created the queue's tables in",
			 where);
	return r;
}

int
cmd_open(struct cmd *cmd)
{
	rp_error error;
	int r = open_database(cmd->url, cmd->schema, &cmd->conn, &error);

	return r < 0 ? not_opened(cmd->url, r, &error) : 0;
}

/* ---- the queue that a command takes jobs from ---- */

/* Create a queue, and print a message that it is new, because the user may have
 * mistyped the name. */
static int
make_queue(struct cmd *cmd, const char *name, const char *where)
{
	rp_queue queue = RP_QUEUE_INIT;
	int r;

	queue.name = name;
	r = rp_queue_set(cmd->conn, &queue);
	return r < 0 ? cmd_failed(cmd, r)
		     : complain(DONE,
				"created queue %s in %s, because it did not "
				"exist",
				name, where);
}

int
find_queue(struct cmd *cmd, const char *name, int make)
{
	char where[DATABASE_NAME];
	rp_queues *queues;
	int r = rp_queue_list(cmd->conn, name, &queues);

	if (r == 0)
		rp_queues_free(queues);
	if (r != RP_ENOENT)
		return r < 0 ? cmd_failed(cmd, r) : DONE;
	if (!make && rp__is_pattern(name))
		return cmd_failed(cmd, r);
	name_database(where, sizeof(where), cmd->url);
	if (make)
		return make_queue(cmd, name, where);
	return complain(NOTHING,
			"no queue %s in %s (create it with readpast queue set, "
			"or enqueue its first job)",
			name, where);
}
