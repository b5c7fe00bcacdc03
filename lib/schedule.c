/*
 * schedule.c - schedules: add, list, pause, resume and remove them, and enqueue
 * a job of a schedule immediately.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "schedule.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

const char *const rp__missed_words[] = { "once", "all", "skip", NULL };
const char *const rp__overlap_words[] = { "allow", "skip", NULL };

int
rp__word_index(const char *const *words, const char *word)
{
	for (int i = 0; words[i]; i++)
		if (strcmp(words[i], word) == 0)
			return i;
	return -1;
}

int
rp__schedule_check(const rp_schedule *s, rp_error *error)
{
	int r = rp__check_name(error, "the schedule's name", s->name,
			       RP_MOST_NAME);

	if (r == 0)
		r = rp__check_queue(error, s->queue);
	if (r == 0 && s->zone)
		r = rp__check_name(error, "the time zone", s->zone,
				   RP_MOST_ZONE);
	if (r == 0 && s->kind)
		r = rp__check_name(error, "the kind", s->kind, RP_MOST_NAME);
	if (r < 0)
		return r;
	if (!s->payload && s->payload_size)
		return rp__fail(error, RP_EINVAL, "the payload is NULL");
	if (s->payload_size > RP_MOST_PAYLOAD)
		return rp__fail(error, RP_EFBIG,
				"payload too large: %zu bytes, no queue takes "
				"more than %d",
				s->payload_size, RP_MOST_PAYLOAD);
	if (s->priority < -1 || s->priority > RP_MOST_PRIORITY)
		return rp__fail(error, RP_EINVAL,
				"priority %d is not within 0..%d", s->priority,
				RP_MOST_PRIORITY);
	if (s->missed < RP_MISSED_ONCE || s->missed > RP_MISSED_SKIP ||
	    s->overlap < RP_OVERLAP_ALLOW || s->overlap > RP_OVERLAP_SKIP)
		return rp__fail(error, RP_EINVAL,
				"missed is not one of RP_MISSED_*, or overlap "
				"is not one of RP_OVERLAP_*");
	return 0;
}

/* Set *ret to the first instant (time of a fire) after `after`, or to 0 if the
 * schedule never fires after that time. */
static int
next_of(rp_conn *conn, const rp_schedule *s, int64_t anchor, int64_t after,
	int64_t *ret)
{
	rp_fire fire = RP_FIRE_INIT;
	int r = rp_schedule_next(s->spec, s->zone, anchor, after, &fire,
				 &conn->error);

	if (r >= 0)
		*ret = r ? fire.at_ms : 0;
	return r < 0 ? r : 0;
}

static int
is_same(const char *a, const char *b)
{
	return strcmp(a ? a : "UTC", b ? b : "UTC") == 0;
}

/* Check that the headers are UTF-8, and let the database check that they are a
 * JSON object. */
static int
check_headers(rp_conn *conn, const char *headers)
{
	const struct rp_value p[BAD_HEADERS_PARAMS] = {
		[BAD_HEADERS_HEADERS] = rp__text(headers),
	};
	int64_t bad = 0;
	int r;

	if (headers && !rp__utf8(headers, strlen(headers)))
		return rp__fail(&conn->error, RP_EINVAL,
				"the headers are not UTF-8");
	r = headers ? rp__run(conn, RP_V_BAD_HEADERS, p, 1, rp__count, &bad)
		    : 0;
	return r == 0 && bad ? rp__fail(&conn->error, RP_EINVAL,
					"the headers are not a JSON object")
			     : r;
}

void
rp__schedule_sets(const struct rp_spec *spec, char to[RP_SETS_SIZE])
{
	snprintf(to, RP_SETS_SIZE,
		 "{%" PRIu64 ",%" PRIu32 ",%" PRIu32 ",%" PRIu32 ",%" PRIu32
		 ",%d,%d,%" PRId64 "}",
		 spec->minutes, spec->hours, spec->days, spec->months,
		 spec->weekdays, spec->either_day != 0, spec->both_times != 0,
		 spec->every_ms);
}

/* Write the schedule. `old` is the stored schedule of the same name, or NULL if
 * there is no such schedule. Sets *ret_next to the next instant. */
