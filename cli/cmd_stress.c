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
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
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

/* Handle the end of a child. Returns 0 if this end was expected. If it was not
 * expected, prints an error and returns an exit status. */
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
any_alive(const struct stress *s, int64_t count)
{
	for (int64_t i = 0; i < count; i++)
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
		if (!any_alive(s, s->producers))
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
	while (any_alive(s, n)) {
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
	if (!status && verdicts_broken(&sums->verdicts))
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
	int status = stress_parse(&s, argc, argv);

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
		return complain(FAILED,
				"the queue %s may still exist; the next "
				"readpast stress on this host removes it",
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
