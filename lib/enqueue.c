/*
 * enqueue.c - enqueue jobs.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 *
 * Jobs with the same settings are collected and enqueued by one run of a verb
 * (a file of SQL, see sql/README.md), up to MOST_ROWS jobs and MOST_BYTES of
 * payloads and headers at a time.
 */
#include "internal.h"

#include <stdlib.h>
#include <string.h>

/* The largest number of jobs in one run of the verb. */
#define MOST_ROWS 500

/* The largest size of the payloads and headers in one run of the verb, unless a
 * single job is larger. PostgreSQL takes at most 1 GiB in one statement, and
 * client and server need several times as much memory as the statement has
 * bytes. */
#define MOST_BYTES ((size_t)16 << 20)

/* The jobs that were checked and collected, and that the next run of the verb
 * enqueues. */
struct rows {
	rp_conn *conn;
	const char *queue;
	struct rp_value *params;
	rp_added *added;    /* results of all jobs of the call; an id of 0: the
			     * job is not enqueued yet */
	size_t count, done; /* `done`: how many jobs of the call are enqueued */
	size_t bytes;       /* size of the payloads and headers of the collected
			     * jobs */
	rp_job_spec terms;  /* the settings that all collected jobs have in
			     * common */
	size_t n;           /* number of jobs of the call */
	int begun, once;    /* `begun`: 1 if a transaction is open. `once`: 1 if
			     * it was begun with RP_BEGIN_ONCE, which promises
			     * that it runs only one verb */
};

/* Check a duration of a job. 0: the duration is not set. */
static int
check_span(rp_error *error, const char *what, int64_t ms)
{
	if (ms >= 0 && ms <= RP_MOST_MS)
		return 0;
	return rp__fail(error, RP_EINVAL, "%s is not within 0..%d days", what,
			RP_MOST_DAYS);
}

/* Returns 1 if the text is a JSON array of delays. */
static int
is_backoff(const char *text)
{
	static const char space[] = " \t\r\n";
	const char *s = text + strspn(text, space);
	int n = 0;

	do {
		int64_t ms = 0;
		size_t digits;

		s++; /* skip the bracket or comma */
		if (n == 0 && s[-1] != '[')
			return 0;
		s += strspn(s, space);
		digits = strspn(s, "0123456789");
		if (digits == 0 || digits > 15 || (digits > 1 && *s == '0'))
			return 0;
		for (; digits; digits--)
			ms = 10 * ms + (*s++ - '0');
		if (ms > RP_MOST_MS || ++n > RP_MOST_BACKOFF)
			return 0;
		s += strspn(s, space);
	} while (*s == ',');
	return *s == ']' && !s[1 + strspn(s + 1, space)];
}

/* Returns 1 if the job has one of the rarely used settings. */
static int
has_terms(const rp_job_spec *job)
{
	return job->keep_ms || job->timeout_ms || job->expire_ms ||
	       job->backoff || job->unique_for_ms || job->group_key;
}

static int
check_terms(rp_error *error, const rp_job_spec *job)
{
	int r;

	if (!has_terms(job))
		return 0;
	r = check_span(error, "keep", job->keep_ms);
	if (r == 0)
		r = check_span(error, "the timeout", job->timeout_ms);
	if (r == 0)
		r = check_span(error, "expire", job->expire_ms);
	if (r == 0)
		r = check_span(error, "unique for", job->unique_for_ms);
	if (r == 0 && job->backoff && !is_backoff(job->backoff))
		return rp__fail(error, RP_EINVAL,
				"the backoff is not a JSON array of 1..%d "
				"delays in milliseconds",
				RP_MOST_BACKOFF);
	if (r == 0 && job->unique_for_ms && !job->unique_key)
		return rp__fail(error, RP_EINVAL,
				"unique_for needs a unique key");
	if (r == 0 && job->group_key)
		r = rp__check_name(error, "the group", job->group_key,
				   RP_MOST_KEY);
	return r;
}

