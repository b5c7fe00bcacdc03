#!/usr/bin/python3
"""Test that statements which only read cost the same however many jobs there are, on
SQLite.

  scans.py READPAST SOURCE

Runs each statement in two databases. One of them has ten times as many jobs as the
other. The cost of a statement is the number of steps of SQLite's virtual machine. Limits
on what a statement reads are set to MOST, which is less than the jobs of each state in
the smaller database.

SPDX-License-Identifier: MIT
SPDX-FileCopyrightText: The readpast authors
"""

import pathlib
import re
import sqlite3
import subprocess
import sys
import time

from tap import READPAST, check, run

SQL = pathlib.Path(sys.argv[2]) / "sql" / "sqlite"
JOBS, MORE_JOBS, MOST = 400, 4000, 50
QUEUES = 5
LATER = 1 << 62
STATES = {"scheduled": 1, "ready": 2, "running": 3, "done": 4, "dead": 5,
          "cancelled": 6, "blocked": 7}
# A tree that is one level deeper costs some steps more.
RATIO = 1.5

FILL = """
insert into readpast_queue (name, group_limit)
values ('a', 0), ('b', 1), ('c', 0), ('d', 0), ('e', 0);
-- N jobs of each queue are ready, N are scheduled, and N are running.
insert into readpast_job (queue_id, seq, run_at, kind, created_at)
select q.id, value, 1, 'k', 1 from readpast_queue q, generate_numbers;
insert into readpast_job (queue_id, run_at, kind, created_at)
select q.id, LATER + value, 'k', 1 from readpast_queue q, generate_numbers;
insert into readpast_job (queue_id, lease_until, claim_no, worker_id, kind, created_at)
select q.id, LATER + value, value, 0, 'k', 1 from readpast_queue q, generate_numbers;
-- N jobs wait for N / 10 groups.
insert into readpast_job (queue_id, run_at, group_key, came)
select 2, 9223372036854775807, 'g' || (value % (N / 10)), value
  from generate_numbers;
insert into readpast_group_wait (queue_id, group_key, priority, came, job_id, run_at)
select queue_id, group_key, priority, came, id, 1
  from readpast_job where came is not null;
-- In each of these groups, another job waits for its retry.
insert into readpast_job (queue_id, run_at, group_key, came)
select 2, LATER, 'g' || (value - 1), 0 from generate_numbers where value <= N / 10;
insert into readpast_group_slot (queue_id, group_key, job_id)
select queue_id, group_key, id from readpast_job where queue_id = 2 and came = 0;
-- In the queue c, N jobs of one group wait, and one is ready.
insert into readpast_job (queue_id, seq, run_at, group_key, came)
select 3, iif(value = 1, 0, null), iif(value = 1, 1, 9223372036854775807), 'g', value
  from generate_numbers;
insert into readpast_group_wait (queue_id, group_key, priority, came, job_id, run_at)
select queue_id, group_key, priority, came, id, 1
  from readpast_job where queue_id = 3 and came > 1;
insert into readpast_group_slot (queue_id, group_key, job_id)
select queue_id, group_key, id from readpast_job where queue_id = 3 and came = 1;
insert into readpast_archive (queue_id, state, finished_at, priority, run_at, claim_no,
                              attempt, max_attempts, created_at, payload, last_error)
select q.id, s.value, LATER + n.value, 100, 1, 1, 1, 1, 1, x'', 'an error'
  from readpast_queue q, json_each('[4, 5, 6]') s, generate_numbers n;
"""


def make(name, jobs):
    subprocess.run([READPAST, "--db", f"sqlite:{name}", "init"], check=True,
                   stderr=subprocess.DEVNULL)
    db = sqlite3.connect(name)
    db.execute("create temp table generate_numbers as with recursive n(value) as "
               f"(select 1 union all select value + 1 from n where value < {jobs}) "
               "select value from n")
    db.executescript(FILL.replace("LATER", str(LATER)).replace("N /", f"{jobs} /"))
    return db


def steps(db, sql, values):
    """Return how many steps of the virtual machine a statement takes, and its rows."""
    count = 0

    def one_more():
        nonlocal count
        count += 1
    db.set_progress_handler(one_more, 1)
    rows = len(db.execute(sql, values).fetchall())
    db.set_progress_handler(None, 0)
    return count, rows


def text_of(path):
    """Return a file's text with the files that it includes."""
    return re.sub(r"^-- include (\w+)$",
                  lambda found: text_of(SQL / "shared" / f"{found[1]}.sql"),
                  path.read_text(), flags=re.M)


def answer_of(folder, name):
    """Return the statement whose rows a verb returns, or the only one of a query."""
    text = text_of(SQL / folder / f"{name}.sql").partition("-- answer:\n")
    statement = re.sub(r"^--.*$", "", text[2] or text[0], flags=re.M)
    return re.split(r";$", statement, maxsplit=1, flags=re.M)[0].replace("@", ":")


def cases():
    """Yield (title, statement, parameters)."""
    for queue in "b", None:
        yield f"stats of {queue or 'all'}", answer_of("verbs", "stats"), {"queue": queue}
        for state, number in STATES.items():
            where = "kept" if number in (4, 5, 6) else "live"
            yield (f"a search for {state} jobs of {queue or 'all'}",
                   answer_of("find", where), {"queue": queue, "states": 1 << number})
            if queue is None:
                yield (f"a search for {state} jobs of some queues",
                       answer_of("find", where),
                       {"queue": None, "queues": '["b", "c"]', "states": 1 << number})
    for name in ("list_line", "list_scheduled", "list_running", "list_blocked",
                 "probe", "group_list", "worker_list", "to_sweep"):
        yield name, answer_of("verbs", name), {"queue": "b"}
    yield "group_list, blocked groups", answer_of("verbs", "group_list"), {"blocked": 1}
    yield "list_scheduled, due", answer_of("verbs", "list_scheduled"), {"due": 1}
    yield "list_kept", answer_of("verbs", "list_kept"), {"state": 5}
    yield "sweep_due", answer_of("verbs", "sweep_due"), {}
    yield "claim, of a group whose limit was lowered", answer_of("verbs", "claim") + \
        " limit 1", {"queue_id": 3, "checks": 5, "group_limit": 1,
                      "lease_until": 1, "timeout_ms": 0, "free": 1,
                      "has_rate": 0}
    for which in "first", "last":
        yield f"why the {which} job waits", answer_of("verbs", "why"), {"id": which}
    for name in "late", "nobody", "paused", "sweep":
        yield f"doctor {name}", answer_of("doctor", name), {}


def main():
    small, large = make("small.db", JOBS), make("large.db", MORE_JOBS)
    now = int(time.time() * 1000)
    values = {"queue": "b", "queue_id": 2, "now": now, "now_us": 1000 * now,
              "now_ms": now, "long_ms": 1000, "most": MOST, "looks": MOST, "max": MOST,
              "head": 10, "state": 5, "due": 0, "rest": 1, "after": "", "blocked": 0,
              "is_grouped": 1, "kind": None, "key": None, "group": None, "error": None,
              "queues": None, "before": None}
    for title, sql, own in cases():
        took = []
        for db, jobs in (small, JOBS), (large, MORE_JOBS):
            its = {**values, **own}
            its["id"] = {"first": 1, "last": QUEUES * jobs}.get(own.get("id"))
            took.append(steps(db, sql, its))
        check(f"{title} costs the same with ten times as many jobs",
              took[1][0] < RATIO * took[0][0], took)


run(main)
