/*
 * schedule.c - test when schedules fire, and that each instant fires exactly
 * once.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "check.h"

#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "kinds.h"
#include "process.h"

#define MINUTE 60000
#define HOUR (60 * MINUTE)
#define DAY (24 * (int64_t)HOUR)

static rp_schedule
schedule_of(const char *name, const char *spec)
{
	rp_schedule s = RP_SCHEDULE_INIT;

	s.name = name;
	s.queue = "q";
	s.spec = spec;
	s.payload = "payload";
	s.payload_size = 7;
	return s;
}

/* Read one field of a schedule. The field must be a number. */
#define FIELD(conn, name, field)                                               \
	number_of((conn), (name), offsetof(rp_schedule, field))

static int64_t
number_of(rp_conn *conn, const char *name, size_t offset)
{
	rp_schedules *list;
	int64_t ret;

	ok(conn, rp_schedule_list(conn, name, &list));
	assert_int_equal(rp_schedules_count(list), 1);
	memcpy(&ret, (const char *)rp_schedules_at(list, 0) + offset,
	       sizeof(ret));
	rp_schedules_free(list);
	return ret;
}

/* Change all schedules by plain SQL. */
static void
change_schedules(struct db *db, const char *on_sqlite, const char *on_server)
{
	char sql[200];

	if (db->schema[0])
		snprintf(sql, sizeof(sql), "update %s.schedule set %s",
			 db->schema, on_server);
	else
		snprintf(sql, sizeof(sql), "update readpast_schedule set %s",
			 on_sqlite);
	assert_int_equal(run_sql(db->conn, sql, NULL), 0);
}

/* Set the next instant of all schedules to `at`. If `at` is in the past, it is
 * as if no program had fired schedules since then. */
static void
set_next(struct db *db, int64_t at)
{
	char on_sqlite[64], on_server[64];

	snprintf(on_sqlite, sizeof(on_sqlite), "next_at = %lld", (long long)at);
	snprintf(on_server, sizeof(on_server),
		 "next_at = to_timestamp(%lld.%03d)", (long long)at / 1000,
		 (int)(at % 1000));
	change_schedules(db, on_sqlite, on_server);
}

static int64_t
now_of(rp_conn *conn)
{
	int64_t now;

	ok(conn, rp_now(conn, &now));
	return now;
}

static int64_t
fire(rp_conn *conn)
{
	rp_swept swept = RP_SWEPT_INIT;

	ok(conn, rp_sweep(conn, &swept));
	return swept.fired;
}

/* Return the text of a header, or "". The header belongs to the n-th job that
 * the schedule has enqueued in queue q. The library writes headers as "name":
 * "value". */
static const char *
header(rp_conn *conn, size_t n, const char *name)
{
	static char value[80];
	rp_batch *batch;
	char start[64];
	const char *at;

	ok(conn, rp_job_list(conn, "q", RP_STATE_READY, 5000, &batch));
	assert_true(n < rp_batch_count(batch));
	snprintf(start, sizeof(start), "\"%s\": \"", name);
	at = strstr(rp_batch_at(batch, n)->headers, start);
	snprintf(value, sizeof(value), "%.*s",
		 at ? (int)strcspn(at + strlen(start), "\"") : 0,
		 at ? at + strlen(start) : "");
	rp_batch_free(batch);
	return value;
}

/* Return the text of an instant, in the format of job headers. The instant must
 * be a whole minute. */
static const char *
minute_text(int64_t ms)
{
	static char text[40];
	time_t seconds = (time_t)(ms / 1000);
	struct tm tm;

	gmtime_r(&seconds, &tm);
	strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &tm);
	return text;
}

static void
the_first_fire_is_the_first_instant_after_it_was_added(void **state)
{
	struct db *db = *state;
	rp_schedule s = schedule_of("a", "every 1s");
	int64_t before = now_of(db->conn), next;
	const rp_job *job;
	rp_batch *batch;

	s.kind = "kind";
	s.headers = "{\"mine\": 1}";
	s.priority = 7;
	ok(db->conn, rp_schedule_set(db->conn, &s, 0));
	next = FIELD(db->conn, "a", next_at);
	assert_in_range(next, before + 1000, now_of(db->conn) + 1000);
	assert_int_equal(fire(db->conn), 0);
	wait_until(db->conn, next);
	assert_int_equal(fire(db->conn), 1);
	assert_int_equal(FIELD(db->conn, "a", last_at), next);
	assert_int_equal(FIELD(db->conn, "a", next_at), next + 1000);
	batch = get(db->conn, FIELD(db->conn, "a", last_job_id));
	job = rp_batch_at(batch, 0);
	assert_string_equal(job->queue, "q");
	assert_string_equal(job->payload, "payload");
	assert_string_equal(job->kind, "kind");
	assert_int_equal(job->priority, 7);
	assert_non_null(strstr(job->headers, "mine"));
	rp_batch_free(batch);
	assert_string_equal(header(db->conn, 0, "readpast-schedule"), "a");
	assert_string_equal(header(db->conn, 0, "readpast-missed"), "");
}