static int
check(rp_error *error, const rp_job_spec *job)
{
	int r = 0;

	if (!job->payload && job->payload_size)
		return rp__fail(error, RP_EINVAL, "the payload is NULL");
	if (job->payload_size > RP_MOST_PAYLOAD)
		return rp__fail(error, RP_EFBIG,
				"payload too large: %zu bytes, no queue takes "
				"more than %d",
				job->payload_size, RP_MOST_PAYLOAD);
	if (job->priority < -1 || job->priority > RP_MOST_PRIORITY)
		return rp__fail(error, RP_EINVAL,
				"priority %d is not within 0..%d",
				job->priority, RP_MOST_PRIORITY);
	if (job->delay_ms < 0 || job->delay_ms > RP_MOST_MS)
		return rp__fail(error, RP_EINVAL,
				"the delay is not within 0..%d days",
				RP_MOST_DAYS);
	if (job->run_at < 0 || job->run_at > RP_MOST_TIME)
		return rp__fail(error, RP_EINVAL,
				"the time is not within the years 1970..9999");
	if (job->delay_ms && job->run_at)
		return rp__fail(error, RP_EINVAL,
				"a job has a delay or a time, not both");
	if (job->max_attempts < 0 || job->max_attempts > RP_MOST_ATTEMPTS)
		return rp__fail(error, RP_EINVAL,
				"max attempts is not within 1..%d",
				RP_MOST_ATTEMPTS);
	if (job->headers && !rp__utf8(job->headers, strlen(job->headers)))
		return rp__fail(error, RP_EINVAL, "the headers are not UTF-8");
	if (job->kind)
		r = rp__check_name(error, "the kind", job->kind, RP_MOST_NAME);
	if (r == 0 && job->unique_key)
		r = rp__check_name(error, "the unique key", job->unique_key,
				   RP_MOST_KEY);
	if (r == 0 && job->replace && !job->unique_key)
		return rp__fail(error, RP_EINVAL, "replace needs a unique key");
	return r < 0 ? r : check_terms(error, job);
}

/* Returns `n` as a value, or null if `n` is 0. */
static struct rp_value
null_if_zero(int64_t n)
{
	return rp__int_or_null(n, n == 0);
}

static void
fill(const struct rows *rows, struct rp_value *p, const rp_job_spec *job)
{
	p[PUT_QUEUE] = rp__text(rows->queue);
	p[PUT_PRIORITY] = rp__int_or_null(job->priority, job->priority < 0);
	p[PUT_DELAY_MS] = null_if_zero(job->delay_ms);
	p[PUT_RUN_AT] = null_if_zero(job->run_at);
	p[PUT_MAX_ATTEMPTS] = null_if_zero(job->max_attempts);
	p[PUT_KIND] = rp__text(job->kind);
	p[PUT_HEADERS] = rp__text(job->headers);
	p[PUT_MANY_LARGEST] = p[PUT_MANY_WITH_HEADERS] = rp__int(0);
	p[PUT_MANY_KEEP_MS] = null_if_zero(job->keep_ms);
	p[PUT_MANY_TIMEOUT_MS] = null_if_zero(job->timeout_ms);
	p[PUT_MANY_EXPIRE_MS] = null_if_zero(job->expire_ms);
	p[PUT_MANY_BACKOFF] = rp__text(job->backoff);
	p[PUT_MANY_GROUP_KEY] = rp__text(job->group_key);
	p[PUT_MANY_JOINED] = rp__int(rp__stays_open(rows->conn));
	p[PUT_PAYLOAD] = rp__blob(job->payload, job->payload_size);
	if (!job->unique_key) {
		p[ENQUEUE_NTH] = (struct rp_value){ .type = RP_NULL };
	} else {
		p[ENQUEUE_UNIQUE_UNIQUE_KEY] = rp__text(job->unique_key);
		p[ENQUEUE_UNIQUE_REPLACE] = rp__int(job->replace != 0);
		p[ENQUEUE_UNIQUE_UNIQUE_FOR_MS] =
			null_if_zero(job->unique_for_ms);
	}
}

