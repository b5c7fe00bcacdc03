#!/usr/bin/python3
"""Test schedules by SQL alone, with Debian's psycopg2 and without our library. Starts
its own server.

  schedules.py ROOT [CASE...]

SPDX-License-Identifier: MIT
SPDX-FileCopyrightText: The readpast authors
"""

import datetime as dt
import time

import psycopg2

from sessions import case, main

ADD = "select readpast.schedule_set('a', 'q', %s, 'x')"
# Move the next fire into the past, as if no client had fired the schedule after that
# time.
LATE = "update readpast.schedule set next_at = next_at - %s::interval"


def shown(s, column, name="a"):
    return s.one(f"select {column} from readpast.schedules where name = %s", name)


def now(s):
    return s.one("select clock_timestamp()")


@case
def a_schedule_is_added_and_fires(s):
    before = now(s)
    first = s.one("select readpast.schedule_set('a', 'q', 'every 1s', 'x', "
                  "kind => 'k', headers => '{\"h\": 1}', priority => 7)")
    assert before < first <= now(s) + dt.timedelta(seconds=1)
    assert s.one("select schedules from readpast.fire_due()") == 0
    time.sleep(1.1)
    assert s.one("select fired, due from readpast.sweep()") == (1, 0)
    assert shown(s, "last_at, last_state, last_error") == (first, "ready", None)
    assert shown(s, "next_at") == first + dt.timedelta(seconds=1)
    assert s.one("select kind, priority, payload, headers ->> 'h', "
                 "headers ->> 'readpast-schedule' from readpast.jobs") == (
                     "k", 7, "x", "1", "a")


@case
def its_payload_is_bytes_or_text_or_json(s):
    for name, payload in ("a", "'grün'::text"), ("b", r"'\x00ff'::bytea"), (
            "c", "'{\"a\": 1}'::jsonb"):
        s.one(f"select readpast.schedule_set('{name}', 'q', '@daily', {payload})")
        s.one("select readpast.schedule_run(%s)", name)
    assert [bytes(p) for (p,) in s.rows("select payload from readpast.job order by id")
            ] == ["grün".encode(), b"\x00\xff", b'{"a": 1}']


@case
def a_name_that_is_taken_needs_replace(s):
    s.one(ADD, "every 10m")
    assert s.refused(ADD, "@daily").startswith(
        "RP006 there is a schedule named a (replace => true changes it)")
    assert shown(s, "spec") == "every 10m"
    s.rows(LATE, "1 minute")
    first = shown(s, "next_at")
    assert s.one("select readpast.schedule_set('a', 'r', 'every 10m', 'y', "
                 "missed => 'all', overlap => 'skip', replace => true)") == first
    assert shown(s, "queue, payload, missed, overlap, next_at") == (
        "r", "y", "all", "skip", first)
    second = s.one("select readpast.schedule_set('a', 'q', 'every 10m', 'x', "
                   "zone => 'Europe/Berlin', replace => true)")
    assert second > first, "it counts from the change"


@case
def a_pause_ends_with_the_next_time(s):
    s.one(ADD, "every 10m")
    s.one("select readpast.schedule_pause('a')")
    since = shown(s, "paused_at")
    s.one("select readpast.schedule_pause('a')")
    assert shown(s, "paused_at") == since
    s.rows(LATE, "25 minutes")
    assert s.one("select schedules from readpast.fire_due()") == 0
    assert s.one("select readpast.schedule_resume('a')") > now(s)
    assert s.one("select schedules from readpast.fire_due()") == 0
    assert shown(s, "paused_at") is None
    s.rows(LATE, "10 minutes")
    due = shown(s, "next_at")
    assert s.one("select readpast.schedule_resume('a')") == due, "it was not paused"


@case
def a_resume_takes_a_schedule_from_the_copy_that_paused_it(s):
    s.one(ADD, "every 10m")
    s.one("select readpast.schedule_pause('a')")
    s.rows("update readpast.schedule set standby = 'leaving'")
    s.one("select readpast.schedule_resume('a')")
    assert s.one("select standby from readpast.schedule") is None


