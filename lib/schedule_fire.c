/*
 * schedule_fire.c - add the jobs of schedules that are due.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 *
 * A schedule adds a job at each of its instants; this is called a fire. Any
 * client may fire a schedule. One transaction enqueues the job and writes the
 * schedule's next instant. So each instant fires exactly once, whichever client
 * fires it and whatever crashes. On SQLite the code in this file fires the
 * schedules. On PostgreSQL the routine fire_due() fires them, by the same
 * rules.
 */
#include "schedule.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The largest number of schedules that one transaction fires: AT_ONCE on
 * SQLite, AT_ONCE_THERE on a server. On a server the number is larger, because
 * one call fires all these schedules, and other clients can write during the
 * transaction. */
#define AT_ONCE 100
#define AT_ONCE_THERE 500
/* An instant that is due for longer than MISSED_MS before it fires counts as
 * missed. At most MOST_MISSED missed instants are counted or fired. The
 * routines missed_age() and most_missed() return the same numbers, and their
 * comments give the reasons. */
#define MISSED_MS 60000
#define MOST_MISSED 1000
/* If the file of a time zone cannot be read, the next try follows after this
 * time, in milliseconds. Perhaps an upgrade of the package tzdata is replacing
 * the file, or the process has too many open files. The routine
 * zone_retry_age() returns the same time. */
#define RETRY_MS 60000
/* The largest number of due instants of a schedule that do not count as missed.
 * A schedule has at most one instant in each second. */
#define MOST_PUNCTUAL (MISSED_MS / 1000 + 1)

/* ---- which instants to fire ---- */

struct plan {
	int64_t fires[MOST_MISSED + MOST_PUNCTUAL];
	size_t count;
	int64_t missed;   /* how many instants were missed. The job of the last
			   * instant gets this number as a header. 0: it gets no
			   * such header */
	int64_t next;     /* the next instant; 0: the schedule never fires
			   * again */
	int64_t retry_at; /* when a sweep tries again to compute the next
			   * instant, because the time zone could not be read;
			   * 0: the next instant is known */
};

struct clockwork {
	const rp_schedule *schedule;
	struct rp_spec spec;
	struct rp_zone *zone;
};

/* Returns the next instant after `after`, or INT64_MAX if the schedule never
 * fires after that time. */
static int64_t
next_after(const struct clockwork *c, int64_t after)
{
	rp_fire fire = RP_FIRE_INIT;

	return rp__schedule_next(&c->spec, c->zone, c->schedule->anchor_at,
				 after, &fire) > 0
		       ? fire.at_ms
		       : INT64_MAX;
}

/* Returns the last instant that is not after the time `end`. `at` is an instant
 * that is not after it. */
static int64_t
last_until(const struct clockwork *c, int64_t at, int64_t end)
{
	while (at < end) {
		int64_t middle = at + (end - at) / 2;
		int64_t next = next_after(c, middle);

		if (next <= end)
			at = next;
		else
			end = middle;
	}
	return at;
}

/* Decide which instants to fire, by the schedule's rule for missed instants.
 * `at` is the first instant that has not fired. On PostgreSQL the routine
 * due_fires() does the same. */
static void
plan(const struct clockwork *c, int64_t at, int64_t now, struct plan *ret)
{
	int policy = c->schedule->missed;
	int64_t late = now - MISSED_MS, newest = 0;

	ret->count = 0;
	ret->missed = ret->retry_at = 0;
	while (at <= now) {
		if (at > late) {
			/* With RP_MISSED_ONCE, if instants were missed, only
			 * one job is enqueued: the job of the newest instant
			 * that is due. */
			if (policy == RP_MISSED_ONCE && ret->missed)
				ret->count = 0;
			ret->fires[ret->count++] = at;
			newest = 0;
		} else if (policy == RP_MISSED_ALL &&
			   ret->count < MOST_MISSED) {
			ret->fires[ret->count++] = at;
		} else {
			/* The missed instants after the last one that is
			 * counted are skipped, except the newest. */
			if (++ret->missed == MOST_MISSED)
				at = last_until(c, at, late);
			newest = at;
		}
		at = next_after(c, at);
	}
	if (policy == RP_MISSED_ONCE && newest) {
		ret->fires[0] = newest;
		ret->count = 1;
	} else if (policy == RP_MISSED_SKIP) {
		ret->missed = 0;
	}
	ret->next = at == INT64_MAX ? 0 : at;
}

