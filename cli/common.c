/*
 * common.c - error messages and option parsing for all commands.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "cmd.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "history.h"
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
	/* Write the line with one fprintf() call, because other processes may
	 * write to standard error, too. */
	fprintf(stderr, "readpast: %s\n", text);
	return status;
}

/* Print an error as complain() does, and tell the user which help to read. */
int
usage(const struct cmd *cmd, const char *format, ...)
{
	char text[512];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (!cmd->name)
		return complain(USAGE, "%s (see readpast help)", text);
	return complain(USAGE, "%s: %s (see readpast help %s)", cmd->name, text,
			cmd->name);
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

/* Returns the worse of two exit statuses. "refused" is worse than "nothing
 * found", which is worse than "done". */
int
worst(int a, int b)
{
	return a > b ? a : b;
}

int
check_name(const struct cmd *cmd, const char *what, const char *name,
	   size_t most)
{
	rp_error error;

	return rp__check_name(&error, what, name, most) < 0
		       ? usage(cmd, "%s", error.message)
		       : 0;
}

/* Refuse a name that begins with a dash, because other commands would read it
 * as an option. */
int
check_new_queue(const struct cmd *cmd, const char *name)
{
	return *name == '-'
		       ? usage(cmd,
			       "%.80s: a queue's name cannot begin with a "
			       "dash, because it would look like an option",
			       name)
		       : check_name(cmd, "the queue's name", name,
				    RP_MOST_NAME);
}

/* ---- options ---- */

static int
parse_limit(const char *value, int64_t *ret)
{
	if (strcmp(value, "none") != 0)
		return parse_count(value, ret) == 0 && *ret > 0 &&
				       *ret <= RP_MOST_LIMIT
			       ? 0
			       : -1;
	*ret = 0;
	return 0;
}

static int
set_number(const struct cmd *cmd, const struct option *option,
	   const char *value)
{
	static const struct {
		int (*parse)(const char *, int64_t *);
		const char *expected;
	} types[] = {
		[COUNT] = { parse_count, "a count, such as 10 or 5k" },
		[LIMIT] = { parse_limit,
			    "1 to " DIGITS(RP_MOST_LIMIT) ", or none" },
		[SIZE] = { parse_size, "a size, such as 512, 64KiB or 1MiB" },
		[DURATION] = { rp_duration,
			       "a duration, such as 500ms, 10s, 5m, 2h or 7d, "
			       "at most " DIGITS(RP_MOST_DAYS) "d" },
		[TIME] = { parse_time,
			   "a time with a zone, such as 2026-01-31T18:00:00Z "
			   "or 2026-01-31T19:00:00+01:00, or seconds since "
			   "1970, such as @1767225600" },
	};
	int (*parse)(const char *, int64_t *) = types[option->type].parse;
	int r = parse ? parse(value, option->to) : -1;

	if (r < 0 && option->type == TIME && time_problem(r))
		return usage(cmd, "%s %.80s: %s", option->name, value,
			     time_problem(r));
	if (r < 0)
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
add_text(struct texts *texts, const char *value)
{
	const char **items =
		realloc(texts->items, (texts->count + 1) * sizeof(*items));

	if (!items)
		return complain(FAILED, "out of memory");
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
	case OPTIONAL:
		*(const char **)option->to = value ? value : "";
		return 0;
	case TEXTS:
		return add_text(option->to, value);
	case PRIORITY:
		return set_priority(cmd, option, value);
	default:
		return set_number(cmd, option, value);
	}
}

/* Returns whether `arg` contains the option's name. The forms are `--name`,
 * `--name=VALUE`, `-n`, `-n=VALUE` and, if the option takes a value,
 * `-nVALUE`. */
static int
is_named(const struct option *option, const char *arg)
{
	size_t n = strlen(option->name);

	if (strncmp(option->name, arg, n) != 0)
		return 0;
	return arg[n] == '\0' || arg[n] == '=' ||
	       (n == 2 && option->type != FLAG);
}

static const struct option *
find_option(const struct option *options, const char *arg)
{
	for (; options->name; options++)
		if (is_named(options, arg))
			return options;
	return NULL;
}

/* Returns the value that is attached to the option's name, or NULL. */
static const char *
attached_value(const struct option *option, const char *arg)
{
	arg += strlen(option->name);
	return *arg == '=' ? arg + 1 : *arg ? arg : NULL;
}

int
take_option(struct cmd *cmd, const struct option *options, int argc,
	    char **argv, int *i)
{
	const struct option of_all_commands[] = {
		{ "--db", TEXT, &cmd->url, "URL", "the database" },
		{ "--history", TEXT, &cmd->history_file, "FILE",
		  "append the history of events to this file" },
		OPTIONS_END,
	};
	const struct option *option = find_option(options, argv[*i]);
	const char *value;

	if (!option)
		option = find_option(of_all_commands, argv[*i]);
	if (!option)
		return usage(cmd, "no such option: %.80s", argv[*i]);
	value = attached_value(option, argv[*i]);
	if (option->type == OPTIONAL && !value && *i + 1 < argc &&
	    strcmp(argv[*i + 1], option->arg) == 0)
		return usage(cmd, "%s %s: write %s=%s", option->name,
			     option->arg, option->name, option->arg);
	if (option->type == FLAG && value)
		return usage(cmd, "%s takes no value", option->name);
	if (option->type != FLAG && option->type != OPTIONAL && !value) {
		if (++*i == argc)
			return usage(cmd, "%s needs a value", option->name);
		value = argv[*i];
	}
	return set_option(cmd, option, value);
}

/* Format the first part of an option's help: `--name ARG`, `--name[=ARG]` or
 * `-n`. */
static int
print_head(char *to, size_t room, const struct option *option)
{
	if (option->type == OPTIONAL)
		return snprintf(to, room, "%s[=%s]", option->name, option->arg);
	return snprintf(to, room, "%s%s%s", option->name,
			option->arg ? " " : "", option->arg ? option->arg : "");
}

/* Print an option's help, which may have several lines. */
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

	printf("usage: readpast [--db URL] %s%s%s\n%s\n", c->name,
	       *c->usage ? " " : "", c->usage, c->summary);
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

/* Open the history. Call this after all options are read, because --history may
 * be the last option. */
static int
keep_history(struct cmd *cmd)
{
	if (!cmd->history_file || !*cmd->history_file)
		return 0;
	cmd->history = history_open(cmd->history_file);
	if (!cmd->history)
		return FAILED;
	/* Make handlers and other child processes write to the same history. */
	setenv("READPAST_HISTORY", cmd->history_file, 1);
	return 0;
}

int
parse_options(struct cmd *cmd, int *argc, char **argv,
	      const struct option *options)
{
	int kept = 0, status;

	for (int i = 0; i < *argc; i++) {
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
		status = take_option(cmd, options, *argc, argv, &i);
		if (status)
			return status;
	}
	*argc = kept;
	return keep_history(cmd);
}
