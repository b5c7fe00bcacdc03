/*
 * child.c - run one handler process: start it, write its input, read its
 * output, and end it.
 *
 * Each handler runs in a process group of its own. So a Ctrl-C at the terminal
 * reaches only the worker. Killing the group also kills all processes that the
 * handler has started. A handler does not outlive its worker. The kernel kills
 * the handler with its parent (PR_SET_PDEATHSIG). The warden, a process that
 * waits for the worker's end, kills the rest of the handler's group.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
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
	int alive_fd; /* closed by the kernel when the worker ends */
	/* process groups of handlers, shared with the warden; 0: the slot is
	 * free */
	_Atomic pid_t groups[];
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
	/* Only the parent gets here. The child must not set w->pid, because
	 * both share the memory of `w`, and `pid` is 0 in the child. */
	w->pid = pid;
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

/* Reserve a slot of w->groups, for the process group of a child. There are as
 * many slots as threads that run handlers, so a slot is free now or very
 * soon. */
static _Atomic pid_t *
free_slot(struct warden *w)
{
	for (size_t i = 0;; i = (i + 1) % w->count) {
		pid_t nobody = 0;

		if (atomic_compare_exchange_strong(&w->groups[i], &nobody, -1))
			return &w->groups[i];
	}
}

/* ---- starting ---- */

/* Return a file in memory that holds the payload, positioned at its start. */
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

/* Start the child with vfork(), because a child of vfork() shares our memory
 * until it calls exec. So the child can report through `errnum` why exec
 * failed, and can tell the warden its process group before the command starts
 * processes of its own. (The warden kills this group if the worker is killed.)
 * Signals are blocked until exec, because none of our signal handlers may run
 * in the child. The command starts with no signal blocked, so that SIGTERM can
 * end it. */
static pid_t
start(const struct child *c, const int fds[CHILD_STREAMS], _Atomic pid_t *slot,
      volatile int *errnum)
{
	sigset_t all, none, before;
	pid_t worker = getpid(), pid;

	sigfillset(&all);
	sigemptyset(&none);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	pid = vfork();
	if (pid == 0) {
		setpgid(0, 0);
		*slot = getpid();
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != worker)
			_exit(127);
		/* The loop must set up descriptor 3 (CHILD_RESULT) last. The
		 * descriptor that becomes 0, 1 or 2 may be our own 3, so it
		 * must be copied before 3 is replaced. */
		for (int fd = STDIN_FILENO; fd < CHILD_STREAMS; fd++)
			if (fds[fd] == fd)
				fcntl(fd, F_SETFD, 0);
			else if (fds[fd] >= 0)
				dup2(fds[fd], fd);
		if (c->has_no_result)
			close(CHILD_RESULT);
		signal(SIGPIPE, SIG_DFL);
		signal(SIGXFSZ, SIG_DFL);
		signal(SIGINT, SIG_DFL);
		signal(SIGTERM, SIG_DFL);
		signal(SIGHUP, SIG_DFL);
		sigprocmask(SIG_SETMASK, &none, NULL);
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

/* Keep the last CHILD_TAIL bytes that the child wrote to standard error. */
static void
keep_tail(struct child *c, const char *text, size_t n)
{
	size_t keep;

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

/* Pass on the bytes that are available when the call begins, and leave later
 * bytes to the next call. If the call passed on later bytes, too, a child that
 * writes without pause would keep this process from checking the child's
 * timeout. Returns 0 at the end of the stream. */
static int
read_output(struct child *c, int from, int fd)
{
	char text[CHILD_TAIL];
	int left = 0;
	ssize_t n;

	ioctl(from, FIONREAD, &left);
	do {
		n = read(from, text, sizeof(text));
		if (n > 0 && fd == STDERR_FILENO)
			keep_tail(c, text, (size_t)n);
		if (n > 0)
			c->take_output(c->ctx, fd, text, (size_t)n);
		left -= (int)n;
	} while (n > 0 && left > 0);
	return n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR));
}

int
child_is_overdue(const struct child *c)
{
	struct pollfd end = { .fd = c->pidfd, .events = POLLIN };

	if (c->pidfd < 0 || !c->timeout_ms)
		return 0;
	return c->timed_out || (now_ms() - c->started_ms >= c->timeout_ms &&
				poll(&end, 1, 0) == 0);
}

/* Check whether the child must be ended now. Sets c->timed_out or c->stopped if
 * so, and returns whether one of them is set. */
