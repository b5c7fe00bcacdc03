/*
 * cmd_work.c - the command `work`: a worker that runs a program for each job.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "work.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "history.h"
#include "internal.h"

/* ---- signals: the first stops claiming, the second kills handlers ---- */

static rp_worker *volatile signalled;
static atomic_int seen, first;
static _Atomic int64_t first_seen_us;

static void
on_signal(int number)
{
	int saved = errno;

	if (atomic_fetch_add(&seen, 1) == 0) {
		atomic_store(&first, number);
		atomic_store(&first_seen_us, monotonic_us());
		notify_ending();
	}
	rp_worker_stop(signalled);
	errno = saved;
}

static void
catch_signals(rp_worker *worker)
{
	const struct sigaction action = { .sa_handler = on_signal,
					  .sa_flags = SA_RESTART };

	signalled = worker;
	sigaction(SIGTERM, &action, NULL);
	catch_unless_ignored(SIGINT, &action);
	catch_unless_ignored(SIGHUP, &action);
}

int
signals_seen(void)
{
	return atomic_load(&seen);
}

int
first_signal(void)
{
	return atomic_load(&first);
}

int64_t
first_signal_us(void)
{
	return atomic_load(&first_seen_us);
}

/* ---- preparation ---- */

/* Check that the file can be executed. Returns 0 or an errno. Directories are
 * refused, because they can have the execute permission, too. */
static int
check_program(const char *path)
{
	struct stat info;

	if (stat(path, &info) < 0)
		return errno;
	if (S_ISDIR(info.st_mode))
		return EISDIR;
	return access(path, X_OK) < 0 ? errno : 0;
}

/* Find the command as execvp() does. A name with a slash is not searched for in
 * PATH. A file in PATH that is not executable is skipped, and its error is
 * reported only if no other file is found. Returns NULL after printing an
 * error. */
static char *
find_file(const char *name)
{
	const char *path = getenv("PATH");
	char *found = NULL;
	int why = ENOENT, errnum;

	if (strchr(name, '/')) {
		why = check_program(name);
		path = NULL;
		found = why ? NULL : strdup(name);
	} else if (!path) {
		path = "/usr/bin:/bin";
	}
	while (*name && path && !found) {
		size_t n = strcspn(path, ":");

		if (asprintf(&found, "%.*s%s%s", (int)n, path, n ? "/" : "./",
			     name) < 0)
			return NULL;
		errnum = check_program(found);
		if (errnum) {
			free(found);
			found = NULL;
			why = errnum == EACCES ? errnum : why;
		}
		path = path[n] ? path + n + 1 : NULL;
	}
	if (!found)
		complain(USAGE, "%.200s: %s", name,
			 why == ENOENT ? "command not found" : strerror(why));
	return found;
}

/* Make the path in the URL absolute, because a handler may change its working
 * directory. */
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
		return complain(FAILED, "cannot find the current directory: %s",
				strerror(errno));
	to += sprintf(to, "%.*s", (int)(path - url), url);
	sprintf(rp__url_escape(to, cwd), "/%s", path);
	return 0;
}

/* Split argv at the `--` that separates the queues from the command. */
static void
split(struct work *work, int *argc, char **argv)
{
	int cut = 0;

	while (cut < *argc && strcmp(argv[cut], "--") != 0)
		cut++;
	work->command = argv + (cut < *argc ? cut + 1 : cut);
	*argc = cut;
	for (char **word = work->command; *word; word++)
		work->in_argument |= strstr(*word, "{}") != NULL;
}

/* Check that the user has given either a command or a URL to run the jobs. */
static int
check_handler(const struct work *work)
{
	if (!work->post)
		return *work->command
			       ? 0
			       : usage(work->cmd, "which command? Expected: "
						  "work QUEUE -- CMD ...");
#ifdef RP_HAVE_CURL
	if (*work->command)
		return usage(work->cmd, "give a command or --post, not both");
	if (work->result || work->output_sync)
		return usage(work->cmd, "%s is for commands, not for --post",
			     work->result ? "--result" : "--output-sync");
	return post_check(work->post)
		       ? 0
		       : usage(work->cmd,
			       "--post %.80s: expected http://... or "
			       "https://...",
			       work->post);
#else
	return complain(USAGE, "this readpast was built without --post");
#endif
}

static int
check_metrics(const char *address)
{
#ifdef RP_HAVE_SERVE
	return work_metrics_check(address);
#else
	(void)address;
	return complain(USAGE, "this readpast was built without --metrics");
#endif
}

