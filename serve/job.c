/*
 * job.c - requests about one job: its fields, its payload, why it does not run,
 * how it ended, and changes to it.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "fields.h"

#include <stdlib.h>
#include <string.h>

#include "change.h"
#include "handlers.h"
#include "jobs.h"

/* The JSON of a job has at most this many bytes of its payload. The path
 * .../payload returns the whole payload. */
#define MOST_SHOWN 65536

/* ---- as JSON ---- */

/* Returns whether a byte is inside a character of UTF-8. */
static int
is_inside(char byte)
{
	return ((unsigned char)byte & 0xc0) == 0x80;
}

/* Returns the size of a payload after it is shortened to at most `most` bytes.
 * No character is cut in two. A character has at most 3 bytes after its first.
 * So if there are more, the payload is not UTF-8, and can be cut anywhere. */
static size_t
cut(const char *payload, size_t size, size_t most)
{
	size_t end = most;

	if (size <= most)
		return size;
	for (int i = 0; i < 3 && end && is_inside(payload[end]); i++)
		end--;
	return is_inside(payload[end]) ? most : end;
}

json_t *
job_json(const struct request *request, const rp_job *job, size_t most)
{
	rp_job shown = *job;
	json_t *object;

	shown.payload_size =
		cut(job->payload ? job->payload : "", job->payload_size, most);
	object = json_job(&shown);
	json_object_set_new(object, "payload_size",
			    json_integer((json_int_t)job->payload_size));
	if (shown.payload_size < job->payload_size)
		json_object_set_new(object, "payload_cut", json_true());
	if (request->server->options->hide_payloads) {
		json_object_del(object, "payload");
		json_object_del(object, "payload_base64");
		json_object_del(object, "headers");
	}
	return object;
}

/* ---- reading a job ---- */

/* Answer that no job has this id. The library's error also tells whether there
 * ever was such a job. A client with a token does not get this error, because
 * the token may not allow it to read the queue of that job. */
static int
no_job(struct request *request, const rp_error *error)
{
	if (error && !request->token)
		return refuse_error(request, RP_ENOENT, error);
	return refuse(request, RP_ENOENT, NULL, "no job has the id %lld",
		      (long long)request->id);
}

/* Read the job that the path names, if the token allows it. Returns 0, or -1
 * after refusing the request. */
static int
read_job(struct request *request, rp_conn *conn, enum may what, rp_batch **ret)
{
	int r = rp_job_get(conn, request->id, ret);

	if (r == RP_ENOENT)
		return no_job(request, rp_last_error(conn));
	if (r < 0)
		return refuse_error(request, r, rp_last_error(conn));
	if (may(request, what, rp_batch_at(*ret, 0)->queue))
		return 0;
	if (may(request, MAY_READ, rp_batch_at(*ret, 0)->queue)) {
		rp_batch_free(*ret);
		return refuse_scope(request);
	}
	rp_batch_free(*ret);
	return no_job(request, NULL);
}

static int
take_id(struct request *request)
{
	int64_t id;

	if (parse_id(request->segments[2], &id) < 0)
		return refuse(request, RP_EINVAL, "id",
			      "expected the id of a job");
	request->id = id;
	return 0;
}

int
job_prepare(struct request *request)
{
	return nothing_prepare(request) < 0 ? -1 : take_id(request);
}

void
job_run(struct request *request, rp_conn *conn)
{
	const rp_job *job;
	json_t *object;
	rp_batch *batch;

	if (read_job(request, conn, MAY_READ, &batch) < 0)
		return;
	job = rp_batch_at(batch, 0);
	object = job_json(request, job, MOST_SHOWN);
	if (!request->server->options->hide_payloads)
		json_put_result(&object, job);
	json_object_set_new(object, "failures", json_failures(job));
	answer_json(request, 200, object);
	rp_batch_free(batch);
}

void
job_payload_run(struct request *request, rp_conn *conn)
{
	const rp_job *job;
	rp_batch *batch;
	char *bytes;

	if (request->server->options->hide_payloads) {
		refuse_status(request, 403, "hidden",
			      "this server was started with --hide-payloads");
		return;
	}
	if (read_job(request, conn, MAY_READ, &batch) < 0)
		return;
	job = rp_batch_at(batch, 0);
	bytes = malloc(job->payload_size + 1);
	if (bytes)
		memcpy(bytes, job->payload ? job->payload : "",
		       job->payload_size);
	answer_bytes(request, 200, "application/octet-stream", bytes,
		     job->payload_size);
	request->answer.policy = "sandbox; default-src 'none'";
	rp_batch_free(batch);
}

