/*
 * input.h - read the payloads of `enqueue`, and enqueue them; see input.c.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#ifndef INPUT_H
#define INPUT_H

#include "waiting.h"

#define BATCH_JOBS 10000

/* one run of `enqueue`: its options, and the payloads that were read but not
 * yet enqueued */
struct input {
	struct cmd *cmd;
	const char *queue;
	const char *word;  /* how messages call a payload: "line", "argument" */
	rp_job_spec model; /* options that all jobs share */
	int quiet, json, one;
	char separator;
	size_t most;     /* largest payload that the queue takes, in bytes */
	int64_t skip;    /* --skip: number of jobs at the input's start to
			  * leave out */
	int64_t skipped; /* how many of those jobs were read so far */

	char *text; /* input that was read but not enqueued yet */
	size_t used, room;
	size_t first; /* offset in `text` of the first payload to enqueue */
	size_t whole; /* bytes of complete payloads in `text`, with
		       * separators */
	size_t ends[BATCH_JOBS];
	size_t skips[BATCH_JOBS]; /* bytes of the separator behind each
				   * payload */
	size_t count;
	int64_t enqueued; /* jobs enqueued so far, in all batches */
	int refused;      /* 0, or REFUSED if --replace found a running job */
	struct await await;
};

/* Enqueue the jobs of standard input, or a job for each argument. Both return
 * 0, or an exit status after printing an error. */
int enqueue_input(struct input *in);
int enqueue_arguments(struct input *in, int argc, char **argv);

#endif