static int
check_usage(const struct work *work, int argc, int64_t lease_ms,
	    int64_t max_jobs)
{
	int status = check_handler(work);

	if (status)
		return status;
	if (argc == 0)
		return usage(work->cmd, "which queue?");
	if (work->threads < 1 || work->threads > RP_MOST_THREADS)
		return usage(work->cmd, "-j: expected 1 to %d",
			     RP_MOST_THREADS);
	if (lease_ms == 0 || max_jobs == 0)
		return usage(work->cmd, "%s",
			     lease_ms ? "--max-jobs: expected at least 1"
				      : "--lease: expected at least 1ms");
	if (work->drain && *work->drain && strcmp(work->drain, "settled") != 0)
		return usage(work->cmd,
			     "--drain=%.40s: expected settled, or --drain "
			     "without a value",
			     work->drain);
	if (work->result && strcmp(work->result, "stdout") != 0)
		return usage(work->cmd, "--result: expected stdout");
	if (work->log && strcmp(work->log, "json") != 0)
		return usage(work->cmd, "--log: expected json");
	return work->metrics_at ? check_metrics(work->metrics_at) : 0;
}

/* Store the queues from argv. Each one is a pattern or a name. Names are stored
 * without the backslashes before * and ?. */
static int
read_queues(struct work *work, int argc, char **argv)
{
	if (work->threads == 1 &&
	    !(work->alone = join_lines(argv, (size_t)argc)))
		return complain(FAILED, "out of memory");
	for (int i = 0; i < argc; i++) {
		work->is_pattern[i] = rp__is_pattern(argv[i]);
		if (!work->is_pattern[i])
			rp__pattern_unescape(argv[i]);
	}
	work->queues = argv;
	work->queues_count = argc;
	return 0;
}

static int
parse(struct work *work, int argc, char **argv)
{
	int64_t lease_ms = -1, max_jobs = -1;
	const struct option options[] = {
		{ "-j", COUNT, &work->threads, "N", "jobs at a time (1)" },
		{ "--jobs", COUNT, &work->threads, "N", "the same as -j" },
		{ "--lease", DURATION, &lease_ms, "D",
		  "lease, renewed after a third of it (default: the queue's)" },
		{ "--timeout", DURATION, &work->timeout_ms, "D",
		  "end handlers that take longer (default: the job's)" },
		{ "--release-delay", DURATION, &work->release_delay_ms, "D",
		  "delay of a job after exit status 75 (10s)" },
		{ "--drain", OPTIONAL, &work->drain, "settled",
		  "exit when no job is ready, due or running; =settled: also\n"
		  "wait for the next attempts of jobs that failed here" },
		{ "--max-jobs", COUNT, &max_jobs, "N",
		  "exit after this many jobs" },
		{ "--grace", DURATION, &work->grace_ms, "D",
		  "time for handlers to end, after a signal (30s)" },
		{ "--output-sync", FLAG, &work->output_sync, NULL,
		  "print a handler's output only when the handler has ended" },
		{ "--result", TEXT, &work->result, "stdout",
		  "take results from standard output (default: from\n"
		  "descriptor 3)" },
		{ "--post", TEXT, &work->post, "URL",
		  "send the payload to this URL instead of running a command" },
		{ "--quiet", FLAG, &work->quiet, NULL, "print problems only" },
		{ "--metrics", TEXT, &work->metrics_at, "ADDRESS:PORT",
		  "answer with metrics for Prometheus at this address" },
		{ "--log", TEXT, &work->log, "json",
		  "log events as JSON lines on standard error" },
		OPTIONS_END,
	};
	int status;

	split(work, &argc, argv);
	work->timeout_ms = -1;
	status = parse_options(work->cmd, &argc, argv, options);
	if (!status)
		status = check_usage(work, argc, lease_ms, max_jobs);
	if (status)
		return status;
	work->lease_ms = lease_ms < 0 ? 0 : lease_ms;
	work->max_jobs = max_jobs < 0 ? 0 : max_jobs;
	status = read_queues(work, argc, argv);
	if (!status)
		status = absolute_url(work);
	if (status || work->post)
		return status;
	work->file = find_file(work->command[0]);
	return work->file ? 0 : USAGE;
}

/* ---- working ---- */

static int
make_worker(struct work *work)
{
	rp_worker_options options = RP_WORKER_INIT;
	rp_error error;
	int r;

	options.threads = (int)work->threads;
	options.lease_ms = work->lease_ms;
	options.max_jobs = work->max_jobs;
	if (work->drain)
		options.drain =
			*work->drain ? RP_DRAIN_SETTLED : RP_DRAIN_READY;
	options.schema = work->cmd->schema;
	options.observer = observe_work;
	options.observer_ctx = work;
	options.heartbeat_ms = notify_open(work->grace_ms);
	r = rp_worker_new(work->cmd->url, &options, &work->worker, &error);
	if (r < 0)
		return complain(status_of(r), "%s", error.message);
	for (int i = 0; i < work->queues_count && r == 0; i++)
		r = (work->is_pattern[i] ? rp_worker_handle_pattern
					 : rp_worker_handle)(
			work->worker, work->queues[i], NULL, handle_job, work);
	return r < 0 ? complain(status_of(r), "%s", rp_error_text(r)) : 0;
}

/* conclude() returns this instead of an exit status if was_cut_short() is true.
 * The process then ends itself with end_by_signal(). */
#define CUT_SHORT (-2)