/* In the first row, set the two parameters that describe all rows: the size of
 * the largest payload, and whether any row has headers. */
static void
sum_up(struct rows *rows, size_t width)
{
	struct rp_value *first = rows->params;
	int64_t largest = 0, with_headers = 0;

	for (size_t i = 0; i < rows->count; i++) {
		const struct rp_value *p = first + i * width;

		if ((int64_t)p[PUT_PAYLOAD].size > largest)
			largest = (int64_t)p[PUT_PAYLOAD].size;
		with_headers |= p[PUT_HEADERS].type != RP_NULL;
	}
	first[PUT_MANY_LARGEST] = rp__int(largest);
	first[PUT_MANY_WITH_HEADERS] = rp__int(with_headers);
}

static int
run(struct rows *rows, int unique)
{
	struct rp_enqueue jobs = { rows->params, rows->count, unique,
				   &rows->added[rows->done] };

	sum_up(rows, unique ? ENQUEUE_UNIQUE_PARAMS : ENQUEUE_PARAMS);
	return rows->conn->backend->enqueue(rows->conn->db, &jobs,
					    &rows->conn->error);
}

/* Begin a transaction, unless one is open. If `rows` holds all jobs that
 * remain, one run of a verb enqueues them, so `once` is set to 1. */
static int
begin(struct rows *rows)
{
	int r;

	if (rows->begun)
		return 0;
	rows->once = rows->done + rows->count == rows->n;
	r = rp__begin(rows->conn,
		      RP_BEGIN_WRITE | (rows->once ? RP_BEGIN_ONCE : 0));
	rows->begun = r == 0;
	return r;
}

/* A transaction that was begun with RP_BEGIN_ONCE may run only one verb. Call
 * this function if a second verb must run after all. It ends the transaction,
 * which has written nothing so far, and begins another one without
 * RP_BEGIN_ONCE. */
static int
begin_anew(struct rows *rows)
{
	int r;

	if (!rows->once)
		return 0;
	rows->once = rows->begun = 0;
	r = rp__end(rows->conn, 0);
	if (r == 0)
		r = rp__begin(rows->conn, RP_BEGIN_WRITE);
	rows->begun = r == 0;
	return r;
}

/* Add to the error which job is refused: the i-th job of the call. */
static int
name_the_job(struct rows *rows, int r, size_t i)
{
	rp_error *error = &rows->conn->error;
	char message[sizeof(error->message)];

	memcpy(message, error->message, sizeof(message));
	if (rows->n > 1)
		rp__fail(error, r, "job %zu: %.200s", i + 1, message);
	error->item = (int64_t)i;
	return r;
}

/* Returns RP_EFBIG if a payload is too large for the queue, else 0. */
static int
find_too_large(struct rows *rows)
{
	rp_queues *queues;
	size_t most, i = 0;
	int r = rp_queue_list(rows->conn, rows->queue, &queues);

	if (r < 0)
		return r;
	most = (size_t)rp_queues_at(queues, 0)->max_payload;
	rp_queues_free(queues);
	while (i < rows->count &&
	       rows->params[i * ENQUEUE_PARAMS + PUT_PAYLOAD].size <= most)
		i++;
	if (i == rows->count)
		return 0;
	r = rp__fail(&rows->conn->error, RP_EFBIG,
		     "payload too large: %zu bytes, queue %s takes at most %zu "
		     "(max_payload)",
		     rows->params[i * ENQUEUE_PARAMS + PUT_PAYLOAD].size,
		     rows->queue, most);
	return name_the_job(rows, r, rows->done + i);
}

static int
take_first_bad(void *ctx, size_t row, const struct rp_value *c)
{
	size_t *first = ctx;

	(void)c;
	if (row < *first)
		*first = row;
	return RP_ROW_TAKE;
}

