/*
 * schedules.c - requests about schedules, which do the same as the commands
 * `cron`.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "fields.h"

#include <stdlib.h>
#include <string.h>

#include "handlers.h"
#include "schedule.h"

struct wanted_schedule {
	const char *queue, *spec, *zone, *kind, *missed, *overlap;
	const char *payload_base64;
	json_t *payload, *headers;
	int64_t priority;
};

/* ---- reading ---- */

static json_t *
schedule_json(const struct request *request, const rp_schedule *schedule)
{
	json_t *object = json_schedule(schedule);

	if (request->server->options->hide_payloads) {
		json_object_del(object, "payload");
		json_object_del(object, "payload_base64");
		json_object_del(object, "headers");
	}
	return object;
}

void
schedules_run(struct request *request, rp_conn *conn)
{
	json_t *list = json_array();
	rp_schedules *all;
	int r = rp_schedule_list(conn, NULL, &all);

	if (r < 0) {
		json_decref(list);
		refuse_error(request, r, rp_last_error(conn));
		return;
	}
	for (size_t i = 0; i < rp_schedules_count(all); i++)
		if (may(request, MAY_READ, rp_schedules_at(all, i)->queue))
			json_array_append_new(
				list, schedule_json(request,
						    rp_schedules_at(all, i)));
	rp_schedules_free(all);
	answer_json(request, 200, json_pack("{s:o}", "schedules", list));
}

static int
no_schedule(struct request *request)
{
	return refuse(request, RP_ENOENT, NULL, "no schedule %.128s",
		      request->segments[2]);
}

/* Read the schedule that the path names, if the token allows it. Returns 0, or
 * -1 after refusing the request. */
static int
read_one(struct request *request, rp_conn *conn, enum may what,
	 rp_schedules **ret)
{
	int r = rp_schedule_list(conn, request->segments[2], ret);

	if (r == RP_ENOENT)
		return no_schedule(request);
	if (r < 0)
		return refuse_error(request, r, rp_last_error(conn));
	if (may(request, what, rp_schedules_at(*ret, 0)->queue))
		return 0;
	r = may(request, MAY_READ, rp_schedules_at(*ret, 0)->queue);
	rp_schedules_free(*ret);
	return r ? refuse_scope(request) : no_schedule(request);
}

static void
answer_one(struct request *request, rp_conn *conn, int status)
{
	rp_schedules *one;

	if (read_one(request, conn, MAY_READ, &one) < 0)
		return;
	answer_json(request, status,
		    schedule_json(request, rp_schedules_at(one, 0)));
	rp_schedules_free(one);
}

void
schedule_run(struct request *request, rp_conn *conn)
{
	answer_one(request, conn, 200);
}

/* ---- setting ---- */

static int
take_word(struct request *request, const char *word, const char *field,
	  const char *const *words, int *ret)
{
	*ret = word ? rp__word_index(words, word) : 0;
	if (*ret < 0)
		return refuse(request, RP_EINVAL, field,
			      words == rp__missed_words
				      ? "expected once, all or skip"
				      : "expected allow or skip");
	return 0;
}

/* Take the payload and the headers. memory[0] and memory[1] get what they point
 * to. */
static int
take_content(struct request *request, const struct wanted_schedule *w,
	     rp_schedule *s, char **memory)
{
	struct bytes payload;

	if (bytes_read(request, "", "payload", w->payload, w->payload_base64,
		       &payload) < 0)
		return -1;
	memory[0] = payload.memory;
	s->payload = payload.data;
	s->payload_size = payload.size;
	if (headers_read(request, "", w->headers, payload.is_json, &memory[1]) <
	    0)
		return -1;
	s->headers = memory[1];
	return 0;
}

/* Read the schedule from the body. The caller frees memory[0] and memory[1],
 * to which the schedule points. */
static int
take_schedule(struct request *request, rp_schedule *s, char **memory)
{
	static const struct want wants[] = {
		WANT("queue", NAME, struct wanted_schedule, queue, 1,
		     RP_MOST_NAME),
		WANT("spec", TEXT, struct wanted_schedule, spec, 1,
		     RP_MOST_SPEC),
		WANT("zone", TEXT, struct wanted_schedule, zone, 1,
		     RP_MOST_ZONE),
		WANT("kind", NAME, struct wanted_schedule, kind, 1,
		     RP_MOST_NAME),
		WANT("payload", VALUE, struct wanted_schedule, payload, 0, 0),
		WANT("payload_base64", TEXT, struct wanted_schedule,
		     payload_base64, 0, INT32_MAX),
		WANT("headers", JSON, struct wanted_schedule, headers, 0, 0),
		WANT("priority", COUNT, struct wanted_schedule, priority, 0,
		     RP_MOST_PRIORITY),
		WANT("missed", TEXT, struct wanted_schedule, missed, 1, 16),
		WANT("overlap", TEXT, struct wanted_schedule, overlap, 1, 16),
		WANTS_END,
	};
	struct wanted_schedule w = { .priority = -1 };

	if (fields_read(request, request->json, "", wants, &w) < 0)
		return -1;
	if (!w.queue || !w.spec)
		return refuse(request, RP_EINVAL, w.queue ? "spec" : "queue",
			      "missing");
	s->name = request->segments[2];
	s->queue = w.queue;
	s->spec = w.spec;
	s->zone = w.zone;
	s->kind = w.kind;
	s->priority = (int)w.priority;
	if (take_word(request, w.missed, "missed", rp__missed_words,
		      &s->missed) < 0 ||
	    take_word(request, w.overlap, "overlap", rp__overlap_words,
		      &s->overlap) < 0)
		return -1;
	return take_content(request, &w, s, memory);
}

