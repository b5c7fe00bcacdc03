/*
 * basics.c - memory, text, time and progress messages for all benchmarks.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "basics.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

void
die(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	fputs("bench: ", stderr);
	vfprintf(stderr, format, args);
	fputc('\n', stderr);
	va_end(args);
	/* Call _exit() and not exit(), because a child must not run the
	 * functions that its parent has registered with atexit(). */
	_exit(1);
}

void *
allocate(size_t size)
{
	void *p = calloc(1, size);

	if (!p)
		die("out of memory");
	return p;
}

void *
allocate_shared(size_t size)
{
	void *p = shared_memory(size);

	if (!p)
		die("no shared memory");
	return p;
}

char *
text(const char *format, ...)
{
	va_list args;
	char *ret;

	va_start(args, format);
	if (vasprintf(&ret, format, args) < 0)
		die("out of memory");
	va_end(args);
	return ret;
}

pid_t
fork_child(void)
{
	pid_t pid = spawn();

	if (pid < 0)
		die("fork failed");
	return pid;
}

double
seconds_now(void)
{
	return (double)monotonic_ns() / 1e9;
}

void
progress(const char *what, int round, int rounds)
{
	if (!isatty(STDERR_FILENO))
		return;
	if (round < 0)
		fprintf(stderr, "\r%-40s%s", what, *what ? "" : "\r");
	else
		fprintf(stderr, "\rround %d of %d: %-24s", round + 1, rounds,
			what);
}

size_t
verdicts_on(rp_batch *batch, rp_verdict *to)
{
	size_t n = rp_batch_count(batch);

	for (size_t i = 0; i < n; i++) {
		const rp_job *job = rp_batch_at(batch, i);

		to[i] = (rp_verdict)RP_VERDICT_INIT;
		to[i].id = job->id;
		to[i].claim_no = job->claim_no;
	}
	rp_batch_free(batch);
	return n;
}