/* Returns whether a signal stopped the worker before the queue was empty
 * (--drain), or before the worker had run as many jobs as --max-jobs says. */
static int
was_cut_short(const struct work *work, const rp_worker_counts *n)
{
	return first_signal() &&
	       (work->drain ||
		n->done + n->failed + n->dead + n->released < work->max_jobs);
}

/* Kill this process with the signal that stopped the worker. Then the parent
 * process, such as a shell, sees that not all jobs are done. */
static int
end_by_signal(void)
{
	if (fflush(stdout) == EOF)
		return FAILED;
	signal(first_signal(), SIG_DFL);
	raise(first_signal());
	return FAILED;
}

/* If the worker has failed, tell how many jobs it could not give back. */
static void
say_left(const rp_worker_counts *n)
{
	int64_t left = n->claimed - n->done - n->failed - n->dead -
		       n->released - n->lost - n->cancelled;

	if (left > 0)
		complain(0,
			 "%lld job%s could not be given back; each is ready "
			 "again when its lease is over",
			 (long long)left, plural(left));
}

static int
report_output(const struct work *work, int errnum, const char *consequence)
{
	work->cmd->output_reported = 1;
	return complain_of_output(errnum, consequence);
}

/* Print the outcome, and return the exit status. Dead jobs change the exit
 * status only with --drain or --max-jobs, because without these options the
 * worker runs until it is stopped. */
static int
conclude(const struct work *work, int r, const rp_error *error)
{
	static const char given_back[] = "unfinished jobs were released";
	int output = atomic_load(&work->output_errnum);
	int kept = atomic_load(&work->collect_errnum);
	rp_worker_counts counts = RP_WORKER_COUNTS_INIT;
	char totals[COUNTS];

	rp_worker_counts_get(work->worker, &counts);
	if (r < 0) {
		complain(FAILED, "%s", error->message);
		say_left(&counts);
	} else if (output) {
		report_output(work, output, given_back);
	} else if (kept) {
		complain(FAILED,
			 "cannot store the output of handlers in temporary "
			 "files: %s; %s (set TMPDIR to use another folder)",
			 strerror(kept), given_back);
	}
	format_counts(totals, sizeof(totals), &counts);
	if (!work->quiet)
		puts(totals);
	if (r < 0)
		return status_of(r);
	if (output || kept)
		return FAILED;
	if (was_cut_short(work, &counts))
		return CUT_SHORT;
	return counts.dead && (work->drain || work->max_jobs) ? DIED : DONE;
}

static int
run(struct work *work)
{
	rp_error error;
	int r;

#ifdef RP_HAVE_SERVE
	work_metrics_say(work->metrics);
#endif
	catch_signals(work->worker);
	live_begin(work);
	r = rp_worker_run(work->worker, &error);
	live_end(work);
	return conclude(work, r, &error);
}

static int
prepare_handlers(struct work *work)
{
#ifdef RP_HAVE_CURL
	if (work->post)
		return posts_new(work->post, &work->posts);
#endif
	/* The warden is a process that kills the handlers if this worker is
	 * killed. Fork it before a thread is started or a database is opened,
	 * because the warden must inherit no open database and no lock that a
	 * thread holds. */
	work->warden = warden_start((size_t)work->threads);
	return work->warden ? 0
			    : complain(FAILED, "cannot start a process: %s",
				       strerror(errno));
}

static int
start_metrics(struct work *work)
{
#ifdef RP_HAVE_SERVE
	if (work->metrics_at) {
		work->metrics = work_metrics_start(work, work->metrics_at);
		return work->metrics ? 0 : FAILED;
	}
#else
	(void)work;
#endif
	return 0;
}

int
cmd_work(struct cmd *cmd, int argc, char **argv)
{
	struct work work = { .cmd = cmd,
			     .threads = 1,
			     .release_delay_ms = 10000,
			     .grace_ms = 30000,
			     .is_pattern =
				     calloc((size_t)argc + 1, sizeof(int)) };
	int status = work.is_pattern ? parse(&work, argc, argv)
				     : complain(FAILED, "out of memory"),
	    errnum;

	errnum = status ? 0 : output_error();
	if (errnum)
		status = report_output(&work, errnum, "no job was claimed");
	if (!status && work.log)
		work.log_json = history_on(STDERR_FILENO);
	if (!status)
		status = prepare_handlers(&work);
	if (!status)
		status = make_worker(&work);
	if (!status)
		status = start_metrics(&work);
	if (!status)
		status = look_at_queues(&work);
	if (!status)
		status = run(&work);
#ifdef RP_HAVE_SERVE
	work_metrics_stop(work.metrics);
#endif
	rp_worker_free(work.worker);
#ifdef RP_HAVE_CURL
	posts_free(work.posts);
#endif
	warden_stop(work.warden);
	history_close(work.log_json);
	free(work.is_pattern);
	free(work.file);
	free(work.alone);
	return status == CUT_SHORT ? end_by_signal() : status;
}
