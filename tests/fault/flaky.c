/*
 * flaky.c - a backend for tests that wraps the real backend and makes its Nth
 * call fail.
 *
 * A call fails in one of the ways that backend.h describes:
 *   - begin() fails, and no transaction is open;
 *   - a verb (an operation of the library) does none, half or all of its work,
 *     and returns an error;
 *   - commit() fails, and the transaction or savepoint is rolled back;
 *   - commit() of the outermost transaction commits it, but returns an error,
 *     so the caller does not know the outcome;
 *   - the connection is lost during a call, and the database rolls back the
 *     whole transaction.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "flaky.h"

static int
lost(const struct flaky *f)
{
	return f->depth > f->real_depth;
}

/* Return whether this is the call that must fail. */
static int
strikes(struct flaky *f)
{
	if (++f->calls != f->fail_at || f->fired)
		return 0;
	f->fired = 1;
	return 1;
}

static int
say_lost(rp_error *error)
{
	return rp__fail(error, RP_ELOST, "flaky: the connection was lost");
}

static int
say_failed(rp_error *error, int code)
{
	return rp__fail(error, code, "flaky: as it was told");
}

/* Simulate a lost connection. Roll the transaction back, as a server would. */
static int
drop(struct flaky *f, rp_error *error)
{
	for (; f->real_depth > 0; f->real_depth--)
		f->real->rollback(f->db);
	return say_lost(error);
}

static int
flaky_begin(void *db, int write, rp_error *error)
{
	struct flaky *f = db;
	int r;

	if (strikes(f)) {
		if (f->mode == FLAKY_LOST)
			return drop(f, error);
		return say_failed(error, RP_EBUSY);
	}
	if (lost(f))
		return say_lost(error);
	r = f->real->begin(f->db, write, error);
	if (r >= 0) {
		f->depth++;
		f->real_depth++;
	}
	return r;
}

static void
flaky_rollback(void *db)
{
	struct flaky *f = db;

	if (!lost(f)) {
		f->real->rollback(f->db);
		f->real_depth--;
	}
	f->depth--;
}

static int
fail_commit(struct flaky *f, rp_error *error)
{
	int r;

	if (f->mode == FLAKY_BEFORE || f->mode == FLAKY_HALF) {
		f->real->rollback(f->db);
		f->real_depth--;
		return say_failed(error, RP_EFULL);
	}
	if (f->mode == FLAKY_LOST || f->real_depth > 1)
		return drop(f, error);
	r = f->real->commit(f->db, error);
	f->real_depth--;
	return r < 0 ? r : say_lost(error);
}

static int
flaky_commit(void *db, rp_error *error)
{
	struct flaky *f = db;
	int r;

	if (lost(f)) {
		r = say_lost(error);
	} else if (strikes(f)) {
		r = fail_commit(f, error);
	} else {
		r = f->real->commit(f->db, error);
		f->real_depth--;
	}
	f->depth--;
	return r;
}

/* The context of half(), a row callback that passes the first row to the
 * caller's callback, and fails at the second row. */
struct half {
	rp_row_fn *fn;
	void *ctx;
	size_t rows;
};

static int
half(void *ctx, size_t row, const struct rp_value *columns)
{
	struct half *h = ctx;

	return h->rows++ ? RP_EDB : h->fn(h->ctx, row, columns);
}

static int
flaky_run(void *db, enum rp_verb verb, const struct rp_value *params,
	  size_t rows, rp_row_fn *row, void *ctx, rp_error *error)
{
	struct flaky *f = db;
	struct half halved = { row, ctx, 0 };
	int r;

	if (lost(f))
		return say_lost(error);
	if (!strikes(f))
		return f->real->run(f->db, verb, params, rows, row, ctx, error);
	if (f->mode == FLAKY_LOST)
		return drop(f, error);
	if (f->mode == FLAKY_BEFORE)
		return say_failed(error, RP_EBUSY);
	if (f->mode == FLAKY_HALF && row)
		f->real->run(f->db, verb, params, rows, half, &halved, error);
	else {
		r = f->real->run(f->db, verb, params, rows, row, ctx, error);
		if (r < 0)
			return r;
	}
	return say_failed(error, RP_EDB);
}

static int
flaky_settle_and_claim(void *db, struct rp_round_trip *trip, rp_error *error)
{
	struct flaky *f = db;
	int r;

	if (lost(f))
		return say_lost(error);
	if (!strikes(f))
		return f->real->settle_and_claim(f->db, trip, error);
	if (f->mode == FLAKY_LOST)
		return drop(f, error);
	if (f->mode == FLAKY_BEFORE)
		return say_failed(error, RP_EBUSY);
	if (f->mode == FLAKY_HALF) {
		trip->verdicts_count /= 2;
		trip->max /= 2;
	}
	r = f->real->settle_and_claim(f->db, trip, error);
	return r < 0 ? r : say_failed(error, RP_EDB);
}

static int
flaky_enqueue(void *db, struct rp_enqueue *jobs, rp_error *error)
{
	struct flaky *f = db;
	int r = 0;

	if (lost(f))
		return say_lost(error);
	if (!strikes(f))
		return f->real->enqueue(f->db, jobs, error);
	if (f->mode == FLAKY_LOST)
		return drop(f, error);
	if (f->mode == FLAKY_BEFORE)
		return say_failed(error, RP_EBUSY);
	if (f->mode == FLAKY_HALF)
		jobs->count /= 2;
	if (jobs->count)
		r = f->real->enqueue(f->db, jobs, error);
	return r < 0 ? r : say_failed(error, RP_EDB);
}

static int
flaky_wait(void *db, const struct rp_waiter *waiter, int64_t timeout_ms, int fd,
	   rp_error *error)
{
	struct flaky *f = db;

	if (!strikes(f))
		return f->real->wait(f->db, waiter, timeout_ms, fd, error);
	if (f->mode == FLAKY_AFTER)
		f->real->wait(f->db, waiter, timeout_ms, fd, error);
	return f->mode == FLAKY_LOST ? drop(f, error)
				     : say_failed(error, RP_EDB);
}

static void
flaky_close(void *db)
{
	struct flaky *f = db;

	f->real->close(f->db);
}

static void *
flaky_native(void *db)
{
	struct flaky *f = db;

	return f->real->native(f->db);
}

static int
flaky_joins(void *db)
{
	struct flaky *f = db;

	return f->real->joins(f->db);
}

static const struct rp_backend backend = {
	.close = flaky_close,
	.native = flaky_native,
	.joins = flaky_joins,
	.begin = flaky_begin,
	.commit = flaky_commit,
	.rollback = flaky_rollback,
	.run = flaky_run,
	.settle_and_claim = flaky_settle_and_claim,
	.enqueue = flaky_enqueue,
	.wait = flaky_wait,
};

void
flaky_on(struct flaky *flaky, rp_conn *conn, size_t fail_at,
	 enum flaky_mode mode)
{
	*flaky = (struct flaky){ .backend = backend,
				 .real = conn->backend,
				 .db = conn->db,
				 .fail_at = fail_at,
				 .mode = mode };
	flaky->backend.one_writer = conn->backend->one_writer;
	flaky->backend.shares_sequences = conn->backend->shares_sequences;
	conn->backend = &flaky->backend;
	conn->db = flaky;
}

void
flaky_off(struct flaky *flaky, rp_conn *conn)
{
	conn->backend = flaky->real;
	conn->db = flaky->db;
}
