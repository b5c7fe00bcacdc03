/*
 * settle_and_claim.c - settle finished jobs and claim other jobs by one call of
 * a routine of the database.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 *
 * All verdicts and the claim are one call and one round trip. If no transaction
 * is open, the call is also one commit. In this file, a plain completion is a
 * verdict RP_DONE for which the routine returns no row. The routine only
 * returns how many plain completions it has accepted.
 */
#include "server.h"

#include <stdlib.h>
#include <string.h>

/* Shorter names for the indices of the routine's parameters and columns. */
#define IN(NAME) SETTLE_AND_CLAIM_##NAME
#define OUT(NAME) SETTLE_AND_CLAIM_OUT_##NAME

struct trip {
	const struct rp_server *server;
	struct rp_round_trip *its;
	struct rp_value *params;
	char *queues; /* list of the queues' names */
	char *texts;  /* error texts, as valid UTF-8 */
	struct rp_value worker;
	size_t first;     /* index of the first job of the current queue */
	int64_t queue_id; /* id of the current queue */
};

/* Read a row of the answer that has the result of one verdict. A plain
 * completion has no such row. */
static void
settle_one(struct trip *trip, const struct rp_value *c)
{
	rp_verdict **v = &trip->its->verdicts[c[OUT(NUMBER)].i - 1];

	if (c[OUT(RESULT)].i < 0) {
		(*v)->result = (int)c[OUT(RESULT)].i;
	} else {
		(*v)->result = 0;
		(*v)->state = (int)c[OUT(SETTLED)].i;
		trip->its->finished(trip->its->ctx, c[OUT(QUEUE_ID)].i,
				    (*v)->verdict == RP_DONE,
				    rp__is_failure(*v));
	}
	*v = NULL; /* the verdict is answered */
}

/* Read the row that has the number of plain completions of one queue. */
static void
count_done(struct trip *trip, const struct rp_value *c)
{
	trip->its->finished(trip->its->ctx, c[OUT(QUEUE_ID)].i,
			    c[OUT(RESULT)].i, 0);
}

/* Mark as accepted all verdicts for which settle_one() has read no row. They
 * are plain completions. The answer has only their number for each queue. */
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

/* Sort the jobs of the previous queue if `queue_id` is another queue. The
 * database returns the jobs of a queue in any order. This function is called
 * before each job is added, and with 0 after the last job. */
static void
put_in_line(struct trip *trip, int64_t queue_id)
{
	if (trip->queue_id == queue_id)
		return;
	rp__batch_in_line(trip->its->batch, trip->first);
	trip->first = rp_batch_count(trip->its->batch);
	trip->queue_id = queue_id;
}

/* Set the rarely used fields of the job that was added last. The database
 * returns them in one column, except the group. */
static int
add_extra(struct trip *trip, const struct rp_value *composite,
	  const struct rp_value *group)
{
	struct rp_value extra[EXTRA_COLUMNS] = { { .type = RP_NULL } };
	rp_batch *batch = trip->its->batch;

	trip->server->fields(composite, extra, EXTRA_OUT_GROUP_KEY);
	extra[EXTRA_OUT_GROUP_KEY] = *group;
	return rp__batch_set_extra(batch, rp_batch_count(batch) - 1, extra);
}

static int
add_claimed(struct trip *trip, const struct rp_value *c)
{
	struct rp_value job[JOB_COLUMNS] = {
		[JOB_ID] = c[OUT(ID)],
		[JOB_QUEUE] = c[OUT(QUEUE)],
		[JOB_STATE] = rp__int(RP_STATE_RUNNING),
		[JOB_PRIORITY] = c[OUT(PRIORITY)],
		[JOB_ATTEMPT] = c[OUT(ATTEMPT)],
		[JOB_MAX_ATTEMPTS] = c[OUT(MAX_ATTEMPTS)],
		[JOB_CLAIM_NO] = c[OUT(CLAIM_NO)],
		[JOB_WORKER] = trip->worker,
		[JOB_RUN_AT] = c[OUT(RUN_AT)],
		[JOB_CREATED_AT] = c[OUT(CREATED_AT)],
		[JOB_CLAIMED_AT] = rp__int(c[OUT(CLAIM_NO)].i / 1000),
		[JOB_LEASE_UNTIL] = c[OUT(LEASE_UNTIL)],
		[JOB_UNIQUE_KEY] = c[OUT(UNIQUE_KEY)],
		[JOB_KIND] = c[OUT(KIND)],
		[JOB_HEADERS] = c[OUT(HEADERS)],
		[JOB_PAYLOAD] = c[OUT(PAYLOAD)],
		[JOB_LAST_ERROR] = c[OUT(LAST_ERROR)],
		[JOB_FAILURES] = c[OUT(FAILURES)],
		[JOB_GROUP_KEY] = c[OUT(GROUP_KEY)],
	};
	int r;

	put_in_line(trip, c[OUT(QUEUE_ID)].i);
	r = rp__batch_add(trip->its->batch, job, c[OUT(SUSPECT)].i != 0);
	if (r == 0)
		rp__batch_place(trip->its->batch, c[OUT(LANE_ID)].i,
				c[OUT(SEQ)].i);
	if (r == 0 && c[OUT(EXTRA)].type != RP_NULL)
		r = add_extra(trip, &c[OUT(EXTRA)], &c[OUT(GROUP_KEY)]);
	return r;
}

