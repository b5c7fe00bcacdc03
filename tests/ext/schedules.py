#!/usr/bin/python3
"""Test the SQL functions of the extension that add, change, show and fire schedules.

  schedules.py EXTENSION READPAST

SPDX-License-Identifier: MIT
SPDX-FileCopyrightText: The readpast authors
"""

import json
import pathlib
import re
import sys
import time

from cases import case, connect, main, one, readpast, refused

SOURCE = pathlib.Path(__file__).resolve().parents[2]
ADD = "select readpast_schedule_set('a', 'q', ?, 'x')"
# Move the next fire into the past, as if no client had fired the schedule after that
# time.
LATE = "update readpast_schedule set next_at = next_at - ?"
MINUTE = 60_000


def shown(db, columns, name="a"):
    return db.execute(f"select {columns} from readpast_schedules(?)",
                      (name,)).fetchone()


def now():
    return time.time() * 1000


@case
def the_columns_are_those_of_the_view_on_postgresql(path):
    views = SOURCE / "sql/postgres/schema/001_first/9_look/views.sql"
    view = re.search(r"create view readpast\.schedules as\nselect (.*?)\n  from readpast",
                     views.read_text(), re.S)[1]
    # Remove parentheses and brackets with their content. Then each comma separates two
    # columns, and the text of each column ends with the column's name.
    while re.search(r"[(\[]", view):
        view = re.sub(r"\([^()]*\)|\[[^\[\]]*\]", "", view)
    wanted = [column.split()[-1].split(".")[-1] for column in view.split(",")]
    db = connect(path)
    one(db, ADD, "@daily")
    ours = [column[0] for column in db.execute(
        "select * from readpast_schedules()").description]
    assert len(wanted) == 17 and ours == wanted, (ours, wanted)


@case
def a_schedule_is_added_and_shown(path):
    db = connect(path)
    before = now()
    at = one(db, "select readpast_schedule_set('b', 'q', '*/10 * * * *', 'x')")
    assert before < at <= now() + 10 * MINUTE and at % (10 * MINUTE) == 0, at
    assert shown(db, "*", "b")[:-1] == (
        "b", "q", "*/10 * * * *", "UTC", "x", None, None, None, "once", "allow", at,
        None, None, None, None, None)
    assert before - 1 <= one(db, "select created_at from readpast_schedules") <= now()
    later = one(db, "select readpast_schedule_set('a', 'r', '30 2 * * 1-5', ?, ?)",
                b"a\0b", json.dumps({
                    "zone": "Europe/Berlin", "kind": "k", "headers": {"h": 1},
                    "priority": 7, "missed": "all", "overlap": "skip"}))
    assert shown(db, "queue, zone, payload, kind, headers, priority, missed, overlap,"
                     " next_at") == (
        "r", "Europe/Berlin", b"a\0b", "k", '{"h":1}', 7, "all", "skip", later)
    assert [name for (name,) in db.execute("select name from readpast_schedules")
            ] == ["a", "b"]
    assert shown(db, "name", "none") is None
    seen = [json.loads(line) for line in readpast(
        path, "cron", "list", "--json").splitlines()]
    assert [(s["name"], s["zone"], s["missed"], s["overlap"]) for s in seen] == [
        ("a", "Europe/Berlin", "all", "skip"), ("b", "UTC", "once", "allow")], seen


@case
def options_may_be_arguments_in_order(path):
    db = connect(path)
    one(db, "select readpast_schedule_set('a', 'q', '@daily', 'x', 'Asia/Tokyo', 'k',"
            " '{\"h\":1}', 7, 'skip', 'skip', false)")
    assert shown(db, "zone, kind, headers, priority, missed, overlap") == (
        "Asia/Tokyo", "k", '{"h":1}', 7, "skip", "skip")


@case
def a_schedule_fires_when_the_extension_sweeps(path):
    db = connect(path, isolation_level=None)
    at = one(db, "select readpast_schedule_set('a', 'q', 'every 1s', 'x',"
                 " '{\"kind\": \"k\", \"headers\": {\"h\": 1}, \"priority\": 7}')")
    assert one(db, "select fired from readpast_sweep()") == 0
    time.sleep(1.1)
    assert one(db, "select fired from readpast_sweep()") == 1
    assert shown(db, "last_at, last_job_id, last_state, last_error, next_at") == (
        at, 1, "ready", None, at + 1000)
    assert db.execute("select kind, priority, payload, headers ->> 'h',"
                      " headers ->> 'readpast-schedule' from readpast_get(1)"
                      ).fetchall() == [("k", 7, "x", 1, "a")]


@case
def a_name_that_is_taken_needs_replace(path):
    db = connect(path, isolation_level=None)
    one(db, ADD, "every 10m")
    assert refused(db, "select readpast_schedule_set('a', 'r', '@daily', 'x')") == (
        "readpast: there is a schedule named a (replace changes it)")
    assert db.execute("select spec, queue_r from readpast_schedules,"
                      " (select count(*) as queue_r from readpast_queue"
                      "   where name = 'r')").fetchall() == [("every 10m", 0)]
    db.execute(LATE, (MINUTE,))
    first = one(db, "select next_at from readpast_schedules")
    replace = "select readpast_schedule_set('a', 'r', 'every 10m', 'y', ?)"
    assert one(db, replace, json.dumps({"missed": "all", "replace": True})) == first
    assert shown(db, "queue, payload, missed, overlap, next_at") == (
        "r", "y", "all", "allow", first)
    assert one(db, replace, json.dumps({"zone": "Europe/Berlin", "replace": True})
               ) > first, "it counts from the change"