static void
a_second_add_is_refused_and_a_replacement_counts_from_the_change(void **state)
{
	struct db *db = *state;
	rp_schedule s = schedule_of("a", "every 100s"), *same = &s;
	int64_t next, changed;

	ok(db->conn, rp_schedule_set(db->conn, &s, 0));
	next = FIELD(db->conn, "a", next_at);
	assert_int_equal(rp_schedule_set(db->conn, &s, 0), RP_ETAKEN);
	sleep_ms(5);
	same->payload_size = 3;
	ok(db->conn, rp_schedule_set(db->conn, same, 1));
	assert_int_equal(FIELD(db->conn, "a", next_at), next);
	assert_int_equal(FIELD(db->conn, "a", payload_size), 3);
	s.spec = "every 99s";
	changed = now_of(db->conn);
	ok(db->conn, rp_schedule_set(db->conn, &s, 1));
	assert_in_range(FIELD(db->conn, "a", next_at), changed + 99000,
			now_of(db->conn) + 99000);
}

static void
bad_schedules_are_refused_and_leave_nothing(void **state)
{
	struct db *db = *state;
	rp_schedule never = schedule_of("a", "0 0 30 2 *");
	/* The spec means 2:30 on the last Sunday of March. In Berlin the clocks
	 * go from 2:00 to 3:00 on that day, so they never show this time. */
	rp_schedule skipped = schedule_of("a", "30 2 25-31 3 */7");
	rp_schedule zone = schedule_of("a", "@daily");
	rp_schedule headers = schedule_of("a", "@daily");
	rp_schedule name = schedule_of("a\n", "@daily");
	rp_schedules *list;

	zone.zone = "Europe/Berln";
	headers.headers = "[1]";
	assert_int_equal(rp_schedule_set(db->conn, &never, 0), RP_EINVAL);
	skipped.zone = "Europe/Berlin";
	assert_int_equal(rp_schedule_set(db->conn, &skipped, 0), RP_EINVAL);
	assert_int_equal(rp_schedule_set(db->conn, &zone, 0), RP_EINVAL);
	assert_int_equal(rp_schedule_set(db->conn, &headers, 0), RP_EINVAL);
	headers.headers = "{\"a\": \"\xff\"}";
	assert_int_equal(rp_schedule_set(db->conn, &headers, 0), RP_EINVAL);
	assert_string_equal(rp_last_error(db->conn)->message,
			    "the headers are not UTF-8");
	assert_int_equal(rp_schedule_set(db->conn, &name, 0), RP_EINVAL);
	assert_int_equal(rp_schedule_list(db->conn, "a", &list), RP_ENOENT);
	assert_int_equal(rp_schedule_remove(db->conn, "a"), RP_ENOENT);
	assert_int_equal(rp_schedule_pause(db->conn, "a"), RP_ENOENT);
	assert_int_equal(rp_schedule_run(db->conn, "a", NULL), RP_ENOENT);
}

/* Return the latest past instant of the schedule `* * * * *`. If the next
 * instant is less than 10 s away, wait until it has passed. Otherwise it could
 * come during the test. */
static int64_t
last_minute(rp_conn *conn)
{
	int64_t now = now_of(conn);

	if (now % MINUTE > 50000) {
		wait_until(conn, now - now % MINUTE + MINUTE);
		now = now_of(conn);
	}
	return now - now % MINUTE;
}

/* Add a schedule that is due every minute, and that has missed all instants of
 * the last `ago` minutes. Then fire it. */
