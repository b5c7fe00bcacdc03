/*
 * interrupt.c - end a long command between two of its steps if a signal has
 * arrived.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "cmd.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

#include "process.h"

/* timeout(1) sends its signal twice, to its child and to the child's process
 * group. Signals that come within this time after the first one count as one.
 */
#define SAME_SIGNAL_US 500000

#define SIGNALS 3
static const int signals[SIGNALS] = { SIGINT, SIGTERM, SIGHUP };
static volatile sig_atomic_t caught; /* number of the signal that arrived last,
				      * or 0 */
static _Atomic int64_t first_us;     /* when the first signal arrived, or 0 */
/* a pipe to which the signal handler writes */
static int ends[2] = { -1, -1 };

static void
on_signal(int number)
{
	int was = errno;
	int64_t now = monotonic_us(), none = 0;

	caught = number;
	if (!atomic_compare_exchange_strong(&first_us, &none, now) &&
	    now - none >= SAME_SIGNAL_US)
		end_if_interrupted();
	/* write() fails if the pipe is full. Nothing is lost then, because a
	 * full pipe is readable. The compiler demands that the result of
	 * write() is used, so the number is assigned once more. */
	if (ends[1] >= 0 && write(ends[1], "", 1) < 0)
		caught = number;
	errno = was;
}

/* Returns a descriptor that becomes readable when a signal arrives, for calls
 * that wait in poll(). Returns -1 if no pipe can be made. Call this before
 * catch_interrupts(). */
int
interrupt_fd(void)
{
	if (ends[0] < 0 && pipe2(ends, O_CLOEXEC | O_NONBLOCK) < 0)
		ends[0] = ends[1] = -1;
	return ends[0];
}

void
catch_unless_ignored(int number, const struct sigaction *action)
{
	struct sigaction was;

	if (sigaction(number, NULL, &was) == 0 && was.sa_handler != SIG_IGN)
		sigaction(number, action, NULL);
}

/* Catch the signals, and remember the last one that has arrived. A signal that
 * arrives SAME_SIGNAL_US after the first one, or later, kills the process. */
void
catch_interrupts(void)
{
	const struct sigaction action = { .sa_handler = on_signal };

	for (size_t i = 0; i < SIGNALS; i++)
		catch_unless_ignored(signals[i], &action);
}

int
interrupted(void)
{
	return caught;
}

/* Wait for standard input. Returns 1 if it is readable, 0 if `timeout_ms` has
 * passed, and -1 if a signal has arrived, now or earlier. A negative
 * `timeout_ms` means no limit. */
int
wait_for_input(int timeout_ms)
{
	struct pollfd p = { .fd = STDIN_FILENO, .events = POLLIN };
	struct timespec timeout = { .tv_sec = timeout_ms / 1000,
				    .tv_nsec = timeout_ms % 1000 * 1000000L };
	sigset_t ours, was;
	int ready;

	sigemptyset(&ours);
	for (size_t i = 0; i < SIGNALS; i++)
		sigaddset(&ours, signals[i]);
	/* Signals are blocked while `caught` is tested. ppoll() unblocks them
	 * atomically, so no signal can arrive unnoticed between the test and
	 * ppoll(). */
	pthread_sigmask(SIG_BLOCK, &ours, &was);
	ready = caught ? -1
		       : ppoll(&p, 1, timeout_ms < 0 ? NULL : &timeout, &was);
	pthread_sigmask(SIG_SETMASK, &was, NULL);
	return ready;
}

/* If a signal has arrived, end the process by that signal. Then the parent
 * process can read the signal's number from the exit status. */
void
end_if_interrupted(void)
{
	if (caught) {
		signal(caught, SIG_DFL);
		raise(caught);
	}
}