void
job_why_run(struct request *request, rp_conn *conn)
{
	rp_batch *batch;
	rp_why *why;
	int r;

	if (read_job(request, conn, MAY_READ, &batch) < 0)
		return;
	rp_batch_free(batch);
	r = rp_why_get(conn, request->id, &why);
	if (r < 0) {
		refuse_error(request, r, rp_last_error(conn));
		return;
	}
	answer_json(request, 200, json_why(why));
	rp_why_free(why);
}

/* ---- how a job ended ---- */

int
job_outcome_prepare(struct request *request)
{
	static const char *const names[] = { "wait", NULL };
	const char *wait = parameter(request, "wait");

	if (check_parameters(request, names) < 0 || take_id(request) < 0)
		return -1;
	if (wait && (rp_duration(wait, &request->wait_ms) < 0 ||
		     request->wait_ms > MOST_WAIT_MS))
		return refuse(request, RP_EINVAL, "wait",
			      "expected a duration of at most 60s");
	request->until_ms = now_ms() + request->wait_ms;
	return 0;
}

static json_t *
outcome_json(const struct request *request, const rp_outcome *outcome,
	     const rp_job *job)
{
	json_t *object = json_pack("{s:I, s:b}", "id", (json_int_t)outcome->id,
				   "ended", outcome->state != 0);

	if (outcome->state || job)
		json_object_set_new(
			object, "state",
			json_text(rp_state_text(outcome->state ? outcome->state
							       : job->state)));
	json_object_set_new(object, "kept", json_boolean(outcome->kept));
	if (job && outcome->kept) {
		if (!request->server->options->hide_payloads)
			json_put_result(&object, job);
		json_object_set_new(object, "last_error",
				    json_text(job->last_error));
	}
	return object;
}

/* Read how the job ended. If the job is live or kept, read the job, too. If the
 * job is deleted between these two calls, try once more. If it ends between
 * them, the job itself tells how. */
static int
read_outcome(struct request *request, rp_conn *conn, rp_outcome *outcome,
	     rp_batch **ret)
{
	int r = 0;

	for (int tries = 0; tries < 2; tries++) {
		r = rp_job_wait(conn, &request->id, 1, RP_WAIT_ALL, 0, -1,
				outcome);
		if (r < 0 || (outcome->state && !outcome->kept))
			return r;
		r = rp_job_get(conn, request->id, ret);
		if (r != RP_ENOENT)
			break;
	}
	if (r >= 0 && IN(rp_batch_at(*ret, 0)->state) & KEPT) {
		outcome->state = rp_batch_at(*ret, 0)->state;
		outcome->kept = 1;
	}
	return r;
}

/* If the job is not kept, its queue is not known any more. Then a token may
 * read the outcome only if it may read all queues, or if it was allowed to read
 * the job before the request waited for it. */
static int
may_read_outcome(const struct request *request, const rp_job *job)
{
	if (job)
		return may(request, MAY_READ, job->queue);
	return request->may_read_job || may(request, MAY_READ, NULL);
}

/* Answer how the job ended. Only a call that waited for the job knows that it
 * was cancelled because its queue was dropped. */
void
job_outcome_run(struct request *request, rp_conn *conn)
{
	rp_outcome outcome;
	rp_batch *batch = NULL;
	int r = read_outcome(request, conn, &outcome, &batch);
	const rp_job *job = batch ? rp_batch_at(batch, 0) : NULL;

	if (r == RP_ENOENT)
		no_job(request, rp_last_error(conn));
	else if (r < 0)
		refuse_error(request, r, rp_last_error(conn));
	else if (!may_read_outcome(request, job))
		no_job(request, NULL);
	else if (!outcome.state && now_ms() < request->until_ms &&
		 !request->server->drains) {
		request->may_read_job = 1;
		request->stage = STAGE_OUTCOME;
	} else {
		if (outcome.state && !outcome.kept && request->ended_state)
			outcome.state = request->ended_state;
		answer_json(request, 200, outcome_json(request, &outcome, job));
	}
	rp_batch_free(batch);
}

/* ---- changes ---- */

static int
dry_run_prepare(struct request *request)
{
	static const char *const names[] = { "dry_run", NULL };

	return check_parameters(request, names) < 0 || take_id(request) < 0 ||
			       body_parse_optional(request) < 0
		       ? -1
		       : dry_run_of(request);
}

