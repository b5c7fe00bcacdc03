/*
 * turn.h - what a request writes: verdicts, jobs to enqueue, a claim. The
 * writer joins the turns of many requests into one commit; see turn.c.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#ifndef TURN_H
#define TURN_H

#include "serve.h"

#define MOST_IN_TURN 256 /* requests in one commit */

struct turn {
	/* Verdicts. verdicts[i] is not sent if is_hidden[i] is set: the token
	 * does not allow it. */
	rp_verdict *verdicts;
	char *is_hidden;
	size_t verdicts_count;
	int has_results; /* 1: the answer has results of verdicts */
	int is_settled;  /* 1: they were given in an earlier commit */

	/* Jobs to enqueue. */
	const char *queue;
	rp_job_spec *specs;
	rp_added *added;
	size_t specs_count;
	int is_one; /* 1: the answer is one object, without an array */

	/* Of a request with an idempotency key: the name under which its answer
	 * is stored, or "", and the hash of the request. */
	char answer_name[2 * HASH_SIZE + 1];
	unsigned char hash[HASH_SIZE];
	char *stored; /* the answer that was stored before, or NULL */
	int is_other; /* 1: the key was used for another request */

	/* A claim. */
	const char **queues; /* ended by NULL; NULL: no claim */
	size_t max;
	int64_t lease_ms;
	const rp_job **jobs; /* the claimed ones; valid until finish() */
	size_t jobs_count;

	char **memory; /* texts that the members above point to */
	size_t memory_count;

	int code;       /* RP_E*; 0: it succeeded */
	int is_unknown; /* 1: it is unknown whether it took effect */
	rp_error error;
	/* Make the answer, after the commit. */
	void (*finish)(struct request *request);
};

/* The answer to an enqueue, as the text of a JSON object; NULL: out of
 * memory. */
char *enqueue_text(const struct turn *turn);

struct turn *turn_new(struct request *request);
void turn_free(struct turn *turn);
/* Keep memory until the turn is freed. Returns it, or NULL if memory is
 * exhausted or `text` is NULL. */
char *turn_keep(struct turn *turn, char *text);
/* A turn that releases claims. NULL: out of memory. */
struct turn *turn_release(const struct held *held, size_t n);
/* Do the turns of several requests in one commit. */
void turns_run(struct server *server, rp_conn *conn, struct request **asked,
	       size_t n);

/* verdicts.c */
json_t *turn_verdicts(const struct turn *turn);
/* Read a list of verdicts with at least `least` elements. Returns 0, or -1
 * after refusing the request. */
int verdicts_take(struct request *request, json_t *list, size_t least);

#endif
