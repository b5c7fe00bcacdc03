/*
 * ext_enqueue.c - the SQL functions that enqueue one job or many.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ext.h"

/* ---- one job ---- */

/* A list of delays in milliseconds, as JSON. */
struct delays {
	char text[RP_MOST_BACKOFF * 16 + 3];
	size_t size;
};

static int
take_delay(struct ext_call *call, const char *what, size_t i,
	   const struct ext_element *element, int64_t *ret)
{
	char text[32];

	*ret = element->number;
	if (element->size == 0)
		snprintf(text, sizeof(text), "%s",
			 element->null ? "null" : "an empty text");
	else
		snprintf(text, sizeof(text), "%.*s", (int)element->size,
			 element->text);
	if (element->null ||
	    (!element->is_number && rp_duration(text, ret) < 0))
		return rp__fail(&call->error, RP_EINVAL,
				"%s %zu: %s is not a duration", what, i + 1,
				text);
	if (*ret < 0)
		return rp__fail(&call->error, RP_EINVAL,
				"%s %zu: the delay is negative", what, i + 1);
	return 0;
}

static int
add_backoff(void *ctx, struct ext_call *call, size_t i,
	    const struct ext_element *element)
{
	struct delays *delays = ctx;
	int64_t ms;
	int r = take_delay(call, "backoff", i, element, &ms);

	if (r < 0)
		return r;
	if (i == RP_MOST_BACKOFF)
		return rp__fail(&call->error, RP_EINVAL,
				"backoff: more than %d delays",
				RP_MOST_BACKOFF);
	if (ms > RP_MOST_MS)
		return rp__fail(&call->error, RP_EINVAL,
				"backoff %zu: the delay is longer than %d days",
				i + 1, RP_MOST_DAYS);
	delays->size += (size_t)snprintf(delays->text + delays->size,
					 sizeof(delays->text) - delays->size,
					 ",%lld", (long long)ms);
	return 0;
}

/* Set the job's backoff from the argument. `delays` receives the text and must
 * be valid as long as the job. */
static int
take_backoff(struct ext_call *call, struct delays *delays, rp_job_spec *job)
{
	int r;

	if (!call->arguments[P_BACKOFF_LIST].given)
		return 0;
	delays->size = 0;
	r = ext_each(call, P_BACKOFF_LIST, add_backoff, delays);
	if (r < 0)
		return r;
	if (delays->size == 0)
		return rp__fail(&call->error, RP_EINVAL,
				"backoff: the array is empty");
	delays->text[0] = '[';
	memcpy(delays->text + delays->size, "]", 2);
	job->backoff = delays->text;
	return 0;
}

static rp_job_spec
job_of(const struct ext_argument *a)
{
	rp_job_spec job = RP_JOB_SPEC_INIT;

	job.payload = a[P_PAYLOAD].text;
	job.payload_size = a[P_PAYLOAD].size;
	if (a[P_PRIORITY].given)
		job.priority = (int)a[P_PRIORITY].number;
	job.delay_ms = a[P_DELAY].number;
	job.run_at = a[P_RUN_AT].number;
	job.max_attempts = a[P_MAX_ATTEMPTS].number;
	job.kind = a[P_KIND].text;
	job.headers = a[P_HEADERS].text;
	job.unique_key = a[P_UNIQUE_KEY].text;
	job.replace = a[P_REPLACE].number != 0;
	job.keep_ms = a[P_KEEP].number;
	job.timeout_ms = a[P_JOB_TIMEOUT].number;
	job.expire_ms = a[P_EXPIRE].number;
	job.unique_for_ms = a[P_UNIQUE_FOR].number;
	job.group_key = a[P_GROUP_KEY].text;
	return job;
}

static int
enqueue(struct ext_call *call, rp_added *ret)
{
	rp_job_spec job = job_of(call->arguments);
	struct delays delays;
	int r = take_backoff(call, &delays, &job);

	if (r == 0)
		r = rp_enqueue(call->conn, call->arguments[P_QUEUE].text, &job,
			       ret);

	if (r == 0 && job.replace && ret->outcome == RP_EXISTED)
		return rp__fail(&call->error, RP_ETAKEN,
				"job %lld cannot be replaced: it is running, "
				"or it is done and keeps its key",
				(long long)ret->id);
	return r;
}

int
ext_do_enqueue(struct ext_call *call, struct rp_value *ret)
{
	rp_added added = { 0, 0 };
	int r = enqueue(call, &added);

	*ret = rp__int(added.id);
	return r;
}

static void
read_added(const void *data, size_t row, struct rp_value *columns)
{
	static const char *const outcomes[] = { "added", "existed",
						"replaced" };
	const rp_added *added = data;

	columns[0] = rp__int(added[row].id);
	columns[1] = rp__text(outcomes[added[row].outcome]);
}

