/*
 * inspect.c - read jobs.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "internal.h"

#include <stdlib.h>
#include <string.h>

const char *
rp_state_text(int state)
{
	switch (state) {
#define WORD(name, number, text)                                               \
	case number:                                                           \
		return text;
		RP_STATES(WORD)
#undef WORD
	default:
		return NULL;
	}
}

int
rp_state_number(const char *text)
{
#define NUMBER(name, number, word)                                             \
	if (text && strcmp(text, word) == 0)                                   \
		return number;
	RP_STATES(NUMBER)
#undef NUMBER
	return 0;
}

static int
answer_batch(int r, rp_batch *batch, rp_batch **ret)
{
	if (r < 0) {
		rp_batch_free(batch);
		return r;
	}
	*ret = batch;
	return (int)rp_batch_count(batch);
}

static int
get(rp_conn *conn, int64_t id, rp_batch *batch)
{
	const struct rp_value params[ONE_JOB_MOST_PARAMS] = {
		[ONE_JOB_ID] = rp__int(id),
	};
	int r = rp__begin(conn, 0);

	if (r < 0)
		return r;
	r = rp__run(conn, RP_V_GET, params, 1, rp__batch_add_row, batch);
	if (r == 0 && rp_batch_count(batch) == 0)
		r = rp__run(conn, RP_V_GET_KEPT, params, 1, rp__batch_add_row,
			    batch);
	if (r == 0 && rp_batch_count(batch) == 0)
		r = rp__no_such_job(conn, id);
	return rp__end(conn, r);
}

int
rp_job_get(rp_conn *conn, int64_t id, rp_batch **ret)
{
	rp_batch *batch;
	int r = rp__enter(conn);

	if (r < 0)
		return r;
	if (!ret)
		return rp__fail(&conn->error, RP_EINVAL, "ret is NULL");
	if (rp__batch_new(&batch) < 0)
		return rp__fail(&conn->error, RP_ENOMEM, "out of memory");
	return answer_batch(get(conn, id, batch), batch, ret);
}

struct names {
	rp_name_fn *name;
	void *ctx;
};

static int
take_name(void *ctx, size_t row, const struct rp_value *c)
{
	const struct names *names = ctx;

	if (c[OUTCOME_OUT_QUEUE].type == RP_TEXT)
		names->name(names->ctx, row, c[OUTCOME_OUT_QUEUE].data);
	return RP_ROW_TAKE;
}

int
rp__live_queues(rp_conn *conn, const rp_verdict *verdicts, size_t n,
		rp_name_fn *name, void *ctx)
{
	struct names names = { name, ctx };
	struct rp_value *p;
	int r = rp__enter(conn);

	if (r < 0 || n == 0)
		return r;
	p = calloc(n, OUTCOME_PARAMS * sizeof(*p));
	if (!p)
		return rp__fail(&conn->error, RP_ENOMEM, "out of memory");
	for (size_t i = 0; i < n; i++) {
		p[i * OUTCOME_PARAMS + OUTCOME_ID] = rp__int(verdicts[i].id);
		p[i * OUTCOME_PARAMS + OUTCOME_QUEUE_ID] =
			(struct rp_value){ .type = RP_NULL };
	}
	r = rp__read_once(conn, RP_V_OUTCOME, p, n, take_name, &names);
	free(p);
	return r;
}

struct listing {
	rp_conn *conn;
	const char *queue;
	int state; /* list only jobs in this state; 0: all live jobs */
	size_t max, head, looks;
	rp_batch *batch;
};

static int
add_listed(void *ctx, size_t row, const struct rp_value *columns)
{
	const struct listing *l = ctx;
	int r = rp__batch_add_row(l->batch, row, columns);

	if (r == 0)
		rp__batch_payload_total(l->batch,
					columns[LIST_OUT_PAYLOAD_TOTAL].i);
	return r;
}

/* Add a job whose run_at has come. Such a job is ready or blocked. If the queue
 * runs as many jobs as its limit allows, is held, or has used up its rate, all
 * jobs of the queue are blocked. A job can also be blocked because its group is
 * held. */
static int
add_due(void *ctx, size_t row, const struct rp_value *columns)
{
	const struct listing *l = ctx;

	if (l->state && columns[JOB_STATE].i != l->state)
		return RP_ROW_SKIP;
	return add_listed(ctx, row, columns);
}

/* Add a running job. A row without an id is not a job: it only says that there
 * may be more running jobs. */
