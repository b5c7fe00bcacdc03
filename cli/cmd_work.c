/*
 * cmd_work.c - any program is a worker.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "cmd.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "child.h"
#include "history.h"

#define EXIT_DATAERR 65
#define EXIT_TEMPFAIL 75
#define MOST_ARGUMENT (128 * 1024)
#define PROGRESS_US 200000

struct work {
	struct cmd *cmd;
	char **queues;
	int queues_count;
	char **command;  /* ended by a NULL */
	int in_argument; /* {} is somewhere in it */
	char *file;      /* where the command was found */
	char url[4200]; /* READPAST_DB for handlers: the path absolute; room for
			   two names of 1024 bytes, one of them escaped */
	int64_t threads, lease_ms, timeout_ms, release_delay_ms, max_jobs;
	int64_t grace_ms;
	int drain;
	const char *log;
	struct history *log_json;
	struct warden *warden;
	rp_worker *worker;

	/* for the observer, which is called by one thread at a time */
	rp_worker_counts seen;
	int64_t running, shown_at, began_at;
	int progress; /* a line of it is on the terminal */
};

/* ---- signals: the first one drains, the second one ends handlers ---- */

static rp_worker *volatile signalled;
static atomic_int signals_seen;
static _Atomic int64_t first_signal_us;

