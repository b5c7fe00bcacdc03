/*
 * handler.c - run one job: start a process for the job, and make a verdict from
 * its exit status.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "work.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "trace.h"

#define EXIT_DATAERR 65
#define EXIT_TEMPFAIL 75
#define MOST_ARGUMENT (128 * 1024)

/* a running handler */
struct running {
	struct work *work;
	rp_task *task;
	const struct child *child;
	struct collected collected;
	/* first RP_MOST_RESULT bytes of the result; NULL: no result */
	char *result;
	/* size of the whole result that the handler wrote */
	size_t result_size;
	/* The worker writes the handler's output to its own output, or to a
	 * temporary file. `errnum` is the errno of the first write that failed;
	 * 0: none failed. ECANCELED: the write blocked, and the handler was
	 * stopped meanwhile */
	int errnum;
};

/* ---- while the handler runs ---- */

/* Print once that the worker waits for its handlers. */
static void
say_waiting(struct work *work)
{
	long long n = (long long)atomic_load(&work->running);
	char grace[40];

	if (work->quiet || atomic_exchange(&work->told_to_end, 1))
		return;
	print_duration(grace, sizeof(grace), work->grace_ms);
	live_say(work,
		 "waiting for %lld handler%s, %s at most (--grace); %s ends "
		 "%s",
		 n, plural(n), grace,
		 first_signal() == SIGINT ? "a second Ctrl-C"
					  : "a second signal",
		 n == 1 ? "it" : "them");
}

static int
is_to_end(struct work *work, rp_task *task)
{
	int state = rp_task_state(task);

	if (state == RP_TASK_LOST || state == RP_TASK_CANCELLED)
		return 1;
	/* Only a signal starts the grace period. A worker that stops for
	 * another reason, such as --drain, waits for its handlers without a
	 * time limit. */
	if (state != RP_TASK_STOPPING || !first_signal_us())
		return 0;
	return signals_seen() > 1 ||
	       monotonic_us() - first_signal_us() > work->grace_ms * 1000;
}

int
must_stop(struct work *work, rp_task *task)
{
	if (first_signal_us())
		say_waiting(work);
	return is_to_end(work, task);
}

/* Returns whether to stop writing the handler's output. It prints nothing,
 * because live_write() calls it with its lock held. */
static int
stops_output(void *ctx)
{
	const struct running *r = ctx;

	return r->errnum || is_to_end(r->work, r->task) ||
	       child_is_overdue(r->child);
}

/* Returns whether the handler may continue or must be stopped. child.c calls
 * this regularly. */
static int
choose_end(void *ctx)
{
	const struct running *r = ctx;

	return r->errnum || must_stop(r->work, r->task) ? CHILD_STOP
							: CHILD_GO_ON;
}

/* ---- its output ---- */

/* Stop the worker at the first output error. Output may work again later, but
 * the output of some handlers is lost by then. */
static void
lose_output(struct work *work, atomic_int *why, int errnum)
{
	int none = 0;

	if (atomic_compare_exchange_strong(why, &none, errnum))
		rp_worker_stop(work->worker);
}

static int
output_is_lost(struct work *work)
{
	int errnum = output_error();

	if (errnum)
		lose_output(work, &work->output_errnum, errnum);
	return atomic_load(&work->output_errnum) ||
	       atomic_load(&work->collect_errnum);
}

/* Store the part of the result that is within the size limit. result_size also
 * counts the bytes beyond the limit. */
static void
add_to_result(struct running *r, const char *text, size_t n)
{
	size_t room = r->result_size < RP_MOST_RESULT
			      ? RP_MOST_RESULT - r->result_size
			      : 0;

	if (!r->result)
		r->result = malloc(RP_MOST_RESULT);
	if (r->result)
		memcpy(r->result + RP_MOST_RESULT - room, text,
		       n < room ? n : room);
	r->result_size += n;
}

