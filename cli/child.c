/*
 * child.c - one handler process: started, fed, watched, ended.
 *
 * Each runs in a process group of its own, so that a Ctrl-C at the terminal is
 * the worker's alone to act on, and so that ending a handler ends what it has
 * started. A handler does not outlive its worker: the kernel kills it with its
 * parent (PR_SET_PDEATHSIG), and the warden, a process that waits for the
 * worker's end, kills the rest of its group.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "process.h"

#define ASK_EVERY_MS 200
#define KILL_AFTER_MS 5000

struct warden {
	size_t count;
	pid_t pid;
	int alive_fd;            /* closed by the kernel when the worker ends */
	volatile pid_t groups[]; /* shared: what runs, 0: nothing */
};

static int64_t
now_ms(void)
{
	return monotonic_us() / 1000;
}

/* ---- the warden ---- */

static void
warden_wait(struct warden *w, int fd)
{
	char byte;

	setsid();
	prctl(PR_SET_NAME, "readpast-warden");
	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	while (read(fd, &byte, 1) < 0 && errno == EINTR)
		;
	for (size_t i = 0; i < w->count; i++)
		if (w->groups[i] > 0)
			kill(-w->groups[i], SIGKILL);
	_exit(0);
}

struct warden *
warden_start(size_t slots)
{
	size_t size = sizeof(struct warden) + slots * sizeof(pid_t);
	struct warden *w = shared_memory(size);
	int ends[2];
	pid_t pid;

	if (!w)
		return NULL;
	if (pipe2(ends, O_CLOEXEC) < 0) {
		munmap(w, size);
		return NULL;
	}
	w->count = slots;
	pid = fork();
	if (pid == 0) {
		close(ends[1]);
		warden_wait(w, ends[0]);
	}
	close(ends[0]);
	w->pid = pid; /* here alone, for the child has the same memory */
	w->alive_fd = ends[1];
	if (pid < 0) {
		close(ends[1]);
		munmap(w, size);
		return NULL;
	}
	return w;
}

void
warden_stop(struct warden *w)
{
	if (!w)
		return;
	close(w->alive_fd);
	spawn_wait(w->pid);
	munmap(w, sizeof(*w) + w->count * sizeof(pid_t));
}

/* A place for the group of a child that is about to be started. */
static volatile pid_t *
free_slot(struct warden *w)
{
	for (size_t i = 0;; i = (i + 1) % w->count) {
		pid_t nobody = 0;

		if (__atomic_compare_exchange_n(&w->groups[i], &nobody, -1, 0,
						__ATOMIC_SEQ_CST,
						__ATOMIC_SEQ_CST))
			return &w->groups[i];
	}
}

/* ---- starting ---- */

/* The payload as a file that the child reads from its beginning. */
static int
input_fd(const struct child *c)
{
	const char *from = c->input;
	size_t left = c->input_size;
	int fd;

	if (left == 0)
		return open("/dev/null", O_RDONLY | O_CLOEXEC);
	fd = memfd_create("payload", MFD_CLOEXEC);
	while (fd >= 0 && left > 0) {
		ssize_t n = write(fd, from, left);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			close(fd);
			return -1;
		}
		from += n;
		left -= (size_t)n;
	}
	if (fd >= 0)
		lseek(fd, 0, SEEK_SET);
	return fd;
}

/*
 * The child shares our memory until it has become the command; so it tells us
 * why it could not, and puts its own group where the warden looks, before it
 * can start anything. Signals are blocked meanwhile: a handler of ours must
 * not run in it.
 */
static pid_t
start(const struct child *c, int in, int err, volatile pid_t *slot,
      volatile int *errnum)
{
	sigset_t all, before;
	pid_t worker = getpid(), pid;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	pid = vfork();
	if (pid == 0) {
		setpgid(0, 0);
		*slot = getpid();
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != worker)
			_exit(127);
		dup2(in, STDIN_FILENO);
		dup2(err, STDERR_FILENO);
		signal(SIGPIPE, SIG_DFL);
		signal(SIGINT, SIG_DFL);
		signal(SIGTERM, SIG_DFL);
		signal(SIGHUP, SIG_DFL);
		sigprocmask(SIG_SETMASK, &before, NULL);
		execvpe(c->file, c->argv, c->envp);
		*errnum = errno;
		_exit(127);
	}
	if (pid < 0)
		*errnum = errno;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return pid;
}

