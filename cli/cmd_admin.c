/*
 * cmd_admin.c - the commands for the whole database: init, sweep.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "cmd.h"

#include <string.h>

#include "internal.h"

static void
print_statement(const char *sql)
{
	size_t n = strlen(sql);

	while (n > 0 && sql[n - 1] == '\n')
		n--;
	printf("%.*s;\n\n", (int)n, sql);
}

/* Print the SQL that creates readpast's tables. It is for databases in which
 * readpast itself may not create tables. */
static int
print_schema(const struct cmd *cmd)
{
	rp_error error;
	int r = rp__schema_sql(cmd->url, print_statement, &error);

	return r < 0 ? complain(status_of(r), "%s", error.message) : DONE;
}

int
cmd_init(struct cmd *cmd, int argc, char **argv)
{
	int restored = 0, print = 0, json = 0, r;
	char where[DATABASE_NAME];
	int64_t last = 0;
	const struct option options[] = {
		{ "--after-restore", FLAG, &restored, NULL,
		  "after a backup was restored: skip the ids that jobs\n"
		  "were given after the backup was made" },
		{ "--print", FLAG, &print, NULL,
		  "only print the SQL that creates our tables, so that\n"
		  "you can run it with another program" },
		JSON_OPTION(&json),
		OPTIONS_END,
	};
	int status = parse_options(cmd, &argc, argv, options);

	if (status)
		return status;
	if (argc)
		return usage(cmd,
			     "takes no arguments: give the database with --db");
	if (print && (restored || json))
		return usage(cmd, "give either --print or %s, not both",
			     restored ? "--after-restore" : "--json");
	if (print)
		return print_schema(cmd);
	status = cmd_open(cmd);
	if (status)
		return status;
	if (restored) {
		r = rp_ids_skip(cmd->conn, &last);
		if (r < 0)
			return cmd_failed(cmd, r);
	}
	name_database(where, sizeof(where), cmd->url);
	if (json) {
		const struct member members[] = {
			{ "database", json_text(where) },
			{ "result", json_text("ready") },
			{ "skipped_to",
			  last ? json_integer(last) : json_null() },
		};

		return print_json(JSON_MEMBERS(members));
	}
	if (restored)
		printf("new jobs get ids above %lld: skipped %d ids\n",
		       (long long)last, RP_IDS_SKIPPED);
	printf("%s is ready\n", where);
	return DONE;
}

int
cmd_sweep(struct cmd *cmd, int argc, char **argv)
{
	int json = 0;
	const struct option options[] = { JSON_OPTION(&json), OPTIONS_END };
	int status = parse_options(cmd, &argc, argv, options), r;
	rp_swept swept = RP_SWEPT_INIT;

	if (status)
		return status;
	if (argc)
		return usage(cmd, "takes no arguments: all queues are swept");
	status = cmd_open(cmd);
	if (status)
		return status;
	r = rp_sweep(cmd->conn, &swept);
	if (r < 0)
		return cmd_failed(cmd, r);
	if (json) {
		const struct member members[] = {
			{ "due", json_integer(swept.due) },
			{ "recovered", json_integer(swept.recovered) },
			{ "dead", json_integer(swept.dead) },
			{ "dropped", json_integer(swept.dropped) },
			{ "expired", json_integer(swept.expired) },
			{ "fired", json_integer(swept.fired) },
		};

		return print_json(JSON_MEMBERS(members));
	}
	printf("%lld due, %lld recovered, %lld dead, %lld dropped, %lld "
	       "expired, %lld fired\n",
	       (long long)swept.due, (long long)swept.recovered,
	       (long long)swept.dead, (long long)swept.dropped,
	       (long long)swept.expired, (long long)swept.fired);
	return DONE;
}
