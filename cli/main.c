/*
 * main.c - the table of commands, and the way to one of them.
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

const struct command commands[] = {
	{ "enqueue", cmd_enqueue, CREATE, "QUEUE [PAYLOAD...]",
	  "put jobs in: one per argument, or per line of standard input",
	  "  -0                standard input is cut at NUL bytes\n"
	  "  --one             all of standard input is one payload\n"
	  "  --delay D         not before so long from now\n"
	  "  --at TIME         not before: 2026-01-31T18:00:00Z, @1767225600\n"
	  "  --priority N      0 to 255, lower first (the queue's)\n"
	  "  --unique KEY      unless a live job has the key: then its id\n"
	  "  --replace         ... it becomes this job, if it does not run\n"
	  "  --max-attempts N  attempts before it is dead (the queue's)\n"
	  "  --kind K          what sort of job it is\n"
	  "  --header K=V      a header; may be given several times\n"
	  "  --skip N          the first N jobs of the input are in already\n"
	  "  --quiet           print no ids\n" },
	{ "work", cmd_work, CREATE, "QUEUE... [-j N] -- CMD [ARG...]",
	  "run a command for each job",
	  "The payload is standard input, and {} in any argument.\n"
	  "Exit status 0: done; 65: dead; 75: released; others: failed.\n\n"
	  "  -j N               so many at a time (1)\n"
	  "  --lease D          renewed at a third (the queue's)\n"
	  "  --timeout D        a handler that takes longer has failed\n"
	  "  --release-delay D  ready again after status 75 (10s)\n"
	  "  --drain            exit when nothing is ready, due or running\n"
	  "  --max-jobs N       exit after so many\n"
	  "  --grace D          for running handlers, once told to end (30s)\n"
	  "  --log json         what happens, as JSON lines on standard "
	  "error\n" },
	{ "claim", cmd_claim, CREATE, "QUEUE", "claim jobs, as JSON lines",
	  "  -n N       up to so many (1)\n"
	  "  --lease D  hold them so long (the queue's)\n"
	  "  --wait D   wait so long for the first\n" },
	{ "complete", cmd_complete, REQUIRE, "CLAIM...",
	  "the jobs are done (CLAIM is ID:CLAIMNO)", NULL },
	{ "fail", cmd_fail, REQUIRE, "CLAIM... --error TEXT",
	  "the attempts failed",
	  "  --error TEXT  why\n"
	  "  --retry-in D  try again after so long (the queue's backoff)\n"
	  "  --for-good    never try again\n" },
	{ "release", cmd_release, REQUIRE, "CLAIM...",
	  "give the jobs back, the attempt not counted",
	  "  --delay D  ready after so long (at once)\n" },
	{ "extend", cmd_extend, REQUIRE, "CLAIM... --lease D",
	  "keep the jobs for so long from now", "  --lease D\n" },
	{ "cancel", cmd_cancel, REQUIRE, "ID...",
	  "cancel jobs that are not finished",
	  "  --kind K  only if they are of this kind\n" },
	{ "retry", cmd_retry, REQUIRE, "ID... | --dead QUEUE",
	  "send dead or cancelled jobs back to ready",
	  "  --dead QUEUE  all dead jobs of the queue\n"
	  "  --kind K      only those of this kind\n" },
	{ "purge", cmd_purge, REQUIRE, "QUEUE --state S --yes",
	  "forget the jobs in one state",
	  "  --state S  scheduled, ready, dead, done, cancelled, or all\n"
	  "  --kind K   only those of this kind\n"
	  "  --yes      really\n" },
	{ "list", cmd_list, REQUIRE, "QUEUE", "live jobs in claim order",
	  "  --state S  only those in a state; also dead, done, cancelled\n"
	  "  --limit N  so many (50)\n"
	  "  --json\n" },
	{ "show", cmd_show, REQUIRE, "ID...", "everything about a job",
	  "  --json\n" },
	{ "why", cmd_why, REQUIRE, "ID...", "why a job does not run",
	  "  --json\n" },
	{ "stats", cmd_stats, REQUIRE, "[QUEUE]", "queues in numbers",
	  "  --json\n" },
	{ "workers", cmd_workers, REQUIRE, "", "who serves", "  --json\n" },
	{ "top", cmd_top, REQUIRE, "", "queues as they go, on a terminal",
	  "Keys: tab and the arrows choose; p pauses a queue, u resumes it;\n"
	  "c cancels a running job, r retries a dead one; q quits.\n\n"
	  "  --interval D  look so often (1s)\n" },
	{ "queue set", cmd_queue_set, CREATE, "QUEUE [SETTING...]",
	  "change a queue's settings, or make a queue",
	  "  --max-attempts N    --lease D       --backoff D\n"
	  "  --backoff-max D     --priority N    --keep-done D\n"
	  "  --keep-dead D       --max-payload SIZE\n" },
	{ "queue list", cmd_queue_list, REQUIRE, "", "queues, their settings",
	  "  --json\n" },
	{ "queue drop", cmd_queue_drop, REQUIRE, "QUEUE --yes",
	  "remove a queue and all its jobs; refused while jobs run",
	  "  --yes  really\n" },
	{ "pause", cmd_pause, REQUIRE, "QUEUE", "hand out no more jobs", NULL },
	{ "resume", cmd_resume, REQUIRE, "QUEUE", "go on handing out", NULL },
	{ "sweep", cmd_sweep, REQUIRE, "",
	  "due jobs, leases that ran out, jobs kept too long", NULL },
	{ "init", cmd_init, INSTALL, "",
	  "create the database, or put our tables beside others",
	  "  --after-restore  a backup was put back: give no id again that "
	  "was\n"
	  "                   given since it was made\n" },
	{ "copy", cmd_copy, REQUIRE, "FROM TO [QUEUE...]",
	  "copy or move queues to another database",
	  "FROM and TO are URLs, as --db takes them. All queues, if none is "
	  "named.\n\n"
	  "  --move       what is in the target leaves the source\n"
	  "  --running R  wait for running jobs, or leave them there (wait)\n"
	  "  --json\n" },
	{ "doctor", cmd_doctor, REQUIRE, "",
	  "what is wrong with the database, or will be",
	  "Exit status 0: nothing was found; 1: something was.\n\n"
	  "  --long D  what is open, paused or waits for longer is found "
	  "(1m)\n"
	  "  --json\n" },
	{ "check", cmd_check, REQUIRE, "FILE...",
	  "check histories against the promises",
	  "  --left QUEUE  look there for what is not finished\n"
	  "  --json\n" },
	{ "lab", cmd_lab, INSTALL, "[TECHNIQUE...]",
	  "ways to take jobs from a table, run side by side",
	  "  --workers N  processes (4)\n"
	  "  --jobs N     rows in the table (500)\n"
	  "  --delay D    so long each job takes (2ms)\n"
	  "  --list       the techniques\n"
	  "  --explain T  one of them: its story, and the SQL\n"
	  "  --json\n" },
	{ "stress", cmd_stress, CREATE, "",
	  "a load of its own on a queue of its own, and the proof",
	  "  --producers N    processes that enqueue (1)\n"
	  "  --workers N      processes that work (2)\n"
	  "  -j N             threads of each worker (2)\n"
	  "  --jobs N         so many (10k)\n"
	  "  --for D          ... or as many as so long a time takes\n"
	  "  --fill           workers start when all are enqueued\n"
	  "  --payload SIZE   (200)\n"
	  "  --batch N        jobs enqueued at a time (100)\n"
	  "  --work-time D    how long a handler takes (0)\n"
	  "  --fail-rate P    so many attempts fail, 0 to 1 (0)\n"
	  "  --lease D        (2s)\n"
	  "  --kill-every D   kill a worker with SIGKILL, start another\n"
	  "  --stall-every D  stop a worker for longer than its lease\n"
	  "  --pin-snapshot   hold an old snapshot of the database\n"
	  "  --seed N         the same chances again\n"
	  "  --json\n" },
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

void
command_help(FILE *to, const struct command *c)
{
	fprintf(to, "usage: readpast [--db URL] %s %s\n%s\n", c->name, c->usage,
		c->summary);
	if (c->options)
		fprintf(to, "\n%s", c->options);
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
	char name[64] = "";

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
	command_help(stdout, find_command(name));
	return DONE;
}

int
cmd_version(struct cmd *cmd, int argc, char **argv)
{
	(void)argv;
	if (argc)
		return usage(cmd, "takes no arguments");
	printf("readpast %s\n", rp_version());
	return DONE;
}

/* The command that argv begins with; *used: of how many words its name is.
 * `queue pause` is `pause`. */