static int64_t
fire_missed(struct db *db, int missed, int64_t ago, int64_t *ret_last)
{
	rp_schedule s = schedule_of("a", "* * * * *");

	s.missed = missed;
	ok(db->conn, rp_schedule_set(db->conn, &s, 1));
	*ret_last = last_minute(db->conn);
	set_next(db, *ret_last - ago * MINUTE);
	return fire(db->conn);
}

static void
once_fires_one_job_for_all_missed_instants(void **state)
{
	struct db *db = *state;
	int64_t last;

	assert_int_equal(fire_missed(db, RP_MISSED_ONCE, 10, &last), 1);
	assert_string_equal(header(db->conn, 0, "readpast-missed"), "10");
	assert_string_equal(header(db->conn, 0, "readpast-scheduled-for"),
			    minute_text(last));
	assert_int_equal(FIELD(db->conn, "a", next_at), last + MINUTE);
	assert_int_equal(fire(db->conn), 0);
}

static void
all_fires_each_in_order(void **state)
{
	struct db *db = *state;
	int64_t last;

	assert_int_equal(fire_missed(db, RP_MISSED_ALL, 10, &last), 11);
	for (size_t i = 0; i <= 10; i++)
		assert_string_equal(
			header(db->conn, i, "readpast-scheduled-for"),
			minute_text(last - (10 - (int64_t)i) * MINUTE));
	assert_string_equal(header(db->conn, 10, "readpast-missed"), "");
	assert_int_equal(fire(db->conn), 0);
}

static void
skip_fires_no_missed_instant(void **state)
{
	struct db *db = *state;
	int64_t last;

	assert_int_equal(fire_missed(db, RP_MISSED_SKIP, 10, &last), 1);
	assert_string_equal(header(db->conn, 0, "readpast-missed"), "");
	assert_string_equal(header(db->conn, 0, "readpast-scheduled-for"),
			    minute_text(last));
	set_next(db, last - 10 * DAY);
	assert_int_equal(fire(db->conn), 1);
}

/* The sweep must set the schedule's next time, although no job is added. The
 * sweep runs on a new connection, on which no earlier sweep has fired a
 * schedule. The schedule is due about twelve hours from now, because an instant
 * of the last minute would not be skipped. */
static void
a_schedule_that_skips_all_missed_instants_moves_on(void **state)
{
	struct db *db = *state;
	rp_schedule s = schedule_of("a", NULL);
	int64_t hour = now_of(db->conn) / HOUR % 24;
	char spec[32];
	rp_conn *conn;

	snprintf(spec, sizeof(spec), "0 %d * * *", (int)(hour + 12) % 24);
	s.spec = spec;
	s.missed = RP_MISSED_SKIP;
	ok(db->conn, rp_schedule_set(db->conn, &s, 0));
	set_next(db, now_of(db->conn) - DAY / 2);
	conn = connect_to(db);
	assert_int_equal(fire(conn), 0);
	assert_true(FIELD(conn, "a", next_at) > now_of(conn));
	rp_close(conn);
}

static void
set_zone(struct db *db, const char *zone)
{
	char change[64];

	snprintf(change, sizeof(change), "zone = '%s'", zone);
	change_schedules(db, change, change);
}

static void
a_zone_that_could_not_be_read_is_read_again_later(void **state)
{
	struct db *db = *state;
	rp_schedule s = schedule_of("a", "@daily");
	rp_schedules *list;
	int64_t due;

	s.zone = "Europe/Berlin";
	ok(db->conn, rp_schedule_set(db->conn, &s, 0));
	due = now_of(db->conn) - 10;
	set_next(db, due);
	set_zone(db, "Europe/Berln");
	assert_int_equal(fire(db->conn), 1);
	assert_int_equal(fire(db->conn), 0);
	ok(db->conn, rp_schedule_list(db->conn, "a", &list));
	assert_non_null(
		strstr(rp_schedules_at(list, 0)->last_error, "Europe/Berln"));
	rp_schedules_free(list);
	set_zone(db, "Europe/Berlin");
	/* After a failure, the library waits for a minute before it reads the
	 * zone again. A resume of a schedule that is not paused changes
	 * nothing. */
	ok(db->conn, rp_schedule_resume(db->conn, "a"));
	assert_int_equal(fire(db->conn), 0);
	assert_int_equal(FIELD(db->conn, "a", next_at), due);
	change_schedules(db, "retry_at = retry_at - 60000",
			 "retry_at = retry_at - interval '60 s'");
	assert_int_equal(fire(db->conn), 0);
	assert_true(FIELD(db->conn, "a", next_at) > now_of(db->conn));
	ok(db->conn, rp_schedule_list(db->conn, "a", &list));
	assert_null(rp_schedules_at(list, 0)->last_error);
	rp_schedules_free(list);
}

