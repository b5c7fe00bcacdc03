#!/usr/bin/python3
"""Test every SQL function of the extension. Functions that PostgreSQL has as routines
must have the same names and arguments.

  functions.py EXTENSION READPAST

SPDX-License-Identifier: MIT
SPDX-FileCopyrightText: The readpast authors
"""

import json
import os
import pathlib
import re
import socket
import sqlite3
import subprocess
import sys
import threading
import time

from cases import READPAST, case, connect, main, one, readpast, refused

SOURCE = pathlib.Path(__file__).resolve().parents[2]

# Routines that SQLite does not have, or that take other arguments on SQLite. Each has a
# text that says why.
ELSEWHERE = {
    "settle_and_claim": "what workers of the library call",
    "register_waiter": "readpast_wait() sleeps by itself",
    "worker_named": "readpast_worker_start() answers the id",
    "unregister_waiter": "readpast_wait() sleeps by itself",
    "sweep_start": "readpast_sweep() asks nobody whose turn it is",
    "fire_due": "readpast_sweep() fires schedules",
}
# Arguments that only PostgreSQL's routine has, and arguments that only the extension's
# function has. For example, the function worker_stop takes no worker_id, because a
# connection to SQLite registers at most one worker.
LEFT_OUT = {"sweep": ["most"], "why": ["most"], "worker_stop": ["worker_id"]}
ADDED = {"claim": ["holding"]}


def rows(db, sql, *args):
    return db.execute(sql, args).fetchall()


def names(arguments):
    return re.findall(r"\w+", arguments)


def functions(db):
    """Return a row (name, arguments, columns or None) for each form in which a function
    can be called."""
    return rows(db, "select * from readpast_functions()")


def routines():
    """Return the routines that docs/postgres.md lists, with the names of their
    arguments."""
    documented = set()
    for line in (SOURCE / "docs/postgres.md").read_text().splitlines():
        cell = re.match(r"\| (`.*?`) \|", line)
        documented |= set(re.findall(r"`(\w+)\(", cell[1])) if cell else set()
    text = "".join(path.read_text() for path in sorted(
        (SOURCE / "sql/postgres/schema").rglob("*.sql")))
    for name, arguments in re.findall(
            r"create function readpast\.(\w+)\(([^)]*)\)", text):
        if name in documented:
            yield name, [word.split()[0] for word in arguments.split(",")
                         if word.strip() and word.split()[0] != "out"]
            documented.add(name + "!")
    missing = {name for name in documented if name + "!" not in documented
               and not name.endswith("!")}
    assert not missing, f"documented, and not in the schema: {missing}"


def serve(path, name, *jobs):
    """Return a connection to a database whose queue has these jobs."""
    db = connect(path)
    for payload in jobs:
        one(db, "select readpast_enqueue(?, ?)", name, payload)
    return db


@case
def each_routine_of_postgresql_has_a_twin_with_the_same_arguments(path):
    ours = {}
    for name, arguments, _ in functions(connect(path)):
        ours.setdefault(name, []).append(names(arguments))
    seen = set()
    for name, arguments in routines():
        seen.add(name)
        twins = ours.get("readpast_" + name, [])
        if name in ELSEWHERE:
            assert not twins, name
            continue
        wanted = [word for word in arguments
                  if word not in LEFT_OUT.get(name, [])] + ADDED.get(name, [])
        assert wanted in twins, (name, wanted, twins)
    assert len(seen) > 15 and set(ELSEWHERE) < seen, seen


@case
def the_manual_lists_each_function_with_its_arguments(path):
    listed = {}
    for line in (SOURCE / "man/readpast.3").read_text().splitlines():
        item = re.match(r"\.It Fn (readpast_\w+) ?(.*)", line)
        if item:
            listed.setdefault(item[1], []).append(names(item[2]))
    ours = {}
    for name, arguments, _ in functions(connect(path)):
        if names(arguments) not in ours.setdefault(name, []):
            ours[name].append(names(arguments))
    assert listed == ours, {name: (listed.get(name), ours.get(name))
                            for name in listed.keys() | ours.keys()
                            if listed.get(name) != ours.get(name)}


