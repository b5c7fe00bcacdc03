/*
 * json.c - print jobs, queues and workers as JSON, one object a line.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "cmd.h"
#include "job_fields.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "schedule.h"

void
format_time(char *to, size_t room, int64_t ms)
{
	time_t seconds = (time_t)(ms / 1000);
	struct tm tm;
	char text[40];

	gmtime_r(&seconds, &tm);
	strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &tm);
	snprintf(to, room, "%s.%03dZ", text, (int)(ms % 1000));
}

json_t *
json_time(int64_t ms)
{
	char text[48];

	if (ms == 0)
		return json_null();
	format_time(text, sizeof(text), ms);
	return json_string(text);
}

json_t *
json_text(const char *text)
{
	return text ? json_string(text) : json_null();
}

static json_t *
json_base64(const void *data, size_t size)
{
	char *text = encode_base64(data, size);
	json_t *json = text ? json_string(text) : NULL;

	free(text);
	return json;
}

/* Returns headers as a JSON object, or as a string if jansson cannot represent
 * them. */
static json_t *
json_headers(const char *text)
{
	json_t *object = text ? json_loads(text, JSON_ALLOW_NUL, NULL) : NULL;

	return object ? object : json_text(text);
}

/* ---- objects that are made from tables of fields ---- */

/* Add a value to the object. If memory runs out, free the object and set it to
 * NULL. Later calls then do nothing. */
static void
put(json_t **object, const char *name, json_t *value)
{
	if (json_object_set_new(*object, name, value) == 0)
		return;
	json_decref(*object);
	*object = NULL;
}

json_t *
json_members(const struct member *members, size_t n)
{
	json_t *object = json_object();

	for (size_t i = 0; i < n; i++)
		put(&object, members[i].name, members[i].value);
	return object;
}

static json_t *
or_null(int64_t n)
{
	return n < 0 ? json_null() : json_integer(n);
}

static int64_t
number_at(const void *at)
{
	return *(const int64_t *)at;
}

static const char *
text_at(const void *at)
{
	return *(const char *const *)at;
}

static json_t *
json_field(enum field_type type, const void *at)
{
	switch (type) {
	case FIELD_number:
	case FIELD_claim:
		return json_integer(number_at(at));
	case FIELD_number_or_none:
		return or_null(number_at(at));
	case FIELD_per_10s:
		return json_real((double)number_at(at) / 10);
	case FIELD_small:
		return json_integer(*(const int *)at);
	case FIELD_flag:
	case FIELD_flag_if_set:
		return json_boolean(*(const int *)at);
	case FIELD_state:
		return json_text(rp_state_text(*(const int *)at));
	case FIELD_time:
	case FIELD_time_if_set:
		return json_time(number_at(at));
	case FIELD_span:
	case FIELD_limit:
		return number_at(at) ? json_integer(number_at(at))
				     : json_null();
	case FIELD_json:
	case FIELD_list:
		return json_headers(text_at(at));
	default:
		return json_text(text_at(at));
	}
}

/* Some fields are left out if they say nothing. */
static int
is_left_out(enum field_type type, const void *at)
{
	return (type == FIELD_flag_if_set && !*(const int *)at) ||
	       (type == FIELD_time_if_set && !number_at(at));
}

static json_t *
json_fields(const struct field *fields, const void *of)
{
	json_t *object = json_object();

	for (; fields->name; fields++) {
		const void *at = (const char *)of + fields->offset;

		if (!is_left_out(fields->type, at))
			put(&object, fields->name,
			    json_field(fields->type, at));
	}
	return object;
}

/* ---- jobs ---- */

