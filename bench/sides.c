/*
 * sides.c - the operations to measure, such as enqueue and claim, once for the
 * library and once for the queue written by hand (floor.c).
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "bench.h"

#include <stdlib.h>

#include "floor.h"

const char *const operation_names[OPERATIONS] = {
	[ENQUEUE] = "enqueue",
	[SERVE] = "claim+complete",
	[TURN] = "turn",
};

static const char payload[PAYLOAD];

/* ---- the floor ---- */

static void *
open_floor(const char *path, const char *synchronous, size_t batch)
{
	return floor_open(path, synchronous, batch);
}

static void
close_floor(void *handle)
{
	floor_close(handle);
}

static rp_conn *
conn_of_floor(void *handle)
{
	return floor_conn(handle);
}

static size_t
enqueue_floor(void *handle)
{
	return floor_enqueue(handle, payload, sizeof(payload));
}

static size_t
claim_floor(void *handle)
{
	return floor_claim(handle);
}

static size_t
complete_floor(void *handle)
{
	return floor_complete(handle);
}

static size_t
turn_floor(void *handle)
{
	return floor_turn(handle);
}

const struct side floor_side = {
	.prefix = "floor.",
	.open = open_floor,
	.close = close_floor,
	.conn = conn_of_floor,
	.enqueue = enqueue_floor,
	.claim = claim_floor,
	.complete = complete_floor,
	.turn = turn_floor,
};

/* ---- the library ---- */

struct library {
	/* the caller's connection; NULL if the library opened its own */
	void *attached;
	rp_conn *conn;
	size_t batch, held;
	rp_job_spec *jobs;
	rp_added *added;
	rp_verdict *verdicts;
};

static struct library *
make_library(rp_conn *conn, void *attached, size_t batch)
{
	struct library *l = allocate(sizeof(*l));

	l->attached = attached;
	l->conn = conn;
	l->batch = batch;
	l->jobs = allocate(batch * sizeof(*l->jobs));
	l->added = allocate(batch * sizeof(*l->added));
	l->verdicts = allocate(batch * sizeof(*l->verdicts));
	for (size_t i = 0; i < batch; i++) {
		l->jobs[i] = (rp_job_spec)RP_JOB_SPEC_INIT;
		l->jobs[i].payload = payload;
		l->jobs[i].payload_size = sizeof(payload);
	}
	return l;
}

static void *
open_library(const char *path, const char *synchronous, size_t batch)
{
	char *url = text("sqlite:%s?synchronous=%s", path, synchronous);
	rp_conn *conn;
	rp_error error;

	if (rp_open(url, NULL, &conn, &error) < 0)
		die("rp_open: %s", error.message);
	free(url);
	return make_library(conn, NULL, batch);
}

static void *
open_attached(const char *path, const char *synchronous, size_t batch)
{
	void *db = floor_connect(path, synchronous);
	rp_conn *conn;
	rp_error error;

	if (rp_attach("sqlite", db, NULL, &conn, &error) < 0)
		die("rp_attach: %s", error.message);
	return make_library(conn, db, batch);
}

static void
close_library(void *handle)
{
	struct library *l = handle;

	rp_close(l->conn);
	floor_disconnect(l->attached);
	free(l->jobs);
	free(l->added);
	free(l->verdicts);
	free(l);
}

static rp_conn *
conn_of_library(void *handle)
{
	return ((struct library *)handle)->conn;
}

static void
check(const struct library *l, int r)
{
	if (r < 0)
		die("library: %s", rp_last_error(l->conn)->message);
}

static size_t
enqueue_library(void *handle)
{
	struct library *l = handle;

	check(l, l->batch == 1 ? rp_enqueue(l->conn, QUEUE, l->jobs, l->added)
			       : rp_enqueue_many(l->conn, QUEUE, l->jobs,
						 l->batch, l->added));
	return l->batch;
}

static size_t
hold(struct library *l, rp_batch *batch)
{
	l->held = verdicts_on(batch, l->verdicts);
	return l->held;
}

static size_t
claim_library(void *handle)
{
	struct library *l = handle;
	rp_batch *batch;

	check(l, rp_claim(l->conn, QUEUE, l->batch, NULL, &batch));
	return hold(l, batch);
}

static size_t
complete_library(void *handle)
{
	struct library *l = handle;
	size_t held = l->held;
	int r;

	if (held == 1) {
		check(l, rp_complete(l->conn, l->verdicts->id,
				     l->verdicts->claim_no));
	} else {
		check(l, r = rp_settle(l->conn, l->verdicts, held));
		if ((size_t)r != held)
			die("library: %d of %zu jobs completed", r, held);
	}
	l->held = 0;
	return held;
}

static size_t
turn_library(void *handle)
{
	struct library *l = handle;
	rp_batch *batch;

	check(l, rp_settle_and_claim(l->conn, l->verdicts, l->held, QUEUE,
				     l->batch, NULL, &batch));
	for (size_t i = 0; i < l->held; i++)
		if (l->verdicts[i].result < 0)
			die("library: a verdict was refused");
	return hold(l, batch);
}

/* Defines a side that uses the library. There are two such sides, which differ
 * only in the function that opens the connection. */
#define LIBRARY_SIDE(its_prefix, its_open)                                     \
	{                                                                      \
		.prefix = its_prefix, .open = its_open,                        \
		.close = close_library, .conn = conn_of_library,               \
		.enqueue = enqueue_library, .claim = claim_library,            \
		.complete = complete_library, .turn = turn_library,            \
	}

const struct side library_side = LIBRARY_SIDE("", open_library);
const struct side attached_side = LIBRARY_SIDE("attached.", open_attached);

/* ---- both ---- */

size_t
operate(const struct side *side, void *handle, enum operation what)
{
	switch (what) {
	case ENQUEUE:
		return side->enqueue(handle);
	case SERVE:
		side->claim(handle);
		return side->complete(handle);
	case ONE_JOB:
		side->enqueue(handle);
		side->claim(handle);
		return side->complete(handle);
	default:
		return side->turn(handle);
	}
}

void
operate_begin(const struct side *side, void *handle, enum operation what)
{
	if (what == TURN)
		side->claim(handle);
}

void
operate_end(const struct side *side, void *handle, enum operation what)
{
	if (what == TURN)
		side->complete(handle);
}

void
operate_for(const struct side *side, void *handle, enum operation what,
	    size_t batch, double seconds, size_t most, size_t *jobs,
	    double *spent)
{
	double from, now;
	size_t done = 0, n;

	operate_begin(side, handle, what);
	from = seconds_now();
	do {
		n = operate(side, handle, what);
		done += n;
		now = seconds_now();
	} while (n == batch && now - from < seconds && done + batch <= most);
	*jobs += done;
	*spent += now - from;
	operate_end(side, handle, what);
}
