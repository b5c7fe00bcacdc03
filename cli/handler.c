/*
 * handler.c - one job: a process for it, and what its end says.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "work.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define EXIT_DATAERR 65
#define EXIT_TEMPFAIL 75
#define MOST_ARGUMENT (128 * 1024)

/* How it goes on for a handler that runs. */
static int
asked(void *ctx)
{
	rp_task **task = ctx;
	const struct work *work = (const struct work *)task[1];
	int state = rp_task_state(task[0]);

	if (state == RP_TASK_LOST || state == RP_TASK_CANCELLED)
		return CHILD_STOP;
	/* A worker that stops by itself waits for its handlers. */
	if (state != RP_TASK_STOPPING || !first_signal_us())
		return CHILD_GO_ON;
	return signals_seen() > 1 || monotonic_us() - first_signal_us() >
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
run_job(struct work *work, rp_task *task, const rp_job *job)
{
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

/* Can no handler write any more? The first to find that ends the worker; it
 * ends even if somebody makes room meanwhile, as some handlers have failed. */
static int
output_is_lost(struct work *work)
{
	int errnum = output_error(), none = 0;

	if (errnum &&
	    atomic_compare_exchange_strong(&work->output_errnum, &none, errnum))
		rp_worker_stop(work->worker);
	return atomic_load(&work->output_errnum) != 0;
}

int
handle_job(rp_task *task, const rp_job *job, void *ctx)
{
	struct work *work = ctx;
	int verdict = RP_RELEASE;

	atomic_fetch_add(&work->running, 1);
	if (!output_is_lost(work))
		verdict = run_job(work, task, job);
	/* It may have failed for want of its output: that is no attempt. */
	if ((verdict == RP_FAIL || verdict == RP_DEAD) && output_is_lost(work))
		verdict = RP_RELEASE;
	atomic_fetch_sub(&work->running, 1);
	atomic_fetch_add(&work->released, verdict == RP_RELEASE);
	return verdict;
}