/* ---- watching ---- */

/* Pass on what the child says on standard error, and keep the end of it. */
static void
keep_tail(struct child *c, const char *text, size_t n)
{
	size_t keep;
	ssize_t written = write(STDERR_FILENO, text, n);

	(void)written; /* nobody to tell */
	if (n >= CHILD_TAIL) {
		memcpy(c->tail, text + n - CHILD_TAIL, CHILD_TAIL);
		c->tail_size = CHILD_TAIL;
		return;
	}
	keep = c->tail_size < CHILD_TAIL - n ? c->tail_size : CHILD_TAIL - n;
	memmove(c->tail, c->tail + c->tail_size - keep, keep);
	memcpy(c->tail + keep, text, n);
	c->tail_size = keep + n;
}

/* 0 when there is no more to come. */
static int
read_tail(struct child *c, int fd)
{
	char text[CHILD_TAIL];
	ssize_t n;

	while ((n = read(fd, text, sizeof(text))) > 0)
		keep_tail(c, text, (size_t)n);
	return n < 0 && (errno == EAGAIN || errno == EINTR);
}

/* Is it time to end the child? */
static int
overdue(struct child *c, int64_t started)
{
	if (c->timeout_ms && now_ms() - started >= c->timeout_ms)
		c->timed_out = 1;
	else if (c->asked(c->ctx) == CHILD_STOP)
		c->stopped = 1;
	return c->timed_out || c->stopped;
}

static int
nap_ms(const struct child *c, int64_t started)
{
	int64_t left = c->timeout_ms ? started + c->timeout_ms - now_ms()
				     : ASK_EVERY_MS;

	if (left < 0)
		left = 0;
	return (int)(left < ASK_EVERY_MS ? left : ASK_EVERY_MS);
}

/* Until it has ended: TERM when its time is over, KILL if that does not help.
 */
static void
watch(struct child *c, pid_t pid, int pidfd, int err)
{
	struct pollfd fds[2] = { { .fd = pidfd, .events = POLLIN },
				 { .fd = err, .events = POLLIN } };
	int64_t started = now_ms(), ended = 0;

	for (;;) {
		int n = poll(fds, 2, ended ? ASK_EVERY_MS : nap_ms(c, started));

		if (n > 0 && fds[1].revents && !read_tail(c, err))
			fds[1].fd = -1;
		if (n > 0 && fds[0].revents)
			return;
		if (!ended && overdue(c, started)) {
			kill(-pid, SIGTERM);
			ended = now_ms();
		} else if (ended && now_ms() - ended >= KILL_AFTER_MS) {
			kill(-pid, SIGKILL);
		}
	}
}

static void
reap(struct child *c, pid_t pid, volatile pid_t *slot)
{
	siginfo_t info;

	/* The number is still taken: nobody else can be killed by mistake. */
	while (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT) < 0 &&
	       errno == EINTR)
		;
	if (c->timed_out || c->stopped)
		kill(-pid, SIGKILL); /* what it started and left behind */
	*slot = 0;
	c->status = spawn_wait(pid);
}

void
child_run(struct warden *warden, struct child *c)
{
	volatile pid_t *slot = free_slot(warden);
	volatile int errnum = 0;
	int err[2] = { -1, -1 }, in = input_fd(c), pidfd = -1;
	pid_t pid = -1;

	if (in < 0 || pipe2(err, O_CLOEXEC) < 0)
		errnum = errno;
	else
		pid = start(c, in, err[1], slot, &errnum);
	if (in >= 0)
		close(in);
	if (err[1] >= 0)
		close(err[1]);
	if (pid > 0 && !errnum) {
		fcntl(err[0], F_SETFL, O_NONBLOCK);
		pidfd = pidfd_open(pid, 0);
		watch(c, pid, pidfd, err[0]);
		close(pidfd);
	}
	if (pid > 0)
		reap(c, pid, slot);
	*slot = 0;
	if (err[0] >= 0) {
		read_tail(c, err[0]);
		close(err[0]);
	}
	c->errnum = errnum;
}