@case
def a_NUL_is_refused_in_every_text(path):
    """The message about a NUL is the message that the command line prints for other
    control characters."""
    db = serve(path, "q", "x")
    db.execute("select * from readpast_claim('q', 1)").fetchall()
    bad = "a\0b"
    tried = 0
    for name, arguments, columns in functions(db):
        words = names(arguments)
        for i, word in enumerate(words):
            if word in ("payload", "result", "id", "claim_no", "job_id"):
                continue
            values = [1 if w in ("id", "claim_no", "job_id", "duration") else "q"
                      for w in words[:i]]
            # Pass null for optional arguments that come before the tested argument.
            least = len(names(arguments.split("[")[0]))
            values = [v if n < least else None for n, v in enumerate(values)]
            values += [bad] + ["q"] * (least - i - 1)
            marks = ", ".join("?" * len(values))
            select = f"select * from {name}({marks})" if columns \
                else f"select {name}({marks})"
            got = refused(db, select, *values)
            assert "has a control character" in got, (select, values, got)
            tried += 1
    assert tried > 40, tried
    for member, what in (("unique_key", "the unique key"), ("kind", "the kind")):
        for option in (f"user{chr(0)}1", "user\t1"):
            got = refused(db, "select readpast_enqueue('q', 'x', ?)",
                          json.dumps({member: option}))
            assert got == f"readpast: {what} has a control character", got
    run = subprocess.run([READPAST, "--db", f"sqlite:{path}", "enqueue", "q", "x",
                          "--unique", "a\tb"], capture_output=True, text=True)
    assert "the unique key has a control character" in run.stderr, run
    for array in ('["a\\u0000b"]', '["\\\\\\u0000"]'):
        assert "has a control character" in refused(
            db, "select * from readpast_enqueue_many('q', ?)", array)
    assert rows(db, "select id from readpast_enqueue_many('q', ?)",
                '["\\\\u0000"]') == [(2,)]
    assert one(db, "select payload from readpast_get(2)") == "\\u0000"
    # A payload may contain any bytes.
    assert one(db, "select readpast_enqueue('q', ?)", bad) == 3
    assert one(db, "select payload from readpast_get(3)") == b"a\0b"


@case
def names_and_keys_are_text_and_nothing_else(path):
    db = connect(path)
    for sql, words in (
            ("select readpast_enqueue(7, 'x')", "the queue's name is not text"),
            ("select readpast_enqueue('q', 'x', '{\"backoff\": ["
             + ",".join(["999999999999999999"] * 100) + "]}')",
             "backoff 1: the delay is longer than 3650 days"),
            ("select readpast_enqueue('q', 'x', '{\"backoff\": [\"1s\", null]}')",
             "backoff 2: null is not a duration"),
            ("select readpast_enqueue('q', 'x', '{\"backoff\": [\"\"]}')",
             "backoff 1: an empty text is not a duration"),
            ("select readpast_enqueue('q', 'x', '{\"unique_key\": true}')",
             "the unique key is not text"),
            ("select readpast_enqueue('q', 'x', '{\"unique_key\": 1}')",
             "the unique key is not text"),
            ("select readpast_enqueue('q', 'x', '{\"kind\": [1]}')", None),
            ("select readpast_enqueue('q', 'x', null, null, null, null, x'61')",
             "the kind is not text"),
            ("select * from readpast_enqueue_many('q', '[1]', null, null, null, '[1]')",
             "the kind is not text"),
            ("select readpast_enqueue('q', null)", "the payload is missing"),
            ("select readpast_worker_start('w', '[7]')", "is not a string")):
        if words:
            assert words in refused(db, sql), (sql, refused(db, sql))
    assert one(db, "select count(*) from readpast_list('q')") == 0


@case
def a_lease_of_0_is_refused(path):
    db = serve(path, "q", "x")
    for lease in (0, "0", "0s", '{"lease": 0}'):
        sql = "select * from readpast_claim('q', 1, ?)"
        if str(lease).startswith("{"):
            sql = "select * from readpast_claim('q', ?)"
        assert "the lease must be at least 1 ms" in refused(db, sql, lease), lease
    claim = rows(db, "select id, claim_no from readpast_claim('q')")[0]
    assert "the lease must be at least 1 ms" in refused(
        db, "select readpast_extend(?, ?, '0s')", *claim)
    assert "the lease must be at least 1 ms" in refused(
        db, "select readpast_queue_set('q', '{\"lease\": 0}')")


@case
def arguments_may_be_in_order_or_named_in_an_object(path):
    db = connect(path)
    one(db, "select readpast_enqueue('q', 'x', 7, null, null, 9, 'k',"
            " '{\"a\":\"b\"}', 'u', false)")
    one(db, "select readpast_enqueue('q', 'y', ?)",
        '{"priority": 7, "max_attempts": 9, "kind": "k", "headers": {"a":"b"},'
        ' "unique_key": "v"}')
    seen = rows(db, "select priority, max_attempts, kind, headers, payload, unique_key"
                    " from readpast_claim('q', 2, null, 'w')")
    assert seen == [(7, 9, "k", '{"a":"b"}', "x", "u"),
                    (7, 9, "k", '{"a":"b"}', "y", "v")], seen
    assert rows(db, "select count(*) from readpast_list('q', '{\"n\": 1}')") == [(1,)]
    assert "no argument may follow" in refused(
        db, "select readpast_enqueue('q', 'x', '{\"priority\": 1}', 5)")
    assert "unknown option queue" in refused(
        db, "select readpast_enqueue('q', 'x', '{\"queue\": \"r\"}')")


