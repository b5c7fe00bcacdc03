/*
 * main.c - the table of commands, and how one is found and run.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "cmd.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "history.h"

#define CREATE RP_SCHEMA_CREATE
#define REQUIRE RP_SCHEMA_REQUIRE
#define INSTALL RP_SCHEMA_INSTALL
/* The note of commands that take a filter. */
#define FILTER                                                                 \
	"FILTER: what the jobs have in common, one of --queue to --older or "  \
	"several.\n"

const struct command commands[] = {
	{ "enqueue", cmd_enqueue, CREATE, "QUEUE [PAYLOAD...]",
	  "put jobs in: one per argument, or per line of standard input",
	  NULL },
	{ "work", cmd_work, REQUIRE, "QUEUE... [-j N] -- CMD [ARG...]",
	  "run a command for each job",
	  "The payload is standard input, and {} in any argument; {} in a "
	  "line\n"
	  "of shell, as in sh -c 'echo {}', would run what payloads say.\n"
	  "Exit status 0: done; 65: dead; 75: released; others: failed.\n"
	  "With --drain or --max-jobs it exits with 7 if a job died.\n" },
	{ "claim", cmd_claim, REQUIRE, "QUEUE", "claim jobs, as JSON lines",
	  NULL },
	{ "complete", cmd_complete, REQUIRE, "CLAIM...",
	  "the jobs are done (CLAIM is ID:CLAIMNO)", NULL },
	{ "fail", cmd_fail, REQUIRE, "CLAIM... --error TEXT",
	  "the attempts failed", NULL },
	{ "release", cmd_release, REQUIRE, "CLAIM...",
	  "give the jobs back, the attempt not counted", NULL },
	{ "extend", cmd_extend, REQUIRE, "CLAIM... --lease D",
	  "keep the jobs for so long from now", NULL },
	{ "cancel", cmd_cancel, REQUIRE, "ID... | FILTER",
	  "cancel jobs that are not finished", FILTER },
	{ "retry", cmd_retry, REQUIRE, "ID... | FILTER",
	  "send dead or cancelled jobs back to ready",
	  FILTER "Dead jobs, unless --state says otherwise.\n" },
	{ "purge", cmd_purge, REQUIRE, "QUEUE | FILTER --state S --yes",
	  "forget the jobs in one state", FILTER },
	{ "list", cmd_list, REQUIRE, "[QUEUE]", "live jobs in claim order",
	  "With --error also dead ones.\n" },
	{ "show", cmd_show, REQUIRE, "ID... | FILTER", "everything about a job",
	  FILTER },
	{ "why", cmd_why, REQUIRE, "ID... | FILTER", "why a job does not run",
	  FILTER },
	{ "stats", cmd_stats, REQUIRE, "[QUEUE]", "queues in numbers", NULL },
	{ "workers", cmd_workers, REQUIRE, "", "who serves", NULL },
	{ "top", cmd_top, REQUIRE, "", "queues as they go, on a terminal",
	  "Keys: tab and the arrows choose; p pauses a queue, u resumes it;\n"
	  "c cancels a running job, r retries a dead one; q quits.\n"
	  "The four ask first, on the last line.\n" },
	{ "queue set", cmd_queue_set, CREATE, "QUEUE [SETTING...]",
	  "change a queue's settings, or make a queue", NULL },
	{ "queue list", cmd_queue_list, REQUIRE, "[QUEUE]",
	  "queues, their settings", NULL },
	{ "queue drop", cmd_queue_drop, REQUIRE, "QUEUE --yes",
	  "remove a queue and all its jobs; refused while jobs run", NULL },
	{ "pause", cmd_pause, REQUIRE, "QUEUE", "hand out no more jobs", NULL },
	{ "resume", cmd_resume, REQUIRE, "QUEUE", "go on handing out", NULL },
	{ "cron next", cmd_cron_next, REQUIRE, "SPEC [--zone ZONE]",
	  "when a schedule fires; needs no database",
	  "SPEC: five fields of a crontab ('30 2 * * 1-5'), @daily and the "
	  "like,\n"
	  "or 'every 90s', which counts from --from.\n" },
	{ "sweep", cmd_sweep, REQUIRE, "",
	  "due jobs, leases that ran out, jobs kept too long", NULL },
	{ "init", cmd_init, INSTALL, "",
	  "create the database, or put our tables beside others", NULL },
	{ "copy", cmd_copy, REQUIRE, "FROM TO [QUEUE...]",
	  "copy or move queues to another database",
	  "FROM and TO are URLs, as --db takes them. All queues, if none is "
	  "named.\n" },
	{ "doctor", cmd_doctor, REQUIRE, "",
	  "what is wrong with the database, or will be",
	  "Exit status 1: danger or trouble was found; 0: neither was.\n" },
	{ "check", cmd_check, REQUIRE, "FILE...",
	  "check histories against the promises", NULL },
	{ "lab", cmd_lab, INSTALL, "[TECHNIQUE...]",
	  "ways to take jobs from a table, run side by side", NULL },
	{ "stress", cmd_stress, CREATE, "",
	  "a load of its own on a queue of its own, and the proof", NULL },
	{ "version", cmd_version, REQUIRE, "", "print the version", NULL },
	{ "help", cmd_help, REQUIRE, "[COMMAND]", "this", NULL },
	{ NULL, NULL, 0, NULL, NULL, NULL },
};

const struct command *
find_command(const char *name)
{
	const struct command *c = commands;

	while (c->name && strcmp(c->name, name) != 0)
		c++;
	return c->name ? c : NULL;
}

/* Each command prints its own help, because it owns the table of its options.
 * The second argument satisfies a command that needs a `--`. */
