/*
 * json.c - jobs, queues and workers as JSON, a line each.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "cmd.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

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
base64(const unsigned char *data, size_t size)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmn"
				     "opqrstuvwxyz0123456789+/";
	char *text = malloc((size + 2) / 3 * 4 + 1), *to = text;
	json_t *json;

	if (!text)
		return NULL;
	for (size_t i = 0; i < size; i += 3) {
		unsigned b = (unsigned)data[i] << 16;

		b |= i + 1 < size ? (unsigned)data[i + 1] << 8 : 0;
		b |= i + 2 < size ? (unsigned)data[i + 2] : 0;
		*to++ = digits[b >> 18];
		*to++ = digits[b >> 12 & 63];
		*to++ = i + 1 < size ? digits[b >> 6 & 63] : '=';
		*to++ = i + 2 < size ? digits[b & 63] : '=';
	}
	json = json_stringn(text, (size_t)(to - text));
	free(text);
	return json;
}

/* Headers, or the text of them, if it is JSON that jansson does not hold. */
static json_t *
json_headers(const char *text)
{
	json_t *object = text ? json_loads(text, JSON_ALLOW_NUL, NULL) : NULL;

	return object ? object : json_text(text);
}

json_t *
json_job(const rp_job *job)
{
	int running = job->state == RP_STATE_RUNNING;
	json_t *payload = json_stringn(job->payload, job->payload_size);
	const char *payload_name = payload ? "payload" : "payload_base64";

	if (!payload)
		payload = base64(job->payload, job->payload_size);
	return json_pack(
		"{sI so so si sI sI so so so so so so so so so so so so}", "id",
		(json_int_t)job->id, "queue", json_text(job->queue), "state",
		json_text(rp_state_text(job->state)), "priority", job->priority,
		"attempt", (json_int_t)job->attempt, "max_attempts",
		(json_int_t)job->max_attempts, "claim",
		running ? json_integer(job->claim_no) : json_null(), "worker",
		json_text(job->worker), "run_at", json_time(job->run_at),
		"created_at", json_time(job->created_at), "claimed_at",
		json_time(job->claimed_at), "lease_until",
		json_time(job->lease_until), "finished_at",
		json_time(job->finished_at), "unique_key",
		json_text(job->unique_key), "kind", json_text(job->kind),
		"headers", json_headers(job->headers), payload_name, payload,
		"last_error", json_text(job->last_error));
}

static json_t *
or_null(int64_t n)
{
	return n < 0 ? json_null() : json_integer(n);
}

json_t *
json_stats(const rp_queue_stats *s)
{
	return json_pack(
		"{so so sI sI sI sI sI sI so so sI sf sf}", "queue",
		json_text(s->queue), "paused", json_boolean(s->paused),
		"scheduled", (json_int_t)s->scheduled, "ready",
		(json_int_t)s->ready, "running", (json_int_t)s->running, "done",
		(json_int_t)s->done, "dead", (json_int_t)s->dead, "cancelled",
		(json_int_t)s->cancelled, "oldest_ready_ms",
		or_null(s->oldest_ready_ms), "longest_running_ms",
		or_null(s->longest_running_ms), "workers",
		(json_int_t)s->workers, "done_per_s", (double)s->done_10s / 10,
		"failed_per_s", (double)s->failed_10s / 10);
}

json_t *
json_worker(const rp_worker_info *w)
{
	return json_pack(
		"{sI so so sI so so so sI sI sI sI sI sI}", "id",
		(json_int_t)w->id, "name", json_text(w->name), "host",
		json_text(w->host), "pid", (json_int_t)w->pid, "queues",
		json_loads(w->queues, 0, NULL), "started_at",
		json_time(w->started_at), "seen_at", json_time(w->seen_at),
		"silent_ms", (json_int_t)w->silent_ms, "running",
		(json_int_t)w->running, "done", (json_int_t)w->done, "failed",
		(json_int_t)w->failed, "dead", (json_int_t)w->dead, "released",
		(json_int_t)w->released);
}

json_t *
json_queue(const rp_queue *q)
{
	return json_pack("{so so sI sI sI sI sI sI sI sI}", "queue",
			 json_text(q->name), "paused_at",
			 json_time(q->paused_at), "max_attempts",
			 (json_int_t)q->max_attempts, "lease_ms",
			 (json_int_t)q->lease_ms, "backoff_ms",
			 (json_int_t)q->backoff_ms, "backoff_max_ms",
			 (json_int_t)q->backoff_max_ms, "priority",
			 (json_int_t)q->priority, "keep_done_ms",
			 (json_int_t)q->keep_done_ms, "keep_dead_ms",
			 (json_int_t)q->keep_dead_ms, "max_payload",
			 (json_int_t)q->max_payload);
}

int
print_json(json_t *object)
{
	int failed = !object ||
		     json_dumpf(object, stdout,
				JSON_COMPACT | JSON_REAL_PRECISION(6)) < 0 ||
		     putchar('\n') == EOF;

	if (!object)
		complain(FAILED, "out of memory");
	json_decref(object);
	return failed ? FAILED : 0;
}
