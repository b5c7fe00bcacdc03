/*
 * worker.c - print the payloads of a queue until no job is left.
 *
 *   ./worker sqlite:queue.db numbers
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include <errno.h>
#include <readpast.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

static rp_worker *worker;

static void
stop(int signal)
{
	(void)signal;
	rp_worker_stop(worker); /* running handlers may finish first */
}

/* Print one job, on any of the worker's threads. If the process dies before the
 * job is settled, another process prints it once more. */
static int
print(rp_task *task, const rp_job *job, void *to)
{
	if (fprintf(to, "%s\n", (const char *)job->payload) >= 0)
		return RP_DONE;
	rp_task_error(task, strerror(errno)); /* the job is tried again later */
	return RP_FAIL;
}

static int
complain(const char *why)
{
	fprintf(stderr, "worker: %s\n", why);
	return 1;
}

int
main(int argc, char **argv)
{
	rp_worker_options options = RP_WORKER_INIT;
	rp_error error;
	int r;

	if (argc != 3)
		return complain("usage: worker URL QUEUE");
	/* Write each line as soon as it is complete. */
	setvbuf(stdout, NULL, _IOLBF, 0);
	options.threads = 4;
	options.drain = 1;
	if (rp_worker_new(argv[1], &options, &worker, &error) < 0)
		return complain(error.message);
	r = rp_worker_handle(worker, argv[2], NULL, print, stdout);
	if (r < 0)
		return complain(rp_error_text(r));
	signal(SIGINT, stop);
	signal(SIGTERM, stop);
	r = rp_worker_run(worker, &error);
	rp_worker_free(worker);
	return r < 0 ? complain(error.message) : 0;
}