static void
take_output(void *ctx, int fd, const char *text, size_t n)
{
	struct running *r = ctx;
	struct work *work = r->work;
	int errnum = 0;

	if (r->errnum)
		return;
	if (fd == (work->result ? STDOUT_FILENO : CHILD_RESULT)) {
		add_to_result(r, text, n);
		return;
	}
	if (work->output_sync) {
		r->errnum = collect(&r->collected, fd, text, n);
		if (r->errnum)
			lose_output(work, &work->collect_errnum, r->errnum);
		return;
	}
	errnum = live_write(work, fd, text, n, stops_output, r);
	if (fd == STDERR_FILENO || !errnum)
		return; /* a failed write to standard error cannot be
			 * reported anywhere */
	r->errnum = errnum;
	if (errnum != ECANCELED)
		lose_output(work, &work->output_errnum, errnum);
}

/* Write the collected output of a handler that has ended to our own streams. */
static void
hand_on(struct running *r)
{
	struct work *work = r->work;

	if (!r->errnum) {
		r->errnum =
			collect_hand_on(work, &r->collected, stops_output, r);
		if (r->errnum && r->errnum != ECANCELED)
			lose_output(work, &work->output_errnum, r->errnum);
	}
	collect_free(&r->collected);
}

/* ---- starting it ---- */

/* Replace each {} in one argument by the payload. */
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
		"DB=",      "QUEUE=",        "JOB_ID=",   "CLAIM=",
		"ATTEMPT=", "MAX_ATTEMPTS=", "PRIORITY=", "KIND=",
		"HEADERS=", "PROGRESS=",     "ALONE=",    "SCHEDULED_FOR=",
	};

	if (strncmp(variable, "READPAST_", 9) != 0)
		return 0;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (strncmp(variable + 9, names[i], strlen(names[i])) == 0)
			return 1;
	return 0;
}

/* Returns the instant for which a schedule made the job; the caller frees it.
 * NULL: no schedule made the job, or memory ran out. */
static char *
scheduled_for(const rp_job *job)
{
	struct fired fired;
	char *text = fired_read(&fired, job) ? strdup(fired.at) : NULL;

	fired_clear(&fired);
	return text;
}

static char **
make_envp(const struct work *work, const rp_job *job)
{
	char *trace[TRACES], *at = scheduled_for(job), **envp;
	size_t n = 0, k = 0, traces;
	int ok = 1;

	while (environ[n])
		n++;
	envp = calloc(n + 13 + TRACES, sizeof(*envp));
	if (!envp) {
		free(at);
		return NULL;
	}
	traces = trace_variables(job->headers, trace);
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
	ADD("READPAST_PROGRESS=%s", job->progress ? job->progress : "");
	if (work->alone)
		ADD("READPAST_ALONE=%s", work->alone);
	if (at)
		ADD("READPAST_SCHEDULED_FOR=%s", at);
	for (size_t i = 0; i < n; i++)
		if (!is_ours(environ[i]) &&
		    !(traces && trace_is_variable(environ[i])))
			ADD("%s", environ[i]);
#undef ADD
	if (!ok)
		k--; /* asprintf() has left the pointer undefined */
	for (size_t i = 0; i < traces; i++)
		envp[k++] = trace[i];
	free(at);
	if (!ok) {
		envp[k] = NULL;
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

/* Returns the verdict for the exit status of a handler: done, failed, dead or
 * released. */
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
			 (long long)c->timeout_ms, *c->tail ? ": " : "",
			 c->tail);
	else if (*c->tail)
		snprintf(text, sizeof(text), "%s", c->tail);
	else if (code >= 0)
		snprintf(text, sizeof(text), "exit status %d", code);
	else
		snprintf(text, sizeof(text), "killed by signal %d (%s)",
			 WTERMSIG(c->status), strsignal(WTERMSIG(c->status)));
	return give_up(
		task, code == EXIT_DATAERR && !c->timed_out ? RP_DEAD : RP_FAIL,
		text);
}

int64_t
timeout_of(const struct work *work, const rp_job *job)
{
	return work->timeout_ms < 0 ? job->timeout_ms : work->timeout_ms;
}

/* Store the result of a handler that has succeeded. If it cannot be stored, the
 * job is not done. */
