/*
 * settle_and_claim.c - where that is one routine of the database, `turn`.
 *
 * All verdicts and the claim go in one call: one round trip, and where no
 * transaction is open one commit.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "server.h"

#include <stdlib.h>
#include <string.h>

struct trip {
	struct rp_round_trip *its;
	struct rp_value *params;
	char *queues; /* a list of names */
	char *texts;  /* errors, cleaned */
	struct rp_value worker;
	size_t first; /* of the jobs that have the last header row: */
	struct rp_value head[TURN_OUT_CLAIM_NO + 1];
};

/* A verdict that is not plainly done. */
static void
settle_one(struct trip *trip, const struct rp_value *c)
{
	rp_verdict **v = &trip->its->verdicts[c[TURN_OUT_NUMBER].i - 1];

	if (c[TURN_OUT_RESULT].i < 0) {
		(*v)->result = (int)c[TURN_OUT_RESULT].i;
	} else {
		(*v)->result = 0;
		(*v)->state = (int)c[TURN_OUT_SETTLED].i;
		trip->its->finished(trip->its->ctx, c[TURN_OUT_QUEUE_ID].i,
				    (*v)->verdict == RP_DONE,
				    rp__is_failure(*v));
	}
	*v = NULL; /* answered */
}

/* A header row has the columns that the next rows share, or the number of
 * plainly completed jobs of a queue, whose verdicts have no rows. Its text is
 * borrowed for this call only. */
static int
take_header(struct trip *trip, const struct rp_value *c)
{
	if (c[TURN_OUT_RESULT].type != RP_NULL)
		trip->its->finished(trip->its->ctx, c[TURN_OUT_QUEUE_ID].i,
				    c[TURN_OUT_RESULT].i, 0);
	if (c[TURN_OUT_LANE_ID].type == RP_NULL)
		return RP_ROW_TAKE;
	rp__batch_in_line(trip->its->batch, trip->first);
	trip->first = rp_batch_count(trip->its->batch);
	memcpy(trip->head, c, sizeof(trip->head));
	trip->head[TURN_OUT_QUEUE].data =
		rp__batch_text(trip->its->batch, &c[TURN_OUT_QUEUE]);
	return trip->head[TURN_OUT_QUEUE].data ? RP_ROW_TAKE : RP_ENOMEM;
}

/* A verdict without an answer of its own is done. */
static void
settle_the_rest(struct rp_round_trip *its)
{
	for (size_t i = 0; i < its->verdicts_count; i++) {
		if (!its->verdicts[i])
			continue;
		its->verdicts[i]->result = 0;
		its->verdicts[i]->state = RP_STATE_DONE;
	}
}

static const struct rp_value *
or_else(const struct rp_value *value, const struct rp_value *otherwise)
{
	return value->type == RP_NULL ? otherwise : value;
}

/* A column that is null here is the header row's, or known: finished_at is
 * null. A lane's number has the queue's, 8 bits of priority, 2 of the class;
 * class 1 is suspects. */
static int
add_claimed(struct trip *trip, const struct rp_value *c)
{
	const struct rp_value *head = trip->head;
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
		[JOB_WORKER] = trip->worker,
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
	int r = rp__batch_add(trip->its->batch, job, lane % 4 == 1);

	if (r == 0)
		rp__batch_place(trip->its->batch, c[TURN_OUT_SEQ].i);
	return r;
}

static int
take_row(void *ctx, size_t row, const struct rp_value *c)
{
	struct trip *trip = ctx;

	(void)row;
	if (c[TURN_OUT_NUMBER].type == RP_NULL) {
		if (c[TURN_OUT_ID].type != RP_NULL)
			return add_claimed(trip, c);
		rp__batch_passed_over(trip->its->batch);
	} else if (c[TURN_OUT_NUMBER].i > 0) {
		settle_one(trip, c);
	} else {
		return take_header(trip, c);
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
allocate(const struct rp_server *server, struct trip *trip, rp_error *error)
{
	const struct rp_round_trip *its = trip->its;
	size_t n = its->verdicts_count, failures = 0;

	for (size_t i = 0; i < n; i++)
		failures += rp__is_failure(its->verdicts[i]);
	trip->params = calloc(n ? n : 1, TURN_PARAMS * sizeof(*trip->params));
	trip->texts = malloc(failures * (RP_MOST_ERROR + 1) + 1);
	trip->queues = rp__list(its->queues, server->open, server->close);
	if (trip->params && trip->texts && trip->queues)
		return 0;
	return rp__fail(error, RP_ENOMEM, "out of memory");
}

static void
fill(struct trip *trip)
{
	const struct rp_round_trip *its = trip->its;
	struct rp_value *p = trip->params;
	char *text = trip->texts;

	for (size_t i = 0; i < its->verdicts_count; i++)
		fill_verdict(p + i * TURN_PARAMS, its->verdicts[i], &text);
	trip->worker = rp__text(its->worker);
	p[TURN_QUEUES] = rp__text(trip->queues);
	p[TURN_LEASE_MS] = rp__int_or_null(its->lease_ms, its->lease_ms == 0);
	p[TURN_WORKER_ID] = rp__int(its->worker_id);
	p[TURN_WORKER] = trip->worker;
	p[TURN_MAX] = rp__int((int64_t)its->max);
	p[TURN_AT_ONCE] = rp__int((int64_t)its->at_once);
	p[TURN_HOLDING] = rp__int((int64_t)its->holding);
	p[TURN_JOINED] = rp__int(its->joined);
}

int
rp__server_settle_and_claim(const struct rp_server *server, void *db,
			    struct rp_round_trip *its, rp_error *error)
{
	struct trip trip = { .its = its };
	size_t n = its->verdicts_count;
	int r = allocate(server, &trip, error);

	if (r == 0) {
		fill(&trip);
		r = server->run(db, RP_V_TURN, trip.params, n ? n : 1, take_row,
				&trip, error);
	}
	if (r == 0) {
		settle_the_rest(its);
		if (its->batch)
			rp__batch_in_line(its->batch, trip.first);
	}
	free(trip.params);
	free(trip.texts);
	free(trip.queues);
	return r;
}