static int
store(rp_conn *conn, const rp_schedule *s, const rp_schedule *old, int replace,
      int64_t *ret_next)
{
	int same = old && is_same(old->spec, s->spec) &&
		   is_same(old->zone, s->zone);
	struct rp_spec spec = { 0 };
	int64_t now = 0, next = 0, anchor, id = 0;
	char sets[RP_SETS_SIZE];
	int r = rp__spec_parse(s->spec, &spec, &conn->error);

	if (r == 0)
		r = rp__run(conn, RP_V_NOW, NULL, 1, rp__first_int, &now);
	anchor = same ? old->anchor_at : now;
	if (r == 0)
		r = next_of(conn, s, anchor, now, &next);
	if (r < 0)
		return r;
	if (!next)
		return rp__fail(&conn->error, RP_EINVAL,
				"schedule \"%.60s\": never fires in %s",
				s->spec, s->zone ? s->zone : "UTC");
	r = rp__queue_create(conn, s->queue, NULL);
	if (r < 0)
		return r;
	next = same && old->next_at ? old->next_at : next;
	rp__schedule_sets(&spec, sets);
	r = rp__run(conn, RP_V_SCHEDULE_SET,
		    (const struct rp_value[SCHEDULE_SET_PARAMS]){
			    [SCHEDULE_SET_NAME] = rp__text(s->name),
			    [SCHEDULE_SET_QUEUE] = rp__text(s->queue),
			    [SCHEDULE_SET_SPEC] = rp__text(s->spec),
			    [SCHEDULE_SET_ZONE] =
				    rp__text(s->zone ? s->zone : "UTC"),
			    [SCHEDULE_SET_CONTENT] =
				    rp__blob(s->payload, s->payload_size),
			    [SCHEDULE_SET_KIND] = rp__text(s->kind),
			    [SCHEDULE_SET_HEADERS] = rp__text(s->headers),
			    [SCHEDULE_SET_PRIORITY] = rp__int_or_null(
				    s->priority, s->priority < 0),
			    [SCHEDULE_SET_MISSED] = rp__int(s->missed),
			    [SCHEDULE_SET_OVERLAP] = rp__int(s->overlap),
			    [SCHEDULE_SET_ANCHOR] = rp__int(anchor),
			    [SCHEDULE_SET_NEXT_AT] = rp__int(next),
			    [SCHEDULE_SET_SETS] = rp__text(sets),
			    [SCHEDULE_SET_REPLACE] = rp__int(replace != 0),
		    },
		    1, rp__first_int, &id);
	if (r == 0 && !id)
		return rp__fail(&conn->error, RP_ETAKEN,
				"there is a schedule named %s", s->name);
	if (r == 0)
		*ret_next = next;
	return r;
}

int
rp__schedule_set(rp_conn *conn, const rp_schedule *schedule, int replace,
		 int64_t *ret_next)
{
	struct rp_schedules old = { 0 };
	rp_schedule s = RP_SCHEDULE_INIT;
	int r = rp__enter(conn);

	if (r < 0)
		return r;
	if (!schedule)
		return rp__fail(&conn->error, RP_EINVAL, "schedule is NULL");
	rp__copy_struct(&s, schedule, schedule->size, sizeof(s));
	r = rp__schedule_check(&s, &conn->error);
	if (r == 0)
		r = rp__begin(conn, RP_BEGIN_WRITE);
	if (r < 0)
		return r;
	r = check_headers(conn, s.headers);
	if (r == 0)
		r = rp__schedules_read(conn, s.name, &old);
	if (r == 0)
		r = store(conn, &s, replace ? rp_schedules_at(&old, 0) : NULL,
			  replace, ret_next);
	r = rp__end(conn, r);
	rp__items_clear(&old.items);
	return r;
}

int
rp_schedule_set(rp_conn *conn, const rp_schedule *schedule, int replace)
{
	int64_t next;

	return rp__schedule_set(conn, schedule, replace, &next);
}

int
rp__schedule_lock(rp_conn *conn, const char *name)
{
	const struct rp_value p[SCHEDULE_LOCK_PARAMS] = {
		[SCHEDULE_LOCK_NAME] = rp__text(name),
	};
	int64_t id = 0;
	int r = rp__enter(conn);

	if (r == 0)
		r = rp__run_once(conn, RP_V_SCHEDULE_LOCK, p, rp__first_int,
				 &id);
	return r == 0 ? id != 0 : r;
}