static int
has_error(struct db *db)
{
	rp_schedules *list;
	int has;

	ok(db->conn, rp_schedule_list(db->conn, "a", &list));
	has = rp_schedules_at(list, 0)->last_error != NULL;
	rp_schedules_free(list);
	return has;
}

static void
fail_to_read_the_zone(struct db *db)
{
	set_zone(db, "Europe/Berln");
	set_next(db, now_of(db->conn) - 10);
	assert_int_equal(fire(db->conn), 1);
	assert_true(has_error(db));
	set_zone(db, "Europe/Berlin");
}

static void
a_new_next_time_ends_the_error_about_the_zone(void **state)
{
	struct db *db = *state;
	rp_schedule s = schedule_of("a", "@daily");

	s.zone = "Europe/Berlin";
	ok(db->conn, rp_schedule_set(db->conn, &s, 0));
	fail_to_read_the_zone(db);
	ok(db->conn, rp_schedule_pause(db->conn, "a"));
	assert_true(has_error(db));
	ok(db->conn, rp_schedule_resume(db->conn, "a"));
	assert_false(has_error(db));
	fail_to_read_the_zone(db);
	s.spec = "@weekly";
	ok(db->conn, rp_schedule_set(db->conn, &s, 1));
	assert_false(has_error(db));
}

/* This case needs two writers at the same time, so it runs only on a server. */
static void
a_schedule_whose_queue_is_being_created_delays_no_other(void **state)
{
	struct db *db = *state;
	rp_schedule a = schedule_of("a", "@daily"),
		    b = schedule_of("b", "@daily");
	rp_job_spec job = RP_JOB_SPEC_INIT;
	char sql[128];
	rp_conn *other;

	if (strcmp(db->kind->scheme, "sqlite") == 0)
		return;
	other = connect_to(db);
	a.queue = "fresh";
	ok(db->conn, rp_schedule_set(db->conn, &a, 0));
	ok(db->conn, rp_schedule_set(db->conn, &b, 0));
	/* Remove the queue, as if a client had dropped it while the schedule
	 * was added. */
	snprintf(sql, sizeof(sql), "delete from %s.queue where name = 'fresh'",
		 db->schema);
	assert_int_equal(run_sql(db->conn, sql, NULL), 0);
	set_next(db, now_of(db->conn) - 10);
	ok(other, rp_begin(other));
	ok(other, rp_enqueue(other, "fresh", &job, NULL));
	assert_int_equal(fire(db->conn), 1);
	ok(other, rp_commit(other));
	assert_int_equal(fire(db->conn), 1);
	rp_close(other);
}

static void
over_a_thousand_missed_instants_are_not_fired_or_counted(void **state)
{
	struct db *db = *state;
	int64_t last;

	assert_int_equal(
		fire_missed(db, RP_MISSED_ONCE, 5 * DAY / MINUTE, &last), 1);
	assert_string_equal(header(db->conn, 0, "readpast-missed"), "1000");
	assert_string_equal(header(db->conn, 0, "readpast-scheduled-for"),
			    minute_text(last));
	ok(db->conn, rp_queue_drop(db->conn, "q"));
	assert_int_equal(
		fire_missed(db, RP_MISSED_ALL, 5 * DAY / MINUTE, &last), 1001);
	assert_string_equal(header(db->conn, 1000, "readpast-scheduled-for"),
			    minute_text(last));
	assert_string_equal(header(db->conn, 1000, "readpast-missed"), "1000");
	assert_int_equal(FIELD(db->conn, "a", next_at), last + MINUTE);
}

/* The schedule is due in each minute of one day of the week, the day before
 * yesterday. More instants than are counted were missed on that day, and none
 * since then. */
