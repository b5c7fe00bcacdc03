/*
 * main.c - the table of commands. Find the command that the user wrote, and run
 * it.
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
/* A paragraph in the help of the commands that accept a filter. */
#define FILTER                                                                 \
	"FILTER: one or more of the options --queue, --state, --kind, --key, " \
	"--group,\n--error and --older, but not --state alone. Jobs must "     \
	"match all of them.\n"

const struct command commands[] = {
	{ "enqueue", cmd_enqueue, CREATE, "QUEUE [PAYLOAD...]",
	  "add jobs: one for each argument, or line of standard input", NULL },
	{ "work", cmd_work, REQUIRE, "QUEUE... [-j N] -- CMD [ARG...]",
	  "run a command for each job, or post it to a URL",
	  "The command gets the payload on standard input, and in place of {}\n"
	  "in any argument. Do not put {} into shell code, as in sh -c 'echo "
	  "{}':\n"
	  "the shell would execute the payload.\n"
	  "Exit status 0: done; 65: dead; 75: released; others: failed.\n"
	  "With --post: 2xx is done, 429 and 503 release the job, other 4xx "
	  "make it\ndead, and after any other answer the attempt failed.\n"
	  "With --drain or --max-jobs, readpast exits with 7 if a job "
	  "died.\n" },
	{ "claim", cmd_claim, REQUIRE, "QUEUE",
	  "claim jobs, and print them as JSON lines", NULL },
	{ "complete", cmd_complete, REQUIRE, "CLAIM...",
	  "report that jobs are done (CLAIM is ID:CLAIMNO)", NULL },
	{ "fail", cmd_fail, REQUIRE, "CLAIM... --error TEXT",
	  "report that attempts failed", NULL },
	{ "release", cmd_release, REQUIRE, "CLAIM...",
	  "give jobs back, without counting the attempt", NULL },
	{ "extend", cmd_extend, REQUIRE, "CLAIM... [--lease D]",
	  "renew the leases of jobs", NULL },
	{ "cancel", cmd_cancel, REQUIRE, "ID... | FILTER",
	  "cancel jobs that are not finished", FILTER },
	{ "retry", cmd_retry, REQUIRE, "ID... | FILTER",
	  "make dead or cancelled jobs ready again",
	  FILTER "A filter finds dead jobs, unless --state says otherwise.\n" },
	{ "change", cmd_change, REQUIRE, "ID... | FILTER SETTING...",
	  "change jobs that are scheduled, ready or blocked",
	  FILTER "With ids, --queue means the same as --to.\n" },
	{ "purge", cmd_purge, REQUIRE, "QUEUE | FILTER --state S --yes",
	  "delete the jobs in one state", FILTER },
	{ "wait", cmd_wait, REQUIRE, "ID... | --queue Q",
	  "wait for the end of jobs",
	  "Exit status 0: all are done; 5: one was cancelled; 7: one is dead;\n"
	  "6: the wait timed out; 3: no job ever had one of the ids.\n" },
	{ "list", cmd_list, REQUIRE, "[QUEUE]",
	  "list unfinished jobs, in the order in which they are claimed",
	  "Finished jobs are listed with --state done, dead or cancelled; and\n"
	  "--error lists dead jobs, too. Without QUEUE it lists all "
	  "queues.\n" },
	{ "show", cmd_show, REQUIRE, "ID... | FILTER",
	  "print all fields of a job", FILTER },
	{ "why", cmd_why, REQUIRE, "ID... | FILTER",
	  "explain why a job does not run", FILTER },
	{ "stats", cmd_stats, REQUIRE, "[QUEUE]",
	  "count jobs, workers and rates of each queue", NULL },
	{ "workers", cmd_workers, REQUIRE, "", "list the workers", NULL },
	{ "top", cmd_top, REQUIRE, "",
	  "watch queues, workers and jobs on a terminal",
	  "Keys: tab and the arrows move the cursor; q quits; p pauses a "
	  "queue,\n"
	  "u resumes it; c cancels a running job, r retries a dead one.\n"
	  "The keys p, u, c and r ask for confirmation on the last line.\n" },
	{ "queue set", cmd_queue_set, CREATE, "QUEUE [SETTING...]",
	  "change a queue's settings, or create a queue", NULL },
	{ "queue list", cmd_queue_list, REQUIRE, "[QUEUE]",
	  "list queues and their settings", NULL },
	{ "queue drop", cmd_queue_drop, REQUIRE, "QUEUE --yes",
	  "delete a queue, its jobs and schedules; refused while jobs run",
	  NULL },
	{ "pause", cmd_pause, REQUIRE, "QUEUE",
	  "keep workers from claiming a queue's jobs", NULL },
	{ "resume", cmd_resume, REQUIRE, "QUEUE",
	  "let workers claim a paused queue's jobs again", NULL },
	{ "hold", cmd_hold, REQUIRE, "QUEUE --for D | --clear",
	  "for some time, start no job of a queue, or of one of its groups",
	  NULL },
	{ "groups", cmd_groups, REQUIRE, "QUEUE",
	  "list groups that have a limit or are held", NULL },
	{ "cron add", cmd_cron_add, CREATE, "QUEUE NAME SPEC",
	  "enqueue a job at each time that SPEC names",
	  "SPEC: five fields of a crontab ('30 2 * * 1-5'), @daily and the "
	  "like,\n"
	  "or 'every 90s'. Workers fire the schedules that are due.\n" },
	{ "cron list", cmd_cron_list, REQUIRE, "[NAME]",
	  "list schedules with their last and next fire", NULL },
	{ "cron run", cmd_cron_run, REQUIRE, "NAME",
	  "enqueue a job of a schedule now", NULL },
	{ "cron pause", cmd_cron_pause, REQUIRE, "NAME",
	  "stop firing a schedule", NULL },
	{ "cron resume", cmd_cron_resume, REQUIRE, "NAME",
	  "end a schedule's pause: it fires again at its next time", NULL },
	{ "cron remove", cmd_cron_remove, REQUIRE, "NAME",
	  "delete a schedule; its jobs stay", NULL },
	{ "cron apply", cmd_cron_apply, CREATE, "FILE",
	  "set the schedules as in a JSON file, delete all other ones",
	  "FILE: an array of objects with name, queue, spec, and the options "
	  "of\n"
	  "cron add as members; - is standard input.\n" },
	{ "cron next", cmd_cron_next, REQUIRE, "SPEC | NAME [--zone ZONE]",
	  "print when a schedule fires; a SPEC needs no database",
	  "SPEC: five fields of a crontab ('30 2 * * 1-5'), @daily and the "
	  "like,\n"
	  "or 'every 90s', which counts from --from. An argument with a space, "
	  "or with\n@ at its beginning, is a SPEC. If a schedule has such a "
	  "name,\n"
	  "`readpast cron list NAME` prints its next fire.\n" },
	{ "sweep", cmd_sweep, REQUIRE, "",
	  "make due jobs ready, recover lost jobs, delete old ones", NULL },
	{ "metrics", cmd_metrics, REQUIRE, "",
	  "print metrics of the database in the text format of Prometheus",
	  NULL },
#ifdef RP_HAVE_SERVE
	{ "serve", cmd_serve, CREATE, "[--listen ADDRESS...]",
	  "offer the queue over HTTP", NULL },
	{ "token add", cmd_token_add, CREATE, "NAME --may SCOPES",
	  "make a token for clients of serve, and print it",
	  "SCOPES: a list such as enqueue:mail,work:mail,read:*. A * at the "
	  "end\n"
	  "stands for any text. admin:QUEUE includes the other three.\n" },
	{ "token list", cmd_token_list, REQUIRE, "",
	  "list the tokens and what they allow", NULL },
	{ "token remove", cmd_token_remove, REQUIRE, "NAME",
	  "remove a token: servers refuse it within 2 s", NULL },
#endif
	{ "init", cmd_init, INSTALL, "",
	  "create the database, or our tables in an existing one", NULL },
	{ "copy", cmd_copy, REQUIRE, "FROM TO [QUEUE...]",
	  "copy or move queues to another database",
	  "FROM and TO are URLs, as for --db. Without QUEUE it copies all "
	  "queues.\n" },
	{ "doctor", cmd_doctor, REQUIRE, "",
	  "find what is wrong with the database, or soon will be",
	  "Exit status 1: it found danger or trouble; 0: it found neither.\n" },
	{ "check", cmd_check, REQUIRE, "FILE...",
	  "check that recorded histories keep the promises of readpast", NULL },
	{ "lab", cmd_lab, INSTALL, "[TECHNIQUE...]",
	  "compare ways to take jobs from a table", NULL },
	{ "stress", cmd_stress, CREATE, "",
	  "run a test load on a queue of its own, check the promises", NULL },
	{ "version", cmd_version, REQUIRE, "", "print the version", NULL },
	{ "help", cmd_help, REQUIRE, "[COMMAND]",
	  "print this list, or the help of a command", NULL },
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

/* Print a command's help by running it with --help, because only the command's
 * own function knows its options. Some commands refuse to run without `--` and
 * a program, so these two arguments are passed, too. */
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
		fprintf(to, "  %-12s  %s\n", c->name, c->summary);
	fputs("\n"
	      "--db or READPAST_DB names the database. The default is\n"
	      "sqlite:readpast.db in the current directory.\n"
	      "--history or READPAST_HISTORY names a file, to which readpast "
	      "appends a\n"
	      "line for each event, for readpast check.\n"
	      "For more, see readpast help COMMAND and man readpast.\n",
	      to);
}

