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
	rp_batch *batches[MOST_IN_TURN]; /* of claims; they are freed after the
					    answers */
	size_t batches_count;
	int code; /* of a failure that ended the transaction */
	rp_error error;
};

/* Returns whether the failure is about the arguments of the call. Then the
 * transaction goes on. */
int is_about_arguments(int code);
/* Note the failure of a call. Returns 0 if the transaction goes on, or the
 * failure. */
int note_failure(struct joined *j, struct turn *turn, int code);

/* Each returns 0, or the failure that ends the transaction. */
int settle_all(struct joined *j);
int enqueue_all(struct joined *j);
int claim_all(struct joined *j);
/* Whether the turn has verdicts that were not given yet. */
int has_verdicts(const struct turn *turn);

#endif