@case
def a_move_that_goes_on_finds_a_pause_and_a_resume(s):
    s.one(ADD, "every 10m")
    s.rows("update readpast.schedule set standby = 'moved x', paused_at = now()")
    for _ in range(2):
        s.one("select readpast.schedule_pause('a')")
        assert s.one("select standby from readpast.schedule") == "moved x and paused"
    s.one("select readpast.schedule_resume('a')")
    assert s.one("select standby from readpast.schedule") == "moved x and paused"
    assert shown(s, "paused_at") is None


@case
def a_run_changes_no_time(s):
    s.one("select readpast.schedule_set('a', 'q', '@daily', 'x', overlap => 'skip')")
    times = shown(s, "next_at, last_at, last_job_id")
    job = s.one("select readpast.schedule_run('a')")
    assert s.one("select readpast.schedule_run('a')") == job
    assert shown(s, "next_at, last_at, last_job_id") == times
    assert s.one("select headers ->> 'readpast-manual', unique_key "
                 "from readpast.jobs") == ("true", "cron:a")


@case
def a_schedule_is_removed_and_its_jobs_stay(s):
    s.one(ADD, "@daily")
    s.one("select readpast.schedule_run('a')")
    s.one("select readpast.schedule_remove('a')")
    assert s.one("select count(*) from readpast.schedules") == 0
    assert s.taken() == "x"
    for call in "remove", "pause", "resume", "run":
        assert s.refused(f"select readpast.schedule_{call}('a')") == (
            "RP005 no schedule named a")


@case
def wrong_arguments_are_refused_in_words(s):
    for words, given in (
            ('schedule "0 25 * * *": hour 25: expected 0 to 23',
             "'a', 'q', '0 25 * * *', 'x'"),
            ('schedule "*/90 * * * *": minute */90: the step is longer than the '
             "field's range: for a longer interval, write \"every 90m\"",
             "'a', 'q', '*/90 * * * *', 'x'"),
            ('schedule "0 22-2 * * *": hour 22-2: runs backwards: write two ranges, '
             "such as 22-23,0-2 for 22-2", "'a', 'q', '0 22-2 * * *', 'x'"),
            ('schedule "0 0 1": 3 fields, expected five', "'a', 'q', '0 0 1', 'x'"),
            ('schedule "0 0 30 2 *": never fires: there is no such day',
             "'a', 'q', '0 0 30 2 *', 'x'"),
            ('schedule "30 2 25-31 3 */7": never fires in Europe/Berlin',
             "'a', 'q', '30 2 25-31 3 */7', 'x', zone => 'Europe/Berlin'"),
            ('schedule "@reboot": expected @hourly', "'a', 'q', '@reboot', 'x'"),
            ('schedule "every 9": expected a duration', "'a', 'q', 'every 9', 'x'"),
            ("the spec must have 1 to 255 bytes", "'a', 'q', null, 'x'"),
            ("the server has no time zone", "'a', 'q', '@daily', 'x', null"),
            ('the server has no time zone "CEST"', "'a', 'q', '@daily', 'x', 'CEST'"),
            ("the schedule's name", "'', 'q', '@daily', 'x'"),
            ("the queue's name", "'a', null, '@daily', 'x'"),
            ("the payload is null", "'a', 'q', '@daily', null::text"),
            ("the kind must have", "'a', 'q', '@daily', 'x', kind => ''"),
            ("the headers are not", "'a', 'q', '@daily', 'x', headers => '[1]'"),
            ("priority 256", "'a', 'q', '@daily', 'x', priority => 256"),
            ("missed must be once, all or skip",
             "'a', 'q', '@daily', 'x', missed => 'none'"),
            ("overlap must be allow or skip",
             "'a', 'q', '@daily', 'x', overlap => null")):
        said = s.refused(f"select readpast.schedule_set({given})")
        assert said.startswith("RP003 " + words), said
    assert s.one("select count(*) from readpast.schedule") == 0