static void
the_newest_of_very_many_missed_instants_fires_although_it_is_old(void **state)
{
	struct db *db = *state;
	int64_t day = now_of(db->conn) / DAY - 2;
	char spec[16];
	rp_schedule s = schedule_of("a", spec);

	/* 1970-01-01 was a Thursday. */
	snprintf(spec, sizeof(spec), "* * * * %d", (int)((day + 4) % 7));
	ok(db->conn, rp_schedule_set(db->conn, &s, 0));
	set_next(db, day * DAY);
	assert_int_equal(fire(db->conn), 1);
	assert_string_equal(header(db->conn, 0, "readpast-missed"), "1000");
	assert_string_equal(header(db->conn, 0, "readpast-scheduled-for"),
			    minute_text((day + 1) * DAY - MINUTE));
	assert_int_equal(FIELD(db->conn, "a", next_at), (day + 7) * DAY);
}

static void
a_clock_that_is_set_forward_fires_missed_instants_once(void **state)
{
	struct db *db = *state;
	rp_schedule s = schedule_of("a", "0 * * * *");
	int64_t next;

	ok(db->conn, rp_schedule_set(db->conn, &s, 0));
	next = FIELD(db->conn, "a", next_at);
	/* Simulate a clock that was set forward by a day. */
	set_next(db, next - DAY);
	assert_int_equal(fire(db->conn), 1);
	/* 24 instants are past. The newest of them counts as missed only if it
	 * is more than a minute ago. */
	assert_in_range(atoi(header(db->conn, 0, "readpast-missed")), 23, 24);
	assert_int_equal(FIELD(db->conn, "a", next_at), next);
	/* Simulate a clock that is set back after the schedule has fired. The
	 * next instant does not change. */
	set_next(db, next + DAY);
	assert_int_equal(fire(db->conn), 0);
	assert_int_equal(FIELD(db->conn, "a", next_at), next + DAY);
}

static void
overlap_skip_adds_no_job_while_one_is_live(void **state)
{
	struct db *db = *state;
	rp_schedule s = schedule_of("a", "* * * * *");
	int64_t last = last_minute(db->conn);
	rp_added added;

	s.overlap = RP_OVERLAP_SKIP;
	ok(db->conn, rp_schedule_set(db->conn, &s, 0));
	set_next(db, last);
	assert_int_equal(fire(db->conn), 1);
	set_next(db, last);
	assert_int_equal(fire(db->conn), 0);
	assert_int_equal(FIELD(db->conn, "a", next_at), last + MINUTE);
	assert_int_equal(FIELD(db->conn, "a", last_job_id), 0);
	ok(db->conn, rp_schedule_run(db->conn, "a", &added));
	assert_int_equal(added.outcome, RP_EXISTED);
	settle_one(db->conn, claim_one(db->conn, 60000), RP_DONE, -1);
	set_next(db, last);
	assert_int_equal(fire(db->conn), 1);
}

static void
a_paused_schedule_does_not_fire_and_a_run_changes_no_instant(void **state)
{
	struct db *db = *state;
	rp_schedule s = schedule_of("a", "0 * * * *");
	rp_added added;
	int64_t next;

	ok(db->conn, rp_schedule_set(db->conn, &s, 0));
	next = FIELD(db->conn, "a", next_at);
	ok(db->conn, rp_schedule_pause(db->conn, "a"));
	assert_true(FIELD(db->conn, "a", paused_at) > 0);
	set_next(db, next - DAY);
	assert_int_equal(fire(db->conn), 0);
	ok(db->conn, rp_schedule_run(db->conn, "a", &added));
	assert_int_equal(state_of(db->conn, added.id), RP_STATE_READY);
	assert_string_equal(header(db->conn, 0, "readpast-manual"), "true");
	assert_int_equal(FIELD(db->conn, "a", next_at), next - DAY);
	ok(db->conn, rp_schedule_resume(db->conn, "a"));
	assert_int_equal(FIELD(db->conn, "a", paused_at), 0);
	assert_int_equal(FIELD(db->conn, "a", next_at), next);
	assert_int_equal(fire(db->conn), 0);
	ok(db->conn, rp_schedule_remove(db->conn, "a"));
	assert_int_equal(state_of(db->conn, added.id), RP_STATE_READY);
}

static void
a_queue_is_dropped_with_its_schedules(void **state)
{
	struct db *db = *state;
	rp_schedule s = schedule_of("a", "@daily");
	rp_schedules *list;

	for (int jobs = 0; jobs < 2; jobs++) {
		ok(db->conn, rp_schedule_set(db->conn, &s, 0));
		if (jobs)
			put(db->conn, "q", "x");
		ok(db->conn, rp_queue_drop(db->conn, "q"));
		assert_int_equal(rp_schedule_list(db->conn, "a", &list),
				 RP_ENOENT);
	}
}