int
rp_schedule_remove(rp_conn *conn, const char *name)
{
	const struct rp_value p[SCHEDULE_REMOVE_PARAMS] = {
		[SCHEDULE_REMOVE_NAME] = rp__text(name),
	};
	int64_t id = 0;
	int r = rp__enter(conn);

	if (r == 0)
		r = rp__check_name(&conn->error, "the schedule's name", name,
				   RP_MOST_NAME);
	if (r == 0)
		r = rp__run_once(conn, RP_V_SCHEDULE_REMOVE, p, rp__first_int,
				 &id);
	return r == 0 && !id ? rp__schedule_missing(conn, name) : r;
}

/* Pause or resume a schedule. Sets *ret_next to the next instant of the
 * schedule, or to 0 if it never fires again. */
static int
set_paused(rp_conn *conn, const rp_schedule *s, int paused, int64_t *ret_next)
{
	int64_t now = 0, next = 0, id = 0;
	int r = 0;

	if (!paused)
		r = rp__run(conn, RP_V_NOW, NULL, 1, rp__first_int, &now);
	/* The verb changes nothing if a schedule that is not paused is
	 * resumed. */
	if (r == 0 && !paused && s->paused_at)
		r = next_of(conn, s, s->anchor_at, now, &next);
	else
		next = s->next_at;
	if (r < 0)
		return r;
	*ret_next = next;
	return rp__run(
		conn, RP_V_SCHEDULE_PAUSE,
		(const struct rp_value[SCHEDULE_PAUSE_PARAMS]){
			[SCHEDULE_PAUSE_NAME] = rp__text(s->name),
			[SCHEDULE_PAUSE_PAUSED] = rp__int(paused),
			[SCHEDULE_PAUSE_NEXT_AT] = rp__int_or_null(next, !next),
		},
		1, rp__first_int, &id);
}

/* Begin a transaction, and read the schedule in it. If this succeeds, the
 * caller ends the transaction. The caller clears the list in any case. */
static int
begin_with(rp_conn *conn, const char *name, struct rp_schedules *list)
{
	int r = rp__enter(conn);

	if (r == 0)
		r = rp__check_name(&conn->error, "the schedule's name", name,
				   RP_MOST_NAME);
	if (r == 0)
		r = rp__begin(conn, RP_BEGIN_WRITE);
	if (r < 0)
		return r;
	r = rp__schedules_read(conn, name, list);
	if (r == 0 && list->items.count == 0)
		r = rp__schedule_missing(conn, name);
	return r < 0 ? rp__end(conn, r) : 0;
}

static int
find_and_pause(rp_conn *conn, const char *name, int paused, int64_t *ret_next)
{
	struct rp_schedules list = { 0 };
	int r = begin_with(conn, name, &list);

	if (r == 0)
		r = rp__end(conn, set_paused(conn, rp_schedules_at(&list, 0),
					     paused, ret_next));
	rp__items_clear(&list.items);
	return r;
}

int
rp_schedule_pause(rp_conn *conn, const char *name)
{
	int64_t next;

	return find_and_pause(conn, name, 1, &next);
}

int
rp__schedule_resume(rp_conn *conn, const char *name, int64_t *ret_next)
{
	return find_and_pause(conn, name, 0, ret_next);
}

int
rp_schedule_resume(rp_conn *conn, const char *name)
{
	int64_t next;

	return rp__schedule_resume(conn, name, &next);
}

static int
run_now(rp_conn *conn, const rp_schedule *s, rp_added *ret)
{
	int64_t now = 0;
	int r = rp__run(conn, RP_V_NOW, NULL, 1, rp__first_int, &now);

	return r < 0 ? r : rp__schedule_put(conn, s, now, 0, 1, ret);
}

int
rp_schedule_run(rp_conn *conn, const char *name, rp_added *ret)
{
	struct rp_schedules list = { 0 };
	rp_added added = { 0, 0 };
	int r = begin_with(conn, name, &list);

	if (r == 0)
		r = rp__end(conn,
			    run_now(conn, rp_schedules_at(&list, 0), &added));
	rp__items_clear(&list.items);
	if (r == 0 && ret)
		*ret = added;
	return r;
}
