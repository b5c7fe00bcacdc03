/*
 * cmd_enqueue.c - the command `enqueue`: put jobs into a queue.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "input.h"

#include <stdlib.h>
#include <string.h>

#include "trace.h"

static int
run(struct input *in, int argc, char **argv)
{
	int status = cmd_open(in->cmd);

	in->queue = argv[0];
	if (!status && in->await.wanted)
		status = await_prepare(&in->await, in->cmd, in->queue,
				       &in->model);
	if (status)
		return status;
	if (argc > 1) {
		in->word = "argument";
		status = enqueue_arguments(in, argc - 1, argv + 1);
	} else {
		in->most = most_payload(in->cmd, in->queue);
		catch_interrupts();
		status = enqueue_input(in);
		free(in->text);
	}
	if (interrupted()) {
		rp_close(in->cmd->conn);
		in->cmd->conn = NULL;
		end_if_interrupted();
	}
	if (!status && !in->refused)
		status = await_all(&in->await);
	free(in->await.ids);
	return status ? status : in->refused;
}

static int
check_usage(const struct input *in, int argc, char **argv, int64_t max_attempts)
{
	const struct cmd *cmd = in->cmd;

	if (argc < 1)
		return usage(cmd, "which queue?");
	if (check_new_queue(cmd, argv[0]))
		return USAGE;
	if (in->model.delay_ms && in->model.run_at)
		return usage(cmd, "give either --delay or --at, not both");
	if (in->model.replace && !in->model.unique_key)
		return usage(cmd, "--replace needs --unique KEY");
	if (max_attempts == 0 || max_attempts > RP_MOST_ATTEMPTS)
		return usage(cmd, "--max-attempts %lld: expected 1 to %d",
			     (long long)max_attempts, RP_MOST_ATTEMPTS);
	if (in->model.kind &&
	    check_name(cmd, "the kind", in->model.kind, RP_MOST_NAME))
		return USAGE;
	if (in->model.unique_key &&
	    check_name(cmd, "the unique key", in->model.unique_key,
		       RP_MOST_KEY))
		return USAGE;
	if (in->model.group_key &&
	    check_name(cmd, "the group", in->model.group_key, RP_MOST_KEY))
		return USAGE;
	if (argc > 1 && (in->one || in->separator != '\n'))
		return usage(cmd, "-0 and --one apply to standard input: give "
				  "no payloads as arguments");
	if (in->await.how.result && (!in->await.wanted || in->json))
		return usage(cmd,
			     in->json ? "give --result or --json, not both: "
					"JSON lines have the results"
				      : "--result needs --wait");
	if (in->skip && in->one)
		return usage(cmd, "give either --skip or --one, not both");
	return 0;
}

/* Options that must be checked or converted before they are used. */
struct given {
	int nul;
	int64_t priority, max_attempts;
	struct texts headers;
	struct terms terms;
};

/* Check the options and enqueue the jobs. With --wait, the option --timeout is
 * the time-out of the wait instead of the handlers' time-out. */
static int
run_with(struct input *in, struct given *given, int argc, char **argv)
{
	char *json = NULL, *backoff = NULL;
	int status;

	in->separator = given->nul ? '\0' : '\n';
	status = check_usage(in, argc, argv, given->max_attempts);
	in->word = in->one ? "input" : given->nul ? "item" : "line";
	in->model.priority = (int)given->priority;
	in->model.max_attempts =
		given->max_attempts < 0 ? 0 : given->max_attempts;
	in->await.how.json = in->json;
	in->await.how.quiet = in->quiet;
	in->await.how.timeout_ms = given->terms.timeout_ms;
	if (in->await.wanted)
		given->terms.timeout_ms = -1;
	if (!status)
		status = take_terms(in->cmd, &given->terms, &in->model,
				    &backoff);
	if (!status && (given->headers.count || trace_is_set()) &&
	    !(json = make_headers(in->cmd, &given->headers, 1)))
		status = USAGE;
	in->model.headers = json && strcmp(json, "{}") != 0 ? json : NULL;
	if (!status)
		status = run(in, argc, argv);
	free(json);
	free(backoff);
	return status;
}

int
cmd_enqueue(struct cmd *cmd, int argc, char **argv)
{
	static struct input in;
	struct given given = { .priority = -1,
			       .max_attempts = -1,
			       .terms = { -1, -1, -1, -1, NULL } };
	const struct option options[] = {
		{ "-0", FLAG, &given.nul, NULL,
		  "split standard input at NUL bytes, not at newlines" },
		{ "--one", FLAG, &in.one, NULL,
		  "take all of standard input as one payload" },
		{ "--delay", DURATION, &in.model.delay_ms, "D",
		  "earliest start, counted from now" },
		{ "--at", TIME, &in.model.run_at, "TIME",
		  "earliest start: 2026-01-31T18:00:00Z, @1767225600" },
		{ "--priority", PRIORITY, &given.priority, "N",
		  PRIORITIES ", lower first (default: the queue's)" },
		{ "--unique", TEXT, &in.model.unique_key, "KEY",
		  "enqueue nothing if a live job has this key" },
		{ "--unique-for", DURATION, &given.terms.unique_for_ms, "D",
		  "with --unique: keep the key taken after the job is done" },
		{ "--replace", FLAG, &in.model.replace, NULL,
		  "with --unique: replace the live job, unless it is running" },
		{ "--max-attempts", COUNT, &given.max_attempts, "N",
		  "attempts before the job is dead (default: the queue's)" },
		{ "--backoff", TEXT, &given.terms.backoff, "LIST",
		  "delays after failures: 10s,1m,1h (default: the queue's)" },
		{ "--timeout", DURATION, &given.terms.timeout_ms, "D",
		  "longest time of a handler (default: the queue's);\n"
		  "with --wait: how long to wait" },
		{ "--expire", DURATION, &given.terms.expire_ms, "D",
		  "cancel the job if it has not started in this time" },
		{ "--keep", DURATION, &given.terms.keep_ms, "D",
		  "how long to keep the done job (default: the queue's)" },
		{ "--kind", TEXT, &in.model.kind, "K",
		  "what sort of job it is" },
		{ "--group", TEXT, &in.model.group_key, "G",
		  "the group to which it belongs, such as a customer" },
		{ "--header", TEXTS, &given.headers, "K=V",
		  "a header; may be given several times" },
		{ "--wait", FLAG, &in.await.wanted, NULL,
		  "wait for the jobs to end, as readpast wait does" },
		{ "--result", FLAG, &in.await.how.result, NULL,
		  "with --wait: print the results of the jobs" },
		{ "--skip", COUNT, &in.skip, "N",
		  "skip the first N jobs of the input" },
		{ "--quiet", FLAG, &in.quiet, NULL, "print no ids" },
		{ "--json", FLAG, &in.json, NULL,
		  "JSON lines: the id and the outcome of each job" },
		OPTIONS_END,
	};
	int status;

	in.cmd = cmd;
	in.model = (rp_job_spec)RP_JOB_SPEC_INIT;
	status = parse_options(cmd, &argc, argv, options);
	if (!status)
		status = run_with(&in, &given, argc, argv);
	free(given.headers.items);
	return status;
}