int
ext_enqueue_rows(struct ext_call *call, struct ext_rows *ret)
{
	rp_added *added = calloc(1, sizeof(*added));
	int r = added ? enqueue(call, added) : ext_no_memory(call);

	if (r < 0)
		free(added);
	else
		*ret = (struct ext_rows){ 1, added, free, read_added };
	return r;
}

/* ---- many jobs ---- */

/* Jobs to enqueue. `texts` owns the texts that are not part of an argument. */
struct jobs {
	rp_job_spec model, *jobs;
	size_t count, room;
	rp_batch *texts;
};

/* Copy the element's text, with a NUL at the end. */
static int
copy_text(struct ext_call *call, struct jobs *jobs,
	  const struct ext_element *element, const char **ret)
{
	char *text = rp__batch_alloc(jobs->texts, element->size + 1);

	if (!text)
		return ext_no_memory(call);
	memcpy(text, element->text, element->size);
	text[element->size] = '\0';
	*ret = text;
	return 0;
}

static int
add_payload(void *ctx, struct ext_call *call, size_t i,
	    const struct ext_element *element)
{
	struct jobs *jobs = ctx;
	const char *copy = NULL;
	rp_job_spec *job;

	if (element->null)
		return rp__fail(&call->error, RP_EINVAL,
				"job %zu: the payload is null", i + 1);
	if (jobs->count == jobs->room) {
		size_t room = 2 * jobs->room + 64;
		rp_job_spec *more = realloc(jobs->jobs, room * sizeof(*more));

		if (!more)
			return ext_no_memory(call);
		jobs->jobs = more;
		jobs->room = room;
	}
	job = &jobs->jobs[jobs->count++];
	*job = jobs->model;
	job->payload = element->text;
	job->payload_size = element->size;
	if (element->stays)
		return 0;
	job->payload = NULL;
	if (copy_text(call, jobs, element, &copy) < 0)
		return RP_ENOMEM;
	job->payload = copy;
	return 0;
}

struct others {
	struct jobs *jobs;
	size_t count;
};

static int
add_kind(void *ctx, struct ext_call *call, size_t i,
	 const struct ext_element *element)
{
	struct others *others = ctx;

	others->count++;
	if (i >= others->jobs->count || element->null)
		return 0;
	if (!element->is_string)
		return rp__fail(&call->error, RP_EINVAL,
				"job %zu: the kind is not text", i + 1);
	return copy_text(call, others->jobs, element,
			 &others->jobs->jobs[i].kind);
}

static int
add_headers(void *ctx, struct ext_call *call, size_t i,
	    const struct ext_element *element)
{
	struct others *others = ctx;

	others->count++;
	if (i >= others->jobs->count || element->null)
		return 0;
	return copy_text(call, others->jobs, element,
			 &others->jobs->jobs[i].headers);
}

static int
add_delay(void *ctx, struct ext_call *call, size_t i,
	  const struct ext_element *element)
{
	struct others *others = ctx;

	others->count++;
	if (i >= others->jobs->count || element->null)
		return 0;
	return take_delay(call, "job", i, element,
			  &others->jobs->jobs[i].delay_ms);
}

/* Read an array with one element for each payload. If the argument is given, it
 * must have as many elements as there are payloads. */
static int
add_others(struct ext_call *call, struct jobs *jobs, enum ext_param param,
	   ext_element_fn *fn)
{
	struct others others = { jobs, 0 };
	int r = ext_each(call, param, fn, &others);

	if (r == 0 && call->arguments[param].given &&
	    others.count != jobs->count)
		return rp__fail(&call->error, RP_EINVAL,
				"%s: expected %zu elements, one for each "
				"payload, and got %zu",
				ext_words(param), jobs->count, others.count);
	return r;
}

static int
collect(struct ext_call *call, struct jobs *jobs)
{
	int r = rp__batch_new(&jobs->texts) < 0 ? ext_no_memory(call) : 0;

	if (r == 0)
		r = ext_each(call, P_PAYLOADS, add_payload, jobs);
	if (r == 0)
		r = add_others(call, jobs, P_DELAYS, add_delay);
	if (r == 0)
		r = add_others(call, jobs, P_KINDS, add_kind);
	if (r == 0)
		r = add_others(call, jobs, P_HEADERS_OF_EACH, add_headers);
	return r;
}

int
ext_enqueue_many_rows(struct ext_call *call, struct ext_rows *ret)
{
	struct jobs jobs = { .model = job_of(call->arguments) };
	struct delays delays;
	rp_added *added = NULL;
	int r = take_backoff(call, &delays, &jobs.model);

	if (r == 0)
		r = collect(call, &jobs);

	if (r == 0) {
		added = calloc(jobs.count + 1, sizeof(*added));
		r = added ? rp_enqueue_many(call->conn,
					    call->arguments[P_QUEUE].text,
					    jobs.jobs, jobs.count, added)
			  : ext_no_memory(call);
	}
	if (r < 0)
		free(added);
	else
		*ret = (struct ext_rows){ jobs.count, added, free, read_added };
	rp_batch_free(jobs.texts);
	free(jobs.jobs);
	return r;
}