/* ---- a job ---- */

static void
put_text(char **to, const char *text)
{
	size_t n = strlen(text);

	memcpy(*to, text, n);
	*to += n;
}

/* Write a name as a JSON string. A name has no control characters, so only
 * quotes and backslashes are escaped. */
static void
put_name(char **to, const char *name)
{
	*(*to)++ = '"';
	for (; *name; name++) {
		if (*name == '"' || *name == '\\')
			*(*to)++ = '\\';
		*(*to)++ = *name;
	}
	*(*to)++ = '"';
}

static void
format_instant(char *to, size_t room, int64_t ms)
{
	int64_t year;
	int64_t second = ms / 1000 % 86400;
	int month, day, n;

	rp__date_of(ms / 86400000, &year, &month, &day);
	n = snprintf(to, room, "%04d-%02d-%02dT%02d:%02d:%02d", (int)year,
		     month, day, (int)(second / 3600), (int)(second / 60 % 60),
		     (int)(second % 60));
	if (ms % 1000)
		n += snprintf(to + n, room - (size_t)n, ".%03d",
			      (int)(ms % 1000));
	snprintf(to + n, room - (size_t)n, "Z");
}

/* Returns the headers of a job: those of the schedule, followed by those of
 * this library. If a JSON object has a member twice, the last one counts, so
 * the library's headers win. The caller frees the text. NULL: out of memory. */
static char *
make_headers(const rp_schedule *s, int64_t at, int64_t missed, int manual)
{
	const char *given = s->headers ? s->headers : "{}";
	const char *own = given + strspn(given, " \t\r\n");
	const char *end = strrchr(own, '}');
	size_t n = end ? (size_t)(end - own) : 0;
	char *text = malloc(n + 2 * strlen(s->name) + 200), *to = text;
	char part[48];

	if (!text)
		return NULL;
	memcpy(to, own, n);
	to += n;
	if (strspn(own + 1, " \t\r\n") + 1 < n)
		put_text(&to, ", ");
	put_text(&to, "\"readpast-schedule\": ");
	put_name(&to, s->name);
	put_text(&to, ", \"readpast-scheduled-for\": \"");
	format_instant(part, sizeof(part), at);
	put_text(&to, part);
	put_text(&to, "\"");
	if (missed) {
		snprintf(part, sizeof(part), ", \"readpast-missed\": \"%lld\"",
			 (long long)missed);
		put_text(&to, part);
	}
	if (manual)
		put_text(&to, ", \"readpast-manual\": \"true\"");
	put_text(&to, "}");
	*to = '\0';
	return text;
}

int
rp__schedule_put(rp_conn *conn, const rp_schedule *s, int64_t at,
		 int64_t missed, int manual, rp_added *ret)
{
	char key[RP_MOST_NAME + 8];
	rp_job_spec job = RP_JOB_SPEC_INIT;
	char *headers = make_headers(s, at, missed, manual);
	int r;

	if (!headers)
		return rp__fail(&conn->error, RP_ENOMEM, "out of memory");
	snprintf(key, sizeof(key), "cron:%s", s->name);
	job.payload = s->payload;
	job.payload_size = s->payload_size;
	job.priority = s->priority;
	job.kind = s->kind;
	job.headers = headers;
	if (s->overlap == RP_OVERLAP_SKIP)
		job.unique_key = key;
	r = rp_enqueue(conn, s->queue, &job, ret);
	free(headers);
	return r;
}

/* ---- a fire ---- */

/* The result of firing a schedule. If several instants fire, it is about the
 * last of them. */
struct outcome {
	int64_t at;     /* the last instant; 0: no instant was fired */
	int64_t job_id; /* the job of this last instant; 0: it has no job */
	char why[sizeof(((rp_error *)NULL)->message)]; /* why the last instant
							* has no job; "": it has
							* a job */
};

/* Fire one instant. Returns 1 if a job was added, else 0 or an error. If the
 * job is refused, the call does not fail: it returns 0 and stores the reason in
 * *outcome. */