static void
a_job_that_the_queue_refuses_is_recorded_and_delays_nothing(void **state)
{
	struct db *db = *state;
	rp_schedule large = schedule_of("a", "* * * * *");
	rp_schedule small = schedule_of("b", "* * * * *");
	rp_queue q = RP_QUEUE_INIT;
	rp_schedules *list;

	q.name = "q";
	q.max_payload = 5;
	settings(db->conn, q);
	small.payload_size = 3;
	ok(db->conn, rp_schedule_set(db->conn, &large, 0));
	ok(db->conn, rp_schedule_set(db->conn, &small, 0));
	set_next(db, last_minute(db->conn));
	assert_int_equal(fire(db->conn), 1);
	ok(db->conn, rp_schedule_list(db->conn, "a", &list));
	assert_non_null(strstr(rp_schedules_at(list, 0)->last_error,
			       "payload too large: 7 bytes"));
	assert_int_equal(rp_schedules_at(list, 0)->last_job_id, 0);
	rp_schedules_free(list);
	assert_int_equal(fire(db->conn), 0);
}

/* ---- the server computes the same instants as the library ---- */

static const char *const specs[] = {
	"30 2 * * *",   "*/20 * * * *",  "0 * * * *",       "15 1-3 * * *",
	"* 2 * * 0",    "0 0 13 * 5",    "59 23 28-31 * *", "0 0 29 2 *",
	"30 1,2 * * 0", "*/7 */5 * * *", "5 0 1 */2 *",     "every 5400s",
};
static const char *const zones[] = {
	"UTC",           "Europe/Berlin",       "America/New_York",
	"Europe/Dublin", "Australia/Lord_Howe", "America/St_Johns",
	"Asia/Kolkata",  "Africa/Casablanca",   "America/Sao_Paulo",
	"Pacific/Apia",  "Asia/Gaza",           "Pacific/Chatham",
};

/* Days on which computing the next instant is difficult. On most of them, the
 * clock changes in Europe, America or Australia. The test computes the next
 * instant after every fifth hour of these days. */
static const int64_t around[] = {
	1774656000, /* 2026-03-28 */
	1792800000, /* 2026-10-24 */
	1741392000, /* 2025-03-08 */
	1761955200, /* 2025-11-01 */
	1775260800, /* 2026-04-04 */
	1790985600, /* 2026-10-03 */
	1325203200, /* 2011-12-30, a date that was skipped in Apia */
	1835222400, /* 2028-02-26 */
};

static void
the_server_computes_the_same_instants_as_the_library(void **state)
{
	struct db *db = *state;
	int compared = 0;

	if (!db->schema[0])
		/* this is only for servers, because SQLite has no routines */
		return;
	for (size_t i = 0; i < sizeof(specs) / sizeof(*specs); i++)
		for (size_t z = 0; z < sizeof(zones) / sizeof(*zones); z++) {
			rp_schedule s = schedule_of("a", specs[i]);
			int64_t anchor;

			s.zone = zones[z];
			ok(db->conn, rp_schedule_set(db->conn, &s, 1));
			anchor = FIELD(db->conn, "a", anchor_at);
			for (int n = 0; n < 8 * 12; n++) {
				int64_t after = (around[n / 12] +
						 n % 12 * 5 * 3600 + 61 * n) *
						1000;
				rp_fire fire = RP_FIRE_INIT;
				rp_error error;
				char sql[300];
				int64_t got;

				assert_int_equal(
					rp_schedule_next(s.spec, s.zone, anchor,
							 after, &fire, &error),
					1);
				snprintf(sql, sizeof(sql),
					 "select %s.epoch_ms(%s.next_fire("
					 "sets, zone, anchor, "
					 "to_timestamp(%lld))) from schedule",
					 db->schema, db->schema,
					 (long long)(after / 1000));
				got = ask_sql(db->conn, sql);
				if (got != fire.at_ms)
					fail_msg("%s in %s after %lld: %lld, "
						 "not %lld",
						 s.spec, s.zone,
						 (long long)after / 1000,
						 (long long)got / 1000,
						 (long long)fire.at_ms / 1000);
				compared++;
			}
		}
	assert_int_equal(compared, 12 * 12 * 96);
}

