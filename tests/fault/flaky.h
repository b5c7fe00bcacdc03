/*
 * flaky.h - see flaky.c.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#ifndef FLAKY_H
#define FLAKY_H

#include "internal.h"

/* How the call fails. */
enum flaky_mode {
	FLAKY_BEFORE, /* nothing was done, and the connection is well */
	FLAKY_HALF,   /* in the middle of the rows that a verb answers */
	FLAKY_AFTER,  /* it was done, and is said to have failed */
	FLAKY_LOST,   /* nothing was done; the connection, and with it the
			 transaction, is gone: the next one is another */
	FLAKY_MODES
};

/* The caller's; it lives as long as the handle is flaky. */
struct flaky {
	struct rp_backend backend;
	const struct rp_backend *real;
	void *db;
	size_t calls;   /* made so far */
	size_t fail_at; /* that one fails, from 1; 0: none */
	enum flaky_mode mode;
	int fired;
	int depth, real_depth; /* of transactions: as the library has it, and
				  as it is */
};

/* Put it under the handle, and take it away again. */
void flaky_on(struct flaky *flaky, rp_conn *conn, size_t fail_at,
	      enum flaky_mode mode);
void flaky_off(struct flaky *flaky, rp_conn *conn);

#endif
