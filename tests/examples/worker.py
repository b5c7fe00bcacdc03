#!/usr/bin/python3
"""The worker in Python, killed again and again: each job has its one effect.

  worker.py EXTENSION READPAST EXAMPLE

SPDX-License-Identifier: MIT
SPDX-FileCopyrightText: The readpast authors
"""

import os
import pathlib
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "ext"))

from cases import EXTENSION, case, connect, main, one, readpast  # noqa: E402

EXAMPLE = os.path.abspath(sys.argv[3])
JOBS, KILLS = 400, 25


def start(path):
    return subprocess.Popen([sys.executable, EXAMPLE, path, EXTENSION, "greetings"],
                            stderr=subprocess.DEVNULL)


def greeted(db):
    return one(db, "select count(*) from greeting")


@case
def P1_P7_no_kill_loses_or_doubles_a_greeting(path):
    readpast(path, "init")
    # A lease that has not run out when the next worker looks, were it a minute.
    readpast(path, "queue", "set", "greetings", "--lease", "1s",
             "--max-attempts", "1000")
    readpast(path, "enqueue", "greetings", *[f"n{n}" for n in range(JOBS)])
    db = connect(path, timeout=60)
    db.execute("create table greeting (job integer primary key, text)")
    workers = [start(path) for _ in range(3)]
    try:
        for kill in range(KILLS):
            # Some more were greeted; then the oldest worker is killed.
            until = min(JOBS, (kill + 1) * JOBS // (KILLS + 5))
            while greeted(db) < until:
                assert workers[0].poll() is None, "a worker ended by itself"
                time.sleep(0.005)
            workers[0].kill()
            workers.pop(0).wait()
            workers.append(start(path))
        while one(db, "select count(*) from readpast_jobs"):
            time.sleep(0.02)
        # It has a handler for this signal when it registers.
        while not one(db, "select count(*) from readpast_worker_list()"
                          " where pid = ?", workers[0].pid):
            time.sleep(0.02)
        workers[0].terminate()
        assert workers[0].wait() == 0
        stopped = one(db, "select count(*) from readpast_worker"
                          " where stopped_at is not null")
    finally:
        for worker in workers:
            worker.kill()
            worker.wait()
    assert greeted(db) == JOBS
    assert one(db, "select count(distinct text) from greeting") == JOBS
    assert stopped == 1
    assert one(db, "pragma integrity_check") == "ok"


@case
def it_has_some_thirty_lines(_):
    code = [line for line in open(EXAMPLE, encoding="utf-8").read()
            .split('"""')[2].splitlines() if line.strip()]
    assert 20 < len(code) <= 36, len(code)


sys.exit(main())