static int
command_help(struct cmd *cmd, const struct command *command)
{
	static char help[] = "--help", end[] = "--", word[] = "help";
	char *argv[] = { help, end, word, NULL };

	cmd->name = command->name;
	return command->run(cmd, 3, argv) == HELPED ? DONE : FAILED;
}

static void
general_help(FILE *to)
{
	fputs("usage: readpast [--db URL] [--history FILE] COMMAND ...\n"
	      "A durable work queue in a SQL database.\n\n",
	      to);
	for (const struct command *c = commands; c->name; c++)
		fprintf(to, "  %-10s  %s\n", c->name, c->summary);
	fputs("\nThe database is --db, READPAST_DB, or sqlite:readpast.db here."
	      "\nreadpast help COMMAND tells more; so does man readpast.\n",
	      to);
}

int
cmd_help(struct cmd *cmd, int argc, char **argv)
{
	const struct option options[] = { OPTIONS_END };
	char name[64] = "";
	int status = parse_options(cmd, &argc, argv, options);

	if (status)
		return status;
	if (argc == 0) {
		general_help(stdout);
		return DONE;
	}
	for (int i = 0; i < argc; i++)
		snprintf(name + strlen(name), sizeof(name) - strlen(name),
			 "%s%s", i ? " " : "", argv[i]);
	if (!find_command(name))
		return complain(USAGE, "%s: no such command: %.40s", cmd->name,
				name);
	return command_help(cmd, find_command(name));
}

int
cmd_version(struct cmd *cmd, int argc, char **argv)
{
	int json = 0;
	const struct option options[] = { JSON_OPTION(&json), OPTIONS_END };
	int status = parse_options(cmd, &argc, argv, options);

	if (status)
		return status;
	if (argc)
		return usage(cmd, "takes no arguments");
	if (json) {
		const struct member members[] = {
			{ "version", json_text(rp_version()) },
		};

		return print_json(JSON_MEMBERS(members));
	}
	printf("readpast %s\n", rp_version());
	return DONE;
}

/* Do these commands have names of two words? */
static int
is_group(const char *word)
{
	return strcmp(word, "queue") == 0 || strcmp(word, "cron") == 0;
}

/* Find the command that argv begins with; *used is the number of words in its
 * name. `queue pause` is the same as `pause`. */
static const struct command *
command_of(int argc, char **argv, int *used)
{
	char two[64];

	*used = 1;
	if (!is_group(argv[0]) || argc < 2)
		return find_command(argv[0]);
	*used = 2;
	snprintf(two, sizeof(two), "%s %s", argv[0], argv[1]);
	if (strcmp(two, "queue pause") == 0 || strcmp(two, "queue resume") == 0)
		return find_command(argv[1]);
	return find_command(two);
}

static int
asks_for_help(int argc, char **argv)
{
	for (int i = 0; i < argc && strcmp(argv[i], "--") != 0; i++)
		if (strcmp(argv[i], "--help") == 0 ||
		    strcmp(argv[i], "-h") == 0)
			return 1;
	return 0;
}

/* Parse options before the command. Returns how many arguments they take, or -1
 * after a complaint. */
static int
global_options(struct cmd *cmd, int argc, char **argv)
{
	static char help[] = "help", version[] = "version";
	const struct option none[] = { OPTIONS_END };
	int i = 0;

	for (; i < argc && argv[i][0] == '-'; i++) {
		if (strcmp(argv[i], "--help") == 0 ||
		    strcmp(argv[i], "-h") == 0)
			argv[i] = help;
		else if (strcmp(argv[i], "--version") == 0)
			argv[i] = version;
		if (argv[i][0] != '-')
			return i;
		if (take_option(cmd, none, argc, argv, &i))
			return -1;
	}
	return i;
}

/* If a standard stream is closed, the next file that we open would take its
 * place. Put /dev/null there, opened so that using it still fails. */
static void
hold_standard_streams(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 && errno == EBADF)
			open("/dev/null",
			     fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

static int
run(struct cmd *cmd, const struct command *command, int argc, char **argv)
{
	int status;

	cmd->name = command->name;
	cmd->schema = command->schema;
	status = asks_for_help(argc, argv) ? command_help(cmd, command)
					   : command->run(cmd, argc, argv);
	rp_close(cmd->conn);
	if ((fflush(stdout) == EOF || ferror(stdout)) && status != FAILED)
		status = complain(FAILED,
				  "cannot write to standard output: "
				  "%s",
				  strerror(errno));
	return status;
}

int
main(int argc, char **argv)
{
	struct cmd cmd = { .url = getenv("READPAST_DB"),
			   .history_file = getenv("READPAST_HISTORY") };
	const struct command *command;
	int skip, used, status;

	hold_standard_streams();
	signal(SIGPIPE, SIG_IGN);
	if (!cmd.url || !*cmd.url)
		cmd.url = "sqlite:readpast.db";
	skip = global_options(&cmd, argc - 1, argv + 1);
	if (skip < 0)
		return USAGE;
	argc -= 1 + skip;
	argv += 1 + skip;
	if (argc == 0) {
		general_help(stderr);
		return USAGE;
	}
	command = command_of(argc, argv, &used);
	if (!command && asks_for_help(argc, argv)) {
		general_help(stdout);
		return DONE;
	}
	if (!command)
		return complain(USAGE,
				"no such command: %.40s%s%.40s (see "
				"readpast help)",
				argv[0], used > 1 ? " " : "",
				used > 1 ? argv[1] : "");
	/* `check` reads histories, and must not append to one that it reads. */
	if (command->run == cmd_check)
		cmd.history_file = NULL;
	status = run(&cmd, command, argc - used, argv + used);
	history_close(cmd.history);
	return status;
}
