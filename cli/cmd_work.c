/*
 * cmd_work.c - any program is a worker.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "work.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "history.h"

#define PROGRESS_US 200000

/* ---- signals: the first one drains, the second one ends handlers ---- */

static rp_worker *volatile signalled;
static atomic_int seen;
static _Atomic int64_t first_seen_us;

static void
on_signal(int number)
{
	int saved = errno;

	(void)number;
	if (atomic_fetch_add(&seen, 1) == 0)
		atomic_store(&first_seen_us, monotonic_us());
	rp_worker_stop(signalled);
	errno = saved;
}

static void
catch_signals(rp_worker *worker)
{
	struct sigaction action = { .sa_handler = on_signal,
				    .sa_flags = SA_RESTART };

	signalled = worker;
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGHUP, &action, NULL);
}

int
signals_seen(void)
{
	return atomic_load(&seen);
}

int64_t
first_signal_us(void)
{
	return atomic_load(&first_seen_us);
}

/* ---- what the user sees ---- */

static void
show_progress(struct work *work, int64_t now)
{
	double seconds = (double)(now - work->began_at) / 1e6;

	if (!isatty(STDERR_FILENO) || now - work->shown_at < PROGRESS_US)
		return;
	work->shown_at = now;
	work->progress = 1;
	fprintf(stderr,
		"\r%lld done, %lld failed, %lld dead, %lld released; "
		"%lld running; %.0f/s\033[K",
		(long long)work->seen.done, (long long)work->seen.failed,
		(long long)work->seen.dead,
		(long long)atomic_load(&work->released),
		(long long)atomic_load(&work->running),
		seconds > 0 ? (double)work->seen.done / seconds : 0);
}

static void
say(struct work *work, const rp_event *e, const char *what, const char *text)
{
	if (work->log_json)
		return;
	fprintf(stderr,
		"%sreadpast: job %lld %s, attempt %lld of %lld%s%.200s\n",
		work->progress ? "\r\033[K" : "", (long long)e->job->id, what,
		(long long)e->job->attempt, (long long)e->job->max_attempts,
		text ? ": " : "", text ? text : "");
	work->progress = 0;
}

static void
see_settled(struct work *work, const rp_event *e)
{
	if (e->verdict == RP_EXTEND)
		return;
	if (e->result == RP_ECANCELLED) {
		say(work, e, "was cancelled", NULL);
	} else if (e->result < 0) {
		work->seen.done += e->verdict == RP_DONE;
		if (e->verdict != RP_DONE)
			say(work, e, "is no longer ours", NULL);
	} else if (e->state == RP_STATE_DEAD) {
		work->seen.dead++;
		say(work, e, "is dead", e->text);
	} else if (e->verdict == RP_FAIL) {
		work->seen.failed++;
		say(work, e, "failed", e->text);
	} else if (e->verdict == RP_DONE) {
		work->seen.done++;
	}
}

static void
record(struct history *h, const rp_event *e)
{
	int64_t lease;

	if (!e->job)
		return;
	lease = e->job->lease_until - e->job->claimed_at;
	switch (e->what) {
	case RP_EVENT_CLAIM:
		history_claimed(h, e->job, e->asked_us);
		break;
	case RP_EVENT_START:
		history_started(h, e->job);
		break;
	case RP_EVENT_SETTLE:
		history_settling(h, e->job->id, e->job->claim_no, e->verdict,
				 lease);
		break;
	case RP_EVENT_SETTLED:
		history_settled(h, e->job->id, e->job->claim_no, e->verdict,
				lease, e->result, e->state, e->asked_us);
		break;
	case RP_EVENT_LOST:
		history_lost(h, e->job, e->result);
		break;
	default:
		break;
	}
}

static void
observe(const rp_event *e, void *ctx)
{
	struct work *work = ctx;

	record(work->cmd->history, e);
	record(work->log_json, e);
	if (e->what == RP_EVENT_SETTLED)
		see_settled(work, e);
	else if (e->what == RP_EVENT_LOST)
		say(work, e,
		    e->result == RP_ECANCELLED ? "was cancelled"
					       : "lost its lease",
		    NULL);
	else if (e->what == RP_EVENT_TROUBLE)
		fprintf(stderr, "readpast: %s; trying again\n", e->text);
	show_progress(work, monotonic_us());
}

/* ---- getting ready ---- */

/* Where the command is; NULL: nowhere. A relative name with a slash is taken
 * as it is. */
static char *
find_file(const char *name)
{
	const char *path = getenv("PATH");
	char *found = NULL;

	if (strchr(name, '/'))
		return access(name, X_OK) == 0 ? strdup(name) : NULL;
	for (path = path ? path : "/usr/bin:/bin"; *name && path;) {
		size_t n = strcspn(path, ":");

		if (asprintf(&found, "%.*s%s%s", (int)n, path, n ? "/" : "./",
			     name) < 0)
			return NULL;
		if (access(found, X_OK) == 0)
			return found;
		free(found);
		path = path[n] ? path + n + 1 : NULL;
	}
	return NULL;
}

/* The URL with an absolute path: a handler may change its directory. */
static int
absolute_url(struct work *work)
{
	const char *url = work->cmd->url, *path = strchr(url, ':');
	char cwd[1024], *to = work->url;

	if (strlen(url) > 1024)
		return complain(USAGE, "the database URL is too long");
	if (!is_file(url) || *++path == '/') {
		strcpy(work->url, url);
		return 0;
	}
	if (!getcwd(cwd, sizeof(cwd)))
		return complain(FAILED, "the current directory: %s",
				strerror(errno));
	to += sprintf(to, "%.*s", (int)(path - url), url);
	for (const char *s = cwd; *s; s++)
		to += sprintf(to, strchr("%?#", *s) ? "%%%02X" : "%c",
			      (unsigned char)*s);
	sprintf(to, "/%s", path);
	return 0;
}