static const struct command *
command_of(int argc, char **argv, int *used)
{
	char two[64];

	*used = 1;
	if (strcmp(argv[0], "queue") != 0 || argc < 2)
		return find_command(argv[0]);
	*used = 2;
	snprintf(two, sizeof(two), "queue %s", argv[1]);
	if (strcmp(argv[1], "pause") == 0 || strcmp(argv[1], "resume") == 0)
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

/* Options in front of the command. Their number, or -1 (said). */
static int
global_options(struct cmd *cmd, int argc, char **argv, const char **history)
{
	static char help[] = "help", version[] = "version";
	int i = 0;

	for (; i < argc && argv[i][0] == '-'; i++) {
		const char **to = NULL;
		const char *value = strchr(argv[i], '=');
		size_t n = strcspn(argv[i], "=");

		if (strncmp(argv[i], "--db", n) == 0 && n == 4)
			to = &cmd->url;
		else if (strncmp(argv[i], "--history", n) == 0 && n == 9)
			to = history;
		else if (strcmp(argv[i], "--help") == 0 ||
			 strcmp(argv[i], "-h") == 0)
			argv[i] = help;
		else if (strcmp(argv[i], "--version") == 0)
			argv[i] = version;
		if (argv[i][0] != '-')
			return i;
		if (!to) {
			complain(USAGE,
				 "no such option: %.80s (see readpast "
				 "help)",
				 argv[i]);
			return -1;
		}
		*to = value ? value + 1 : ++i < argc ? argv[i] : NULL;
		if (!*to) {
			complain(USAGE, "%s needs a value", argv[i - 1]);
			return -1;
		}
	}
	return i;
}

/* A file that we open must not become a standard stream that was closed: what
 * comes in its place fails just so. */
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
	if (asks_for_help(argc, argv)) {
		command_help(stdout, command);
		status = DONE;
	} else {
		status = command->run(cmd, argc, argv);
	}
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
	struct cmd cmd = { .url = getenv("READPAST_DB") };
	const char *history = getenv("READPAST_HISTORY");
	const struct command *command;
	int skip, used, status;

	hold_standard_streams();
	signal(SIGPIPE, SIG_IGN);
	if (!cmd.url || !*cmd.url)
		cmd.url = "sqlite:readpast.db";
	skip = global_options(&cmd, argc - 1, argv + 1, &history);
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
	if (history && *history && command->run != cmd_check) {
		cmd.history = history_open(history);
		if (!cmd.history)
			return FAILED;
		/* What handlers do themselves belongs to it too. */
		setenv("READPAST_HISTORY", history, 1);
	}
	status = run(&cmd, command, argc - used, argv + used);
	history_close(cmd.history);
	return status;
}