static int
fire_instant(rp_conn *conn, const rp_schedule *s, int64_t at, int64_t missed,
	     struct outcome *outcome)
{
	rp_added added = { 0, 0 };
	int r = rp__schedule_put(conn, s, at, missed, 0, &added);

	*outcome = (struct outcome){ at, 0, "" };
	if (r == RP_EFBIG || r == RP_EINVAL) {
		memcpy(outcome->why, conn->error.message, sizeof(outcome->why));
		return 0;
	}
	if (r < 0)
		return r;
	if (added.outcome != RP_EXISTED)
		outcome->job_id = added.id;
	else
		snprintf(outcome->why, sizeof(outcome->why),
			 "job %lld was still live", (long long)added.id);
	return added.outcome != RP_EXISTED;
}

static int
move_on(rp_conn *conn, int64_t id, const rp_schedule *s,
	const struct plan *plan, const struct outcome *outcome,
	int64_t *ret_moved)
{
	const struct rp_value p[SCHEDULE_FIRED_PARAMS] = {
		[SCHEDULE_FIRED_ID] = rp__int(id),
		[SCHEDULE_FIRED_DUE] = rp__int(s->next_at),
		[SCHEDULE_FIRED_NEXT_AT] =
			rp__int_or_null(plan->next, !plan->next),
		[SCHEDULE_FIRED_RETRY_AT] =
			rp__int_or_null(plan->retry_at, !plan->retry_at),
		[SCHEDULE_FIRED_LAST_AT] =
			rp__int_or_null(outcome->at, !outcome->at),
		[SCHEDULE_FIRED_JOB_ID] =
			rp__int_or_null(outcome->job_id, !outcome->job_id),
		[SCHEDULE_FIRED_ERROR] =
			rp__text(*outcome->why ? outcome->why : NULL),
	};

	return rp__run(conn, RP_V_SCHEDULE_FIRED, p, 1, rp__count, ret_moved);
}

/* Call this if the spec of the schedule is wrong, because a user has changed
 * the table by hand. Plan to fire the schedule once more, and then never
 * again. */
static void
plan_the_end(const rp_schedule *s, struct plan *ret)
{
	ret->fires[0] = s->next_at;
	ret->count = 1;
	ret->missed = ret->next = ret->retry_at = 0;
}

/* Make the plan for a schedule whose time zone cannot be read. The plan fires
 * the instant that is due, unless it has fired already. The next instant cannot
 * be computed, so next_at keeps its value. A sweep tries to compute the next
 * instant after RETRY_MS. */
static void
plan_a_retry(const struct rp_stored *stored, int64_t now, struct plan *ret)
{
	const rp_schedule *s = &stored->schedule;
	int skipped =
		s->missed == RP_MISSED_SKIP && s->next_at <= now - MISSED_MS;

	ret->fires[0] = ret->next = s->next_at;
	ret->count = !stored->has_fired && !skipped;
	ret->missed = 0;
	ret->retry_at = now + RETRY_MS;
}

/* Plan which instants of one schedule to fire. If the spec is wrong or the time
 * zone cannot be read, make the plan of plan_the_end() or plan_a_retry(), store
 * the reason in the error of `conn`, and return 1. */
static int
make_plan(rp_conn *conn, const struct rp_stored *stored, int64_t now,
	  struct plan *ret)
{
	const rp_schedule *s = &stored->schedule;
	struct clockwork c = { .schedule = s };
	int r = rp__spec_parse(s->spec, &c.spec, &conn->error);

	if (r == RP_ENOMEM)
		return r;
	if (r < 0) {
		plan_the_end(s, ret);
		return 1;
	}
	r = rp__zone_open(NULL, s->zone, &c.zone, &conn->error);
	if (r == RP_ENOMEM)
		return r;
	if (r < 0) {
		plan_a_retry(stored, now, ret);
		return 1;
	}
	plan(&c, stored->has_fired ? next_after(&c, s->next_at) : s->next_at,
	     now, ret);
	rp__zone_free(c.zone);
	return 0;
}

/* Fire all due instants of one schedule. Returns the number of new jobs. */
static int
fire(rp_conn *conn, const struct rp_stored *stored, int64_t now,
     struct plan *room)
{
	const rp_schedule *s = &stored->schedule;
	struct outcome outcome = { 0, 0, "" };
	char why[sizeof(outcome.why)] = "";
	int64_t moved = 0;
	int jobs = 0;
	int r = make_plan(conn, stored, now, room);

