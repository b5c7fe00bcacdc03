/*
 * turn_call.c - settle and claim where that is one routine of the database.
 *
 * All verdicts and the claim go in one call, which is its own transaction
 * unless one is open: one round trip, one commit.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "internal.h"

#include <stdlib.h>
#include <string.h>

struct turn {
	rp_conn *conn;
	rp_verdict **verdicts; /* in order of id */
	size_t count;
	struct rp_value *params;
	char *queues;                  /* the literal of a text[] */
	char *texts;                   /* errors, cleaned */
	struct rp_value worker, queue; /* the first queue */
	rp_batch *batch;               /* what is claimed, or NULL */
	int accepted;
};

/* A verdict that is not plainly done, or, with number 0, so many that are. */
static void
settled(struct turn *turn, const struct rp_value *c)
{
	int64_t number = c[TURN_OUT_NUMBER].i, result = c[TURN_OUT_RESULT].i;
	rp_verdict **v;

	if (number == 0) {
		rp__tally(turn->conn, c[TURN_OUT_QUEUE_ID].i, result, 0);
		return;
	}
	v = &turn->verdicts[number - 1];
	if (result < 0) {
		(*v)->result = (int)result;
	} else {
		rp__accepted(turn->conn, *v, c[TURN_OUT_SETTLED].i,
			     c[TURN_OUT_QUEUE_ID].i);
		turn->accepted++;
	}
	*v = NULL; /* answered */
}

/* What has no answer of its own is done. */
static void
settle_the_rest(struct turn *turn)
{
	for (size_t i = 0; i < turn->count; i++) {
		if (!turn->verdicts[i])
			continue;
		turn->verdicts[i]->result = 0;
		turn->verdicts[i]->state = RP_STATE_DONE;
		turn->accepted++;
	}
}

/* Its row leaves out what is known here; finished_at is null. */
static int
claimed(struct turn *turn, const struct rp_value *c)
{
	const struct rp_value *queue = &c[TURN_OUT_QUEUE];
	const struct rp_value *attempt = &c[TURN_OUT_ATTEMPT];
	const struct rp_value *run_at = &c[TURN_OUT_RUN_AT];
	int suspect = c[TURN_OUT_SUSPECT].type != RP_NULL;
	struct rp_value job[JOB_COLUMNS] = {
		[JOB_ID] = c[TURN_OUT_ID],
		[JOB_QUEUE] = queue->type == RP_NULL ? turn->queue : *queue,
		[JOB_STATE] = rp__int(RP_STATE_RUNNING),
		[JOB_PRIORITY] = c[TURN_OUT_PRIORITY],
		[JOB_ATTEMPT] =
			attempt->type == RP_NULL ? rp__int(1) : *attempt,
		[JOB_MAX_ATTEMPTS] = c[TURN_OUT_MAX_ATTEMPTS],
		[JOB_CLAIM_NO] = c[TURN_OUT_CLAIM_NO],
		[JOB_WORKER] = turn->worker,
		[JOB_RUN_AT] = run_at->type == RP_NULL ? c[TURN_OUT_CREATED_AT]
						       : *run_at,
		[JOB_CREATED_AT] = c[TURN_OUT_CREATED_AT],
		[JOB_CLAIMED_AT] = rp__int(c[TURN_OUT_CLAIM_NO].i / 1000),
		[JOB_LEASE_UNTIL] = c[TURN_OUT_LEASE_UNTIL],
		[JOB_UNIQUE_KEY] = c[TURN_OUT_UNIQUE_KEY],
		[JOB_KIND] = c[TURN_OUT_KIND],
		[JOB_HEADERS] = c[TURN_OUT_HEADERS],
		[JOB_PAYLOAD] = c[TURN_OUT_PAYLOAD],
		[JOB_LAST_ERROR] = c[TURN_OUT_LAST_ERROR],
		[JOB_FAILURES] = c[TURN_OUT_FAILURES],
	};

	return rp__batch_add(turn->batch, job, suspect);
}

static int
turn_row(void *ctx, size_t row, const struct rp_value *c)
{
	struct turn *turn = ctx;

	(void)row;
	if (c[TURN_OUT_NUMBER].type != RP_NULL) {
		settled(turn, c);
		return RP_ROW_TAKE;
	}
	if (c[TURN_OUT_ID].type == RP_NULL) {
		rp__batch_passed_over(turn->batch);
		return RP_ROW_TAKE;
	}
	return claimed(turn, c);
}