static const char *const texts[] = {
	/* right */
	"0 0 * * *",
	"  5 4 * *  * ",
	" 5\t4 *\t \t* *\t",
	"*/7 1-5/2 1,15 JAN-mar,12 Fri-sun",
	"59 23 31 12 7",
	"0-59/60 0-23/24 1-31/31 */12 */8",
	"007 1 1 1 0-7",
	"0 0 13 * 5",
	"* */2 * * *",
	"0 0 */2 * 5",
	"0,0 0 29 2 *",
	"@Daily",
	" @hourly ",
	"@annually",
	"every 90s",
	"EVERY  1d",
	"every5m",
	"every 1000ms",
	"every 3650d",
	"0 0 31 2,3 *",
	/* wrong */
	"",
	" ",
	"* * * *",
	"* * * * * *",
	"60 * * * *",
	"0 24 * * *",
	"0 0 0 * *",
	"0 0 * 13 *",
	"0 0 * * 8",
	"5-1 * * * *",
	"0 22-2 * * *",
	"5/10 * * * *",
	"*/0 * * * *",
	"*/ * * * *",
	"*/61 * * * *",
	"*/0001 * * * *",
	"*/x * * * *",
	"1-5/2x * * * *",
	"1, * * * *",
	", * * * *",
	"** * * * *",
	"*-5 * * * *",
	"1- * * * *",
	"-1 * * * *",
	"0001 * * * *",
	"0 0 * MONDAY *",
	"0 0 * * MONDAY",
	"JAN * * * *",
	"0 0 * FOO *",
	"0 0 L * *",
	"0 0 * * 5#1",
	"@reboot",
	"@daily x",
	"@",
	"every",
	"every day",
	"every 999ms",
	"every 90S",
	"every 1s 2s",
	"every 3651d",
	"every -1s",
	"everyday",
	"0 0 30 2 *",
	"0 0 31 4,6 *",
	/* each of these has two errors; the first error is reported */
	"30/-1 * * * *",
	"5/0/3 * * * *",
	"*/1/2 * * * *",
	"*/70x * * * *",
	"*/000 * * * *",
	"*/0000 * * * *",
	"1-2-3 * * * *",
	"0 19-1a * * *",
	"0 19-1/0 * * *",
	"0 0 * * 6-TUX",
};

/* Create a function that returns the message with which the server refuses a
 * spec. */
static void
create_refusal(struct db *db)
{
	char sql[500];

	snprintf(sql, sizeof(sql),
		 "create function %s.refusal(spec text) returns text "
		 "language plpgsql as 'begin "
		 "perform %s.parse_spec(spec); return null; "
		 "exception when others then return sqlerrm; end'",
		 db->schema, db->schema);
	assert_int_equal(run_sql(db->conn, sql, NULL), 0);
}

static void
compare_refusals(struct db *db, const char *spec)
{
	const char *message = rp_last_error(db->conn)->message;
	char sql[500];

	snprintf(sql, sizeof(sql),
		 "select (%s.refusal($s$%s$s$) = $s$%s$s$)::integer::bigint",
		 db->schema, spec, message);
	if (ask_sql(db->conn, sql) != 1)
		fail_msg("the server's message is not: %s", message);
}

static void
the_server_parses_a_spec_as_the_library_does(void **state)
{
	struct db *db = *state;
	int right = 0;

	if (!db->schema[0])
		return; /* SQLite has no routines */
	create_refusal(db);
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		rp_schedule s = schedule_of("a", texts[i]);
		int r = rp_schedule_set(db->conn, &s, 1) == 0;
		int64_t same = -1; /* stays -1 if the server refuses the text */
		char sql[300];

		snprintf(sql, sizeof(sql),
			 "select (s.sets = p.sets)::integer::bigint "
			 "from %s.parse_spec('%s') p(sets) "
			 "left join %s.schedule s on true",
			 db->schema, texts[i], db->schema);
		run_sql(db->conn, sql, &same);
		if (same != (r ? 1 : -1))
			fail_msg(
				"\"%s\" is %s by the library, %s by the server",
				texts[i], r ? "accepted" : "refused",
				same < 0 ? "refused" : "accepted");
		right += r;
		/* The library refuses the empty text before it parses specs, so
		 * its message differs from the server's. */
		if (!r && *texts[i])
			compare_refusals(db, texts[i]);
	}
	assert_int_equal(right, 20);
}

/* ---- kill -9 ---- */

static void
queue_q(rp_conn *conn)
{
	rp_queue q = RP_QUEUE_INIT;

	q.name = "q";
	settings(conn, q);
}