	if (r < 0)
		return r;
	if (r > 0)
		memcpy(why, conn->error.message, sizeof(why));
	r = 0;
	for (size_t i = 0; i < room->count && r >= 0; i++) {
		int last = i + 1 == room->count;

		r = fire_instant(conn, s, room->fires[i],
				 last ? room->missed : 0, &outcome);
		jobs += r > 0;
	}
	if (*why)
		memcpy(outcome.why, why, sizeof(why));
	if (r >= 0)
		r = move_on(conn, stored->id, s, room, &outcome, &moved);
	return r < 0 ? r : jobs;
}

static int
add_due(void *ctx, size_t row, const struct rp_value *c)
{
	struct rp_stored *due = rp__schedules_add(ctx, c);

	(void)row;
	if (!due)
		return RP_ENOMEM;
	due->has_fired = c[SCHEDULE_DUE_OUT_HAS_FIRED].i != 0;
	return RP_ROW_TAKE;
}

/* Fire due schedules in one slice (a short transaction). This function is for
 * SQLite, which has no stored routines that could fire schedules. */
static int
fire_here(rp_conn *conn, struct rp_slice *slice, struct plan *room,
	  int64_t *jobs, int *ret_more)
{
	const struct rp_value p[SCHEDULE_DUE_PARAMS] = {
		[SCHEDULE_DUE_MAX] = rp__int(AT_ONCE),
	};
	struct rp_schedules due = { 0 };
	size_t n;
	int64_t now = 0;
	int r = rp__run(conn, RP_V_NOW, NULL, 1, rp__first_int, &now);

	if (r == 0)
		r = rp__run(conn, RP_V_SCHEDULE_DUE, p, 1, add_due, &due);
	n = rp_schedules_count(&due);
	*ret_more = n == AT_ONCE;
	for (size_t i = 0; i < n && r >= 0; i++) {
		if (rp__slice_is_over(slice)) {
			*ret_more = 1;
			break;
		}
		r = fire(conn, rp__schedules_at(&due, i), now, room);
		slice->left--;
		*jobs += r > 0 ? r : 0;
	}
	rp__items_clear(&due.items);
	return r < 0 ? r : 0;
}

struct fired {
	int64_t schedules, jobs;
};

static int
fired_row(void *ctx, size_t row, const struct rp_value *c)
{
	struct fired *fired = ctx;

	(void)row;
	fired->schedules = c[FIRE_DUE_OUT_SCHEDULES].i;
	fired->jobs = c[FIRE_DUE_OUT_JOBS].i;
	return RP_ROW_TAKE;
}

/* Fire due schedules in one slice (a short transaction), by a stored routine of
 * the database. */
static int
fire_there(rp_conn *conn, int64_t *jobs, int *ret_more)
{
	const struct rp_value p[FIRE_DUE_PARAMS] = {
		[FIRE_DUE_MAX] = rp__int(AT_ONCE_THERE),
	};
	struct fired fired = { 0, 0 };
	int r = rp__run(conn, RP_V_FIRE_DUE, p, 1, fired_row, &fired);

	*jobs += fired.jobs;
	*ret_more = fired.schedules == AT_ONCE_THERE;
	return r;
}

int
rp__schedules_fire(rp_conn *conn, int64_t stop_at, int64_t *jobs)
{
	struct plan *room = malloc(sizeof(*room));
	struct rp_slice slice = { 0 };
	int more = 1, r = 0;

	if (!room)
		return rp__fail(&conn->error, RP_ENOMEM, "out of memory");
	/* Run at least one slice (a short transaction, see slice.c), even if
	 * the sweep that calls this function has used up its time. */
	do {
		int64_t before = *jobs;

		r = rp__slice_begin(conn, &slice, 0);
		if (r < 0)
			break;
		r = conn->backend->one_writer
			    ? fire_here(conn, &slice, room, jobs, &more)
			    : fire_there(conn, jobs, &more);
		r = rp__slice_end(conn, &slice, r);
		if (r < 0)
			*jobs = before;
	} while (more && r == 0 && !(stop_at && rp__monotonic_us() >= stop_at));
	free(room);
	return r < 0 ? r : more;
}