static int
take_row(void *ctx, size_t row, const struct rp_value *c)
{
	struct trip *trip = ctx;

	(void)row;
	if (c[OUT(NUMBER)].type == RP_NULL && c[OUT(ID)].type == RP_NULL)
		rp__batch_passed_over(trip->its->batch);
	else if (c[OUT(NUMBER)].type == RP_NULL)
		return add_claimed(trip, c);
	else if (c[OUT(NUMBER)].i > 0)
		settle_one(trip, c);
	else
		count_done(trip, c);
	return RP_ROW_TAKE;
}

/* Fill the row of parameters `p` from a verdict. The error text of a failure is
 * written to *text. *text is then moved to the free memory behind the text. */
static void
fill_verdict(struct rp_value *p, const rp_verdict *v, char **text)
{
	p[IN(ID)] = rp__int(v->id);
	p[IN(CLAIM_NO)] = rp__int(v->claim_no);
	p[IN(VERDICT)] = rp__int_or_null(v->verdict, v->verdict == RP_DONE);
	p[IN(DELAY_MS)] = rp__int_or_null(
		v->delay_ms, v->delay_ms < 0 || v->verdict == RP_DONE);
	if (rp__is_failure(v)) {
		p[IN(ERROR)] = rp__failure(v, *text);
		*text += RP_MOST_ERROR + 1;
	}
	p[IN(RESULT)] = rp__result(v);
	p[IN(PROGRESS)] = rp__progress(v);
}

static int
allocate(const struct rp_server *server, struct trip *trip, rp_error *error)
{
	const struct rp_round_trip *its = trip->its;
	size_t n = its->verdicts_count, failures = 0;

	for (size_t i = 0; i < n; i++)
		failures += rp__is_failure(its->verdicts[i]);
	trip->params = calloc(n ? n : 1,
			      SETTLE_AND_CLAIM_PARAMS * sizeof(*trip->params));
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
		fill_verdict(p + i * SETTLE_AND_CLAIM_PARAMS, its->verdicts[i],
			     &text);
	trip->worker = rp__text(its->worker);
	p[IN(QUEUES)] = rp__text(trip->queues);
	p[IN(LEASE_MS)] = rp__int_or_null(its->lease_ms, its->lease_ms == 0);
	p[IN(WORKER_ID)] = rp__int(its->worker_id);
	p[IN(WORKER)] = trip->worker;
	p[IN(MAX)] = rp__int((int64_t)its->max);
	p[IN(AT_ONCE)] = rp__int((int64_t)its->at_once);
	p[IN(HOLDING)] = rp__int((int64_t)its->holding);
	p[IN(JOINED)] = rp__int(its->joined);
}

int
rp__server_settle_and_claim(const struct rp_server *server, void *db,
			    struct rp_round_trip *its, rp_error *error)
{
	struct trip trip = { .server = server, .its = its };
	size_t n = its->verdicts_count;
	int r = allocate(server, &trip, error);

	if (r == 0) {
		fill(&trip);
		r = server->run(db, RP_V_SETTLE_AND_CLAIM, trip.params,
				n ? n : 1, take_row, &trip, error);
	}
	if (r == 0) {
		settle_the_rest(its);
		if (its->batch)
			put_in_line(&trip, 0);
	}
	free(trip.params);
	free(trip.texts);
	free(trip.queues);
	return r;
}