#define SCHEDULES 600
#define PROCESSES 4

static int
sweep_for_ever(void *ctx)
{
	struct db *db = ctx;
	rp_conn *conn;
	rp_error error;

	if (rp_open(db->url, NULL, &conn, &error) < 0)
		_exit(99);
	for (;;)
		rp_sweep(conn, NULL);
}

static void
add_many(struct db *db, int n)
{
	ok(db->conn, rp_begin(db->conn));
	for (int i = 0; i < n; i++) {
		char name[32];
		rp_schedule s = schedule_of(name, "17 3 * * *");

		snprintf(name, sizeof(name), "schedule %d", i);
		s.payload = name;
		s.payload_size = strlen(name);
		s.zone = i % 2 ? "Europe/Berlin" : "America/New_York";
		ok(db->conn, rp_schedule_set(db->conn, &s, 0));
	}
	ok(db->conn, rp_commit(db->conn));
}

/* Set the next instant of all schedules to `at`. Each schedule must fire once,
 * although the processes that fire the schedules are killed. */
static void
fire_and_kill(struct db *db, int64_t at, int64_t rounds)
{
	pid_t pids[PROCESSES];
	int64_t jobs = 0;

	for (int i = 0; i < PROCESSES; i++)
		pids[i] = in_child(sweep_for_ever, db);
	set_next(db, at);
	for (unsigned n = 0; jobs < SCHEDULES * rounds; n++) {
		unsigned i = n % PROCESSES;

		sleep_ms(db->schema[0] ? 150 : 20);
		kill(pids[i], SIGKILL);
		waitpid(pids[i], NULL, 0);
		pids[i] = in_child(sweep_for_ever, db);
		jobs = stats_of(db->conn, "q").ready;
	}
	for (int i = 0; i < PROCESSES; i++) {
		kill(pids[i], SIGKILL);
		waitpid(pids[i], NULL, 0);
	}
}

static void
each_instant_fires_once_though_processes_are_killed(void **state)
{
	struct db *db = *state;
	char seen[SCHEDULES] = { 0 };
	rp_batch *batch;

	add_many(db, SCHEDULES);
	queue_q(db->conn);
	fire_and_kill(db, now_of(db->conn) - 1000, 1);
	assert_int_equal(fire(db->conn), 0);
	batch = take(db->conn, "q", 5 * SCHEDULES, 60000);
	assert_int_equal(rp_batch_count(batch), SCHEDULES);
	for (size_t i = 0; i < SCHEDULES; i++) {
		int n = atoi((const char *)rp_batch_at(batch, i)->payload + 9);

		assert_in_range(n, 0, SCHEDULES - 1);
		assert_int_equal(seen[n]++, 0);
	}
	rp_batch_free(batch);
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest cases[] = {
		CASE(the_first_fire_is_the_first_instant_after_it_was_added),
		CASE(a_second_add_is_refused_and_a_replacement_counts_from_the_change),
		CASE(bad_schedules_are_refused_and_leave_nothing),
		CASE(once_fires_one_job_for_all_missed_instants),
		CASE(all_fires_each_in_order),
		CASE(skip_fires_no_missed_instant),
		CASE(a_schedule_that_skips_all_missed_instants_moves_on),
		CASE(a_zone_that_could_not_be_read_is_read_again_later),
		CASE(a_new_next_time_ends_the_error_about_the_zone),
		CASE(a_schedule_whose_queue_is_being_created_delays_no_other),
		CASE(over_a_thousand_missed_instants_are_not_fired_or_counted),
		CASE(the_newest_of_very_many_missed_instants_fires_although_it_is_old),
		CASE(a_clock_that_is_set_forward_fires_missed_instants_once),
		CASE(overlap_skip_adds_no_job_while_one_is_live),
		CASE(a_paused_schedule_does_not_fire_and_a_run_changes_no_instant),
		CASE(a_queue_is_dropped_with_its_schedules),
		CASE(a_job_that_the_queue_refuses_is_recorded_and_delays_nothing),
		CASE(the_server_computes_the_same_instants_as_the_library),
		CASE(the_server_parses_a_spec_as_the_library_does),
		CASE(each_instant_fires_once_though_processes_are_killed),
	};

	databases_at(argc, argv);
	return cmocka_run_group_tests(cases, NULL, NULL);
}