@case
def each_list_checks_the_schema_when_it_is_the_first_call(path):
    lists = "stats", "queue_list", "worker_list", "schedules"
    for name in lists:
        assert rows(connect(":memory:"), f"select * from readpast_{name}()") == []
    db = serve(path, "q", "x")
    db.execute("update readpast_meta set value = 999 where name = 'schema'")
    db.commit()
    for name in lists:
        words = refused(connect(path), f"select * from readpast_{name}()")
        assert "has schema 999, newer than this readpast's" in words, (name, words)


@case
def an_enqueue_returns_its_outcome(path):
    db = connect(path)
    one(db, "select readpast_queue_create('q')")
    put = "select id, outcome from readpast_enqueue('q', ?, ?)"
    key, replace = '{"unique_key": "u"}', '{"unique_key": "u", "replace": true}'
    assert rows(db, put, "one", key) == [(1, "added")]
    assert rows(db, put, "two", key) == [(1, "existed")]
    assert rows(db, put, "three", replace) == [(1, "replaced")]
    assert rows(db, "select payload from readpast_claim('q')") == [("three",)]
    running = subprocess.run([READPAST, "--db", f"sqlite:{path}", "enqueue", "q",
                              "four", "--unique", "u", "--replace"],
                             capture_output=True, text=True)
    assert running.returncode == 4, running
    words = "job 1 cannot be replaced: it is running, or it is done and keeps its key"
    assert words in running.stderr
    assert words in refused(db, put, "four", replace)
    assert words in refused(db, "select readpast_enqueue('q', 'four', ?)", replace)
    db.execute("create table t (x)")
    db.execute("insert into t values (1)")
    assert words in refused(db, "select readpast_enqueue('q', 'four', ?)", replace)
    db.commit()
    assert one(db, "select count(*) from t") == 1
    assert one(db, "select payload from readpast_get(1)") == "three"


@case
def many_jobs_are_enqueued_by_one_call(path):
    db = connect(path)
    payloads = ["one", "", "zwei\n\"\\", "três", {"a": [1, "]", {"b": "}"}]}, 7,
                -1.5, True, False, [], "\u20ac\U0001f600"]
    texts = [p if isinstance(p, str) else json.dumps(p) for p in payloads]
    texts[4] = '{"a":[1,"]",{"b":"}"}]}'
    ids = rows(db, "select id from readpast_enqueue_many('q', ?)", json.dumps(payloads))
    assert ids == [(n + 1,) for n in range(len(payloads))], ids
    got = [row[0] for row in rows(db, "select payload from readpast_claim('q', 99)")]
    assert got == texts, got
    assert rows(db, "select id from readpast_enqueue_many('r', ' [ ] ')") == []
    rows(db, "select id from readpast_enqueue_many('s', '[\"a\" , \"b\",\"c\"]', 5,"
             " '[null, \"1h\", 60000]', 9, '[\"k\", null, \"l\"]',"
             " '[{\"h\": 1}, null, null]')")
    assert rows(db, "select priority, max_attempts, kind, headers, state"
                    " from readpast_list('s') order by id") == [
        (5, 9, "k", '{"h":1}', "ready"), (5, 9, None, None, "scheduled"),
        (5, 9, "l", None, "scheduled")]
    db.execute("create table t (x)")
    db.execute("insert into t select id from readpast_enqueue_many('t', '[1, 2]')")
    db.rollback()
    assert rows(db, "select * from readpast_list('t')") == []


@case
def a_wrong_array_enqueues_nothing(path):
    db = connect(path)
    one(db, "select readpast_queue_create('q')")
    for array, words in (("x", "expected a JSON array"), ("", "expected a JSON array"),
                         ("]", "expected a JSON array"),
                         ("{}", "expected a JSON array"), ("[1", "JSON array"),
                         ("[1] 2", "JSON array"), ("[1,]", ""), ("[,1]", ""),
                         ("[1 2]", "JSON array"), ('["a]', ""), ('["a" x]', ""),
                         ("[a]", "malformed JSON"), ('[{"a": }]', "malformed JSON"),
                         ("[[1]", ""), ("[1]]", ""), ('["\\x"]', "malformed JSON"),
                         ("[null]", "job 1: the payload is null")):
        got = refused(db, "select * from readpast_enqueue_many('q', ?)", array)
        assert got.startswith("readpast: ") and words in got, (array, got)
    for more, words in (("'[1]'", "delays: expected 2 elements, one for each payload, and got 1"),
                        ("'[1, \"x\"]'", "job 2: x is not a duration"),
                        ("'[1, true]'", "job 2: true is not a duration"),
                        ("'[1, 1.5]'", "job 2: 1.5 is not a duration"),
                        ("'[1, -1]'", "job 2: the delay is negative"),
                        ("null, null, '[\"k\"]'", "kinds: expected 2 elements, one for each payload, and got"),
                        ("null, null, '[\"k\", \"\"]'", "job 2: the kind is missing"),
                        ("null, null, null, '[1, 2]'", "headers")):
        got = refused(db, "select * from readpast_enqueue_many('q', '[1, 2]',"
                          f" null, {more})")
        assert words in got, (more, got)
    one(db, "select readpast_queue_set('q', '{\"max_payload\": 3}')")
    assert "job 2: payload too large: 4 bytes, queue q takes at most 3" in refused(
        db, "select * from readpast_enqueue_many('q', '[\"a\", \"aaaa\"]')")
    assert rows(db, "select * from readpast_list('q')") == []


