/*
 * input.c - the input of `enqueue`: read payloads from standard input or from
 * arguments, and enqueue them.
 *
 * Payloads are collected in memory and committed together, so that the write
 * lock is never held while we wait for input. A batch is committed after 10,000
 * jobs, after 8 MiB, when no input arrives for a moment, and at the end of the
 * input.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "input.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "history.h"

#define BATCH_BYTES (8 * 1024 * 1024)
#define PAUSE_MS 50

/* ---- stopping early ---- */

/* Print why the command stops, how many jobs it has enqueued, and the value of
 * --skip with which the user can continue. `unsure` is the number of jobs in a
 * commit whose outcome is unknown. */
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
print_ids(struct input *in, const rp_added *added, size_t n, int64_t asked)
{
	for (size_t i = 0; i < n; i++) {
		int refused =
			in->model.replace && added[i].outcome == RP_EXISTED;

		history_enqueued(in->cmd->history, in->queue, &in->model,
				 &added[i], asked);
		if (in->json && !in->quiet && !in->await.wanted)
			print_json(json_added(in->queue, &added[i]));
		if (refused)
			in->refused =
				complain(REFUSED,
					 "job %lld cannot be replaced: it is "
					 "running, or it is done and keeps its "
					 "key",
					 (long long)added[i].id);
		else if (!in->json && !in->quiet && !in->await.wanted)
			printf("%lld\n", (long long)added[i].id);
	}
	in->enqueued += (int64_t)n;
	if (fflush(stdout) != EOF && !ferror(stdout))
		return 0;
	in->cmd->output_reported = 1;
	return stop(in, FAILED, 0, "cannot write to standard output: %s",
		    strerror(errno));
}

static int
too_large(const struct input *in)
{
	size_t most = most_payload(in->cmd, in->queue);
	char word[SHELL_WORD(RP_MOST_NAME)];

	return stop(
		in, USAGE, 0,
		"%s %lld: payload too large: queue %s takes at most %zu byte%s "
		"(readpast queue set %s --max-payload SIZE changes that)",
		in->word, (long long)(in->skip + in->enqueued + 1), in->queue,
		most, plural((int64_t)most),
		shell_word(word, sizeof(word), in->queue));
}

static int
report_refusal(const struct input *in, int code, size_t n)
{
	const rp_error *error = rp_last_error(in->cmd->conn);

	return stop(in, status_of(code), code == RP_ELOST ? n : 0, "%s",
		    *error->message ? error->message : rp_error_text(code));
}

static int
enqueue(struct input *in, const rp_job_spec *jobs, size_t n)
{
	rp_added *added = calloc(n, sizeof(*added));
	int64_t bad, asked = monotonic_us();
	int r, status;

	if (!added)
		return out_of_memory(in);
	r = rp_enqueue_many(in->cmd->conn, in->queue, jobs, n, added);
	bad = rp_last_error(in->cmd->conn)->item;
	if (r == 0) {
		status = print_ids(in, added, n, asked);
		if (!status && await_add(&in->await, added, n) < 0)
			status = out_of_memory(in);
	} else if (r != RP_EFBIG)
		status = report_refusal(in, r, n);
	/* Nothing was enqueued, because one payload is too large. Enqueue the
	 * payloads before that one, and then report the error. */
	else if (bad < 1 || (status = enqueue(in, jobs, (size_t)bad)) == 0)
		status = too_large(in);
	free(added);
	return status;
}

/* Remove the complete payloads from the buffer. An incomplete payload at the
 * end of the buffer stays. */
static void
drop_whole(struct input *in)
{
	memmove(in->text, in->text + in->whole, in->used - in->whole);
	in->used -= in->whole;
	in->first = in->whole = 0;
	in->count = 0;
}

/* Enqueue the complete payloads that are in the buffer. */
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

/* Wait for input. If no input arrives for PAUSE_MS, commit the batch and go on
 * waiting. */
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

/* Split the new bytes, which begin at the offset `scanned`, into payloads. */
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
		/* add() may have enqueued payloads and removed them from the
		 * buffer. The rest of the buffer has then moved to its front.
		 */
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

/* Report that --skip is larger than the number of jobs in the input. */
static int
few(const struct input *in)
{
	return complain(USAGE, "--skip %lld: the input has only %lld job%s",
			(long long)in->skip, (long long)in->skipped,
			plural(in->skipped));
}

int
enqueue_input(struct input *in)
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

int
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
