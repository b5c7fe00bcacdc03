/*
 * cmd_enqueue.c - put jobs into a queue.
 *
 * Payloads are collected in memory and committed together, so that the write
 * lock is never held while we wait for input. A batch is committed after 10,000
 * jobs, after 8 MiB, when the input pauses, and at its end.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "cmd.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "history.h"
#include "trace.h"
#include "waiting.h"

#define BATCH_JOBS 10000
#define BATCH_BYTES (8 * 1024 * 1024)
#define PAUSE_MS 50

struct input {
	struct cmd *cmd;
	const char *queue;
	const char *word;  /* how messages call a payload: "line", "argument" */
	rp_job_spec model; /* options that all jobs share */
	int quiet, json, one;
	char separator;
	size_t most;     /* largest payload that the queue takes, in bytes */
	int64_t skip;    /* --skip: number of jobs at the input's start to
			  * leave out */
	int64_t skipped; /* how many of those jobs were read so far */

	char *text; /* input that was read but not enqueued yet */
	size_t used, room;
	size_t first; /* offset in `text` of the first payload to enqueue */
	size_t whole; /* bytes of complete payloads in `text`, with
		       * separators */
	size_t ends[BATCH_JOBS];
	size_t skips[BATCH_JOBS]; /* bytes of the separator behind each
				   * payload */
	size_t count;
	int64_t enqueued; /* jobs enqueued so far, in all batches */
	int refused;      /* 0, or REFUSED if --replace found a running job */
	struct await await;
};

/* ---- stopping early ---- */

/* Report why the command stops, how many jobs are enqueued, and with which
 * --skip the user can go on. `unsure`: number of jobs in a commit whose
 * outcome is unknown. */
__attribute__((format(printf, 4, 5))) static int
stop(const struct input *in, int status, size_t unsure, const char *format, ...)
{
	long long done = in->skip + in->enqueued;
	char why[512], how[80] = "";
	va_list args;

	va_start(args, format);
	vsnprintf(why, sizeof(why), format, args);
	va_end(args);
	if (unsure)
		return complain(status,
				"%s; %lld job%s enqueued, and perhaps also the "
				"next %zu: if they are in the queue, go on "
				"with --skip %lld, else with --skip %lld",
				why, (long long)in->enqueued,
				plural(in->enqueued), unsure,
				done + (long long)unsure, done);
	if (done)
		snprintf(how, sizeof(how), ": go on with --skip %lld", done);
	return complain(status, "%s; %lld job%s enqueued%s", why,
			(long long)in->enqueued, plural(in->enqueued), how);
}

static int
out_of_memory(const struct input *in)
{
	return stop(in, FAILED, 0, "out of memory");
}

/* ---- a batch ---- */

static int
print_ids(struct input *in, const rp_added *added, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		int refused =
			in->model.replace && added[i].outcome == RP_EXISTED;

		history_enqueued(in->cmd->history, in->queue, &added[i]);
		if (in->json && !in->quiet && !in->await.wanted)
			print_json(json_added(in->queue, &added[i]));
		if (refused)
			in->refused =
				complain(REFUSED,
					 "job %lld cannot be replaced: it is "
					 "running, or done and its key still "
					 "taken",
					 (long long)added[i].id);
		else if (!in->json && !in->quiet && !in->await.wanted)
			printf("%lld\n", (long long)added[i].id);
	}
	in->enqueued += (int64_t)n;
	if (fflush(stdout) == EOF || ferror(stdout))
		return stop(in, FAILED, 0,
			    "cannot write to standard output: %s",
			    strerror(errno));
	return 0;
}

static int
too_large(const struct input *in)
{
	size_t most = most_payload(in->cmd, in->queue);

	return stop(
		in, USAGE, 0,
		"%s %lld: payload too large: queue %s takes at most %zu byte%s "
		"(readpast queue set %s --max-payload SIZE changes that)",
		in->word, (long long)(in->skip + in->enqueued + 1), in->queue,
		most, plural((int64_t)most), in->queue);
}