@case
def many_jobs_are_completed_by_one_call(path):
    db = serve(path, "q", *"abc")
    claims = rows(db, "select id, claim_no from readpast_claim('q', 3)")
    one(db, "select readpast_release(?, ?)", *claims[1])
    ids, numbers = (json.dumps(column) for column in zip(*claims))
    assert rows(db, "select id, accepted from readpast_complete(?, ?)", ids,
                numbers) == [(1, 1), (2, 0), (3, 1)]
    assert rows(db, "select id from readpast_list('q')") == [(2,)]
    assert "2 ids and 1 claim_nos" in refused(
        db, "select * from readpast_complete('[1, 2]', '[1]')")
    assert "is not a number" in refused(
        db, "select * from readpast_complete('[\"1\"]', '[1]')")


@case
def results_and_progress_are_stored_and_returned(path):
    db = serve(path, "q", *"abcdefgh")
    one(db, "select readpast_queue_set('q', '{\"keep_done\": \"1h\"}')")

    def claim():
        return rows(db, "select id, claim_no from readpast_claim('q')")[0]
    for value in ('{"a": 1}', "text", b"a\0b\xff", None):
        job, number = claim()
        assert one(db, "select readpast_complete(?, ?, ?)", job, number,
                   value) == "done"
        assert one(db, "select result from readpast_get(?)", job) == value
    claims = rows(db, "select id, claim_no from readpast_claim('q', 3)")
    ids, numbers = (json.dumps(column) for column in zip(*claims))
    assert "3 ids and 1 results" in refused(
        db, "select * from readpast_complete(?, ?, '[1]')", ids, numbers)
    rows(db, "select * from readpast_complete(?, ?, ?)", ids, numbers,
         '["one", null, {"a":1}]')
    assert [one(db, "select result from readpast_get(?)", job)
            for job, _ in claims] == ["one", None, '{"a":1}']
    job, number = claim()
    assert "more than 65536" in refused(
        db, "select readpast_complete(?, ?, zeroblob(65537))", job, number)
    assert "more than 4096" in refused(
        db, "select readpast_extend(?, ?, null, ?)", job, number, "x" * 4097)
    assert one(db, "select readpast_extend(?, ?, '{\"progress\": \"half\"}')",
               job, number) == "running"
    one(db, "select readpast_release(?, ?)", job, number)
    assert rows(db, "select id, progress from readpast_claim('q')") == [(job, "half")]


@case
def jobs_are_cancelled_retried_and_purged(path):
    db = serve(path, "q", *"abcdef")
    state = "select state from readpast_get(?)"
    claims = rows(db, "select id, claim_no from readpast_claim('q', 3)")
    for claim in claims:
        assert one(db, "select readpast_fail(?, ?, 'no', null, true)", *claim) == "dead"
    assert one(db, "select readpast_retry(1)") is None
    assert one(db, state, 1) == "ready"
    assert one(db, "select readpast_retry_dead('q')") == 2
    assert one(db, "select readpast_cancel(2)") is None
    assert one(db, state, 2) == "cancelled"
    assert "job 2 is cancelled" in refused(db, "select readpast_cancel(2)")
    assert "has no kind" in refused(db, "select readpast_cancel(1, 'k')")
    assert "no job has the id 99" in refused(db, "select readpast_retry(99)")
    assert "unknown state \"soon\"" in refused(db, "select readpast_purge('q', 'soon')")
    assert "running jobs cannot be purged" in refused(
        db, "select readpast_purge('q', 'running')")
    one(db, "select readpast_change(1, 3, null, null, null, 9)")
    assert rows(db, "select priority, max_attempts from readpast_get(1)") == [(3, 9)]
    one(db, """select readpast_change(1, '{"delay": "1h"}')""")
    assert one(db, state, 1) == "scheduled"
    assert "nothing to change" in refused(db, "select readpast_change(1)")
    assert "no queue named none" in refused(db, """select readpast_change(1, '{"queue": "none"}')""")
    one(db, "select readpast_change(1, 100, 0)")
    assert one(db, "select readpast_purge('q', 'cancelled')") == 1
    assert rows(db, state, 2) == []
    assert one(db, "select readpast_purge('q', 'all', 'k')") == 0
    assert one(db, "select readpast_purge('q', 'all')") == 5
    assert "no queue named" in refused(db, "select readpast_purge('r', 'all')")


