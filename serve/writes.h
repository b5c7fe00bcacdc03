/*
 * writes.h - what one request writes to the database: verdicts, jobs to
 * enqueue, or a claim. The writer joins the writes of many requests into one
 * commit; see writes.c.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#ifndef WRITES_H
#define WRITES_H

#include "serve.h"

#define MOST_IN_COMMIT 256 /* requests in one commit */

struct writes {
	/* The verdicts. If is_hidden[i] is 1, verdicts[i] is not sent to the
	 * database, because the token does not allow it. */
	rp_verdict *verdicts;
	char *is_hidden;
	size_t verdicts_count;
	int has_results; /* 1: the answer has results of verdicts */
	int is_settled;  /* 1: an earlier commit has handled the verdicts */

	/* Jobs to enqueue. */
	const char *queue;
	rp_job_spec *specs;
	rp_added *added;
	size_t specs_count;
	int is_one; /* 1: the request gives one job without an array, and its
		     * answer has no array either */

	/* For a request with an idempotency key: the name under which the
	 * answer is stored ("": there is no key), and the hash of the
	 * request. */
	char answer_name[2 * HASH_SIZE + 1];
	unsigned char hash[HASH_SIZE];
	char *stored; /* the answer that was stored before, or NULL */
	int is_other; /* 1: the key was used for another request */

	/* A claim. */
	const char **queues; /* ended by NULL; NULL: no claim */
	size_t max;
	int64_t lease_ms;
	int64_t worker_id;   /* 0: the client has given no name */
	const rp_job **jobs; /* the claimed jobs; valid until finish()
			      * returns */
	size_t jobs_count;

	char **memory; /* texts that the members above point to */
	size_t memory_count;

	int code;       /* RP_E*; 0: success */
	int is_unknown; /* 1: it is unknown whether the writes took effect */
	rp_error error;
	/* Makes the request's answer, after the commit. */
	void (*finish)(struct request *request);
};

/* Returns the answer to an enqueue, as the text of a JSON object. The caller
 * frees it. NULL: out of memory. */
char *enqueue_text(const struct writes *writes);

struct writes *writes_new(struct request *request);
void writes_free(struct writes *writes);
/* Let `writes` own `text`, and free it with `writes`. Returns `text`, or NULL
 * if `text` is NULL or memory ran out. */
char *writes_keep(struct writes *writes, char *text);
/* Returns writes that release claims. NULL: out of memory. */
struct writes *writes_release(const struct answered_claim *claims, size_t n);
/* Answer a request that claims, without jobs. It must not be in a list. */
void writes_end_wait(struct request *request);
/* Do the writes of several requests in one commit. Returns 0, or -1 if nothing
 * was done because of a failure that may concern only one of several requests.
 * For example, another transaction has locked a row that it needs. Then do each
 * of them alone, so that only this one fails. */
int writes_run(struct server *server, rp_conn *conn, struct request **asked,
	       size_t n);

/* verdicts.c */
json_t *writes_verdicts(const struct writes *writes);
/* Returns as which verdict (RP_DONE and so on) an accepted verdict counts. A
 * job that is dead now counts as dead: the verdict on its last attempt may have
 * been "fail". Workers count in the same way. */
int verdict_outcome(const rp_verdict *v);
/* Read a list of verdicts with at least `least` elements. Returns 0, or -1
 * after refusing the request. */
int verdicts_take(struct request *request, json_t *list, size_t least);

#endif
