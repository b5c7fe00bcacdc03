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

/* The state of one run of `enqueue`: its options, and the payloads that were
 * read but not yet enqueued. */
struct input {
	struct cmd *cmd;
	const char *queue;
	/* what messages call a payload: "line" or "argument" */
	const char *word;
	rp_job_spec model; /* options that all jobs share */
	int quiet, json, one;
	char separator;
	size_t most; /* largest payload that the queue accepts, in bytes */
	/* value of --skip: how many jobs at the beginning of the input are
	 * left out */
	int64_t skip;
	int64_t skipped; /* how many of these jobs were read so far */

	char *text; /* input that was read but not enqueued yet */
	size_t used, room;
	size_t first; /* offset in `text` of the first payload to enqueue */
	/* size of the complete payloads in `text`, with their separators */
	size_t whole;
	size_t ends[BATCH_JOBS];
	size_t skips[BATCH_JOBS]; /* size of the separator after each payload */
	size_t count;
	int64_t enqueued; /* jobs enqueued so far, in all batches */
	int refused;      /* 0, or REFUSED if --replace found a running job */
	struct await await;
};

/* Enqueue the jobs of standard input, or a job for each argument. Both
 * functions return 0, or an exit status after printing an error. */
int enqueue_input(struct input *in);
int enqueue_arguments(struct input *in, int argc, char **argv);

#endif