/* Returns RP_EINVAL if a collected job has headers that are not a JSON object,
 * else 0. */
static int
find_bad_headers(struct rows *rows)
{
	struct rp_value headers[MOST_ROWS];
	size_t first = rows->count;
	int r;

	for (size_t i = 0; i < rows->count; i++)
		headers[i] = rows->params[i * ENQUEUE_PARAMS + PUT_HEADERS];
	r = rp__run(rows->conn, RP_V_BAD_HEADERS, headers, rows->count,
		    take_first_bad, &first);
	if (r < 0 || first == rows->count)
		return r;
	r = rp__fail(&rows->conn->error, RP_EINVAL,
		     "the headers are not a JSON object");
	return name_the_job(rows, r, rows->done + first);
}

/* Call this after a run of the verb that enqueued nothing. If a job is refused,
 * this function fails with the reason. Otherwise the queue did not exist during
 * the run, because another client has just dropped or created it. Then this
 * function returns 0, and the caller tries again. */
static int
find_refused(struct rows *rows)
{
	int r = find_too_large(rows);

	if (r == RP_ENOENT)
		return 0;
	return r == 0 ? find_bad_headers(rows) : r;
}

/* Call this after a run of the verb has failed and the transaction was rolled
 * back. If the headers of a job may be the reason, find that job and name it in
 * the error. */
static int
explain_error(struct rows *rows, int r)
{
	const rp_error error = rows->conn->error;

	if (r != RP_EINVAL || !rows->begun || error.item >= 0)
		return r;
	if (find_bad_headers(rows) != RP_EINVAL || rows->conn->error.item < 0)
		rows->conn->error = error;
	return r;
}

/* Create the queue if it does not exist, and run the verb again. On a server,
 * another client may have created the queue since the last run. */
static int
run_again(struct rows *rows, int unique)
{
	int r = rp__queue_known(rows->conn, rows->queue);

	if (r == RP_ENOENT)
		r = rp__queue_create(rows->conn, rows->queue, NULL);
	return r < 0 ? r : run(rows, unique);
}

/* Enqueue the collected jobs by a run of the verb. If the run enqueues nothing,
 * either the queue does not exist or a job is refused. So create the queue if
 * it does not exist, and run the verb again. If that enqueues nothing either,
 * find the refused job and fail with the reason. */
static int
flush(struct rows *rows, int unique)
{
	const rp_added *first = &rows->added[rows->done];
	int r;

	if (rows->count == 0)
		return 0;
	r = begin(rows);
	if (r == 0)
		r = run(rows, unique);
	if (r == 0 && !first->id)
		r = begin_anew(rows);
	while (r == 0 && !first->id) {
		r = run_again(rows, unique);
		if (r == 0 && !first->id)
			r = find_refused(rows);
	}
	if (r < 0)
		return r;
	rows->done += rows->count;
	rows->count = rows->bytes = 0;
	return 0;
}

