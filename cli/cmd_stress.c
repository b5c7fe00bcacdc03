/*
 * cmd_stress.c - the command `stress`: put a test load on the user's database,
 * and check that the promises were kept.
 *
 * The parent process has no connection while child processes exist, because
 * SQLite's locks do not work across a fork. stress.h describes what each
 * process does.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/wait.h>
#include <unistd.h>

#include "stress.h"

#define TICK_US 10000
#define PROGRESS_US 200000
#define PATIENCE_US 30000000

static volatile sig_atomic_t told_to_end;

static void
on_signal(int number)
{
	told_to_end = number;
}

/* ---- options ---- */

static int
parse_rate(const struct cmd *cmd, const char *text, double *ret)
{
	char *end;

	if (!text)
		return 0;
	*ret = strtod(text, &end);
	if (end == text || *end || !(*ret >= 0 && *ret <= 1))
		return usage(cmd,
			     "--fail-rate %.80s: expected 0 to 1, such "
			     "as 0.05",
			     text);
	return 0;
}

/* Check that each option is within its range. Returns 0, or an exit status
 * after printing an error. */
static int
in_range(const struct stress *s)
{
	const struct {
		const char *name;
		int64_t value, least, most;
	} limits[] = {
		{ "--producers", s->producers, 1, 256 },
		{ "--workers", s->workers, 1, 256 },
		{ "-j", s->threads, 1, RP_MOST_THREADS },
		{ "--jobs", s->jobs, s->for_ms ? 0 : 1, 100000000 },
		{ "--payload", s->payload, 0, 64 * 1024 * 1024 },
		{ "--batch", s->batch, 1, RP_MOST_CLAIMED },
	};

	for (size_t i = 0; i < sizeof(limits) / sizeof(*limits); i++)
		if (limits[i].value < limits[i].least ||
		    limits[i].value > limits[i].most)
			return usage(s->cmd, "%s: expected %lld to %lld",
				     limits[i].name, (long long)limits[i].least,
				     (long long)limits[i].most);
	if (s->batch * s->payload > INT64_C(256) * 1024 * 1024)
		return usage(s->cmd, "--batch times --payload must be at "
				     "most 256MiB");
	if (s->lease_ms < 100 || s->lease_ms > 3600000)
		return usage(s->cmd, "--lease: expected 100ms to 1h");
	if ((s->kill_ms >= 0 && s->kill_ms < 50) ||
	    (s->stall_ms >= 0 && s->stall_ms < 50))
		return usage(s->cmd, "%s: expected 50ms or more",
			     s->kill_ms >= 0 && s->kill_ms < 50
				     ? "--kill-every"
				     : "--stall-every");
	return 0;
}

static int
parse(struct stress *s, int argc, char **argv)
{
	const char *rate = NULL;
	int64_t jobs = -1, for_ms = -1;
	const struct option options[] = {
		{ "--producers", COUNT, &s->producers, "N",
		  "processes that enqueue (1)" },
		{ "--workers", COUNT, &s->workers, "N",
		  "processes that work (2)" },
		{ "-j", COUNT, &s->threads, "N", "threads of each worker (2)" },
		{ "--jobs", COUNT, &jobs, "N", "number of jobs (10k)" },
		{ "--for", DURATION, &for_ms, "D",
		  "enqueue for this long, in place of --jobs" },
		{ "--fill", FLAG, &s->fill, NULL,
		  "workers start when all jobs are enqueued" },
		{ "--payload", SIZE, &s->payload, "SIZE",
		  "payload size of each job (200)" },
		{ "--batch", COUNT, &s->batch, "N",
		  "jobs enqueued at a time (100)" },
		{ "--work-time", DURATION, &s->work_ms, "D",
		  "how long a handler takes (0)" },
		{ "--fail-rate", TEXT, &rate, "P",
		  "share of attempts that fail, 0 to 1 (0)" },
		{ "--lease", DURATION, &s->lease_ms, "D",
		  "how long a claim holds (2s)" },
		{ "--kill-every", DURATION, &s->kill_ms, "D",
		  "how often to kill a worker and start another one" },
		{ "--stall-every", DURATION, &s->stall_ms, "D",
		  "how often to stop a worker for longer than its lease" },
		{ "--pin-snapshot", FLAG, &s->pin, NULL,
		  "keep a snapshot of the database open" },
		{ "--seed", COUNT, &s->seed, "N",
		  "repeat the random choices of the run with this seed" },
		{ "--json", FLAG, &s->json, NULL, "JSON" },
		OPTIONS_END,
	};
	int status = parse_options(s->cmd, &argc, argv, options);

	if (!status)
		status = parse_rate(s->cmd, rate, &s->fail_rate);
	if (status)
		return status;
	if (argc)
		return usage(s->cmd, "takes no arguments");
	if (jobs >= 0 && for_ms >= 0)
		return usage(s->cmd, "give either --jobs or --for, not both");
	if (for_ms == 0)
		return usage(s->cmd, "--for: expected more than 0");
	if (for_ms > 0 && s->fill)
		return usage(s->cmd, "--fill needs --jobs, not --for");
	s->for_ms = for_ms > 0 ? for_ms : 0;
	s->jobs = s->for_ms ? 0 : jobs >= 0 ? jobs : 10000;
	if (s->seed < 0) {
		uint32_t seed = 0;

		getrandom(&seed, sizeof(seed), 0);
		s->seed = seed;
	}
	return in_range(s);
}

