/*
 * flaky.h - a backend for tests that wraps the real backend and makes its Nth
 * call fail; see flaky.c.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#ifndef FLAKY_H
#define FLAKY_H

#include "internal.h"

/* The ways in which a call can fail. */
enum flaky_mode {
	/* The call does nothing and fails. The connection still works. */
	FLAKY_BEFORE,
	/* The call fails in the middle of the rows that it returns. */
	FLAKY_HALF,
	FLAKY_AFTER, /* the call does all its work, but is reported as failed */
	/* The call does nothing. The connection is lost, and so is its
	 * transaction. The next call makes a new connection. */
	FLAKY_LOST,
	FLAKY_MODES
};

/* A backend that fails at one call. The caller must keep this struct as long as
 * the connection uses it. */
struct flaky {
	struct rp_backend backend;
	const struct rp_backend *real;
	void *db;
	size_t calls; /* number of calls so far */
	/* number of the call that fails, counted from 1; 0: no call fails */
	size_t fail_at;
	enum flaky_mode mode;
	int fired;
	/* `depth` is the number of nested transactions that the library has
	 * open. `real_depth` is the number of them that the database has open:
	 * the same, or 0 after a simulated loss of the connection. */
	int depth, real_depth;
};

/* flaky_on() makes one call on the connection fail. flaky_off() makes the
 * connection normal again. */
void flaky_on(struct flaky *flaky, rp_conn *conn, size_t fail_at,
	      enum flaky_mode mode);
void flaky_off(struct flaky *flaky, rp_conn *conn);

#endif