/* `*text`: where a failure's goes; behind it, the next one's. */
static void
fill_verdict(struct rp_value *p, const rp_verdict *v, char **text)
{
	p[TURN_ID] = rp__int(v->id);
	p[TURN_CLAIM_NO] = rp__int(v->claim_no);
	p[TURN_VERDICT] = rp__int_or_null(v->verdict, v->verdict == RP_DONE);
	p[TURN_DELAY_MS] = rp__int_or_null(
		v->delay_ms, v->delay_ms < 0 || v->verdict == RP_DONE);
	if (rp__is_failure(v)) {
		p[TURN_ERROR] = rp__failure(v, *text);
		*text += RP_MOST_ERROR + 1;
	}
}

static int
allocate(struct turn *turn, rp_verdict *verdicts, size_t n,
	 const char *const *queues)
{
	size_t failures = 0;

	for (size_t i = 0; i < n; i++)
		failures += rp__is_failure(rp__verdict_at(verdicts, i));
	turn->verdicts = calloc(n + 1, sizeof(*turn->verdicts));
	turn->params = calloc((n + 1) * TURN_PARAMS, sizeof(*turn->params));
	turn->texts = malloc(failures * (RP_MOST_ERROR + 1) + 1);
	turn->queues = rp__list(queues, '{', '}');
	turn->queue = rp__text(queues ? *queues : NULL);
	if (turn->verdicts && turn->params && turn->texts && turn->queues)
		return 0;
	return rp__fail(&turn->conn->error, RP_ENOMEM, "out of memory");
}

static void
fill(struct turn *turn, rp_verdict *verdicts, size_t n, size_t max,
     const rp_claim_options *options)
{
	struct rp_value *p = turn->params;
	char *text = turn->texts;

	for (size_t i = 0; i < n; i++) {
		turn->verdicts[i] = rp__verdict_at(verdicts, i);
		turn->verdicts[i]->result = RP_EGONE;
	}
	turn->count = rp__verdicts_in_order(turn->verdicts, n);
	for (size_t i = 0; i < turn->count; i++)
		fill_verdict(p + i * TURN_PARAMS, turn->verdicts[i], &text);
	p[TURN_QUEUES] = rp__text(turn->queues);
	p[TURN_LEASE_MS] =
		rp__int_or_null(options->lease_ms, options->lease_ms == 0);
	p[TURN_WORKER_ID] = rp__int(turn->conn->worker_id);
	p[TURN_WORKER] = turn->worker =
		rp__text(*turn->conn->worker ? turn->conn->worker : NULL);
	p[TURN_MAX] = rp__int((int64_t)max);
	p[TURN_AT_ONCE] = rp__int((int64_t)(max - options->ahead));
	p[TURN_HOLDING] = rp__int((int64_t)options->holding);
}

static int
run(struct turn *turn)
{
	int r = rp__begin(turn->conn, RP_BEGIN_WRITE | RP_BEGIN_ONCE);

	if (r < 0)
		return r;
	r = rp__run(turn->conn, RP_V_TURN, turn->params,
		    turn->count ? turn->count : 1, turn_row, turn);
	if (r == RP_ENOMEM)
		rp__fail(&turn->conn->error, r, "out of memory");
	return rp__end(turn->conn, r);
}

/* How many verdicts were accepted. `queues`: ended by a NULL, or NULL; `batch`:
 * of what was claimed, NULL if `max` is 0. */
int
rp__turn_call(rp_conn *conn, rp_verdict *verdicts, size_t n,
	      const char *const *queues, size_t max,
	      const rp_claim_options *options, rp_batch *batch)
{
	struct turn turn = { .conn = conn, .batch = batch };
	int r = allocate(&turn, verdicts, n, queues);

	/* Before the turn: what it claims must not be lost to a failure to
	 * count. */
	if (r == 0)
		r = rp__tally_write(conn, 0);
	if (r == 0) {
		fill(&turn, verdicts, n, max, options);
		r = run(&turn);
	}
	if (r == 0)
		settle_the_rest(&turn);
	free(turn.verdicts);
	free(turn.params);
	free(turn.texts);
	free(turn.queues);
	return r < 0 ? r : turn.accepted;
}