/* ---- processes ---- */

typedef int child_main(struct stress *stress, struct child *child);

static int
start(struct stress *s, struct child *child, child_main *run)
{
	sigset_t all, before;

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &before);
	child->pid = spawn();
	if (child->pid == 0) {
		signal(SIGINT, SIG_IGN);
		signal(SIGHUP, SIG_IGN);
		signal(SIGTERM, SIG_DFL);
		sigprocmask(SIG_SETMASK, &before, NULL);
		_exit(run(s, child));
	}
	sigprocmask(SIG_SETMASK, &before, NULL);
	if (child->pid > 0)
		return 0;
	child->pid = 0;
	return complain(FAILED, "cannot start a process: %s", strerror(errno));
}

static struct child *
worker_at(struct stress *s, int64_t i)
{
	return &s->children[s->producers + i];
}

static int
prepare(struct stress *s)
{
	int64_t n = s->producers + s->workers;
	size_t size = sizeof(*s->shared) + (size_t)n * sizeof(*s->counts);

	s->shared = shared_memory(size);
	s->children = calloc((size_t)n, sizeof(*s->children));
	if (!s->shared || !s->children)
		return complain(FAILED, "out of memory");
	s->counts = (_Atomic int64_t *)(s->shared + 1);
	for (int64_t i = 0; i < n; i++)
		if (log_open(&s->children[i].log, &s->counts[i]) < 0)
			return complain(FAILED, "no memory for the history: %s",
					strerror(errno));
	s->shared->to_make = s->jobs;
	/* The watcher process finds this run's sessions on the server by this
	 * name. */
	setenv("PGAPPNAME", s->queue, 1);
	return 0;
}

/* Handle the end of a child. Returns 0 if the child was expected to end.
 * Otherwise prints an error and returns an exit status. */
static int
bury(struct stress *s, struct child *child, int status, int ending)
{
	int killed = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;

	child->pid = 0;
	child->resume_at = 0;
	if (atomic_load(&s->shared->failing) == 1)
		return complain(FAILED, "%s", s->shared->why);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return 0;
	if (ending ||
	    (killed && child != &s->watcher && child >= worker_at(s, 0)))
		return 0;
	return complain(
		FAILED, "a process of the run ended unexpectedly, with %s %d",
		WIFSIGNALED(status) ? "signal" : "status",
		WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
}

/* Handle the end of each child that has ended. */
static int
reap(struct stress *s, int ending)
{
	int r = 0, status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		struct child *child = &s->watcher;

		for (int64_t i = 0; i < s->producers + s->workers; i++)
			if (s->children[i].pid == pid)
				child = &s->children[i];
		r = worst(r, bury(s, child, status, ending));
	}
	return r;
}

static int
alive(const struct stress *s, int64_t from, int64_t to)
{
	for (int64_t i = from; i < to; i++)
		if (s->children[i].pid)
			return 1;
	return 0;
}

/* ---- the phases of a run ---- */

/* Choose a running worker at random. Returns NULL if no worker runs. */
static struct child *
victim(struct stress *s, int64_t number)
{
	int64_t first = (int64_t)(stress_random((uint64_t)s->seed, 'v',
						(uint64_t)number) %
				  (uint64_t)s->workers);

	for (int64_t i = 0; i < s->workers; i++) {
		struct child *child = worker_at(s, (first + i) % s->workers);

		if (child->pid && !child->resume_at)
			return child;
	}
	return NULL;
}

static void
kill_one(struct stress *s)
{
	struct child *child = victim(s, atomic_load(&s->shared->kills));

	if (!child)
		return;
	kill(child->pid, SIGKILL);
	atomic_fetch_add(&s->shared->kills, 1);
}

/* Stop a worker with SIGSTOP for longer than its lease. Other workers then
 * claim its jobs, so the worker settles them too late. */
static void
stall_one(struct stress *s, int64_t now)
{
	int64_t number = atomic_fetch_add(&s->shared->stalls, 1);
	struct child *child = victim(s, -1 - number);
	uint64_t dice = stress_random((uint64_t)s->seed, 's', (uint64_t)number);

	if (!child)
		return;
	kill(child->pid, SIGSTOP);
	child->resume_at =
		now + s->lease_ms * 1000 + 500000 + (int64_t)(dice % 1500000);
}

static void
resume(struct stress *s, int64_t now)
{
	for (int64_t i = 0; i < s->workers; i++) {
		struct child *child = worker_at(s, i);

		if (!child->pid || !child->resume_at || now < child->resume_at)
			continue;
		kill(child->pid, SIGCONT);
		child->resume_at = 0;
	}
}