@case
def a_pause_ends_with_the_next_time(path):
    db = connect(path, isolation_level=None)
    one(db, ADD, "every 10m")
    assert one(db, "select readpast_schedule_pause('a')") is None
    assert shown(db, "paused_at")[0]
    db.execute(LATE, (25 * MINUTE,))
    assert one(db, "select fired from readpast_sweep()") == 0
    at = one(db, "select readpast_schedule_resume('a')")
    assert at > now() and shown(db, "next_at, paused_at") == (at, None)
    assert one(db, "select fired from readpast_sweep()") == 0
    db.execute(LATE, (10 * MINUTE,))
    due = one(db, "select next_at from readpast_schedules")
    assert one(db, "select readpast_schedule_resume('a')") == due, "it was not paused"


@case
def a_run_changes_no_time(path):
    db = connect(path)
    one(db, "select readpast_schedule_set('a', 'q', '@daily', 'x',"
            " '{\"overlap\": \"skip\"}')")
    times = shown(db, "next_at, last_at, last_job_id")
    assert one(db, "select readpast_schedule_run('a')") == 1
    assert one(db, "select readpast_schedule_run('a')") == 1
    assert shown(db, "next_at, last_at, last_job_id") == times
    assert db.execute("select headers ->> 'readpast-manual', unique_key"
                      " from readpast_get(1)").fetchall() == [("true", "cron:a")]


@case
def a_schedule_is_removed_and_its_jobs_stay(path):
    db = connect(path)
    one(db, ADD, "@daily")
    assert one(db, "select readpast_schedule_run('a')") == 1
    one(db, "select readpast_schedule_remove('a')")
    assert shown(db, "name") is None
    assert one(db, "select payload from readpast_claim('q')") == "x"
    for call in "remove", "pause", "resume", "run":
        assert refused(db, f"select readpast_schedule_{call}('a')") == (
            "readpast: no schedule named a")


@case
def calls_are_part_of_the_open_transaction(path):
    db = connect(path, isolation_level=None)
    one(db, ADD, "@daily")
    db.execute("begin")
    one(db, "select readpast_schedule_remove('a')")
    one(db, "select readpast_schedule_set('b', 'r', '@daily', 'x')")
    assert shown(db, "queue", "b") == ("r",)
    refused(db, "select readpast_schedule_set('b', 's', '@daily', 'x')")
    db.execute("rollback")
    assert [row for row in db.execute("select name from readpast_schedules")] == [
        ("a",)]
    assert one(db, "select count(*) from readpast_queue") == 1


@case
def wrong_arguments_are_refused_in_words(path):
    db = connect(path)
    one(db, ADD, "@daily")
    for words, given in (
            ('schedule "0 25 * * *": hour 25: expected 0 to 23',
             "'b', 'r', '0 25 * * *', 'x'"),
            ('schedule "0 0 30 2 *": never fires: there is no such day',
             "'b', 'r', '0 0 30 2 *', 'x'"),
            ('schedule "30 2 25-31 3 */7": never fires in Europe/Berlin',
             "'b', 'r', '30 2 25-31 3 */7', 'x', 'Europe/Berlin'"),
            ('unknown time zone "Europe/Berln": did you mean Europe/Berlin?',
             "'b', 'r', '@daily', 'x', '{\"zone\": \"Europe/Berln\"}'"),
            ("the spec is missing", "'b', 'r', null, 'x'"),
            ("the schedule's name is missing", "'', 'r', '@daily', 'x'"),
            ("the queue's name is missing", "'b', null, '@daily', 'x'"),
            ("the payload is missing", "'b', 'r', '@daily', null"),
            ("the time zone is not text", "'b', 'r', '@daily', 'x', 1"),
            ("the headers are not a JSON object",
             "'b', 'r', '@daily', 'x', '{\"headers\": [1]}'"),
            ("priority is not within 0..255",
             "'b', 'r', '@daily', 'x', '{\"priority\": 256}'"),
            ("missed must be once, all or skip",
             "'b', 'r', '@daily', 'x', '{\"missed\": \"none\"}'"),
            ("overlap must be allow or skip",
             "'b', 'r', '@daily', 'x', '{\"overlap\": \"\"}'"),
            ("unknown option delay: the options are zone, kind, headers, priority,"
             " missed, overlap, replace",
             "'b', 'r', '@daily', 'x', '{\"delay\": 1}'")):
        said = refused(db, f"select readpast_schedule_set({given})")
        assert said == "readpast: " + words, said
    assert "wrong number of arguments" in refused(
        db, "select readpast_schedule_set('b', 'r', '@daily')")
    assert [row for row in db.execute("select name from readpast_schedules")] == [
        ("a",)]
    assert one(db, "select count(*) from readpast_queue") == 1


sys.exit(main())