/* Returns whether the command's name has two words, and the parameter `group`
 * is the first one. */
static int
is_in_group(const struct command *command, const char *group)
{
	size_t n = strlen(group);

	return strncmp(command->name, group, n) == 0 && command->name[n] == ' ';
}

static int
is_group(const char *word)
{
	for (const struct command *c = commands; c->name; c++)
		if (is_in_group(c, word))
			return 1;
	return 0;
}

/* Print the commands whose names begin with the word `group`. */
static void
group_help(FILE *to, const char *group)
{
	fprintf(to, "usage: readpast [--db URL] %s COMMAND ...\n\n", group);
	for (const struct command *c = commands; c->name; c++)
		if (is_in_group(c, group))
			fprintf(to, "  %-12s  %s\n", c->name, c->summary);
	fprintf(to, "\nFor more, see readpast help %s COMMAND.\n", group);
}

/* Find the command that argv begins with. *used gets the number of words in its
 * name. `queue pause` means the same as `pause`. */
static const struct command *
command_of(int argc, char **argv, int *used)
{
	char two[64];

	*used = 1;
	if (argc < 2 || !is_group(argv[0]))
		return find_command(argv[0]);
	*used = 2;
	snprintf(two, sizeof(two), "%s %s", argv[0], argv[1]);
	if (strcmp(two, "queue pause") == 0 || strcmp(two, "queue resume") == 0)
		return find_command(argv[1]);
	return find_command(two);
}