int
schedule_set_prepare(struct request *request)
{
	rp_schedule schedule = RP_SCHEDULE_INIT;
	char *memory[2] = { NULL, NULL };
	int r = nothing_prepare(request);

	if (r == 0)
		r = body_parse(request);
	if (r == 0)
		r = take_schedule(request, &schedule, memory);
	if (r == 0)
		r = guard_queue(request, MAY_ADMIN, schedule.queue);
	free(memory[0]);
	free(memory[1]);
	return r;
}

/* Check the spec and the zone here, because the error of rp_schedule_set() does
 * not say which of the two is wrong. */
static int
check_times(struct request *request, const rp_schedule *s)
{
	const char *field = "spec";
	rp_fire fire = RP_FIRE_INIT;
	rp_error error;
	int r = rp_schedule_next(s->spec, NULL, 0, 0, &fire, &error);

	if (r >= 0) {
		field = "zone";
		r = rp_schedule_next(s->spec, s->zone, 0, 0, &fire, &error);
	}
	return r < 0 ? refuse(request, r, field, "%s", error.message) : 0;
}

/* Commit a change whose result is r, or roll it back. Returns 0, or -1 after
 * refusing the request. */
static int
end_change(struct request *request, rp_conn *conn, int r)
{
	if (r == 0)
		r = rp_commit(conn);
	if (r == 0)
		return 0;
	refuse_error(request, r, rp_last_error(conn));
	rp_rollback(conn);
	return -1;
}

/* Begin a transaction, and lock the schedule that the path names. So nobody can
 * give the schedule another queue between the check of the token's right and
 * the change. Returns 1, 0 if there is no such schedule, or -1 after refusing
 * the request. */
static int
begin_change(struct request *request, rp_conn *conn)
{
	int r = rp_begin(conn);

	if (r < 0)
		return refuse_error(request, r, rp_last_error(conn));
	r = rp__schedule_lock(conn, request->segments[2]);
	return r < 0 ? end_change(request, conn, r) : r;
}

/* Check that the token may replace the schedule, which is locked. Returns 0, or
 * -1 after refusing the request. */
static int
check_old(struct request *request, rp_conn *conn)
{
	rp_schedules *old;
	int r = rp_schedule_list(conn, request->segments[2], &old);

	if (r < 0)
		return refuse_error(request, r, rp_last_error(conn));
	r = guard_queue(request, MAY_ADMIN, rp_schedules_at(old, 0)->queue);
	rp_schedules_free(old);
	return r;
}

/* Add or replace the schedule. If another client adds a schedule of this name
 * in the meantime, try again, because the token may not be allowed to replace
 * that schedule. */
static void
store(struct request *request, rp_conn *conn, const rp_schedule *schedule)
{
	int has_old, r;

	do {
		has_old = begin_change(request, conn);
		if (has_old < 0)
			return;
		if (has_old && check_old(request, conn) < 0) {
			rp_rollback(conn);
			return;
		}
		r = rp_schedule_set(conn, schedule, has_old);
		if (r == RP_ETAKEN)
			rp_rollback(conn);
	} while (r == RP_ETAKEN);
	if (end_change(request, conn, r) == 0)
		answer_one(request, conn, has_old ? 200 : 201);
}

void
schedule_set_run(struct request *request, rp_conn *conn)
{
	rp_schedule schedule = RP_SCHEDULE_INIT;
	char *memory[2] = { NULL, NULL };

	if (take_schedule(request, &schedule, memory) == 0 &&
	    check_times(request, &schedule) == 0)
		store(request, conn, &schedule);
	free(memory[0]);
	free(memory[1]);
}

/* ---- changes ---- */

/* Begin a transaction, in which the schedule is locked, and check that the
 * token may change the schedule. Returns 0, or -1 after refusing the request.
 */
static int
begin_allowed(struct request *request, rp_conn *conn)
{
	rp_schedules *one;

	if (begin_change(request, conn) < 0)
		return -1;
	if (read_one(request, conn, MAY_ADMIN, &one) < 0) {
		rp_rollback(conn);
		return -1;
	}
	rp_schedules_free(one);
	return 0;
}

static void
change(struct request *request, rp_conn *conn,
       int (*call)(rp_conn *, const char *), int is_gone)
{
	const char *name = request->segments[2];

	if (begin_allowed(request, conn) < 0 ||
	    end_change(request, conn, call(conn, name)) < 0)
		return;
	if (is_gone)
		answer_json(request, 200,
			    json_pack("{s:s, s:s}", "name", name, "result",
				      "removed"));
	else
		answer_one(request, conn, 200);
}

void
schedule_remove_run(struct request *request, rp_conn *conn)
{
	change(request, conn, rp_schedule_remove, 1);
}

void
schedule_pause_run(struct request *request, rp_conn *conn)
{
	change(request, conn, rp_schedule_pause, 0);
}

void
schedule_resume_run(struct request *request, rp_conn *conn)
{
	change(request, conn, rp_schedule_resume, 0);
}

void
schedule_fire_run(struct request *request, rp_conn *conn)
{
	rp_added added;
	int r;

	if (begin_allowed(request, conn) < 0)
		return;
	r = rp_schedule_run(conn, request->segments[2], &added);
	if (end_change(request, conn, r) < 0)
		return;
	answer_json(request, 201,
		    json_pack("{s:I, s:s}", "id", (json_int_t)added.id,
			      "outcome", added_words[added.outcome]));
}
