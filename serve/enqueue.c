/*
 * enqueue.c - requests that enqueue one job, many jobs, or one job whose
 * payload is the whole body.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "fields.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "handlers.h"
#include "writes.h"

/* the members of a job in a request */
struct new_job {
	json_t *payload, *headers, *backoff;
	const char *payload_base64, *kind, *unique_key, *group;
	int64_t priority, delay_ms, run_at, max_attempts, timeout_ms, expire_ms;
	int64_t keep_ms, unique_for_ms;
	int replace;
};

static const struct want job_wants[] = {
	WANT("payload", VALUE, struct new_job, payload, 0, 0),
	WANT("payload_base64", TEXT, struct new_job, payload_base64, 0,
	     INT32_MAX),
	WANT("kind", NAME, struct new_job, kind, 1, RP_MOST_NAME),
	WANT("headers", JSON, struct new_job, headers, 0, 0),
	WANT("priority", COUNT, struct new_job, priority, 0, RP_MOST_PRIORITY),
	WANT("delay", DURATION, struct new_job, delay_ms, 0, RP_MOST_MS),
	WANT("run_at", TIME, struct new_job, run_at, 0, RP_MOST_TIME),
	WANT("unique_key", NAME, struct new_job, unique_key, 1, RP_MOST_KEY),
	WANT("unique_for", DURATION, struct new_job, unique_for_ms, 1,
	     RP_MOST_MS),
	WANT("replace", FLAG, struct new_job, replace, 0, 0),
	WANT("max_attempts", COUNT, struct new_job, max_attempts, 1,
	     RP_MOST_ATTEMPTS),
	WANT("backoff", JSON, struct new_job, backoff, 0, 0),
	WANT("timeout", DURATION, struct new_job, timeout_ms, 1, RP_MOST_MS),
	WANT("expire", DURATION, struct new_job, expire_ms, 1, RP_MOST_MS),
	WANT("keep", DURATION, struct new_job, keep_ms, 1, RP_MOST_MS),
	WANT("group", NAME, struct new_job, group, 1, RP_MOST_KEY),
	WANTS_END,
};

/* ---- payload and headers ---- */

/* Take the payload and the headers from the request. */
static int
take_content(struct request *request, const struct new_job *job,
	     const char *where, rp_job_spec *spec)
{
	struct writes *writes = request->writes;
	struct bytes payload;
	char *headers;

	if (bytes_read(request, where, "payload", job->payload,
		       job->payload_base64, &payload) < 0)
		return -1;
	spec->payload = payload.data;
	spec->payload_size = payload.size;
	if (payload.memory && !writes_keep(writes, payload.memory))
		return refuse_memory(request);
	if (headers_read(request, where, job->headers, payload.is_json,
			 &headers) < 0)
		return -1;
	spec->headers = headers;
	return headers && !writes_keep(writes, headers) ? refuse_memory(request)
							: 0;
}

/* Read a list of durations, such as ["10s", "1m"], as a list of
 * milliseconds. */
static int
take_backoff(struct request *request, json_t *list, const char *where,
	     rp_job_spec *spec)
{
	const struct want want = { NULL, WANT_DURATION, 0, 0, RP_MOST_MS };
	json_t *all, *one;
	char field[FIELD_PATH], member[32];
	size_t i;

	if (!list)
		return 0;
	member_path(field, where, "backoff");
	if (!json_is_array(list) || json_array_size(list) == 0 ||
	    json_array_size(list) > RP_MOST_BACKOFF)
		return refuse(request, RP_EINVAL, field,
			      "expected a list of 1 to %d durations",
			      RP_MOST_BACKOFF);
	all = json_array();
	json_array_foreach (list, i, one) {
		int64_t ms;

		snprintf(member, sizeof(member), "backoff[%zu]", i);
		member_path(field, where, member);
		if (field_read(request, one, field, &want, &ms) < 0) {
			json_decref(all);
			return -1;
		}
		json_array_append_new(all, json_integer(ms));
	}
	spec->backoff =
		writes_keep(request->writes, json_dumps(all, JSON_COMPACT));
	json_decref(all);
	return spec->backoff ? 0 : refuse_memory(request);
}

