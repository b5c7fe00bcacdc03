/*
 * common.c - how commands open the database, complain, and read options.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "cmd.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

int
complain(int status, const char *format, ...)
{
	char text[1024];
	va_list args;

	fflush(stdout);
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	/* At once: others may share the stream. */
	fprintf(stderr, "readpast: %s\n", text);
	return status;
}

/* As complain(), with the way to help. */
int
usage(const struct cmd *cmd, const char *format, ...)
{
	char text[512];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	return complain(USAGE, "%s: %s (see readpast help %s)", cmd->name, text,
			cmd->name);
}

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

int
status_of(int code)
{
	switch (code) {
	case RP_EINVAL:
	case RP_EFBIG:
		return USAGE;
	case RP_ENOENT:
		return NOTHING;
	case RP_EGONE:
	case RP_ECANCELLED:
	case RP_ETAKEN:
		return REFUSED;
	default:
		return code < 0 ? FAILED : DONE;
	}
}

int
cmd_failed(const struct cmd *cmd, int code)
{
	const rp_error *error = rp_last_error(cmd->conn);

	return complain(status_of(code), "%s",
			*error->message ? error->message : rp_error_text(code));
}

/* What to do about it, as the library cannot know how it was named. */
int
not_opened(const char *url, int code, const rp_error *error)
{
	const char *hint = "";

	if (code == RP_ENODB)
		hint = is_file(url)
			       ? " (the command init makes it, --db names "
				 "another)"
			       : " (--db names another server, database or "
				 "user, ~/.pgpass has the password)";
	return complain(status_of(code), "%s%s", error->message, hint);
}

int
open_database(const char *url, int schema, rp_conn **ret, rp_error *error)
{
	rp_options options = RP_OPTIONS_INIT;

	options.schema = schema;
	return rp_open(url, &options, ret, error);
}

int
cmd_open(struct cmd *cmd)
{
	rp_error error;
	int r = open_database(cmd->url, cmd->schema, &cmd->conn, &error);

	return r < 0 ? not_opened(cmd->url, r, &error) : 0;
}

/* Refused weighs more than nothing there, and that more than done. */
int
worst(int a, int b)
{
	return a > b ? a : b;
}

/* ---- options ---- */

static int
set_number(const struct cmd *cmd, const struct option *option,
	   const char *value)
{
	static const struct {
		int (*parse)(const char *, int64_t *);
		const char *expected;
	} types[] = {
		[COUNT] = { parse_count, "a count, such as 10 or 5k" },
		[SIZE] = { parse_size, "a size, such as 512, 64KiB or 1MiB" },
		[DURATION] = { rp_duration,
			       "a duration, such as 500ms, 10s, 5m, 2h or 7d" },
		[TIME] = { parse_time, "a time, such as 2026-01-31T18:00:00Z "
				       "or @1767225600" },
	};

	if (!types[option->type].parse ||
	    types[option->type].parse(value, option->to) < 0)
		return usage(cmd, "%s %.80s: expected %s", option->name, value,
			     types[option->type].expected);
	return 0;
}

static int
set_priority(const struct cmd *cmd, const struct option *option,
	     const char *value)
{
	int64_t n;

	if (parse_count(value, &n) < 0 || n > RP_MOST_PRIORITY)
		return usage(cmd, "%s %.80s: expected 0 to %d", option->name,
			     value, RP_MOST_PRIORITY);
	*(int64_t *)option->to = n;
	return 0;
}

static int
add_text(const struct cmd *cmd, struct texts *texts, const char *value)
{
	const char **items =
		realloc(texts->items, (texts->count + 1) * sizeof(*items));

	if (!items)
		return usage(cmd, "out of memory");
	texts->items = items;
	items[texts->count++] = value;
	return 0;
}

static int
set_option(const struct cmd *cmd, const struct option *option,
	   const char *value)
{
	switch (option->type) {
	case FLAG:
		*(int *)option->to = 1;
		return 0;
	case TEXT:
		*(const char **)option->to = value;
		return 0;
	case TEXTS:
		return add_text(cmd, option->to, value);
	case PRIORITY:
		return set_priority(cmd, option, value);
	default:
		return set_number(cmd, option, value);
	}
}