int
job_cancel_prepare(struct request *request)
{
	return dry_run_prepare(request) < 0 ? -1 : no_members(request);
}

/* Refuse a change into a queue that does not exist. Returns 0 or -1. */
static int
check_queue(struct request *request, rp_conn *conn, const rp_change *change)
{
	rp_queues *queues;
	int r;

	if (!change || !change->queue)
		return 0;
	r = rp_queue_list(conn, change->queue, &queues);
	if (r < 0)
		return refuse_error(request, r, rp_last_error(conn));
	rp_queues_free(queues);
	return 0;
}

/* Answer a dry run: what would happen to the job. */
static void
try_one(struct request *request, rp_conn *conn, const struct act *act,
	const rp_change *change, const rp_job *job)
{
	int fits = (act->allowed & IN(job->state)) != 0;
	json_t *examples;

	if (fits && check_queue(request, conn, change) < 0)
		return;
	examples = json_array();
	if (fits)
		json_array_append_new(examples,
				      job_json(request, job, RP_LIST_PAYLOAD));
	answer_json(
		request, 200,
		json_pack("{s:i, s:o}", "jobs", fits, "examples", examples));
}

static void
change_one(struct request *request, rp_conn *conn, const struct act *act,
	   const rp_change *change)
{
	rp_batch *batch;
	int r;

	if (read_job(request, conn, MAY_ADMIN, &batch) < 0)
		return;
	if (request->is_dry) {
		try_one(request, conn, act, change, rp_batch_at(batch, 0));
		rp_batch_free(batch);
		return;
	}
	rp_batch_free(batch);
	r = act->one ? act->one(conn, request->id, NULL)
		     : rp_job_change(conn, request->id, change);
	if (r == RP_EGONE)
		refuse(request, r, NULL, "%s: only %s",
		       rp_last_error(conn)->message, act->which);
	else if (r < 0)
		refuse_error(request, r, rp_last_error(conn));
	else
		answer_json(request, 200,
			    json_pack("{s:I, s:s}", "id",
				      (json_int_t)request->id, "result",
				      act->event));
}

void
job_cancel_run(struct request *request, rp_conn *conn)
{
	change_one(request, conn, &cancels, NULL);
}

void
job_retry_run(struct request *request, rp_conn *conn)
{
	change_one(request, conn, &retries, NULL);
}

struct wanted_change {
	const char *queue;
	int64_t priority, delay_ms, run_at, max_attempts;
};

static int
take_change(struct request *request, struct wanted_change *w)
{
	static const struct want wants[] = {
		WANT("queue", NAME, struct wanted_change, queue, 1,
		     RP_MOST_NAME),
		WANT("priority", COUNT, struct wanted_change, priority, 0,
		     RP_MOST_PRIORITY),
		WANT("delay", DURATION, struct wanted_change, delay_ms, 0,
		     RP_MOST_MS),
		WANT("run_at", TIME, struct wanted_change, run_at, 0,
		     RP_MOST_TIME),
		WANT("max_attempts", COUNT, struct wanted_change, max_attempts,
		     1, RP_MOST_ATTEMPTS),
		WANTS_END,
	};

	*w = (struct wanted_change){ NULL, -1, -1, -1, -1 };
	return fields_read(request, request->json, "", wants, w);
}

int
job_change_prepare(struct request *request)
{
	struct wanted_change w;

	if (dry_run_prepare(request) < 0 || take_change(request, &w) < 0)
		return -1;
	if (w.delay_ms >= 0 && w.run_at >= 0)
		return refuse_member(request, "", "run_at",
				     "give either delay or run_at");
	if (w.queue)
		return guard_queue(request, MAY_ADMIN, w.queue);
	if (w.priority < 0 && w.delay_ms < 0 && w.run_at < 0 &&
	    w.max_attempts < 0)
		return refuse(request, RP_EINVAL, NULL,
			      "nothing to change: give queue, priority, delay, "
			      "run_at or max_attempts");
	return 0;
}

void
job_change_run(struct request *request, rp_conn *conn)
{
	rp_change change = RP_CHANGE_INIT;
	struct wanted_change w;

	if (take_change(request, &w) < 0)
		return;
	change.queue = w.queue;
	change.priority = (int)w.priority;
	change.delay_ms = w.delay_ms;
	change.run_at = w.run_at;
	change.max_attempts = w.max_attempts;
	change_one(request, conn, &changes, &change);
}