static int
check_end(struct child *c)
{
	if (child_is_overdue(c))
		c->timed_out = 1;
	else if (c->choose_end(c->ctx) == CHILD_STOP)
		c->stopped = 1;
	return c->timed_out || c->stopped;
}

static int
nap_ms(const struct child *c)
{
	int64_t left = c->timeout_ms ? c->started_ms + c->timeout_ms - now_ms()
				     : ASK_EVERY_MS;

	if (left < 0)
		left = 0;
	return (int)(left < ASK_EVERY_MS ? left : ASK_EVERY_MS);
}

/* Wait for the child's end. If the child must be ended, send it SIGTERM. If the
 * child still runs KILL_AFTER_MS after that, send it SIGKILL. */
static void
watch(struct child *c, pid_t pid, const int from[CHILD_STREAMS])
{
	struct pollfd fds[CHILD_STREAMS] = {
		{ .fd = c->pidfd, .events = POLLIN },
		{ .fd = from[1], .events = POLLIN },
		{ .fd = from[2], .events = POLLIN },
		{ .fd = from[3], .events = POLLIN }
	};
	int64_t ended = 0;

	c->started_ms = now_ms();
	for (;;) {
		int n = poll(fds, CHILD_STREAMS,
			     ended ? ASK_EVERY_MS : nap_ms(c));

		for (int fd = STDOUT_FILENO; fd < CHILD_STREAMS; fd++)
			if (n > 0 && fds[fd].revents &&
			    !read_output(c, from[fd], fd))
				fds[fd].fd = -1;
		/* The child may have ended while its output was passed on. */
		if (poll(fds, 1, 0) > 0)
			return;
		if (!ended && check_end(c)) {
			kill(-pid, SIGTERM);
			ended = now_ms();
		} else if (ended && now_ms() - ended >= KILL_AFTER_MS) {
			kill(-pid, SIGKILL);
		}
	}
}

static void
reap(struct child *c, pid_t pid, _Atomic pid_t *slot)
{
	siginfo_t info;

	/* WNOWAIT leaves the child a zombie, so the kernel does not reuse its
	 * pid yet and kill(-pid) below cannot hit an unrelated process. */
	while (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT) < 0 &&
	       errno == EINTR)
		;
	/* kill the processes that the child has left behind */
	if (c->timed_out || c->stopped)
		kill(-pid, SIGKILL);
	/* Free the slot now, because the pid can be reused after waitpid().
	 * From here on, another thread may own the slot. */
	*slot = 0;
	c->status = spawn_wait(pid);
}

static void
close_all(int fds[CHILD_STREAMS])
{
	for (int i = 0; i < CHILD_STREAMS; i++)
		if (fds[i] >= 0)
			close(fds[i]);
}

/* Open the child's streams: `to` gets the child's ends of the pipes, and `from`
 * gets ours. -1 means that the child inherits our own stream. */
static int
open_streams(const struct child *c, int to[CHILD_STREAMS],
	     int from[CHILD_STREAMS])
{
	int ends[2], last = c->has_no_result ? STDERR_FILENO : CHILD_RESULT;

	to[0] = input_fd(c);
	if (to[0] < 0)
		return -1;
	for (int fd = c->passes_output ? 1 : 2; fd <= last; fd++) {
		if (pipe2(ends, O_CLOEXEC) < 0)
			return -1;
		from[fd] = ends[0];
		to[fd] = ends[1];
		fcntl(from[fd], F_SETFL, O_NONBLOCK);
	}
	return 0;
}

void
child_run(struct warden *warden, struct child *c)
{
	_Atomic pid_t *slot = free_slot(warden);
	volatile int errnum = 0;
	int to[CHILD_STREAMS] = { -1, -1, -1, -1 };
	int from[CHILD_STREAMS] = { -1, -1, -1, -1 };
	pid_t pid = -1;

	c->pidfd = -1;
	if (open_streams(c, to, from) < 0)
		errnum = errno;
	else
		pid = start(c, to, slot, &errnum);
	close_all(to);
	if (pid > 0 && !errnum) {
		c->has_begun = 1;
		c->pidfd = pidfd_open(pid, 0);
		if (c->pidfd < 0) {
			errnum = errno;
			kill(-pid, SIGKILL);
		} else {
			watch(c, pid, from);
			close(c->pidfd);
			c->pidfd = -1;
		}
	}
	if (pid > 0)
		reap(c, pid, slot);
	else
		*slot = 0;
	for (int fd = STDOUT_FILENO; fd < CHILD_STREAMS; fd++)
		if (from[fd] >= 0)
			read_output(c, from[fd], fd);
	close_all(from);
	c->errnum = errnum;
}