static const struct option *
find_option(const struct option *options, const char *arg)
{
	size_t n = strcspn(arg, "=");

	for (; options->name; options++)
		if (strlen(options->name) == n &&
		    strncmp(options->name, arg, n) == 0)
			return options;
	return NULL;
}

static int
no_such_option(const struct cmd *cmd, const char *name)
{
	if (strcspn(name, "=") == 4 && strncmp(name, "--db", 4) == 0)
		return usage(cmd, "--db stands before the command");
	return usage(cmd, "no such option: %.80s", name);
}

/* `--name ARG`, or `-n`. */
static int
print_head(char *to, size_t room, const struct option *option)
{
	return snprintf(to, room, "%s%s%s", option->name,
			option->arg ? " " : "", option->arg ? option->arg : "");
}

/* The lines of its help, one below the other. */
static void
print_option(const struct option *option, int width)
{
	const char *line = option->help;
	char head[64];

	print_head(head, sizeof(head), option);
	printf("  %-*s  ", width, head);
	for (size_t n; line[n = strcspn(line, "\n")]; line += n + 1)
		printf("%.*s\n%*s", (int)n, line, width + 4, "");
	puts(line);
}

static int
print_help(const struct cmd *cmd, const struct option *options)
{
	const struct command *c = find_command(cmd->name);
	char head[64];
	int width = 0;

	printf("usage: readpast [--db URL] %s %s\n%s\n", c->name, c->usage,
	       c->summary);
	if (c->note)
		printf("\n%s", c->note);
	if (options->name)
		putchar('\n');
	for (const struct option *o = options; o->name; o++) {
		int n = print_head(head, sizeof(head), o);

		width = n > width ? n : width;
	}
	for (; options->name; options++)
		print_option(options, width);
	return HELPED;
}

int
parse_options(const struct cmd *cmd, int *argc, char **argv,
	      const struct option *options)
{
	int kept = 0, status;

	for (int i = 0; i < *argc; i++) {
		const struct option *option;
		const char *value = strchr(argv[i], '=');

		if (strcmp(argv[i], "--") == 0) {
			while (++i < *argc)
				argv[kept++] = argv[i];
			break;
		}
		if (argv[i][0] != '-' || !argv[i][1]) {
			argv[kept++] = argv[i];
			continue;
		}
		if (strcmp(argv[i], "--help") == 0)
			return print_help(cmd, options);
		option = find_option(options, argv[i]);
		if (!option)
			return no_such_option(cmd, argv[i]);
		if (option->type == FLAG && value)
			return usage(cmd, "%s takes no value", option->name);
		if (value)
			value++;
		else if (option->type != FLAG && ++i == *argc)
			return usage(cmd, "%s needs a value", option->name);
		else if (option->type != FLAG)
			value = argv[i];
		status = set_option(cmd, option, value);
		if (status)
			return status;
	}
	*argc = kept;
	return 0;
}

/* A command that looks at the jobs it is told, one by one: what it cannot show
 * keeps it from no other. */
int
each_job(struct cmd *cmd, int argc, char **argv, look_fn *look)
{
	int json = 0;
	const struct option options[] = {
		{ "--json", FLAG, &json, NULL, "JSON lines" },
		OPTIONS_END,
	};
	int status = parse_options(cmd, &argc, argv, options);
	int64_t id;

	if (status)
		return status;
	if (argc == 0)
		return usage(cmd, "which jobs?");
	for (int i = 0; i < argc; i++)
		if (parse_id(argv[i], &id) < 0)
			return usage(cmd, "%.80s: expected a job's id",
				     argv[i]);
	status = cmd_open(cmd);
	if (status)
		return status;
	for (int i = 0; i < argc && status != FAILED; i++) {
		parse_id(argv[i], &id);
		status = worst(status, look(cmd, id, i == 0, json));
	}
	return status;
}
