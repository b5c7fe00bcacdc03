#!/usr/bin/env python3
"""Measure how long other writers wait while a call changes very many jobs. SQLite only.

  held.py READPAST [long]

A second process takes the write lock again and again, writes a row, and records how
long it waited for the lock. The short form uses small databases, and only tests that
the calls change all jobs. The long form uses databases of full size, and tests that
99 in 100 waits are at most 50 ms, and that the longest wait is at most 200 ms. A third
process sleeps and writes a file of its own, to measure how much a busy machine delays
any process. This delay is added to the limits. The program prints the figures.

SPDX-License-Identifier: MIT
SPDX-FileCopyrightText: The readpast authors
"""

import contextlib
import os
import pathlib
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

P99_MS = 50
WORST_MS = 200
NAP_S = 0.0003
REST_S = 0.002

READPAST = pathlib.Path(sys.argv[1]).resolve()
LONG = sys.argv[2:] == ["long"]
MIB = 1 << 20


def until_told():
    """Yield until SIGTERM arrives."""
    told = []
    signal.signal(signal.SIGTERM, lambda *_: told.append(1))
    print("ready", flush=True)
    while not told:
        yield
        time.sleep(REST_S)


def take_turns(path):
    """Commit one write after another while the command runs. At the end, print how often
    this process waited for the lock, and the 99th percentile and the maximum of these
    waits in ms."""
    db = sqlite3.connect(path, timeout=0, isolation_level=None)
    db.execute("pragma synchronous = off")
    waits = []
    for _ in until_told():
        start = time.monotonic()
        while True:
            try:
                db.execute("begin immediate")
                break
            except sqlite3.OperationalError:
                time.sleep(NAP_S)
        waits.append((time.monotonic() - start) * 1000)
        db.execute("update readpast_meta set value = 1 where name = 'probe'")
        db.execute("commit")
    waits.sort()
    print(len(waits), waits[len(waits) * 99 // 100], waits[-1])


def take_time(path):
    """Print the longest time in ms that a short sleep and a write to a file took. The
    file is not the database, so this time shows how busy the machine is."""
    longest = 0
    with open(path, "wb") as file:
        for _ in until_told():
            start = time.monotonic()
            time.sleep(NAP_S)
            file.seek(0)
            file.write(bytes(4096))
            file.flush()
            os.fdatasync(file.fileno())
            longest = max(longest, (time.monotonic() - start) * 1000)
    print(longest)


@contextlib.contextmanager
def beside(what, path):
    """Start this program again, to run take_turns() or take_time() in a process.
    Yields a list, which is empty until the process has ended and then has the numbers
    that it printed."""
    answer = []
    command = [sys.executable, __file__, what, str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
        child.stdout.readline()
        try:
            yield answer
        finally:
            child.terminate()
            answer += map(float, child.communicate()[0].split())


class Case:
    """A case of the test: a database of its own, and a command on it."""

    count = 0

    def __init__(self, name, path):
        self.name = name
        self.path = path
        self.run("init")
        self.db = sqlite3.connect(path, isolation_level=None)
        self.db.execute("pragma synchronous = off")
        self.db.execute("insert into readpast_queue (name, keep_done_ms)"
                        " values ('q', 1)")

    def run(self, *arguments, **given):
        subprocess.run([READPAST, "--db", f"sqlite:{self.path}", *arguments],
                       check=True, stdout=subprocess.DEVNULL, **given)

    def large(self, jobs, size):
        for _ in range(jobs):
            self.run("enqueue", "q", "--one", input=bytes(size))

    def ready(self, jobs):
        self.many(jobs, "insert into readpast_job (queue_id, seq, payload)"
                  " select 1, i, 'x' from n")

    def kept(self, jobs, state, size):
        """Make finished jobs that are kept. A small payload is stored in the job's row.
        A large payload is stored in another table, and the row has its size."""
        large = size > 16384
        self.many(jobs, "insert into readpast_archive (id, queue_id, state,"
                  " finished_at, priority, run_at, claim_no, attempt,"
                  " max_attempts, created_at, payload) select 1000000 + i, 1,"
                  f" {state}, 1, 100, 0, 1, 1, 3, 0,"
                  f" {size if large else f'zeroblob({size})'} from n")
        if large:
            self.db.execute("insert into readpast_payload select id,"
                            " zeroblob(payload) from readpast_archive")

    def due(self, queues, jobs):
        self.many(queues, "insert into readpast_queue (name)"
                  " select 'due' || i from n")
        self.many(jobs, "insert into readpast_job (queue_id, run_at)"
                  " select q.id, 1 from n cross join readpast_queue q"
                  " where q.id > 1")

    def many(self, count, sql):
        self.db.execute("with recursive n(i) as (select 1 union all select"
                        f" i + 1 from n where i < {count}) {sql}")

    def check(self, *arguments, left):
        Case.count += 1
        clock = f"{self.path}.clock"
        start = time.monotonic()
        with beside("take_time", clock) as slow, \
                beside("take_turns", self.path) as waits:
            self.run(*arguments)
            took = time.monotonic() - start
        count, p99, worst = waits
        said = f"{self.name}: {took:.1f} s"
        print(f"# {said}; {count:.0f} waits of another writer, p99 {p99:.0f} ms,"
              f" longest {worst:.0f} ms; the machine's own {slow[0]:.0f} ms")
        done = self.db.execute(left).fetchone()[0] == 0
        fine = (not LONG or p99 <= P99_MS + slow[0]
                and worst <= WORST_MS + slow[0])
        print("ok" if done and fine else "not ok", Case.count, "-", self.name)
        return done and fine


def cases(folder):
    """Run the cases, and yield whether each has passed. A case creates its jobs just
    before it runs, because the databases are large."""
    def size(full, small):
        return full if LONG else small

    def case(name, number=iter(range(99))):
        return Case(name, folder / f"{next(number)}.db")

    jobs = "select count(*) from readpast_job"
    kept = "select count(*) from readpast_archive"
    due = "select count(*) from readpast_job where seq is null"
    for queues, each in ((10000, 50), (1000, 200)):
        queues = size(queues, queues // 20)
        c = case(f"sweep of {queues} queues with {each} due jobs each")
        c.due(queues, each)
        yield c.check("sweep", left=due)
    many, large = size(500, 20), size(40, 2)
    for count, mib in ((many, 1), (large, 16)):
        c = case(f"purge of {count} jobs of {mib} MiB")
        c.kept(count, 4, mib * MIB)
        yield c.check("purge", "q", "--state", "done", "--yes", left=kept)
    c = case(f"work on {large} jobs of 16 MiB")
    c.large(large, 16 * MIB)
    yield c.check("work", "q", "--drain", "-j", "8", "--", "sh", "-c",
                  "cat >/dev/null", left=jobs)
    c = case(f"retention of {many} jobs of 1 MiB")
    c.kept(many, 4, MIB)
    yield c.check("sweep", left=kept)
    c = case(f"retry of {size(100000, 5000)} dead jobs")
    c.kept(size(100000, 5000), 5, 20)
    yield c.check("retry", "--dead", "q", left=kept)
    c = case(f"drop of {size(10000000, 50000)} jobs")
    c.ready(size(10000000, 50000))
    yield c.check("queue", "drop", "q", "--yes", left=jobs)
    source = case("the source")
    source.ready(size(1000000, 20000))
    c = case("copy into the target")
    yield c.check("copy", f"sqlite:{source.path}", f"sqlite:{c.path}", left=due)


def main():
    with tempfile.TemporaryDirectory() as folder:
        good = list(cases(pathlib.Path(folder)))
    print(f"1..{len(good)}")
    return not all(good)


if __name__ == "__main__":
    if sys.argv[1] in ("take_turns", "take_time"):
        globals()[sys.argv[1]](sys.argv[2])
    else:
        sys.exit(main())
