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
	char *queues; /* the literal of a text[] */
	char *texts;  /* errors, cleaned */
	struct rp_value worker;
	rp_batch *batch; /* what is claimed, or NULL */
	size_t first;    /* of the jobs that have the last head: */
	struct rp_value head[TURN_OUT_CLAIM_NO + 1];
	int accepted;
};

/* A verdict that is not plainly done. */
static void
settled(struct turn *turn, const struct rp_value *c)
{
	rp_verdict **v = &turn->verdicts[c[TURN_OUT_NUMBER].i - 1];
	int64_t result = c[TURN_OUT_RESULT].i;

	if (result < 0) {
		(*v)->result = (int)result;
	} else {
		rp__accepted(turn->conn, *v, c[TURN_OUT_SETTLED].i,
			     c[TURN_OUT_QUEUE_ID].i);
		turn->accepted++;
	}
	*v = NULL; /* answered */
}

/* What the rows that follow have in common, and how many verdicts have none. */
static void
headed(struct turn *turn, const struct rp_value *c)
{
	if (c[TURN_OUT_RESULT].type != RP_NULL)
		rp__tally(turn->conn, c[TURN_OUT_QUEUE_ID].i,
			  c[TURN_OUT_RESULT].i, 0);
	if (c[TURN_OUT_LANE_ID].type == RP_NULL)
		return;
	rp__batch_in_line(turn->batch, turn->first);
	turn->first = rp_batch_count(turn->batch);
	memcpy(turn->head, c, sizeof(turn->head));
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

static const struct rp_value *
or_else(const struct rp_value *value, const struct rp_value *otherwise)
{
	return value->type == RP_NULL ? otherwise : value;
}

/* Its row leaves out what its head says, or what is known here; finished_at is
 * null. A lane's number has the queue's, 8 bits of priority, 2 of the class;
 * class 1 is suspects. */
static int
claimed(struct turn *turn, const struct rp_value *c)
{
	const struct rp_value *head = turn->head;
	const struct rp_value first = rp__int(1);
	const struct rp_value *claim_no =
		or_else(&c[TURN_OUT_CLAIM_NO], &head[TURN_OUT_CLAIM_NO]);
	int64_t lane = head[TURN_OUT_LANE_ID].i;
	struct rp_value job[JOB_COLUMNS] = {
		[JOB_ID] = c[TURN_OUT_ID],
		[JOB_QUEUE] = head[TURN_OUT_QUEUE],
		[JOB_STATE] = rp__int(RP_STATE_RUNNING),
		[JOB_PRIORITY] = rp__int(lane / 4 % 256),
		[JOB_ATTEMPT] = *or_else(&c[TURN_OUT_ATTEMPT], &first),
		[JOB_MAX_ATTEMPTS] = *or_else(&c[TURN_OUT_MAX_ATTEMPTS],
					      &head[TURN_OUT_MAX_ATTEMPTS]),
		[JOB_CLAIM_NO] = *claim_no,
		[JOB_WORKER] = turn->worker,
		[JOB_RUN_AT] =
			*or_else(&c[TURN_OUT_RUN_AT], &c[TURN_OUT_CREATED_AT]),
		[JOB_CREATED_AT] = c[TURN_OUT_CREATED_AT],
		[JOB_CLAIMED_AT] = rp__int(claim_no->i / 1000),
		[JOB_LEASE_UNTIL] = head[TURN_OUT_LEASE_UNTIL],
		[JOB_UNIQUE_KEY] = c[TURN_OUT_UNIQUE_KEY],
		[JOB_KIND] = c[TURN_OUT_KIND],
		[JOB_HEADERS] = c[TURN_OUT_HEADERS],
		[JOB_PAYLOAD] = c[TURN_OUT_PAYLOAD],
		[JOB_LAST_ERROR] = c[TURN_OUT_LAST_ERROR],
		[JOB_FAILURES] = c[TURN_OUT_FAILURES],
	};
	int r = rp__batch_add(turn->batch, job, lane % 4 == 1);

	if (r == 0)
		rp__batch_place(turn->batch, c[TURN_OUT_SEQ].i);
	return r;
}

static int
turn_row(void *ctx, size_t row, const struct rp_value *c)
{
	struct turn *turn = ctx;

	(void)row;
	if (c[TURN_OUT_NUMBER].type == RP_NULL) {
		if (c[TURN_OUT_ID].type != RP_NULL)
			return claimed(turn, c);
		rp__batch_passed_over(turn->batch);
	} else if (c[TURN_OUT_NUMBER].i > 0) {
		settled(turn, c);
	} else {
		headed(turn, c);
	}
	return RP_ROW_TAKE;
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
	p[TURN_JOINED] = rp__int(turn->conn->in_transaction ||
				 turn->conn->backend->joins(turn->conn->db));
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
	if (r == 0 && turn->batch)
		rp__batch_in_line(turn->batch, turn->first);
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