static int
hand_over_result(struct running *r)
{
	char text[200];
	int ret = RP_EFBIG;

	if (r->result_size <= RP_MOST_RESULT)
		ret = !r->result_size ? 0
		      : r->result     ? rp_task_result(r->task, r->result,
						       r->result_size)
				      : RP_ENOMEM;
	if (ret == 0)
		return RP_DONE;
	if (ret == RP_EFBIG)
		snprintf(text, sizeof(text),
			 "the result has %zu bytes, more than %d",
			 r->result_size, RP_MOST_RESULT);
	else
		snprintf(text, sizeof(text), "the result: %s",
			 rp_error_text(ret));
	return give_up(r->task, RP_FAIL, text);
}

/* Returns whether the worker lacks a resource. EFBIG: see `ulimit -f`. */
static int
is_shortage(int errnum)
{
	return errnum == EMFILE || errnum == ENFILE || errnum == EAGAIN ||
	       errnum == ENOMEM || errnum == EFBIG;
}

/* Handle the failure to start a handler. If the worker lacks a resource, the
 * job is released, because it may be started later, or by another worker. But
 * if the handler had begun and was killed, the attempt has failed. */
static int
not_run(struct work *work, rp_task *task, const struct child *c)
{
	char text[200];

	if (is_shortage(c->errnum) && !c->has_begun) {
		live_say(work,
			 "cannot run %.100s now: %s; raise the limit (see "
			 "ulimit -a), or use a smaller -j",
			 work->command[0], strerror(c->errnum));
		rp_task_delay(task, work->release_delay_ms);
		return RP_RELEASE;
	}
	snprintf(text, sizeof(text), "cannot run %.100s: %s", work->command[0],
		 strerror(c->errnum));
	return give_up(task, c->errnum == E2BIG ? RP_DEAD : RP_FAIL, text);
}

static int
run_child(struct work *work, rp_task *task, const rp_job *job)
{
	struct running r = { .work = work, .task = task };
	struct child c = { .file = work->file,
			   .argv = make_argv(work, job),
			   .envp = make_envp(work, job),
			   .input = job->payload,
			   .input_size = job->payload_size,
			   .timeout_ms = timeout_of(work, job),
			   .choose_end = choose_end,
			   .take_output = take_output,
			   .passes_output = work->output_sync ||
					    work->live.has_output ||
					    work->result,
			   .has_no_result = work->result != NULL,
			   .ctx = &r };
	int verdict;

	r.child = &c;
	if (c.argv && c.envp)
		child_run(work->warden, &c);
	else
		c.errnum = ENOMEM;
	free_all(c.argv);
	free_all(c.envp);
	hand_on(&r);
	/* If the handler's output was lost, or the handler could not be
	 * started, the job is not done. */
	if ((r.errnum && !c.timed_out) || c.errnum) {
		free(r.result);
		return r.errnum ? RP_RELEASE : not_run(work, task, &c);
	}
	verdict = verdict_of(work, task, &c);
	if (verdict == RP_DONE)
		verdict = hand_over_result(&r);
	free(r.result);
	return verdict;
}

static int
run_job(struct work *work, rp_task *task, const rp_job *job)
{
#ifdef RP_HAVE_CURL
	if (work->post)
		return post_job(work, task, job);
#endif
	if (work->in_argument && memchr(job->payload, 0, job->payload_size))
		return give_up(task, RP_DEAD,
			       "the payload has a NUL byte and cannot be an "
			       "argument: read it from standard input");
	if (work->in_argument && job->payload_size >= MOST_ARGUMENT)
		return give_up(task, RP_DEAD,
			       "the payload is over 128 KiB and cannot be an "
			       "argument: read it from standard input");
	return run_child(work, task, job);
}

int
handle_job(rp_task *task, const rp_job *job, void *ctx)
{
	struct work *work = ctx;
	int verdict = RP_RELEASE;

	atomic_fetch_add(&work->running, 1);
	if (!output_is_lost(work))
		verdict = run_job(work, task, job);
	/* The handler may have failed because its output was lost. In that case
	 * release the job, so that the attempt is not counted. */
	if ((verdict == RP_FAIL || verdict == RP_DEAD) && output_is_lost(work))
		verdict = RP_RELEASE;
	atomic_fetch_sub(&work->running, 1);
	return verdict;
}