@case
def a_job_is_shown_with_all_its_fields(path):
    db = connect(path)
    one(db, "select readpast_enqueue('q', 'x', '{\"kind\": \"k\"}')")
    rows(db, "select id from readpast_claim('q', 1, '1h', 'w')")
    db.row_factory = sqlite3.Row
    job = dict(db.execute("select * from readpast_get(1)").fetchone())
    shown = json.loads(readpast(path, "show", "1", "--json"))
    assert (job["state"], job["worker"], job["kind"], job["payload"]) == (
        "running", "w", "k", "x"), job
    assert shown["worker"] == "w" and shown["state"] == "running", shown
    assert job["lease_until"] == job["claimed_at"] + 3600000, job
    assert job["finished_at"] is None
    listed = [dict(row) for row in db.execute("select * from readpast_list('q')")]
    assert listed == [job]
    assert rows(db, "select * from readpast_list('q', 'ready')") == []
    assert rows(db, "select * from readpast_list('nowhere')") == []


@case
def a_list_has_all_bytes_of_each_payload(path):
    """The library's lists have only the first 256 bytes of each payload. The
    extension's list has all bytes."""
    payloads = ["x" * 257, "€" * 100, "y" * (2 << 20), b"\xff\0" * 200]
    db = serve(path, "q", *payloads)
    listed = "select payload from readpast_list('q', ?) order by id"
    assert [row[0] for row in rows(db, listed, "ready")] == payloads
    one(db, "select readpast_enqueue('q', 'later', '{\"delay\": \"1h\"}')")
    assert rows(db, listed, "scheduled") == [("later",)]
    assert one(db, "select count(*) from readpast_claim('q', 4)") == 4
    assert [row[0] for row in rows(db, listed, "running")] == payloads
    one(db, "select readpast_cancel(3)")
    assert rows(db, listed, "cancelled") == [(payloads[2],)]


@case
def queues_are_made_set_paused_and_dropped(path):
    db = connect(path)
    assert one(db, "select readpast_queue_create('q')") is None
    one(db, "select readpast_queue_set('q', 5, '90s')")
    one(db, "select readpast_queue_set('q', '{\"keep_done\": \"1d\", \"backoff\": 0}')")
    db.row_factory = sqlite3.Row
    settings = dict(db.execute("select * from readpast_queue_list('q')").fetchone())
    db.row_factory = None
    assert settings == {
        "name": "q", "paused_at": None, "pause_reason": None, "max_attempts": 5, "lease_ms": 90000,
        "backoff_ms": 0, "backoff_max_ms": 3600000, "priority": 100,
        "keep_done_ms": 86400000, "keep_dead_ms": 30 * 86400000,
        "max_payload": 16 << 20, "timeout_ms": 0, "dead_to": None,
        "run_limit": 0, "group_limit": 0, "group_on_failure": "block",
        "rate": 0, "per": None, "held_until": None}, settings
    assert "max_attempts is not within 1..1000000000" in refused(
        db, "select readpast_queue_set('q', 0)")
    one(db, "select readpast_queue_set('q', '{\"dead_to\": \"d\"}')")
    assert rows(db, "select name, dead_to from readpast_queue_list()") == [
        ("d", None), ("q", "d")]
    assert "would come back" in refused(
        db, "select readpast_queue_set('d', '{\"dead_to\": \"q\"}')")
    one(db, "select readpast_queue_set('q', '{\"dead_to\": \"\"}')")
    one(db, "select readpast_drop_queue('d')")
    one(db, "select readpast_enqueue('q', 'x')")
    one(db, "select readpast_pause('q')")
    assert rows(db, "select paused, pause_reason from readpast_stats('q')") == [(1, None)]
    one(db, "select readpast_pause('q', 'no mail')")
    one(db, "select readpast_pause('q')")
    assert rows(db, "select paused, pause_reason from readpast_stats('q')") == [
        (1, "no mail")]
    assert rows(db, "select pause_reason from readpast_why(1)") == [("no mail",)]
    assert rows(db, "select pause_reason from readpast_queue_list()") == [("no mail",)]
    assert "the reason is longer than 255 bytes" in refused(
        db, "select readpast_pause('q', printf('%256s', 'x'))")
    assert rows(db, "select id from readpast_claim('q')") == []
    assert rows(db, "select ready, paused from readpast_probe('q')") == [(0, 1)]
    one(db, "select readpast_resume('q')")
    assert rows(db, "select paused, pause_reason from readpast_stats('q')") == [(0, None)]
    assert rows(db, "select ready, paused, running from readpast_probe('q')") == [
        (1, 0, 0)]
    assert "no queue named r" in refused(db, "select readpast_pause('r')")
    assert rows(db, "select name, ready, ready_at_least, running_at_least"
                    " from readpast_stats()") == [("q", 1, 0, 0)]
    assert rows(db, "select name from readpast_stats('r')") == []
    one(db, "select readpast_drop_queue('q')")
    assert rows(db, "select * from readpast_queue_list()") == []


