/*
 * interrupt.c - a command that takes long, and is told to end.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "cmd.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#define SIGNALS 3
static const int signals[SIGNALS] = { SIGINT, SIGTERM, SIGHUP };
static volatile sig_atomic_t caught; /* this signal, or 0 */

static void
on_signal(int number)
{
	caught = number;
}

/* The second signal ends us at once; one that is ignored stays so. */
void
catch_interrupts(void)
{
	struct sigaction was, action = { .sa_handler = on_signal,
					 .sa_flags = (int)SA_RESETHAND };

	for (size_t i = 0; i < SIGNALS; i++)
		if (sigaction(signals[i], NULL, &was) == 0 &&
		    was.sa_handler != SIG_IGN)
			sigaction(signals[i], &action, NULL);
}

int
interrupted(void)
{
	return caught;
}

/* Wait for input: 1, or 0 when the time is over; a negative time is no end. A
 * signal ends it, too: -1, also for one that came before. */
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
	/* Between the look at `caught` and the wait none may come unseen. */
	pthread_sigmask(SIG_BLOCK, &ours, &was);
	ready = caught ? -1
		       : ppoll(&p, 1, timeout_ms < 0 ? NULL : &timeout, &was);
	pthread_sigmask(SIG_SETMASK, &was, NULL);
	return ready;
}

/* End as the signal would have ended us. */
void
end_if_interrupted(void)
{
	if (caught)
		raise(caught);
}