static void
on_signal(int number)
{
	int saved = errno;

	(void)number;
	if (atomic_fetch_add(&signals_seen, 1) == 0)
		atomic_store(&first_signal_us, monotonic_us());
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

/* ---- one job ---- */

/* How it goes on for a handler that runs. */
static int
asked(void *ctx)
{
	rp_task **task = ctx;
	const struct work *work = (const struct work *)task[1];
	int state = rp_task_state(task[0]);

	if (state == RP_TASK_LOST || state == RP_TASK_CANCELLED)
		return CHILD_STOP;
	if (state != RP_TASK_STOPPING)
		return CHILD_GO_ON;
	return atomic_load(&signals_seen) > 1 ||
			       monotonic_us() - atomic_load(&first_signal_us) >
				       work->grace_ms * 1000
		       ? CHILD_STOP
		       : CHILD_GO_ON;
}

/* One argument with the payload in place of each {}. */
static char *
fill_in(const char *argument, const rp_job *job)
{
	size_t n = strlen(argument) + 1;
	const char *s, *hole;
	char *filled, *to;

	for (s = argument; (s = strstr(s, "{}")); s += 2)
		n += job->payload_size;
	to = filled = malloc(n);
	for (s = argument; filled && (hole = strstr(s, "{}")); s = hole + 2) {
		memcpy(to, s, (size_t)(hole - s));
		to += hole - s;
		memcpy(to, job->payload, job->payload_size);
		to += job->payload_size;
	}
	if (filled)
		strcpy(to, s);
	return filled;
}

static void
free_all(char **texts)
{
	for (size_t i = 0; texts && texts[i]; i++)
		free(texts[i]);
	free(texts);
}

static char **
make_argv(const struct work *work, const rp_job *job)
{
	size_t n = 0;
	char **argv;

	while (work->command[n])
		n++;
	argv = calloc(n + 1, sizeof(*argv));
	for (size_t i = 0; argv && i < n; i++) {
		argv[i] = fill_in(work->command[i], job);
		if (!argv[i]) {
			free_all(argv);
			return NULL;
		}
	}
	return argv;
}

static int
is_ours(const char *variable)
{
	static const char *const names[] = {
		"DB=",           "QUEUE=",    "JOB_ID=", "CLAIM=",   "ATTEMPT=",
		"MAX_ATTEMPTS=", "PRIORITY=", "KIND=",   "HEADERS=",
	};

	if (strncmp(variable, "READPAST_", 9) != 0)
		return 0;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (strncmp(variable + 9, names[i], strlen(names[i])) == 0)
			return 1;
	return 0;
}

static char **
make_envp(const struct work *work, const rp_job *job)
{
	size_t n = 0, k = 0;
	char **envp;
	int ok = 1;

	while (environ[n])
		n++;
	envp = calloc(n + 10, sizeof(*envp));
	if (!envp)
		return NULL;
#define ADD(...) (ok = ok && asprintf(&envp[k++], __VA_ARGS__) >= 0)
	ADD("READPAST_DB=%s", work->url);
	ADD("READPAST_QUEUE=%s", job->queue);
	ADD("READPAST_JOB_ID=%lld", (long long)job->id);
	ADD("READPAST_CLAIM=%lld:%lld", (long long)job->id,
	    (long long)job->claim_no);
	ADD("READPAST_ATTEMPT=%lld", (long long)job->attempt);
	ADD("READPAST_MAX_ATTEMPTS=%lld", (long long)job->max_attempts);
	ADD("READPAST_PRIORITY=%d", job->priority);
	ADD("READPAST_KIND=%s", job->kind ? job->kind : "");
	ADD("READPAST_HEADERS=%s", job->headers ? job->headers : "{}");
	for (size_t i = 0; i < n; i++)
		if (!is_ours(environ[i]))
			ADD("%s", environ[i]);
#undef ADD
	if (!ok) {
		envp[k - 1] = NULL; /* what asprintf() left there */
		free_all(envp);
		return NULL;
	}
	return envp;
}

static int
give_up(rp_task *task, int verdict, const char *why)
{
	rp_task_error(task, why);
	return verdict;
}

/* What the end of a handler says about its job. */
static int
verdict_of(const struct work *work, rp_task *task, struct child *c)
{
	char text[CHILD_TAIL + 100];
	int code = WIFEXITED(c->status) ? WEXITSTATUS(c->status) : -1;

	if (c->stopped)
		return RP_RELEASE;
	if (code == 0 && !c->timed_out)
		return RP_DONE;
	if (code == EXIT_TEMPFAIL && !c->timed_out) {
		rp_task_delay(task, work->release_delay_ms);
		return RP_RELEASE;
	}
	while (c->tail_size > 0 && c->tail[c->tail_size - 1] == '\n')
		c->tail_size--;
	for (size_t i = 0; i < c->tail_size; i++)
		if (!c->tail[i])
			c->tail[i] = '?';
	c->tail[c->tail_size] = '\0';
	if (c->timed_out)
		snprintf(text, sizeof(text), "timed out after %lld ms%s%s",
			 (long long)work->timeout_ms, *c->tail ? ": " : "",
			 c->tail);
	else if (*c->tail)
		snprintf(text, sizeof(text), "%s", c->tail);
	else if (code >= 0)
		snprintf(text, sizeof(text), "exit status %d", code);
	else
		snprintf(text, sizeof(text), "killed by signal %d (%s)",
			 WTERMSIG(c->status), strsignal(WTERMSIG(c->status)));
	return give_up(task, code == EXIT_DATAERR ? RP_DEAD : RP_FAIL, text);
}

static int
run_child(struct work *work, rp_task *task, const rp_job *job)
{
	rp_task *ctx[] = { task, (rp_task *)work };
	struct child c = { .file = work->file,
			   .argv = make_argv(work, job),
			   .envp = make_envp(work, job),
			   .input = job->payload,
			   .input_size = job->payload_size,
			   .timeout_ms = work->timeout_ms,
			   .asked = asked,
			   .ctx = ctx };
	char text[200];

	if (c.argv && c.envp)
		child_run(work->warden, &c);
	else
		c.errnum = ENOMEM;
	free_all(c.argv);
	free_all(c.envp);
	if (c.errnum == 0)
		return verdict_of(work, task, &c);
	snprintf(text, sizeof(text), "cannot run %.100s: %s", work->command[0],
		 strerror(c.errnum));
	return give_up(task, c.errnum == E2BIG ? RP_DEAD : RP_FAIL, text);
}

static int
handle(rp_task *task, const rp_job *job, void *ctx)
{
	struct work *work = ctx;

	if (work->in_argument && memchr(job->payload, 0, job->payload_size))
		return give_up(task, RP_DEAD,
			       "the payload has a NUL byte: it cannot be an "
			       "argument, take it from standard input");
	if (work->in_argument && job->payload_size >= MOST_ARGUMENT)
		return give_up(task, RP_DEAD,
			       "the payload is over 128 KiB: it cannot be an "
			       "argument, take it from standard input");
	return run_child(work, task, job);
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
		(long long)work->seen.dead, (long long)work->seen.released,
		(long long)work->running,
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
	work->running--;
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
	} else if (e->verdict == RP_RELEASE) {
		work->seen.released++;
	} else {
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
	if (e->what == RP_EVENT_CLAIM)
		work->running++;
	else if (e->what == RP_EVENT_SETTLED)
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
	const char *url = work->cmd->url, *path = url + strlen("sqlite:");
	char cwd[1024], *to = work->url;

	if (strlen(url) > 1024)
		return complain(USAGE, "the database URL is too long");
	if (strncmp(url, "sqlite:", 7) != 0 || *path == '/') {
		strcpy(work->url, url);
		return 0;
	}
	if (!getcwd(cwd, sizeof(cwd)))
		return complain(FAILED, "the current directory: %s",
				strerror(errno));
	to += sprintf(to, "sqlite:");
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
		{ "-j", COUNT, &work->threads },
		{ "--lease", DURATION, &lease_ms },
		{ "--timeout", DURATION, &work->timeout_ms },
		{ "--release-delay", DURATION, &work->release_delay_ms },
		{ "--drain", FLAG, &work->drain },
		{ "--max-jobs", COUNT, &max_jobs },
		{ "--grace", DURATION, &work->grace_ms },
		{ "--log", TEXT, &work->log },
		{ NULL, FLAG, NULL },
	};
	int status = split(work, &argc, argv);

	if (!status)
		status = parse_options(work->cmd, &argc, argv, options);
	if (status)
		return status;
	if (argc == 0)
		return usage(work->cmd, "which queue?");
	if (work->threads < 1 || work->threads > 1024)
		return usage(work->cmd, "-j: expected 1 to 1024");
	if (lease_ms == 0 || max_jobs == 0)
		return usage(work->cmd, "%s: expected more than 0",
			     lease_ms ? "--max-jobs" : "--lease");
	if (work->log && strcmp(work->log, "json") != 0)
		return usage(work->cmd, "--log: expected json");
	work->lease_ms = lease_ms < 0 ? 0 : lease_ms;
	work->max_jobs = max_jobs < 0 ? 0 : max_jobs;
	work->queues = argv;
	work->queues_count = argc;
	work->file = find_file(work->command[0]);
	if (!work->file)
		return complain(USAGE, "%.200s: command not found",
				work->command[0]);
	return absolute_url(work);
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
				     handle, work);
	if (r < 0)
		return complain(status_of(r), "a queue's name is 1 to 128 "
					      "bytes of UTF-8 without control "
					      "characters");
	return 0;
}

static int
run(struct work *work)
{
	rp_worker_counts counts;
	rp_error error;
	int r;

	catch_signals(work->worker);
	work->began_at = monotonic_us();
	r = rp_worker_run(work->worker, &error);
	if (work->progress)
		fputs("\r\033[K", stderr);
	if (r < 0)
		complain(FAILED, "%s", error.message);
	counts = rp_worker_counted(work->worker);
	printf("%lld done, %lld failed, %lld dead, %lld released\n",
	       (long long)counts.done, (long long)counts.failed,
	       (long long)counts.dead, (long long)counts.released);
	return r < 0 ? status_of(r) : DONE;
}

int
cmd_work(struct cmd *cmd, int argc, char **argv)
{
	struct work work = { .cmd = cmd,
			     .threads = 1,
			     .release_delay_ms = 10000,
			     .grace_ms = 30000 };
	int status = parse(&work, argc, argv);

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
