/*
 * cmd_admin.c - the database as a whole: init, sweep.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "cmd.h"

#include <string.h>

/* What may be shown of the URL: no password. */
static const char *
shown(const char *url)
{
	const char *at = strrchr(url, '@');

	if (is_file(url))
		return url;
	if (strstr(url, "password"))
		return "the database";
	return at ? at + 1 : url;
}

int
cmd_init(struct cmd *cmd, int argc, char **argv)
{
	int restored = 0, r;
	int64_t last;
	const struct option options[] = {
		{ "--after-restore", FLAG, &restored, NULL,
		  "a backup was put back: give no id again that was\ngiven "
		  "since it was made" },
		OPTIONS_END,
	};
	int status = parse_options(cmd, &argc, argv, options);

	if (status)
		return status;
	if (argc)
		return usage(cmd, "takes no arguments (the database is --db)");
	status = cmd_open(cmd);
	if (status)
		return status;
	if (restored) {
		r = rp_ids_skip(cmd->conn, &last);
		if (r < 0)
			return cmd_failed(cmd, r);
		printf("no job will be given an id up to %lld: %d were "
		       "skipped\n",
		       (long long)last, RP_IDS_SKIPPED);
	}
	printf("%s is ready\n", shown(cmd->url));
	return DONE;
}

int
cmd_sweep(struct cmd *cmd, int argc, char **argv)
{
	const struct option options[] = { OPTIONS_END };
	int status = parse_options(cmd, &argc, argv, options), r;
	rp_swept swept;

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
	printf("%lld due, %lld recovered, %lld dead, %lld dropped\n",
	       (long long)swept.due, (long long)swept.recovered,
	       (long long)swept.dead, (long long)swept.dropped);
	return DONE;
}
