/*
 * cmd_cron_apply.c - the command `cron apply`: make the schedules of a database
 * equal to those of a file, in one transaction.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "schedules.h"

#include <string.h>

struct apply {
	struct cmd *cmd;
	struct schedule_file file;
	int dry_run, json;
	rp_schedules *before; /* schedules of the database */
	int64_t added, changed, removed, same;
};

static int
say(const struct apply *a, const char *name, const char *result,
    const char *what)
{
	if (a->json) {
		const struct member members[] = {
			{ "name", json_text(name) },
			{ a->dry_run ? "would_be" : "result",
			  json_text(result) },
			{ "changes", json_text(*what ? what : NULL) },
		};

		return print_json(JSON_MEMBERS(members));
	}
	printf("%s %s%s%s\n", result, name, *what ? ": " : "", what);
	return 0;
}

static int
set_one(struct apply *a, const rp_schedule *wanted)
{
	const rp_schedule *old = find_schedule(a->before, wanted->name);
	char what[CHANGES] = "";
	int r;

	if (old)
		list_changes(what, sizeof(what), old, wanted);
	if (old && !*what) {
		a->same++;
		return 0;
	}
	r = rp_schedule_set(a->cmd->conn, wanted, 1);
	if (r < 0)
		return complain(status_of(r),
				"%s: %s: %.128s: %s; nothing was changed",
				a->cmd->name, a->file.path, wanted->name,
				rp_last_error(a->cmd->conn)->message);
	*(old ? &a->changed : &a->added) += 1;
	return say(a, wanted->name, old ? "changed" : "added", what);
}

static int
is_wanted(const struct schedule_file *file, const char *name)
{
	for (size_t i = 0; i < file->count; i++)
		if (strcmp(file->wanted[i].schedule.name, name) == 0)
			return 1;
	return 0;
}

static int
change_all(struct apply *a)
{
	int status = 0, r;

	for (size_t i = 0; i < a->file.count && !status; i++)
		status = set_one(a, &a->file.wanted[i].schedule);
	for (size_t i = 0; i < rp_schedules_count(a->before) && !status; i++) {
		const char *name = rp_schedules_at(a->before, i)->name;

		if (is_wanted(&a->file, name))
			continue;
		r = rp_schedule_remove(a->cmd->conn, name);
		status = r < 0 ? cmd_failed(a->cmd, r)
			       : say(a, name, "removed", "");
		a->removed++;
	}
	return status;
}

static int
apply(struct apply *a)
{
	int r = rp_begin(a->cmd->conn), status;

	if (r == 0)
		r = rp_schedule_list(a->cmd->conn, NULL, &a->before);
	if (r < 0)
		return cmd_failed(a->cmd, r);
	status = change_all(a);
	rp_schedules_free(a->before);
	if (status || a->dry_run)
		rp_rollback(a->cmd->conn);
	else
		r = rp_commit(a->cmd->conn);
	if (status || r < 0)
		return status ? status : cmd_failed(a->cmd, r);
	if (!a->json)
		printf("%lld added, %lld changed, %lld removed, %lld "
		       "unchanged%s\n",
		       (long long)a->added, (long long)a->changed,
		       (long long)a->removed, (long long)a->same,
		       a->dry_run ? " (dry run: nothing was done)" : "");
	return DONE;
}

int
cmd_cron_apply(struct cmd *cmd, int argc, char **argv)
{
	struct apply a = { .cmd = cmd, .file = { .cmd = cmd } };
	const struct option options[] = {
		{ "--dry-run", FLAG, &a.dry_run, NULL,
		  "print what would be done, and change nothing" },
		JSON_OPTION(&a.json),
		OPTIONS_END,
	};
	int status = parse_options(cmd, &argc, argv, options);

	if (status)
		return status;
	if (argc != 1)
		return usage(cmd, "which FILE? (- is standard input)");
	a.file.path = argv[0];
	if (a.dry_run)
		cmd->schema = RP_SCHEMA_REQUIRE;
	status = read_schedules(&a.file);
	if (!status)
		status = cmd_open(cmd);
	if (!status)
		status = apply(&a);
	free_schedules(&a.file);
	return status;
}