static int
add_running(void *ctx, size_t row, const struct rp_value *columns)
{
	const struct listing *l = ctx;

	if (columns[LIST_RUNNING_OUT_PARTIAL].i)
		rp__batch_set_partial(l->batch);
	if (columns[LIST_RUNNING_OUT_ID].type == RP_NULL)
		return RP_ROW_SKIP;
	return add_listed(ctx, row, columns);
}

/* Run a verb that lists jobs, and add the jobs to the batch, which gets at most
 * l->max jobs in all. p: the verb's parameters. This function sets the
 * parameters that all listing verbs have; the caller has set the others. */
static int
list_verb(struct listing *l, enum rp_verb verb, struct rp_value *p,
	  rp_row_fn *row)
{
	p[LIST_QUEUE] = rp__text(l->queue);
	p[LIST_MAX] = rp__int((int64_t)(l->max - rp_batch_count(l->batch)));
	p[LIST_HEAD] = rp__int((int64_t)l->head);
	return rp__run(l->conn, verb, p, 1, row, l);
}

static int
list_running(struct listing *l)
{
	struct rp_value p[LIST_RUNNING_PARAMS] = {
		[LIST_RUNNING_LOOKS] = rp__int((int64_t)l->looks),
	};

	return list_verb(l, RP_V_LIST_RUNNING, p, add_running);
}

static int
list_line(struct listing *l)
{
	struct rp_value p[LIST_LINE_PARAMS];

	return list_verb(l, RP_V_LIST_LINE, p, add_due);
}

static int
list_blocked(struct listing *l)
{
	struct rp_value p[LIST_BLOCKED_PARAMS];

	return list_verb(l, RP_V_LIST_BLOCKED, p, add_listed);
}

static int
list_kept(struct listing *l)
{
	struct rp_value p[LIST_KEPT_PARAMS] = {
		[LIST_KEPT_STATE] = rp__int(l->state),
	};

	return list_verb(l, RP_V_LIST_KEPT, p, add_listed);
}

static int
list_scheduled(struct listing *l, int due)
{
	struct rp_value p[LIST_SCHEDULED_PARAMS] = {
		[LIST_SCHEDULED_DUE] = rp__int(due),
	};

	return list_verb(l, RP_V_LIST_SCHEDULED, p, due ? add_due : add_listed);
}

static int
wants(const struct listing *l, int state)
{
	return !l->state || l->state == state;
}

static int
list(struct listing *l)
{
	int due = wants(l, RP_STATE_READY) || wants(l, RP_STATE_BLOCKED);
	int r = 0;

	if (rp__is_finished(l->state))
		return list_kept(l);
	if (wants(l, RP_STATE_RUNNING))
		r = list_running(l);
	if (r == 0 && due)
		r = list_line(l);
	if (r == 0 && due)
		r = list_scheduled(l, 1);
	if (r == 0 && wants(l, RP_STATE_BLOCKED))
		r = list_blocked(l);
	if (r == 0 && wants(l, RP_STATE_SCHEDULED))
		r = list_scheduled(l, 0);
	return r;
}

int
rp__list_jobs(rp_conn *conn, const char *queue, int state, size_t max,
	      size_t head, rp_batch **ret)
{
	struct listing l = { conn, queue, 0, max, head, max, NULL };
	int all = state >= 0 && state & RP_LIST_ALL, r = rp__enter(conn);

	if (r < 0)
		return r;
	r = rp__check_queue(&conn->error, queue);
	if (r < 0)
		return r;
	if (all)
		state -= RP_LIST_ALL;
	if (!ret || state < 0 || state > RP_STATE_BLOCKED || max > INT32_MAX)
		return rp__fail(&conn->error, RP_EINVAL,
				"rp_job_list: ret is NULL, the state is "
				"unknown, or max is over 2^31");
	if (all)
		l.looks = INT32_MAX;
	else if (max < RP_MOST_COUNTED)
		l.looks = RP_MOST_COUNTED;
	l.state = state;
	if (rp__batch_new(&l.batch) < 0)
		return rp__fail(&conn->error, RP_ENOMEM, "out of memory");
	r = rp__begin(conn, 0);
	if (r == 0) {
		r = rp__queue_known(conn, queue);
		if (r == 0)
			r = list(&l);
		r = rp__end(conn, r);
	}
	return answer_batch(r, l.batch, ret);
}

int
rp_job_list(rp_conn *conn, const char *queue, int state, size_t max,
	    rp_batch **ret)
{
	return rp__list_jobs(conn, queue, state, max, RP_LIST_PAYLOAD, ret);
}