#define JOB_FIELD(field, FIELD, type)                                          \
	{ #field, FIELD_##type, offsetof(rp_job, field) },
const struct field job_fields[] = {
	/* clang-format off */
	RP_JOB_FIELDS(JOB_FIELD)
	FIELDS_END
	/* clang-format on */
};
#undef JOB_FIELD

/* Add bytes to the object: as text under `name` if they are text, and if not,
 * in base64 under `name`_base64. */
static void
put_bytes(json_t **object, const char *name, const void *bytes, size_t size)
{
	json_t *text = json_stringn(bytes, size);
	char other[32];

	snprintf(other, sizeof(other), "%s_base64", name);
	if (text)
		put(object, name, text);
	else
		put(object, other, json_base64(bytes, size));
}

void
json_put_result(json_t **object, const rp_job *job)
{
	if (job->result)
		put_bytes(object, "result", job->result, job->result_size);
	else
		put(object, "result", json_null());
}

json_t *
json_claim(int64_t id, int64_t claim_no)
{
	char text[48];

	snprintf(text, sizeof(text), "%lld:%lld", (long long)id,
		 (long long)claim_no);
	return json_string(text);
}

/* Add the job's claim number, and its claim as ID:CLAIMNO, the form that the
 * commands `complete`, `fail`, `release` and `extend` accept. Both are null
 * unless the job is running. */
static void
put_claim(json_t **object, const rp_job *job)
{
	int runs = job->state == RP_STATE_RUNNING;

	put(object, "claim",
	    runs ? json_claim(job->id, job->claim_no) : json_null());
	put(object, "claim_no",
	    runs ? json_integer(job->claim_no) : json_null());
}

/* Returns a job as JSON, without its result and its failed attempts, because
 * few callers need these: see json_put_result() and json_failures(). */
json_t *
json_job(const rp_job *job)
{
	json_t *object = json_object();

	for (const struct field *f = job_fields; f->name; f++) {
		const void *at = (const char *)job + f->offset;

		if (f->type == FIELD_payload)
			put_bytes(&object, "payload", job->payload,
				  job->payload_size);
		else if (f->type == FIELD_claim)
			put_claim(&object, job);
		else if (f->type != FIELD_failures && f->type != FIELD_result)
			put(&object, f->name, json_field(f->type, at));
	}
	return object;
}

const char *const added_words[] = {
	[RP_ADDED] = "added",
	[RP_EXISTED] = "existing",
	[RP_REPLACED] = "replaced",
};

json_t *
json_added(const char *queue, const rp_added *added)
{
	const struct member members[] = {
		{ "id", json_integer(added->id) },
		{ "queue", json_text(queue) },
		{ "result", json_text(added_words[added->outcome]) },
	};

	return JSON_MEMBERS(members);
}

/* ---- queues and workers ---- */

#define FIELD(name, type, of, field)                                           \
	{                                                                      \
		name, FIELD_##type, offsetof(of, field)                        \
	}

json_t *
json_stats(const rp_queue_stats *stats)
{
	static const struct field fields[] = {
		FIELD("queue", text, rp_queue_stats, queue),
		FIELD("paused", flag, rp_queue_stats, paused),
		FIELD("pause_reason", text, rp_queue_stats, pause_reason),
		FIELD("held_until", time_if_set, rp_queue_stats, held_until),
		FIELD("scheduled", number, rp_queue_stats, scheduled),
		FIELD("scheduled_at_least", flag_if_set, rp_queue_stats,
		      scheduled_at_least),
		FIELD("ready", number, rp_queue_stats, ready),
		FIELD("ready_at_least", flag_if_set, rp_queue_stats,
		      ready_at_least),
		FIELD("blocked", number, rp_queue_stats, blocked),
		FIELD("blocked_at_least", flag_if_set, rp_queue_stats,
		      blocked_at_least),
		FIELD("running", number, rp_queue_stats, running),
		FIELD("running_at_least", flag_if_set, rp_queue_stats,
		      running_at_least),
		FIELD("done", number, rp_queue_stats, done),
		FIELD("dead", number, rp_queue_stats, dead),
		FIELD("cancelled", number, rp_queue_stats, cancelled),
		FIELD("oldest_ready_ms", number_or_none, rp_queue_stats,
		      oldest_ready_ms),
		FIELD("longest_running_ms", number_or_none, rp_queue_stats,
		      longest_running_ms),
		FIELD("workers", number, rp_queue_stats, workers),
		FIELD("done_per_s", per_10s, rp_queue_stats, done_10s),
		FIELD("failed_per_s", per_10s, rp_queue_stats, failed_10s),
		FIELD("done_total", number, rp_queue_stats, done_total),
		FIELD("failed_total", number, rp_queue_stats, failed_total),
		FIELD("dead_total", number, rp_queue_stats, dead_total),
		FIELDS_END,
	};

	return json_fields(fields, stats);
}

json_t *
json_worker(const rp_worker_info *worker)
{
	static const struct field fields[] = {
		FIELD("id", number, rp_worker_info, id),
		FIELD("name", text, rp_worker_info, name),
		FIELD("host", text, rp_worker_info, host),
		FIELD("pid", number, rp_worker_info, pid),
		FIELD("queues", json, rp_worker_info, queues),
		FIELD("started_at", time, rp_worker_info, started_at),
		FIELD("seen_at", time, rp_worker_info, seen_at),
		FIELD("silent_ms", number, rp_worker_info, silent_ms),
		FIELD("running", number, rp_worker_info, running),
		FIELD("running_at_least", flag_if_set, rp_worker_info,
		      running_at_least),
		FIELD("done", number, rp_worker_info, done),
		FIELD("failed", number, rp_worker_info, failed),
		FIELD("dead", number, rp_worker_info, dead),
		FIELD("released", number, rp_worker_info, released),
		FIELDS_END,
	};

	return json_fields(fields, worker);
}

const char *
on_failure(const rp_queue *queue)
{
	return queue->group_pass ? "pass" : "block";
}

json_t *
json_queue(const rp_queue *queue)
{
	static const struct field fields[] = {
		FIELD("queue", text, rp_queue, name),
		FIELD("paused_at", time, rp_queue, paused_at),
		FIELD("pause_reason", text, rp_queue, pause_reason),
		FIELD("max_attempts", number, rp_queue, max_attempts),
		FIELD("lease_ms", number, rp_queue, lease_ms),
		FIELD("backoff_ms", number, rp_queue, backoff_ms),
		FIELD("backoff_max_ms", number, rp_queue, backoff_max_ms),
		FIELD("priority", number, rp_queue, priority),
		FIELD("keep_done_ms", number, rp_queue, keep_done_ms),
		FIELD("keep_dead_ms", number, rp_queue, keep_dead_ms),
		FIELD("max_payload", number, rp_queue, max_payload),
		FIELD("timeout_ms", number, rp_queue, timeout_ms),
		FIELD("dead_to", text, rp_queue, dead_to),
		FIELD("limit", limit, rp_queue, run_limit),
		FIELD("group_limit", limit, rp_queue, group_limit),
		FIELD("held_until", time, rp_queue, held_until),
		FIELDS_END,
	};
	json_t *object = json_fields(fields, queue);
	char rate[48];

	format_rate(rate, sizeof(rate), queue->rate_count, queue->rate_ms);
	put(&object, "group_on_failure", json_text(on_failure(queue)));
	put(&object, "rate", json_text(queue->rate_count ? rate : NULL));
	return object;
}

json_t *
json_group(const char *queue, const rp_group *group)
{
	static const struct field fields[] = {
		FIELD("group", text, rp_group, name),
		FIELD("blocked", number, rp_group, waiting),
		FIELD("blocked_at_least", flag_if_set, rp_group,
		      waiting_at_least),
		FIELD("ready", number, rp_group, ready),
		FIELD("running", number, rp_group, running),
		FIELD("limit", limit, rp_group, limit),
		FIELD("held_until", time, rp_group, held_until),
		FIELDS_END,
	};
	json_t *object = json_fields(fields, group);

	put(&object, "queue", json_text(queue));
	return object;
}

/* ---- schedules ---- */

json_t *
json_schedule(const rp_schedule *schedule)
{
	static const struct field fields[] = {
		FIELD("name", text, rp_schedule, name),
		FIELD("queue", text, rp_schedule, queue),
		FIELD("spec", text, rp_schedule, spec),
		FIELD("zone", text, rp_schedule, zone),
		FIELD("kind", text, rp_schedule, kind),
		FIELD("headers", json, rp_schedule, headers),
		FIELD("next_at", time, rp_schedule, next_at),
		FIELD("last_at", time, rp_schedule, last_at),
		FIELD("last_state", state, rp_schedule, last_state),
		FIELD("last_error", text, rp_schedule, last_error),
		FIELD("paused_at", time, rp_schedule, paused_at),
		FIELD("created_at", time, rp_schedule, created_at),
		FIELDS_END,
	};
	json_t *object = json_fields(fields, schedule);

	put_bytes(&object, "payload",
		  schedule->payload ? schedule->payload : "",
		  schedule->payload_size);
	put(&object, "priority", or_null(schedule->priority));
	put(&object, "missed", json_text(rp__missed_words[schedule->missed]));
	put(&object, "overlap",
	    json_text(rp__overlap_words[schedule->overlap]));
	put(&object, "last_job_id",
	    or_null(schedule->last_job_id ? schedule->last_job_id : -1));
	return object;
}

int
print_json(json_t *object)
{
	char *text = object ? json_compact(object) : NULL;
	int failed = !text || puts(text) == EOF;

	if (!text)
		complain(FAILED, "out of memory");
	free(text);
	json_decref(object);
	return failed ? FAILED : 0;
}