static int
refused(const struct input *in, int code, size_t n)
{
	const rp_error *error = rp_last_error(in->cmd->conn);

	return stop(in, status_of(code), code == RP_ELOST ? n : 0, "%s",
		    *error->message ? error->message : rp_error_text(code));
}

static int
enqueue(struct input *in, const rp_job_spec *jobs, size_t n)
{
	rp_added *added = calloc(n, sizeof(*added));
	int64_t bad;
	int r, status;

	if (!added)
		return out_of_memory(in);
	r = rp_enqueue_many(in->cmd->conn, in->queue, jobs, n, added);
	bad = rp_last_error(in->cmd->conn)->item;
	if (r == 0) {
		status = print_ids(in, added, n);
		if (!status && await_add(&in->await, added, n) < 0)
			status = out_of_memory(in);
	} else if (r != RP_EFBIG)
		status = refused(in, r, n);
	else if (bad < 1 || (status = enqueue(in, jobs, (size_t)bad)) == 0)
		status = too_large(in); /* the payloads before the one that is
					 * too large are enqueued */
	free(added);
	return status;
}

/* Remove the complete payloads from the buffer. An incomplete one stays. */
static void
drop_whole(struct input *in)
{
	memmove(in->text, in->text + in->whole, in->used - in->whole);
	in->used -= in->whole;
	in->first = in->whole = 0;
	in->count = 0;
}

/* Enqueue the complete payloads of the buffer. */
static int
flush(struct input *in)
{
	size_t n = in->count, from = in->first;
	rp_job_spec *jobs;
	int status;

	if (n == 0)
		return 0;
	jobs = calloc(n, sizeof(*jobs));
	if (!jobs)
		return out_of_memory(in);
	for (size_t i = 0; i < n; i++) {
		jobs[i] = in->model;
		jobs[i].payload = in->text + from;
		jobs[i].payload_size = in->ends[i] - from;
		from = in->ends[i] + in->skips[i];
	}
	status = enqueue(in, jobs, n);
	free(jobs);
	drop_whole(in);
	return status;
}

static int
add(struct input *in, size_t end, size_t skip)
{
	if (in->skipped < in->skip) {
		in->skipped++;
		in->first = in->whole = end + skip;
		return 0;
	}
	in->ends[in->count] = end;
	in->skips[in->count++] = skip;
	in->whole = end + skip;
	if (in->count == BATCH_JOBS || in->whole >= BATCH_BYTES)
		return flush(in);
	return 0;
}

/* ---- standard input ---- */

static int
make_room(struct input *in)
{
	size_t room = in->room ? in->room * 2 : 64 * 1024;
	char *text;

	if (in->room - in->used >= 64 * 1024)
		return 0;
	text = realloc(in->text, room);
	if (!text)
		return out_of_memory(in);
	in->text = text;
	in->room = room;
	return 0;
}

/* Wait for input. If none arrives for PAUSE_MS, commit the batch first. */
static int
await(struct input *in)
{
	int status = 0;

	if (in->count && wait_for_input(PAUSE_MS) == 0)
		status = flush(in);
	if (!status)
		wait_for_input(-1);
	return status;
}

/* Split the newly read bytes, from `scanned` on, into payloads. */
static int
split(struct input *in, size_t scanned)
{
	char *end;
	int status = 0;

	while (!status && !in->one &&
	       (end = memchr(in->text + scanned, in->separator,
			     in->used - scanned))) {
		size_t before = in->used;

		scanned = (size_t)(end - in->text);
		status = add(in, scanned, 1);
		/* If add() has flushed the buffer, the remaining input is
		 * now at its front. */
		scanned = scanned + 1 - (before - in->used);
	}
	if (!status && in->count == 0 && in->whole)
		drop_whole(in);
	if (!status && in->skipped == in->skip &&
	    in->used - in->whole > in->most) {
		status = flush(in);
		if (!status)
			status = too_large(in);
	}
	return status;
}