@case
def groups_are_limited_held_and_listed(path):
    db = connect(path)
    one(db, "select readpast_queue_set('q', '{\"group_limit\": 1, \"rate\": 9, "
            "\"per\": \"1h\", \"group_on_failure\": \"pass\"}')")
    assert rows(db, "select group_limit, group_on_failure, rate, per"
                    " from readpast_queue_list('q')") == [(1, "pass", 9, 3600000)]
    for bad, message in (
            ('{"rate": 5}', "per is missing"), ('{"per": "1s"}', "rate is missing"),
            ('{"rate": 5, "per": 0}', "at least 1 ms"),
            ('{"group_limit": -1}', "group_limit is not within 0..100000"),
            ('{"group_on_failure": "x"}', "group_on_failure must be block or pass")):
        assert message in refused(db, "select readpast_queue_set('q', ?)", bad), bad
    for payload, group in (("a1", "a"), ("a2", "a"), ("b1", "b")):
        one(db, "select readpast_enqueue('q', ?, json_object('group_key', ?))",
            payload, group)
    groups = "select name, waiting, ready, running, held_until > 0 from readpast_groups"
    assert rows(db, groups + "('q')") == [("a", 1, 1, 0, None), ("b", 0, 1, 0, None)]
    assert rows(db, groups + "('q', true)") == [("a", 1, 1, 0, None)]
    assert rows(db, groups + "('q', false, 'a', 5)") == [("b", 0, 1, 0, None)]
    assert rows(db, groups + "('nosuch')") == []
    assert one(db, "select blocked from readpast_stats('q')") == 1
    assert [row[0] for row in rows(db, "select payload from readpast_list('q', 'blocked')")] \
        == ["a2"]
    first = db.execute("select id, claim_no from readpast_claim('q')").fetchone()
    assert one(db, "select group_ahead from readpast_why(2)") == 0
    assert json.loads(one(db, "select group_next from readpast_why(2)"))["id"] == first[0]
    assert "hold_for is missing" in refused(
        db, "select readpast_release(?, ?, 0, 'group')", *first)
    assert "hold must be group or queue" in refused(
        db, "select readpast_release(?, ?, 0, 'job', '1h')", *first)
    assert one(db, "select readpast_release(?, ?, 0, 'group', '1h')", *first) == "blocked"
    assert rows(db, groups + "('q')")[0] == ("a", 2, 0, 0, 1)
    one(db, "select readpast_clear_hold('q', 'a')")
    one(db, "select readpast_sweep()")
    assert rows(db, groups + "('q')")[0] == ("a", 1, 1, 0, None)
    one(db, "select readpast_hold('q', '1h')")
    assert rows(db, "select id from readpast_claim('q')") == []
    assert one(db, "select held_until > 0 from readpast_queue_list('q')") == 1
    assert "no queue named" in refused(db, "select readpast_hold('nosuch', 1)")
    assert "at least 1 ms" in refused(db, "select readpast_hold('q', 0)")


@case
def changes_in_a_transaction_are_rolled_back_with_it(path):
    db = serve(path, "q", *"abc")
    claims = rows(db, "select id, claim_no from readpast_claim('q', 1)")
    before = readpast(path, "list", "q", "--json")
    for sql, args in (("select readpast_cancel(2)", ()),
                      ("select readpast_purge('q', 'all')", ()),
                      ("select readpast_queue_set('q', 9)", ()),
                      ("select readpast_pause('q')", ()),
                      ("select readpast_fail(?, ?, 'no', null, 1)", claims[0]),
                      ("select * from readpast_complete(?, ?)",
                       [f"[{n}]" for n in claims[0]])):
        db.execute("begin immediate")
        db.execute(sql, args).fetchall()
        db.execute("rollback")
        assert readpast(path, "list", "q", "--json") == before, sql
    assert one(db, "select max_attempts from readpast_queue_list('q')") == 3


@case
def a_client_that_holds_jobs_gets_no_suspects(path):
    db = connect(path)
    one(db, "select readpast_queue_set('q', 2)")
    one(db, "select readpast_enqueue('q', 'x')")
    assert len(rows(db, "select id from readpast_claim('q', 1, 1)")) == 1
    while one(db, "select readpast_sweep()") == 0:
        pass
    one(db, "select readpast_enqueue('q', 'y')")
    assert rows(db, "select suspects from readpast_probe('q')") == [(1,)]
    took = "select id, suspect from readpast_claim('q', ?)"
    assert rows(db, took, '{"n": 5, "holding": 1}') == [(2, 0)]
    assert rows(db, took, '{"n": 5, "holding": 1}') == []
    assert rows(db, took, '{"n": 5}') == [(1, 1)]