/* Start a new worker for each worker that was killed. With --fill, the first
 * workers start when the queue has been filled. */
static int
restart(struct stress *s)
{
	if (s->fill && !atomic_load(&s->shared->made))
		return 0;
	for (int64_t i = 0; i < s->workers; i++)
		if (!worker_at(s, i)->pid && start(s, worker_at(s, i), work))
			return FAILED;
	return 0;
}

/* Let the children work until the queue is empty, something fails, or a signal
 * arrives. */
static int
load(struct stress *s)
{
	int64_t next_kill = s->began_at + s->kill_ms * 1000;
	int64_t next_stall = s->began_at + s->stall_ms * 1000, shown = 0;
	int status = 0;

	while (!status && !told_to_end && !atomic_load(&s->shared->empty)) {
		int64_t now = monotonic_us();

		if (s->for_ms && now - s->began_at > s->for_ms * 1000)
			atomic_store(&s->shared->stop, 1);
		if (s->kill_ms >= 0 && now >= next_kill) {
			kill_one(s);
			next_kill += s->kill_ms * 1000;
		}
		if (s->stall_ms >= 0 && now >= next_stall) {
			stall_one(s, now);
			next_stall += s->stall_ms * 1000;
		}
		resume(s, now);
		if (now - shown > PROGRESS_US) {
			report_progress(s, 0);
			shown = now;
		}
		sleep_us(TICK_US);
		status = reap(s, 0);
		if (!alive(s, 0, s->producers))
			atomic_store(&s->shared->made, 1);
		if (!status)
			status = restart(s);
	}
	s->interrupted = told_to_end;
	return status;
}

/* End all children. Workers release the jobs that they have not started.
 * Children that do not end in time are killed. */
static int
finish(struct stress *s)
{
	int64_t n = s->producers + s->workers;
	int64_t until = monotonic_us() + PATIENCE_US;
	int status = 0;

	atomic_store(&s->shared->stop, 1);
	resume(s, INT64_MAX);
	for (int64_t i = 0; i < s->workers; i++)
		if (worker_at(s, i)->pid)
			kill(worker_at(s, i)->pid, SIGTERM);
	while (alive(s, 0, n)) {
		for (int64_t i = 0; i < n && monotonic_us() > until; i++)
			if (s->children[i].pid)
				kill(s->children[i].pid, SIGKILL);
		sleep_us(TICK_US);
		status = worst(status, reap(s, 1));
	}
	s->ended_at = monotonic_us();
	atomic_store(&s->shared->over, 1);
	while (s->watcher.pid) {
		if (monotonic_us() > until + PATIENCE_US)
			kill(s->watcher.pid, SIGKILL);
		sleep_us(TICK_US);
		status = worst(status, reap(s, 1));
	}
	return status;
}

/* Run the load and end it. The watcher process starts first, so that it sees
 * the whole run. */
static int
run(struct stress *s)
{
	int status = start(s, &s->watcher, watch);

	while (!status && !told_to_end && !atomic_load(&s->shared->ready)) {
		sleep_us(TICK_US);
		status = reap(s, 0);
	}
	s->began_at = monotonic_us();
	for (int64_t i = 0; i < s->producers && !status; i++)
		status = start(s, &s->children[i], produce);
	if (!status)
		status = restart(s);
	if (!status)
		status = load(s);
	status = worst(status, finish(s));
	report_progress(s, 1);
	return status;
}

static int
conclude(struct stress *s)
{
	struct sums *sums = calloc(1, sizeof(*sums));
	int status;

	if (!sums)
		return complain(FAILED, "out of memory");
	status = sum_up(s, sums);
	if (!status)
		status = prove(s, sums);
	if (!status)
		report(s, sums);
	for (int p = 0; p < PROMISES_OF_JOBS && !status; p++)
		if (sums->verdicts.broken[p])
			status = FAILED;
	free(sums);
	return status;
}

int
cmd_stress(struct cmd *cmd, int argc, char **argv)
{
	struct stress s = { .cmd = cmd,
			    .producers = 1,
			    .workers = 2,
			    .threads = 2,
			    .payload = 200,
			    .batch = 100,
			    .lease_ms = 2000,
			    .kill_ms = -1,
			    .stall_ms = -1,
			    .seed = -1 };
	struct sigaction action = { .sa_handler = on_signal };
	int status = parse(&s, argc, argv);

	if (!status)
		status = cmd_open(cmd);
	if (status)
		return status;
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGHUP, &action, NULL);
	status = scratch_sweep(cmd);
	if (!status)
		status = scratch_make(&s);
	if (status)
		return status;
	rp_close(cmd->conn);
	cmd->conn = NULL;
	status = prepare(&s);
	if (!status)
		status = run(&s);
	if (cmd_open(cmd))
		return complain(FAILED, "the queue %s was perhaps not removed",
				s.queue);
	if (!status)
		status = conclude(&s);
	status = worst(status, scratch_remove(cmd, s.queue));
	if (s.interrupted)
		status = complain(FAILED,
				  "interrupted; the run's queue was removed");
	free(s.children);
	return status;
}
