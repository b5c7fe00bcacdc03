/*
 * cmd_doctor.c - the command `doctor`: report what is wrong with the database
 * or will be soon, the worst first.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "cmd.h"

#include <string.h>

#include "doctor.h"

static void
print_part(const char *before, const json_t *object, const char *name)
{
	const char *text = json_string_value(json_object_get(object, name));

	fputs(before, stdout);
	print_text(stdout, text ? text : "", text ? strlen(text) : 0, SIZE_MAX);
}

static void
print_finding(const json_t *finding)
{
	char before[16];

	snprintf(before, sizeof(before), "%-8s ",
		 json_string_value(json_object_get(finding, "level")));
	print_part(before, finding, "finding");
	print_part("\n    fix: ", finding, "fix");
	putchar('\n');
}

/* Print all findings. Warnings do not change the exit status, because even a
 * job that waits for only a moment causes a warning. If warnings changed the
 * exit status, a monitor that watches it would raise and clear its alarm again
 * and again. */
static int
print_all(const struct doctor *d, int json)
{
	size_t i, found = 0;
	json_t *one;
	int status = DONE, bad = 0;

	for (int level = 0; level < LEVELS; level++)
		json_array_foreach (d->findings[level], i, one) {
			found++;
			bad |= level < WARNING;
			if (json)
				status = worst(status,
					       print_json(json_incref(one)));
			else
				print_finding(one);
		}
	json_array_foreach (d->undone, i, one) {
		if (json) {
			status = worst(status, print_json(json_incref(one)));
			continue;
		}
		print_part("not done ", one, "check");
		print_part(": ", one, "not_done");
		putchar('\n');
	}
	if (!json)
		printf("%d check%s, %zu not done, %zu finding%s\n", d->done,
		       plural(d->done), json_array_size(d->undone), found,
		       plural((int64_t)found));
	return status ? status : bad ? FAILED : DONE;
}

/* Open the database and examine it. A damaged or unreadable database is
 * reported as a finding. A database that does not exist is an error, because
 * the user has probably given a wrong name. */
static int
examine(struct doctor *d)
{
	rp_error error;
	int code = open_database(d->url, RP_SCHEMA_REQUIRE, &d->conn, &error);
	int r;

	if (code == 0 && rp_now(d->conn, &d->now_ms) < 0)
		return complain(FAILED, "%s", rp_last_error(d->conn)->message);
	r = code < 0 ? doctor_not_opened(d, code, &error) : doctor_run(d);
	if (r < 0)
		return complain(FAILED, "out of memory");
	return code < 0 && r == 0 ? not_opened(d->url, code, &error) : DONE;
}

int
cmd_doctor(struct cmd *cmd, int argc, char **argv)
{
	struct doctor d = { .long_ms = LONG_MS };
	int json = 0;
	const struct option options[] = {
		{ "--long", DURATION, &d.long_ms, "D",
		  "report waits, pauses and transactions longer than this "
		  "(1m)" },
		JSON_OPTION(&json),
		OPTIONS_END,
	};
	int status = parse_options(cmd, &argc, argv, options);

	if (status)
		return status;
	if (argc)
		return usage(
			cmd,
			"takes no arguments: it examines the whole database");
	d.url = cmd->url;
	status = examine(&d);
	cmd->conn = d.conn;
	if (status == DONE)
		status = print_all(&d, json);
	doctor_free(&d);
	return status;
}
