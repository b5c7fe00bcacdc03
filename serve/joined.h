/*
 * joined.h - the parts of a transaction that joins the writes of several
 * requests; see writes.c.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#ifndef JOINED_H
#define JOINED_H

#include "writes.h"

struct joined {
	struct server *server;
	rp_conn *conn;
	struct request **asked;
	size_t n;
	int is_single;    /* 1: one call is enough, outside a transaction */
	int shares_jobs;  /* 1: two requests have verdicts on the same job */
	int is_key_taken; /* 1: another server has stored one of the idempotency
			   * keys since this transaction looked for it */
	rp_batch *batches[MOST_IN_COMMIT]; /* the claimed jobs; they are freed
					    * after the answers are made */
	size_t batches_count;
	rp_error error; /* the failure that ended the transaction */
};

/* Returns whether a call failed because of its arguments. Such a failure
 * concerns one request only, and the transaction goes on. */
int is_about_arguments(int code);
/* Returns whether a call for several requests, which failed because of its
 * arguments, has to be repeated for each request alone. */
int has_to_split(const struct joined *j, int code);
/* Handle the failure `code` of a call for the request of `writes`. Returns 0 if
 * the failure is stored in the writes and the transaction goes on. Otherwise
 * returns `code`, which ends the transaction. */
int note_failure(struct joined *j, struct writes *writes, int code);

/* clients.c: hear from the clients whose claims have a name, or whose jobs get
 * a verdict. Set writes->worker_id of the claims. If this fails for a claim,
 * the failure is stored in its writes. */
void clients_hear(struct clients *clients, rp_conn *conn,
		  struct request **asked, size_t n);
/* Record the jobs that a client has got, and count its verdicts, after the
 * commit. */
void clients_note(struct clients *clients, const struct request *request);

/* Returns whether two requests have verdicts on the same job. */
int verdicts_share_jobs(const struct joined *j);

/* Each of these functions does one part of all requests: the verdicts, the new
 * jobs or the claims. It returns 0, or the error that ends the transaction. */
int settle_all(struct joined *j);
int enqueue_all(struct joined *j);
int claim_all(struct joined *j);
/* Returns whether two requests claim from the same queues, with the same lease
 * and for the same worker. Then one call can claim for both. The first one has
 * a claim. */
int claims_alike(const struct writes *a, const struct writes *b);
/* Make the claims of the request with the index `first` and of all later
 * requests with the same queues, lease and worker. The first call also settles
 * these `n` verdicts. Usually it is the only call, but a suspect ends a claim,
 * and a further call claims for the requests that have no jobs yet. */
int claim_joined(struct joined *j, size_t first, rp_verdict *verdicts,
		 size_t n);
/* Returns whether these jobs can be enqueued in one call with the jobs of
 * other requests for this queue. */
int is_of_queue(const struct writes *writes, const char *queue);
/* Returns whether there are verdicts that must still be handled. */
int has_verdicts(const struct writes *writes);

#endif