static int
is_same_text(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

/* Returns 1 if both jobs have the same settings, so that one run of the verb
 * can enqueue them. */
static int
on_one_set_of_terms(const rp_job_spec *a, const rp_job_spec *b)
{
	return a->priority == b->priority && a->delay_ms == b->delay_ms &&
	       a->run_at == b->run_at && a->max_attempts == b->max_attempts &&
	       a->keep_ms == b->keep_ms && a->timeout_ms == b->timeout_ms &&
	       a->expire_ms == b->expire_ms &&
	       is_same_text(a->backoff, b->backoff);
}

static size_t
size_of(const rp_job_spec *job)
{
	return job->payload_size + (job->headers ? strlen(job->headers) : 0);
}

/* Returns 1 if one run of the verb can enqueue the job together with the
 * collected jobs. */
static int
can_join(const struct rows *rows, const rp_job_spec *job)
{
	return !job->unique_key && on_one_set_of_terms(job, &rows->terms) &&
	       rows->count < MOST_ROWS &&
	       rows->bytes + size_of(job) <= MOST_BYTES;
}

/* Refuse a job that expires before it is due, because it would never run. Skip
 * the check if the previous job of the call has the same times, because that
 * job has passed the check. */
static int
check_expiry(struct rows *rows, const rp_job_spec *job)
{
	int64_t now = 0;
	int r = 0;

	if (!job->expire_ms || on_one_set_of_terms(job, &rows->terms))
		return 0;
	if (job->run_at)
		r = rp_now(rows->conn, &now);
	if (r == 0 &&
	    (job->run_at ? job->run_at - now : job->delay_ms) >= job->expire_ms)
		r = rp__fail(&rows->conn->error, RP_EINVAL,
			     "the job would expire before it is due");
	return r;
}

/* Add a job to the collected jobs. If one run of the verb cannot enqueue it
 * together with them, enqueue them first. A job with a unique key is enqueued
 * alone, and at once. */
static int
add(struct rows *rows, const rp_job_spec *job)
{
	int r = 0;

	if (!can_join(rows, job))
		r = flush(rows, 0);
	rows->terms = *job;
	if (r < 0)
		return r;
	fill(rows, rows->params + rows->count * ENQUEUE_PARAMS, job);
	rows->count++;
	rows->bytes += size_of(job);
	return job->unique_key ? flush(rows, 1) : 0;
}

static int
enqueue_all(struct rows *rows, const rp_job_spec *jobs, rp_added *ret)
{
	int r = 0;

	for (size_t i = 0; i < rows->n && r == 0; i++) {
		rp_job_spec job = RP_JOB_SPEC_INIT;
		const char *given = (const char *)jobs + i * jobs->size;

		rp__copy_struct(&job, given, jobs->size, sizeof(job));
		r = check(&rows->conn->error, &job);
		if (r == 0)
			r = check_expiry(rows, &job);
		r = r < 0 ? name_the_job(rows, r, i) : add(rows, &job);
	}
	if (r == 0)
		r = flush(rows, 0);
	if (rows->begun)
		r = explain_error(rows, rp__end(rows->conn, r));
	/* Write `ret` after the commit, because a call that fails must not
	 * write to it. */
	if (r == 0 && ret)
		memcpy(ret, rows->added, rows->n * sizeof(*ret));
	return r;
}

int
rp_enqueue_many(rp_conn *conn, const char *queue, const rp_job_spec *jobs,
		size_t n, rp_added *ret)
{
	size_t room = n < MOST_ROWS ? n : MOST_ROWS;
	struct rows rows = { .conn = conn, .queue = queue, .n = n };
	int r = rp__enter(conn);

	if (r < 0)
		return r;
	r = rp__check_queue(&conn->error, queue);
	if (r < 0 || n == 0)
		return r;
	if (!jobs)
		return rp__fail(&conn->error, RP_EINVAL, "jobs is NULL");
	/* Refuse a zeroed struct. Otherwise it would count as a job without a
	 * payload. */
	if (jobs->size < offsetof(rp_job_spec, priority))
		return rp__fail(&conn->error, RP_EINVAL,
				"a job has no size: RP_JOB_SPEC_INIT sets it");
	/* Allocate room for `room` rows of ordinary jobs, and a little more. A
	 * job with a unique key is enqueued alone, but its row has more
	 * parameters. So if `room` is 1, its row needs the additional room. */
	rows.params = malloc((room * ENQUEUE_PARAMS + ENQUEUE_UNIQUE_PARAMS) *
			     sizeof(*rows.params));
	rows.added = calloc(n, sizeof(*rows.added));
	r = rows.params && rows.added
		    ? enqueue_all(&rows, jobs, ret)
		    : rp__fail(&conn->error, RP_ENOMEM, "out of memory");
	free(rows.params);
	free(rows.added);
	return r;
}

int
rp_enqueue(rp_conn *conn, const char *queue, const rp_job_spec *job,
	   rp_added *ret)
{
	return rp_enqueue_many(conn, queue, job, 1, ret);
}