/* Cut argv at the `--` in front of the command. */
static int
split(struct work *work, int *argc, char **argv)
{
	int cut = 0;

	while (cut < *argc && strcmp(argv[cut], "--") != 0)
		cut++;
	if (cut + 1 >= *argc)
		return usage(work->cmd, "which command? work QUEUE -- CMD ...");
	work->command = argv + cut + 1;
	*argc = cut;
	for (char **word = work->command; *word; word++)
		work->in_argument |= strstr(*word, "{}") != NULL;
	return 0;
}

static int
parse(struct work *work, int argc, char **argv)
{
	int64_t lease_ms = -1, max_jobs = -1;
	const struct option options[] = {
		{ "-j", COUNT, &work->threads, "N", "so many at a time (1)" },
		{ "--lease", DURATION, &lease_ms, "D",
		  "renewed at a third (the queue's)" },
		{ "--timeout", DURATION, &work->timeout_ms, "D",
		  "a handler that takes longer has failed" },
		{ "--release-delay", DURATION, &work->release_delay_ms, "D",
		  "ready again after status 75 (10s)" },
		{ "--drain", FLAG, &work->drain, NULL,
		  "exit when nothing is ready, due or running" },
		{ "--max-jobs", COUNT, &max_jobs, "N", "exit after so many" },
		{ "--grace", DURATION, &work->grace_ms, "D",
		  "for running handlers, once told to end (30s)" },
		{ "--log", TEXT, &work->log, "json",
		  "what happens, as JSON lines on standard error" },
		OPTIONS_END,
	};
	int status = split(work, &argc, argv);

	if (!status)
		status = parse_options(work->cmd, &argc, argv, options);
	if (status)
		return status;
	if (argc == 0)
		return usage(work->cmd, "which queue?");
	if (work->threads < 1 || work->threads > RP_MOST_THREADS)
		return usage(work->cmd, "-j: expected 1 to %d",
			     RP_MOST_THREADS);
	if (lease_ms == 0 || max_jobs == 0)
		return usage(work->cmd, "%s: expected more than 0",
			     lease_ms ? "--max-jobs" : "--lease");
	if (work->log && strcmp(work->log, "json") != 0)
		return usage(work->cmd, "--log: expected json");
	work->lease_ms = lease_ms < 0 ? 0 : lease_ms;
	work->max_jobs = max_jobs < 0 ? 0 : max_jobs;
	work->queues = argv;
	work->queues_count = argc;
	status = absolute_url(work);
	if (status)
		return status;
	work->file = find_file(work->command[0]);
	return work->file ? 0
			  : complain(USAGE, "%.200s: command not found",
				     work->command[0]);
}

static int
make_worker(struct work *work)
{
	rp_worker_options options = RP_WORKER_INIT;
	rp_error error;
	int r;

	options.threads = (int)work->threads;
	options.lease_ms = work->lease_ms;
	options.max_jobs = work->max_jobs;
	options.drain = work->drain;
	options.observer = observe;
	options.observer_ctx = work;
	r = rp_worker_new(work->cmd->url, &options, &work->worker, &error);
	if (r < 0)
		return complain(status_of(r), "%s", error.message);
	for (int i = 0; i < work->queues_count && r == 0; i++)
		r = rp_worker_handle(work->worker, work->queues[i], NULL,
				     handle_job, work);
	if (r < 0)
		return complain(status_of(r),
				"a queue's name is 1 to %d bytes of UTF-8 "
				"without control characters",
				RP_MOST_NAME);
	return 0;
}

static int
run(struct work *work)
{
	rp_worker_counts counts;
	rp_error error;
	int errnum, r;

	catch_signals(work->worker);
	work->began_at = monotonic_us();
	r = rp_worker_run(work->worker, &error);
	if (work->progress)
		fputs("\r\033[K", stderr);
	errnum = atomic_load(&work->output_errnum);
	if (r < 0)
		complain(FAILED, "%s", error.message);
	else if (errnum)
		complain_of_output(errnum, "jobs not done were given back");
	counts = rp_worker_counts_get(work->worker);
	printf("%lld done, %lld failed, %lld dead, %lld released\n",
	       (long long)counts.done, (long long)counts.failed,
	       (long long)counts.dead, (long long)counts.released);
	return r < 0 ? status_of(r) : errnum ? FAILED : DONE;
}

int
cmd_work(struct cmd *cmd, int argc, char **argv)
{
	struct work work = { .cmd = cmd,
			     .threads = 1,
			     .release_delay_ms = 10000,
			     .grace_ms = 30000 };
	int status = parse(&work, argc, argv), errnum;

	errnum = status ? 0 : output_error();
	if (errnum)
		status = complain_of_output(errnum, "no job was claimed");
	if (!status && work.log)
		work.log_json = history_on(STDERR_FILENO);
	/* The warden first: it is to inherit no database and no thread. */
	if (!status && !(work.warden = warden_start((size_t)work.threads)))
		status = complain(FAILED, "cannot start a process: %s",
				  strerror(errno));
	if (!status)
		status = make_worker(&work);
	if (!status)
		status = run(&work);
	rp_worker_free(work.worker);
	warden_stop(work.warden);
	history_close(work.log_json);
	free(work.file);
	return status;
}