@case
def a_sweep_returns_what_it_has_done(path):
    db = serve(path, "q", "x", "y")
    assert len(rows(db, "select id from readpast_claim('q', 1, 1)")) == 1
    readpast(path, "cron", "add", "q", "s", "@daily")
    rows(db, "update readpast_schedule set next_at = unixepoch() * 1000 - 1000")
    total = [0] * 6
    while not total[1]:
        done, = rows(db, "select * from readpast_sweep()")
        total = [a + b for a, b in zip(total, done)]
    assert total == [0, 1, 0, 0, 0, 1], total


@case
def a_sweep_as_a_table_waits_for_another_writer(path):
    holder = serve(path, "q", "x")
    rows(holder, "select id from readpast_claim('q', 1, 1)")
    time.sleep(0.002)  # the lease's millisecond is over
    holder.execute("begin immediate")
    db = connect(path, isolation_level=None, timeout=0.3)
    began = time.monotonic()
    assert "locked" in refused(db, "select recovered from readpast_sweep()")
    assert time.monotonic() - began > 0.25
    holder.execute("rollback")
    assert rows(db, "select recovered from readpast_sweep()") == [(1,)]


# ---- workers ----

def workers(path):
    return json.loads("[" + ",".join(
        readpast(path, "workers", "--json").splitlines()) + "]")


@case
def a_connection_is_registered_as_a_worker(path):
    db = serve(path, "q", "x", "y")
    doctor = [READPAST, "--db", f"sqlite:{path}", "doctor"]
    told = subprocess.run(doctor, capture_output=True, text=True)
    assert "no worker takes them" in told.stdout, told
    number = one(db, "select readpast_worker_start('mailer', '[\"q\", \"r\"]')")
    worker, = workers(path)
    assert (worker["id"], worker["name"], worker["host"], worker["pid"]) == (
        number, "mailer", socket.gethostname(), os.getpid()), worker
    told = subprocess.run(doctor, capture_output=True, text=True)
    assert "no worker takes them" not in told.stdout, told
    assert rows(db, "select workers from readpast_stats('q')") == [(1,)]
    claim = rows(db, "select id, claim_no from readpast_claim('q')")[0]
    assert "mailer" in readpast(path, "why", "1")
    assert rows(db, "select workers, worker_id, pid from readpast_why(1)") == [
        (1, number, os.getpid())]
    assert one(db, "select worker from readpast_jobs where id = 1") == "mailer"
    one(db, "select readpast_complete(?, ?)", *claim)
    assert one(db, "select readpast_worker_beat()") == number
    assert rows(db, "select name, running, done from readpast_worker_list()") == [
        ("mailer", 0, 1)]
    assert one(db, "select readpast_worker_stop()") is None
    assert rows(db, "select workers from readpast_stats('q')") == [(0,)]
    assert "is not a worker" in refused(db, "select readpast_worker_beat()")


@case
def a_claim_that_names_its_worker_registers_it(path):
    db = serve(path, "q", "x", "y", "z")
    claim = "select id from readpast_claim(?, 1, null, ?)"
    rows(db, claim, "q", "importer")
    number = one(db, "select id from readpast_worker_list()")
    rows(db, claim, "q", "importer")
    assert rows(db, "select id, queues, running from readpast_worker_list()") == [
        (number, '["q"]', 2)]
    rows(db, claim, "r", "importer")
    assert one(db, "select queues from readpast_worker_list() order by id desc"
               ) == '["q","r"]'
    # A claim in a transaction does not register its worker, because the transaction may
    # be rolled back.
    other = connect(path)
    other.execute("begin immediate")
    rows(other, claim, "q", "another")
    assert one(other, "select worker from readpast_get(3)") is None
    other.commit()
    assert "another" not in readpast(path, "workers", "--json")


@case
def a_worker_whose_row_was_deleted_registers_again(path):
    db = connect(path)
    number = one(db, "select readpast_worker_start('w', 'q')")
    with sqlite3.connect(path) as other:
        other.execute("delete from readpast_worker")
    assert one(db, "select readpast_worker_beat()") > number
    assert one(db, "select name from readpast_worker_list()") == "w"


# ---- waiting ----

@case
def a_wait_ends_when_there_is_work_or_the_time_is_over(path):
    db = connect(path)
    wait = "select readpast_wait(?, ?)"
    assert one(db, wait, "q", 0) == 0
    assert one(db, wait, "q", "20ms") == 0
    one(db, "select readpast_enqueue('r', 'x')")
    assert one(db, wait, "q", 0) == 0
    assert one(db, wait, '["q", "r"]', "1h") == 1
    assert one(db, wait, "r", "1h") == 1
    assert "not a duration" in refused(db, wait, "q", "soon")
    assert "queues: the array is empty" in refused(db, wait, "[]", 0)
    assert "the queue's name is missing" in refused(db, wait, "", 0)


