/*
 * server.h - the code that is shared by all databases that have routines
 * (functions stored in the database). On these databases, a settle_and_claim is
 * one call of a routine, and so is an enqueue.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#ifndef RP_SERVER_H
#define RP_SERVER_H

#include "internal.h"

struct rp_server {
	/* run() of struct rp_backend */
	int (*run)(void *db, enum rp_verb verb, const struct rp_value *params,
		   size_t rows, rp_row_fn *row, void *ctx, rp_error *reterr);
	/* Read the fields of a composite value, `count` at most. */
	void (*fields)(const struct rp_value *composite, struct rp_value *ret,
		       size_t count);
	char open, close; /* the brackets around a list of names; see
			   * rp__list() */
};

/* settle_and_claim.c */
int rp__server_settle_and_claim(const struct rp_server *server, void *db,
				struct rp_round_trip *trip, rp_error *error);

/* enqueue.c */
int rp__server_enqueue(const struct rp_server *server, void *db,
		       struct rp_enqueue *jobs, rp_error *error);

#endif