static int
no_such_command(int argc, char **argv)
{
	int group = is_group(argv[0]);

	return complain(USAGE,
			"no such command: %.40s%s%.40s (see readpast help%s%s)",
			argv[0], argc > 1 && group ? " " : "",
			argc > 1 && group ? argv[1] : "", group ? " " : "",
			group ? argv[0] : "");
}

int
cmd_help(struct cmd *cmd, int argc, char **argv)
{
	const struct option options[] = { OPTIONS_END };
	const struct command *command;
	int used, status = parse_options(cmd, &argc, argv, options);

	if (status)
		return status;
	if (argc == 0) {
		general_help(stdout);
		return DONE;
	}
	if (argc == 1 && is_group(argv[0])) {
		group_help(stdout, argv[0]);
		return DONE;
	}
	command = command_of(argc, argv, &used);
	if (!command)
		return no_such_command(argc, argv);
	if (argc > used)
		return usage(cmd, "%.40s: expected one command", argv[used]);
	return command_help(cmd, command);
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

static int
asks_for_help(int argc, char **argv)
{
	for (int i = 0; i < argc && strcmp(argv[i], "--") != 0; i++)
		if (strcmp(argv[i], "--help") == 0 ||
		    strcmp(argv[i], "-h") == 0)
			return 1;
	return 0;
}

/* Parse the options before the command. Returns the number of arguments
 * used, or -1 after printing an error. */
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

/* If a standard stream is closed, the next file that we open would get the
 * stream's number. So open /dev/null in its place, with an access mode that
 * makes each use of the stream fail as before. */
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
	if ((fflush(stdout) == EOF || ferror(stdout)) &&
	    !cmd->output_reported) {
		/* If an earlier write failed, errno has changed since. */
		int why = output_error();

		status = complain(FAILED,
				  "cannot write to standard output: "
				  "%s",
				  strerror(why ? why : errno));
	}
	return status;
}

/* Handle an argv that does not begin with a command's name. If the user asks
 * for help, or gives only the first word of a name of two words (such as `cron`
 * of `cron add`), print help. If not, print an error. */
static int
run_none(int argc, char **argv)
{
	int asks = asks_for_help(argc, argv), group = is_group(argv[0]);
	FILE *to = asks ? stdout : stderr;

	if (!asks && (argc > 1 || !group))
		return no_such_command(argc, argv);
	if (group)
		group_help(to, argv[0]);
	else
		general_help(to);
	return asks ? DONE : USAGE;
}

int
main(int argc, char **argv)
{
	struct cmd cmd = { .url = getenv("READPAST_DB"),
			   .history_file = getenv("READPAST_HISTORY") };
	const struct command *command;
	int skip, used, status;

	hold_standard_streams();
	/* A write to a closed pipe, or over the limit of a file's size, must
	 * fail, and not kill the process. */
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	/* If SIGCHLD is ignored, which exec() passes on, the kernel discards
	 * the exit statuses of our child processes. */
	signal(SIGCHLD, SIG_DFL);
	if (!cmd.url || !*cmd.url)
		cmd.url = "sqlite:readpast.db";
	skip = global_options(&cmd, argc - 1, argv + 1);
	if (skip < 0)
		return USAGE;
	argc -= 1 + skip;
	argv += 1 + skip;
	if (argc == 0 && skip)
		return complain(USAGE, "which command? (see readpast help)");
	if (argc == 0) {
		general_help(stderr);
		return USAGE;
	}
	command = command_of(argc, argv, &used);
	if (!command)
		return run_none(argc, argv);
	/* The command `check` reads histories. It writes no history, because it
	 * could append to a file that it reads. */
	if (command->run == cmd_check)
		cmd.history_file = NULL;
	status = run(&cmd, command, argc - used, argv + used);
	return history_close(cmd.history) < 0 && status == DONE ? FAILED
								: status;
}