/* ---- jobs ---- */

static int
check_terms(struct request *request, const struct new_job *job,
	    const char *where)
{
	if (job->delay_ms >= 0 && job->run_at >= 0)
		return refuse_member(request, where, "run_at",
				     "give either delay or run_at");
	if (job->replace && !job->unique_key)
		return refuse_member(request, where, "replace",
				     "replace needs unique_key");
	if (job->unique_for_ms && !job->unique_key)
		return refuse_member(request, where, "unique_for",
				     "unique_for needs unique_key");
	if (job->expire_ms && job->expire_ms <= job->delay_ms)
		return refuse_member(request, where, "expire",
				     "the job would expire before it is due");
	return 0;
}

static int
take_job(struct request *request, json_t *object, const char *where,
	 rp_job_spec *spec)
{
	struct new_job job = { .priority = -1, .delay_ms = -1, .run_at = -1 };

	if (fields_read(request, object, where, job_wants, &job) < 0 ||
	    check_terms(request, &job, where) < 0)
		return -1;
	*spec = (rp_job_spec)RP_JOB_SPEC_INIT;
	spec->priority = (int)job.priority;
	spec->delay_ms = job.delay_ms < 0 ? 0 : job.delay_ms;
	spec->run_at = job.run_at < 0 ? 0 : job.run_at;
	spec->max_attempts = job.max_attempts;
	spec->kind = job.kind;
	spec->unique_key = job.unique_key;
	spec->replace = job.replace;
	spec->keep_ms = job.keep_ms;
	spec->timeout_ms = job.timeout_ms;
	spec->expire_ms = job.expire_ms;
	spec->unique_for_ms = job.unique_for_ms;
	spec->group_key = job.group;
	return take_content(request, &job, where, spec) < 0
		       ? -1
		       : take_backoff(request, job.backoff, where, spec);
}

static int
take_jobs(struct request *request, json_t *list)
{
	struct writes *writes = request->writes;
	size_t n = json_array_size(list), i;
	json_t *one;

	if (!json_is_array(list) || n == 0 || n > MOST_JOBS)
		return refuse(request, RP_EINVAL, "jobs",
			      "expected a list of 1 to %d jobs", MOST_JOBS);
	writes->specs = calloc(n, sizeof(*writes->specs));
	if (!writes->specs)
		return refuse_memory(request);
	json_array_foreach (list, i, one) {
		char where[32];

		snprintf(where, sizeof(where), "jobs[%zu]", i);
		if (take_job(request, one, where, &writes->specs[i]) < 0)
			return -1;
	}
	writes->specs_count = n;
	return 0;
}

static int
take_one(struct request *request)
{
	struct writes *writes = request->writes;

	writes->specs = calloc(1, sizeof(*writes->specs));
	if (!writes->specs)
		return refuse_memory(request);
	writes->is_one = 1;
	writes->specs_count = 1;
	return take_job(request, request->json, "", writes->specs);
}

/* ---- requests with one job ---- */

/* Take the one job of a JSON request. */
static int
take_json(struct request *request)
{
	return http_headers_take(request, request->json, NULL) < 0
		       ? -1
		       : take_one(request);
}

/* Take a job whose payload is the whole body. */
static int
take_raw(struct request *request)
{
	rp_job_spec *spec;

	request->json = json_object();
	if (!request->json)
		return refuse_memory(request);
	if (http_headers_take(request, request->json, job_wants) < 0 ||
	    take_one(request) < 0)
		return -1;
	spec = request->writes->specs;
	spec->payload = request->body ? request->body : "";
	spec->payload_size = request->body_size;
	return 0;
}

static int
is_json(const struct request *request)
{
	static const char json[] = "application/json";
	const char *type = head_value(request, "Content-Type");

	return type && strncasecmp(type, json, strlen(json)) == 0 &&
	       (!type[strlen(json)] || strchr("; \t", type[strlen(json)]));
}

/* ---- the route ---- */

