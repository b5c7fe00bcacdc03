/*
 * enqueue.c - put jobs into a queue.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "internal.h"

#include <stdlib.h>
#include <string.h>

#define MOST_MS (3650 * INT64_C(86400000))

/* The largest RFC 3339 time, 9999-12-31T23:59:59.999Z. */
#define LAST_MS INT64_C(253402300799999)

struct answer {
	rp_added added;
	int given;
};

static int
take_answer(void *ctx, size_t row, const struct rp_value *c)
{
	struct answer *answer = ctx;

	(void)row;
	answer->added.id = c[ENQUEUE_OUT_ID].i;
	answer->given = 1;
	return RP_ROW_TAKE;
}

static int
take_unique_answer(void *ctx, size_t row, const struct rp_value *c)
{
	struct answer *answer = ctx;

	answer->added.outcome = (int)c[ENQUEUE_UNIQUE_OUT_OUTCOME].i;
	return take_answer(ctx, row, c);
}

static int
check(rp_error *error, const rp_new *job)
{
	int r = 0;

	if (!job->payload && job->payload_size)
		return rp__fail(error, RP_EINVAL, "the payload is NULL");
	if (job->payload_size > 1000000000)
		return rp__fail(error, RP_EFBIG, "payload too large");
	if (job->priority < -1 || job->priority > 255)
		return rp__fail(error, RP_EINVAL,
				"priority %d is not within 0..255",
				job->priority);
	if (job->delay_ms < 0 || job->delay_ms > MOST_MS)
		return rp__fail(error, RP_EINVAL,
				"the delay is not within 0..3650 days");
	if (job->run_at < 0 || job->run_at > LAST_MS)
		return rp__fail(error, RP_EINVAL,
				"the time is not within the years 1970..9999");
	if (job->delay_ms && job->run_at)
		return rp__fail(error, RP_EINVAL,
				"either a delay or a time, not both");
	if (job->max_attempts < 0 || job->max_attempts > 1000000000)
		return rp__fail(error, RP_EINVAL,
				"max attempts is not within 1..1000000000");
	if (job->headers && !rp__utf8(job->headers, strlen(job->headers)))
		return rp__fail(error, RP_EINVAL, "the headers are not UTF-8");
	if (job->kind)
		r = rp__check_name(error, "the kind", job->kind, 128);
	if (r == 0 && job->unique_key)
		r = rp__check_name(error, "the unique key", job->unique_key,
				   255);
	if (r == 0 && job->replace && !job->unique_key)
		return rp__fail(error, RP_EINVAL, "replace needs a unique key");
	return r;
}

static int
insert(rp_conn *conn, const char *queue, const rp_new *job,
       struct answer *answer)
{
	/* The longer verb has the shorter one's parameters first. */
	struct rp_value p[ENQUEUE_UNIQUE_PARAMS];

	p[ENQUEUE_QUEUE] = rp__text(queue);
	p[ENQUEUE_PRIORITY] = rp__int_or_null(job->priority, job->priority < 0);
	p[ENQUEUE_DELAY_MS] = rp__int(job->delay_ms);
	p[ENQUEUE_RUN_AT] = rp__int(job->run_at);
	p[ENQUEUE_MAX_ATTEMPTS] =
		rp__int_or_null(job->max_attempts, job->max_attempts == 0);
	p[ENQUEUE_KIND] = rp__text(job->kind);
	p[ENQUEUE_HEADERS] = rp__text(job->headers);
	p[ENQUEUE_PAYLOAD] = (struct rp_value){ .type = RP_BLOB,
						.data = job->payload,
						.size = job->payload_size };
	p[ENQUEUE_UNIQUE_UNIQUE_KEY] = rp__text(job->unique_key);
	p[ENQUEUE_UNIQUE_REPLACE] = rp__int(job->replace != 0);
	if (job->unique_key)
		return rp__run(conn, RP_V_ENQUEUE_UNIQUE, p, 1,
			       take_unique_answer, answer);
	return rp__run(conn, RP_V_ENQUEUE, p, 1, take_answer, answer);
}

/* One job. No answer means: no such queue yet, or too large for it. */
static int
enqueue_one(rp_conn *conn, const char *queue, const rp_new *job, rp_added *ret)
{
	struct answer answer = { { 0, RP_ADDED }, 0 };
	int r = check(&conn->error, job);

	if (r == 0)
		r = insert(conn, queue, job, &answer);
	if (r == 0 && !answer.given && rp__queue_known(conn, queue) < 0) {
		r = rp__queue_create(conn, queue);
		if (r == 0)
			r = insert(conn, queue, job, &answer);
	}
	if (r < 0)
		return r;
	if (!answer.given)
		return rp__fail(&conn->error, RP_EFBIG, "payload too large");
	if (ret)
		*ret = answer.added;
	return 0;
}

/* Say which one of several it was. */
static int
name_the_job(rp_conn *conn, int r, size_t i)
{
	char message[sizeof(conn->error.message)];

	if (r != RP_EINVAL && r != RP_EFBIG)
		return r;
	memcpy(message, conn->error.message, sizeof(message));
	return rp__fail(&conn->error, r, "job %zu: %.200s", i + 1, message);
}

int
rp_enqueue_many(rp_conn *conn, const char *queue, const rp_new *jobs, size_t n,
		rp_added *ret)
{
	int r = rp__enter(conn);

	if (r < 0)
		return r;
	r = rp__check_name(&conn->error, "the queue's name", queue, 128);
	if (r < 0 || n == 0)
		return r;
	if (!jobs)
		return rp__fail(&conn->error, RP_EINVAL, "jobs is NULL");
	r = rp__begin(conn, 1);
	if (r < 0)
		return r;
	for (size_t i = 0; i < n && r == 0; i++) {
		rp_new job = RP_NEW_INIT;
		const char *given = (const char *)jobs + i * jobs->size;

		memcpy(&job, given,
		       jobs->size < sizeof(job) ? jobs->size : sizeof(job));
		r = enqueue_one(conn, queue, &job, ret ? &ret[i] : NULL);
		if (r < 0 && n > 1)
			r = name_the_job(conn, r, i);
	}
	return rp__end(conn, r);
}

int
rp_enqueue(rp_conn *conn, const char *queue, const rp_new *job, rp_added *ret)
{
	return rp_enqueue_many(conn, queue, job, 1, ret);
}