/* Report that the input has fewer jobs than --skip says. */
static int
few(const struct input *in)
{
	return complain(USAGE, "--skip %lld: the input has only %lld job%s",
			(long long)in->skip, (long long)in->skipped,
			plural(in->skipped));
}

static int
read_all(struct input *in)
{
	for (;;) {
		size_t scanned;
		ssize_t n;
		int status = await(in);

		if (!status && interrupted())
			status = stop(in, FAILED, 0, "interrupted");
		if (!status)
			status = make_room(in);
		if (status)
			return status;
		scanned = in->used;
		n = read(STDIN_FILENO, in->text + in->used,
			 in->room - in->used);
		if (n < 0 && (errno == EINTR || errno == EAGAIN))
			continue;
		if (n < 0) {
			int why = errno;

			status = flush(in);
			return status ? status
				      : stop(in, FAILED, 0,
					     "cannot read standard input: %s",
					     strerror(why));
		}
		if (n == 0)
			break;
		in->used += (size_t)n;
		status = split(in, scanned);
		if (status)
			return status;
	}
	if (in->one || in->used > in->whole) {
		int status = add(in, in->used, 0);

		if (status)
			return status;
	}
	return in->skipped < in->skip ? few(in) : flush(in);
}

/* ---- arguments ---- */

static int
enqueue_arguments(struct input *in, int argc, char **argv)
{
	rp_job_spec *jobs = calloc((size_t)argc, sizeof(*jobs));
	size_t n = 0;
	int status;

	if (!jobs)
		return out_of_memory(in);
	in->skipped = in->skip < argc ? in->skip : argc;
	for (int i = (int)in->skipped; i < argc; i++, n++) {
		jobs[n] = in->model;
		jobs[n].payload = argv[i];
		jobs[n].payload_size = strlen(argv[i]);
	}
	status = in->skipped < in->skip ? few(in)
		 : n                    ? enqueue(in, jobs, n)
					: 0;
	free(jobs);
	return status;
}

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
		status = read_all(in);
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
	if (max_attempts == 0)
		return usage(cmd, "--max-attempts 0: expected at least 1");
	if (argc > 1 && (in->one || in->separator != '\n'))
		return usage(cmd, "-0 and --one apply to standard input: give "
				  "no payloads as arguments");
	if (in->await.how.result && (!in->await.wanted || in->json))
		return usage(cmd, in->json ? "either --result or --json, which "
					     "has it"
					   : "--result needs --wait");
	if (in->skip && in->one)
		return usage(cmd, "give either --skip or --one, not both");
	return 0;
}

/* Options that are not simply copied. */
struct given {
	int nul;
	int64_t priority, max_attempts;
	struct texts headers;
	struct terms terms;
};

/* With --wait the time-out is that of the wait. */
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
	    !(json = make_headers(in->cmd, &given->headers)))
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
		  "with --unique: replace that job, unless it is running" },
		{ "--max-attempts", COUNT, &given.max_attempts, "N",
		  "attempts before it is dead (default: the queue's)" },
		{ "--backoff", TEXT, &given.terms.backoff, "LIST",
		  "delays after failures: 10s,1m,1h (default: the queue's)" },
		{ "--timeout", DURATION, &given.terms.timeout_ms, "D",
		  "longest time of a handler (default: the queue's);\n"
		  "with --wait: how long to wait" },
		{ "--expire", DURATION, &given.terms.expire_ms, "D",
		  "cancel it if it has not started in this time" },
		{ "--keep", DURATION, &given.terms.keep_ms, "D",
		  "keep it this long once it is done (default: the queue's)" },
		{ "--kind", TEXT, &in.model.kind, "K",
		  "what sort of job it is" },
		{ "--header", TEXTS, &given.headers, "K=V",
		  "a header; may be given several times" },
		{ "--wait", FLAG, &in.await.wanted, NULL,
		  "wait for their end, as the command wait does" },
		{ "--result", FLAG, &in.await.how.result, NULL,
		  "... and print their results" },
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