@case
def an_unknown_zone_is_refused_with_similar_names(s):
    try:
        s.one("select readpast.schedule_set('a', 'q', '@daily', 'x', 'Europe/Berln')")
        raise AssertionError("it was not refused")
    except psycopg2.Error as error:
        assert error.pgcode == "RP003", error.pgcode
        assert error.diag.message_primary == (
            'the server has no time zone "Europe/Berln"')
        assert error.diag.message_hint == "Similar names: Europe/Berlin"


@case
def a_zone_whose_name_is_also_an_abbreviation_has_its_own_offsets(s):
    s.rows("set timezone_abbreviations = 'Australia'")
    wrong = []
    for (name,) in s.rows("select name from pg_timezone_names where name ~ '^[A-Z]'"):
        s.one("select set_config('TimeZone', %s, false)", name)
        wrong += s.rows(
            "select %s, day from unnest('{2026-01-15, 2026-07-15}'::date[]) d(day), "
            "lateral (select (day + time '12:00') at time zone 'UTC' as at) t "
            "where readpast.offset_at(%s, at) "
            "      <> at::timestamp - (at at time zone 'UTC')", name, name)
    assert wrong == [], wrong


@case
def a_fire_that_fails_counts_no_jobs(s):
    s.one("select readpast.schedule_set('a', 'q', '* * * * *', 'x', missed => 'all')")
    s.rows(LATE, "10 minutes")
    s.rows("create function refuse() returns trigger language plpgsql as "
           "$$ begin if (select count(*) from readpast.job) > 1 then "
           "raise 'no more'; end if; return new; end $$")
    s.rows("create trigger refuse before insert on readpast.job "
           "for each row execute function refuse()")
    assert s.rows("select * from readpast.fire_due()") == [(1, 0)]
    assert s.one("select count(*) from readpast.job") == 0
    assert shown(s, "last_error") == "no more"


