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
    # Without its parentheses and brackets, each column is an expression that ends
    # with the column's name.
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


sys.exit(main())
