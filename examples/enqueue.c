/*
 * enqueue.c - enqueue a job for each line of standard input.
 *
 *   seq 100 | ./enqueue sqlite:queue.db numbers
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include <inttypes.h>
#include <readpast.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/types.h>

static int
complain(const char *why)
{
	fprintf(stderr, "enqueue: %s\n", why);
	return 1;
}

int
main(int argc, char **argv)
{
	rp_conn *conn;
	rp_error error;
	rp_added added;
	char *line = NULL;
	size_t room = 0;
	ssize_t n;
	int status = 0;

	if (argc != 3)
		return complain("usage: enqueue URL QUEUE");
	if (rp_open(argv[1], NULL, &conn, &error) < 0)
		return complain(error.message);
	setvbuf(stdout, NULL, _IOLBF,
		0); /* print each id as soon as its job is committed */
	while (!status && (n = getline(&line, &room, stdin)) > 0) {
		rp_job_spec job = RP_JOB_SPEC_INIT;

		job.payload = line;
		job.payload_size = (size_t)n - (line[n - 1] == '\n');
		if (rp_enqueue(conn, argv[2], &job, &added) < 0)
			status = complain(rp_last_error(conn)->message);
		else /* the job is committed: it survives a crash */
			printf("%" PRId64 "\n", added.id);
	}
	if (ferror(stdin) || fflush(stdout) == EOF)
		status = complain("cannot read or write");
	free(line);
	rp_close(conn);
	return status;
}