@case
def schedules_fire_together_each_into_its_queue(s):
    s.rows("select readpast.queue_create('q'), readpast.queue_create('r')")
    for i in range(24):
        s.one("select readpast.schedule_set(%s, %s, %s, %s, priority => %s, "
              "kind => %s, headers => '{\"h\": 1}')", f"s{i:02}", "qr"[i % 2],
              ("@daily", "every 7h", "5 4 * * *")[i % 3], f"p{i:02}",
              (None, 3)[i // 2 % 2], (None, f"k{i}")[i // 12])
    s.rows("update readpast.schedule set next_at = clock_timestamp() - "
           "case when mod(id, 5) = 0 then interval '9 s' else interval '1 s' end")
    due = s.rows("select name, next_at from readpast.schedule order by name")
    together = ("select t.* from (select array_agg(id) as ids from readpast.schedule) a, "
                "readpast.fire_together(a.ids, clock_timestamp()) t")
    s.rows("update readpast.schedule set overlap = 1 where mod(id, 4) = 0")
    live = s.one("select readpast.schedule_run('s03')")
    assert s.one(together) == (24, 23)
    assert shown(s, "last_job_id, last_error", "s03") == (
        None, f"job {live} was still live")
    assert s.rows("select name, last_at from readpast.schedule order by name") == due
    assert s.one(
        "select count(*) from readpast.schedules s join readpast.jobs j "
        "on j.id = s.last_job_id and j.queue = s.queue and j.state = 'ready' "
        "and j.payload = 'p' || right(s.name, 2) and j.priority = coalesce("
        "s.priority, 100) and j.kind is not distinct from s.kind "
        "and j.headers ->> 'readpast-schedule' = s.name "
        "and (j.headers ->> 'readpast-scheduled-for')::timestamptz "
        "    = date_trunc('milliseconds', s.last_at) and j.headers ->> 'h' = '1' "
        "and j.unique_key is not distinct from "
        "case s.overlap when 'skip' then 'cron:' || s.name end "
        "where s.next_at > now() and s.last_error is null") == 23
    order = s.rows("select s.last_at, s.id from readpast.job j join readpast.schedule s "
                   "on s.last_job_id = j.id where s.queue = 'q' and "
                   "s.priority is null and s.overlap = 0 order by j.seq")
    assert order == sorted(order)
    assert s.one("select count(*) from readpast.job") == 24


@case
def what_cannot_fire_together_fires_alone(s):
    s.rows("select readpast.queue_create('q'), readpast.queue_create('small')")
    for name, queue, payload, more in (
            ("a", "q", "x", ""), ("b", "new", "x", ""), ("c", "q", "x" * 3000, ""),
            ("d", "q", "x", ", overlap => 'skip'"), ("e", "small", "xx", ""),
            ("f", "q", "x", ", missed => 'all'"), ("g", "q", "fail", ""),
            ("h", "q", "x", "")):
        s.one("select readpast.schedule_set(%s, %s, %s, %s" + more + ")",
              name, queue, "every 1h" if name == "f" else "@daily", payload)
    s.rows("select readpast.queue_set('small', max_payload => 1)")
    s.rows("delete from readpast.queue where name = 'new'")
    s.rows("update readpast.schedule set next_at = clock_timestamp() - "
           "case name when 'f' then interval '210 min' else interval '1 s' end, "
           "anchor = clock_timestamp() - interval '510 min'")
    together = ("begin; select t.* from (select array_agg(id) as ids from "
                "readpast.schedule) a, readpast.fire_together(a.ids, now()) t")
    assert s.one(together) == (4, 4)  # a, d, g, h
    s.rows("rollback")
    s.rows("create function refuse() returns trigger language plpgsql as "
           "$$ begin if new.payload = 'fail' then raise 'not this one'; end if; "
           "return new; end $$")
    s.rows("create trigger refuse before insert on readpast.job "
           "for each row execute function refuse()")
    assert s.rows("select * from readpast.fire_due()") == [(8, 9)]
    assert s.rows("select name, last_error from readpast.schedule "
                  "where last_job_id is null order by name") == [
                      ("e", "payload too large: 2 bytes, queue small takes at most 1"),
                      ("g", "not this one")]
    assert s.rows("select name from readpast.schedule where next_at <= now()") == []


@case
def a_zone_that_cannot_be_loaded_is_tried_again(s):
    for name, zone, missed in (("a", "Europe/Berlin", "once"),
                               ("b", "Europe/Berlin", "skip"), ("c", "UTC", "once")):
        s.one("select readpast.schedule_set(%s, 'q', '@daily', 'x', zone => %s, "
              "missed => %s)", name, zone, missed)
    s.rows("update readpast.schedule set next_at = clock_timestamp() - case name "
           "when 'b' then interval '2 minutes' else interval '10 ms' end, "
           "zone = case zone when 'UTC' then zone else 'Europe/Berln' end")
    due = shown(s, "next_at")
    assert s.rows("select * from readpast.fire_due()") == [(3, 2)]
    assert s.rows("select * from readpast.fire_due()") == [(0, 0)]
    assert s.one("select count(*) from readpast.job") == 2
    for name in "ab":
        assert "Europe/Berln" in shown(s, "last_error", name)
    later = ("update readpast.schedule set retry_at = retry_at - interval '60 s'")
    s.rows(later)
    assert s.rows("select * from readpast.fire_due()") == [(2, 0)]
    assert "Europe/Berln" in shown(s, "last_error")
    assert shown(s, "last_at, next_at") == (due, due)
    s.rows("update readpast.schedule set zone = 'Europe/Berlin' where zone <> 'UTC'")
    assert s.rows("select * from readpast.fire_due()") == [(0, 0)]
    s.rows(later)
    assert s.rows("select * from readpast.fire_due()") == [(2, 0)]
    assert s.one("select count(*) from readpast.schedule where retry_at is not null "
                 "or last_error is not null or next_at < now()") == 0
    assert s.one("select count(*) from readpast.job") == 2


main()