def in_call(function):
    """Start a thread, and wait until it sleeps in a system call other than futex. A
    thread that sleeps in futex waits for Python's own lock."""
    thread = threading.Thread(target=function, daemon=True)
    thread.start()
    state = pathlib.Path(f"/proc/self/task/{thread.native_id}/syscall")
    while state.read_text().split()[0] in ("running", "202"):
        time.sleep(0.001)
    return thread


@case
def a_wait_for_a_job_ends_with_its_state(path):
    db = connect(path, check_same_thread=False)
    for payload in ("done", "dead", "cancelled", "live"):
        one(db, "select readpast_enqueue('q', ?)", payload)
    wait = "select readpast_wait(?, ?)"
    thread_says = []
    assert one(db, wait, 1, "20ms") is None
    for id, claim_no in rows(db, "select id, claim_no from readpast_claim('q', 2)"):
        one(db, "select readpast_complete(?, ?)" if id == 1 else
            "select readpast_fail(?, ?, 'no', null, true)", id, claim_no)
    one(db, "select readpast_cancel(3)")
    assert [one(db, wait, id, 0) for id in (1, 2, 3, 4)] == [
        "done", "dead", "cancelled", None]
    assert "this id was never given to a job" in refused(db, wait, 9999, 0)
    assert one(db, wait, 1, "10m") == "done"
    assert "not within 0..10 minutes" in refused(db, wait, 1, "601s")
    thread = in_call(lambda: thread_says.append(
        one(db, "select readpast_wait(4)")))
    readpast(path, "cancel", "4")
    thread.join(10)
    assert thread_says == ["cancelled"]


@case
def a_wait_ends_when_another_process_enqueues(path):
    connect(path).execute("select readpast_queue_create('q')").fetchall()
    answers = []
    db = connect(path, check_same_thread=False)

    def wait():
        answers.append(one(db, "select readpast_wait('q', '1h')"))

    thread = in_call(wait)
    readpast(path, "enqueue", "q", "x")
    thread.join(60)
    assert answers == [1], answers


@case
def a_wait_holds_no_lock_and_no_snapshot(path):
    db = connect(path, check_same_thread=False)
    one(db, "select readpast_queue_create('q')")
    other = sqlite3.connect(path)
    other.execute("create table t (x)")
    thread = in_call(lambda: one(db, "select readpast_wait('q', '1h')"))
    for n in range(50):
        other.execute("insert into t values (?)", (n,))
        other.commit()
        busy, log, moved = other.execute(
            "pragma wal_checkpoint(truncate)").fetchone()
        assert (busy, log, moved) == (0, 0, 0), (n, busy, log, moved)
    assert thread.is_alive()
    readpast(path, "enqueue", "q", "x")
    thread.join(60)
    assert not thread.is_alive()


@case
def P6_a_worker_that_is_never_idle_sweeps_all_queues(path):
    db = serve(path, "dead", "x")
    assert len(rows(db, "select id from readpast_claim('dead', 1, 1)")) == 1
    state = "select state from readpast_get(1)"
    while one(db, state) == "running":
        one(db, "select readpast_enqueue('busy', 'y')")
        assert one(db, "select readpast_wait('busy', '1h')") == 1
        rows(db, "select readpast_complete(id, claim_no) from readpast_claim('busy')")
    assert one(db, state) == "ready"


@case
def a_wait_is_refused_while_a_transaction_is_open(path):
    db = serve(path, "q", "x")
    db.execute("create table t (x)")
    db.execute("insert into t values (1)")
    words = "cannot be called while a transaction is open"
    assert words in refused(db, "select readpast_wait('q', 0)")
    db.commit()
    db.execute("begin")
    assert words in refused(db, "select readpast_wait('q', 0)")
    db.rollback()
    assert words in refused(db, "select readpast_wait('q', 0) from t")
    assert words in refused(db, "insert into t select readpast_wait('q', 0)")
    db.rollback()
    assert one(db, "select readpast_wait('q', 0)") == 1


@case
def a_worker_that_waits_goes_on_sending_heartbeats(path):
    """While a call waits, it updates the worker's heartbeat every five seconds."""
    connect(path).execute("select readpast_queue_create('q')").fetchall()
    db = connect(path, check_same_thread=False)
    one(db, "select readpast_worker_start('w', 'q')")
    other = connect(path)
    seen = "select seen_at from readpast_worker_list()"
    first = one(other, seen)
    thread = in_call(lambda: one(db, "select readpast_wait('q', '1h')"))
    while one(other, seen) == first:
        time.sleep(0.1)
    readpast(path, "enqueue", "q", "x")
    thread.join(60)
    assert not thread.is_alive()


sys.exit(main())