char *
enqueue_text(const struct writes *writes)
{
	json_t *list = json_array(), *object;
	char *text;

	for (size_t i = 0; i < writes->specs_count; i++)
		json_array_append_new(
			list,
			json_pack("{s:I, s:s}", "id",
				  (json_int_t)writes->added[i].id, "outcome",
				  added_words[writes->added[i].outcome]));
	object = writes->is_one ? json_incref(json_array_get(list, 0))
				: json_pack("{s:O}", "jobs", list);
	text = object ? json_dumps(object, JSON_COMPACT) : NULL;
	json_decref(object);
	json_decref(list);
	return text;
}

/* Returns how many jobs were added or replaced. */
static int64_t
count_enqueued(const struct writes *writes)
{
	int64_t n = 0;

	for (size_t i = 0; i < writes->specs_count; i++)
		n += writes->added[i].outcome != RP_EXISTED;
	return n;
}

static void
enqueue_finish(struct request *request)
{
	struct writes *writes = request->writes;
	char *text = writes->stored ? writes->stored : enqueue_text(writes);

	if (writes->is_other) {
		refuse_status(request, 422, "idempotency-key",
			      "the idempotency key was used for another "
			      "request");
		return;
	}
	if (!writes->stored)
		atomic_fetch_add(&request->server->metrics.jobs[MET_ENQUEUED],
				 count_enqueued(writes));
	writes->stored = NULL;
	answer_text(request, 201, "application/json", text);
}

/* ---- idempotency keys ---- */

/* Returns the members of the request as text, without the headers of a trace,
 * because a client that traces its requests gives new ones to each attempt. */
static char *
members_text(const struct request *request)
{
	json_t *members = json_copy(request->json);
	json_t *headers = json_copy(json_object_get(members, "headers"));
	char *text;

	json_object_del(headers, "traceparent");
	json_object_del(headers, "tracestate");
	if (json_object_size(headers))
		json_object_set(members, "headers", headers);
	else
		json_object_del(members, "headers");
	text = json_dumps(members, JSON_COMPACT | JSON_SORT_KEYS);
	json_decref(headers);
	json_decref(members);
	return text;
}

/* Read the request's idempotency key, if it has one. A key belongs to one queue
 * and one token. Two requests with the same key count as one request if their
 * members and their bodies are equal. */
static int
take_key(struct request *request)
{
	const char *key = head_value(request, "Idempotency-Key");
	struct writes *writes = request->writes;
	unsigned char hash[HASH_SIZE];
	char *members, *text;
	int n;

	if (!key)
		return 0;
	if (!*key || strlen(key) > RP_MOST_KEY)
		return refuse(request, RP_EINVAL, "Idempotency-Key",
			      "expected 1 to %d bytes", RP_MOST_KEY);
	n = asprintf(&text, "%s\n%s\n%s",
		     request->token ? request->token->key : "", writes->queue,
		     key);
	if (n < 0)
		return refuse_memory(request);
	hash_of(text, (size_t)n, hash);
	hex_of(hash, HASH_SIZE, writes->answer_name);
	free(text);
	members = members_text(request);
	n = members ? asprintf(&text, "%s\n%zu\n", members, request->body_size)
		    : -1;
	free(members);
	if (n < 0)
		return refuse_memory(request);
	hash_two(text, (size_t)n, request->body, request->body_size,
		 writes->hash);
	free(text);
	return 0;
}

int
enqueue_prepare(struct request *request)
{
	struct writes *writes = writes_new(request);
	json_t *jobs;
	int r;

	if (!writes || nothing_prepare(request) < 0)
		return -1;
	writes->queue = request->segments[2];
	writes->finish = enqueue_finish;
	if (!is_json(request)) {
		r = take_raw(request);
	} else {
		if (body_parse(request) < 0)
			return -1;
		if (json_is_null(json_object_get(request->json, "jobs")))
			json_object_del(request->json, "jobs");
		jobs = json_object_get(request->json, "jobs");
		if (jobs && json_object_size(request->json) > 1)
			return refuse(
				request, RP_EINVAL, "jobs",
				"jobs must be the only field of the object");
		r = jobs ? take_jobs(request, jobs) : take_json(request);
	}
	if (r < 0)
		return -1;
	writes->added = calloc(writes->specs_count, sizeof(*writes->added));
	return writes->added ? take_key(request) : refuse_memory(request);
}
