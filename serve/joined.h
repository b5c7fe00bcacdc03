/*
 * joined.h - the parts of a transaction that joins the writes of several
 * requests; see turn.c.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#ifndef JOINED_H
#define JOINED_H

#include "turn.h"

struct joined {
	struct server *server;
	rp_conn *conn;
	struct request **asked;
	size_t n;
	rp_batch *batches[MOST_IN_TURN]; /* the claimed jobs; they are freed
					  * after the answers are made */
	size_t batches_count;
	rp_error error; /* the failure that ended the transaction */
};

/* Returns whether a call failed because of its arguments. Such a failure
 * concerns one request only, and the transaction goes on. */
int is_about_arguments(int code);
/* Handle the failure `code` of a call for the request of `turn`. Returns 0 if
 * the failure is stored in the turn and the transaction goes on. Otherwise
 * returns `code`, which ends the transaction. */
int note_failure(struct joined *j, struct turn *turn, int code);

/* Each of these functions does one part of all requests: the verdicts, the new
 * jobs or the claims. It returns 0, or the error that ends the transaction. */
int settle_all(struct joined *j);
int enqueue_all(struct joined *j);
int claim_all(struct joined *j);
/* Returns whether the turn has verdicts that must still be handled. */
int has_verdicts(const struct turn *turn);

#endif
