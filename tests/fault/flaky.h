/*
 * flaky.h - see flaky.c.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#ifndef FLAKY_H
#define FLAKY_H

#include "internal.h"

/* how the call fails */
enum flaky_mode {
	FLAKY_BEFORE, /* nothing was done; the connection still works */
	FLAKY_HALF,   /* it fails in the middle of the rows that a verb
		       * returns */
	FLAKY_AFTER,  /* it was done, but is reported as failed */
	FLAKY_LOST,   /* nothing was done; the connection is lost together with
			 its transaction, and the next call makes a new one */
	FLAKY_MODES
};

/* The caller owns this. It must exist as long as the handle is flaky. */
struct flaky {
	struct rp_backend backend;
	const struct rp_backend *real;
	void *db;
	size_t calls;   /* calls so far */
	size_t fail_at; /* number of the failing call, from 1; 0: none */
	enum flaky_mode mode;
	int fired;
	int depth, real_depth; /* depth of transactions as the library sees it,
				  and the real one */
};

/* Make the handle flaky, and make it normal again. */
void flaky_on(struct flaky *flaky, rp_conn *conn, size_t fail_at,
	      enum flaky_mode mode);
void flaky_off(struct flaky *flaky, rp_conn *conn);

#endif
