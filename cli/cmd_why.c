/*
 * cmd_why.c - the command `why`: print for each job why it does not run.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "why.h"

#include <stdlib.h>

static int
print_why(const rp_why *why, int json)
{
	char *text;

	if (json)
		return print_json(json_why(why));
	text = explain_why(why, NULL);
	if (!text)
		return complain(FAILED, "out of memory");
	puts(text);
	free(text);
	return DONE;
}

static int
why_one(struct cmd *cmd, int64_t id, int first, int json)
{
	rp_why *why;
	int r = rp_why_get(cmd->conn, id, &why);

	(void)first;
	if (r < 0)
		return cmd_failed(cmd, r);
	r = print_why(why, json);
	rp_why_free(why);
	return r;
}

int
cmd_why(struct cmd *cmd, int argc, char **argv)
{
	return each_job(cmd, argc, argv, why_one);
}
